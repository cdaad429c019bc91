package policies

import (
	"testing"

	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/workloads"
)

// down takes named nodes down at a time; up brings one back.
func fault(c *topology.Cluster, at int64, up bool, names ...string) (list []sim.Action) {
	for _, name := range names {
		for n := range c.Nodes {
			if c.Nodes[n].Name == name {
				list = append(list, sim.Action{Time: at * sec, Node: int32(n), Do: map[bool]sim.Deed{true: sim.DoUp}[up]})
			}
		}
	}
	return list
}

func (s *story) evictions(job int, c sim.Cause) int32 { return s.r.Jobs[job].Evictions[c] }

// A failed node's pods move within the rack that was required, the others stay.
func TestReplacementInTheRequiredRack(t *testing.T) {
	c := rows(t, "4 4 4", "4 4 4")
	j := asks(job("J", 0, 2, 4, 100), need(workloads.TopologyRequired, "rack"))
	s := tell(t, c, nil, fault(c, 50, false, "r0-0"), j)
	if s.on(0, 0) != "r0-0:1 r0-1:1" || s.on(0, 50) != "r0-2:1" {
		t.Errorf("on %s, then %s", s.on(0, 0), s.on(0, 50))
	}
	if n := s.evictions(0, sim.CauseNode); n != 0 || s.r.Jobs[0].Finish != 150*sec {
		t.Errorf("evicted %d times, finished at %d", n, s.r.Jobs[0].Finish/sec)
	}
}

// The required rack has no other node: failing fast evicts at once, without a backoff, and
// the job starts in the other rack. Retrying waits until a node of the rack is back.
func TestReplacementThatFindsNothing(t *testing.T) {
	c := rows(t, "4 4", "4 4")
	j := asks(job("J", 0, 2, 4, 100), need(workloads.TopologyRequired, "rack"))
	faults := append(fault(c, 50, false, "r0-0"), fault(c, 200, true, "r0-0")...)
	s := tell(t, c, nil, faults, j)
	if s.evictions(0, sim.CauseNode) != 1 || s.on(0, 50) != "r1-0:1 r1-1:1" {
		t.Errorf("fail-fast: evicted %d times, then on %s", s.evictions(0, sim.CauseNode), s.on(0, 50))
	}
	s = tell(t, c, map[string]string{"replacement": "retry"}, faults, j)
	if s.evictions(0, sim.CauseNode) != 0 || s.on(0, 200) != "r0-0:1" || s.r.Jobs[0].Finish != 300*sec {
		t.Errorf("retry: evicted %d times, then on %s, finished at %d", s.evictions(0, sim.CauseNode), s.on(0, 200), s.r.Jobs[0].Finish/sec)
	}
	s = tell(t, c, map[string]string{"replacement": "evict"}, fault(c, 50, false, "r1-0"), j)
	if s.evictions(0, sim.CauseNode) != 0 {
		t.Error("a node the job does not use evicts it")
	}
}

// Room that opens up in the rack is found by the next attempt, 1, 2, 4, ... s apart.
func TestReplacementIsRetried(t *testing.T) {
	c := rows(t, "4 4 4", "4")
	j := asks(job("J", 0, 2, 4, 100), need(workloads.TopologyRequired, "rack"))
	other := asks(job("O", 0, 1, 4, 55), need(workloads.TopologyRequired, "rack"))
	other.PodSets[0].Node = "r0-2"
	s := tell(t, c, map[string]string{"replacement": "retry"}, fault(c, 50, false, "r0-0"), j, other)
	if s.on(0, 57) != "r0-2:1" { // attempts at 50, 51, 53, 57: O ends at 55
		t.Errorf("bound again on %q at 57", s.on(0, 57))
	}
}

// A second node that fails before the first is replaced evicts the whole job. One after
// the other they are replaced, by what fits tightest anywhere, as the rack was only preferred.
func TestSecondFailureEvicts(t *testing.T) {
	c := rows(t, "4 4 4 4", "4")
	j := asks(job("J", 0, 2, 4, 100), need(workloads.TopologyPreferred, "rack"))
	s := tell(t, c, nil, fault(c, 50, false, "r0-0", "r0-1"), j)
	if s.evictions(0, sim.CauseNode) != 1 || s.on(0, 50) != "r0-2:1 r0-3:1" {
		t.Errorf("evicted %d times, then on %s", s.evictions(0, sim.CauseNode), s.on(0, 50))
	}
	s = tell(t, c, nil, append(fault(c, 50, false, "r0-0"), fault(c, 51, false, "r0-1")...), j)
	if s.evictions(0, sim.CauseNode) != 0 || s.on(0, 50) != "r1-0:1" || s.on(0, 51) != "r0-2:1" {
		t.Errorf("one after the other: evicted %d times, on %s and %s", s.evictions(0, sim.CauseNode), s.on(0, 50), s.on(0, 51))
	}
}

// A slice that lost half of itself is completed in its own rack, although the other racks
// have more room; a lost whole slice may go anywhere.
func TestReplacementKeepsSlices(t *testing.T) {
	c := rows(t, "2 2 2", "2 2 2", "6")
	ask := workloads.TopologyRequest{Mode: workloads.TopologyPreferred, Level: "rack", Slices: [3]workloads.Slice{{Level: "rack", Size: 4}}}
	s := tell(t, c, nil, fault(c, 50, false, "r0-0"), asks(job("S", 0, 8, 1, 100), ask))
	if s.on(0, 0) != "r0-0:2 r0-1:2 r1-0:2 r1-1:2" || s.on(0, 50) != "r0-2:2" {
		t.Errorf("on %s, then %s", s.on(0, 0), s.on(0, 50))
	}
	// A request for nothing but slices forgets its level when one is broken, as in Kueue, and
	// the job is evicted and placed anew.
	ask = workloads.TopologyRequest{Mode: workloads.TopologySliceOnly, Slices: [3]workloads.Slice{{Level: "rack", Size: 4}}}
	s = tell(t, c, nil, fault(c, 50, false, "r0-0"), asks(job("S", 0, 8, 1, 100), ask))
	if s.evictions(0, sim.CauseNode) != 1 || s.on(0, 50) != "r0-1:2 r0-2:2 r1-0:2 r1-1:2" {
		t.Errorf("evicted %d times, then on %s", s.evictions(0, sim.CauseNode), s.on(0, 50))
	}
	ask.Slices[0] = workloads.Slice{Level: "host", Size: 2}
	s = tell(t, c, nil, fault(c, 50, false, "r0-0"), asks(job("S", 0, 4, 1, 100), ask))
	if s.on(0, 0) == "" || s.evictions(0, sim.CauseNode) != 0 {
		t.Errorf("on %s, evicted %d times", s.on(0, 0), s.evictions(0, sim.CauseNode))
	}
}

// Before 0.14 nothing moves: the pod stays pinned to the node that is gone, and the
// recovery timeout is what ends it.
func TestNothingMovesBefore014(t *testing.T) {
	c := rows(t, "4 4 4")
	j := asks(job("J", 0, 2, 4, 100), need(workloads.TopologyRequired, "rack"))
	s := tell(t, c, map[string]string{"version": "0.13"}, fault(c, 50, false, "r0-0"), j)
	if s.on(0, 50) != "" || s.r.Jobs[0].State != sim.Admitted {
		t.Errorf("moved to %s, state %d", s.on(0, 50), s.r.Jobs[0].State)
	}
}
