package policies

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/sim/quota"
	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/workloads"
)

// classes of Kueue's public load generator: how many per queue, one every so many
// milliseconds, how long each runs, its priority, its size.
var loadClasses = []struct {
	name              string
	count, every, run int64
	priority, pods    int32
}{
	{"small", 350, 100, 200, 50, 1},
	{"medium", 100, 500, 500, 100, 5},
	{"large", 50, 1200, 1000, 200, 20},
}

// kueueLoad is the generator's load: cohorts of queues that may borrow and reclaim, each
// with a tenth of per hundredths of its workloads.
func kueueLoad(t testing.TB, cohorts, queues, perQueue int) *sim.Config {
	t.Helper()
	n := cohorts * queues
	cfg := &sim.Config{Cluster: pool(t, n*20), Seed: 1}
	for q := range n {
		g := quota.Group{Covers: [4]bool{true}, Flavors: []quota.FlavorQuota{{}}}
		g.Flavors[0].Quota[topology.GPU] = quota.Quota{Nominal: 20_000, Borrowing: quota.Max(100_000)}
		cfg.Queues = append(cfg.Queues, quota.Queue{Name: fmt.Sprintf("q%04d", q), Cohort: fmt.Sprintf("c%d", q/queues), Groups: []quota.Group{g},
			Preemption: quota.Preemption{Within: quota.LowerPriority, Reclaim: quota.Any}})
		for _, c := range loadClasses {
			for i := range c.count * int64(perQueue) / 500 {
				j := job(fmt.Sprintf("%s-%d-%d", c.name, q, i), 0, c.pods, 1, 1)
				j.Submit, j.Duration, j.Priority, j.Queue = (i+1)*c.every*1e6, c.run*1e6, c.priority, cfg.Queues[q].Name
				cfg.Jobs = append(cfg.Jobs, j)
			}
		}
	}
	slices.SortStableFunc(cfg.Jobs, func(a, b workloads.Job) int { return cmp.Compare(a.Submit, b.Submit) })
	for i := range cfg.Jobs {
		cfg.Jobs[i].Row = int64(i)
	}
	return cfg
}

// fataler is a test, or one draw of a property.
type fataler interface {
	Helper()
	Fatal(args ...any)
}

// pool is a few huge nodes: the load is about admission, not about nodes.
func pool(t fataler, gpus int) *topology.Cluster {
	t.Helper()
	in, err := topology.Synthetic{Levels: []string{"host"}, Counts: []int{(gpus + 999) / 1000}, GPUs: 1000}.Nodes()
	if err != nil {
		t.Fatal(err)
	}
	for i := range in {
		in[i].Allocatable[topology.Pods] = int64(gpus)
	}
	c, err := topology.Build([]string{"host"}, in)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// BenchmarkKueueLoad runs Kueue's public load shapes to their end: 15,000 workloads over
// 30 queues, and 50,000 over 1,000.
func BenchmarkKueueLoad(b *testing.B) {
	for _, shape := range []struct{ cohorts, queues, perQueue int }{{5, 6, 500}, {100, 10, 50}, {10, 100, 50}, {1, 1000, 50}} {
		cfg := kueueLoad(b, shape.cohorts, shape.queues, shape.perQueue)
		for _, fair := range []string{"off", "on"} {
			b.Run(fmt.Sprintf("%dx%dx%d/fair=%s", shape.cohorts, shape.queues, shape.perQueue, fair), func(b *testing.B) {
				for b.Loop() {
					var done tally
					e, err := sim.New(cfg, gang.New(map[string]string{"fairSharing": fair}), &done)
					if err != nil {
						b.Fatal(err)
					}
					e.Run()
					if done[sim.Finish] != len(cfg.Jobs) {
						b.Fatalf("%d of %d jobs finished", done[sim.Finish], len(cfg.Jobs))
					}
					b.ReportMetric(float64(done[sim.Evict]), "preemptions")
					b.ReportMetric(float64(len(cfg.Jobs)), "jobs")
				}
			})
		}
	}
}
