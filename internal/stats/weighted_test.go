package stats

import (
	"math"
	"testing"
)

var inf = math.Inf(1)

func weigh(weights ...uint64) []Uint128 {
	w := make([]Uint128, len(weights))
	for i, x := range weights {
		w[i].Lo = x
	}
	return w
}

func TestWeightedQuantile(t *testing.T) {
	huge := []Uint128{{Hi: 1 << 62}, {Hi: 1 << 62}, {Lo: 1}}
	cases := []struct {
		name    string
		values  []float64
		weights []Uint128
		p       int
		want    float64
		present bool
	}{
		{"nil weights are one each", []float64{4, 1, 3, 2}, nil, 50, 2, true},
		{"a heavy value takes the median", []float64{1, 2, 3}, weigh(1, 1, 8), 50, 3, true},
		{"up to its edge", []float64{1, 2, 3}, weigh(3, 2, 5), 50, 2, true},
		{"just past it", []float64{1, 2, 3}, weigh(3, 2, 5), 51, 3, true},
		{"order does not matter", []float64{3, 1, 2}, weigh(5, 3, 2), 50, 2, true},
		{"equal values add up", []float64{1, 2, 2, 3}, weigh(1, 4, 4, 1), 90, 2, true},
		{"weightless values are never chosen", []float64{0, 1}, weigh(0, 1), 1, 1, true},
		{"missing", []float64{1, inf}, weigh(1, 1), 51, 0, false},
		{"missing, but light", []float64{1, inf}, weigh(99, 1), 99, 1, true},
		{"nothing weighs anything", []float64{1, 2}, weigh(0, 0), 50, 0, false},
		{"empty", nil, nil, 50, 0, false},
		{"128 bits", []float64{1, 2, 3}, huge, 50, 2, true},
		{"128 bits, the last one", []float64{1, 2, 3}, huge, 100, 3, true},
	}
	for _, c := range cases {
		got, present := WeightedQuantile(c.values, c.weights, c.p)
		if present != c.present || present && got != c.want {
			t.Errorf("%s: %v, %v, want %v, %v", c.name, got, present, c.want, c.present)
		}
	}
}

// Weights of one are the unweighted quantile; weights of k are k copies of each value.
func TestWeightedQuantileOfCopies(t *testing.T) {
	values := []float64{9, 4, 7, 1, 4, 8, 2}
	var plain Sample
	var weights []Uint128
	for i, v := range values {
		for range i + 1 {
			plain.Add(int64(v))
		}
		weights = append(weights, Uint128{Lo: uint64(i) + 1})
	}
	for p := 1; p <= 100; p++ {
		got, _ := WeightedQuantile(values, weights, p)
		if want, _ := plain.Quantile(p); got != float64(want) {
			t.Errorf("p%d = %v, want %d", p, got, want)
		}
	}
}

func TestWeightedMean(t *testing.T) {
	cases := []struct {
		name    string
		values  []float64
		weights []Uint128
		want    float64
		present bool
	}{
		{"nil weights", []float64{1, 2, 6}, nil, 3, true},
		{"weights", []float64{1, 5}, weigh(3, 1), 2, true},
		{"missing ones are left out", []float64{inf, 1, 5}, weigh(100, 3, 1), 2, true},
		{"all missing", []float64{inf}, nil, 0, false},
		{"weightless", []float64{1}, weigh(0), 0, false},
		{"empty", nil, nil, 0, false},
		{"128 bits", []float64{1, 2}, []Uint128{{Hi: 1 << 40}, {Hi: 3 << 40}}, 1.75, true},
	}
	for _, c := range cases {
		got, present := WeightedMean(c.values, c.weights)
		if got != c.want || present != c.present {
			t.Errorf("%s: %v, %v, want %v, %v", c.name, got, present, c.want, c.present)
		}
	}
}

func TestWeightedMeanIgnoresTheOrder(t *testing.T) {
	values := []float64{0.1, 1e16, 0.3, 0.1, 7}
	weights := weigh(3, 1, 9, 1<<60, 5)
	want, _ := WeightedMean(values, weights)
	for range values {
		values = append(values[1:], values[0])
		weights = append(weights[1:], weights[0])
		if got, _ := WeightedMean(values, weights); got != want {
			t.Errorf("%v after a rotation, %v before", got, want)
		}
	}
}

func TestWeightedPreconditions(t *testing.T) {
	mustPanic(t, func() { WeightedQuantile([]float64{1, 2}, weigh(1), 50) })
	mustPanic(t, func() { WeightedMean([]float64{1, 2}, weigh(1, 2, 3)) })
	mustPanic(t, func() { WeightedQuantile([]float64{math.NaN()}, nil, 50) })
	mustPanic(t, func() { WeightedMean([]float64{math.NaN()}, nil) })
}

func TestWeightedLeavesItsInputAlone(t *testing.T) {
	values, weights := []float64{3, 1}, weigh(1, 2)
	WeightedQuantile(values, weights, 50)
	WeightedMean(values, weights)
	if values[0] != 3 || weights[0].Lo != 1 {
		t.Error("the input was sorted in place")
	}
}
