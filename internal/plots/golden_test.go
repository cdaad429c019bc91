package plots

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/gangplan/gangplan/internal/study/sweep"
)

// smallRuns are two runs with something to see in every kind.
func smallRuns() *Input {
	slow := lasting(30)
	slow.run, slow.allReduce, slow.locality, slow.contention, slow.requeues = 3600, 1.8, 1.5, 1.2, 2
	slow.evictions[0] = 2
	fast := lasting(0)
	fast.run, fast.allReduce, fast.locality, fast.contention = 7200, 1, 1, 1
	width := hourNanos / 2
	run := func(label string, held float64, jobs ...job) Run {
		books := []amounts{split(8, 0, 0, 8), split(12, held, 4-held, 0), split(6, held, 0, 10-held)}
		sum := split(26, 2*held, 4-held, 18-held)
		s := summary(3*width, sum)
		s.Metrics = append(s.Metrics, metrics("allreduce_slowdown.p95", 1.8)...)
		return Run{Label: label, Summary: s, Tables: stored{jobs: jobsOf(jobs...), ledger: booked(width, books...),
			queues: queuesOf(width, []float64{0, 2, 1}, []float64{2, 3, 2}, []float64{2, 2, 2}, []float64{0, 16, 8}),
			series: sampledAs(8, func(i int) int64 { return int64(8000 * (1 + i%3)) })}}
	}
	return &Input{Runs: []Run{run("gang", 0.5, fast, slow, lasting(600), lasting(5)), run("per-pod", 3, fast, slow, lasting(4000), lasting(-1))}}
}

// smallSweep is a sweep of sizes and timeouts under two policies.
func smallSweep() *Input {
	return swept("wait.p95_seconds", func(at []int) float64 {
		if at[0]+at[1]+at[2] == 1 && at[2] == 1 {
			return math.Inf(1)
		}
		return float64(7200/(1+at[0]*at[0])*(1+at[2])/(1+at[1]) + 60*at[3])
	}, numbers("racks", "", 1, 2, 4), numbers("timeout", "s", 60, 600), words("policy", "gang", "per-pod"), numbers("seed", "", 1, 2, 3))
}

// Every kind is pinned by a picture of small data that no change of the engine moves; those
// of docs/plots.md are of real runs.
func TestDeterminismOfEveryKind(t *testing.T) {
	defer func() { sized = sizeOf }()
	sized = func(c *sweep.Cell) (float64, error) { return []float64{32, 64, 128}[c.At[0]], nil }
	for i := range kinds {
		in, o := smallRuns(), Options{}
		if kinds[i].Sweep {
			in = smallSweep()
		}
		if kinds[i].Name == "frontier" {
			o.Cost, o.Where = 2, []string{"timeout=1m"}
		}
		var b bytes.Buffer
		if err := drawn(t, kinds[i].Name, in, o).Write(&b, "svg"); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join("testdata", kinds[i].Name+".svg")
		if os.Getenv("GANGPLAN_UPDATE") != "" {
			if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if want, err := os.ReadFile(path); err != nil || !bytes.Equal(b.Bytes(), want) {
			t.Errorf("%s: another picture, %v (GANGPLAN_UPDATE=1 writes it; look at it)", path, err)
		}
	}
}
