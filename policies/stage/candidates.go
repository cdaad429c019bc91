package stage

import "math/bits"

// This file is how a Fleet and a Profile compare feasible nodes with each other. Nodes of a
// class that lie in a stretch of the cluster where nothing else tells them apart are
// compared by the first of them.

// Candidate is a feasible node as the score plugins see it.
type Candidate struct {
	Node   int32
	Rating int64 // weighted, of the plugins that look at one node only
	Raw    Raw
}

// Raw are the raw scores of the plugins that compare nodes, by plugin.
type Raw [InterPodAffinity + 1]int64

// Compares reports whether the nodes differ in what a pod prefers of them.
func (f *Fleet) Compares(w *Want) bool { return f.devices == nil && !f.plain[w.Liking] }

// Candidate returns a node as a candidate, if it is feasible.
func (f *Fleet) Candidate(w *Want, node int32) (c Candidate, ok bool) {
	rating := f.Rate(w, node)
	if rating == NotFeasible {
		return c, false
	}
	return f.candidate(w, node, rating), true
}

func (f *Fleet) candidate(w *Want, node, rating int32) Candidate {
	l := f.likes[f.kindOf[node]][w.Liking]
	return Candidate{node, int64(rating), Raw{TaintToleration: l.taints, NodeAffinity: l.preference}}
}

// Classes returns how many classes of nodes there are, and nodes that are aside.
func (f *Fleet) Classes() int { return len(f.groups.Live()) + len(f.aside) }

// Between appends the first feasible node of each class in the stretch [first, last), and all
// that are aside.
func (f *Fleet) Between(w *Want, first, last int32, to []Candidate) []Candidate {
	row := f.row(w.Shape)
	for _, class := range f.groups.Live() {
		if value := f.rate(row, w, class); value != NotFeasible {
			if n := f.groups.Next(class, first, last); n >= 0 {
				to = append(to, f.candidate(w, n, value))
			}
		}
	}
	for i, n := range f.aside {
		if n >= first && n < last {
			if value := f.rateAside(w, i); value != NotFeasible {
				to = append(to, f.candidate(w, n, value))
			}
		}
	}
	return to
}

// Mark sets the bits of the feasible nodes in the stretch [first, last).
func (f *Fleet) Mark(w *Want, first, last int32, marks []uint64) {
	row := f.row(w.Shape)
	for _, class := range f.groups.Live() {
		if f.rate(row, w, class) != NotFeasible {
			f.groups.Mark(class, first, last, marks)
		}
	}
	for i, n := range f.aside {
		if n >= first && n < last && f.rateAside(w, i) != NotFeasible {
			marks[n>>6] |= 1 << (n & 63)
		}
	}
}

// Full reports whether some node in the stretch [first, last) that is up, and that a pod may
// go to, lacks room for it.
func (f *Fleet) Full(w *Want, first, last int32) bool {
	row := f.row(w.Shape)
	for _, class := range f.groups.Live() {
		if f.rate(row, w, class) == NotFeasible && !f.kinds[f.groups.Key(class).kind].refuses(w) && f.groups.Next(class, first, last) >= 0 {
			return true
		}
	}
	for i, n := range f.aside {
		if n >= first && n < last && f.rateAside(w, i) == NotFeasible && !f.Refuses(w, n) {
			return true
		}
	}
	return false
}

// Next returns a class's first node in the stretch [first, last), or -1.
func (g *Groups[K]) Next(class, first, last int32) int32 {
	if first <= g.first[class] {
		if g.first[class] < last {
			return g.first[class]
		}
		return -1
	}
	nodes := g.classes[class].nodes
	for word := int(first >> 6); word<<6 < int(last); word++ {
		w := nodes[word]
		if word == int(first>>6) {
			w &^= 1<<(first&63) - 1
		}
		if w != 0 {
			if n := int32(word<<6 + bits.TrailingZeros64(w)); n < last {
				return n
			}
			return -1
		}
	}
	return -1
}

// Mark sets the bits of a class's nodes in the stretch [first, last).
func (g *Groups[K]) Mark(class, first, last int32, marks []uint64) {
	nodes := g.classes[class].nodes
	for word := int(first >> 6); word<<6 < int(last); word++ {
		marks[word] |= nodes[word] & stretch(word, first, last)
	}
}

// stretch is the part of a word of bits that lies in [first, last).
func stretch(word int, first, last int32) uint64 {
	mask := ^uint64(0)
	if from := int(first) - word<<6; from > 0 {
		mask &^= 1<<from - 1
	}
	if to := int(last) - word<<6; to < 64 {
		mask &= 1<<to - 1
	}
	return mask
}

// AnyMarked reports whether a bit is set in the stretch [first, last).
func AnyMarked(marks []uint64, first, last int32) bool {
	for word := int(first >> 6); word<<6 < int(last); word++ {
		if marks[word]&stretch(word, first, last) != 0 {
			return true
		}
	}
	return false
}

// Compare adds to the ratings of candidates what the plugins give that compare nodes, among
// these candidates, and returns the room it needed.
func (p *Profile) Compare(list []Candidate, room []int64) []int64 {
	for plugin, normalize := range [...]func([]int64){NormalizeTaints, NormalizePreference, NormalizeSpread, NormalizeAffinity} {
		room = room[:0]
		different := false
		for i := range list {
			room = append(room, list[i].Raw[plugin])
			different = different || list[i].Raw[plugin] != list[0].Raw[plugin]
		}
		if !different || p.Weights[plugin] == 0 {
			continue // all get the same
		}
		normalize(room)
		for i := range list {
			list[i].Rating += p.Weights[plugin] * room[i]
		}
	}
	return room
}
