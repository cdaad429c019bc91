package stats

import (
	"math"
	"slices"

	"github.com/gangplan/gangplan/internal/rng"
)

// Median returns the middle value, or the mean of the two in the middle: the one place
// where values are averaged, because the median of the differences from A to B must be
// the negative of that from B to A. Half way between -Inf and +Inf is 0. It panics if
// there are no values or one is NaN. O(n log n).
func Median(values []float64) float64 {
	sorted := ascendingFloats(values)
	return middle(sorted[(len(sorted)-1)/2], sorted[len(sorted)/2])
}

func ascendingFloats(values []float64) []float64 {
	if len(values) == 0 {
		panic("stats: the median of nothing")
	}
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	if math.IsNaN(sorted[0]) {
		panic("stats: a value is NaN")
	}
	return sorted
}

// middle is the mean of two values of which the second is not smaller.
func middle(a, b float64) float64 {
	switch {
	case a == b:
		return a
	case math.IsInf(a, -1) && math.IsInf(b, 1):
		return 0
	}
	return a/2 + b/2
}

// Interval is a two-sided confidence interval. Its ends may be infinite.
type Interval struct{ Low, High float64 }

// MaxResampledPairs is how many values are resampled for MedianInterval; resamples is how
// often.
const (
	MaxResampledPairs = 100
	resamples         = 10_000
)

// MedianInterval returns a confidence interval, such as of 0.95, for the median of what
// values were drawn from; false if there are fewer than two values.
//
// It is the percentile bootstrap: the seed draws 10,000 samples with replacement, and the
// interval leaves as many of their medians below as above. The percentiles are taken as
// they are, without bias correction and acceleration (BCa): the acceleration comes from the
// jackknife, which is inconsistent for a median. The draws depend on the seed and the number
// of values only, so negated values give the negated interval. Above MaxResampledPairs,
// where resampling says nothing more, the ends are the order statistics of the sign test,
// which the bootstrap converges to. O(n log n) then.
//
// source: Efron and Tibshirani, An Introduction to the Bootstrap, 1993, sections 11.6 and
// 13.3; David and Nagaraja, Order Statistics, 2003, section 7.1.
func MedianInterval(values []float64, confidence float64, seed uint64) (Interval, bool) {
	if len(values) < 2 {
		return Interval{}, false
	}
	if !(confidence > 0 && confidence < 1) {
		panic("stats: a confidence must be between 0 and 1")
	}
	if len(values) > MaxResampledPairs {
		return signInterval(ascendingFloats(values), confidence), true
	}
	medians := resampledMedians(values, seed)
	out := min(int(math.Round((1-confidence)/2*resamples)), resamples/2-1)
	return Interval{medians[out], medians[resamples-1-out]}, true
}

// resampledMedians returns the medians of the resamples, in order. It draws positions in
// the order given and sorts the ranks of what stands there.
func resampledMedians(values []float64, seed uint64) []float64 {
	n := len(values)
	sorted, ranks := ascendingFloats(values), make([]int, n)
	for i, v := range values {
		ranks[i], _ = slices.BinarySearch(sorted, v)
	}
	medians, drawn := make([]float64, resamples), make([]int, n)
	for i := range medians {
		for k := range drawn {
			drawn[k] = ranks[rng.Below(rng.Hash(seed, rng.Bootstrap, uint64(k), uint64(i)), uint64(n))]
		}
		slices.Sort(drawn)
		medians[i] = middle(sorted[drawn[(n-1)/2]], sorted[drawn[n/2]])
	}
	slices.Sort(medians)
	return medians
}

// signInterval takes as many values off each end as the binomial distribution, which is
// close to normal for this many, lets fall on one side of the median.
func signInterval(sorted []float64, confidence float64) Interval {
	n := float64(len(sorted))
	off := int(math.Floor(n/2 - float64(rng.NormalQuantile((1+confidence)/2)*math.Sqrt(n))/2))
	off = max(0, min(off, (len(sorted)-1)/2))
	return Interval{sorted[off], sorted[len(sorted)-1-off]}
}
