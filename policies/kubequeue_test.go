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

// paced is a control plane in which nothing takes time but kube-scheduler's queue.
var paced = sim.Timing{BinderCycle: sec / 1000, PodBackoff: sec, PodBackoffMax: 10 * sec}

// millis tells binds only, as "A.0@1 12.003s".
func millis(t *testing.T, c *topology.Cluster, jobs []workloads.Job, timing sim.Timing, settings map[string]string) string {
	t.Helper()
	d, _ := Lookup("per-pod")
	var tr sim.Transitions
	cfg := &sim.Config{Cluster: c, Jobs: jobs, Timing: timing, Queues: []quota.Queue{{Name: "default"}}, Until: 1000 * sec}
	e, err := sim.New(cfg, d.New(settings), &tr)
	if err != nil {
		t.Fatal(err)
	}
	e.Run()
	var told []string
	for _, x := range tr {
		if x.Kind == sim.Bind {
			told = append(told, fmt.Sprintf("%s.%d@%d %d.%03ds", jobs[x.Job].ID, x.Rank, x.Place, x.Time/sec, x.Time%sec/1e6))
		}
	}
	return strings.Join(told, "; ")
}

func TestQueueInTime(t *testing.T) {
	at := func(j workloads.Job, at int64) workloads.Job {
		j.Submit = at * sec / 10
		return j
	}
	late := map[string]string{"backoff": "late"}
	for _, c := range []struct {
		name     string
		gpus     []int64
		jobs     []workloads.Job
		settings map[string]string
		want     string
	}{
		{"every end of a pod is an attempt, and no backoff delays it when nobody else waits", []int64{4},
			[]workloads.Job{job("a", 0, 1, 1, 3), job("b", 0, 1, 1, 5), job("c", 0, 1, 1, 7), job("d", 0, 1, 1, 9), job("big", 1, 1, 4, 5)}, nil,
			"a.0@0 0.000s; b.0@0 0.001s; c.0@0 0.002s; d.0@0 0.003s; big.0@0 9.003s"},
		{"each of the pods before takes its time, although one would do to know that none has a place", []int64{4},
			[]workloads.Job{job("a", 0, 1, 1, 9), job("b", 0, 1, 3, 50), job("big", 1, 20, 4, 5), job("small", 2, 1, 1, 5)}, nil,
			"a.0@0 0.000s; b.0@0 0.001s; small.0@0 9.020s; big.0@0 50.001s"},
		{"a pod that comes while others are tried waits for those before it that are active", []int64{4},
			[]workloads.Job{job("a", 0, 1, 3, 99), job("big", 1, 500, 4, 5), at(job("small", 0, 1, 1, 5), 12)}, nil,
			"a.0@0 0.000s; small.0@0 1.500s; big.0@0 99.000s"},
		{"late: a backoff of a second, that of an attempt at 3.5 s, ends with the fifth", []int64{4},
			[]workloads.Job{job("a", 0, 1, 4, 4), at(job("b", 0, 1, 4, 5), 35)}, late,
			"a.0@0 0.000s; b.0@0 5.000s"},
		{"early: it is popped at once", []int64{4},
			[]workloads.Job{job("a", 0, 1, 4, 4), at(job("b", 0, 1, 4, 5), 35)}, nil,
			"a.0@0 0.000s; b.0@0 4.000s"},
		{"late: who comes at 4.2 s takes the place of the more important one that backs off", []int64{4},
			[]workloads.Job{job("a", 0, 1, 4, 4), important(at(job("b", 0, 1, 4, 5), 35), 9), at(job("c", 0, 1, 4, 5), 42)},
			map[string]string{"backoff": "late", "preemption": "off"},
			"a.0@0 0.000s; c.0@0 4.200s; b.0@0 9.200s"},
		{"early too, if it comes at the same instant", []int64{4},
			[]workloads.Job{job("a", 0, 1, 4, 4), important(at(job("b", 0, 1, 4, 5), 35), 9), at(job("c", 0, 1, 4, 5), 40)}, map[string]string{"preemption": "off"},
			"a.0@0 0.000s; c.0@0 4.000s; b.0@0 9.000s"},
	} {
		if got := millis(t, cluster(t, c.gpus...), c.jobs, paced, c.settings); got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, got, c.want)
		}
	}
}

// A pod that no node's labels let in is not tried again when other pods end.
func TestQueueHints(t *testing.T) {
	stranger := job("stranger", 1, 300, 1, 5)
	stranger.PodSets[0].Models = []string{"other"}
	jobs := []workloads.Job{job("a", 0, 1, 4, 4), stranger, job("b", 2, 1, 4, 5)}
	if got, want := millis(t, cluster(t, 4), jobs, paced, nil), "a.0@0 0.000s; b.0@0 4.000s"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// A run with backoffs is the same again.
func TestDeterminismOfQueues(t *testing.T) {
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, 6))
		c := mixedCluster(t, r, 12)
		jobs := mixedJobs(r, c, 80, seed%2 == 0)
		digests := map[sim.Digest]bool{}
		for range 2 {
			_, res := boundStory(t, c, jobs, paced, nil)
			digests[res.Digest] = true
		}
		if len(digests) != 1 {
			t.Errorf("seed %d: two runs differ", seed)
		}
	}
}
