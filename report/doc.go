// Package report turns the results of runs into what people and programs read: the
// comparison table, JSON, CSV, Markdown and YAML, the run directory, and the first
// difference between two runs.
//
// Read metrics.go first: the one registry of everything that is measured. document.go is
// a comparison as a value, and every rendering starts from it. rundir.go is one run on disk.
//
// Whatever the package writes is a function of its arguments: no clock, host name, locale
// or map order gets into it, so that equal runs give equal bytes on every machine.
package report
