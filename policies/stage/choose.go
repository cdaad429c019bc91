package stage

import (
	"slices"

	"github.com/gangplan/gangplan/workloads"
)

// chooseLevel is phase 2a: the level to start from, and the domains there. A request
// that prefers a level goes up until one domain holds it all.
func (s *Search) chooseLevel() (level int32, ok bool) {
	for level = s.r.Level; ; level-- {
		s.poolLevel(level)
		if s.chooseOne() {
			return level, true
		}
		switch {
		case s.r.Mode == workloads.TopologyRequired:
			return level, s.fail(level, s.bestOfPool())
		case level == 0 || s.r.Mode != workloads.TopologyPreferred:
			return level, s.chooseMany(level)
		}
	}
}

// poolLevel makes all domains of a level the pool, in the order that tries those first
// that can host the leader.
func (s *Search) poolLevel(level int32) {
	first, last := s.cluster.DomainsAt(level)
	s.pool = s.pool[:0]
	for d := first; d < last; d++ {
		s.pool = append(s.pool, d)
	}
	s.sortForLeader(s.pool)
}

// chooseOne takes the single domain of the pool that fits, if there is one. The order of
// LeastFreeCapacity ends the search at the first that holds the slices, before 0.19 with a
// leader or not.
func (s *Search) chooseOne() bool {
	need, leaders := s.need(), s.leaders()
	top := s.pool[0]
	if s.r.Algo == LeastFreeCapacity {
		for _, d := range s.pool {
			if s.st[d].slices >= need && !(s.r.Hosts && leaders > 0 && !s.holds(d, need, leaders)) {
				s.chosen = append(s.chosen, d)
				return true
			}
		}
	} else if s.holds(top, need, leaders) {
		top = s.tightestSlices(s.pool, need, leaders)
	}
	s.top = top
	if s.holds(top, need, leaders) {
		s.chosen = append(s.chosen, top)
		return true
	}
	return false
}

// holds reports whether a domain holds slices beside a leader.
func (s *Search) holds(d, slices, leaders int32) bool {
	return s.st[d].slicesL >= slices && s.st[d].leader >= leaders
}

// bestOfPool returns how many slices the best domain of the pool holds, which is what the
// failure of a required request tells. With a leader that is the tightest domain by what
// it holds beside one, even if it is the leader that has no room there.
func (s *Search) bestOfPool() int32 {
	if s.r.Algo == LeastFreeCapacity {
		return s.st[s.pool[len(s.pool)-1]].pods
	}
	return s.st[s.top].slices
}

// chooseMany takes several domains of the pool: first those that host the leader, then
// by room.
func (s *Search) chooseMany(level int32) bool {
	need, leaders := s.need(), s.leaders()
	left, taken := need, 0
	s.leaderFirst(s.pool, amount{need, leaders, s.size, true})
	for ; leaders > 0 && taken < len(s.pool) && s.st[s.pool[taken]].leader > 0; taken++ {
		d := s.pool[taken]
		if s.r.Algo == BestFit && s.st[d].slicesL >= left {
			d = s.tightestSlices(s.pool[taken:], left, leaders)
		}
		s.chosen = append(s.chosen, d)
		leaders -= s.st[d].leader
		left -= s.st[d].slicesL
	}
	if leaders > 0 {
		return s.fail(level, s.leaders()-leaders)
	}
	rest := s.pool[taken:]
	s.sortByRoom(rest)
	for i := 0; left > 0 && i < len(rest); i++ {
		d := rest[i]
		if s.r.Stops && s.st[d].slices == 0 {
			break
		}
		if s.r.Algo == BestFit && s.st[d].slices >= left {
			d = s.tightestSlices(rest[i:], left, 0)
		}
		s.chosen = append(s.chosen, d)
		left -= s.st[d].slices
	}
	if left > 0 {
		return s.fail(level, need-left)
	}
	return true
}

// tightestSlices returns the domain of the list with the fewest slices, beside a leader if
// there is one, that are still enough.
func (s *Search) tightestSlices(list []int32, need, leaders int32) int32 {
	if leaders > 0 {
		return s.tightest(list, need, leaders, func(d *tally) int32 { return d.slicesL })
	}
	return s.tightest(list, need, 0, func(d *tally) int32 { return d.slices })
}

// tightestPods is the same over pods.
func (s *Search) tightestPods(list []int32, need, leaders int32) int32 {
	if leaders > 0 {
		return s.tightest(list, need, leaders, func(d *tally) int32 { return d.podsL })
	}
	return s.tightest(list, need, 0, func(d *tally) int32 { return d.pods })
}

// tightest returns the domain of the list with the least room that is still enough, the
// first among equals, or the first of all if none is tighter than it. Since 0.19 it has room
// for the leaders too.
func (s *Search) tightest(list []int32, need, leaders int32, room func(*tally) int32) int32 {
	best := list[0]
	for _, d := range list {
		if s.r.Hosts && s.st[d].leader < leaders {
			continue
		}
		if n := room(&s.st[d]); n >= need && n < room(&s.st[best]) {
			best = d
		}
	}
	return best
}

// sortForLeader orders by whether a leader fits, then by slices beside it, most first
// (least first for LeastFreeCapacity), then the fewest pods beside it, then by name.
func (s *Search) sortForLeader(list []int32) {
	sign := s.sign()
	slices.SortStableFunc(list, func(a, b int32) int {
		x, y := &s.st[a], &s.st[b]
		switch {
		case x.leader != y.leader:
			return int(y.leader - x.leader)
		case x.slicesL != y.slicesL:
			return sign * (int(x.slicesL) - int(y.slicesL))
		case x.podsL != y.podsL:
			return int(x.podsL) - int(y.podsL)
		}
		return s.byName(a, b)
	})
}

// sortByRoom orders by slices, most first (least first for LeastFreeCapacity), then the
// fewest pods, then by name. Below the level of the slices nobody has any, so the hosts
// with least room come first.
func (s *Search) sortByRoom(list []int32) {
	sign := s.sign()
	slices.SortStableFunc(list, func(a, b int32) int {
		x, y := &s.st[a], &s.st[b]
		switch {
		case x.slices != y.slices:
			return sign * (int(x.slices) - int(y.slices))
		case x.pods != y.pods:
			return int(x.pods) - int(y.pods)
		}
		return s.byName(a, b)
	})
}

func (s *Search) sign() int {
	if s.r.Algo == LeastFreeCapacity {
		return 1
	}
	return -1
}

func (s *Search) byName(a, b int32) int {
	return int(s.rank[a] - s.rank[b])
}
