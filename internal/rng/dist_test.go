package rng

import (
	"math"
	"testing"
)

const draws = 50_000

// moments returns the mean and the variance of f over many hashes.
func moments(f func(h uint64) float64) (mean, variance float64) {
	var sum, squares float64
	for i := range uint64(draws) {
		x := f(Hash(7, Size, i, 0))
		sum += x
		squares += x * x
	}
	mean = sum / draws
	return mean, squares/draws - mean*mean
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s = %v, want %v within %v", what, got, want, tolerance)
	}
}

func TestUniformEnds(t *testing.T) {
	if got := Uniform(0); got != 0 {
		t.Errorf("Uniform(0) = %v", got)
	}
	if got := Uniform(math.MaxUint64); got != 1-0x1p-53 {
		t.Errorf("Uniform(max) = %v", got)
	}
	if got := Uniform(1 << 63); got != 0.5 {
		t.Errorf("Uniform(1/2) = %v", got)
	}
}

func TestOpenEnds(t *testing.T) {
	if got := Open(0); got != 0x1p-53 {
		t.Errorf("Open(0) = %v", got)
	}
	if got := Open(math.MaxUint64); got != 1-0x1p-53 {
		t.Errorf("Open(max) = %v", got)
	}
	for i := range uint64(100) {
		h := Hash(1, Tie, i, 0)
		if Open(h)+Open(^h) != 1 {
			t.Fatalf("Open is not symmetric at %#x", h)
		}
	}
}

func TestUniformMoments(t *testing.T) {
	mean, variance := moments(Uniform)
	near(t, "mean", mean, 0.5, 0.006)
	near(t, "variance", variance, 1.0/12, 0.002)
}

func TestExpMoments(t *testing.T) {
	mean, variance := moments(Exp)
	near(t, "mean", mean, 1, 0.02)
	near(t, "variance", variance, 1, 0.06)
}

func TestExpEnds(t *testing.T) {
	near(t, "Exp(0)", Exp(0), 53*math.Ln2, 1e-14)
	if got := Exp(math.MaxUint64); !(got > 0) || got > 2e-16 {
		t.Errorf("Exp(max) = %v", got)
	}
}

func TestNormalMoments(t *testing.T) {
	mean, variance := moments(Normal)
	near(t, "mean", mean, 0, 0.02)
	near(t, "variance", variance, 1, 0.03)
}

func TestNormalIsSymmetricAndMonotone(t *testing.T) {
	last := math.Inf(-1)
	for i := range uint64(1000) {
		h := i * (math.MaxUint64 / 999)
		x := Normal(h)
		if x < last {
			t.Fatalf("Normal falls at %#x", h)
		}
		if Normal(^h) != -x {
			t.Fatalf("Normal(%#x) = %v but Normal of the complement = %v", h, x, Normal(^h))
		}
		last = x
	}
	near(t, "largest", Normal(math.MaxUint64), 8.21, 0.01)
}

func TestLogNormalHitsItsQuantiles(t *testing.T) {
	at := func(u float64) float64 {
		return LogNormal(uint64(u*0x1p64), 30, 240)
	}
	near(t, "p50", at(0.5), 30, 1e-9)
	near(t, "p99", at(0.99), 240, 1e-6)
	near(t, "p1", at(0.01), 30.0*30/240, 1e-6)
}

func TestLogNormalDegenerates(t *testing.T) {
	h := Hash(1, StartUp, 1, 0)
	cases := []struct{ median, p99, want float64 }{
		{30, 30, 30},
		{30, 10, 30},
		{30, math.NaN(), 30},
		{0, 10, 0},
		{-1, 10, 0},
		{math.NaN(), 10, 0},
	}
	for _, c := range cases {
		if got := LogNormal(h, c.median, c.p99); got != c.want {
			t.Errorf("LogNormal(%v, %v) = %v, want %v", c.median, c.p99, got, c.want)
		}
	}
}

func TestQuantiseMicrosKeepsMicroseconds(t *testing.T) {
	for given, want := range map[float64]int64{0.0123456: 12_346_000, -1: 0, 1e300: maxTime, 2: 2e9} {
		if got := QuantiseMicros(given); got != want {
			t.Errorf("QuantiseMicros(%v) = %d, want %d", given, got, want)
		}
	}
}

func TestQuantiseMillis(t *testing.T) {
	cases := []struct {
		seconds float64
		want    int64
	}{
		{0, 0},
		{-1, 0},
		{math.NaN(), 0},
		{math.Inf(-1), 0},
		{0.0004, 0},
		{0.0005, 1e6},
		{0.0015, 2e6},
		{1, 1e9},
		{1.2344999, 1_234_000_000},
		{86400 * 365, 86400 * 365 * 1e9},
		{math.Inf(1), 4_611_686_018_427_000_000},
		{1e300, 4_611_686_018_427_000_000},
		{4_611_686_018.427, 4_611_686_018_427_000_000},
		{4_611_686_018.426, 4_611_686_018_426_000_000},
	}
	for _, c := range cases {
		got := QuantiseMillis(c.seconds)
		if got != c.want {
			t.Errorf("QuantiseMillis(%v) = %d, want %d", c.seconds, got, c.want)
		}
		if got%1e6 != 0 || got < 0 || got > 1<<62 {
			t.Errorf("QuantiseMillis(%v) = %d is no whole millisecond in range", c.seconds, got)
		}
	}
}

// The bits are pinned, not only the milliseconds: no architecture may differ.
func TestDistributionsGolden(t *testing.T) {
	h := Hash(1, Duration, 2, 3)
	cases := []struct {
		name string
		got  float64
		want uint64
	}{
		{"Uniform", Uniform(h), 0x3fe3e64fca7e39cf},
		{"Open", Open(h), 0x3fe3e64fca7e39cf},
		{"Exp", Exp(h), 0x3fde66f2f07d2385},
		{"Normal", Normal(h), 0x3fd3dd468047c25c},
		{"Normal tail", Normal(12345), 0xc01fe3e495619d47},
		{"LogNormal", LogNormal(h, 900, 250_000), 0x409dcac16d1eaf24},
	}
	for _, c := range cases {
		if got := math.Float64bits(c.got); got != c.want {
			t.Errorf("%s = %v = %#016x, want %#016x", c.name, c.got, got, c.want)
		}
	}
}

// A checksum over many draws catches a last bit that one golden value misses.
func TestDistributionsChecksum(t *testing.T) {
	var sum uint64
	for i := range uint64(20_000) {
		h := Hash(3, Arrival, i, 0)
		for _, x := range [...]float64{Exp(h), Normal(h), LogNormal(h, 60, 600)} {
			sum = ID2(sum, math.Float64bits(x))
		}
	}
	if sum != 0xd02c2d9a42cc9c72 {
		t.Errorf("checksum = %#016x", sum)
	}
}

// The tail against the standard library's complementary error function, and against its
// own inverse.
func TestNormalTail(t *testing.T) {
	for z := -8.0; z <= 36; z += 0.0625 {
		got, want := NormalTail(z), math.Erfc(z/math.Sqrt2)/2
		if math.Abs(got-want) > 1e-14*max(10, z*z)*want {
			t.Errorf("NormalTail(%v) = %v, want %v", z, got, want)
		}
	}
	for _, p := range []float64{1e-9, 0.001, 0.025, 0.2, 0.5, 0.9} {
		if got := NormalTail(-NormalQuantile(p)); math.Abs(got-p) > 1e-13*p {
			t.Errorf("the tail at the quantile of %v is %v", p, got)
		}
	}
	if NormalTail(0) != 0.5 || NormalTail(40) != 0 || NormalTail(-40) != 1 {
		t.Error("the middle and the ends")
	}
}
