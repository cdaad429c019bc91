// Package testdata embeds the scenarios and recorded answers that the commands ship.
package testdata

import _ "embed"

// Demo is the scenario of `gangplan demo`.
//
//go:embed scenarios/demo.yaml
var Demo []byte

// Scenarios are the hand-derived scenarios with exact expected numbers, one a line.
//
//go:embed conformance/scenarios.jsonl
var Scenarios []byte

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
