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

// KueueQuota are nominations of single workloads by Kueue v0.17.0, one a line, gzipped.
//
//go:embed conformance/kueue_quota_cases.jsonl.gz
var KueueQuota []byte

// KueueCycle are scheduling cycles of Kueue v0.17.0, one sequence a line, gzipped.
//
//go:embed conformance/kueue_cycle_cases.jsonl.gz
var KueueCycle []byte
