// Package testdata embeds the scenarios and recorded answers that the commands ship.
package testdata

import "embed"

// Demo is the scenario of `gangplan demo`.
//
//go:embed scenarios/demo.yaml
var Demo []byte

// Scenarios are the hand-derived scenarios with exact expected numbers, one a line.
//
//go:embed conformance/scenarios.jsonl
var Scenarios []byte

// SimGrid are links, flows and their finish times under max-min sharing, recorded from
// SimGrid 3.32; gzipped, one case a line.
//
//go:embed conformance/simgrid_cases.jsonl.gz
var SimGrid []byte

// SimGridJobs are iterative ring jobs and the ends of their iterations, recorded from
// SimGrid 3.32; gzipped, one case a line.
//
//go:embed conformance/simgrid_jobs_cases.jsonl.gz
var SimGridJobs []byte

// Astra are collectives on fabrics of one to three dimensions and the time they take,
// recorded from ASTRA-sim; gzipped, one case a line.
//
//go:embed conformance/astra_cases.jsonl.gz
var Astra []byte

// NCCL are published measurements of all-reduces with their sources, one a line.
//
//go:embed conformance/nccl_measured.jsonl
var NCCL []byte

// KueueQuota are nominations of single workloads by Kueue v0.17.0, one a line, gzipped.
//
//go:embed conformance/kueue_quota_cases.jsonl.gz
var KueueQuota []byte

// KueueCycle are scheduling cycles of Kueue v0.17.0, one sequence a line, gzipped.
//
//go:embed conformance/kueue_cycle_cases.jsonl.gz
var KueueCycle []byte

// Timelines are small scenarios that a real control plane played, with what came of them in
// every repetition or in some, and TimelineRuns what was derived of each repetition; gzipped,
// one a line.
//
//go:embed conformance/timelines.jsonl.gz
var Timelines []byte

//go:embed conformance/timeline_runs.jsonl.gz
var TimelineRuns []byte

// KubeScore are answers of kube-scheduler 1.34: which nodes take a pod, and how each
// plugin rates them.
//
//go:embed conformance/kube_score_cases.jsonl.gz
var KubeScore []byte

// FGD are the published results of the fragmentation study of ATC'23, a run a line.
//
//go:embed conformance/fgd_expected.jsonl.gz
var FGD []byte

// KueueTAS are topology assignments of Kueue 0.17.0, gzipped, one case a line: levels,
// nodes and requests, and the assignment per leaf or the text of the refusal.
// KueueTASSequences are the same on clusters that change from step to step.
//
//go:embed conformance/kueue_tas_cases.jsonl.gz
var KueueTAS []byte

//go:embed conformance/kueue_tas_sequences.jsonl.gz
var KueueTASSequences []byte

// Fragmentation is the study of `gangplan fragmentation`.
//
//go:embed studies/fragmentation.yaml
var Fragmentation []byte

// Effects are published effects of placement and network on training, one a line of
// effects.jsonl, and the scenarios that show them.
//
//go:embed effects
var Effects embed.FS
