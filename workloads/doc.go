// Package workloads describes the jobs a simulation runs: what they ask for, how long
// they work, and the model they train. It knows nothing of placement, and of time only
// when a job is submitted.
//
// Read job.go first: a Job is one gang, its PodSets the pods that must run together.
// A trace becomes a workload in a few steps, each a function of a slice of jobs:
//
//	Validate   refuses what no simulation can run, job by job
//	Window     keeps the rows submitted inside a window
//	ScaleLoad  divides the times between arrivals
//	Shape      turns "g GPUs" into pods, where the trace does not say the shape
//	Sort       fixes the order: (submit, row)
//
// Synthetic draws a workload from a seed instead, and LookupModel knows the
// communication and computation of some published models.
//
// All times are int64 nanoseconds, all quantities int64. Nothing here iterates over a
// map, reads a clock or keeps state between calls: the same input gives the same jobs.
package workloads
