package policies

import (
	"strings"
	"testing"

	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/sim/quota"
	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/workloads"
)

// generations labels the hosts of racks with the generation that a digit per host says.
func generations(t testing.TB, digits string, racks ...string) *topology.Cluster {
	c := rows(t, racks...)
	for i, g := range strings.ReplaceAll(digits, " ", "") {
		c.Nodes[i].Labels = map[string]string{"gen": string(g)}
	}
	c.Nodes[0].Labels["spot"] = "yes"
	return c
}

// affine asks for nodes that meet one of the terms, each a single requirement.
func affine(j workloads.Job, list ...topology.Requirement) workloads.Job {
	for _, r := range list {
		a := &j.PodSets[0].NodeAffinity
		a.Required = append(a.Required, topology.Term{r})
	}
	return j
}

// Every operator of node affinity decides which hosts an assignment may use: hosts of four
// GPUs of generation 7 and 8 in one rack, 8 and 9 in the other; the first is spot.
func TestNodeAffinityOfAssignments(t *testing.T) {
	c := generations(t, "78 89", "4 4", "4 4")
	gen := func(op topology.Operator, values ...string) topology.Requirement {
		return topology.Requirement{Key: "gen", Operator: op, Values: values}
	}
	for _, e := range []struct {
		name, on string
		pods     int32
		terms    []topology.Requirement
	}{
		{"in", "r0-1:4", 4, []topology.Requirement{gen(topology.In, "8")}},
		{"in, over racks", "r0-1:4 r1-0:2", 6, []topology.Requirement{gen(topology.In, "8")}},
		{"one of two terms", "r1-0:4 r1-1:2", 6, []topology.Requirement{gen(topology.In, "8"), gen(topology.Gt, "8")}},
		{"not in", "r1-1:4", 4, []topology.Requirement{gen(topology.NotIn, "7", "8")}},
		{"exists", "r0-0:4", 4, []topology.Requirement{{Key: "spot", Operator: topology.Exists}}},
		{"does not exist", "r1-0:4 r1-1:3", 7, []topology.Requirement{{Key: "spot", Operator: topology.DoesNotExist}}},
		{"greater", "r0-1:1", 1, []topology.Requirement{gen(topology.Gt, "7")}},
		{"less", "r0-0:1", 1, []topology.Requirement{gen(topology.Lt, "8")}},
	} {
		s := tell(t, c, nil, nil, affine(job("A", 0, e.pods, 1, 10), e.terms...))
		if got := s.on(0, 0); got != e.on {
			t.Errorf("%s: on %s, want %s", e.name, got, e.on)
		}
	}
}

// The message counts a host once, under the first of taint, selector and affinity that keeps
// the pods off. A job whose affinity no host meets never fits.
func TestMessageOfNodeAffinity(t *testing.T) {
	c := generations(t, "789 8", "4 4 4", "4")
	c.Nodes[0].Taints = []topology.Taint{{Key: "spot", Effect: "NoSchedule"}}
	c.Name = "gpu-fabric"
	newer := topology.Requirement{Key: "gen", Operator: topology.Gt, Values: []string{"8"}}
	picky := affine(job("picky", 1, 2, 3, 10), newer)
	picky.PodSets[0].NodeSelector = []topology.Requirement{{Key: "gen", Operator: topology.NotIn, Values: []string{"6"}}}
	cfg := &sim.Config{Cluster: c, Until: 50 * sec, Jobs: []workloads.Job{job("runs", 0, 1, 2, 100), picky, affine(job("wide", 2, 12, 1, 10), newer)},
		Queues: []quota.Queue{{Name: "default", Nominal: quota.Amounts{1_000_000}, Covers: [4]bool{true}}}}
	cfg.Jobs[0].PodSets[0].Node = "r0-2"
	e, err := sim.New(cfg, gangTopology.New(nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	r := e.Run()
	for j, want := range []string{"",
		`topology "gpu-fabric" doesn't allow to fit any of 2 pod(s). Total nodes: 4; excluded: affinity: 2, resource "nvidia.com/gpu": 1, taint "spot:NoSchedule": 1`,
		`topology "gpu-fabric" allows to fit only 2 out of 12 pod(s). Total nodes: 4; excluded: affinity: 2, taint "spot:NoSchedule": 1`} {
		if got := r.Jobs[j].Message; got != want {
			t.Errorf("%s: %q, want %q", cfg.Jobs[j].ID, got, want)
		}
	}
	if !r.Jobs[1].NeverFits || !r.Jobs[2].NeverFits {
		t.Error("twelve pods, or two of three GPUs, are thought to fit on one host of four")
	}
}

// Kueue 0.13 does not look at node affinity when it assigns: the pod gets a host on which the
// scheduler will not have it, and waits there until the readiness timeout. Since 0.15 it does.
func TestAffinityIsNotSeenByOldVersions(t *testing.T) {
	c := generations(t, "78", "4 4")
	a := affine(job("A", 0, 1, 4, 10), topology.Requirement{Key: "gen", Operator: topology.In, Values: []string{"8"}})
	for _, e := range []struct {
		version string
		start   int64
		pins    string
	}{{"0.13", -1, ""}, {"0.17", 0, "r0-1:1"}, {"0.19", 0, "r0-1:1"}} {
		s := tell(t, c, map[string]string{"version": e.version}, nil, a)
		if got := s.r.Jobs[0]; min(got.FirstStart, 0) != e.start || got.FirstAdmit != 0 || s.on(0, 0) != e.pins {
			t.Errorf("%s: admitted %d, started %d on %q", e.version, got.FirstAdmit, got.FirstStart, s.on(0, 0))
		}
	}
}

// Two pods over hosts of one free GPU and one full host: LeastFreeCapacity before 0.14.6 ends
// at the full one, which comes first in its order, and never admits the job while any is full.
func TestLeastFreeCapacityStopsAtAFullHost(t *testing.T) {
	c := rows(t, "1 1 1")
	full, two := job("full", 0, 1, 1, 100), job("two", 1, 2, 1, 10)
	for _, e := range []struct {
		version string
		start   int64
	}{{"0.13", 100}, {"0.17", 1}, {"0.19", 1}} {
		s := tell(t, c, map[string]string{"version": e.version, "mode": "unconstrained", "placement": "LeastFreeCapacity"}, nil, full, two)
		if got := s.start(1); got != e.start {
			t.Errorf("%s: started at %d, want %d", e.version, got, e.start)
		}
	}
}

// Nodes of other flavors, and of GPU models that the pods do not accept, are not of the
// topology a job is tried with: they take none of its pods and no message counts them. The
// same holds where the leaves are racks.
func TestFlavorsAreTopologies(t *testing.T) {
	c := generations(t, "77 88", "4 4", "4 4")
	c.Name = "fabric"
	flavors := []topology.Flavor{{Name: "old", Labels: map[string]string{"gen": "7"}}, {Name: "new", Labels: map[string]string{"gen": "8"}}}
	group := quota.Group{Covers: [4]bool{true}, Flavors: []quota.FlavorQuota{{Flavor: 1, Quota: [4]quota.Quota{{Nominal: 100_000}}}}}
	for _, leaf := range []string{"", "rack"} {
		cfg := &sim.Config{Cluster: c, Flavors: flavors, Until: 50 * sec, Queues: []quota.Queue{{Name: "default", Groups: []quota.Group{group}}},
			Jobs: []workloads.Job{job("A", 0, 2, 3, 100), asks(job("B", 1, 3, 1, 10), need(workloads.TopologyPreferred, "rack"))}}
		var tape sim.Transitions
		e, err := sim.New(cfg, gangTopology.New(map[string]string{"leaf": leaf, "level": "rack"}), &tape)
		if err != nil {
			t.Fatal(err)
		}
		r := e.Run()
		s := &story{c: c, r: r, trail: tape}
		if got := s.on(0, 0); got != "r1-0:1 r1-1:1" {
			t.Errorf("leaf %q: on %s", leaf, got)
		}
		want := `topology "fabric" allows to fit only 2 out of 3 pod(s)`
		if got := r.Jobs[1].Message; got != want {
			t.Errorf("leaf %q: %q, want %q", leaf, got, want)
		}
	}
}
