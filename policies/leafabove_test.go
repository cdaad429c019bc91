package policies

import (
	"fmt"
	"testing"

	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/sim/quota"
	"github.com/gangplan/gangplan/workloads"
)

var rackLeaf = map[string]string{"leaf": "rack", "mode": "required"}

// Racks as leaves: pods get a rack, and the scheduler a host in it. What is assigned is
// held of the rack, so that two gangs do not get the same.
func TestLeavesAboveHosts(t *testing.T) {
	c := rows(t, "4 4", "4 4")
	a, b, d := job("A", 0, 4, 2, 100), job("B", 0, 4, 2, 50), job("C", 1, 2, 4, 10)
	s := tell(t, c, rackLeaf, nil, a, b, d)
	if got := s.on(0, 0); got != "r0-0:2 r0-1:2" {
		t.Errorf("A is on %s", got)
	}
	if got := s.on(1, 0); got != "r1-0:2 r1-1:2" {
		t.Errorf("B is on %s", got)
	}
	if s.start(2) != 50 || s.on(2, 50) != "r1-0:1 r1-1:1" {
		t.Errorf("C starts at %d on %s, want when B's rack is free", s.start(2), s.on(2, 50))
	}
}

// A pod of four GPUs gets a rack that has two on each of two hosts: the rack has enough,
// no host has. Twice the readiness timeout sends it back, at 310 s and, after a minute, at
// 670 s; the third time a host comes free before. With hosts as leaves it waits in the queue.
func TestLeavesAboveHostsPromiseTooMuch(t *testing.T) {
	c := rows(t, "4 4")
	cfg := &sim.Config{Cluster: c, Until: 10_000 * sec, Jobs: []workloads.Job{job("A", 0, 1, 2, 1000), job("B", 0, 1, 2, 5000), job("C", 10, 1, 4, 10)},
		Queues:    []quota.Queue{{Name: "default", Nominal: quota.Amounts{1_000_000}, Covers: [4]bool{true}}},
		PodsReady: sim.PodsReady{Enabled: true, Timeout: 300 * sec, BackoffBase: 60 * sec, BackoffMax: 600 * sec, BackoffLimit: -1}}
	for i := range 2 {
		cfg.Jobs[i].PodSets[0].Node = fmt.Sprintf("r0-%d", i)
	}
	for _, e := range []struct {
		leaf     string
		timeouts int32
	}{{"host", 0}, {"rack", 2}} {
		run, err := sim.New(cfg, gangTopology.New(map[string]string{"leaf": e.leaf}), nil)
		if err != nil {
			t.Fatal(err)
		}
		r := run.Run()
		row := &r.Jobs[2]
		if n := row.Evictions[sim.CausePodsReady]; n != e.timeouts || row.FirstStart != 1000*sec {
			t.Errorf("leaf %s: %d timeouts, started at %d s", e.leaf, n, row.FirstStart/sec)
		}
	}
}

// A leader goes to its workers' rack, whose room beside it is what counts; a second PodSet
// that finds no place takes the first one's back.
func TestLeavesAboveHostsGroups(t *testing.T) {
	c := rows(t, "4 4", "4 4 4")
	ask := need(workloads.TopologyRequired, "rack")
	ask.Group = "g"
	led := job("led", 0, 4, 2, 10)
	led.PodSets[0].Topology = ask
	led.PodSets = append(led.PodSets, workloads.PodSet{Name: "leader", Count: 1, Request: led.PodSets[0].Request, Topology: ask})
	two := job("two", 1, 2, 4, 10)
	two.PodSets = append(two.PodSets, workloads.PodSet{Name: "more", Count: 3, Request: two.PodSets[0].Request})
	s := tell(t, c, rackLeaf, nil, led, two)
	if got := s.on(0, 0); got != "r1-0:2 r1-1:2 r1-2:1" {
		t.Errorf("the leader and its workers are on %s", got)
	}
	if s.start(1) != 10 {
		t.Errorf("the job of two PodSets starts at %d, want when both racks are free", s.start(1))
	}
}

// Slices stay in their racks, several to a block.
func TestLeavesAboveHostsSlices(t *testing.T) {
	c := rows(t, "2 2", "2 2 2")
	ask := workloads.TopologyRequest{Mode: workloads.TopologySliceOnly}
	ask.Slices[0] = workloads.Slice{Level: "rack", Size: 3}
	s := tell(t, c, rackLeaf, nil, asks(job("A", 0, 9, 1, 10), ask), asks(job("B", 0, 3, 1, 10), ask))
	if got := s.on(0, 0); got != "r0-0:2 r0-1:1 r1-0:2 r1-1:2 r1-2:2" {
		t.Errorf("A is on %s", got)
	}
	if s.start(1) != 10 {
		t.Errorf("B starts at %d, want when a rack has three again", s.start(1))
	}
}
