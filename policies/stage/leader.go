package stage

// takeSlicesWithLeader takes slices from the first of the list while a leader is still to
// be placed: what counts is what fits beside it.
func (s *Search) takeSlicesWithLeader(list []int32, a *amount) bool {
	d := list[0]
	if s.r.Algo == BestFit && s.holds(d, a.left, a.leaders) {
		d = s.tightestSlices(list, a.left, a.leaders)
	}
	s.next = append(s.next, d)
	t := &s.st[d]
	if s.holds(d, a.left, a.leaders) {
		t.slices, t.leader, t.pods = a.left, a.leaders, a.left*a.size
		return true
	}
	t.slicesL = min(t.slicesL, a.left)
	t.leader = min(t.leader, a.leaders)
	t.pods = t.slicesL * a.size
	a.leaders -= t.leader
	a.left -= t.slicesL
	return false
}

// takePodsWithLeader is the same over pods. Kueue 0.17 loses the leader here when the
// first child cannot hold all pods beside it; gangplan keeps it.
func (s *Search) takePodsWithLeader(list []int32, a *amount) bool {
	d := list[0]
	if s.r.Algo == BestFit && s.st[d].podsL >= a.left && s.st[d].leader >= a.leaders {
		d = s.tightestPods(list, a.left, a.leaders)
	}
	s.next = append(s.next, d)
	t := &s.st[d]
	if t.podsL >= a.left && t.leader >= a.leaders {
		t.leader, t.pods = a.leaders, a.left
		return true
	}
	t.leader = min(t.leader, a.leaders)
	t.pods = min(t.podsL, a.left)
	a.leaders -= t.leader
	a.left -= t.pods
	return false
}
