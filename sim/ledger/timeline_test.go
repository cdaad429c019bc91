package ledger

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// feed plays a history of one model into a timeline: rates that change at random times, in
// the lane of Held, and stretches that are settled or lost when they end. It returns what
// happened, for naive to sum up.
func feed(r *rand.Rand, l *Timeline, instants int, pace int64) *history {
	h := &history{}
	var held Uint128
	now, rate := int64(0), int64(3000)
	for range instants {
		at := now
		next := now + r.Int64N(pace)
		for l.Turns(next) {
			held.AddProduct(uint64(rate), uint64(l.End()-at))
			at = l.End()
			l.Record(int(Held), held)
			l.Turn()
		}
		held.AddProduct(uint64(rate), uint64(next-at))
		h.held = append(h.held, Stretch{From: now, Wall: next - now, Milli: rate})
		if next > 0 && r.IntN(3) == 0 {
			h.settle(r, l, next)
		}
		now, rate = next, r.Int64N(9000)
	}
	l.Close(now)
	l.Record(int(Held), held)
	h.end = now
	return h
}

type history struct {
	held, kept, lost []Stretch
	end              int64
	contention       big.Int // of what is kept
}

// settle ends a random stretch at a time.
func (h *history) settle(r *rand.Rand, l *Timeline, at int64) {
	s := Stretch{Wall: 1 + r.Int64N(at), Milli: 1 + r.Int64N(16_000)}
	s.From = at - s.Wall
	if r.IntN(4) == 0 {
		h.lost = append(h.lost, s)
		l.Lose(0, &s)
		return
	}
	s.Unshared = r.Int64N(s.Wall + 1)
	s.Useful = r.Int64N(s.Unshared + 1)
	if r.IntN(8) == 0 && s.Unshared < s.Wall && h.contention.Cmp(big.NewInt(s.Milli)) >= 0 {
		s.Useful = s.Unshared + 1 // a carried fraction, of contention that was there
	}
	addProduct(&h.contention, s.Milli, s.Unshared-s.Useful)
	h.kept = append(h.kept, s)
	l.Settle(0, &s)
}

// upTo is what of a history lies before t: of stretches that are kept, its share of the
// useful time, and of the rest the share of the placement.
func (h *history) upTo(t int64) (sums [NumAccounts]big.Int) {
	before := func(s *Stretch) int64 { return max(0, min(t, s.From+s.Wall)-s.From) }
	for i := range h.held {
		addProduct(&sums[Held], h.held[i].Milli, before(&h.held[i]))
	}
	for i := range h.lost {
		addProduct(&sums[Lost], h.lost[i].Milli, before(&h.lost[i]))
	}
	for i := range h.kept {
		s := &h.kept[i]
		dt := before(s)
		stalled, local := s.Wall-s.Useful, min(s.Wall-s.Unshared, s.Wall-s.Useful)
		useful := floorShare(s.Useful, dt, s.Wall)
		locality := floorShare(local, dt-useful, stalled)
		addProduct(&sums[Useful], s.Milli, useful)
		contention := dt - useful - locality
		if dt == s.Wall {
			locality, contention = s.Wall-s.Unshared, s.Unshared-s.Useful
		}
		addProduct(&sums[StallLocality], s.Milli, locality)
		addProduct(&sums[StallContention], s.Milli, contention)
	}
	return sums
}

func floorShare(n, part, whole int64) int64 {
	if whole == 0 {
		return 0
	}
	product := new(big.Int).Mul(big.NewInt(n), big.NewInt(part))
	return product.Div(product, big.NewInt(whole)).Int64()
}

// Whatever the history, and however often buckets were merged, every bucket holds what a
// sum over the whole history up to its end and one up to its start differ by. Of the stalls
// that is said together: a nanosecond of contention that is owed is taken from a bucket that
// has it, so that no bucket is below zero, and over all buckets each of them is what it is.
func TestTimelineAgainstSums(t *testing.T) {
	widest := int64(0)
	for seed := range uint64(24) {
		r := rand.New(rand.NewPCG(seed, 11))
		l := NewTimeline(int(NumAccounts))
		h := feed(r, l, 60, second<<r.UintN(24))
		if _, end := l.Span(l.Buckets() - 1); end != h.end || l.Buckets() > MaxBuckets {
			t.Fatalf("seed %d: %d buckets up to %d, want %d", seed, l.Buckets(), end, h.end)
		}
		widest = max(widest, l.width)
		var totals [NumAccounts]big.Int
		for b := range l.Buckets() {
			from, to := l.Span(b)
			before, after := h.upTo(from), h.upTo(to)
			got, want := bucketOf(l, b), [NumAccounts]big.Int{}
			for a := range NumAccounts {
				want[a].Sub(&after[a], &before[a])
				totals[a].Add(&totals[a], &got[a])
				if got[a].Sign() < 0 {
					t.Fatalf("seed %d: bucket %d of %d: %v is %v", seed, b, l.Buckets(), a, &got[a])
				}
			}
			for _, sums := range []*[NumAccounts]big.Int{&got, &want} {
				sums[StallLocality].Add(&sums[StallLocality], &sums[StallContention])
				sums[StallContention].SetInt64(0)
			}
			for a := range NumAccounts {
				if got[a].Cmp(&want[a]) != 0 {
					t.Fatalf("seed %d: bucket %d of %d: %v is %v, want %v", seed, b, l.Buckets(), a, &got[a], &want[a])
				}
			}
		}
		all := h.upTo(math.MaxInt64)
		for a := range NumAccounts {
			if totals[a].Cmp(&all[a]) != 0 {
				t.Fatalf("seed %d: %v is %v over all buckets, want %v", seed, a, &totals[a], &all[a])
			}
		}
	}
	if widest < 86400*second {
		t.Errorf("the widest bucket is %d ns: too little was merged to prove anything", widest)
	}
}

func bucketOf(l *Timeline, b int) (sums [NumAccounts]big.Int) {
	for a := range NumAccounts {
		sums[a].Set(signed(l.Amount(b, int(a))))
	}
	return sums
}

// signed reads a difference that may lie below zero.
func signed(u Uint128) *big.Int {
	b := u.big()
	if u.Hi>>63 == 1 {
		b.Sub(b, wrap)
	}
	return b
}

// A run of any length has at least a hundred and some buckets, once it has that many seconds,
// and never more than the limit. Widths are those people think in.
func TestTimelineWidths(t *testing.T) {
	for _, c := range []struct {
		seconds, width int64
		buckets        int
	}{
		{0, 1, 1}, {1, 1, 1}, {2, 1, 2}, {1024, 1, 1024}, {1025, 5, 205}, {5121, 10, 513}, {8 * 3600, 30, 960}, {86400, 300, 288},
		{7 * 86400, 600, 1008}, {30 * 86400, 3600, 720}, {90 * 86400, 14400, 540}, {365 * 86400, 43200, 730}, {3 * 365 * 86400, 2 * 86400, 548},
	} {
		l := NewTimeline(1)
		goTo(l, c.seconds*second)
		if l.width != c.width*second || l.Buckets() != c.buckets {
			t.Errorf("%d s: %d buckets of %d ns, want %d of %d s", c.seconds, l.Buckets(), l.width, c.buckets, c.width)
		}
	}
}

func goTo(l *Timeline, t int64) {
	for l.Turns(t) {
		l.Turn()
	}
	l.Close(t)
}

// Time itself ends before the buckets do.
func TestTimelineUpToTheEndOfTime(t *testing.T) {
	l := NewTimeline(int(NumAccounts))
	for l.Turns(math.MaxInt64) {
		l.Turn()
	}
	l.Lose(0, &Stretch{From: math.MaxInt64 - 5, Wall: 5, Milli: 1})
	l.Close(math.MaxInt64)
	if from, to := l.Span(l.Buckets() - 1); from < 0 || to != math.MaxInt64 || l.Buckets() > MaxBuckets {
		t.Errorf("the last of %d buckets is from %d to %d", l.Buckets(), from, to)
	}
	if got := l.Amount(l.Buckets()-1, int(Lost)); got != (Uint128{Lo: 5}) {
		t.Errorf("the last 5 ns hold %v", got)
	}
}

// Closed before what was recorded, it holds what it would have held then.
func TestTimelineClosedEarlier(t *testing.T) {
	for _, late := range []int64{11, 15, 900, 5000, 100_000} {
		l := NewTimeline(1)
		record := func(at int64) { l.Record(0, Uint128{Lo: uint64(7 * at)}) }
		for l.Turns(late * second) {
			record(l.End())
			l.Turn()
		}
		l.Close(10*second + 1)
		record(10*second + 1)
		var sum Uint128
		for b := range l.Buckets() {
			sum.Add(l.Amount(b, 0))
		}
		if _, end := l.Span(l.Buckets() - 1); end != 10*second+1 || sum != (Uint128{Lo: 7 * uint64(end)}) {
			t.Errorf("recorded up to %d s: ends at %d with %v", late, end, sum)
		}
	}
}

// A timeline of very many lanes has fewer buckets.
func TestTimelineOfManyLanes(t *testing.T) {
	l := NewTimeline(100_000)
	goTo(l, 1000*second)
	if l.Buckets() != 100 || l.width != 10*second {
		t.Errorf("%d buckets of %d ns", l.Buckets(), l.width)
	}
	if (&Timeline{}).Buckets() != 0 {
		t.Error("the zero timeline has buckets")
	}
}

func TestTimelineAllocatesOnce(t *testing.T) {
	l := NewTimeline(int(NumAccounts))
	now := int64(0)
	step := func() {
		now += 100 * second
		for l.Turns(now) {
			l.Record(int(Held), Uint128{Lo: uint64(now)})
			l.Turn()
		}
		l.Settle(0, &Stretch{From: now / 2, Wall: now / 3, Milli: 1000, Useful: now / 5, Unshared: now / 4})
	}
	if n := testing.AllocsPerRun(2000, step); n != 0 {
		t.Errorf("%v allocations per step", n)
	}
}
