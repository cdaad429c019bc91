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
