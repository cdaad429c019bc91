package sim_test

import (
	"testing"

	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/sim/quota"
	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/workloads"
)

// All pods of a PodSet are of one flavor: three hosts, of which each flavor has two, are never
// to be had, and two are. Fewer pods do where that is allowed.
func TestNeverFitsOverFlavors(t *testing.T) {
	for _, policy := range []string{"gang", "gang-topology"} {
		three := flavored(3, 10, toleratesSpot)
		least := flavored(3, 10, toleratesSpot)
		least.PodSets[0].MinCount = 2
		cfg := flavorConfig(t, three, flavored(2, 10, toleratesSpot), least)
		for i := range cfg.Queues[0].Groups[0].Flavors {
			cfg.Queues[0].Groups[0].Flavors[i].Quota[topology.GPU].Nominal = 16_000
		}
		_, r := playFlavors(t, cfg, policy, nil)
		for i, want := range []bool{true, false, false} {
			if r.Jobs[i].NeverFits != want {
				t.Errorf("%s: job %d never fits: %v", policy, i, r.Jobs[i].NeverFits)
			}
		}
	}
}

// The flavor that has the quota has to have the nodes too: here one has the quota, the other
// the hosts that are large enough.
func TestNeverFitsQuotaHereNodesThere(t *testing.T) {
	for _, policy := range []string{"gang", "gang-topology"} {
		for _, quotaOfSpot := range []int64{0, 8000} {
			big := flavored(1, 10, toleratesSpot)
			big.PodSets[0].Request[topology.GPU] = 8000
			cfg := flavorConfig(t, big)
			for n := range cfg.Cluster.Nodes {
				if cfg.Cluster.Nodes[n].Labels["pool"] == "spot" {
					cfg.Cluster.Nodes[n].Allocatable = topology.DefaultAllocatable(8)
				}
			}
			cfg.Queues[0].Groups[0].Flavors[1].Quota[topology.GPU].Nominal = quotaOfSpot
			cfg.Queues[0].Fungibility.PreemptStops = true
			_, r := playFlavors(t, cfg, policy, nil)
			if never := quotaOfSpot == 0; r.Jobs[0].NeverFits != never {
				t.Errorf("%s, %d of spot: never fits: %v", policy, quotaOfSpot, r.Jobs[0].NeverFits)
			}
		}
	}
}

// PodSets that have one choice of flavors have it together: two of 6 GPUs in 8.
func TestNeverFitsTogether(t *testing.T) {
	for _, tolerations := range [][]topology.Toleration{nil, {toleratesSpot}} {
		j := flavored(1, 10, tolerations...)
		j.PodSets[0].Request[topology.GPU] = 3000
		j.PodSets[0].Count = 2
		side := j.PodSets[0]
		side.Name = "side"
		j.PodSets = append(j.PodSets, side)
		cfg := flavorConfig(t, j)
		_, r := playFlavors(t, cfg, "gang", nil)
		if never := tolerations == nil; r.Jobs[0].NeverFits != never {
			t.Errorf("tolerations %v: never fits: %v", tolerations, r.Jobs[0].NeverFits)
		}
	}
}

// mixedRacks are two racks, each with two hosts of each flavor.
func mixedRacks(t *testing.T, jobs ...workloads.Job) *sim.Config {
	cfg := flavorConfig(t, jobs...)
	var nodes []topology.Node
	for _, rack := range []string{"r0", "r1"} {
		for i, n := range cfg.Cluster.Nodes {
			n.Name, n.Path = n.Name+rack+string(rune('0'+i)), []string{rack}
			nodes = append(nodes, n)
		}
	}
	c, err := topology.Build([]string{"rack", "host"}, nodes)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Cluster = c
	for i := range cfg.Queues[0].Groups[0].Flavors {
		cfg.Queues[0].Groups[0].Flavors[i].Quota[topology.GPU].Nominal = 16_000
	}
	return cfg
}

// A rack with four hosts, two of each flavor, has no place for three pods that stay together;
// two racks do, for three that need not.
func TestNeverFitsInTheTopologyOfItsFlavors(t *testing.T) {
	for _, level := range []string{"rack", ""} {
		for count := int32(2); count <= 3; count++ {
			j := flavored(count, 10, toleratesSpot)
			if level != "" {
				j.PodSets[0].Topology = workloads.TopologyRequest{Mode: workloads.TopologyRequired, Level: level}
			} else {
				j.PodSets[0].Topology = workloads.TopologyRequest{Mode: workloads.TopologyUnconstrained}
			}
			_, r := playFlavors(t, mixedRacks(t, j), "gang-topology", nil)
			if never := level != "" && count == 3; r.Jobs[0].NeverFits != never {
				t.Errorf("%d pods, required %q: never fits: %v", count, level, r.Jobs[0].NeverFits)
			}
		}
	}
}

// A gang that is given a flavor for its quota, whose hosts are fragmented, waits for its shape
// although another flavor that it tolerates has the hosts, and no quota for it.
func TestShapeLooksAtTheGivenFlavor(t *testing.T) {
	small := flavored(2, 100)
	small.PodSets[0].Request[topology.GPU] = 3000
	waits := flavored(1, 10, toleratesSpot)
	waits.Submit = 1 * sec
	waits.PodSets[0].Request[topology.GPU] = 2000
	cfg := flavorConfig(t, small, waits)
	flavors := cfg.Queues[0].Groups[0].Flavors
	flavors[1].Quota[topology.GPU] = quota.Quota{}
	flavors[0], flavors[1] = flavors[1], flavors[0] // the search for a flavor ends at the last
	cfg.Until = 50 * sec
	_, r := playFlavors(t, cfg, "gang-topology", nil)
	if got := r.Jobs[1].Refusal; got != sim.ReasonShape {
		t.Errorf("it waits for %s, want shape", got)
	}
}
