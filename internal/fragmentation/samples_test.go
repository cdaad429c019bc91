package fragmentation

import (
	"math"
	"testing"
)

func TestPoints(t *testing.T) {
	s := &Samples{capacity: 100_000, rows: []sample{
		{arrived: 400, used: 400, fragments: 1000}, // 0.4 % counts at 0
		{arrived: 500, used: 400, fragments: 1000}, // 0.5 % is rounded to even
		{arrived: 2000, used: 1900, fragments: 981},
		{arrived: 2000, used: 1900, fragments: 981},
		{arrived: 140_000, used: 100_000}, // beyond the table
	}}
	got := map[int]Point{}
	for _, p := range s.Points() {
		got[p.Arrived] = p
	}
	for _, want := range []Point{
		{0, 0.4, 1, 1},     // 1000 of 99600 free is 1.00 %
		{1, 1.15, 0.99, 1}, // no sample: the mean of those at 0 and 2
		{2, 1.9, 0.98, 1},  // 981 of 98100
		{3, 1.9, 0.98, 1},  // no sample: those at 2
	} {
		if g := got[want.Arrived]; math.Abs(g.Allocated-want.Allocated)+math.Abs(g.FragmentAmount-want.FragmentAmount)+
			math.Abs(g.FragmentRatio-want.FragmentRatio) > 0.011 {
			t.Errorf("%+v, want %+v", g, want)
		}
	}
	if _, ok := got[4]; ok || len(got) != 4 {
		t.Errorf("points where nothing arrived: %v", got)
	}
}

func TestPairwise(t *testing.T) {
	for _, n := range []int{0, 1, 7, 8, 9, 127, 128, 129, 136, 1000} {
		x, want := make([]float64, n), 0.0
		for i := range x {
			x[i] = float64(i * i)
			want += x[i]
		}
		if got := pairwise(x); got != want { // integers: every order is exact
			t.Errorf("%d numbers: %v, want %v", n, got, want)
		}
	}
	// Eight partial sums: 1e16 swallows ones only in its own.
	x := []float64{1e16, 1, 1, 1, 1, 1, 1, 1, -1e16, 1, 1, 1, 1, 1, 1, 1}
	if got := pairwise(x); got != 14 {
		t.Errorf("%v, want 14", got)
	}
}

func TestRound2(t *testing.T) {
	for _, c := range [][2]float64{{1.005, 1.00}, {1.015, 1.01}, {0.125, 0.12}, {0.375, 0.38}, {98.765, 98.76}} {
		if got := round2(c[0]); math.Abs(got-c[1]) > 0.0101 {
			t.Errorf("%v: %v", c[0], got)
		}
	}
	if round2(0.125) != 0.12 || round2(0.375) != 0.38 {
		t.Error("halves do not go to even")
	}
}
