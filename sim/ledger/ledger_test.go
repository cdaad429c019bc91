package ledger

import (
	"math/big"
	"math/rand/v2"
	"testing"
)

func sumOf(l *Ledger, model int, a Account) int64 {
	s := l.Sum(model, a)
	if s.Hi != 0 || s.Lo > 1<<63-1 {
		panic("too large for a test")
	}
	return int64(s.Lo)
}

func TestAdvanceIntegratesWhatStandsWhere(t *testing.T) {
	l := New([]int64{8000, 3000})
	l.Advance(10)
	l.Move(0, NoDemand, Starting, 5000)
	l.Advance(10) // no time: nothing
	l.Advance(25)
	l.Move(0, Starting, Held, 4000)
	l.Move(1, NoDemand, Down, 3000)
	l.Advance(31)
	l.Advance(30) // time does not go back
	for _, c := range []struct {
		model int
		a     Account
		want  int64
	}{
		{0, NoDemand, 8000*10 + 3000*21}, {0, Starting, 5000*15 + 1000*6}, {0, Held, 4000 * 6},
		{1, NoDemand, 3000 * 25}, {1, Down, 3000 * 6}, {1, Held, 0},
	} {
		if got := sumOf(l, c.model, c.a); got != c.want {
			t.Errorf("model %d %v: %d, want %d", c.model, c.a, got, c.want)
		}
	}
	if l.Now() != 31 || l.Models() != 2 || !l.Balanced() {
		t.Errorf("now %d, %d models, balanced %v", l.Now(), l.Models(), l.Balanced())
	}
}

func TestClearCollectsEverythingUnallocated(t *testing.T) {
	l := New([]int64{100})
	left := int64(100)
	for a := Account(0); a < NumAccounts; a++ {
		if a != NoDemand {
			l.Move(0, NoDemand, a, 3)
			left -= 3
		}
	}
	want := left
	for a := Account(0); a < NoDemand; a++ {
		if a.Unallocated() {
			want += 3
		}
	}
	if got := l.Clear(0); got != want {
		t.Errorf("Clear returns %d, want %d", got, want)
	}
	rates := l.Rates(0)
	for a := Account(0); a < NumAccounts; a++ {
		standing := int64(3)
		if a == NoDemand {
			standing = want
		} else if a.Unallocated() {
			standing = 0
		}
		if rates[a] != standing {
			t.Errorf("after Clear %d stand in %v, want %d", rates[a], a, standing)
		}
	}
}

func TestRunningTimeIsSettledOrLost(t *testing.T) {
	l := New([]int64{2000})
	l.Move(0, NoDemand, Running, 2000)
	l.Advance(100)
	if l.Balanced() {
		t.Error("balanced while 100 ns are at risk")
	}
	l.Settle(0, &Stretch{Milli: 2000, Useful: 30, Unshared: 45, Wall: 60})
	l.Lose(0, &Stretch{Milli: 2000, Wall: 40})
	for a, want := range map[Account]int64{Useful: 60_000, StallLocality: 30_000, StallContention: 30_000, Lost: 80_000} {
		if got := sumOf(l, 0, a); got != want {
			t.Errorf("%v is %d, want %d", a, got, want)
		}
	}
	if !l.Balanced() {
		t.Error("not balanced after all is settled")
	}
}

// Random histories, kept a second time in math/big.
func TestLedgerAgainstBig(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 7))
		capacity := []int64{r.Int64N(1 << 40), r.Int64N(1 << 40)}
		l := New(capacity)
		var rates [2]Rates
		var sums [2][NumAccounts]big.Int
		rates[0][NoDemand], rates[1][NoDemand] = capacity[0], capacity[1]
		now := int64(0)
		atRisk := [2]big.Int{}
		for range 300 {
			m := r.Int32N(2)
			from, to := Account(r.UintN(uint(NumAccounts)+1)), Account(r.UintN(uint(NumAccounts)+1))
			milli := r.Int64N(rates[m][from] + 1)
			l.Move(m, from, to, milli)
			rates[m][from] -= milli
			rates[m][to] += milli
			dt := r.Int64N(1 << 50)
			now += dt
			l.Advance(now)
			for m := range rates {
				for a := range sums[m] {
					addProduct(&sums[m][a], rates[m][a], dt)
				}
				addProduct(&atRisk[m], rates[m][Running], dt)
			}
		}
		for m := range sums {
			for a := range sums[m] {
				if got := l.Sum(m, Account(a)); got.big().Cmp(&sums[m][a]) != 0 {
					t.Fatalf("seed %d: %v is %v, want %v", seed, Account(a), got.big(), &sums[m][a])
				}
			}
		}
		if want := atRisk[0].Sign() == 0 && atRisk[1].Sign() == 0; l.Balanced() != want {
			t.Errorf("seed %d: balanced %v, want %v", seed, !want, want)
		}
	}
}

func addProduct(sum *big.Int, a, b int64) {
	sum.Add(sum, new(big.Int).Mul(big.NewInt(a), big.NewInt(b)))
}

func TestBalancedNoticesOneUnit(t *testing.T) {
	l := New([]int64{1 << 40})
	l.Advance(1 << 50)
	if !l.Balanced() {
		t.Fatal("not balanced at the start")
	}
	l.Lose(0, &Stretch{Milli: 1, Wall: 1})
	if l.Balanced() {
		t.Error("one milli-GPU x ns too many is not noticed")
	}
}

func TestCopyFromIsDeepAndAllocatesOnce(t *testing.T) {
	a := New([]int64{10, 20})
	a.Move(1, NoDemand, Held, 5)
	a.Advance(7)
	var b Ledger
	b.CopyFrom(a)
	a.Move(1, Held, Lost, 5)
	a.Advance(9)
	if b.Now() != 7 || b.Rates(1)[Held] != 5 || sumOf(&b, 1, Held) != 35 || sumOf(&b, 1, Lost) != 0 || !b.Balanced() {
		t.Error("the copy changed with the original, or is none")
	}
	if n := testing.AllocsPerRun(10, func() { b.CopyFrom(a) }); n != 0 {
		t.Errorf("CopyFrom allocates %v times", n)
	}
	if b.Now() != 9 || sumOf(&b, 1, Lost) != 10 {
		t.Error("the second copy is not the original")
	}
}

func TestAccountsSayWhatTheyAre(t *testing.T) {
	seen := map[string]bool{}
	for a := Account(0); a < NumAccounts; a++ {
		if a.String() == "" || seen[a.String()] {
			t.Errorf("account %d is called %q", a, a)
		}
		seen[a.String()] = true
	}
	// gpu_hours.idle of the contract: held, starting, terminating, all blocked, no_demand.
	idle := map[string]bool{"held": true, "starting": true, "terminating": true, "no_demand": true}
	for a := Account(0); a < NumAccounts; a++ {
		name := a.String()
		blocked := len(name) > 8 && name[:8] == "blocked_"
		if a.Unallocated() != (blocked || name == "no_demand") {
			t.Errorf("%s: unallocated %v", name, a.Unallocated())
		}
		if a.Idle() != (blocked || idle[name]) {
			t.Errorf("%s: idle %v", name, a.Idle())
		}
	}
}

// Of the stretches of one job a later one may be a nanosecond more useful than it was
// unshared, by the fractions that carried over; the sum is not.
func TestSettleOfCarriedFractions(t *testing.T) {
	l := New([]int64{8000})
	l.Move(0, NoDemand, Running, 8000)
	l.Advance(40)
	l.Settle(0, &Stretch{Milli: 8000, Useful: 17, Unshared: 19, Wall: 30})
	l.Settle(0, &Stretch{Milli: 8000, Useful: 10, Unshared: 9, Wall: 10})
	for _, c := range []struct {
		a    Account
		want int64
	}{{Useful, 8000 * 27}, {StallContention, 8000}, {StallLocality, 8000 * 12}} {
		if got := sumOf(l, 0, c.a); got != c.want {
			t.Errorf("%v: %d, want %d", c.a, got, c.want)
		}
	}
	if !l.Balanced() {
		t.Error("not balanced")
	}
}

func TestAddSigned(t *testing.T) {
	u := Uint128{Hi: 1}
	u.AddSigned(2, -1)
	u.AddSigned(1, 5)
	if want := (Uint128{Hi: 1, Lo: 3}); u != want {
		t.Errorf("got %v, want %v", u, want)
	}
	u.AddSigned(4, -1)
	if want := (Uint128{Hi: 0, Lo: 1<<64 - 1}); u != want {
		t.Errorf("got %v, want %v", u, want)
	}
}
