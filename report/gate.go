package report

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"

	"github.com/gangplan/gangplan/sim"
)

// Gate is what `check` answers: every metric of every run of a corpus beside its baseline,
// the limit it has to keep, and whether it does. Updated is that the baselines were
// rewritten: then nothing fails.
type Gate struct {
	Version   string         `json:"version,omitempty"`
	Corpus    string         `json:"corpus"` // the folder, as it was given
	Passed    bool           `json:"passed"`
	Updated   bool           `json:"updated,omitempty"`
	Scenarios []GateScenario `json:"scenarios"`
}

// GateScenario is one scenario of the corpus. Problem is why nothing of it could be
// compared; it fails the gate.
type GateScenario struct {
	Name     string       `json:"name"`
	File     string       `json:"file"`
	Problem  string       `json:"problem,omitempty"`
	Notes    []string     `json:"notes,omitempty"`
	Baseline string       `json:"baseline,omitempty"` // what an update did with it: new, rewritten, unchanged or removed
	Policies []GatePolicy `json:"policies,omitempty"`
	Fresh    bool         `json:"-"` // an update had nothing to compare with
}

// GatePolicy is one policy of a scenario, over all seeds.
type GatePolicy struct {
	Label   string       `json:"label"`
	Problem string       `json:"problem,omitempty"`
	Notes   []string     `json:"notes,omitempty"`
	Digests []GateDigest `json:"digests,omitempty"`
	Metrics []GateMetric `json:"metrics,omitempty"`
	Parting *GateParting `json:"first_difference,omitempty"`
}

// GateDigest is the digest of a run of one seed. One that changed fails only if the corpus
// asks for it.
type GateDigest struct {
	Seed     uint64      `json:"seed"`
	Baseline string      `json:"baseline,omitempty"`
	Value    string      `json:"value"`
	Verdict  GateVerdict `json:"verdict"`
}

// GateMetric is one metric: medians over the seeds, null where that is null, missing or new.
// Limit is what Value has to keep; a side without one is null.
type GateMetric struct {
	Name     string      `json:"name"`
	Unit     string      `json:"unit"`
	Better   string      `json:"better"` // lower, higher or neutral
	Rule     string      `json:"rule"`   // exact, any, or the tolerance
	Baseline *float64    `json:"baseline"`
	Limit    GateLimit   `json:"limit"`
	Value    *float64    `json:"value"`
	Change   *GateChange `json:"change,omitempty"` // of sampled metrics over several seeds
	Differ   int         `json:"seeds_that_differ,omitempty"`
	Verdict  GateVerdict `json:"verdict"`
}

// GateLimit is the range that a value has to be in, ends included.
type GateLimit struct {
	Low  *float64 `json:"low"`
	High *float64 `json:"high"`
}

// GateChange is the change from the baseline, seed by seed: its median, and the interval
// that holds what it would be over all seeds, with a confidence of 95 %. A change from or to
// null is infinite, which is null in JSON.
type GateChange struct{ Median, Low, High float64 }

// MarshalJSON writes the change.
func (c GateChange) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]*float64{"median": finite(c.Median), "low": finite(c.Low), "high": finite(c.High)})
}

func finite(v float64) *float64 {
	if math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// GateVerdict is what became of a metric.
type GateVerdict string

// The verdicts. Only failed and missing fail the gate.
const (
	GateOK      GateVerdict = "ok"
	GateBetter  GateVerdict = "better"  // beyond the tolerance, in the right direction: the baseline can be tightened
	GateChanged GateVerdict = "changed" // differs, and may
	GateNew     GateVerdict = "new"     // the baseline does not have it
	GateFailed  GateVerdict = "failed"
	GateMissing GateVerdict = "missing" // only the baseline has it
)

// Fails reports whether a verdict fails the gate.
func (v GateVerdict) Fails() bool { return v == GateFailed || v == GateMissing }

// GateParting is where the first run of a policy that differs parts from its baseline.
type GateParting struct {
	Seed     uint64    `json:"seed"`
	Common   int       `json:"common"` // transitions before it, which are the same
	Baseline *GateStep `json:"baseline"`
	Value    *GateStep `json:"value"`
	Notes    []string  `json:"notes,omitempty"` // what became of each in the other run

	difference *Difference
}

// GateStep is a transition. Fields that do not apply are left out.
type GateStep struct {
	TimeNanos int64  `json:"time_ns"`
	Kind      string `json:"kind"`
	Job       string `json:"job,omitempty"`
	Rank      *int32 `json:"rank,omitempty"`
	Node      string `json:"node,omitempty"`
	Queue     string `json:"queue,omitempty"`
	Count     int32  `json:"count"`
	Why       string `json:"why,omitempty"`
}

// The sides of a gate as text calls them.
const (
	gateBaseline = "baseline"
	gateNow      = "now"
)

// NewGateParting names the first difference between what a run did when the baseline was
// taken and what it does now; nil if there is none. The configuration has the names.
func NewGateParting(cfg *sim.Config, seed uint64, baseline, now sim.Transitions) *GateParting {
	d := DiffTransitions(cfg, baseline, now)
	if d.Equal() {
		return nil
	}
	return &GateParting{Seed: seed, Common: d.Common, Baseline: gateStep(d.A.Next), Value: gateStep(d.B.Next),
		Notes: d.aftermath(gateBaseline, gateNow), difference: d}
}

func gateStep(s *Step) *GateStep {
	if s == nil {
		return nil
	}
	g := &GateStep{TimeNanos: s.Time, Kind: s.Kind.String(), Job: s.fields()[2], Node: s.Node, Queue: s.Queue, Count: s.Count, Why: s.Why.String()}
	if s.Rank >= 0 {
		g.Rank = &s.Rank
	}
	return g
}

// Finish decides whether the gate is passed. After an update it is.
func (g *Gate) Finish() {
	g.Passed = true
	if g.Updated {
		return
	}
	for i := range g.Scenarios {
		g.Passed = g.Passed && !g.Scenarios[i].Fails()
	}
}

// Fails reports whether a scenario fails the gate.
func (s *GateScenario) Fails() bool {
	return s.Problem != "" || slices.ContainsFunc(s.Policies, func(p GatePolicy) bool { return p.Fails() })
}

// Fails reports whether a policy fails the gate.
func (p *GatePolicy) Fails() bool {
	return p.Problem != "" || p.count(GateVerdict.Fails) > 0 ||
		slices.ContainsFunc(p.Digests, func(d GateDigest) bool { return d.Verdict.Fails() })
}

// count counts the metrics whose verdict is of some kind.
func (p *GatePolicy) count(is func(GateVerdict) bool) int {
	n := 0
	for i := range p.Metrics {
		if is(p.Metrics[i].Verdict) {
			n++
		}
	}
	return n
}

func only(v GateVerdict) func(GateVerdict) bool {
	return func(o GateVerdict) bool { return o == v }
}

// digestsChanged counts the seeds whose digest is another.
func (p *GatePolicy) digestsChanged() int {
	n := 0
	for _, d := range p.Digests {
		if d.Verdict != GateOK && d.Verdict != GateNew {
			n++
		}
	}
	return n
}

// ranked returns the metrics whose verdict is of some kind, the worst first: those that are
// missing, those that became or were infinite, then by the change over the baseline.
func (p *GatePolicy) ranked(is func(GateVerdict) bool) []GateMetric {
	var out []GateMetric
	for i := range p.Metrics {
		if is(p.Metrics[i].Verdict) {
			out = append(out, p.Metrics[i])
		}
	}
	slices.SortStableFunc(out, func(a, b GateMetric) int { return cmp.Compare(b.severity(), a.severity()) })
	return out
}

// severity is how far the value is from the baseline, in sizes of the baseline.
func (m *GateMetric) severity() float64 {
	switch {
	case m.Verdict == GateMissing, (m.Baseline == nil) != (m.Value == nil):
		return math.Inf(1)
	case m.Baseline == nil, *m.Baseline == *m.Value:
		return 0
	case *m.Baseline == 0:
		return math.MaxFloat64
	}
	return math.Abs(*m.Value-*m.Baseline) / math.Abs(*m.Baseline)
}

// tally is how much of something failed.
type tally struct{ all, failed int }

func (t *tally) add(failed bool) {
	t.all++
	if failed {
		t.failed++
	}
}

// tallies counts scenarios, runs and metrics. All runs of a policy fail with it.
func (g *Gate) tallies() (scenarios, runs, metrics tally) {
	for i := range g.Scenarios {
		s := &g.Scenarios[i]
		scenarios.add(s.Fails())
		for k := range s.Policies {
			p := &s.Policies[k]
			for range p.Digests {
				runs.add(p.Fails())
			}
			for m := range p.Metrics {
				metrics.add(p.Metrics[m].Verdict.Fails())
			}
		}
	}
	return scenarios, runs, metrics
}
