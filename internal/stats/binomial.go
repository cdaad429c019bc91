package stats

import "math"

// BinomialTail returns the probability that k or more of n independent trials succeed, each
// with probability p: exact but for rounding. O(n^2), for the few trials that seeds are.
//
// It adds up the distribution trial by trial, sums of products of positive numbers only, so
// nothing cancels.
func BinomialTail(n, k int, p float64) float64 {
	if k > n {
		return 0
	}
	chance := make([]float64, n+1) // of i successes so far
	chance[0] = 1
	for trial := range n {
		for i := trial + 1; i > 0; i-- {
			chance[i] = float64(chance[i]*(1-p)) + float64(chance[i-1]*p)
		}
		chance[0] = float64(chance[0] * (1 - p))
	}
	tail := 0.0
	for i := n; i >= max(0, k); i-- {
		tail += chance[i]
	}
	return min(1, tail)
}

// MeanError returns the mean of values and its standard error, for values that are
// independent or nearly so, such as the means of long batches. It panics if there are fewer
// than two.
func MeanError(values []float64) (mean, standardError float64) {
	n := float64(len(values))
	if n < 2 {
		panic("stats: the standard error of fewer than two values")
	}
	for _, v := range values {
		mean += v / n
	}
	squares := 0.0
	for _, v := range values {
		squares += float64((v - mean) * (v - mean))
	}
	return mean, math.Sqrt(squares / float64(n*(n-1)))
}
