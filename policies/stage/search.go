package stage

import (
	"slices"

	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/workloads"
)

// Slot is a number of pods on one leaf. Where the lowest level of the topology is the
// host, leaf i is node i.
type Slot struct {
	Leaf  int32
	Count int32
}

// Search finds where the pods of a PodSet go, as Kueue's topology-aware scheduling does.
// Phase 1 counts, from the leaves up, what fits into every domain; phase 2 picks a level
// and domains there, then goes down to the leaves. docs/topology.md tells it at length.
//
// A search of the ordinary kind costs levels and the gang's own leaves (fast.go), all
// others the number of domains. It keeps its buffers from call to call and allocates
// nothing once they have grown.
type Search struct {
	cluster *topology.Cluster
	leaf    int32 // lowest level of the topology

	child  []span  // by domain: its children
	rank   []int32 // by domain: its place among its level's names
	byRank []int32 // by start of the level + rank: the domain

	r      Request
	size   int32                     // of the outermost slices
	level  int32                     // of the outermost slices
	sizeAt [topology.MaxLevels]int32 // of inner slices, by level; 0: none
	st     []tally                   // by domain id
	saved  []tally                   // what balanced placement works on copies of
	top    int32                     // the domain that a level was judged by
	chosen []int32                   // domains that take part, at the level reached
	next   []int32                   // the same, of the level below
	pool   []int32                   // domains to choose from
	keys   []uint64                  // of the pool, in fast.go
	dp     dpTable                   // of balanced placement

	Slots   []Slot  // the answer of the last successful Place, by the leaves' names
	Leader  int32   // the leaf of the leader, or -1
	Failure Failure // why the last Place failed
}

// tally is what fits into a domain, and later what is placed there: pods and slices,
// the same beside a leader, and whether a leader fits.
type tally struct {
	pods, slices   int32
	podsL, slicesL int32
	leader         int32
}

// Failure is why a search found no place: Fit of Want slices would. Level is where the
// search ended. Contradiction says that phase 1 promised what phase 2 could not keep, which
// a leader can cause; Kueue then admits the workload with what it has, which is in Slots
// and may be nothing.
type Failure struct {
	Fit, Want     int32
	Level         int32
	Contradiction bool
}

// NewSearch makes a search over a cluster whose topology ends at a level, which is the
// host's or one above.
func NewSearch(c *topology.Cluster, leaf int32) *Search {
	n := c.LevelStart[leaf+1]
	s := &Search{cluster: c, leaf: leaf, st: make([]tally, n), Leader: -1,
		child: make([]span, n), rank: make([]int32, n), byRank: make([]int32, n)}
	for i := range n {
		d := &c.Domains[i]
		s.child[i], s.rank[i] = span{d.FirstChild, d.LastChild}, d.NameRank
		s.byRank[c.LevelStart[d.Level]+d.NameRank] = i
	}
	return s
}

// span is the children of a domain.
type span struct{ first, last int32 }

// LeafLevel returns the lowest level of the topology.
func (s *Search) LeafLevel() int32 { return s.leaf }

// Place searches for the request over leaves that were filled for it and reports whether
// all pods have a place. The answer is in Slots and Leader, or in Failure.
func (s *Search) Place(r *Request, in *Leaves) bool {
	s.begin(r)
	s.fillCounts(in)
	level, done := int32(0), false
	if r.Balanced && r.Mode == workloads.TopologyPreferred {
		level, done = s.balance()
	}
	if !done {
		var ok bool
		if level, ok = s.chooseLevel(); !ok {
			return false
		}
	}
	kept := s.descend(level, done)
	s.readAnswer()
	if !kept {
		s.Failure = Failure{Fit: s.need(), Want: s.need(), Level: level, Contradiction: true}
	}
	return kept
}

// begin prepares the buffers for a request.
func (s *Search) begin(r *Request) {
	s.r = *r
	s.size, s.level = r.sliceSize(), r.sliceLevel(s.leaf)
	s.sizeAt = [topology.MaxLevels]int32{}
	for i := int32(1); i < r.NLayers; i++ {
		for l := r.Layers[i-1].Level + 1; l <= r.Layers[i].Level; l++ {
			s.sizeAt[l] = r.Layers[i].Size
		}
	}
	s.chosen, s.next = s.chosen[:0], s.next[:0]
	s.Slots, s.Leader = s.Slots[:0], -1
}

// leaders is the number of leaders asked for.
func (s *Search) leaders() int32 {
	if s.r.Leader {
		return 1
	}
	return 0
}

// need is the number of slices asked for.
func (s *Search) need() int32 { return s.r.Count / s.size }

// fail notes how many slices would have fit.
func (s *Search) fail(level, fit int32) bool {
	s.Failure = Failure{Fit: fit, Want: s.need(), Level: level}
	return false
}

// readAnswer turns the chosen leaves into slots, in the order of their names.
func (s *Search) readAnswer() {
	base := s.cluster.LevelStart[s.leaf]
	for _, d := range s.chosen {
		if s.st[d].leader > 0 {
			s.Leader = d - base
		}
		if n := s.st[d].pods; n > 0 {
			s.Slots = append(s.Slots, Slot{Leaf: d - base, Count: n})
		}
	}
	s.sortSlots()
}

// Pods is the number of pods in Slots.
func (s *Search) Pods() int32 {
	var n int32
	for _, slot := range s.Slots {
		n += slot.Count
	}
	return n
}

// sortSlots orders the answer by the names of the leaves. Ranks of pods follow it.
func (s *Search) sortSlots() {
	base := s.cluster.LevelStart[s.leaf]
	slices.SortStableFunc(s.Slots, func(a, b Slot) int { return int(s.rank[base+a.Leaf] - s.rank[base+b.Leaf]) })
}
