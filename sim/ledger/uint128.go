package ledger

import (
	"math"
	"math/bits"
)

// Uint128 is an unsigned 128-bit integer. It wraps silently; the inputs' limits
// (workloads.Validate) keep every sum of a run far below that.
type Uint128 struct{ Hi, Lo uint64 }

// Add adds o.
func (u *Uint128) Add(o Uint128) {
	var carry uint64
	u.Lo, carry = bits.Add64(u.Lo, o.Lo, 0)
	u.Hi, _ = bits.Add64(u.Hi, o.Hi, carry)
}

// Sub subtracts o. Below zero it wraps, and adding o again makes it right.
func (u *Uint128) Sub(o Uint128) {
	var borrow uint64
	u.Lo, borrow = bits.Sub64(u.Lo, o.Lo, 0)
	u.Hi, _ = bits.Sub64(u.Hi, o.Hi, borrow)
}

// AddProduct adds a x b.
func (u *Uint128) AddProduct(a, b uint64) {
	hi, lo := bits.Mul64(a, b)
	u.Add(Uint128{hi, lo})
}

// AddSigned adds a x b.
func (u *Uint128) AddSigned(a uint64, b int64) {
	if b >= 0 {
		u.AddProduct(a, uint64(b))
		return
	}
	hi, lo := bits.Mul64(a, uint64(-b))
	u.Sub(Uint128{hi, lo})
}

// SubProduct subtracts a x b and stops at zero.
func (u *Uint128) SubProduct(a, b uint64) {
	hi, lo := bits.Mul64(a, b)
	if u.Hi < hi || u.Hi == hi && u.Lo <= lo {
		*u = Uint128{}
		return
	}
	u.Sub(Uint128{hi, lo})
}

// IsZero reports whether u is 0.
func (u Uint128) IsZero() bool { return u.Hi == 0 && u.Lo == 0 }

// Less reports whether u is less than o.
func (u Uint128) Less(o Uint128) bool { return u.Hi < o.Hi || u.Hi == o.Hi && u.Lo < o.Lo }

// CeilDiv returns u / d rounded up, and false when that exceeds an int64. d must not be 0.
func (u Uint128) CeilDiv(d uint64) (int64, bool) {
	if u.Hi >= d {
		return 0, false
	}
	q, r := bits.Div64(u.Hi, u.Lo, d)
	if q > math.MaxInt64-1 {
		return int64(q), q == math.MaxInt64 && r == 0
	}
	if r > 0 {
		q++
	}
	return int64(q), true
}

// Shr32 returns u / 2^32 (rounded down) and the remainder. The quotient must fit an int64.
func (u Uint128) Shr32() (q int64, rest uint64) {
	return int64(u.Hi<<32 | u.Lo>>32), u.Lo & (1<<32 - 1)
}

// Shl32 returns n x 2^32.
func Shl32(n int64) Uint128 {
	return Uint128{Hi: uint64(n) >> 32, Lo: uint64(n) << 32}
}

// Float64 returns the nearest float, for reports.
func (u Uint128) Float64() float64 {
	return float64(float64(u.Hi)*(1<<64)) + float64(u.Lo)
}

// Scale returns u x a / b, rounded up or down. The result must fit, and b must not be 0.
func (u Uint128) Scale(a, b uint64, up bool) Uint128 {
	hi, rest := bits.Div64(0, u.Hi, b)
	lo, rest := bits.Div64(rest, u.Lo, b)
	var out Uint128
	_, out.Hi = bits.Mul64(hi, a)
	out.AddProduct(lo, a)
	over, low := bits.Mul64(rest, a)
	part, rest := bits.Div64(over, low, b)
	out.Add(Uint128{Lo: part})
	if up && rest > 0 {
		out.Add(Uint128{Lo: 1})
	}
	return out
}
