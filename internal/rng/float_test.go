package rng

import (
	"math"
	"testing"
)

// ulps returns how many floating-point numbers lie between two of the same sign.
func ulps(a, b float64) uint64 {
	x, y := math.Float64bits(a), math.Float64bits(b)
	return max(x, y) - min(x, y)
}

func TestLnAgreesWithMath(t *testing.T) {
	for i := range uint64(20_000) {
		h := Hash(1, Size, i, 0)
		x := math.Ldexp(Open(h), int(h%120)-60)
		if got, want := ln(x), math.Log(x); ulps(got, want) > 1 {
			t.Fatalf("ln(%v) = %v, want %v", x, got, want)
		}
	}
	if ln(1) != 0 {
		t.Errorf("ln(1) = %v", ln(1))
	}
}

func TestExpAgreesWithMath(t *testing.T) {
	for i := range uint64(20_000) {
		x := (Open(Hash(2, Size, i, 0)) - 0.5) * 1400
		if got, want := exp(x), math.Exp(x); ulps(got, want) > 2 {
			t.Fatalf("exp(%v) = %v, want %v", x, got, want)
		}
	}
}

func TestExpFunctionEnds(t *testing.T) {
	if exp(0) != 1 {
		t.Errorf("exp(0) = %v", exp(0))
	}
	if !math.IsInf(exp(800), 1) || !math.IsInf(exp(math.Inf(1)), 1) {
		t.Error("exp does not overflow to +Inf")
	}
	if exp(-800) != 0 || exp(math.Inf(-1)) != 0 {
		t.Error("exp does not underflow to 0")
	}
}

func TestNormalQuantileAgreesWithErfinv(t *testing.T) {
	for i := range uint64(20_000) {
		p := Open(Hash(3, Size, i, 0))
		got, want := normalQuantile(p), math.Sqrt2*math.Erfinv(2*p-1)
		if math.Abs(got-want) > 1e-14*(1+math.Abs(want)) {
			t.Fatalf("normalQuantile(%v) = %v, want %v", p, got, want)
		}
	}
}

// The published check values of AS 241, one for each of its three ranges.
func TestNormalQuantileCheckValues(t *testing.T) {
	cases := []struct{ p, want float64 }{
		{0.25, -0.6744897501960817},
		{0.001, -3.090232306167814},
		{1e-20, -9.262340089798408},
	}
	for _, c := range cases {
		if got := normalQuantile(c.p); math.Abs(got-c.want) > 2e-15*math.Abs(c.want) {
			t.Errorf("normalQuantile(%v) = %v, want %v", c.p, got, c.want)
		}
	}
	near(t, "z99", normalQuantile(0.99), z99, 2e-15)
}

func TestHorner(t *testing.T) {
	if got := horner(2, 1, 3, 5); got != 1+3*2+5*4 {
		t.Errorf("horner = %v", got)
	}
	if got := horner(2, 7); got != 7 {
		t.Errorf("horner of a constant = %v", got)
	}
}
