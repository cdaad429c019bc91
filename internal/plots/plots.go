// Package plots makes figures of results: of run directories and of finished sweeps. A
// kind of plot reads the columns it needs, says in its title what is to be seen in them,
// and in its caption how they were counted and what is left out.
//
// Numbers are those of docs/measurement.md: quantiles are nearest-rank over all jobs of the
// measured window, a job that never started counting as infinite, and runs of unequal length
// are compared as the tables compare them.
package plots

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gangplan/gangplan/internal/columnar"
	"github.com/gangplan/gangplan/internal/study/sweep"
	"github.com/gangplan/gangplan/internal/suggest"
	"github.com/gangplan/gangplan/report"
	"github.com/gangplan/gangplan/report/figure"
)

// Run is a run to be drawn: its label, which is unique among those drawn with it, and what
// its directory holds.
type Run struct {
	Label   string
	Summary *report.Summary
	Tables  Tables
}

// Tables are the tables of a run, with the columns that docs/results.md lists; a
// *report.StoredRun has them. The error is fs.ErrNotExist where the run kept none.
type Tables interface {
	Jobs(columns ...string) (*columnar.Table, error)
	Ledger(columns ...string) (*columnar.Table, error)
	Queues(columns ...string) (*columnar.Table, error)
	Series(columns ...string) (*columnar.Table, error)
}

// Input is what is drawn: some runs, or a sweep.
type Input struct {
	Runs  []Run
	Sweep *sweep.Sweep
}

// Options say what a kind draws of it. Each kind takes some of them, see Kind.Takes; ""
// and 0 let the kind choose.
type Options struct {
	By     string   // wait-cdf: policy, gang or queue
	Level  string   // of the topology
	Metric string   // of the registry
	X, Y   string   // axes of a sweep
	Where  []string // axis=value: only these cells of a sweep; nil: all
	Cost   float64  // of a GPU-hour, in any currency
}

// Kind is a kind of plot.
type Kind struct {
	Name  string
	Doc   string   // one line
	Sweep bool     // it draws a sweep; else runs, or single cells of a sweep
	Takes []string // the options it takes, by the names of their flags

	draw func(in *Input, o *Options) (*figure.Chart, error)
}

// Kinds returns all kinds, those of runs first. It must not be changed.
func Kinds() []Kind { return kinds }

var kinds = []Kind{
	{"wait-cdf", "share of jobs started within a time, by policy, gang size or queue", false, []string{"by", "where"}, waitCDF},
	{"slowdown-cdf", "share of GPU-time by all-reduce slowdown, and what makes it slow", false, []string{"where"}, slowdownCDF},
	{"ledger", "where the GPU-hours went: one bar per policy", false, []string{"where"}, ledgerBars},
	{"ledger-time", "where the GPUs were over time: a stack of areas per policy", false, []string{"where"}, ledgerTime},
	{"utilisation", "useful share of the GPUs over time, and how many jobs and GPUs wait", false, []string{"where"}, utilisation},
	{"requeues", "how often jobs were requeued, and what evicted them, by policy", false, []string{"where"}, requeues},
	{"fragmentation", "largest gang that would fit, and free GPUs without a use, over time", false, []string{"level", "where"}, fragmentation},
	{"sweep-curve", "a metric along one axis, a line per policy, its 95% interval over seeds", true, []string{"metric", "x", "where"}, sweepCurve},
	{"sweep-heat", "a metric over two axes, a panel per policy", true, []string{"metric", "x", "y", "where"}, sweepHeat},
	{"frontier", "capacity frontier over cluster sizes: cost, or GPUs, against p95 wait", true, []string{"metric", "where", "cost-per-gpu-hour"}, frontier},
}

// Names returns the names of all kinds.
func Names() []string {
	names := make([]string, len(kinds))
	for i := range kinds {
		names[i] = kinds[i].Name
	}
	return names
}

// Find returns the kind of a name. The error suggests one.
func Find(name string) (*Kind, error) {
	if i := slices.IndexFunc(kinds, func(k Kind) bool { return k.Name == name }); i >= 0 {
		return &kinds[i], nil
	}
	return nil, fmt.Errorf("unknown kind of plot %q, expected one of %s%s", name, strings.Join(Names(), ", "), suggest.Hint(name, Names()))
}

// Draw makes the chart. The error says what the kind needs where the input has it not.
func (k *Kind) Draw(in *Input, o Options) (*figure.Chart, error) {
	if k.Sweep && in.Sweep == nil {
		return nil, fmt.Errorf("%s: draws a sweep: expected the folder of one (gangplan sweep -f study.yaml --out DIR), got runs", k.Name)
	}
	if !k.Sweep {
		var err error
		if in, err = runsOf(in, o.Where); err != nil {
			return nil, fmt.Errorf("%s: %w", k.Name, err)
		}
	}
	c, err := k.draw(in, &o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", k.Name, err)
	}
	return c, nil
}

// mostRuns is how many runs a picture takes.
const mostRuns = 12

// runsOf returns the runs themselves, or the cells of a sweep as runs.
func runsOf(in *Input, where []string) (*Input, error) {
	switch {
	case in.Sweep != nil:
		return cellsOf(in, where)
	case where != nil:
		return nil, fmt.Errorf("--where chooses among the cells of a sweep, got runs")
	case len(in.Runs) == 0:
		return nil, fmt.Errorf("expected at least one run")
	case len(in.Runs) > mostRuns:
		return nil, fmt.Errorf("got %d runs; at most %d can be told apart", len(in.Runs), mostRuns)
	}
	seen := map[string]bool{}
	for _, r := range in.Runs {
		if seen[r.Label] {
			return nil, fmt.Errorf("two runs are called %q", r.Label)
		}
		seen[r.Label] = true
	}
	return in, nil
}

// cellsOf opens the chosen cells of a sweep.
func cellsOf(in *Input, where []string) (*Input, error) {
	t, err := newTable(in, &Options{Where: where})
	if err != nil {
		return nil, err
	}
	if len(t.cells) > mostRuns {
		return nil, fmt.Errorf("the sweep has %d runs; choose at most %d with --where axis=value", len(t.cells), mostRuns)
	}
	out := &Input{}
	for _, c := range t.cells {
		r, err := report.OpenRun(c.Dir)
		if err != nil {
			return nil, err
		}
		label := t.rest(c, nil)
		if label == "" {
			label = c.Policy
		}
		out.Runs = append(out.Runs, Run{Label: label, Summary: &r.Summary, Tables: r})
	}
	return out, nil
}
