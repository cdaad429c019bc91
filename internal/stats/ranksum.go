package stats

import (
	"math"

	"github.com/gangplan/gangplan/internal/rng"
)

// RankSumTest is the result of the Mann-Whitney test, also called Wilcoxon's rank-sum test.
type RankSumTest struct {
	U     float64 // pairs (a, b) with a > b, half of those with a = b
	P     float64 // two-sided; 1 if a side is empty or all values are equal
	Exact bool    // P is that of the exact distribution
}

// RankSum tests whether two samples without pairing come from one distribution. Equal
// values share their mean rank; infinities are values like others. P is exact, ties or not,
// if neither side has more than MaxExactPairs values: each choice of len(a) of the ranks
// that are there is equally likely. Beyond, it is the normal approximation with corrections
// for ties and continuity. It panics if a value is NaN.
//
// source: Mann and Whitney, On a test of whether one of two random variables is
// stochastically larger than the other, Annals of Mathematical Statistics 18, 1947.
func RankSum(a, b []float64) RankSumTest {
	both := append(append([]float64(nil), a...), b...)
	ranks, ties := doubledRanks(both)
	sum := int64(0)
	for _, r := range ranks[:len(a)] {
		sum += r
	}
	m, n := float64(len(a)), float64(len(b))
	t := RankSumTest{U: float64(sum)/2 - m*(m+1)/2, P: 1, Exact: max(len(a), len(b)) <= MaxExactPairs}
	switch {
	case len(a) == 0 || len(b) == 0:
	case t.Exact:
		t.P = exactRankSum(ranks, len(a), sum)
	default:
		t.P = normalRankSum(m, n, math.Abs(t.U-float64(m*n)/2), ties)
	}
	return t
}

// exactRankSum is twice the smaller of the probabilities that a choice of m ranks has a
// doubled sum of at most, or of at least, sum.
func exactRankSum(ranks []int64, m int, sum int64) float64 {
	counts := subsets(ranks, m)[m]
	var below, above, all int64
	for s, c := range counts {
		all += c
		below += c * asBit(int64(s) <= sum)
		above += c * asBit(int64(s) >= sum)
	}
	return twoSided(float64(min(below, above)) / float64(all))
}

// normalRankSum approximates the same for a U that is off its mean by off.
func normalRankSum(m, n, off, ties float64) float64 {
	all := m + n
	variance := float64(m*n) / 12 * (all + 1 - ties/float64(all*(all-1)))
	if variance <= 0 {
		return 1
	}
	return twoSided(rng.NormalTail((off - 0.5) / math.Sqrt(variance)))
}

// LeastRankSumP returns the smallest P that RankSum can come to with samples of m and n,
// when they do not overlap and the test is exact: two of all the ways to choose m of m + n.
func LeastRankSumP(m, n int) float64 {
	ways := 1.0
	for k := 1; k <= m; k++ {
		ways = ways * float64(n+k) / float64(k)
	}
	return min(1, 2/ways)
}
