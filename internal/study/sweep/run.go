package sweep

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/gangplan/gangplan/internal/scenario"
	"github.com/gangplan/gangplan/internal/staging"
	"github.com/gangplan/gangplan/internal/study"
	"github.com/gangplan/gangplan/report"
)

// Options say how a sweep is run.
type Options struct {
	Dir      string // where cells and results go
	Parallel int    // runs at a time; 0, or more than that, is GOMAXPROCS
	Shard    Shard
	Progress func(Progress) // if not nil, it hears of the start and of every finished run, one call at a time
}

// Progress is how far a sweep has come.
type Progress struct {
	Runs   int // to be made, those of the shard
	Done   int // that are there
	Reused int // of these, that were there before
	Redone int // of these, that were there but damaged
}

// Interrupted is the error of a sweep that was cancelled. What is done stays done.
type Interrupted struct{ Progress }

func (e *Interrupted) Error() string {
	return fmt.Sprintf("interrupted; %d of %s done: the same command goes on from there", e.Done, report.Count(e.Runs, "run"))
}

func (e *Interrupted) Unwrap() error { return context.Canceled }

// Run makes all runs of a shard that are not there yet. Any number of processes may run
// different shards in the same folder, or the same. After an error, or at whatever moment a process
// ends, every cell is there whole or has to be run.
func (p *Plan) Run(ctx context.Context, o Options) (Progress, error) {
	if err := p.prepare(o.Dir); err != nil {
		return Progress{}, err
	}
	tasks := p.part(o.Shard)
	r := &runner{plan: p, cells: filepath.Join(o.Dir, cellsDir), report: o.Progress}
	r.now.Runs = len(tasks)
	r.count(Progress{})
	err := study.Each(ctx, len(tasks), o.Parallel, func(ctx context.Context, i int) error { return r.one(ctx, tasks[i]) })
	if errors.Is(err, context.Canceled) {
		err = &Interrupted{r.now}
	}
	return r.now, err
}

// prepare makes the folder for cells and finds out whether anything can be written to it,
// before hours are spent on what cannot be kept. Then it takes away what interrupted
// processes left there, and results that are not of this study.
func (p *Plan) prepare(dir string) error {
	cells := filepath.Join(dir, cellsDir)
	if err := os.MkdirAll(cells, 0o777); err != nil {
		return err
	}
	probe, err := staging.New(cells, tempPrefix)
	if err != nil {
		return err
	}
	if err := probe.Remove(); err != nil {
		return err
	}
	if err := staging.SweepAway(cells, tempPrefix); err != nil {
		return err
	}
	return p.withdraw(dir)
}

// runner is what the workers of one Run share.
type runner struct {
	plan   *Plan
	cells  string
	report func(Progress)

	mu  sync.Mutex
	now Progress
}

// one makes a run unless it is there.
func (r *runner) one(ctx context.Context, t *task) error {
	err := t.verify(r.cells)
	var damaged *damagedError
	switch {
	case err == nil:
		r.count(Progress{Done: 1, Reused: 1})
		return nil
	case errors.As(err, &damaged):
		r.count(Progress{Redone: 1})
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if err := r.plan.make(ctx, r.cells, t); err != nil {
		return err
	}
	r.count(Progress{Done: 1})
	return nil
}

func (r *runner) count(more Progress) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now.Done += more.Done
	r.now.Reused += more.Reused
	r.now.Redone += more.Redone
	if r.report != nil {
		r.report(r.now)
	}
}

// make makes a run and keeps it.
func (p *Plan) make(ctx context.Context, cells string, t *task) error {
	s, err := t.of.acquire()
	if err != nil {
		return err
	}
	defer t.of.release()
	own, err := s.WithSeed(t.seed)
	if err != nil {
		return err
	}
	outcome, err := p.play(ctx, own, t)
	if err != nil {
		return err
	}
	return p.write(cells, t, outcome)
}

// play is one run, by itself.
func (p *Plan) play(ctx context.Context, s *scenario.Scenario, t *task) (*study.Outcome, error) {
	choice := study.Choices(s)[t.choice]
	outcomes, err := study.Run(ctx, s.Config, []study.Choice{choice}, study.Options{Record: p.study.Keep == "decisions", Parallel: 1})
	if errors.Is(err, context.Canceled) {
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.cell, err)
	}
	return &outcomes[0], nil
}
