package stats

import (
	"math"
	"testing"

	"golang.org/x/perf/benchmath"
)

// Every 2^n signs of the ranks, one by one.
func bruteSignedRank(ds []float64) float64 {
	var kept, sizes []float64
	for _, d := range ds {
		if d != 0 {
			kept, sizes = append(kept, d), append(sizes, math.Abs(d))
		}
	}
	ranks, _ := doubledRanks(sizes)
	observed, sum := int64(0), int64(0)
	for i, r := range ranks {
		sum += r
		if kept[i] > 0 {
			observed += r
		}
	}
	extreme := 0
	for signs := range 1 << len(kept) {
		plus := int64(0)
		for i, r := range ranks {
			if signs>>i&1 == 1 {
				plus += r
			}
		}
		// As far from the middle as observed, on either side.
		if 2*plus-sum >= abs64(2*observed-sum) || 2*plus-sum <= -abs64(2*observed-sum) {
			extreme++
		}
	}
	return float64(extreme) / float64(int(1)<<len(kept))
}

func abs64(v int64) int64 { return max(v, -v) }

func TestSignedRankAgainstEverySign(t *testing.T) {
	cases := [][]float64{
		{1, 2, 3, 4, 5},
		{-1, 2, -3, 4, 5, 6},
		{1, 1, 1, -1, 2, 2, -3},
		{0, 0, 3, -1, 0, 2, 2},
		{5, 5, 5, 5, -5, -5, 5, 5},
		{inf, inf, -inf, 1, -2, 0},
		{-7.5, -7.5, 0.25, -1e-9, 3, -3, 3, -3, 3},
		{0, 0, 0},
		{},
	}
	for seed := range 40 { // small whole numbers: many ties and zeros
		var ds []float64
		x := uint64(seed)*2654435761 + 12345
		for range 3 + seed%9 {
			x = x*6364136223846793005 + 1442695040888963407
			ds = append(ds, float64(x>>59)-14)
		}
		cases = append(cases, ds)
	}
	for _, ds := range cases {
		got := SignedRank(ds)
		if want := bruteSignedRank(ds); math.Abs(got.P-want) > 1e-15 || !got.Exact {
			t.Errorf("%v: %+v, want P %v", ds, got, want)
		}
		if got.Pairs+got.Zeros != len(ds) || got.Plus+got.Minus != float64(got.Pairs*(got.Pairs+1))/2 {
			t.Errorf("%v: %+v does not add up", ds, got)
		}
	}
}

// Depression scale factors of nine patients before and after a tranquilliser: V = 40, and
// one-sided P 0.01953 = 10/512.
// source: Hollander and Wolfe, Nonparametric Statistical Methods, 1973, pages 29 f., the
// example of R's wilcox.test.
func TestSignedRankHollanderAndWolfe(t *testing.T) {
	x := []float64{1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30}
	y := []float64{0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29}
	ds := make([]float64, len(x))
	for i := range x {
		ds[i] = x[i] - y[i]
	}
	if got := SignedRank(ds); got.Plus != 40 || got.Minus != 5 || got.P != 20.0/512 || !got.Exact {
		t.Errorf("%+v", got)
	}
}

// The largest rank sum that is significant, two-sided, at 5 % and at 1 %.
// source: Wilcoxon and Wilcox, Some Rapid Approximate Statistical Procedures, 1964, table 2,
// reprinted in Siegel, Nonparametric Statistics, table G.
func TestSignedRankCriticalValues(t *testing.T) {
	for _, c := range []struct{ n, five, one int64 }{
		{6, 0, -1}, {7, 2, -1}, {8, 3, 0}, {9, 5, 1}, {10, 8, 3}, {11, 10, 5}, {12, 13, 7}, {13, 17, 9},
		{14, 21, 12}, {15, 25, 15}, {16, 29, 19}, {17, 34, 23}, {18, 40, 27}, {19, 46, 32}, {20, 52, 37},
		{21, 58, 42}, {22, 65, 48}, {23, 73, 54}, {24, 81, 61}, {25, 89, 68},
	} {
		ranks := make([]int64, c.n)
		for i := range ranks {
			ranks[i] = 2 * int64(i+1)
		}
		for level, critical := range map[float64]int64{0.05: c.five, 0.01: c.one} {
			if got := exactSignedRank(ranks, 2*critical); critical >= 0 && got > level {
				t.Errorf("n=%d, sum %d: P %v is above %v", c.n, critical, got, level)
			}
			if got := exactSignedRank(ranks, 2*critical+2); got <= level {
				t.Errorf("n=%d, sum %d: P %v is not above %v", c.n, critical+1, got, level)
			}
		}
	}
}

// Beyond 25 pairs the normal approximation takes over, close to what the exact test says.
func TestSignedRankNormal(t *testing.T) {
	for shift := range 12 {
		var ds []float64
		for i := 1; i <= MaxExactPairs+1; i++ {
			d := float64(i)
			if i%3 == 0 {
				d = -d + float64(shift)/2 + 0.25
			}
			ds = append(ds, d)
		}
		got := SignedRank(ds)
		sizes := make([]float64, len(ds))
		for i := range ds {
			sizes[i] = math.Abs(ds[i])
		}
		ranks, _ := doubledRanks(sizes)
		exact := exactSignedRank(ranks, int64(2*min(got.Plus, got.Minus)))
		if got.Exact || math.Abs(got.P-exact) > 0.003 {
			t.Errorf("shift %d: %+v, exact %v", shift, got, exact)
		}
	}
	if got := SignedRank(repeat(1, 30)); got.P > 1e-6 || got.Exact { // one tie of thirty
		t.Errorf("thirty equal differences: %+v", got)
	}
}

// Corrected by hand: 26 pairs in two ties of 13, plus 13 x 7 = 91 and minus 13 x 20 = 260;
// variance 26 x 27 x 53 / 24 - 2 (13^3 - 13) / 48 = 1459.25, z = 84 / 38.2.
func TestSignedRankNormalTies(t *testing.T) {
	got := SignedRank(append(repeat(1, 13), repeat(-2, 13)...))
	want := math.Erfc(84 / math.Sqrt(1459.25) / math.Sqrt2)
	if got.Plus != 91 || got.Minus != 260 || math.Abs(got.P-want) > 1e-12 {
		t.Errorf("%+v, want P %v", got, want)
	}
}

func repeat(v float64, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = v
	}
	return out
}

func TestLeastP(t *testing.T) {
	for n := range 12 {
		if got, want := LeastSignedRankP(n), SignedRank(repeat(1, n)).P; got != want {
			t.Errorf("%d pairs: %v, but the test says %v", n, got, want)
		}
		for m := range 6 {
			if got, want := LeastRankSumP(m, n), RankSum(repeat(1, m), repeat(2, n)).P; math.Abs(got-want) > 1e-15 {
				t.Errorf("samples of %d and %d: %v, but the test says %v", m, n, got, want)
			}
		}
	}
}

// Every choice of len(a) of the ranks, one by one.
func bruteRankSum(a, b []float64) float64 {
	both := append(append([]float64{}, a...), b...)
	ranks, _ := doubledRanks(both)
	observed := int64(0)
	for _, r := range ranks[:len(a)] {
		observed += r
	}
	var all, below, above float64
	for choice := range 1 << len(both) {
		size, sum := 0, int64(0)
		for i, r := range ranks {
			if choice>>i&1 == 1 {
				size++
				sum += r
			}
		}
		if size == len(a) {
			all++
			below += float64(asBit(sum <= observed))
			above += float64(asBit(sum >= observed))
		}
	}
	return min(1, 2*min(below, above)/all)
}

func TestRankSumAgainstEveryChoice(t *testing.T) {
	for _, c := range []struct{ a, b []float64 }{
		{[]float64{1, 2, 3}, []float64{4, 5, 6, 7}},
		{[]float64{1, 5, 5, 2}, []float64{5, 5, 3}},
		{[]float64{2, 2}, []float64{2, 2, 2}},
		{[]float64{inf, 1}, []float64{inf, inf, 3, 4, 0}},
		{[]float64{9, 8, 7, 6, 5, -1}, []float64{1, 2, 3, 4}},
	} {
		got, want := RankSum(c.a, c.b), bruteRankSum(c.a, c.b)
		if math.Abs(got.P-want) > 1e-15 || !got.Exact {
			t.Errorf("%v, %v: %+v, want P %v", c.a, c.b, got, want)
		}
		if other := RankSum(c.b, c.a); other.P != got.P || other.U+got.U != float64(len(c.a)*len(c.b)) {
			t.Errorf("%v, %v: %+v, the other way round %+v", c.a, c.b, got, other)
		}
	}
}

// Permeability constants of the human chorioamnion at term and earlier: U = 35 and
// one-sided P 0.1272.
// source: Hollander and Wolfe, 1973, pages 69 f., the example of R's wilcox.test.
func TestRankSumHollanderAndWolfe(t *testing.T) {
	term := []float64{0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46}
	early := []float64{1.15, 0.88, 0.90, 0.74, 1.21}
	if got := RankSum(term, early); got.U != 35 || math.Abs(got.P-2*0.1272) > 1e-4 {
		t.Errorf("%+v", got)
	}
}

// The Go project's own benchmark statistics say the same, ties or not, exact or not. (With
// ties in samples of unequal size the distribution is skewed, and benchmath doubles the tail
// of the other side.)
func TestRankSumAgreesWithBenchmath(t *testing.T) {
	x := uint64(7)
	draw := func(n, values int, shift float64) []float64 {
		out := make([]float64, n)
		for i := range out {
			x = x*6364136223846793005 + 1442695040888963407
			out[i] = float64(x>>33%uint64(values)) + shift
		}
		return out
	}
	for _, c := range []struct{ m, n, values int }{
		{5, 7, 1 << 20}, {10, 10, 1 << 20}, {20, 15, 1 << 20}, {8, 8, 5}, {12, 12, 9}, {25, 25, 1 << 20}, {80, 60, 1 << 20}, {70, 90, 7},
	} {
		a, b := draw(c.m, c.values, 0), draw(c.n, c.values, float64(c.values/8))
		got := RankSum(a, b)
		want := benchmath.AssumeNothing.Compare(benchmath.NewSample(a, &benchmath.DefaultThresholds), benchmath.NewSample(b, &benchmath.DefaultThresholds))
		tolerance := 1e-9
		if !got.Exact || c.values < 100 && max(c.m, c.n) > 25 {
			tolerance = 0.002
		}
		if math.Abs(got.P-want.P) > tolerance {
			t.Errorf("%+v: %+v, benchmath says %v", c, got, want.P)
		}
	}
}

func TestRankSumOfNothing(t *testing.T) {
	for _, got := range []RankSumTest{RankSum(nil, nil), RankSum(nil, []float64{1}), RankSum(repeat(3, 40), repeat(3, 40))} {
		if got.P != 1 {
			t.Errorf("%+v", got)
		}
	}
}

func TestHolm(t *testing.T) {
	// source: R, p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm") = 0.03 0.06 0.06 0.02
	for _, c := range []struct{ ps, want []float64 }{
		{[]float64{0.01, 0.04, 0.03, 0.005}, []float64{0.03, 0.06, 0.06, 0.02}},
		{[]float64{0.5, 0.9}, []float64{1, 1}},
		{[]float64{0.02}, []float64{0.02}},
		{[]float64{0.01, 0.01, 0.01}, []float64{0.03, 0.03, 0.03}},
		{nil, nil},
	} {
		got := Holm(c.ps)
		for i := range c.want {
			if math.Abs(got[i]-c.want[i]) > 1e-15 {
				t.Errorf("%v: %v, want %v", c.ps, got, c.want)
			}
		}
	}
}
