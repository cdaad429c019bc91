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

// NormalQuantile is the inverse of the standard normal distribution function for p in
// (0, 1), to about 1e-16 relative.
func NormalQuantile(p float64) float64 { return normalQuantile(p) }

// NormalTail is the probability that a standard normal variate is above z, to about 1e-13
// relative, 1e-11 far out; 0 above 38.
// source: Hart, Computer Approximations, 1968, function 5666, as in West, Better
// approximations to cumulative normal functions, Wilmott magazine, 2009; above 3 Laplace's
// continued fraction, Abramowitz and Stegun 26.2.14.
func NormalTail(z float64) float64 {
	if z < 0 {
		return 1 - NormalTail(-z)
	}
	bell := exp(-float64(z*z) / 2)
	if z > 3 {
		b := z
		for k := 100.0; k > 0; k-- {
			b = z + k/b
		}
		return bell / float64(b*math.Sqrt(2*math.Pi))
	}
	return float64(bell*horner(z,
		220.206867912376, 221.213596169931, 112.079291497871, 33.912866078383,
		6.37396220353165, 0.700383064443688, 3.52624965998911e-02)) /
		horner(z,
			440.413735824752, 793.826512519948, 637.333633378831, 296.564248779674,
			86.7807322029461, 16.064177579207, 1.75566716318264, 8.83883476483184e-02)
}

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

// maxTime is 2^62 ns, about 146 years, in whole milliseconds.
const maxTime = int64(1<<62) / 1e6 * 1e6

// QuantiseMillis rounds a drawn time in seconds to whole milliseconds, halves away from
// zero, and returns it in nanoseconds. The result is clamped to [0, 2^62]: negative
// numbers and NaN give 0, infinity the largest whole millisecond.
//
// Every drawn time passes through here, so that a trace written in milliseconds and
// read back is the trace that was drawn. It also hides a last bit that an
// architecture's own logarithm might change; this package's do not.
func QuantiseMillis(seconds float64) int64 { return quantise(seconds, 1e3) }

// QuantiseMicros is the same in whole microseconds, for the steps of a control plane, which
// no trace holds.
func QuantiseMicros(seconds float64) int64 { return quantise(seconds, 1e6) }

func quantise(seconds, perSecond float64) int64 {
	n := math.Round(float64(seconds * perSecond))
	if !(n > 0) {
		return 0
	}
	unit := int64(1e9 / perSecond)
	if n >= float64(maxTime/unit) {
		return maxTime
	}
	return int64(n) * unit
}
