package stage

import "slices"

// Balanced placement gives a gang that needs several domains about as many slices in each,
// so that no domain is the slow corner of it: 25 pods on two racks of 15 are 13 and 12
// instead of 15 and 10. It is for preferred requests, and whatever it cannot do is left
// to the ordinary search.

// balance looks, under each domain above the preferred level (or over the whole forest),
// for the set of siblings with the highest threshold: the slices that every domain of the
// answer gets at least. It reports the level reached and whether it placed anything.
func (s *Search) balance() (level int32, ok bool) {
	best, group := s.bestGroup()
	s.next = s.next[:0]
	if best == 0 {
		return 0, false
	}
	s.groupOf(group)
	level = s.r.Level
	if level < s.level {
		if ok = s.cheapestSet(s.pool, true); ok {
			s.pool = s.pool[:0]
			for _, d := range s.chosen {
				s.pool = s.appendChildren(s.pool, d)
			}
			level++
		}
	} else {
		ok = true
	}
	if !ok || !s.spreadEvenly(best) {
		s.restore(group)
		s.chosen = s.chosen[:0]
		return 0, false
	}
	return level, true
}

// bestGroup returns the highest threshold and the domain whose children have it: of
// equals the one that needs fewest of them, then the first by name; -1 is the forest. The
// tallies of that group are left pruned, all others as they were.
func (s *Search) bestGroup() (best, group int32) {
	fewest := int32(0)
	group = -2
	for _, g := range s.groups() {
		s.save(g)
		t, domains := s.tryGroup(g, best)
		if t < best || t == 0 || t == best && domains >= fewest {
			s.restore(g)
			continue
		}
		if group != -2 {
			s.restore(group)
		}
		best, fewest, group = t, domains, g
	}
	return best, group
}

// groups lists the domains above the preferred level by name.
func (s *Search) groups() []int32 {
	s.next = s.next[:0]
	if s.r.Level == 0 {
		s.next = append(s.next, -1)
		return s.next
	}
	first, last := s.cluster.DomainsAt(s.r.Level - 1)
	for d := first; d < last; d++ {
		s.next = append(s.next, d)
	}
	slices.SortStableFunc(s.next, s.byName)
	return s.next
}

// groupOf makes the siblings of a group the pool.
func (s *Search) groupOf(g int32) {
	s.pool = s.pool[:0]
	if g >= 0 {
		s.pool = s.appendChildren(s.pool, g)
		return
	}
	first, last := s.cluster.DomainsAt(0)
	for d := first; d < last; d++ {
		s.pool = append(s.pool, d)
	}
}

// tryGroup prunes a group to its threshold and returns it with the number of siblings
// needed, or zero if it does not fit or stays below what is known already.
func (s *Search) tryGroup(g, best int32) (threshold, domains int32) {
	s.groupOf(g)
	if s.r.Level < s.level {
		s.childrenOfPool()
	}
	e, fits := s.greedy()
	if !fits {
		return 0, 0
	}
	t := e.threshold(s)
	if t < best || t == 0 {
		return 0, 0
	}
	if domains, ok := s.prunedFit(g, t); ok {
		return t, domains
	}
	reserved := t
	if s.r.Leader && e.last >= 0 {
		reserved = min(t, e.lastL)
	}
	if reserved == t || reserved <= 0 || reserved < best {
		return 0, 0
	}
	s.restore(g)
	if domains, ok := s.prunedFit(g, reserved); ok {
		return reserved, domains
	}
	return 0, 0
}

func (s *Search) childrenOfPool() {
	n := len(s.pool)
	for i := range n {
		s.pool = s.appendChildren(s.pool, s.pool[i])
	}
	s.pool = append(s.pool[:0], s.pool[n:]...)
}

// greedyEnd is how a greedy walk over the pool ended: how many domains it took, the last
// it took for its leader and the last without, or -1.
type greedyEnd struct {
	domains       int32
	withLeader    int32
	last          int32
	lastS, lastL  int32 // slices of last, and beside a leader
	withLeaderSet int32 // slices beside the leader of withLeader
}

// threshold is the most slices every domain of the walk can have.
func (e *greedyEnd) threshold(s *Search) int32 {
	t := s.need() / e.domains
	if e.withLeader >= 0 {
		t = min(t, e.withLeaderSet)
	}
	if e.last >= 0 {
		t = min(t, e.lastS)
	}
	return t
}

// greedy walks the pool in the order of the ordinary search and counts the domains it
// takes.
func (s *Search) greedy() (e greedyEnd, fits bool) {
	e.withLeader, e.last = -1, -1
	left, leaders, taken := s.need(), s.leaders(), 0
	if leaders > 0 {
		s.sortForLeader(s.pool)
	}
	for ; leaders > 0 && taken < len(s.pool) && s.st[s.pool[taken]].leader > 0; taken++ {
		t := &s.st[s.pool[taken]]
		e.withLeader, e.withLeaderSet = s.pool[taken], t.slicesL
		e.domains++
		leaders -= t.leader
		left -= t.slicesL
	}
	rest := s.pool[taken:]
	s.sortByRoom(rest)
	for i := 0; left > 0 && i < len(rest) && s.st[rest[i]].slices > 0; i++ {
		t := &s.st[rest[i]]
		e.last, e.lastS, e.lastL = rest[i], t.slices, t.slicesL
		e.domains++
		left -= t.slices
	}
	return e, left <= 0 && leaders <= 0 && e.domains > 0
}

// prunedFit takes away whatever is below the threshold and counts the siblings that a
// greedy walk over the rest needs.
func (s *Search) prunedFit(g, threshold int32) (domains int32, ok bool) {
	s.groupOf(g)
	for _, d := range s.pool {
		if s.r.Level < s.leaf {
			dom := &s.cluster.Domains[d]
			for c := dom.FirstChild; c < dom.LastChild; c++ {
				s.prune(c, threshold)
			}
			s.refill(d)
		}
		s.prune(d, threshold)
	}
	e, fits := s.greedy()
	return e.domains, fits
}

// refill sums the levels of a sibling up again, from the bottom.
func (s *Search) refill(d int32) {
	dom := &s.cluster.Domains[d]
	for level := s.leaf - 1; level >= dom.Level; level-- {
		last := s.cluster.DomainOf(dom.Last-1, level)
		for c := s.cluster.DomainOf(dom.First, level); c <= last; c++ {
			s.fillDomain(s.st, c, level, 0)
		}
	}
}

// prune clears a domain that cannot have the threshold, or bars the leader from one that
// cannot have it beside the leader.
func (s *Search) prune(d, threshold int32) {
	t := &s.st[d]
	switch {
	case t.slices < threshold:
		s.wipe(d, func(t *tally) { *t = tally{} })
	case s.r.Leader && t.leader > 0 && t.slicesL < threshold:
		s.wipe(d, func(t *tally) { t.podsL, t.slicesL, t.leader = 0, 0, 0 })
	}
}

// wipe applies f to a domain and all below it.
func (s *Search) wipe(d int32, f func(*tally)) {
	s.eachInterval(d, func(first, last int32) {
		for i := first; i < last; i++ {
			f(&s.st[i])
		}
	})
}

// eachInterval visits the domains of a subtree level by level; -1 is the forest.
func (s *Search) eachInterval(d int32, f func(first, last int32)) {
	if d < 0 {
		f(0, int32(len(s.st)))
		return
	}
	dom := &s.cluster.Domains[d]
	for level := dom.Level; level <= s.leaf; level++ {
		f(s.cluster.DomainOf(dom.First, level), s.cluster.DomainOf(dom.Last-1, level)+1)
	}
}

func (s *Search) save(d int32) {
	if len(s.saved) < len(s.st) {
		s.saved = make([]tally, len(s.st))
	}
	s.eachInterval(d, func(first, last int32) { copy(s.saved[first:last], s.st[first:last]) })
}

func (s *Search) restore(d int32) {
	s.eachInterval(d, func(first, last int32) { copy(s.st[first:last], s.saved[first:last]) })
}

// spreadEvenly chooses the cheapest set of domains of the pool and gives each the
// threshold; what is over goes to the first that have room.
func (s *Search) spreadEvenly(threshold int32) bool {
	if !s.cheapestSet(s.pool, false) {
		return false
	}
	over := s.need() - int32(len(s.chosen))*threshold
	if over < 0 {
		return false
	}
	s.sortForLeader(s.chosen)
	leaders := s.leaders()
	for _, d := range s.chosen {
		t := &s.st[d]
		extra := int32(0)
		switch {
		case leaders > 0:
			extra = min(t.slicesL-threshold, over)
			t.leader, leaders = 1, leaders-1
		case over > 0:
			extra, t.leader = min(t.slices-threshold, over), 0
		default:
			t.leader = 0
		}
		over -= extra
		t.slices = threshold + extra
		t.pods = t.slices * s.size
		t.slicesL, t.podsL = t.slices, t.pods-t.leader
	}
	return over <= 0 && leaders <= 0
}
