package stats

import (
	"math"
	"slices"
)

// doubledRanks returns twice the rank of each value, counting from 1: values that are
// equal share the mean of their ranks, whose double is whole. ties is the sum of t^3 - t
// over the groups of t equal values. Infinities are equal to themselves. O(n log n).
//
// It panics if a value is NaN.
func doubledRanks(values []float64) (ranks []int64, ties float64) {
	order := make([]int, len(values))
	for i, v := range values {
		if math.IsNaN(v) {
			panic("stats: a value is NaN")
		}
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		if values[a] < values[b] {
			return -1
		}
		return int(asBit(values[a] > values[b]))
	})
	ranks = make([]int64, len(values))
	for from := 0; from < len(order); {
		to := from + 1
		for to < len(order) && values[order[to]] == values[order[from]] {
			to++
		}
		for _, i := range order[from:to] {
			ranks[i] = int64(from + 1 + to)
		}
		t := float64(to - from)
		ties += float64(float64(t*t)*t) - t
		from = to
	}
	return ranks, ties
}

func asBit(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// subsets counts the subsets of at most most items by size and sum: subsets(items, m)[k][s] have
// k of the items, which are not negative, and sum to s. Counts are exact as long as there
// are fewer than 2^63 subsets of a size. O(n most sum).
func subsets(items []int64, most int) [][]int64 {
	sum := int64(0)
	for _, x := range items {
		sum += x
	}
	counts := make([][]int64, most+1)
	for k := range counts {
		counts[k] = make([]int64, sum+1)
	}
	counts[0][0] = 1
	for _, x := range items {
		for k := most; k > 0; k-- {
			for s := sum; s >= x; s-- {
				counts[k][s] += counts[k-1][s-x]
			}
		}
	}
	return counts
}

// twoSided doubles a one-sided p, which is at most 1 together.
func twoSided(p float64) float64 { return min(1, 2*p) }
