package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gangplan/gangplan/internal/stats"
	"github.com/gangplan/gangplan/report"
)

// Warning is something that makes a comparison worth less than it seems.
type Warning struct {
	Code string `json:"code"` // one word or a few, for programs
	Text string `json:"text"`
}

// note adds a warning, once.
func (c *Comparison) note(code, format string, args ...any) {
	w := Warning{code, fmt.Sprintf(format, args...)}
	if !slices.Contains(c.Warnings, w) {
		c.Warnings = append(c.Warnings, w)
	}
}

// warn looks for everything there is to warn of.
func (c *Comparison) warn() {
	for _, text := range c.pairing.alone {
		c.note("no-partner", "%s: left out", text)
	}
	for i := range c.Groups {
		g := &c.Groups[i]
		c.warnOfSeeds(g)
		c.warnOfInputs(g)
		c.warnOfJobs(g)
	}
	c.warnOfOneRun()
}

// warnOfSeeds looks at how many seeds there are, and which.
func (c *Comparison) warnOfSeeds(g *Group) {
	n, level := len(g.runs.pairs), 1-c.Confidence
	if !g.Paired {
		c.note("unpaired", "no seed is on both sides%s: runs are compared as two samples (Mann-Whitney), which finds far less", g.where())
		if p := stats.LeastRankSumP(len(g.runs.a), len(g.runs.b)); p >= level {
			c.note("few-seeds", "%s%s: no p can be below %.2g, so nothing can be significant at %.2g", g.runs.sizes(), g.where(), p, level)
		}
		return
	}
	if lone := len(g.runs.lone[0]) + len(g.runs.lone[1]); lone > 0 {
		c.note("no-partner", "the other side has no run with the seed of %s%s: left out", report.Count(lone, "run"), g.where())
	}
	if p := g.runs.pairs[0]; p[0].Manifest.Seed != p[1].Manifest.Seed {
		c.note("seeds-differ", "the runs%s have the seeds %d and %d: what differs may be chance", g.where(), p[0].Manifest.Seed, p[1].Manifest.Seed)
	}
	c.warnOfFewSeeds(g, n, level)
}

func (c *Comparison) warnOfFewSeeds(g *Group, n int, level float64) {
	if n == 1 {
		c.note("one-seed", "one seed%s: counts and GPU-hours are exact for it, and nothing is known of others", g.where())
		return
	}
	tested := 0
	for i := range g.Rows {
		if g.Rows[i].P != nil {
			tested++
		}
	}
	least := stats.LeastSignedRankP(n)
	if least >= level {
		c.note("few-seeds", "%d seeds%s: no p can be below %.2g, so nothing can be significant at %.2g; %d seeds can", n, g.where(), least, level, seedsFor(level))
	} else if least*float64(tested) >= level {
		c.note("few-seeds", "%d seeds%s: with %s no p can be below %.2g after Holm's correction; %d seeds or fewer metrics can",
			n, g.where(), report.Count(tested, "metric"), min(1, least*float64(tested)), seedsFor(level/float64(tested)))
	}
}

// seedsFor returns how many seeds it takes for a p below a level.
func seedsFor(level float64) int {
	n := 1
	for stats.LeastSignedRankP(n) >= level {
		n++
	}
	return n
}

// warnOfInputs looks for what should be the same on both sides and is not.
func (c *Comparison) warnOfInputs(g *Group) {
	a, b := &g.runs.a[0].Manifest, &g.runs.b[0].Manifest
	if a.Version != b.Version {
		c.note("versions-differ", "A is of gangplan %s, B of %s", a.Version, b.Version)
	}
	if files := differingInputs(a.Inputs, b.Inputs); len(files) > 0 {
		c.note("inputs-differ", "the files differ: %s", strings.Join(files, ", "))
	}
	onlyPolicy := len(c.pairing.differ) == 0 || slices.Equal(c.pairing.differ, []string{policyName})
	if onlyPolicy && a.Scenario.Hash != b.Scenario.Hash {
		c.note("scenarios-differ", "the scenarios%s are not the same beside the policy: what differs is not the policy's alone", g.where())
	}
	if onlyPolicy && a.UntilNanos != b.UntilNanos {
		c.note("until-differs", "the runs%s do not share their `until`", g.where())
	}
	if identical(g.runs) {
		c.note("identical", "the runs%s are the same, transition by transition", g.where())
	}
}

func differingInputs(a, b []report.Input) []string {
	var files []string
	for _, list := range [][]report.Input{a, b} {
		for _, in := range list {
			if !slices.Contains(a, in) || !slices.Contains(b, in) {
				files = union(files, in.Name)
			}
		}
	}
	return files
}

// identical reports whether all pairs of a group have the same digest.
func identical(g *group) bool {
	return len(g.pairs) > 0 && !slices.ContainsFunc(g.pairs, func(p [2]*run) bool { return p[0].Manifest.Digest != p[1].Manifest.Digest })
}

// warnOfJobs looks at whether the jobs are the same.
func (c *Comparison) warnOfJobs(g *Group) {
	if g.Jobs == nil {
		return
	}
	if lone := g.Jobs.OnlyA + g.Jobs.OnlyB; lone > 0 {
		c.note("jobs-without-partner", "only one side has %s%s (%d in A, %d in B): the sides have not the same demand", report.Count(lone, "job"), g.where(), g.Jobs.OnlyA, g.Jobs.OnlyB)
	}
	if g.Jobs.Changed > 0 {
		c.note("jobs-differ", "in B another submission, work or size%s of %d of %s: the sides have not the same demand", g.where(), g.Jobs.Changed, report.Count(g.Jobs.Paired, "job"))
	}
	jobs := func(r Row) bool { return r.P != nil && isByJob(r.metric) }
	if len(g.runs.pairs) == 1 && slices.ContainsFunc(g.Rows, jobs) {
		c.note("dependent-jobs", "jobs of one run wait for each other: their p takes them as independent, and is too small")
	}
}

func isByJob(m *report.Metric) bool { return slices.Contains(jobMetrics, m) }

// warnOfOneRun tells of a path that is compared with itself.
func (c *Comparison) warnOfOneRun() {
	if c.A.Path == c.B.Path {
		c.note("same-path", "A and B are the same: %s", cmp.Or(c.A.Path, "."))
	}
}
