package stats

import (
	"math/bits"
	"slices"
)

// Sample is a collection of int64 values of one unit, usually nanoseconds, some of which
// are missing. A missing value is greater than every other. The zero Sample is empty.
type Sample struct {
	values  []int64
	missing int
	sorted  bool
}

// Add adds a value.
func (s *Sample) Add(v int64) {
	s.values = append(s.values, v)
	s.sorted = false
}

// AddMissing adds a value that never came to be.
func (s *Sample) AddMissing() { s.missing++ }

// Len returns how many values there are, the missing ones included.
func (s *Sample) Len() int { return len(s.values) + s.missing }

// Missing returns how many values are missing.
func (s *Sample) Missing() int { return s.missing }

// Quantile returns the nearest-rank quantile of p percent, 1 to 100. It reports false
// when the rank falls among the missing values or the sample is empty. The first call
// after an Add sorts: O(n log n).
func (s *Sample) Quantile(p int) (int64, bool) {
	checkPercent(p)
	rank := (int64(p)*int64(s.Len()) + 99) / 100
	if rank == 0 || rank > int64(len(s.values)) {
		return 0, false
	}
	if !s.sorted {
		slices.Sort(s.values)
		s.sorted = true
	}
	return s.values[rank-1], true
}

// Max returns the largest value. It reports false when any value is missing or the
// sample is empty.
func (s *Sample) Max() (int64, bool) { return s.Quantile(100) }

// Mean returns the mean of the values that are not missing, and false if there are none.
// The sum is exact in 128 bits; only the result is rounded.
func (s *Sample) Mean() (float64, bool) {
	n := uint64(len(s.values))
	if n == 0 {
		return 0, false
	}
	var sum Uint128 // two's complement
	for _, v := range s.values {
		sum = sum.Plus(Uint128{Hi: uint64(v >> 63), Lo: uint64(v)})
	}
	if sum.Hi>>63 == 1 {
		return -sum.negated().over(n), true
	}
	return sum.over(n), true
}

// over returns u / n for a quotient below 2^64, that is u.Hi < n.
func (u Uint128) over(n uint64) float64 {
	quotient, rest := bits.Div64(u.Hi, u.Lo, n)
	return float64(quotient) + float64(rest)/float64(n)
}
