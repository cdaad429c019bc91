package study

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

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
	Transitions sim.Transitions // every transition in order, if Options.Record
}

// Options say how a study is run. The zero value is right for a comparison table.
type Options struct {
	Record   bool // keep every transition: 32 bytes each
	Parallel int  // runs at a time; 0, or more than that, is GOMAXPROCS
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
	s := &session{ctx: ctx, cfg: cfg, opts: opts, outcomes: make([]Outcome, len(choices)), failures: make([]error, len(choices))}
	s.failed.Store(int64(len(choices)))
	slots := make(chan struct{}, opts.parallel())
	var running sync.WaitGroup
	for i := range choices {
		slots <- struct{}{}
		running.Go(func() {
			s.run(i, choices[i])
			<-slots
		})
	}
	running.Wait()
	if first := s.failed.Load(); first < int64(len(choices)) {
		return nil, s.failures[first]
	}
	return s.outcomes, nil
}

func (o Options) parallel() int {
	n := runtime.GOMAXPROCS(0)
	if o.Parallel > 0 {
		n = min(n, o.Parallel)
	}
	return n
}

// session is what the goroutines of one Run share. Each writes only its own outcome and
// failure.
type session struct {
	ctx      context.Context
	cfg      *sim.Config
	opts     Options
	outcomes []Outcome
	failures []error
	failed   atomic.Int64 // the first choice that failed; the number of choices if none did
}

// run plays one choice and notes its failure.
func (s *session) run(i int, c Choice) {
	t := &tape{keep: s.opts.Record, ctx: s.ctx}
	defer func() {
		if p := recover(); p == cancelled {
			s.fail(i, s.ctx.Err())
		} else if p != nil {
			s.fail(i, broken(c.Label, s.cfg.Seed, t, p))
		}
	}()
	e, err := sim.New(s.cfg, c.New(), t)
	if err != nil {
		s.fail(i, fmt.Errorf("%s: %w", c.Label, err))
		return
	}
	for steps := 0; ; steps++ {
		if steps%stepsPerLook == 0 && s.givenUp(i) {
			return
		}
		if !e.Step() {
			break
		}
	}
	r := e.Finish()
	if r.Beyond && s.cfg.Until == 0 {
		s.fail(i, fmt.Errorf("%s: something is due after 292 years, the end of time: give the scenario an `until`, or shorter times", c.Label))
		return
	}
	s.outcomes[i] = Outcome{Choice: c, Result: r, Transitions: t.all}
}

// givenUp reports whether the run need not go on: cancelled, or behind one that failed.
func (s *session) givenUp(i int) bool {
	if err := s.ctx.Err(); err != nil {
		s.fail(i, err)
		return true
	}
	return s.failed.Load() < int64(i)
}

// fail notes that a choice failed, and how.
func (s *session) fail(i int, err error) {
	s.failures[i] = err
	for first := s.failed.Load(); int64(i) < first; first = s.failed.Load() {
		if s.failed.CompareAndSwap(first, int64(i)) {
			return
		}
	}
}

// cancelled is what a run that is given up within an instant panics with.
var cancelled any = errors.New("cancelled")

// tape records transitions, or only how far the run has come.
type tape struct {
	keep bool
	ctx  context.Context
	seen int
	all  sim.Transitions
	last sim.Transition
}

// Record takes a transition.
func (t *tape) Record(x sim.Transition) {
	if t.seen++; t.seen%stepsPerLook == 0 && t.ctx.Err() != nil {
		panic(cancelled) // from within an instant, which may be long
	}
	t.last = x
	if t.keep {
		t.all = append(t.all, x)
	}
}
