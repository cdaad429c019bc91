package study

import (
	"github.com/gangplan/gangplan/internal/scenario"
	"github.com/gangplan/gangplan/report"
	"github.com/gangplan/gangplan/sim"
)

// Compare makes the document of some outcomes, each extended to the latest end. The
// header says what only the caller knows: version, scenario, assumptions, warnings.
func Compare(header report.Document, outcomes []Outcome) *report.Document {
	results := make([]*sim.Result, len(outcomes))
	for i := range outcomes {
		results[i] = outcomes[i].Result
	}
	header.Runs = make([]report.Run, len(outcomes))
	for i, x := range Extend(results) {
		header.Runs[i] = report.NewRun(outcomes[i].Label, x.Result, x.Books)
		header.EndSeconds = float64(x.Books.End) / 1e9
	}
	return &header
}

// Trades says what jobs trade under every choice after the first against it.
func Trades(outcomes []Outcome) []report.Trade {
	var trades []report.Trade
	for i := range outcomes {
		if i > 0 {
			trades = append(trades, report.NewTrade(outcomes[0].Label, outcomes[0].Result, outcomes[i].Label, outcomes[i].Result))
		}
	}
	return trades
}

// Save writes a run directory for every outcome into dir, each at its own end; see
// report.WriteRuns. The manifest is what they have in common.
func Save(dir string, manifest report.Manifest, outcomes []Outcome) (warnings []string, err error) {
	records := make([]report.Record, len(outcomes))
	for i := range outcomes {
		if outcomes[i].Dropped {
			warnings = append(warnings, outcomes[i].Label+": the decisions were too many to be kept: --decisions always keeps them")
		}
		m := manifest
		m.Parameters = outcomes[i].Params
		records[i] = report.Record{Label: outcomes[i].Label, Manifest: m, Result: outcomes[i].Result, Transitions: outcomes[i].Transitions}
	}
	more, err := report.WriteRuns(dir, records)
	return append(warnings, more...), err
}

// Manifest is what the manifests of all runs of a scenario have in common.
func Manifest(version string, s *scenario.Scenario) *report.Manifest {
	m := &report.Manifest{Version: version, Scenario: report.Input{Name: s.Name, Hash: "sha256:" + s.Hash}, Seed: s.Config.Seed, Assumptions: s.Assumptions}
	for _, in := range s.Inputs {
		m.Inputs = append(m.Inputs, report.Input{Name: in.Name, Hash: "sha256:" + in.SHA256})
	}
	return m
}

// Labels returns the labels of some choices, for report.CheckRunDirs.
func Labels(choices []Choice) []string {
	labels := make([]string, len(choices))
	for i := range choices {
		labels[i] = choices[i].Label
	}
	return labels
}

// Choices returns the policies that a scenario names, ready to be run.
func Choices(s *scenario.Scenario) []Choice {
	choices := make([]Choice, len(s.Policies))
	for i, p := range s.Policies {
		choices[i] = Choice{Label: p.Label, Name: p.Name, Params: p.Declaration.Complete(p.Params),
			New: func() sim.Policy { return p.Declaration.New(p.Params) }}
	}
	return choices
}
