package stage

import (
	"slices"

	"github.com/gangplan/gangplan/sim/capacity"
	"github.com/gangplan/gangplan/workloads"
)

// PlaceShape is Place for a shape of pods the index counts. Leaves are hosts. Ordinary
// requests are answered from the index and cost the levels and the gang's own leaves;
// others are searched from the leaves up. A request with a leader, or one kept to a
// domain, needs its leaves filled: use Place.
func (s *Search) PlaceShape(r *Request, x *capacity.Index, shape capacity.Shape) bool {
	if r.plain(s.leaf) {
		return s.placePlain(r, x, shape)
	}
	leaves := Leaves{Pods: x.Counts(shape)[s.cluster.LevelStart[s.leaf]:]}
	return s.Place(r, &leaves)
}

// placePlain is the whole search of a request without slices, leader and balancing: pods
// are slices of one, so every level is ordered by its counts alone, and the index has
// that order.
func (s *Search) placePlain(r *Request, x *capacity.Index, shape capacity.Shape) bool {
	s.begin(r)
	counts := x.Counts(shape)
	level, ok := s.plainLevel(x, shape, counts)
	if !ok {
		return false
	}
	for ; level < s.leaf; level++ {
		s.keyChildren(counts)
		s.takeKeys(level+1, counts)
	}
	s.readPlain(counts)
	return true
}

// plainLevel is chooseLevel with the order of the index.
func (s *Search) plainLevel(x *capacity.Index, shape capacity.Shape, counts []int32) (level int32, ok bool) {
	need := s.r.Count
	for level = s.r.Level; ; level-- {
		if d := x.Smallest(shape, level, need); d >= 0 {
			s.chosen = append(s.chosen, d)
			return level, true
		}
		if s.r.Mode == workloads.TopologyRequired {
			fit := int32(0)
			if d := x.Largest(shape, level); d >= 0 {
				fit = counts[d]
			}
			return level, s.fail(level, fit)
		}
		if level == 0 || s.r.Mode != workloads.TopologyPreferred {
			break
		}
	}
	if total := x.Total(shape); total < int64(need) {
		return level, s.fail(level, int32(total))
	}
	s.plainMany(x, shape, level, counts)
	return level, true
}

// plainMany takes whole domains of a level in order until the rest fits into one: for
// BestFit the tightest. If that has less room than the present one, it was not taken
// before, because those taken have at least as much; if not, the present one is it.
func (s *Search) plainMany(x *capacity.Index, shape capacity.Shape, level int32, counts []int32) {
	walk, left := x.Descend(shape, level), s.r.Count
	if s.r.Algo == LeastFreeCapacity {
		walk = x.Ascend(shape, level)
	}
	d, n := walk.Next()
	for ; n < left; d, n = walk.Next() {
		s.chosen = append(s.chosen, d)
		left -= n
	}
	if s.r.Algo == BestFit {
		if t := x.Smallest(shape, level, left); counts[t] < n {
			d = t
		}
	}
	s.chosen = append(s.chosen, d)
}

// keyChildren lists the children of all chosen domains that have room, as keys that sort
// in the order of the search: by count, most first or least first, then by name.
func (s *Search) keyChildren(counts []int32) {
	s.keys = s.keys[:0]
	for _, d := range s.chosen {
		span := s.child[d]
		for c := span.first; c < span.last; c++ {
			n := counts[c]
			if n == 0 {
				continue
			}
			if s.r.Algo == BestFit {
				n = -1 - n
			}
			s.keys = append(s.keys, uint64(uint32(n))<<32|uint64(uint32(s.rank[c])))
		}
	}
}

// takeKeys consumes the listed domains: whole ones in order, and at the end one that
// holds the rest, for BestFit the tightest. Most often one holds all, and is found in one
// pass; if not, the list becomes a heap, so that no more of it is sorted than is taken.
func (s *Search) takeKeys(level int32, counts []int32) {
	s.chosen = s.chosen[:0]
	left, best := s.r.Count, s.r.Algo == BestFit
	byRank := s.byRank[s.cluster.LevelStart[level]:]
	if best {
		if k, ok := tightestKey(s.keys, left); ok {
			s.chosen = append(s.chosen, byRank[uint32(k)])
			return
		}
	}
	heapify(s.keys)
	for left > 0 {
		k := s.keys[0]
		d := byRank[uint32(k)]
		if best && counts[d] >= left {
			k, _ = tightestKey(s.keys, left)
			d = byRank[uint32(k)]
		}
		s.chosen = append(s.chosen, d)
		left -= counts[d]
		s.keys = popKey(s.keys)
	}
}

// tightestKey returns the key of the least room that holds need, first by name. Keys of
// BestFit have the complement of the count.
func tightestKey(keys []uint64, need int32) (best uint64, ok bool) {
	limit := uint32(-1 - need)
	var room uint32
	for _, k := range keys {
		n := uint32(k >> 32)
		if n > limit {
			continue
		}
		if !ok || n > room || n == room && uint32(k) < uint32(best) {
			best, room, ok = k, n, true
		}
	}
	return best, ok
}

// heapify makes keys a heap with the smallest first.
func heapify(keys []uint64) {
	for i := len(keys)/2 - 1; i >= 0; i-- {
		siftDown(keys, i)
	}
}

func popKey(keys []uint64) []uint64 {
	last := len(keys) - 1
	keys[0] = keys[last]
	keys = keys[:last]
	if last > 0 {
		siftDown(keys, 0)
	}
	return keys
}

func siftDown(keys []uint64, i int) {
	k := keys[i]
	for {
		c := 2*i + 1
		if c >= len(keys) {
			break
		}
		if c+1 < len(keys) && keys[c+1] < keys[c] {
			c++
		}
		if keys[c] >= k {
			break
		}
		keys[i] = keys[c]
		i = c
	}
	keys[i] = k
}

// readPlain turns the chosen leaves, in the order they were filled, into slots: every
// leaf is full but the last.
func (s *Search) readPlain(counts []int32) {
	base, left := s.cluster.LevelStart[s.leaf], s.r.Count
	s.keys = s.keys[:0]
	for i, d := range s.chosen {
		s.keys = append(s.keys, uint64(s.rank[d])<<32|uint64(i))
	}
	last := len(s.chosen) - 1
	for _, d := range s.chosen[:last] {
		left -= counts[d]
	}
	slices.Sort(s.keys)
	for _, k := range s.keys {
		d := s.chosen[uint32(k)]
		n := counts[d]
		if int(uint32(k)) == last {
			n = left
		}
		s.Slots = append(s.Slots, Slot{Leaf: d - base, Count: n})
	}
}
