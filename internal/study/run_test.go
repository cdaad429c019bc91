package study

import (
	"context"
	"errors"
	"reflect"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/workloads"
)

func TestRunKeepsTheOrderOfChoices(t *testing.T) {
	outcomes := runAll(t, Options{Record: true}, three...)
	for i, o := range outcomes {
		if o.Label != three[i] || o.Result.Policy != three[i] {
			t.Errorf("outcome %d is %s, %s", i, o.Label, o.Result.Policy)
		}
		digest := sim.NewDigest
		for _, x := range o.Transitions {
			digest = digest.Add(x)
		}
		if digest != o.Result.Digest {
			t.Errorf("%s: the transitions are not those of the digest", o.Label)
		}
	}
}

// However many run at a time, each run is the same.
func TestDeterminismOfParallelRuns(t *testing.T) {
	names := append(three, three...)
	one, many := runAll(t, Options{Parallel: 1, Record: true}, names...), runAll(t, Options{Record: true}, names...)
	for i := range one {
		if one[i].Result.Digest != many[i].Result.Digest || !reflect.DeepEqual(one[i].Result.Jobs, many[i].Result.Jobs) {
			t.Errorf("%s differs when others run beside it", one[i].Label)
		}
		if !reflect.DeepEqual(one[i].Transitions, many[i].Transitions) {
			t.Errorf("%s: transitions differ", one[i].Label)
		}
	}
}

func TestRunRecordsOnlyWhenAsked(t *testing.T) {
	if o := runAll(t, Options{}, "gang")[0]; o.Transitions != nil {
		t.Errorf("%d transitions were kept", len(o.Transitions))
	}
}

func TestRunOfNothing(t *testing.T) {
	if outcomes := runAll(t, Options{}); len(outcomes) != 0 {
		t.Errorf("outcomes %v", outcomes)
	}
}

// No more runs go at a time than asked for.
func TestRunParallel(t *testing.T) {
	var now, most atomic.Int32
	choices := choose(t, append(three, three...)...)
	for i := range choices {
		inner := choices[i].New
		choices[i].New = func() sim.Policy {
			most.Store(max(most.Load(), now.Add(1)))
			defer now.Add(-1)
			runtime.Gosched()
			return inner()
		}
	}
	if _, err := Run(t.Context(), gridlock(t), choices, Options{Parallel: 1}); err != nil {
		t.Fatal(err)
	}
	if most.Load() != 1 {
		t.Errorf("%d at a time", most.Load())
	}
}

func TestParallelIsBounded(t *testing.T) {
	procs := runtime.GOMAXPROCS(0)
	for asked, want := range map[int]int{0: procs, -1: procs, 1: 1, procs + 5: procs} {
		if got := slots(asked); got != want {
			t.Errorf("%d asked for gives %d, want %d", asked, got, want)
		}
	}
}

func TestRunReportsABadConfiguration(t *testing.T) {
	cfg := gridlock(t)
	cfg.Jobs = append([]workloads.Job(nil), cfg.Jobs...)
	cfg.Jobs[1].Queue = "nowhere"
	_, err := Run(t.Context(), cfg, choose(t, three...), Options{})
	var fault *Broken
	if err == nil || errors.As(err, &fault) || !strings.Contains(err.Error(), `per-pod: job "B": queue "nowhere" does not exist`) {
		t.Errorf("error %v", err)
	}
}

func TestRunIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(ctx, gridlock(t), choose(t, three...), Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// A run that would go on for ever is cancelled while it goes.
func TestRunIsCancelledMidway(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c := rogueChoice("endless", 3, func(*sim.Tx) { cancel() })
	inner := c.New
	c.New = func() sim.Policy {
		p := inner()
		p.Binder = &ticker{}
		return p
	}
	if _, err := Run(ctx, gridlock(t), []Choice{c}, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// ticker is a controller that does nothing, every second.
type ticker struct {
	rogue
	at int64
}

func (k *ticker) NextWake() int64 {
	k.at += sec
	return k.at
}
