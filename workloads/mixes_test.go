package workloads

import (
	"slices"
	"testing"

	"github.com/gangplan/gangplan/internal/rng"
)

func TestMixes(t *testing.T) {
	if got := Mixes(); !slices.Equal(got, []string{"deep-learning", "llm"}) {
		t.Errorf("Mixes = %v", got)
	}
	if lookupMix("hpc") != nil {
		t.Error("an unknown mix exists")
	}
}

func TestClassesFillABlock(t *testing.T) {
	for i := range mixes {
		m := &mixes[i]
		slot := 0
		for k, c := range m.classes {
			for range c.slots {
				if m.class(slot) != &m.classes[k] {
					t.Fatalf("%s: slot %d is not of class %d", m.name, slot, k)
				}
				slot++
			}
			if c.gpus&(c.gpus-1) != 0 {
				t.Errorf("%s: %d GPUs is no power of two", m.name, c.gpus)
			}
		}
		if slot != blockJobs {
			t.Errorf("%s: %d slots", m.name, slot)
		}
		mustPanic(t, func() { m.class(blockJobs) })
	}
}

func mustPanic(t *testing.T, f func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	f()
}

func TestEverySizeHasModelsThatExist(t *testing.T) {
	for i := range mixes {
		m := &mixes[i]
		for _, c := range m.classes {
			names := m.modelsFor(c.gpus)
			if (len(names) > 0) != (c.gpus > 1) {
				t.Errorf("%s: %d GPUs train %v", m.name, c.gpus, names)
			}
			for _, name := range names {
				if _, ok := LookupModel(name); !ok {
					t.Errorf("%s: %d GPUs train the unknown model %q", m.name, c.gpus, name)
				}
			}
		}
		if names := m.modelsFor(4096); names != nil {
			t.Errorf("%s: 4096 GPUs train %v", m.name, names)
		}
	}
}

// meanSeconds integrates the clamped log-normal of a class by even quantiles.
func meanSeconds(c class) float64 {
	const n = 100_000
	var sum float64
	for k := range uint64(n) {
		h := k*(1<<63/n*2) + 1<<63/n
		d := rng.QuantiseMillis(rng.LogNormal(h, c.median, c.p99))
		sum += float64(min(max(d, minSynthetic), maxSynthetic)) / 1e9
	}
	return sum / n
}

// The llm mix is built so that gangs expect a third of the GPU-hours even before a block
// is balanced: the factor is near 1 and durations keep their distribution.
func TestGangsExpectAThirdOfTheGPUHours(t *testing.T) {
	var gangs, all float64
	for _, c := range lookupMix("llm").classes {
		work := float64(c.gpus) * float64(c.slots) * meanSeconds(c)
		all += work
		if c.gpus >= gangGPUs {
			gangs += work
		}
	}
	if share := gangs / all; share < 0.331 || share > 0.336 {
		t.Errorf("gangs expect %.4f of the GPU-hours", share)
	}
}

// What the comment on mixes says of deep-learning.
func TestDeepLearningStatistics(t *testing.T) {
	var one, node, gpus int
	m := lookupMix("deep-learning")
	for _, c := range m.classes {
		gpus += int(c.gpus) * c.slots
		if c.gpus == 1 {
			one += c.slots
		}
		if c.gpus <= 8 {
			node += c.slots
		}
	}
	if share := float64(one) / blockJobs; share < 0.695 || share > 0.705 {
		t.Errorf("%.3f of the jobs ask for one GPU", share)
	}
	if share := float64(node) / blockJobs; share < 0.955 || share > 0.965 {
		t.Errorf("%.3f of the jobs fit a node", share)
	}
	if mean := float64(gpus) / blockJobs; mean < 2.85 || mean > 2.95 {
		t.Errorf("jobs ask for %.3f GPUs on average", mean)
	}
	if hours := meanSeconds(m.classes[0]) / 3600; hours < 4.2 || hours > 4.4 {
		t.Errorf("jobs run for %.2f hours on average", hours)
	}
}
