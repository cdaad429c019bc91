// Package compare compares two sets of runs: run directories, folders of them, or sweeps.
// Runs are paired by what they have in common, their seeds included, and each metric is
// tested over the seeds; jobs are paired within each pair of runs.
package compare
