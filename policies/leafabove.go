package policies

import (
	"slices"

	"github.com/gangplan/gangplan/policies/stage"
	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/topology"
)

// A topology may end above the host. Then the nodes of a leaf are summed up, an assignment
// is to the leaf, and the Binder finds a node in it, or does not: only the readiness
// timeout helps a pod whose leaf has enough in all but on no node.

// aboveHosts reports whether the topology ends above the host.
func (p *placer) aboveHosts(v sim.View) bool { return p.search.LeafLevel() < v.Cluster().HostLevel() }

// placeAbove searches leaves above the host. Taints and labels are of nodes, so Kueue does
// not look at them here; GPU models are flavors, which it does look at.
func (p *placer) placeAbove(v sim.View, plane sim.Plane, s, leader int32, r *stage.Request) bool {
	p.leaves.Pods, p.leaves.Beside = p.leaves.Pods[:0], p.leaves.Beside[:0]
	pod := v.PodRequest(s)
	first, last := v.Cluster().DomainsAt(p.search.LeafLevel())
	for d := first; d < last; d++ {
		room := p.roomIn(v, plane, d, s, v.Given(s))
		beside := int32(-1)
		p.leaves.Pods = append(p.leaves.Pods, count(pod, &room))
		if leader >= 0 {
			if request := v.PodRequest(leader); request.FitsIn(&room) {
				room = room.Minus(*request)
				beside = count(pod, &room)
			}
		}
		p.leaves.Beside = append(p.leaves.Beside, beside)
	}
	r.Leader = leader >= 0
	return p.search.Place(r, &p.leaves) && p.search.Pods() == r.Count && (leader < 0 || p.search.Leader >= 0)
}

func count(pod, room *topology.Resources) int32 {
	return int32(max(0, min(pod.CountIn(room), topology.NoLimit/2)))
}

// roomIn sums what is free on the nodes of a leaf that count for a PodSet with some flavors,
// less what is held of the leaf.
func (p *placer) roomIn(v sim.View, plane sim.Plane, d, set int32, flavors uint64) topology.Resources {
	var room topology.Resources
	c := v.Cluster()
	free := v.Free(plane)
	for n := c.Domains[d].First; n < c.Domains[d].Last; n++ {
		if v.Offers(n, set, flavors) {
			room = room.Plus(free[n])
		}
	}
	return room.Minus(v.HeldWithin(plane, d))
}

// freeOf is what is free on each node for messages: what is held of a leaf above the host
// counts on its first node, as leaves are summed up anyway.
func (p *placer) freeOf(v sim.View) []topology.Resources {
	free := v.Free(sim.Assigned)
	if !p.aboveHosts(v) {
		return free
	}
	free = slices.Clone(free)
	first, last := v.Cluster().DomainsAt(p.search.LeafLevel())
	for d := first; d < last; d++ {
		n := v.Cluster().Domains[d].First
		free[n] = free[n].Minus(v.HeldWithin(sim.Assigned, d))
	}
	return free
}
