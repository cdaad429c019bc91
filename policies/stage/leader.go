package stage

// leaderFirst moves the first domain of a list that can host the leader, and costs the others
// no more by it than there is to spare, to the front. What domains hold beside a leader was
// summed up for the child that loses least, and this keeps that promise. Kueue does so since
// 0.19.
func (s *Search) leaderFirst(list []int32, a amount) {
	if !s.r.Hosts || a.leaders == 0 {
		return
	}
	spare := -a.left
	for _, d := range list {
		room, _ := s.roomOf(d, a.slices)
		spare += room
	}
	for i, d := range list {
		if room, beside := s.roomOf(d, a.slices); s.st[d].leader < a.leaders || room-beside > spare {
			continue
		}
		copy(list[1:i+1], list[:i])
		list[0] = d
		return
	}
}

// roomOf is what a domain holds, in slices or in pods, and beside a leader.
func (s *Search) roomOf(d int32, slices bool) (room, beside int32) {
	if t := &s.st[d]; slices {
		return t.slices, t.slicesL
	}
	return s.st[d].pods, s.st[d].podsL
}

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
