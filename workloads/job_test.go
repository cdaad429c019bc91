package workloads

import (
	"testing"

	"github.com/gangplan/gangplan/internal/rng"
	"github.com/gangplan/gangplan/topology"
)

const (
	second = int64(1e9)
	hour   = 3600 * second
	day    = 24 * hour
)

func TestNewJobTakesItsStartupFromTheTiming(t *testing.T) {
	j := NewJob("train-7", 7)
	if j.ID != "train-7" || j.Row != 7 || j.Startup != StartupFromTiming || j.Startup >= 0 {
		t.Errorf("NewJob = %+v", j)
	}
	if (&Job{}).Startup != 0 {
		t.Error("a zero job is not ready as soon as bound")
	}
}

func TestStableIDIgnoresEverythingButIDAndRow(t *testing.T) {
	a, b := NewJob("a", 3), NewJob("a", 3)
	b.Submit, b.Queue, b.Duration = 5, "q", 9
	if a.StableID() != b.StableID() || a.StableID() != rng.StableID("a", 3) {
		t.Error("the stable id depends on more than id and row")
	}
	c := NewJob("a", 4)
	if a.StableID() == c.StableID() {
		t.Error("two rows share a stable id")
	}
}

func TestPodsAndTotalGPUs(t *testing.T) {
	j := Job{PodSets: Shape(19, 8, PerGPU())}
	if j.Pods() != 3 || j.TotalGPUs() != 19*topology.Milli {
		t.Errorf("19 GPUs make %d pods of %d milli-GPU", j.Pods(), j.TotalGPUs())
	}
}

func TestStepNanosHidesTheBackwardPass(t *testing.T) {
	m := ModelProfile{Compute: 300, OverlapMilli: 500}
	cases := []struct{ allReduce, want int64 }{
		{0, 300},   // nothing to hide
		{100, 300}, // half of the backward pass of 200 hides 100
		{140, 340},
	}
	for _, c := range cases {
		if got := m.StepNanos(c.allReduce); got != c.want {
			t.Errorf("a step with an all-reduce of %d takes %d, want %d", c.allReduce, got, c.want)
		}
	}
	// The largest valid model does not overflow.
	big := ModelProfile{Compute: MaxStep, OverlapMilli: 1000}
	if got := big.StepNanos(MaxStep); got != MaxStep+MaxStep/3 {
		t.Errorf("the largest step takes %d", got)
	}
}
