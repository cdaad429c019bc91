package policies

import (
	"fmt"
	"slices"
	"testing"

	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/sim/quota"
	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/workloads"
)

// What the parameters of policies do, and what policies have in common. Whole stories about
// them are in sim/testdata/engine.

const sec = int64(1e9)

// cluster makes hosts n1, n2 ... with the given GPUs.
func cluster(t testing.TB, gpus ...int64) *topology.Cluster {
	t.Helper()
	var nodes []topology.Node
	for i, g := range gpus {
		nodes = append(nodes, topology.Node{Name: fmt.Sprint("n", i+1), GPUModel: "gpu",
			Allocatable: topology.DefaultAllocatable(g)})
	}
	c, err := topology.Build([]string{"host"}, nodes)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func job(id string, submit int64, pods int32, gpus int64, duration int64) workloads.Job {
	return workloads.Job{ID: id, Submit: submit * sec, Duration: duration * sec, PodSets: []workloads.PodSet{{Count: pods,
		Request: topology.Resources{gpus * 1000, gpus * 12000, gpus * 96 << 30, 1}}}}
}

// play runs jobs under a policy for at most a day. Its ClusterQueue has the quota given,
// in GPUs.
func play(t testing.TB, name string, params map[string]string, cfg sim.Config, gpus int64) (sim.Transitions, *sim.Result) {
	t.Helper()
	d, ok := Lookup(name)
	if !ok {
		t.Fatalf("no policy %q", name)
	}
	cfg.Queues = []quota.Queue{{Name: "default", Nominal: quota.Amounts{gpus * 1000}, Covers: [4]bool{true}}}
	cfg.Until = 24 * 3600 * sec
	var trace sim.Transitions
	e, err := sim.New(&cfg, d.New(params), &trace)
	if err != nil {
		t.Fatal(err)
	}
	return trace, e.Run()
}

// nodesOf lists where the pods were bound, in the order of binding.
func nodesOf(trace sim.Transitions) (nodes []int32) {
	for _, x := range trace {
		if x.Kind == sim.Bind {
			nodes = append(nodes, x.Place)
		}
	}
	return nodes
}

// Spreading puts the second pod on the other node, packing beside the first. On a node of 8
// GPUs, 128 CPUs and 1024 GiB a pod of 2 GPUs takes 24 CPUs and 192 GiB, 18.75 % of each.
//
//	spread  empty node  (81 + 81) / 2 + 100 = 181   beside another  (62 + 62) / 2 + 100 = 162
//	pack    empty node  (5 x 25 + 18 + 18) / 7 + 100 = 123   beside  (5 x 50 + 37 + 37) / 7 + 100 = 146
func TestProfiles(t *testing.T) {
	cfg := sim.Config{Cluster: cluster(t, 8, 8), Jobs: []workloads.Job{job("A", 0, 1, 2, 10), job("B", 1, 1, 2, 10)}}
	for profile, want := range map[string][]int32{"spread": {0, 1}, "pack": {0, 0}} {
		for _, policy := range []string{"per-pod", "gang"} {
			trace, _ := play(t, policy, map[string]string{"profile": profile}, cfg, 16)
			if got := nodesOf(trace); !slices.Equal(got, want) {
				t.Errorf("%s, %s: nodes %v, want %v", policy, profile, got, want)
			}
		}
	}
}

// Random ties are drawn by seed, pod and node: the same seed gives the same nodes, to every
// policy that asks and whatever other jobs there are; another seed gives others; and over
// many pods no node is preferred.
func TestRandomTies(t *testing.T) {
	const nodes, jobs = 4, 400
	cfg := sim.Config{Cluster: cluster(t, slices.Repeat([]int64{1}, nodes)...)}
	for i := range jobs {
		cfg.Jobs = append(cfg.Jobs, job(fmt.Sprint("j", i), int64(10*i), 1, 1, 5))
	}
	random := map[string]string{"ties": "random"}
	run := func(policy string, seed uint64, jobs []workloads.Job) []int32 {
		c := cfg
		c.Seed, c.Jobs = seed, jobs
		trace, _ := play(t, policy, random, c, nodes)
		return nodesOf(trace)
	}
	first := run("per-pod", 1, cfg.Jobs)
	if !slices.Equal(first, run("gang", 1, cfg.Jobs)) {
		t.Error("two policies draw different nodes")
	}
	if !slices.Equal(first[jobs/2:], run("per-pod", 1, cfg.Jobs[jobs/2:])) {
		t.Error("earlier jobs shift the draws of later ones")
	}
	if slices.Equal(first, run("per-pod", 2, cfg.Jobs)) {
		t.Error("the seed does not matter")
	}
	counts := make([]int, nodes)
	for _, n := range first {
		counts[n]++
	}
	if slices.Min(counts) < 70 || slices.Max(counts) > 130 {
		t.Errorf("%d pods went to nodes %v: far from even", jobs, counts)
	}
}

// Every policy sees the same start-up time of the same pod: they are compared on common
// random numbers.
func TestStartUpIsCommonToAllPolicies(t *testing.T) {
	cfg := sim.Config{Cluster: cluster(t, 12, 12), Timing: sim.Kubernetes, Seed: 3}
	for i := range 6 {
		j := job(fmt.Sprint("j", i), int64(i), 4, 1, 100)
		j.Startup = workloads.StartupFromTiming
		cfg.Jobs = append(cfg.Jobs, j)
	}
	type pod struct{ job, rank int32 }
	draws := func(policy string) map[pod]int64 {
		trace, _ := play(t, policy, nil, cfg, 8)
		took := map[pod]int64{}
		for _, x := range trace {
			switch p := (pod{x.Job, x.Rank}); x.Kind {
			case sim.Bind:
				took[p] = -x.Time
			case sim.Ready:
				took[p] += x.Time
			}
		}
		return took
	}
	want := draws("per-pod")
	if len(want) != 24 {
		t.Fatalf("%d pods, want 24", len(want))
	}
	for _, d := range All()[1:] {
		got := draws(d.Name)
		for p, w := range want {
			if got[p] != w {
				t.Errorf("%s: pod %v starts in %d ns, under per-pod in %d ns", d.Name, p, got[p], w)
			}
		}
	}
}

// The strategy parameter overrides what the queues say: B blocks C, or does not.
func TestStrategyOverridesTheQueues(t *testing.T) {
	cfg := sim.Config{Cluster: cluster(t, 8), Jobs: []workloads.Job{job("A", 0, 6, 1, 100), job("B", 1, 8, 1, 100), job("C", 2, 2, 1, 100)}}
	for strategy, want := range map[string]int64{"queue": 2, "BestEffortFIFO": 2, "StrictFIFO": 200} {
		for _, policy := range []string{"gang", "gang-topology"} {
			_, r := play(t, policy, map[string]string{"strategy": strategy}, cfg, 8)
			if got := r.Jobs[2].FirstStart / sec; got != want {
				t.Errorf("%s, %s: C starts at %d s, want %d s", policy, strategy, got, want)
			}
		}
	}
}
