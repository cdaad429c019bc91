package stats

import (
	"cmp"
	"math"
	"slices"
)

// WeightedQuantile returns the nearest-rank quantile of p percent, 1 to 100, of values
// with weights: the smallest value such that it and all smaller ones together weigh at
// least ceil(p W / 100), W being the weight of all. Nil weights weigh one each. +Inf
// stands for a missing value. It reports false when the rank falls among the missing
// values or nothing weighs anything.
//
// It panics if the lengths differ or a value is NaN. O(n log n).
func WeightedQuantile(values []float64, weights []Uint128, p int) (float64, bool) {
	checkPercent(p)
	points := ascending(values, weights)
	rank := total(points).percent(uint64(p))
	if rank.IsZero() {
		return 0, false
	}
	var below Uint128
	for _, x := range points {
		below = below.Plus(x.weight)
		if below.Compare(rank) >= 0 {
			return x.value, !math.IsInf(x.value, 1)
		}
	}
	panic("stats: a quantile's rank exceeds the total weight")
}

// WeightedMean returns the mean of the values that are not missing, weighted as in
// WeightedQuantile, and false if nothing weighs anything. It sums in ascending order of
// value and weight, so that the order given does not change the last bit.
//
// It panics if the lengths differ or a value is NaN. O(n log n).
func WeightedMean(values []float64, weights []Uint128) (float64, bool) {
	points := ascending(values, weights)
	present := points
	for len(present) > 0 && math.IsInf(present[len(present)-1].value, 1) {
		present = present[:len(present)-1]
	}
	weight := total(present)
	if weight.IsZero() {
		return 0, false
	}
	var sum float64
	for _, x := range present {
		sum += float64(x.value * x.weight.Float64())
	}
	return sum / weight.Float64(), true
}

// point is a value with its weight.
type point struct {
	value  float64
	weight Uint128
}

// ascending pairs values with weights and sorts them by (value, weight). Points that are
// equal in both are the same point, so there is nothing left to break ties between.
func ascending(values []float64, weights []Uint128) []point {
	if weights != nil && len(weights) != len(values) {
		panic("stats: slice length mismatch")
	}
	points := make([]point, len(values))
	for i, v := range values {
		if math.IsNaN(v) {
			panic("stats: a value is NaN")
		}
		points[i] = point{v, Uint128{Lo: 1}}
		if weights != nil {
			points[i].weight = weights[i]
		}
	}
	slices.SortStableFunc(points, func(a, b point) int {
		return cmp.Or(cmp.Compare(a.value, b.value), a.weight.Compare(b.weight))
	})
	return points
}

func total(points []point) Uint128 {
	var sum Uint128
	for _, x := range points {
		sum = sum.Plus(x.weight)
	}
	return sum
}
