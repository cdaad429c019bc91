package stats

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"
)

func sample(missing int, values ...int64) *Sample {
	s := &Sample{}
	for _, v := range values {
		s.Add(v)
	}
	for range missing {
		s.AddMissing()
	}
	return s
}

func count(n int64) []int64 {
	v := make([]int64, n)
	for i := range v {
		v[i] = int64(i) + 1
	}
	return v
}

func TestQuantileIsNearestRank(t *testing.T) {
	cases := []struct {
		name    string
		sample  *Sample
		p       int
		want    int64
		present bool
	}{
		{"ten values, p50 is the fifth", sample(0, count(10)...), 50, 5, true},
		{"ten values, p90 is the ninth", sample(0, count(10)...), 90, 9, true},
		{"ten values, p91 rounds up to the tenth", sample(0, count(10)...), 91, 10, true},
		{"ten values, p95 is the tenth", sample(0, count(10)...), 95, 10, true},
		{"a hundred values, p99", sample(0, count(100)...), 99, 99, true},
		{"101 values, p99 is rank ceil(99.99)", sample(0, count(101)...), 99, 100, true},
		{"p1 is the smallest", sample(0, count(10)...), 1, 1, true},
		{"one value is every quantile", sample(0, 7), 1, 7, true},
		{"two values, p50 is the lower", sample(0, 9, 3), 50, 3, true},
		{"two values, p51 is the upper", sample(0, 9, 3), 51, 9, true},
		{"equal values", sample(0, 4, 4, 4, 9), 75, 4, true},
		{"missing ones count in N", sample(5, count(5)...), 50, 5, true},
		{"and are greater than all", sample(5, count(5)...), 51, 0, false},
		{"one missing of a hundred spares p99", sample(1, count(99)...), 99, 99, true},
		{"two missing of a hundred do not", sample(2, count(98)...), 99, 0, false},
		{"all missing", sample(3), 1, 0, false},
		{"empty", sample(0), 50, 0, false},
		{"negative values", sample(0, -5, 5, 0), 50, 0, true},
	}
	for _, c := range cases {
		got, present := c.sample.Quantile(c.p)
		if got != c.want || present != c.present {
			t.Errorf("%s: Quantile(%d) = %d, %v, want %d, %v", c.name, c.p, got, present, c.want, c.present)
		}
	}
}

func TestQuantileOutsideItsRangePanics(t *testing.T) {
	for _, p := range []int{-1, 0, 101} {
		mustPanic(t, func() { sample(0, 1).Quantile(p) })
		mustPanic(t, func() { WeightedQuantile([]float64{1}, nil, p) })
	}
}

func mustPanic(t *testing.T, f func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	f()
}

func TestMax(t *testing.T) {
	if got, ok := sample(0, 3, 9, 5).Max(); got != 9 || !ok {
		t.Errorf("Max = %d, %v", got, ok)
	}
	if _, ok := sample(1, 3, 9, 5).Max(); ok {
		t.Error("a maximum over a missing value is present")
	}
	if _, ok := sample(0).Max(); ok {
		t.Error("an empty sample has a maximum")
	}
}

func TestMean(t *testing.T) {
	const big = math.MaxInt64
	cases := []struct {
		name   string
		sample *Sample
		want   float64
	}{
		{"missing ones are left out", sample(7, 1, 2, 6), 3},
		{"fractions", sample(0, 1, 2), 1.5},
		{"negative", sample(0, -1, -2), -1.5},
		{"mixed signs", sample(0, -10, 4), -3},
		{"no overflow", sample(0, big, big, big), big},
		{"no overflow below", sample(0, math.MinInt64, math.MinInt64), math.MinInt64},
		{"cancellation is exact", sample(0, big, 1, -big), 1.0 / 3},
		{"zero", sample(0, 0, 0), 0},
	}
	for _, c := range cases {
		if got, ok := c.sample.Mean(); got != c.want || !ok {
			t.Errorf("%s: Mean = %v, %v, want %v", c.name, got, ok, c.want)
		}
	}
	if _, ok := sample(3).Mean(); ok {
		t.Error("a sample of missing values has a mean")
	}
}

func TestLenAndMissing(t *testing.T) {
	s := sample(2, 1, 2, 3)
	if s.Len() != 5 || s.Missing() != 2 {
		t.Errorf("Len = %d, Missing = %d", s.Len(), s.Missing())
	}
}

func TestAddAfterQuantileSortsAgain(t *testing.T) {
	s := sample(0, 5, 9)
	s.Quantile(50)
	s.Add(1)
	if got, _ := s.Quantile(1); got != 1 {
		t.Errorf("the smallest is %d", got)
	}
}

// gonum's empirical quantile is the same definition for finite samples, in floats.
func TestQuantileAgreesWithGonum(t *testing.T) {
	x := uint64(1)
	for n := 1; n < 120; n++ {
		var s Sample
		values := make([]float64, n)
		for i := range values {
			x = x*6364136223846793005 + 1442695040888963407
			v := int64(x >> 44)
			s.Add(v)
			values[i] = float64(v)
		}
		slices.Sort(values)
		for _, p := range []int{25, 50, 75, 100} { // exact in binary, so gonum's rank is too
			got, _ := s.Quantile(p)
			if want := stat.Quantile(float64(p)/100, stat.Empirical, values, nil); float64(got) != want {
				t.Fatalf("n=%d p=%d: %d, gonum says %v", n, p, got, want)
			}
		}
	}
}
