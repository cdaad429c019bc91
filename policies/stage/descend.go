package stage

// descend is phase 2b: from the chosen domains down to the leaves. Above the level of the
// slices the children of all chosen domains are one pool and the whole count is taken
// from it again; from there on every domain's pods go to its own children, because a
// slice must stay in one domain. Balanced placement has shared out what every domain
// gets, so all its levels are of the second kind. It reports whether every list held what
// was promised; if one did not, its part of the answer is missing.
func (s *Search) descend(level int32, balanced bool) bool {
	whole := amount{s.need(), s.leaders(), s.size, true}
	ok := s.takeFrom(s.chosen, whole)
	s.swap()
	for ; level < min(s.leaf, s.level) && !balanced; level++ {
		s.poolChildren()
		s.sortByRoom(s.pool)
		ok = s.takeFrom(s.pool, whole) && ok
		s.swap()
	}
	for ; level < s.leaf; level++ {
		for _, d := range s.chosen {
			ok = s.shareOut(d, s.unitBelow(level)) && ok
		}
		s.swap()
	}
	return ok
}

// swap makes what was taken at a level the chosen domains.
func (s *Search) swap() { s.chosen, s.next = s.next, s.chosen[:0] }

// poolChildren makes the children of all chosen domains the pool.
func (s *Search) poolChildren() {
	s.pool = s.pool[:0]
	for _, d := range s.chosen {
		s.pool = s.appendChildren(s.pool, d)
	}
}

func (s *Search) appendChildren(list []int32, d int32) []int32 {
	dom := &s.cluster.Domains[d]
	for c := dom.FirstChild; c < dom.LastChild; c++ {
		list = append(list, c)
	}
	return list
}

// unitBelow is in how many pods at a time the domains of a level give pods to their
// children: outer slices above the level of the slices, inner ones or single pods below.
func (s *Search) unitBelow(level int32) int32 {
	if level < s.level {
		return s.size
	}
	return max(1, s.sizeAt[level+1])
}

// shareOut gives the pods of a domain to its children.
func (s *Search) shareOut(d, unit int32) bool {
	s.pool = s.appendChildren(s.pool[:0], d)
	s.sortByRoom(s.pool)
	t := s.st[d]
	if unit == 1 {
		return s.takeFrom(s.pool, amount{t.pods, t.leader, 1, false})
	}
	for _, c := range s.pool {
		s.st[c].slices = s.st[c].pods / unit
		s.st[c].slicesL = s.st[c].podsL / unit
	}
	return s.takeFrom(s.pool, amount{t.pods / unit, t.leader, unit, true})
}

// amount is what is still to be taken: slices of size pods, or single pods, and leaders.
type amount struct {
	left    int32
	leaders int32
	size    int32
	slices  bool
}

// takeFrom walks a list in order, takes whole domains while it must, and ends with one
// that holds the rest: for BestFit the tightest of those still ahead. What was taken is
// appended to next, and the tallies of those domains say how much. It reports whether
// everything was taken; if not, nothing is appended.
func (s *Search) takeFrom(list []int32, a amount) bool {
	before := len(s.next)
	s.leaderFirst(list, a)
	for i := range list {
		done := false
		switch {
		case a.leaders > 0 && a.slices:
			done = s.takeSlicesWithLeader(list[i:], &a)
		case a.leaders > 0:
			done = s.takePodsWithLeader(list[i:], &a)
		case a.slices:
			done = s.takeSlices(list[i:], &a)
		default:
			done = s.takePods(list[i:], &a)
		}
		if done {
			return true
		}
	}
	s.next = s.next[:before]
	return false
}

// takeSlices takes slices from the first of the list.
func (s *Search) takeSlices(list []int32, a *amount) bool {
	d := list[0]
	if s.r.Algo == BestFit && s.st[d].slices >= a.left {
		d = s.tightestSlices(list, a.left, 0)
	}
	s.next = append(s.next, d)
	t := &s.st[d]
	t.leader = 0
	if t.slices >= a.left {
		t.slices, t.pods = a.left, a.left*a.size
		return true
	}
	t.pods = t.slices * a.size
	a.left -= t.slices
	return false
}

// takePods takes pods from the first of the list.
func (s *Search) takePods(list []int32, a *amount) bool {
	d := list[0]
	if s.r.Algo == BestFit && s.st[d].pods >= a.left {
		d = s.tightestPods(list, a.left, 0)
	}
	s.next = append(s.next, d)
	t := &s.st[d]
	t.leader = 0
	if t.pods >= a.left {
		t.pods = a.left
		return true
	}
	a.left -= t.pods
	return false
}
