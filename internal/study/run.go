package study

import (
	"context"
	"errors"
	"fmt"

	"github.com/gangplan/gangplan/sim"
)

// Choice is one policy to be run.
type Choice struct {
	Label  string            // unique within a study; what tables and folders call it
	Name   string            // of the policy
	Params map[string]string // its parameters, defaults included, for the record
	New    func() sim.Policy // makes it anew: a policy has state and is used once
}

// Outcome is a choice and what came of it.
type Outcome struct {
	Choice
	Result      *sim.Result
	Transitions sim.Transitions // every transition in order; nil unless Options.Record asks for them
	Dropped     bool            // there were more of them than Options.RecordMost
}

// Options say how a study is run. The zero value is right for a comparison table.
type Options struct {
	Record     bool // keep every transition: 32 bytes each
	RecordMost int  // drop those of a run that has more; 0 keeps any number
	Parallel   int  // runs at a time; 0, or more than that, is GOMAXPROCS
}

// stepsPerLook is how many instants are played between two looks at the context: a few
// milliseconds.
const stepsPerLook = 4096

// Run plays every choice over one configuration and returns the outcomes in the order of
// the choices. The configuration must not change meanwhile.
//
// The error is that of the first choice, in their order, that failed: a *Broken if a run
// broke an invariant or panicked, ctx's error if it was cancelled, else what is wrong with
// the configuration. Runs behind one that failed are given up.
func Run(ctx context.Context, cfg *sim.Config, choices []Choice, opts Options) ([]Outcome, error) {
	outcomes := make([]Outcome, len(choices))
	err := Each(ctx, len(choices), opts.Parallel, func(ctx context.Context, i int) (err error) {
		outcomes[i], err = play(ctx, cfg, choices[i], opts)
		return err
	})
	if err != nil {
		return nil, err
	}
	return outcomes, nil
}

// play runs one choice to its end.
func play(ctx context.Context, cfg *sim.Config, c Choice, opts Options) (out Outcome, err error) {
	t := &tape{keep: opts.Record, most: opts.RecordMost, ctx: ctx}
	defer func() {
		if p := recover(); p == errCancelled {
			err = ctx.Err()
		} else if p != nil {
			err = broken(c.Label, cfg.Seed, t, p)
		}
	}()
	e, err := sim.New(cfg, c.New(), t)
	if err != nil {
		return Outcome{}, fmt.Errorf("%s: %w", c.Label, err)
	}
	for more, steps := true, 0; more; steps++ {
		if steps%stepsPerLook == 0 && ctx.Err() != nil {
			return Outcome{}, ctx.Err()
		}
		more = e.Step()
	}
	r := e.Finish()
	if r.Beyond && cfg.Until == 0 {
		return Outcome{}, fmt.Errorf("%s: something is due after 292 years, the end of time: give the scenario an `until`, or shorter times", c.Label)
	}
	return Outcome{Choice: c, Result: r, Transitions: t.all, Dropped: opts.Record && !t.keep}, nil
}

// errCancelled is what a run that is given up within an instant panics with.
var errCancelled any = errors.New("cancelled")

// tape records transitions, or only how far the run has come.
type tape struct {
	keep bool
	most int // 0: any number
	ctx  context.Context
	seen int
	all  sim.Transitions
	last sim.Transition
}

// Record takes a transition.
func (t *tape) Record(x sim.Transition) {
	if t.seen++; t.seen%stepsPerLook == 0 && t.ctx.Err() != nil {
		panic(errCancelled) // from within an instant, which may be long
	}
	t.last = x
	if t.keep && t.most > 0 && len(t.all) == t.most {
		t.keep, t.all = false, nil
	}
	if t.keep {
		t.all = append(t.all, x)
	}
}
