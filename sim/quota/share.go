package quota

import (
	"cmp"
	"math/bits"
)

// Share is a node's dominant resource share: the largest, over the resources, of what it
// borrows in all flavors over what its parent could lend it. It is kept as two integers
// and a weight, so that shares compare exactly.
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
			c = compareProducts(b, s.Lendable, 1, s.Borrowed, lend, 1)
		}
		if c > 0 || c == 0 && nameOrder[r] < nameOrder[s.Dominant] {
			s.Borrowed, s.Lendable, s.Dominant = b, lend, int8(r)
		}
	}
	return s
}

// infinite reports a node of weight 0 that borrows.
func (s *Share) infinite() bool { return s.Weight == 0 && s.Borrowing }

// Compare orders shares. A node of weight 0 that borrows is above all others; two such
// compare by their ratios.
func (s *Share) Compare(o *Share) int {
	if s.Weight > 0 && o.Weight > 0 && (s.Weight == o.Weight && s.Lendable == o.Lendable || s.Borrowed == 0 || o.Borrowed == 0) {
		return cmp.Compare(s.Borrowed, o.Borrowed) // most siblings
	}
	switch si, oi := s.infinite(), o.infinite(); {
	case si && oi:
		return compareProducts(s.Borrowed, o.Lendable, 1, o.Borrowed, s.Lendable, 1)
	case si:
		return 1
	case oi:
		return -1
	}
	return compareProducts(s.Borrowed, o.Lendable, max(1, o.Weight), o.Borrowed, s.Lendable, max(1, s.Weight))
}

// compareProducts compares a1 x a2 x a3 with b1 x b2 x b3; none is negative. The products
// have up to 192 bits.
func compareProducts(a1, a2, a3, b1, b2, b3 int64) int {
	x, y := product(uint64(a1), uint64(a2), uint64(a3)), product(uint64(b1), uint64(b2), uint64(b3))
	for i := range x {
		if c := cmp.Compare(x[i], y[i]); c != 0 {
			return c
		}
	}
	return 0
}

// product returns a x b x c, most significant word first.
func product(a, b, c uint64) [3]uint64 {
	hi, lo := bits.Mul64(a, b)
	mid, low := bits.Mul64(lo, c)
	top, second := bits.Mul64(hi, c)
	second, carry := bits.Add64(second, mid, 0)
	return [3]uint64{top + carry, second, low}
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
