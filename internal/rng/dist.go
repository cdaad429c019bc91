package rng

import "math"

// Uniform maps a hash to [0, 1): its upper 53 bits times 2^-53. Exact.
func Uniform(h uint64) float64 { return float64(h>>11) * 0x1p-53 }

// Open maps a hash to the open interval (0, 1): the middles of 2^52 equal cells, so it
// is symmetric about 1/2 and never nearer to an end than 2^-53. Exact.
func Open(h uint64) float64 { return (float64(h>>12) + 0.5) * 0x1p-52 }

// Exp maps a hash to an exponential variate of mean 1 by inversion. It lies in
// (0, 36.8): the largest is 53 ln 2.
func Exp(h uint64) float64 { return -ln(Open(h)) }

// Normal maps a hash to a standard normal variate by inversion, so it needs one hash
// and grows with it. It lies in (-8.3, 8.3).
func Normal(h uint64) float64 { return normalQuantile(Open(h)) }

// z99 is the 99th percentile of the standard normal distribution.
const z99 = 2.3263478740408411

// LogNormal maps a hash to a log-normal variate given by its median and its 99th
// percentile, all in seconds. A p99 that is not above the median gives the median
// itself, and a median that is not above zero gives 0. Quantise what it returns.
func LogNormal(h uint64, median, p99 float64) float64 {
	if !(median > 0) {
		return 0
	}
	if !(p99 > median) {
		return median
	}
	sigma := ln(p99/median) / z99
	return median * exp(float64(sigma*Normal(h)))
}

// maxMillis is the largest number of whole milliseconds in 2^62 ns, about 146 years.
const maxMillis = int64(1<<62) / 1e6

// QuantiseMillis rounds a drawn time in seconds to whole milliseconds, halves away from
// zero, and returns it in nanoseconds. The result is clamped to [0, 2^62]: negative
// numbers and NaN give 0, infinity the largest whole millisecond.
//
// Every drawn time passes through here, so that a trace written in milliseconds and
// read back is the trace that was drawn. It also hides a last bit that an
// architecture's own logarithm might change; this package's do not.
func QuantiseMillis(seconds float64) int64 {
	millis := math.Round(float64(seconds * 1e3))
	if !(millis > 0) {
		return 0
	}
	if millis >= float64(maxMillis) {
		return maxMillis * 1e6
	}
	return int64(millis) * 1e6
}
