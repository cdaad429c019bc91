package stats

import (
	"math"
	"slices"

	"github.com/gangplan/gangplan/internal/rng"
)

// MaxExactPairs is how many pairs that differ are tested exactly; more are tested by the
// normal approximation.
const MaxExactPairs = 25

// SignedRankTest is the result of Wilcoxon's signed-rank test.
type SignedRankTest struct {
	Pairs       int     // that differ; the others say nothing of which side is greater
	Zeros       int     // pairs without a difference
	Plus, Minus float64 // sums of the ranks of positive and negative differences
	P           float64 // two-sided; 1 if no pair differs
	Exact       bool    // P is that of the exact distribution
}

// SignedRank tests whether paired differences lie symmetrically around zero. Differences of
// zero are left out, as Wilcoxon does and as R's wilcox.test and SciPy's wilcoxon do by
// default; equal ones share their mean rank. +Inf and -Inf are larger than every finite
// difference and equal among themselves.
//
// Up to MaxExactPairs, P is exact, ties or not: each of the 2^n signs of the ranks that
// are there is equally likely. Beyond, it is the normal approximation with corrections for
// ties and continuity. It panics if a difference is NaN.
//
// source: Wilcoxon, Individual comparisons by ranking methods, Biometrics Bulletin 1, 1945;
// Hollander and Wolfe, Nonparametric Statistical Methods, section 3.1.
func SignedRank(differences []float64) SignedRankTest {
	kept := slices.DeleteFunc(slices.Clone(differences), func(d float64) bool { return d == 0 })
	t := SignedRankTest{Pairs: len(kept), Zeros: len(differences) - len(kept), P: 1, Exact: len(kept) <= MaxExactPairs}
	sizes := make([]float64, len(kept))
	for i, d := range kept {
		sizes[i] = math.Abs(d)
	}
	ranks, ties := doubledRanks(sizes)
	var plus, minus int64
	for i, d := range kept {
		plus += ranks[i] * asBit(d > 0)
		minus += ranks[i] * asBit(d < 0)
	}
	t.Plus, t.Minus = float64(plus)/2, float64(minus)/2
	switch {
	case t.Pairs == 0:
	case t.Exact:
		t.P = exactSignedRank(ranks, min(plus, minus))
	default:
		t.P = normalSignedRank(t.Pairs, math.Abs(t.Plus-t.Minus)/2, ties)
	}
	return t
}

// exactSignedRank is the two-sided probability of a doubled rank sum of at most low.
func exactSignedRank(ranks []int64, low int64) float64 {
	sum := int64(0)
	for _, r := range ranks {
		sum += r
	}
	counts := make([]int64, sum+1)
	counts[0] = 1
	for _, r := range ranks {
		for s := sum; s >= r; s-- {
			counts[s] += counts[s-r]
		}
	}
	below := int64(0)
	for s := range low + 1 {
		below += counts[s]
	}
	return twoSided(math.Ldexp(float64(below), -len(ranks)))
}

// normalSignedRank approximates the same for a rank sum that is off its mean by off.
func normalSignedRank(pairs int, off, ties float64) float64 {
	n := float64(pairs)
	variance := float64(n*(n+1)*(n+n+1))/24 - ties/48
	return twoSided(rng.NormalTail((off - 0.5) / math.Sqrt(variance)))
}

// LeastSignedRankP returns the smallest P that SignedRank can come to with n pairs, when all
// differ in one direction and the test is exact: 2^(1-n), at most 1.
func LeastSignedRankP(n int) float64 { return min(1, math.Ldexp(1, 1-n)) }
