package ledger

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

var wrap = new(big.Int).Lsh(big.NewInt(1), 128)

func (u Uint128) big() *big.Int {
	b := new(big.Int).SetUint64(u.Hi)
	return b.Lsh(b, 64).Or(b, new(big.Int).SetUint64(u.Lo))
}

// anyLength draws a number of a random length, so that small ones, carries and full words all
// occur.
func anyLength(r *rand.Rand) uint64 { return r.Uint64() >> r.UintN(65) }

func check(t *testing.T, what string, got Uint128, want *big.Int) {
	t.Helper()
	if got.big().Cmp(want) != 0 {
		t.Fatalf("%s is %v, want %v", what, got.big(), want)
	}
}

func product(a, b uint64) *big.Int {
	return new(big.Int).Mul(new(big.Int).SetUint64(a), new(big.Int).SetUint64(b))
}

func TestUint128SumsAgainstBig(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 20_000 {
		u, o := Uint128{anyLength(r), anyLength(r)}, Uint128{anyLength(r), anyLength(r)}
		a, b := anyLength(r), anyLength(r)

		sum := u
		sum.Add(o)
		want := new(big.Int).Add(u.big(), o.big())
		check(t, "Add", sum, want.Mod(want, wrap))

		more := u
		more.AddProduct(a, b)
		want = new(big.Int).Add(u.big(), product(a, b))
		check(t, "AddProduct", more, want.Mod(want, wrap))

		less := u
		less.SubProduct(a, b)
		want = new(big.Int).Sub(u.big(), product(a, b))
		if want.Sign() < 0 {
			want.SetInt64(0)
		}
		check(t, "SubProduct", less, want)
	}
}

func TestUint128DivisionAgainstBig(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 1))
	fits := 0
	for range 20_000 {
		u, d := Uint128{anyLength(r), anyLength(r)}, max(1, anyLength(r))
		want, rest := new(big.Int).DivMod(u.big(), new(big.Int).SetUint64(d), new(big.Int))
		if rest.Sign() > 0 {
			want.Add(want, big.NewInt(1))
		}
		got, ok := u.CeilDiv(d)
		if ok != want.IsInt64() || ok && got != want.Int64() {
			t.Fatalf("CeilDiv(%v, %d) is %d, %v, want %v", u.big(), d, got, ok, want)
		}
		if ok {
			fits++
		}
	}
	if fits < 1000 {
		t.Fatalf("only %d quotients fit", fits)
	}
}

// The quotient may round up to just above what an int64, or a word, holds.
func TestCeilDivAtTheEdge(t *testing.T) {
	for _, c := range []struct {
		u    Uint128
		d    uint64
		want int64
		ok   bool
	}{
		{Uint128{}, 7, 0, true},
		{Uint128{0, math.MaxInt64}, 1, math.MaxInt64, true},
		{Uint128{0, 1 << 63}, 1, 0, false},
		{Uint128{0, math.MaxUint64}, 2, 0, false},
		{Uint128{0, math.MaxUint64 - 1}, 2, math.MaxInt64, true},
		{Uint128{0, math.MaxUint64}, 1, 0, false},
		{Uint128{1, math.MaxUint64}, 2, 0, false}, // 2^64 - 1 and a half: rounding up overflows the word
		{Uint128{2, 0}, 2, 0, false},
	} {
		if got, ok := c.u.CeilDiv(c.d); ok != c.ok || ok && got != c.want {
			t.Errorf("CeilDiv(%v, %d) is %d, %v, want %d, %v", c.u.big(), c.d, got, ok, c.want, c.ok)
		}
	}
}

func TestUint128ShiftsAgainstBig(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	for range 5000 {
		n := int64(anyLength(r) >> 1)
		up := Shl32(n)
		check(t, "Shl32", up, new(big.Int).Lsh(big.NewInt(n), 32))
		up.Add(Uint128{0, uint64(r.Uint32())})
		q, rest := up.Shr32()
		if q != n || rest != up.Lo&math.MaxUint32 {
			t.Fatalf("Shr32(%v) is %d and %d, want %d", up.big(), q, rest, n)
		}
	}
}

func TestUint128Float(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 1))
	for range 5000 {
		u := Uint128{anyLength(r), anyLength(r)}
		want, _ := new(big.Float).SetInt(u.big()).Float64()
		if got := u.Float64(); math.Abs(got-want) > want*1e-15 {
			t.Fatalf("Float64(%v) is %g, want %g", u.big(), got, want)
		}
	}
	if !(Uint128{}).IsZero() || (Uint128{1, 0}).IsZero() || (Uint128{0, 1}).IsZero() {
		t.Error("IsZero")
	}
}
