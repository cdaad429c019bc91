// Package devices keeps what is free of every GPU of a node. A pod asks for whole GPUs or
// for a part of one; parts are not put together from several GPUs, so that a node may have
// free what no pod can use.
package devices

import "math/bits"

// Max is the most GPUs of a node, Whole one GPU in milli.
const (
	Max   = 16
	Whole = 1000
)

// Ask is so many GPUs, each to so many milli. Count is 1 unless Milli is Whole; the zero
// Ask is that of a pod without GPUs.
type Ask struct {
	Count, Milli int32
}

// NewAsk returns the ask of a total in milli: a part of one GPU below Whole, else whole
// GPUs. ok is false for whole GPUs and a part, which no pod can ask for.
func NewAsk(total int64) (a Ask, ok bool) {
	if total < Whole {
		return Ask{min(1, int32(total)), int32(total)}, total >= 0
	}
	return Ask{int32(total / Whole), Whole}, total%Whole == 0
}

// Total returns the ask in milli.
func (a Ask) Total() int64 { return int64(a.Count) * int64(a.Milli) }

// Mask is a set of GPUs of a node, a bit each.
type Mask uint16

// Set is the free milli of each GPU of a node. The zero Set has no GPU. Sets compare with ==.
type Set struct {
	free [Max]int16
	n    int16
}

// NewSet returns a node with n free GPUs, which must not be more than Max.
func NewSet(n int) Set {
	s := Set{n: int16(n)}
	for i := range n {
		s.free[i] = Whole
	}
	return s
}

// Len returns the number of GPUs.
func (s *Set) Len() int { return int(s.n) }

// Free returns the free milli of a GPU.
func (s *Set) Free(gpu int) int64 { return int64(s.free[gpu]) }

// Total returns the free milli of all GPUs.
func (s *Set) Total() int64 {
	total := int64(0)
	for _, f := range s.free[:s.n] {
		total += int64(f)
	}
	return total
}

// TotalOf returns the free milli of the GPUs of a mask.
func (s *Set) TotalOf(m Mask) int64 {
	total := int64(0)
	for ; m != 0; m &= m - 1 {
		total += int64(s.free[m.Lowest()])
	}
	return total
}

// FullyFree returns the number of GPUs of which everything is free.
func (s *Set) FullyFree() int {
	n := 0
	for _, f := range s.free[:s.n] {
		if f == Whole {
			n++
		}
	}
	return n
}

// With returns the GPUs that have at least so many milli free.
func (s *Set) With(milli int32) Mask {
	var m Mask
	for i, f := range s.free[:s.n] {
		if int32(f) >= milli {
			m |= 1 << i
		}
	}
	return m
}

// Fits reports whether an ask can be met.
func (s *Set) Fits(a Ask) bool { return a.Count == 0 || s.With(a.Milli).Len() >= int(a.Count) }

// CountOf returns how often an ask for GPUs can be met.
func (s *Set) CountOf(a Ask) int64 {
	n := int64(0)
	for _, f := range s.free[:s.n] {
		n += int64(int32(f) / a.Milli)
	}
	return n / int64(a.Count)
}

// Best returns the GPUs an ask that fits is given: for a part the one with the least free
// that suffices, for whole GPUs those that are free; the first of equals.
func (s *Set) Best(a Ask) Mask {
	if a.Count == 0 {
		return 0
	}
	if a.Milli == Whole {
		return s.With(Whole).first(int(a.Count))
	}
	best := -1
	for i, f := range s.free[:s.n] {
		if int32(f) >= a.Milli && (best < 0 || f < s.free[best]) {
			best = i
		}
	}
	return 1 << best
}

// Take takes milli of each GPU of a mask; a negative amount gives back.
func (s *Set) Take(m Mask, milli int32) {
	for ; m != 0; m &= m - 1 {
		s.free[bits.TrailingZeros16(uint16(m))] -= int16(milli)
	}
}

// Len returns the number of GPUs in the mask.
func (m Mask) Len() int { return bits.OnesCount16(uint16(m)) }

// Lowest returns the number of the mask's first GPU.
func (m Mask) Lowest() int { return bits.TrailingZeros16(uint16(m)) }

// Nth returns the n-th GPU of the mask, from 0, as a mask.
func (m Mask) Nth(n int) Mask {
	for range n {
		m &= m - 1
	}
	return m & -m
}

// first returns the first n GPUs of the mask.
func (m Mask) first(n int) Mask {
	var out Mask
	for range n {
		out |= m & -m
		m &= m - 1
	}
	return out
}
