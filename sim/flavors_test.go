package sim_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gangplan/gangplan/policies"
	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/sim/quota"
	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/workloads"
)

// flavorConfig has two racks of two hosts of 4 GPUs: one reserved, one spot with a taint.
// Its queue has 8 GPUs of each flavor, and takes the reserved ones first.
func flavorConfig(t testing.TB, jobs ...workloads.Job) *sim.Config {
	t.Helper()
	var nodes []topology.Node
	for i, pool := range []string{"reserved", "reserved", "spot", "spot"} {
		n := topology.Node{Name: fmt.Sprintf("%s-%d", pool, i), Path: []string{pool}, GPUModel: "gpu",
			Allocatable: topology.DefaultAllocatable(4), Labels: map[string]string{"pool": pool}}
		if pool == "spot" {
			n.Taints = []topology.Taint{{Key: "spot", Effect: "NoSchedule"}}
		}
		nodes = append(nodes, n)
	}
	c, err := topology.Build([]string{"rack", "host"}, nodes)
	if err != nil {
		t.Fatal(err)
	}
	cfg := &sim.Config{Cluster: c, Seed: 1, Jobs: jobs, Flavors: []topology.Flavor{
		{Name: "reserved", Labels: map[string]string{"pool": "reserved"}},
		{Name: "spot", Labels: map[string]string{"pool": "spot"}, Taints: nodes[2].Taints},
	}}
	group := quota.Group{Covers: [4]bool{true}, Flavors: []quota.FlavorQuota{{Flavor: 0}, {Flavor: 1}}}
	for i := range group.Flavors {
		group.Flavors[i].Quota[topology.GPU].Nominal = 8000
	}
	cfg.Queues = []quota.Queue{{Name: "default", Groups: []quota.Group{group}}}
	for i := range cfg.Jobs {
		cfg.Jobs[i].ID, cfg.Jobs[i].Row = string(rune('A'+i)), int64(i)
	}
	return cfg
}

func flavored(count int32, seconds int64, tolerations ...topology.Toleration) workloads.Job {
	return workloads.Job{Duration: seconds * sec, PodSets: []workloads.PodSet{{Name: "main", Count: count,
		Request: topology.Resources{4000, 1000, 1 << 30, 1}, Tolerations: tolerations}}}
}

var toleratesSpot = topology.Toleration{Key: "spot", Exists: true}

// playFlavors returns where each job's pods went, first to last, and when it started.
func playFlavors(t *testing.T, cfg *sim.Config, policy string, params map[string]string) (where []string, r *sim.Result) {
	t.Helper()
	var tape sim.Transitions
	d, _ := policies.Lookup(policy)
	e, err := sim.New(cfg, d.New(params), &tape)
	if err != nil {
		t.Fatal(err)
	}
	r = e.Run()
	audit(t, cfg, tape, r)
	where = make([]string, len(cfg.Jobs))
	for _, x := range tape {
		if x.Kind == sim.Bind {
			pool, _, _ := strings.Cut(cfg.Cluster.Nodes[x.Place].Name, "-")
			if !strings.HasSuffix(where[x.Job], pool) {
				where[x.Job] += " " + pool
			}
		}
	}
	return where, r
}

// A job takes the first flavor that has quota and that it tolerates, and its pods go to
// nodes of it only, whoever binds them.
func TestFlavorsDecideNodes(t *testing.T) {
	for _, policy := range []string{"gang", "gang-topology"} {
		cfg := flavorConfig(t,
			flavored(1, 100, toleratesSpot), // reserved comes first
			flavored(2, 50, toleratesSpot),  // 4 of 8 reserved GPUs are left: spot
			flavored(2, 10),                 // cannot have spot and waits for A
			flavored(1, 10))                 // may pass it: reserved has 4
		where, r := playFlavors(t, cfg, policy, nil)
		want := []string{" reserved", " spot", " reserved", " reserved"}
		starts := []int64{0, 0, 100, 0}
		for j := range want {
			if where[j] != want[j] || r.Jobs[j].FirstStart != starts[j]*sec {
				t.Errorf("%s: job %s started at %d s on%s, want %d s on%s", policy, cfg.Jobs[j].ID, r.Jobs[j].FirstStart/sec, where[j], starts[j], want[j])
			}
		}
	}
}

// A selector on a label of the flavors decides the flavor; one on another label does not.
func TestFlavorsHeedSelectors(t *testing.T) {
	on := func(key, value string) workloads.Job {
		j := flavored(1, 10, toleratesSpot)
		j.PodSets[0].NodeSelector = []topology.Requirement{{Key: key, Operator: topology.In, Values: []string{value}}}
		return j
	}
	affine := flavored(1, 10, toleratesSpot)
	affine.PodSets[0].NodeAffinity.Required = []topology.Term{{{Key: "pool", Operator: topology.NotIn, Values: []string{"reserved"}}}}
	cfg := flavorConfig(t, on("pool", "spot"), on("pool", "none"), affine)
	where, r := playFlavors(t, cfg, "gang", nil)
	if where[0] != " spot" || where[2] != " spot" {
		t.Errorf("selector and affinity led to%s and%s", where[0], where[2])
	}
	if !r.Jobs[1].NeverFits {
		t.Error("a pool that does not exist can be had")
	}
}

// Partial admission counts per flavor: five pods fit neither flavor (2 hosts each), two do.
func TestFlavorsAndFewerPods(t *testing.T) {
	for _, policy := range []string{"gang", "gang-topology"} {
		j := flavored(4, 100, toleratesSpot)
		j.PodSets[0].MinCount = 1
		where, r := playFlavors(t, flavorConfig(t, j, j), policy, nil)
		if where[0] != " reserved" || where[1] != " spot" || r.Jobs[0].Admitted != 2 || r.Jobs[1].Admitted != 2 {
			t.Errorf("%s: %d pods on%s, %d on%s; want 2 on each", policy, r.Jobs[0].Admitted, where[0], r.Jobs[1].Admitted, where[1])
		}
		if r.Jobs[0].Finish != 200*sec {
			t.Errorf("%s: half the pods finished at %d s, not 200", policy, r.Jobs[0].Finish/sec)
		}
	}
}

func TestTooManyFlavors(t *testing.T) {
	cfg := flavorConfig(t, flavored(1, 1))
	cfg.Flavors = make([]topology.Flavor, 65)
	d, _ := policies.Lookup("gang")
	if _, err := sim.New(cfg, d.New(nil), nil); err == nil || !strings.Contains(err.Error(), "at most 64") {
		t.Error(err)
	}
	cfg = flavorConfig(t, flavored(1, 1))
	cfg.Flavors = cfg.Flavors[:1]
	if _, err := sim.New(cfg, d.New(nil), nil); err == nil || !strings.Contains(err.Error(), "flavor 2 of 1") {
		t.Error(err)
	}
}

// What could never be admitted with a flavor of its queue never fits, whatever other nodes
// there are: big pods on the small hosts of the one flavor it tolerates. With a toleration,
// or without Kueue, they may go to the others.
func TestNeverFitsLooksAtFlavors(t *testing.T) {
	never := func(policy string, tolerations ...topology.Toleration) bool {
		big := flavored(1, 10, tolerations...)
		big.PodSets[0].Request[topology.GPU] = 8000
		cfg := flavorConfig(t, big)
		nodes := cfg.Cluster.Nodes
		for n := range nodes {
			if nodes[n].Labels["pool"] == "spot" {
				nodes[n].Allocatable = topology.DefaultAllocatable(8)
				if policy == "per-pod" {
					nodes[n].Taints = nil
				}
			}
		}
		_, r := playFlavors(t, cfg, policy, nil)
		return r.Jobs[0].NeverFits
	}
	for _, policy := range []string{"gang", "gang-topology"} {
		if !never(policy) {
			t.Errorf("%s: it has no flavor with such hosts, and is said to fit", policy)
		}
		if never(policy, toleratesSpot) {
			t.Errorf("%s: it has one, and is said never to fit", policy)
		}
	}
	if never("per-pod") {
		t.Error("per-pod asks for no flavor")
	}
}

// A gang that has the quota of its flavor, whose hosts are too few for it, waits for its
// shape, however many hosts of other flavors are free.
func TestShapeLooksAtFlavors(t *testing.T) {
	small := flavored(2, 100)
	small.PodSets[0].Request[topology.GPU] = 3000
	waits := flavored(1, 10)
	waits.Submit = 1 * sec
	waits.PodSets[0].Request[topology.GPU] = 2000
	cfg := flavorConfig(t, small, waits)
	cfg.Queues[0].Groups[0].Flavors = cfg.Queues[0].Groups[0].Flavors[:1]
	cfg.Until = 50 * sec
	_, r := playFlavors(t, cfg, "gang-topology", nil)
	if got := r.Jobs[1].Refusal; got != sim.ReasonShape {
		t.Errorf("it waits for %s, want shape", got)
	}
}
