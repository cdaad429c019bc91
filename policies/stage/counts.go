package stage

import (
	"math"

	"github.com/gangplan/gangplan/topology"
)

// Leaves says what fits on every leaf.
type Leaves struct {
	Pods   []int32 // pods that fit
	Beside []int32 // pods that fit beside the leader, -1 where it does not fit; unused without a leader
}

// Fill counts what fits on every leaf, of pods and, if one is asked for, beside a leader.
// Every pod asks for one of the pod slots too. Only nodes that skip does not name count;
// it may be nil. A leaf above the host has what its nodes have together.
func (l *Leaves) Fill(c *topology.Cluster, leaf int32, free []topology.Resources, pod, leader *topology.Resources, skip []bool) {
	first, last := c.DomainsAt(leaf)
	l.Pods, l.Beside = l.Pods[:0], l.Beside[:0]
	for d := first; d < last; d++ {
		room, open := roomOf(&c.Domains[d], free, skip)
		pods, beside := int32(0), int32(-1)
		if open {
			pods = count32(pod, &room)
		}
		if open && leader != nil && leader.CountIn(&room) > 0 {
			room = room.Minus(*leader)
			beside = count32(pod, &room)
		}
		l.Pods = append(l.Pods, pods)
		l.Beside = append(l.Beside, beside)
	}
}

// roomOf sums what is free on the nodes of a leaf, and says whether any of them counts.
func roomOf(d *topology.Domain, free []topology.Resources, skip []bool) (room topology.Resources, open bool) {
	for n := d.First; n < d.Last; n++ {
		if skip == nil || !skip[n] {
			room, open = room.Plus(free[n]), true
		}
	}
	return room, open
}

func count32(r, room *topology.Resources) int32 { return int32(min(r.CountIn(room), math.MaxInt32/4)) }

// fillCounts is phase 1: what fits into every domain, from the leaves up.
func (s *Search) fillCounts(in *Leaves) {
	first, last := s.cluster.DomainsAt(s.leaf)
	within := topology.Domain{Last: math.MaxInt32}
	if s.r.Within > 0 {
		within = s.cluster.Domains[s.r.Within-1]
	}
	for d := first; d < last; d++ {
		if dom := &s.cluster.Domains[d]; dom.First < within.First || dom.Last > within.Last {
			s.st[d] = tally{}
			continue
		}
		t := tally{pods: in.Pods[d-first]}
		t.podsL = t.pods
		if s.r.Leader && in.Beside[d-first] >= 0 {
			t.leader, t.podsL = 1, in.Beside[d-first]
		}
		if s.leaf == s.level {
			t.slices, t.slicesL = t.pods/s.size, t.podsL/s.size
		}
		s.st[d] = t
	}
	for level := s.leaf - 1; level >= 0; level-- {
		s.fillLevel(s.st, level, s.sizeAt[level+1])
	}
}

// fillLevel sums the domains of a level up from their children.
func (s *Search) fillLevel(st []tally, level, inner int32) {
	first, last := s.cluster.DomainsAt(level)
	for d := first; d < last; d++ {
		s.fillDomain(st, d, level, inner)
	}
}

// fillDomain sums a domain up. Children with a layer of slices give whole slices only. A
// leader costs what it costs the child that loses least.
func (s *Search) fillDomain(st []tally, d, level, inner int32) {
	var sum tally
	lostPods, lostSlices := int32(math.MaxInt32), int32(math.MaxInt32)
	dom := &s.cluster.Domains[d]
	for c := dom.FirstChild; c < dom.LastChild; c++ {
		t := st[c]
		if inner > 0 {
			t.pods -= t.pods % inner
			t.podsL -= t.podsL % inner
		}
		sum.pods += t.pods
		sum.slices += t.slices
		sum.leader = max(sum.leader, t.leader)
		if t.leader > 0 || !s.r.Hosts {
			lostPods = min(lostPods, t.pods-t.podsL)
			lostSlices = min(lostSlices, t.slices-t.slicesL)
		}
	}
	if s.r.Hosts && sum.leader == 0 {
		lostPods, lostSlices = 0, 0
		if s.r.Leader {
			lostPods, lostSlices = sum.pods, sum.slices
		}
	}
	sum.podsL, sum.slicesL = sum.pods-lostPods, sum.slices-lostSlices
	if level == s.level {
		sum.slices, sum.slicesL = sum.pods/s.size, sum.podsL/s.size
	}
	st[d] = sum
}
