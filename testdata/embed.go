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
