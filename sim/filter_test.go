package sim_test

import (
	"testing"

	"github.com/gangplan/gangplan/policies"
	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/sim/quota"
	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/workloads"
)

// filterConfig has a node for everybody, one with a taint and one with a label.
func filterConfig(t testing.TB, sets ...workloads.PodSet) *sim.Config {
	t.Helper()
	all := topology.DefaultAllocatable(4)
	c, err := topology.Build([]string{"rack", "host"}, []topology.Node{
		{Name: "spot", Path: []string{"r"}, GPUModel: "gpu", Allocatable: all, Taints: []topology.Taint{{Key: "spot", Effect: "NoSchedule"}}},
		{Name: "plain", Path: []string{"r"}, GPUModel: "gpu", Allocatable: all},
		{Name: "chosen", Path: []string{"r"}, GPUModel: "gpu", Allocatable: all, Labels: map[string]string{"pool": "a"},
			Taints: []topology.Taint{{Key: "soft", Effect: "PreferNoSchedule"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	cfg := &sim.Config{Cluster: c, Seed: 1, Queues: []quota.Queue{{Name: "default", Nominal: quota.Amounts{12_000}, Covers: [4]bool{true}}}}
	for i, s := range sets {
		s.Name, s.Request = "main", topology.Resources{4000, 1000, 1 << 30, 1}
		cfg.Jobs = append(cfg.Jobs, workloads.Job{ID: string(rune('A' + i)), Row: int64(i), Duration: 10 * sec, PodSets: []workloads.PodSet{s}})
	}
	return cfg
}

// Whatever the policy, pods go only where their selector and tolerations let them: here
// one after the other, as they all want the same nodes.
func TestFilters(t *testing.T) {
	spot := []topology.Toleration{{Key: "spot", Exists: true}}
	pool := []topology.Requirement{{Key: "pool", Operator: topology.In, Values: []string{"a"}}}
	cfg := filterConfig(t,
		workloads.PodSet{Count: 1, NodeSelector: pool},
		workloads.PodSet{Count: 1, NodeSelector: pool}, // waits for the first
		workloads.PodSet{Count: 1},
		workloads.PodSet{Count: 1, Tolerations: spot},
		workloads.PodSet{Count: 2},                                                     // waits for the two that others may use
		workloads.PodSet{Count: 3},                                                     // never fits
		workloads.PodSet{Count: 1, NodeSelector: pool, Tolerations: spot},              // waits too
		workloads.PodSet{Count: 1, Node: "spot"},                                       // never fits: pinned to where it may not be
		workloads.PodSet{Count: 1, Node: "spot", Tolerations: spot},                    // waits for the fourth
		workloads.PodSet{Count: 3, Tolerations: []topology.Toleration{{Exists: true}}}) // anywhere, at last
	want := map[string]int64{"A": 0, "C": 0, "D": 0}
	for _, name := range policies.Names() {
		var tape sim.Transitions
		d, _ := policies.Lookup(name)
		e, err := sim.New(cfg, d.New(nil), &tape)
		if err != nil {
			t.Fatal(err)
		}
		r := e.Run()
		for j := range r.Jobs {
			id := cfg.Jobs[j].ID
			if never := id == "F" || id == "H"; never != r.Jobs[j].NeverFits || !never && r.Jobs[j].State != sim.Finished && name == "gang-topology" {
				t.Errorf("%s: job %s ended %v, never fits %v", name, id, r.Jobs[j].State, r.Jobs[j].NeverFits)
			}
			if at, ok := want[id]; ok && r.Jobs[j].FirstStart != at && name == "gang-topology" {
				t.Errorf("%s: job %s started at %d", name, id, r.Jobs[j].FirstStart)
			}
		}
		checkFilters(t, name, cfg, tape)
	}
}

// checkFilters checks every binding by the words of the job.
func checkFilters(t *testing.T, policy string, cfg *sim.Config, tape sim.Transitions) {
	t.Helper()
	bound := 0
	for _, x := range tape {
		if x.Kind != sim.Bind {
			continue
		}
		bound++
		set, node := &cfg.Jobs[x.Job].PodSets[0], &cfg.Cluster.Nodes[x.Place]
		if node.Name == "spot" && set.Tolerations == nil || set.NodeSelector != nil && node.Name != "chosen" {
			t.Errorf("%s: a pod of %s is on %s", policy, cfg.Jobs[x.Job].ID, node.Name)
		}
	}
	if bound < 6 {
		t.Errorf("%s: only %d pods were bound", policy, bound)
	}
}
