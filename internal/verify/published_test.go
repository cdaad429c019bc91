package verify

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/gangplan/gangplan/topology/fabric"
	"github.com/gangplan/gangplan/workloads"
)

// effect is a published effect of placement or network on whole training steps.
type effect struct {
	what            string
	published       float64
	low, high       float64 // what the model must lie in
	model           float64
	claim, decimals string
}

// Each effect is modelled from figures that do not contain it; the tolerance is what the
// closed form claims for it. docs/validation.md has the same lines.
func TestPublishedEffects(t *testing.T) {
	effects := []effect{horovod(t), baskerville(t, 2, 1.52, 0.06), baskerville(t, 4, 1.86, 0.13), smallModel(t)}
	text, err := os.ReadFile(validation)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range effects {
		line := fmt.Sprintf("| %s | %.2f | %.2f | %s |", e.what, e.published, e.model, e.claim)
		if e.model < e.low || e.model > e.high {
			t.Errorf("%s: not between %.2f and %.2f", line, e.low, e.high)
		}
		if !strings.Contains(string(text), line+"\n") {
			t.Errorf("docs/validation.md has no line\n%s", line)
		}
	}
}

// allReduceOn is the time of an all-reduce on nodes of their own.
func allReduceOn(t *testing.T, p fabric.Profile, nodes, gpus int, bytes int64) int64 {
	t.Helper()
	f, pods, err := fabric.Alone(p, nodes, gpus)
	if err != nil {
		t.Fatal(err)
	}
	return f.AllReduce(fabric.NewScratch(f), pods, bytes).Nanos
}

// Horovod on 512 P100 with 25 Gb Ethernet: scaling efficiency of VGG-16.
func horovod(t *testing.T) effect {
	p, _ := fabric.Lookup("legacy-25g")
	m, _ := workloads.LookupModel("vgg-16")
	step := m.StepNanos(allReduceOn(t, p, 128, 4, m.GradientBytes))
	return effect{what: "Horovod, VGG-16 on 128x4 P100, 25G: scaling efficiency", published: 0.68, low: 0.53, high: 0.82,
		model: float64(m.Compute) / float64(step), claim: "0.53 (no overlap) to 0.82 (all)"}
}

// GPT-2 large on hosts of four A100 with one port of 200G, of which the measured
// all-reduce over two hosts reached 11.6 GB/s.
func baskervilleHost() fabric.Profile {
	return fabric.Profile{Name: "baskerville", DomainGPUs: 4, DomainBusBW: 85.4, NICs: 1, NICGBps: 25, NetEfficiency: 0.465,
		Intra: fabric.Latency{B0: 1e-9}, Inter: fabric.Latency{B0: 1e-9}}
}

func baskerville(t *testing.T, hosts int, published, tolerance float64) effect {
	m, _ := workloads.LookupModel("gpt-2-large")
	p := baskervilleHost()
	apart := m.StepNanos(allReduceOn(t, p, hosts, 1, m.GradientBytes))
	together := m.StepNanos(allReduceOn(t, p, 1, hosts, m.GradientBytes))
	return effect{what: fmt.Sprintf("Baskerville, GPT-2 large on %d GPUs: step on %d hosts over step on one", hosts, hosts),
		published: published, low: published * (1 - tolerance), high: published * (1 + tolerance),
		model: float64(apart) / float64(together), claim: fmt.Sprintf("within %.0f %%", 100*tolerance)}
}

// A model of 85 M parameters with a second of computation: no effect to be seen.
func smallModel(t *testing.T) effect {
	m := workloads.ModelProfile{GradientBytes: 170e6, Compute: 1e9}
	p := baskervilleHost()
	ratio := float64(m.StepNanos(allReduceOn(t, p, 2, 1, m.GradientBytes))) / float64(m.StepNanos(allReduceOn(t, p, 1, 2, m.GradientBytes)))
	return effect{what: "Baskerville, GPT-2 85M (a second of computation assumed): step on 2 hosts over step on one",
		published: 0.99, low: 0.97, high: 1.03, model: math.Round(ratio*1000) / 1000, claim: "within 3 %"}
}
