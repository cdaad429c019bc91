package policies

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/sim/quota"
	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/workloads"
)

// boundStory runs jobs per pod and tells binds and evictions as "12s bind A.0@1".
func boundStory(t *testing.T, c *topology.Cluster, jobs []workloads.Job, timing sim.Timing, settings map[string]string) (string, *sim.Result) {
	t.Helper()
	d, _ := Lookup("per-pod")
	cfg := &sim.Config{Cluster: c, Jobs: jobs, Timing: timing, Queues: []quota.Queue{{Name: "default"}}, Until: 10_000 * sec}
	var tr sim.Transitions
	e, err := sim.New(cfg, d.New(settings), &tr)
	if err != nil {
		t.Fatal(err)
	}
	r := e.Run()
	var told []string
	for _, x := range tr {
		if x.Kind == sim.Bind || x.Kind == sim.Evict || x.Kind == sim.Finish {
			told = append(told, strings.TrimSuffix(fmt.Sprintf("%ds %s %s.%d@%d", x.Time/sec, x.Kind, jobs[x.Job].ID, x.Rank, x.Place), ".-1@-1"))
		}
	}
	return strings.Join(told, "; "), r
}

func important(j workloads.Job, priority int32) workloads.Job {
	j.Priority = priority
	return j
}

func TestPreemption(t *testing.T) {
	slow := sim.Timing{Termination: 30 * sec}
	for _, c := range []struct {
		name     string
		gpus     []int64
		jobs     []workloads.Job
		timing   sim.Timing
		settings map[string]string
		want     string
	}{
		{"the more important pod pushes the other off, which starts again after it", []int64{4},
			[]workloads.Job{job("low", 0, 1, 4, 100), important(job("high", 10, 1, 4, 50), 5)}, sim.Timing{}, nil,
			"0s bind low.0@0; 10s evict low.0@0; 10s bind high.0@0; 60s finish high; 60s bind low.0@0; 160s finish low"},
		{"it waits until the other has terminated, and nobody takes its place", []int64{4},
			[]workloads.Job{job("low", 0, 1, 4, 100), important(job("high", 10, 1, 4, 50), 5), job("small", 20, 1, 1, 5)}, slow, nil,
			"0s bind low.0@0; 10s evict low.0@0; 40s bind high.0@0; 90s finish high; 90s bind low.0@0; 190s finish low; 190s bind small.0@0; 195s finish small"},
		{"equal priority waits", []int64{4},
			[]workloads.Job{important(job("a", 0, 1, 4, 100), 5), important(job("b", 10, 1, 4, 50), 5)}, sim.Timing{}, nil,
			"0s bind a.0@0; 100s finish a; 100s bind b.0@0; 150s finish b"},
		{"off", []int64{4},
			[]workloads.Job{job("low", 0, 1, 4, 100), important(job("high", 10, 1, 4, 50), 5)}, sim.Timing{}, map[string]string{"preemption": "off"},
			"0s bind low.0@0; 100s finish low; 100s bind high.0@0; 150s finish high"},
		{"the node where it hurts least", []int64{4, 4, 4},
			[]workloads.Job{important(job("a", 0, 1, 4, 100), 3), important(job("b", 1, 1, 4, 100), 1), important(job("c", 2, 1, 4, 100), 2), important(job("high", 10, 1, 4, 5), 5)},
			sim.Timing{}, nil,
			"0s bind a.0@0; 1s bind b.0@1; 2s bind c.0@2; 10s evict b.0@1; 10s bind high.0@1; 15s finish high; 15s bind b.0@1; 100s finish a; 102s finish c; 115s finish b"},
	} {
		got, _ := boundStory(t, cluster(t, c.gpus...), c.jobs, c.timing, c.settings)
		if got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, got, c.want)
		}
	}
}

// Preemption is blind to gangs: one important pod breaks a gang of eight, and the seven
// others hold their GPUs for nothing.
func TestPreemptionBreaksGangs(t *testing.T) {
	_, r := boundStory(t, cluster(t, 4, 4), []workloads.Job{job("gang", 0, 8, 1, 1000), important(job("high", 100, 1, 1, 50), 1)}, sim.Timing{}, nil)
	if r.Jobs[0].Evictions[sim.CausePreempted] != 1 {
		t.Errorf("evictions %v", r.Jobs[0].Evictions)
	}
	if got := r.Jobs[0].Finish; got != 1150*sec {
		t.Errorf("the gang ends at %d s, want 1150: it lost 100 s of work and 50 s of time", got/sec)
	}
}

// Whatever happens: important pods are never pushed off by less important ones, all books
// close, and the run is the same again.
func TestDeterminismOfPreemption(t *testing.T) {
	for seed := range uint64(6) {
		var digests [2]sim.Digest
		for i := range digests {
			r := rand.New(rand.NewPCG(seed, 4))
			c := mixedCluster(t, r, 10)
			jobs := mixedJobs(r, c, 60, seed%2 == 0)
			for j := range jobs {
				jobs[j].Priority = int32(r.IntN(3))
			}
			_, res := boundStory(t, c, jobs, sim.Timing{Termination: int64(seed) * sec}, nil)
			digests[i] = res.Digest
			for j := range jobs {
				if jobs[j].Priority == 2 && res.Jobs[j].Evictions[sim.CausePreempted] > 0 {
					t.Errorf("seed %d: a job of the highest priority was preempted", seed)
				}
			}
		}
		if digests[0] != digests[1] {
			t.Errorf("seed %d: %x and %x", seed, digests[0], digests[1])
		}
	}
}
