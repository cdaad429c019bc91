// Package traces reads and writes job traces, one file of code per format. Read traces.go
// first, then fields.go: the table of what gangplan's own CSV and JSONL can say of a job.
//
// Nothing is guessed and nothing is read by halves: a reader returns all jobs, or an Error
// with the place of the first thing it does not understand.
package traces
