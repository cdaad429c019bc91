package devices

import (
	"math/rand"
	"testing"
)

func TestNewAsk(t *testing.T) {
	for _, c := range []struct {
		total int64
		want  Ask
		ok    bool
	}{
		{0, Ask{}, true}, {1, Ask{1, 1}, true}, {999, Ask{1, 999}, true}, {1000, Ask{1, 1000}, true},
		{8000, Ask{8, 1000}, true}, {1500, Ask{1, 1000}, false}, {-1, Ask{-1, -1}, false},
	} {
		got, ok := NewAsk(c.total)
		if ok != c.ok || ok && (got != c.want || got.Total() != c.total) {
			t.Errorf("%d: %v %v", c.total, got, ok)
		}
	}
}

// set makes a node from what is free of each GPU.
func set(free ...int16) Set {
	s := NewSet(len(free))
	copy(s.free[:], free)
	return s
}

func TestFitsAndBest(t *testing.T) {
	for _, c := range []struct {
		set  Set
		ask  Ask
		fits bool
		best Mask
	}{
		{set(), Ask{}, true, 0},
		{set(), Ask{1, 1}, false, 0},
		{set(1000, 300, 500, 300), Ask{1, 300}, true, 1 << 1},
		{set(1000, 300, 500, 300), Ask{1, 301}, true, 1 << 2},
		{set(1000, 300, 500, 300), Ask{1, 600}, true, 1 << 0},
		{set(400, 400), Ask{1, 600}, false, 0}, // 800 free, of no use
		{set(900, 1000, 1000, 1000), Ask{2, Whole}, true, 1<<1 | 1<<2},
		{set(900, 1000, 1000, 1000), Ask{4, Whole}, false, 0},
	} {
		if got := c.set.Fits(c.ask); got != c.fits {
			t.Errorf("%v fits %v: %v", c.set, c.ask, got)
		}
		if c.fits && c.set.Best(c.ask) != c.best {
			t.Errorf("best of %v for %v: %b, want %b", c.set, c.ask, c.set.Best(c.ask), c.best)
		}
	}
}

// What is counted is what can be placed one after another, and giving back restores.
func TestCountIsWhatCanBePlaced(t *testing.T) {
	r := rand.New(rand.NewSource(7))
	for range 2000 {
		s := NewSet(r.Intn(Max + 1))
		for i := range s.Len() {
			s.free[i] = int16(r.Intn(5) * 250)
		}
		a := Ask{1, int32(1 + r.Intn(Whole))}
		if r.Intn(2) == 0 {
			a = Ask{int32(1 + r.Intn(4)), Whole}
		}
		before, counted := s, s.CountOf(a)
		var given []Mask
		for s.Fits(a) {
			m := s.Best(a)
			if m.Len() != int(a.Count) {
				t.Fatalf("%v is given %b", a, m)
			}
			s.Take(m, a.Milli)
			given = append(given, m)
		}
		if int64(len(given)) != counted || s.Total() != before.Total()-counted*a.Total() {
			t.Fatalf("%v counted %d of %v, placed %d", before, counted, a, len(given))
		}
		for _, m := range given {
			s.Take(m, -a.Milli)
		}
		if s != before {
			t.Fatalf("%v is not %v after giving back", s, before)
		}
	}
}

func TestMask(t *testing.T) {
	m := Mask(0b101101)
	if m.Len() != 4 || m.Nth(0) != 1 || m.Nth(2) != 8 || m.Nth(3) != 32 || m.Nth(4) != 0 || m.first(2) != 0b101 {
		t.Errorf("mask %b: %d, %b, %b, %b", m, m.Len(), m.Nth(0), m.Nth(2), m.first(2))
	}
	s := set(1000, 999, 1000)
	if s.FullyFree() != 2 || s.With(999).Len() != 3 || s.Free(1) != 999 {
		t.Errorf("%v", s)
	}
}
