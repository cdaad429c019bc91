package stage

import (
	"slices"

	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/workloads"
)

// Algorithm is how the topology search spreads a PodSet that no single domain holds.
type Algorithm uint8

// BestFit takes the fullest domains and ends with the smallest that holds the rest.
// LeastFreeCapacity takes the emptiest first and so keeps big holes whole.
const (
	BestFit Algorithm = iota
	LeastFreeCapacity
)

// Slot is a number of pods on one node.
type Slot struct {
	Node  int32
	Count int32
}

// Search finds where the pods of a PodSet go, as Kueue's topology-aware scheduling does:
// the lowest allowed level at which one domain holds them all, or several domains; then
// down to the hosts, pooling the children of all chosen domains at each level. It keeps
// its buffers from call to call.
type Search struct {
	cluster *topology.Cluster
	counts  []int32
	algo    Algorithm
	chosen  []int32
	pool    []int32
	Slots   []Slot // the answer of the last successful Place, by host name
}

// NewSearch makes a search over a cluster.
func NewSearch(c *topology.Cluster) *Search { return &Search{cluster: c} }

// Place searches for count pods. counts says how many fit into every domain, level is
// the requested level (the host level for an unconstrained request). It reports whether
// all pods were placed and leaves the answer in Slots.
func (s *Search) Place(counts []int32, count int32, mode workloads.TopologyMode, level int32, algo Algorithm) bool {
	s.counts, s.algo = counts, algo
	s.chosen = s.chosen[:0]
	level, ok := s.chooseLevel(count, mode, level)
	if !ok {
		return false
	}
	for ; level < s.cluster.HostLevel(); level++ {
		s.poolChildren()
		s.consume(count)
	}
	s.readSlots(count)
	return true
}

// chooseLevel picks the domains to start from and returns their level: one domain at the
// lowest level that has one, or several.
func (s *Search) chooseLevel(count int32, mode workloads.TopologyMode, level int32) (int32, bool) {
	for {
		if d := s.smallestThatFits(level, count); d >= 0 {
			s.chosen = append(s.chosen, d)
			return level, true
		}
		if mode != workloads.TopologyPreferred || level == 0 {
			break
		}
		level--
	}
	if mode == workloads.TopologyRequired {
		return level, false
	}
	s.pool = s.pool[:0]
	first, last := s.cluster.DomainsAt(level)
	for d := first; d < last; d++ {
		s.pool = append(s.pool, d)
	}
	return level, s.consume(count)
}

// smallestThatFits returns the domain of a level with the least room that holds count
// pods, the first by name among equals, or -1.
func (s *Search) smallestThatFits(level, count int32) int32 {
	best := int32(-1)
	first, last := s.cluster.DomainsAt(level)
	for d := first; d < last; d++ {
		if s.counts[d] >= count && (best < 0 || s.tighter(d, best)) {
			best = d
		}
	}
	return best
}

func (s *Search) tighter(a, b int32) bool {
	if s.counts[a] != s.counts[b] {
		return s.counts[a] < s.counts[b]
	}
	return s.cluster.Domains[a].NameRank < s.cluster.Domains[b].NameRank
}

// poolChildren replaces the pool by the children of all chosen domains.
func (s *Search) poolChildren() {
	s.pool = s.pool[:0]
	for _, d := range s.chosen {
		for c := s.cluster.Domains[d].FirstChild; c < s.cluster.Domains[d].LastChild; c++ {
			s.pool = append(s.pool, c)
		}
	}
}

// consume chooses domains of the pool until count pods have room: whole domains in
// order, and for BestFit the smallest of the rest that holds what remains.
func (s *Search) consume(count int32) bool {
	s.sortPool()
	s.chosen = s.chosen[:0]
	for i, d := range s.pool {
		n := s.counts[d]
		if n == 0 {
			continue
		}
		if n >= count {
			if s.algo == BestFit {
				d = s.tightest(s.pool[i:], count)
			}
			s.chosen = append(s.chosen, d)
			return true
		}
		s.chosen = append(s.chosen, d)
		count -= n
	}
	return false
}

func (s *Search) tightest(rest []int32, count int32) int32 {
	best := rest[0]
	for _, d := range rest[1:] {
		if s.counts[d] >= count && s.counts[d] < s.counts[best] {
			best = d
		}
	}
	return best
}

// sortPool orders by room, most first (least first for LeastFreeCapacity), then by name.
func (s *Search) sortPool() {
	slices.SortStableFunc(s.pool, func(a, b int32) int {
		d := int(s.counts[b]) - int(s.counts[a])
		if s.algo == LeastFreeCapacity {
			d = -d
		}
		if d == 0 {
			d = int(s.cluster.Domains[a].NameRank) - int(s.cluster.Domains[b].NameRank)
		}
		return d
	})
}

// readSlots turns the chosen hosts, in the order they were filled, into slots by host
// name: every host is full but the last one chosen.
func (s *Search) readSlots(count int32) {
	s.Slots = s.Slots[:0]
	base, _ := s.cluster.DomainsAt(s.cluster.HostLevel())
	for _, d := range s.chosen {
		n := min(count, s.counts[d])
		count -= n
		s.Slots = append(s.Slots, Slot{Node: d - base, Count: n})
	}
	slices.SortStableFunc(s.Slots, func(a, b Slot) int {
		return int(s.cluster.Domains[base+a.Node].NameRank) - int(s.cluster.Domains[base+b.Node].NameRank)
	})
}

// AssignSet assigns the pods of a PodSet of a queued job to the slots found, rank after
// rank.
func (s *Search) AssignSet(tx *sim.Tx, set int32) {
	pod := tx.FirstPod(set)
	for _, slot := range s.Slots {
		for range slot.Count {
			tx.Assign(pod, slot.Node)
			pod++
		}
	}
}
