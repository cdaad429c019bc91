package rng

import (
	"hash/fnv"
	"math/bits"
	"testing"
)

// The hash is a contract: a changed value here changes every simulation ever recorded.
func TestHashGolden(t *testing.T) {
	cases := []struct {
		seed        uint64
		purpose     Purpose
		id, attempt uint64
		want        uint64
	}{
		{0, 0, 0, 0, 0x2130748aaac80268},
		{0, StartUp, 0, 0, 0xd1c0270687984b37},
		{1, StartUp, 0, 0, 0xc965d6348c188782},
		{1, StartUp, 1, 0, 0x3ea0a76395d91588},
		{1, StartUp, 1, 1, 0xe22af074957308c3},
		{1, Tie, 1, 1, 0xc520b58fb82ba6be},
		{1<<64 - 1, Provision, 1<<64 - 1, 1<<64 - 1, 0xc6c89026507e8ca5},
		{42, Duration, StableID("j-000001", 1), 0, 0xdc4cf6999a770bdb},
	}
	for _, c := range cases {
		if got := Hash(c.seed, c.purpose, c.id, c.attempt); got != c.want {
			t.Errorf("Hash(%d, %d, %d, %d) = %#016x, want %#016x", c.seed, c.purpose, c.id, c.attempt, got, c.want)
		}
	}
}

// One round of the loop is one step of splitmix64, whose sequence is published: these are
// the first three outputs for the state 1234567.
func TestFoldIsSplitmix64(t *testing.T) {
	state := uint64(1234567)
	for _, want := range []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423} {
		if got := fold(0, state); got != want {
			t.Errorf("fold(0, %d) = %d, want %d", state, got, want)
		}
		state += golden
	}
}

// The doc comment's recipe, written out a second time.
func TestHashFollowsItsRecipe(t *testing.T) {
	recipe := func(words ...uint64) uint64 {
		h := uint64(0)
		for _, w := range words {
			z := (h ^ w) + 0x9e3779b97f4a7c15
			z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
			z = (z ^ z>>27) * 0x94d049bb133111eb
			h = z ^ z>>31
		}
		return h
	}
	for i := range uint64(100) {
		if got, want := Hash(i, Purpose(i*i), i<<40, ^i), recipe(i, i*i, i<<40, ^i); got != want {
			t.Fatalf("Hash for %d = %#x, want %#x", i, got, want)
		}
		if got, want := ID2(i, i<<20), recipe(i, i<<20); got != want {
			t.Fatalf("ID2 for %d = %#x, want %#x", i, got, want)
		}
	}
}

func TestPurposesArePinned(t *testing.T) {
	all := []Purpose{StartUp, Crash, NodeFault, NodeRepair, Tie, Arrival, Size, Duration,
		Model, Priority, Image, Tenant, Resample, Provision}
	for i, p := range all {
		if p != Purpose(i+1) {
			t.Errorf("purpose %d has the value %d", i+1, p)
		}
	}
}

// Flipping any one input bit flips about half of the output bits.
func TestHashAvalanche(t *testing.T) {
	const samples = 64
	for word := range 4 {
		for bit := range 64 {
			flipped := 0
			for s := range uint64(samples) {
				in := [4]uint64{s, s * 3, s * 5, s * 7}
				before := Hash(in[0], Purpose(in[1]), in[2], in[3])
				in[word] ^= 1 << bit
				flipped += bits.OnesCount64(before ^ Hash(in[0], Purpose(in[1]), in[2], in[3]))
			}
			// 64*64 fair coins: mean 2048, standard deviation 32.
			if flipped < 2048-6*32 || flipped > 2048+6*32 {
				t.Errorf("word %d bit %d flips %d of %d output bits", word, bit, flipped, samples*64)
			}
		}
	}
}

func TestHashHasNoCollisionsOnSmallInputs(t *testing.T) {
	seen := map[uint64]bool{}
	n := 0
	for seed := range uint64(8) {
		for purpose := range Purpose(15) {
			for id := range uint64(50) {
				for attempt := range uint64(4) {
					seen[Hash(seed, purpose, id, attempt)] = true
					n++
				}
			}
		}
	}
	if len(seen) != n {
		t.Errorf("%d different hashes of %d inputs", len(seen), n)
	}
}

func TestStableIDIsFNV(t *testing.T) {
	for _, c := range []struct {
		name string
		row  int64
	}{{"", 0}, {"", 1}, {"a", 0}, {"job-1", 0x0102030405060708}, {"jöb", -1}} {
		h := fnv.New64a()
		h.Write([]byte(c.name))
		for i := range 8 {
			h.Write([]byte{byte(uint64(c.row) >> (8 * i))})
		}
		if got := StableID(c.name, c.row); got != h.Sum64() {
			t.Errorf("StableID(%q, %d) = %#x, want %#x", c.name, c.row, got, h.Sum64())
		}
	}
	if got := StableID("node-1", 0); got != 0x85b6847f4dc71023 {
		t.Errorf("StableID(\"node-1\", 0) = %#x", got)
	}
}

// Traces repeat ids (array tasks); the row tells the jobs apart.
func TestStableIDTellsRowsApart(t *testing.T) {
	if StableID("532939", 1) == StableID("532939", 2) {
		t.Error("two rows of one id are the same thing")
	}
}

func TestID2Order(t *testing.T) {
	if ID2(1, 2) == ID2(2, 1) {
		t.Error("ID2 ignores the order")
	}
	if ID2(0, 0) == 0 {
		t.Error("ID2(0, 0) is 0")
	}
}

func TestBelow(t *testing.T) {
	cases := []struct{ h, n, want uint64 }{
		{0, 10, 0},
		{1<<64 - 1, 10, 9},
		{1 << 63, 10, 5},
		{1<<64 - 1, 1, 0},
		{1<<64 - 1, 0, 0},
	}
	for _, c := range cases {
		if got := Below(c.h, c.n); got != c.want {
			t.Errorf("Below(%#x, %d) = %d, want %d", c.h, c.n, got, c.want)
		}
	}
}

func TestHashDoesNotAllocate(t *testing.T) {
	var sink uint64
	n := testing.AllocsPerRun(100, func() {
		sink += Hash(1, Tie, ID2(StableID("pod", 1), sink), 0)
		sink += uint64(QuantiseMillis(LogNormal(sink, 30, 90)))
	})
	if n != 0 {
		t.Errorf("%v allocations per draw", n)
	}
}

func BenchmarkHash(b *testing.B) {
	var h uint64
	for b.Loop() {
		h = Hash(1, Tie, h, 0)
	}
}
