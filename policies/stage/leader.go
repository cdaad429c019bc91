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

// takePodsWithLeader is the same over pods. Where the first child cannot hold all of them
// beside the leader, older versions of Kueue lose the leader and give the child more pods
// than are booked: the search does as they did.
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
	if !s.r.Hosts {
		a.left -= t.podsL
		a.leaders -= t.leader
		t.podsL, t.leader = min(t.podsL, a.left), min(t.leader, a.leaders)
		return false
	}
	t.leader = min(t.leader, a.leaders)
	t.pods = min(t.podsL, a.left)
	a.leaders -= t.leader
	a.left -= t.pods
	return false
}
