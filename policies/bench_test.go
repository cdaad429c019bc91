package policies

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/sim/quota"
	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/workloads"
)

// mix is what the jobs of a steady workload look like: how many pods of how many GPUs,
// and hours of work. The mean is 9.1 GPUs.
var mix = []struct {
	pods  int32
	gpus  int64
	hours int64
}{
	{1, 1, 3}, {1, 1, 9}, {1, 2, 5}, {1, 1, 14}, {2, 8, 8}, {1, 4, 6}, {1, 1, 7}, {1, 8, 10},
	{1, 1, 2}, {4, 8, 4}, {1, 2, 11}, {1, 1, 4}, {8, 4, 6}, {1, 8, 3}, {1, 2, 8}, {4, 2, 12},
}

// gpuHours is what one round of the mix needs.
func gpuHours() (sum int64) {
	for _, m := range mix {
		sum += int64(m.pods) * m.gpus * m.hours
	}
	return sum
}

// racks builds a cluster of nodes with 8 GPUs in racks of 16 and blocks of 64.
func racks(t testing.TB, nodes int) *topology.Cluster {
	t.Helper()
	in, err := topology.Synthetic{Levels: []string{"block", "rack", "host"}, Counts: []int{nodes / 64, 4, 16}, GPUs: 8}.Nodes()
	if err != nil {
		t.Fatal(err)
	}
	c, err := topology.Build([]string{"block", "rack", "host"}, in)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// steady is a workload that keeps the cluster busy to a load in percent. With a source of
// randomness jobs come and last at random; without, the mix comes round and round at even
// distances, so that nothing grows once a round has passed.
func steady(t testing.TB, nodes, jobs, load int, r *rand.Rand) *sim.Config {
	t.Helper()
	c := racks(t, nodes)
	gap := gpuHours() * 3600 * sec / int64(len(mix)) * 100 / int64(nodes*8*load)
	cfg := &sim.Config{Cluster: c, Seed: 1,
		Queues:    []quota.Queue{{Name: "default", Nominal: quota.Amounts{int64(nodes) * 8000}, Covers: [4]bool{true}}},
		PodsReady: sim.PodsReady{Enabled: true, Timeout: 300 * sec, BackoffBase: 60 * sec, BackoffMax: 3600 * sec, BackoffLimit: -1}}
	cfg.Jobs = make([]workloads.Job, 0, jobs)
	submit := int64(0)
	for i := range jobs {
		m := mix[i%len(mix)]
		j := job(fmt.Sprintf("j%d", i), 0, m.pods, m.gpus, m.hours*3600)
		j.Submit = submit
		submit += gap
		if r != nil {
			j.Submit += r.Int64N(gap)
			j.Duration = 1 + int64(float64(j.Duration)*r.ExpFloat64())
		}
		cfg.Jobs = append(cfg.Jobs, j)
	}
	return cfg
}

// tally counts transitions by kind, without keeping them.
type tally [sim.Verdict + 1]int

func (n *tally) Record(t sim.Transition) { n[t.Kind]++ }

func (n *tally) sum() (all int) {
	for _, k := range n {
		all += k
	}
	return all
}

func engine(t testing.TB, d *Declaration, cfg *sim.Config, r sim.Recorder) *sim.Engine {
	t.Helper()
	e, err := sim.New(cfg, d.New(nil), r)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// BenchmarkStep is one instant of a warm run of 64 nodes.
func BenchmarkStep(b *testing.B) {
	cfg := steady(b, 64, 20_000, 90, rand.New(rand.NewPCG(1, 1)))
	for _, d := range All() {
		b.Run(d.Name, func(b *testing.B) {
			e := engine(b, d, cfg, nil)
			b.ReportAllocs()
			for b.Loop() {
				if !e.Step() {
					b.StopTimer()
					e = engine(b, d, cfg, nil)
					b.StartTimer()
				}
			}
		})
	}
}

// BenchmarkRun is a whole run of 200,000 jobs.
func BenchmarkRun(b *testing.B) {
	for _, nodes := range []int{64, 512} {
		cfg := steady(b, nodes, 200_000, 90, rand.New(rand.NewPCG(1, 1)))
		for _, d := range All() {
			b.Run(fmt.Sprintf("nodes=%d/%s", nodes, d.Name), func(b *testing.B) { runAll(b, cfg, d) })
		}
	}
}

func runAll(b *testing.B, cfg *sim.Config, d *Declaration) {
	var done tally
	var steps, jobs int
	b.ReportAllocs()
	for b.Loop() {
		e := engine(b, d, cfg, &done)
		for e.Step() {
			steps++
		}
		jobs += len(e.Finish().Jobs)
	}
	s := b.Elapsed().Seconds()
	b.ReportMetric(float64(jobs)/s, "jobs/s")
	b.ReportMetric(float64(done.sum())/s, "transitions/s")
	b.ReportMetric(float64(steps)/s, "instants/s")
}
