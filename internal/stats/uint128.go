package stats

import (
	"cmp"
	"math/bits"
)

// Uint128 is an unsigned 128-bit integer, such as GPU-time in milli-GPU x ns. Sums wrap
// around at 2^128.
type Uint128 struct{ Hi, Lo uint64 }

// Product returns a x b, exactly.
func Product(a, b uint64) Uint128 {
	hi, lo := bits.Mul64(a, b)
	return Uint128{hi, lo}
}

// Plus returns u + v.
func (u Uint128) Plus(v Uint128) Uint128 {
	lo, carry := bits.Add64(u.Lo, v.Lo, 0)
	hi, _ := bits.Add64(u.Hi, v.Hi, carry)
	return Uint128{hi, lo}
}

// Compare returns -1, 0 or 1 as u is less than, equal to or greater than v.
func (u Uint128) Compare(v Uint128) int {
	return cmp.Or(cmp.Compare(u.Hi, v.Hi), cmp.Compare(u.Lo, v.Lo))
}

// IsZero reports whether u is 0.
func (u Uint128) IsZero() bool { return u == Uint128{} }

// Float64 returns u as a float64, off by at most two units of the last place.
func (u Uint128) Float64() float64 {
	return float64(float64(u.Hi)*0x1p64) + float64(u.Lo)
}

// percent returns ceil(p u / 100) for p up to 100, without overflow.
func (u Uint128) percent(p uint64) Uint128 {
	hi, rest := u.Hi/100, u.Hi%100
	lo, rest := bits.Div64(rest, u.Lo, 100)
	whole := Product(lo, p)
	whole.Hi += hi * p
	return whole.Plus(Uint128{Lo: (rest*p + 99) / 100})
}

// negated returns 2^128 - u.
func (u Uint128) negated() Uint128 {
	return Uint128{^u.Hi, ^u.Lo}.Plus(Uint128{Lo: 1})
}
