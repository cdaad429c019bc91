package policies

import (
	"testing"

	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/sim/quota"
	"github.com/gangplan/gangplan/topology"
)

// The pod of the first PodSet has a place under either flavor, that of the second none: what
// the job remembers goes round, and the run comes to its end nevertheless. The queue is taken
// up by it until a node comes.
func TestMemoryOfFlavorsGoesRound(t *testing.T) {
	pair := job("pair", 0, 1, 1, 10)
	pair.PodSets = append(pair.PodSets, pair.PodSets[0])
	pair.PodSets[0].Name, pair.PodSets[1].Name = "small", "large"
	pair.PodSets[1].Request = pair.PodSets[1].Request.Times(8)
	cluster, err := topology.Build([]string{"host"}, []topology.Node{
		{Name: "a", GPUModel: "gpu", Allocatable: topology.DefaultAllocatable(1)}, {Name: "b", GPUModel: "gpu", Allocatable: topology.DefaultAllocatable(8)}})
	if err != nil {
		t.Fatal(err)
	}
	two := quota.Group{Covers: [4]bool{true}, Flavors: []quota.FlavorQuota{{Flavor: 0}, {Flavor: 1}}}
	two.Flavors[0].Quota[topology.GPU].Nominal, two.Flavors[1].Quota[topology.GPU].Nominal = 3000, 1000
	one := quota.Group{Covers: [4]bool{true}, Flavors: []quota.FlavorQuota{{Flavor: 0}}}
	one.Flavors[0].Quota[topology.GPU].Nominal = 5000
	cfg := &sim.Config{Cluster: cluster, Flavors: []topology.Flavor{{Name: "od"}, {Name: "spot"}},
		Queues:  []quota.Queue{{Name: "q", Cohort: "c", Groups: []quota.Group{two}}, {Name: "other", Cohort: "c", Groups: []quota.Group{one}}},
		Actions: []sim.Action{{Time: 0, Node: 1, Job: -1}, {Time: 60 * sec, Node: 1, Job: -1, Do: sim.DoUp}}}
	pair.Queue = "q"
	cfg.Jobs = append(cfg.Jobs, pair, job("behind", 1, 1, 1, 10))
	cfg.Jobs[1].Queue, cfg.Jobs[1].Row = "q", 1
	d, _ := Lookup("gang-topology")
	e, err := sim.New(cfg, d.New(nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	r := e.Run()
	if at, next := r.Jobs[0].FirstAdmit, r.Jobs[1].FirstAdmit; at != 60*sec || next != 70*sec {
		t.Errorf("admitted at %d and %d s, want 60 and 70", at/sec, next/sec)
	}
}

func TestRoundCloses(t *testing.T) {
	state := func(n int) [][quota.Resources]int8 { return [][quota.Resources]int8{{int8(n)}} }
	for lead := range 5 { // states before the round,
		for length := 1; length <= 5; length++ { // and in it
			var r round
			steps := 0
			for n := 0; !r.closes(7, 3, state(n)); steps++ {
				if n++; n == lead+length {
					n = lead
				}
				if steps > 50 {
					t.Fatalf("%d and %d: never", lead, length)
				}
			}
			if steps < lead+length && steps < length {
				t.Errorf("%d and %d: after %d states", lead, length, steps)
			}
			if r.closes(7, 4, state(lead)) || r.closes(8, 4, state(lead)) {
				t.Errorf("%d and %d: closes after a change", lead, length)
			}
		}
	}
}
