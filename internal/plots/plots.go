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
	Where  []string // axis=value: only these cells of a sweep
	Cost   float64  // of a GPU-hour, in any currency
}

// Kind is a kind of plot.
type Kind struct {
	Name  string
	Doc   string   // one line
	Sweep bool     // it draws a sweep; else runs
	Takes []string // the options it takes, by the names of their flags

	draw func(in *Input, o *Options) (*figure.Chart, error)
}

// Kinds returns all kinds, those of runs first. It must not be changed.
func Kinds() []Kind { return kinds }

var kinds = []Kind{
	{"wait-cdf", "share of jobs that started within a time, by policy, size of gang or queue", false, []string{"by"}, waitCDF},
	{"slowdown-cdf", "share of GPU-time by all-reduce slowdown, and what placement and neighbours make of it", false, nil, slowdownCDF},
	{"ledger", "where the GPU-hours went: one bar per policy", false, nil, ledgerBars},
	{"ledger-time", "where the GPUs were over time: a stack of areas per policy", false, nil, ledgerTime},
	{"utilisation", "useful share of the GPUs over time, and how many jobs and GPUs wait", false, nil, utilisation},
	{"requeues", "how often jobs were requeued, and what evicted them, by policy", false, nil, requeues},
	{"fragmentation", "largest gang that would fit, and free GPUs that nobody who waits can use, over time", false, []string{"level"}, fragmentation},
	{"sweep-curve", "a metric of a sweep along one axis, a line per policy with its 95% interval over seeds", true, []string{"metric", "x", "where"}, sweepCurve},
	{"sweep-heat", "a metric of a sweep over two axes, a panel per policy", true, []string{"metric", "x", "y", "where"}, sweepHeat},
	{"frontier", "capacity frontier of a sweep of cluster sizes: cost, or GPUs, against p95 wait", true, []string{"metric", "where", "cost-per-gpu-hour"}, frontier},
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
	if !k.Sweep && len(in.Runs) == 0 {
		return nil, fmt.Errorf("%s: expected at least one run", k.Name)
	}
	if err := unique(in.Runs); err != nil {
		return nil, err
	}
	c, err := k.draw(in, &o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", k.Name, err)
	}
	return c, nil
}

func unique(runs []Run) error {
	seen := map[string]bool{}
	for _, r := range runs {
		if seen[r.Label] {
			return fmt.Errorf("two runs are called %q", r.Label)
		}
		seen[r.Label] = true
	}
	return nil
}
