package stats

import (
	"math"
	"math/big"
	"testing"
)

const ones = math.MaxUint64

func (u Uint128) big() *big.Int {
	b := new(big.Int).SetUint64(u.Hi)
	return b.Lsh(b, 64).Add(b, new(big.Int).SetUint64(u.Lo))
}

var samples128 = []Uint128{
	{}, {Lo: 1}, {Lo: 99}, {Lo: 100}, {Lo: 101}, {Lo: ones}, {Hi: 1}, {Hi: 1, Lo: ones},
	{Hi: 99, Lo: 12345}, {Hi: 1 << 40, Lo: 7}, {Hi: ones, Lo: ones},
}

// ceil(p u / 100) against arbitrary precision.
func TestPercent(t *testing.T) {
	for _, u := range samples128 {
		for p := uint64(1); p <= 100; p++ {
			want := new(big.Int).Mul(u.big(), new(big.Int).SetUint64(p))
			want.Add(want, big.NewInt(99)).Div(want, big.NewInt(100))
			if got := u.percent(p).big(); got.Cmp(want) != 0 {
				t.Errorf("%d%% of %v = %v, want %v", p, u, got, want)
			}
		}
	}
}

func TestPlusAndCompare(t *testing.T) {
	limit := new(big.Int).Lsh(big.NewInt(1), 128)
	for _, u := range samples128 {
		for _, v := range samples128 {
			want := new(big.Int).Add(u.big(), v.big())
			if got := u.Plus(v).big(); got.Cmp(want.Mod(want, limit)) != 0 {
				t.Errorf("%v + %v = %v, want %v", u, v, got, want)
			}
			if got, want := u.Compare(v), u.big().Cmp(v.big()); got != want {
				t.Errorf("%v compared with %v = %d, want %d", u, v, got, want)
			}
		}
	}
}

func TestProduct(t *testing.T) {
	if got := Product(ones, ones); got != (Uint128{Hi: ones - 1, Lo: 1}) {
		t.Errorf("the largest product is %v", got)
	}
	if got := Product(8000, 3_600_000_000_000); got != (Uint128{Lo: 28_800_000_000_000_000}) {
		t.Errorf("eight GPU-hours are %v", got)
	}
}

func TestFloat64(t *testing.T) {
	for _, u := range samples128 {
		want, _ := new(big.Float).SetInt(u.big()).Float64()
		if got := u.Float64(); math.Abs(got-want) > want*0x1p-52 {
			t.Errorf("%v = %v, want %v", u, got, want)
		}
	}
}

func TestIsZeroAndNegated(t *testing.T) {
	for _, u := range samples128 {
		if got := u.Plus(u.negated()); !got.IsZero() {
			t.Errorf("%v and its negation make %v", u, got)
		}
	}
	if (Uint128{Hi: 1}).IsZero() || (Uint128{Lo: 1}).IsZero() {
		t.Error("one is zero")
	}
}
