package stage

import (
	"math/bits"
)

// SampleSize is how many feasible nodes kube-scheduler looks for: all below 100 nodes, then
// a share that falls with their number, never below 5% or 100 nodes.
func SampleSize(nodes int) int {
	if nodes < 100 {
		return nodes
	}
	return max(100, nodes*max(5, 50-nodes/125)/100)
}

// mostSampled is how many classes Sample goes by at most; with more, one had better look at
// the nodes.
const mostSampled = 64

// sampled is a feasible class of a sample.
type sampled struct {
	rating int32
	nodes  []uint64
}

// Sample finds the node that a look at one node after another would: from a node on, over the
// end to the beginning, until enough are feasible. Of those it returns the one with the
// highest rating that is first in the cluster, or -1; and the node that the next search
// begins with. It goes by the classes' nodes, a word at a time, and is not ok when there are
// too many classes, or nodes that are aside.
func (f *Fleet) Sample(w *Want, from int32, enough int) (node, next int32, ok bool) {
	if len(f.aside) > 0 || !f.findSampled(w) {
		return -1, from, false
	}
	node, next = goBy(f.sampled, int32(len(f.kindOf)), from, enough)
	return node, next, true
}

// goBy samples n nodes by the classes that are feasible.
func goBy(classes []sampled, n, from int32, enough int) (node, next int32) {
	s := sampling{classes: classes, best: NotFeasible, node: -1, left: enough}
	if next = s.look(from, n); s.left > 0 {
		if next = s.look(0, from); s.left > 0 {
			next = from
		}
	}
	return s.node, next % n
}

// findSampled lists the classes that are feasible.
func (f *Fleet) findSampled(w *Want) bool {
	live := f.groups.Live()
	if len(live) > mostSampled {
		return false
	}
	f.sampled = f.sampled[:0]
	row := f.row(w.Shape)
	for _, class := range live {
		if rating := f.rate(row, w, class); rating != NotFeasible {
			f.sampled = append(f.sampled, sampled{rating, f.groups.Nodes(class)})
		}
	}
	return true
}

// sampling is a sample in the making.
type sampling struct {
	classes    []sampled
	best, node int32
	left       int // feasible nodes to be found
}

// look takes the feasible nodes from one on and before another, and returns where it ended.
func (s *sampling) look(from, to int32) int32 {
	for word := from >> 6; word<<6 < to && s.left > 0; word++ {
		mask := uint64(1)<<min(64, to-word<<6) - 1
		if first := word << 6; first < from {
			mask &^= 1<<(from-first) - 1
		}
		feasible := uint64(0)
		for i := range s.classes {
			feasible |= s.classes[i].nodes[word]
		}
		feasible &= mask
		if found := bits.OnesCount64(feasible); found < s.left {
			s.left -= found
		} else {
			last := nth(feasible, s.left)
			mask &= uint64(2)<<last - 1
			s.left, to = 0, word<<6+last+1
		}
		if feasible&mask != 0 {
			s.take(word, mask)
		}
	}
	return to
}

// take compares the nodes of a word.
func (s *sampling) take(word int32, mask uint64) {
	for i := range s.classes {
		c := &s.classes[i]
		nodes := c.nodes[word] & mask
		if nodes == 0 || c.rating < s.best {
			continue
		}
		if node := word<<6 + int32(bits.TrailingZeros64(nodes)); c.rating > s.best || node < s.node {
			s.best, s.node = c.rating, node
		}
	}
}

// nth returns the place of a word's n-th bit that is set, from 1.
func nth(word uint64, n int) int32 {
	for ; n > 1; n-- {
		word &= word - 1
	}
	return int32(bits.TrailingZeros64(word))
}
