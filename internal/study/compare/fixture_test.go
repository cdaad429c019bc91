package compare

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gangplan/gangplan/internal/scenario"
	"github.com/gangplan/gangplan/internal/study"
	"github.com/gangplan/gangplan/internal/study/sweep"
	"github.com/gangplan/gangplan/report"
)

// crowd is a scenario of chance that takes no time: 24 jobs on four hosts.
const crowd = `apiVersion: gangplan/v1alpha1
kind: Scenario
name: crowd
cluster: {synthetic: {racks: 2, hosts: 2, gpus: 8}}
workload: {synthetic: {mix: deep-learning, jobs: 24, load: 1}}
policies: [gang, gang-topology]
`

// queue is a scenario without chance: four jobs of one node each, one after the other in the
// order of their queue. With lookahead the small one need not wait for the large one.
const queue = `apiVersion: gangplan/v1alpha1
kind: Scenario
name: queue
cluster: {nodes: [{name: n, count: 2, gpus: 8}]}
workload:
  jobs:
  - {id: first, duration: 1h, gpus: 8}
  - {id: large, submit: 1m, duration: 1h, gpus: 16}
  - {id: small, submit: 2m, duration: 30m, gpus: 8}
  - {id: last, submit: 3m, duration: 30m, gpus: 8}
policies:
- {name: gang, as: strict, strategy: StrictFIFO}
- {name: gang, as: lookahead, strategy: BestEffortFIFO}
`

// write runs a scenario under its policies and some seeds, and writes the runs to folders of
// dir, one per seed. The text is changed by pairs of old and new.
func write(t *testing.T, dir, text, version string, seeds []uint64, changes ...string) string {
	t.Helper()
	f, err := scenario.Parse("test", []byte(strings.NewReplacer(changes...).Replace(text)))
	if err != nil {
		t.Fatal(err)
	}
	s, err := f.Resolve("")
	if err != nil {
		t.Fatal(err)
	}
	for _, seed := range seeds {
		seeded, err := s.WithSeed(seed)
		if err != nil {
			t.Fatal(err)
		}
		outcomes, err := study.Run(t.Context(), seeded.Config, study.Choices(seeded), study.Options{})
		if err != nil {
			t.Fatal(err)
		}
		m := report.Manifest{Version: version, Scenario: report.Input{Name: s.Name, Hash: "sha256:" + s.Hash}}
		if _, err := study.Save(filepath.Join(dir, fmt.Sprint(seed)), m, outcomes); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func upTo(n uint64) []uint64 {
	var seeds []uint64
	for seed := uint64(1); seed <= n; seed++ {
		seeds = append(seeds, seed)
	}
	return seeds
}

func load(t *testing.T, path string) *Side {
	t.Helper()
	s, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func compared(t *testing.T, a, b string, o Options) *Comparison {
	t.Helper()
	c, err := Compare(load(t, a), load(t, b), o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// rowOfMetric finds a row of the only group.
func (c *Comparison) rowOfMetric(t *testing.T, metric string) *Row {
	t.Helper()
	for i := range c.Groups[0].Rows {
		if c.Groups[0].Rows[i].Metric == metric {
			return &c.Groups[0].Rows[i]
		}
	}
	t.Fatalf("no row %s", metric)
	return nil
}

func (c *Comparison) codes() string {
	var codes []string
	for _, w := range c.Warnings {
		codes = union(codes, w.Code)
	}
	return strings.Join(codes, " ")
}

func rendered(t *testing.T, c *Comparison, format string) string {
	t.Helper()
	var b strings.Builder
	if err := c.Render(&b, format); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// swept runs a study over crowd and returns the folder of the sweep.
func swept(t *testing.T, matrix string) string {
	t.Helper()
	text := "apiVersion: gangplan/v1alpha1\nkind: Study\nname: crowds\nscenario:\n" +
		"  cluster: {synthetic: {racks: 2, hosts: 2, gpus: 8}}\n" +
		"  workload: {synthetic: {mix: deep-learning, jobs: 20, load: 1}}\n  policies: [gang, gang-topology]\n" + matrix
	s, err := scenario.ParseStudy("study.yaml", []byte(text), "", study.MetricNames())
	if err != nil {
		t.Fatal(err)
	}
	p, err := sweep.NewPlan(context.Background(), s, "v1.0.0", 0)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if _, err := p.Run(t.Context(), sweep.Options{Dir: dir}); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Finish(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}
