package verify

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/gangplan/gangplan/internal/scenario"
	"github.com/gangplan/gangplan/internal/study/size"
	"github.com/gangplan/gangplan/report"
)

// A sizing scenario leaves the number of nodes open: it lists some, has a table of what
// comes of them, and asks for the smallest that meets a target.

// sizes returns the numbers of nodes of a sizing scenario, in order.
func (c *scenarioCase) sizes() []int {
	list, ok := strings.CutPrefix(text(c.Cluster["nodes"]), "n = ")
	if !ok {
		return nil
	}
	list, _, _ = strings.Cut(list, " ")
	var sizes []int
	for word := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 {
			return nil
		}
		sizes = append(sizes, n)
	}
	slices.Sort(sizes)
	return sizes
}

// answerSizing answers every expectation of a sizing scenario.
func (c *scenarioCase) answerSizing(policy string) (map[string]any, error) {
	got := map[string]any{}
	for key, want := range c.expectOf(policy) {
		var err error
		if target, ok := strings.CutPrefix(key, "answer "); ok {
			got[key], err = c.smallest(policy, target)
		} else if n, ok := strings.CutPrefix(key, "n="); ok {
			got[key], err = c.stability(policy, n, want)
		} else if rows, ok := want.(map[string]any); ok && key == "table" {
			got[key], err = c.sizingTable(policy, rows)
		} else {
			err = cannot("the expectation %s is not measured", key)
		}
		if err != nil {
			return nil, err
		}
	}
	return got, nil
}

// ask makes a question about some numbers of nodes.
func (c *scenarioCase) ask(policy, target string, sizes []int) (*size.Question, error) {
	bound := target
	for _, name := range []string{"p50", "p90", "p95", "p99", "max", "mean"} {
		if rest, ok := strings.CutPrefix(target, name); ok {
			bound = "wait." + name + "_seconds" + rest
		}
	}
	t, err := size.ParseTarget(bound)
	if err != nil {
		return nil, cannot("the target %q", target)
	}
	q := &size.Question{Field: size.Nodes, Extreme: "smallest", Targets: []size.Target{t}, All: true, Confidence: 0.95, Share: 0.5}
	for _, n := range sizes {
		q.Values = append(q.Values, []string{strconv.Itoa(n)})
	}
	q.Build = func(i int) (*scenario.Scenario, error) {
		sized := *c
		sized.Cluster = map[string]any{"nodes": float64(sizes[i])}
		f, err := sized.convert(policy)
		if err != nil {
			return nil, err
		}
		return f.Resolve("")
	}
	return q, nil
}

// smallest finds the smallest number of nodes, between the ends of what is listed, that
// meets a target; nil if none does.
func (c *scenarioCase) smallest(policy, target string) (any, error) {
	listed := c.sizes()
	var sizes []int
	for n := listed[0]; n <= listed[len(listed)-1]; n++ {
		sizes = append(sizes, n)
	}
	q, err := c.ask(policy, target, sizes)
	if err != nil {
		return nil, err
	}
	q.All = false
	a, err := size.Find(context.Background(), q)
	if err != nil || !a.AllMet() {
		return nil, err
	}
	return strconv.ParseFloat(a.Policies[0].Answer[0], 64)
}

// curve looks at some numbers of nodes.
func (c *scenarioCase) curve(policy string, sizes []int) ([]size.Point, error) {
	q, err := c.ask(policy, "p95>=0", sizes)
	if err != nil {
		return nil, err
	}
	a, err := size.Find(context.Background(), q)
	if err != nil {
		return nil, err
	}
	return a.Policies[0].Curve, nil
}

// sizingTable measures the rows of a table by number of nodes.
func (c *scenarioCase) sizingTable(policy string, rows map[string]any) (any, error) {
	got := map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(rows)) {
		n, err := strconv.Atoi(key)
		row, ok := rows[key].(map[string]any)
		if err != nil || n < 1 || !ok {
			return nil, cannot("the row %q of the table", key)
		}
		points, err := c.curve(policy, []int{n})
		if err != nil {
			return nil, err
		}
		if got[key], err = measurePoint(&points[0], row); err != nil {
			return nil, err
		}
	}
	return got, nil
}

func measurePoint(p *size.Point, asked map[string]any) (map[string]any, error) {
	got := map[string]any{}
	for key, want := range asked {
		if key == "offered_load" {
			if got[key] = nil; p.OfferedLoad != nil {
				got[key] = roundedLike(*p.OfferedLoad, number(want))
			}
			continue
		}
		name := "wait." + key + "_seconds"
		if _, known := report.LookupMetric(name); !known || !slices.Contains(size.Shown, name) {
			return nil, cannot("the column %s is not measured", key)
		}
		if v, ok := p.Metrics.Get(name); ok {
			got[key] = v
		} else {
			got[key] = nil
		}
	}
	return got, nil
}

// stability answers what is said of a number of nodes in words: unstable is more work than
// nodes can do.
func (c *scenarioCase) stability(policy, nodes string, want any) (any, error) {
	n, err := strconv.Atoi(nodes)
	said, _, _ := strings.Cut(text(want), ":")
	if err != nil || said != "unstable" && said != "stable" {
		return nil, cannot("what is said of n=%s", nodes)
	}
	points, err := c.curve(policy, []int{n})
	if err != nil {
		return nil, err
	}
	load := points[0].OfferedLoad
	if load == nil {
		return nil, cannot("the load of one burst")
	}
	if found := map[bool]string{true: "unstable", false: "stable"}[*load > 1]; found != said {
		return fmt.Sprintf("%s: load %.4g", found, *load), nil
	}
	return want, nil
}
