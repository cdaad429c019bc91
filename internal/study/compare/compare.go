package compare

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gangplan/gangplan/internal/study"
	"github.com/gangplan/gangplan/report"
)

// Options say what is compared. The zero value is right for a table.
type Options struct {
	Metrics    []string // names, prefixes that end in a point or a star, or all; nil: Usual
	Confidence float64  // of intervals, and 1 less the level of tests; 0 is 0.95
}

// Usual are the metrics compared if nobody says which. They are few, because each one more
// makes Holm's correction harder on all.
var Usual = []string{
	"jobs.finished", "makespan_seconds", "requeues", "preemptions",
	"wait.mean_seconds", "wait.p50_seconds", "wait.p95_seconds", "wait.max_seconds",
	"jct.mean_seconds", "jct.p95_seconds", "bounded_slowdown.p95", "allreduce_slowdown.mean",
	"gpu_hours.held", "gpu_hours.idle", "utilisation", "verdicts.deadlock",
}

// Comparison is how B compares with A.
type Comparison struct {
	Version    string    `json:"version,omitempty"`
	A          SideNote  `json:"a"`
	B          SideNote  `json:"b"`
	Confidence float64   `json:"confidence"`
	Groups     []Group   `json:"groups"`
	Warnings   []Warning `json:"warnings"`

	pairing *pairing
	metrics []*report.Metric
}

// SideNote says what one of the sides is.
type SideNote struct {
	Path string `json:"path"`
	Name string `json:"name"` // what tells it from the other
	Runs int    `json:"runs"`
}

// Group is one comparison: of runs that stand at the same place on both sides.
type Group struct {
	Of        []Dimension `json:"of"`     // what its runs have in common and those of other groups have not
	Paired    bool        `json:"paired"` // by seed
	Seeds     []uint64    `json:"seeds"`  // of the pairs, those of A
	Jobs      *JobPairs   `json:"jobs"`   // null if nothing is known of jobs
	Rows      []Row       `json:"rows"`
	Sentences []string    `json:"sentences"`

	runs   *group
	values *values
}

// Compare compares two sides.
func Compare(a, b *Side, o Options) (*Comparison, error) {
	if o.Confidence == 0 {
		o.Confidence = 0.95
	}
	if !(o.Confidence > 0 && o.Confidence < 1) {
		return nil, fmt.Errorf("a confidence of %v: expected more than 0 and less than 1", o.Confidence)
	}
	metrics, err := chosen(o.Metrics)
	if err != nil {
		return nil, err
	}
	p, err := pair(a, b)
	if err != nil {
		return nil, err
	}
	nameA, nameB := p.names()
	c := &Comparison{A: SideNote{a.Path, nameA, len(a.runs)}, B: SideNote{b.Path, nameB, len(b.runs)},
		Confidence: o.Confidence, Warnings: []Warning{}, pairing: p, metrics: metrics}
	for i := range p.groups {
		if err := c.add(&p.groups[i], o.Metrics != nil); err != nil {
			return nil, err
		}
	}
	c.warn()
	for i := range c.Groups {
		c.Groups[i].Sentences = c.sentences(&c.Groups[i])
	}
	return c, nil
}

// names tells the sides apart by what differs between them, or as A and B.
func (p *pairing) names() (a, b string) {
	var as, bs []string
	for _, name := range p.differ {
		prefix := name + "="
		if name == policyName {
			prefix = ""
		}
		as = append(as, prefix+p.a.runs[0].value(name))
		bs = append(bs, prefix+p.b.runs[0].value(name))
	}
	if as == nil {
		return "A", "B"
	}
	return strings.Join(as, ", "), strings.Join(bs, ", ")
}

// add compares a group.
func (c *Comparison) add(g *group, asked bool) error {
	v, err := g.values()
	if err != nil {
		return err
	}
	out := Group{Of: g.of, Paired: v.paired, Seeds: []uint64{}, runs: g, values: v}
	for _, p := range g.pairs {
		out.Seeds = append(out.Seeds, p[0].Manifest.Seed)
	}
	for _, m := range c.metrics {
		if row, ok := v.row(m, c.Confidence); ok && (asked || !row.empty()) {
			out.Rows = append(out.Rows, row)
		}
	}
	rows, count, err := g.jobRows(c.Confidence)
	switch {
	case err == errNoJobs:
		c.note("no-jobs", "%s: there is no table of jobs, so jobs are not paired%s", c.A.Path+" or "+c.B.Path, out.where())
	case err != nil:
		return err
	case v.paired:
		out.Rows, out.Jobs = append(out.Rows, rows...), &count
	}
	adjust(out.Rows, 1-c.Confidence)
	c.Groups = append(c.Groups, out)
	return nil
}

// row compares one metric; false if no run has it.
func (v *values) row(m *report.Metric, confidence float64) (Row, bool) {
	a, inA := numbers(v.a, m.Name)
	b, inB := numbers(v.b, m.Name)
	if !inA && !inB {
		return Row{}, false
	}
	if !v.paired {
		return samplesRow(m, a, b), true
	}
	ds := make([]float64, len(a))
	for i := range a {
		ds[i] = minus(b[i], a[i])
	}
	return pairedRow(m, a, b, ds, confidence), true
}

// empty reports whether nothing of the kind happened on either side.
func (r *Row) empty() bool { return r.a == 0 && r.b == 0 && r.Verdict == Same }

// chosen looks metrics up, in the order of the registry.
func chosen(words []string) ([]*report.Metric, error) {
	if words == nil {
		words = Usual
	}
	names, err := study.ChooseMetrics(words)
	if err != nil {
		return nil, err
	}
	var out []*report.Metric
	for _, name := range study.MetricNames() {
		if m, _ := report.LookupMetric(name); slices.Contains(names, name) {
			out = append(out, m)
		}
	}
	return out, nil
}

// Worsened reports whether anything is worse, significantly or exactly.
func (c *Comparison) Worsened() bool {
	return slices.ContainsFunc(c.Groups, func(g Group) bool {
		return slices.ContainsFunc(g.Rows, func(r Row) bool { return r.Verdict == Worse })
	})
}

// where says of which group something is, if there are several.
func (g *Group) where() string {
	if len(g.Of) == 0 {
		return ""
	}
	return " (" + placeOf(g.Of) + ")"
}
