package quota

import "cmp"

// Share is a node's dominant resource share: the largest, over the resources, of what it
// borrows in all flavors over what its parent could lend it.
type Share struct {
	Borrowed, Lendable int64 // of the dominant resource
	Weight             int64 // in thousandths
	Dominant           int8  // resource, or -1
	Borrowing          bool  // it borrows anything at all
}

// nameOrder ranks the resources by name, for ties: nvidia.com/gpu, cpu, memory, pods.
var nameOrder = [Resources]int{2, 0, 1, 3}

// Share returns the share of a node. A root has none.
func (t *Tree) Share(node int32) Share { return t.shareWith(node, nil, 0) }

// ShareWithout returns the share that a node would have with less of something it uses, and
// ShareWith with more.
func (t *Tree) ShareWithout(node int32, less []Item) Share { return t.shareWith(node, less, -1) }
func (t *Tree) ShareWith(node int32, more []Item) Share    { return t.shareWith(node, more, 1) }

func (t *Tree) shareWith(node int32, items []Item, sign int64) Share {
	s := Share{Lendable: 1, Weight: t.weight[node], Dominant: -1}
	if t.parent[node] == None {
		return s
	}
	var borrowed Amounts
	at := t.at(node, 0)
	usage, subtree := t.usage[at:at+t.frs], t.subtree[at:at+t.frs]
	for fr := range usage {
		over := usage[fr] - subtree[fr]
		for i := range items {
			if int(items[i].FR) == fr {
				over += sign * items[i].Amount
			}
		}
		if over > 0 {
			borrowed[fr%Resources] += over
			s.Borrowing = true
		}
	}
	if !s.Borrowing {
		return s
	}
	for r, b := range borrowed {
		lend := t.lendable[int(node)*Resources+r]
		if b <= 0 || lend <= 0 {
			continue
		}
		c := 1
		if s.Borrowed > 0 {
			c = cmp.Compare(ratio(b, lend), s.ratio())
		}
		if c > 0 || c == 0 && nameOrder[r] < nameOrder[s.Dominant] {
			s.Borrowed, s.Lendable, s.Dominant = b, lend, int8(r)
		}
	}
	return s
}

// infinite reports a node of weight 0 that borrows something that can be lent.
func (s *Share) infinite() bool { return s.Weight == 0 && s.Borrowed > 0 }

// exact is a bound below which thousandths of an amount are exact as floating-point numbers.
const exact = 1 << 43

// Compare orders shares. A node of weight 0 that borrows is above all others; two such
// compare by their ratios.
func (s *Share) Compare(o *Share) int {
	if s.Borrowed == 0 || o.Borrowed == 0 || s.Weight == o.Weight && s.Lendable == o.Lendable && s.Borrowed < exact && o.Borrowed < exact {
		return cmp.Compare(s.Borrowed, o.Borrowed) // most siblings
	}
	switch si, oi := s.infinite(), o.infinite(); {
	case si && oi:
		return cmp.Compare(s.ratio(), o.ratio())
	case si:
		return 1
	case oi:
		return -1
	}
	return cmp.Compare(s.weighted(), o.weighted())
}

// ratio is thousandths of what could be lent, and weighted that by the weight: in the
// floating-point numbers of Kueue, which are the same on every machine. Their roundings may
// part shares that are equal where weights differ.
func (s *Share) ratio() float64    { return ratio(s.Borrowed, s.Lendable) }
func (s *Share) weighted() float64 { return s.ratio() / (float64(s.Weight) / 1000) }

func ratio(borrowed, lendable int64) float64 {
	return float64(borrowed) * 1000 / float64(lendable)
}

// BorrowsAny reports whether a node uses more than its subtree quota of anything in a
// request.
func (t *Tree) BorrowsAny(node int32, request []Item) bool {
	for _, it := range request {
		if it.Amount > 0 && t.BorrowsWith(node, it.FR, 0) {
			return true
		}
	}
	return false
}
