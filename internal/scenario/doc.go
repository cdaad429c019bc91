// Package scenario turns a scenario file, YAML or JSON, into a runnable simulation.
//
// It works in two steps. Parse decodes a file into a File, the form in which programs
// build scenarios too; it knows the names and types of all fields and the place of every
// value. Resolve gives a File its meaning: it builds the cluster, reads the trace, shapes
// the jobs, fills in defaults and checks everything that one value means for another. The
// result is a Scenario, whose Config the runs of all policies share.
//
// Read file.go first: it is the format. Whatever is wrong with a file is an Errors with
// the place of each mistake, never a panic and never a guess.
package scenario
