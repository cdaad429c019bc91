package check

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/gangplan/gangplan/internal/stats"
	"github.com/gangplan/gangplan/report"
)

// confidence is that of the interval of a change, and resampling the seed of its bootstrap.
const (
	confidence = 0.95
	resampling = 1
)

// judgeEntry compares a scenario with its baseline.
func (e *entry) judge(dir, version string) report.GateScenario {
	g := report.GateScenario{Name: e.name, File: slash(e.file)}
	if problem := e.problem(); problem != "" {
		g.Problem = problem + "; gangplan check " + dir + " --update takes it as it is now"
		return g
	}
	g.Notes = e.notes(dir, version)
	g.Policies = e.judgePolicies()
	return g
}

// judgePolicies compares the policies. Without a baseline all is new.
func (e *entry) judgePolicies() (out []report.GatePolicy) {
	for i := range e.policies {
		out = append(out, e.judgePolicy(&e.policies[i]))
	}
	if e.baseline == nil {
		return out
	}
	for i := range e.baseline.Policies {
		if p := &e.baseline.Policies[i]; !e.has(p.Label) {
			out = append(out, report.GatePolicy{Label: p.Label, Problem: "the baseline has this policy, the scenario does not"})
		}
	}
	return out
}

// problem says why nothing can be compared, "" if it can be.
func (e *entry) problem() string {
	switch b := e.baseline; {
	case b == nil:
		return "there is no baseline"
	case b.Demand != "sha256:"+e.scenario.Demand:
		return "the scenario changed: its nodes or its jobs are not those of the baseline, so nothing can be compared"
	case !slices.Equal(b.Seeds, e.seeds):
		return fmt.Sprintf("the baseline is of %s, the scenario is run with %s", seedsText(b.Seeds), seedsText(e.seeds))
	}
	return ""
}

func seedsText(seeds []uint64) string {
	if len(seeds) == 1 {
		return fmt.Sprintf("seed %d", seeds[0])
	}
	return fmt.Sprintf("seeds %d to %d", seeds[0], seeds[len(seeds)-1])
}

// notes say what a reader of differences should know. They fail nothing.
func (e *entry) notes(dir, version string) []string {
	var notes []string
	b := e.baseline
	if b.Hash != "sha256:"+e.scenario.Hash {
		notes = append(notes, "the scenario changed: its settings are not those of the baseline, its nodes and jobs are")
	}
	if now := release(version); now != b.Version && now != "devel" && b.Version != "devel" {
		notes = append(notes, fmt.Sprintf("the baseline is of gangplan %s, this is %s", b.Version, now))
	}
	if problem := e.recordProblem(); problem != "" {
		notes = append(notes, fmt.Sprintf("%s: the record is %s, so first differences cannot be told; gangplan check %s --update writes it anew",
			slash(e.beside(recordSuffix)), problem, dir))
	}
	return notes
}

// recordProblem says what is wrong with the record, "" if nothing is.
func (e *entry) recordProblem() string {
	if e.recordErr != nil {
		return e.recordErr.Error()
	}
	for i := range e.baseline.Policies {
		p := &e.baseline.Policies[i]
		for k, seed := range e.baseline.Seeds {
			if _, err := findTape(e.record, p.Label, seed, p.Digests[k]); err != nil {
				return err.Error()
			}
		}
	}
	return ""
}

func (e *entry) judgePolicy(p *policy) report.GatePolicy {
	g := report.GatePolicy{Label: p.Label}
	base := e.baseline.base(p.Label)
	if base == nil {
		base = &basePolicy{}
	} else {
		g.Notes = differentPolicy(base, p)
	}
	g.Digests = e.judgeDigests(base, p)
	now := p.values()
	for _, m := range report.Metrics() {
		g.Metrics = append(g.Metrics, judgeMetric(&m, e.gate.rule(&m), base.values[m.Name], now[m.Name]))
	}
	for _, name := range base.unknown() {
		g.Metrics = append(g.Metrics, report.GateMetric{Name: name, Better: report.Neutral.String(), Rule: "exact",
			Baseline: pointer(median(base.values[name], 1)), Verdict: report.GateMissing})
	}
	for i := range p.runs {
		if g.Parting == nil {
			g.Parting = p.runs[i].parting
		}
	}
	if differs(&g) && !slices.ContainsFunc(g.Digests, func(d report.GateDigest) bool { return d.Verdict != report.GateOK }) {
		g.Notes = append(g.Notes, "every transition is that of the baseline: only what is measured of them changed")
	}
	return g
}

// differs reports whether some metric is not as it was.
func differs(g *report.GatePolicy) bool {
	return slices.ContainsFunc(g.Metrics, func(m report.GateMetric) bool { return m.Verdict != report.GateOK && m.Verdict != report.GateNew })
}

// differentPolicy says what is not as it was when the baseline was taken.
func differentPolicy(base *basePolicy, p *policy) []string {
	if base.Policy != p.Name {
		return []string{fmt.Sprintf("the baseline is of the policy %s, this is %s", base.Policy, p.Name)}
	}
	was, is := p.Declaration.Complete(base.Parameters), p.Declaration.Complete(p.Params)
	var changes []string
	for _, name := range slices.Sorted(maps.Keys(is)) {
		if was[name] != is[name] {
			changes = append(changes, fmt.Sprintf("%s was %s and is %s", name, was[name], is[name]))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(base.Parameters)) {
		if _, ok := is[name]; !ok {
			changes = append(changes, fmt.Sprintf("%s was %s and is no parameter any more", name, base.Parameters[name]))
		}
	}
	if len(changes) == 0 {
		return nil
	}
	return []string{"parameters: " + strings.Join(changes, "; ")}
}

func (e *entry) judgeDigests(base *basePolicy, p *policy) []report.GateDigest {
	out := make([]report.GateDigest, len(p.runs))
	for i := range p.runs {
		d := report.GateDigest{Seed: e.seeds[i], Value: hexDigest(p.runs[i].digest), Verdict: report.GateNew}
		if len(base.Digests) > 0 {
			d.Baseline = base.Digests[i]
			switch {
			case d.Baseline == d.Value:
				d.Verdict = report.GateOK
			case e.gate.digests():
				d.Verdict = report.GateFailed
			default:
				d.Verdict = report.GateChanged
			}
		}
		out[i] = d
	}
	return out
}

// judgeMetric holds the values of a metric, one for each seed, against those of the baseline.
//
// A metric that must be equal fails if it differs for any seed. One with a tolerance fails
// if its median over the seeds is worse than that of the baseline by more than the tolerance,
// and the interval of the change, seed by seed, holds only changes for the worse: with one
// seed the interval is the change itself, so the tolerance alone decides. Null, which is a
// time that never came, is worse than every number.
func judgeMetric(m *report.Metric, r rule, base, now []value) report.GateMetric {
	worst := 1.0
	if m.Better == report.Higher {
		worst = -1
	}
	g := report.GateMetric{Name: m.Name, Unit: m.Unit, Better: m.Better.String(), Rule: r.text, Value: pointer(median(now, worst))}
	if base == nil {
		g.Verdict = report.GateNew
		return g
	}
	before := median(base, worst)
	g.Baseline, g.Differ = pointer(before), differ(base, now)
	low, high := r.limits(m, before)
	g.Limit = report.GateLimit{Low: pointer(low), High: pointer(high)}
	c := changeOf(base, now, worst)
	if len(now) > 1 && r.kind == within {
		g.Change = &report.GateChange{Median: c.median, Low: c.interval.Low, High: c.interval.High}
	}
	g.Verdict = r.verdict(m, &c, median(now, worst), before, g.Differ)
	return g
}

// limits are the range that the median has to be in.
func (r *rule) limits(m *report.Metric, before float64) (low, high float64) {
	low, high = math.Inf(-1), math.Inf(1)
	switch t := r.tolerance(before); {
	case r.kind == ignore:
	case r.kind == equal:
		return before, before
	case m.Better == report.Lower:
		high = before + t
	case m.Better == report.Higher:
		low = before - t
	default:
		low, high = before-t, before+t
	}
	return low, high
}

// tolerance is how far a median may be from the baseline's. An infinite one is as bad as
// can be.
func (r *rule) tolerance(before float64) float64 {
	if math.IsInf(before, 0) {
		return 0
	}
	return float64(r.relative*math.Abs(before)) + r.absolute
}

func (r *rule) verdict(m *report.Metric, c *change, value, before float64, different int) report.GateVerdict {
	low, high := r.limits(m, before)
	t := r.tolerance(before)
	switch {
	case different == 0:
		return report.GateOK
	case r.kind == ignore:
		return report.GateChanged
	case r.kind == equal:
		return report.GateFailed
	case value > high && c.interval.Low > 0, value < low && c.interval.High < 0:
		return report.GateFailed
	case m.Better == report.Lower && value < before-t && c.interval.High < 0,
		m.Better == report.Higher && value > before+t && c.interval.Low > 0:
		return report.GateBetter
	}
	return report.GateChanged
}

// change is how the values of the seeds changed.
type change struct {
	median   float64
	interval stats.Interval
}

func changeOf(base, now []value, worst float64) change {
	diffs := make([]float64, len(now))
	for i := range diffs {
		a, b := base[i].at(worst), now[i].at(worst)
		if a != b {
			diffs[i] = b - a
		}
	}
	c := change{median: stats.Median(diffs)}
	c.interval = stats.Interval{Low: c.median, High: c.median}
	if interval, ok := stats.MedianInterval(diffs, confidence, resampling); ok {
		c.interval = interval
	}
	return c
}

// at is the value as a number: null is infinite, in the direction that is worse.
func (v value) at(worst float64) float64 {
	if v.null {
		return math.Inf(int(worst))
	}
	return v.number
}

func median(vs []value, worst float64) float64 {
	numbers := make([]float64, len(vs))
	for i := range vs {
		numbers[i] = vs[i].at(worst)
	}
	return stats.Median(numbers)
}

func differ(base, now []value) int {
	n := 0
	for i := range now {
		if base[i] != now[i] {
			n++
		}
	}
	return n
}

// pointer is a number as a report has it: nil if it is infinite.
func pointer(v float64) *float64 {
	if math.IsInf(v, 0) {
		return nil
	}
	return &v
}
