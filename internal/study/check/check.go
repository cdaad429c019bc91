package check

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"

	"github.com/gangplan/gangplan/internal/study"
	"github.com/gangplan/gangplan/report"
)

// Options say how a corpus is checked. The zero value checks all of it.
type Options struct {
	Update    bool     // take what is measured now as the baseline
	Scenarios []string // names; none: all
	Parallel  int      // runs at a time; 0: as many as there are processors
	Version   string   // of gangplan

	Progress func(done, all int) // hears of every run that is made, one at a time; may be nil
}

// Run runs every policy of every scenario of a corpus with every seed, and holds what they
// measure against the baselines, or makes that the baselines. The answer does not depend on
// how many run at a time.
//
// The error is a scenario.Errors if a file cannot be used, a *study.Broken if a run broke an
// invariant, ctx's error if it was cancelled. After an error every baseline is the one it was,
// unless it says that some were replaced already.
func Run(ctx context.Context, dir string, o Options) (*report.Gate, error) {
	c, err := open(dir, o.Scenarios)
	if err != nil {
		return nil, err
	}
	if o.Update {
		return c.update(ctx, o)
	}
	if err := c.play(ctx, o); err != nil {
		return nil, err
	}
	g := &report.Gate{Version: o.Version, Corpus: slash(dir)}
	for _, e := range c.entries {
		g.Scenarios = append(g.Scenarios, e.judge(slash(dir), o.Version))
	}
	for _, name := range c.orphans {
		g.Scenarios = append(g.Scenarios, report.GateScenario{Name: name, File: slash(filepath.Join(dir, name+baselineSuffix)),
			Problem: fmt.Sprintf("there is a baseline, but no scenario %s%s; gangplan check %s --update removes it", name, scenarioSuffix, slash(dir))})
	}
	g.Finish()
	return g, nil
}

// slash writes a path as it is written everywhere.
func slash(path string) string { return filepath.ToSlash(path) }

// cell is one run: of a policy of a scenario, with one of the seeds.
type cell struct {
	e      *entry
	policy int
	seed   int
}

// play runs everything that can be compared, or everything for an update.
func (c *corpus) play(ctx context.Context, o Options) error {
	var cells []cell
	for _, e := range c.entries {
		if !o.Update && e.problem() != "" {
			continue
		}
		for p := range e.policies {
			for s := range e.seeds {
				cells = append(cells, cell{e, p, s})
			}
		}
	}
	var mu sync.Mutex
	done := 0
	return study.Each(ctx, len(cells), o.Parallel, func(ctx context.Context, i int) error {
		err := cells[i].play(ctx, o.Update)
		mu.Lock()
		defer mu.Unlock()
		if done++; o.Progress != nil {
			o.Progress(done, len(cells))
		}
		return err
	})
}

// play makes the run, and finds out at once where it parts from the baseline, so that its
// transitions need be kept for an update only.
func (c *cell) play(ctx context.Context, update bool) error {
	p := &c.e.policies[c.policy]
	outcomes, err := study.Run(ctx, c.e.configs[c.seed], []study.Choice{p.choice()}, study.Options{Record: true})
	if err != nil {
		return fmt.Errorf("%s: %w", slash(c.e.file), err)
	}
	r, ts := outcomes[0].Result, outcomes[0].Transitions
	out := &p.runs[c.seed]
	*out = played{digest: r.Digest, transitions: len(ts), values: report.Measure(r, nil)}
	if update {
		out.tape = ts
	}
	base := c.e.baseline.base(p.Label)
	if base == nil || c.e.problem() != "" || base.Digests[c.seed] == hexDigest(r.Digest) {
		return nil
	}
	if was, err := findTape(c.e.record, p.Label, c.e.seeds[c.seed], base.Digests[c.seed]); err == nil {
		out.parting = report.NewGateParting(c.e.configs[c.seed], c.e.seeds[c.seed], was.transitions, ts)
	}
	return nil
}
