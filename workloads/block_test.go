package workloads

import (
	"math"
	"slices"
	"testing"
)

func TestDealIsAFunctionOfSeedAndNumber(t *testing.T) {
	m := lookupMix("llm")
	var a, again, next, other block
	next.deal(m, 1, 5) // what was dealt before does not matter
	again.deal(m, 1, 9)
	a.deal(m, 1, 4)
	again.deal(m, 1, 4)
	other.deal(m, 2, 4)
	if a != again {
		t.Error("the same block was dealt differently")
	}
	if a == next || a == other || a.order == next.order || a.order == other.order {
		t.Error("different blocks are the same")
	}
}

func TestShuffleIsAPermutation(t *testing.T) {
	var b block
	for k := range uint64(5) {
		b.shuffle(1, k)
		slices.Sort(b.order[:])
		for i, slot := range b.order {
			if int(slot) != i {
				t.Fatalf("block %d has no slot %d", k, i)
			}
		}
	}
}

// Each slot is as likely in each place: where slot 0 lands, over many blocks.
func TestShuffleIsFair(t *testing.T) {
	var b block
	var sum float64
	const n = 400
	for k := range uint64(n) {
		b.shuffle(1, k)
		sum += float64(slices.Index(b.order[:], 0))
	}
	// The mean of n uniform places has a standard deviation of 1024 / sqrt(12 n).
	if mean := sum / n; math.Abs(mean-511.5) > 4*blockJobs/math.Sqrt(12*n) {
		t.Errorf("slot 0 lands at %.1f on average", mean)
	}
}

// The quantiles of consecutive jobs of a class are even: of any 100, 50 give or take two
// lie below the median.
func TestDurationsAreEven(t *testing.T) {
	c := class{8, 100, 900, 250_000}
	for seed := range uint64(20) {
		short := 0
		for k := range 100 {
			if c.duration(seed, 3, 70*int(seed)+k) < 900*second {
				short++
			}
		}
		if short < 48 || short > 52 {
			t.Errorf("seed %d: %d of 100 durations lie below the median", seed, short)
		}
	}
}

func TestDurationsAreClamped(t *testing.T) {
	short, long := class{1, 1, 1e-6, 1e-3}, class{1, 1, 1e9, 1e10}
	for k := range 50 {
		if d := short.duration(1, 0, k); d != second {
			t.Errorf("a short job runs for %d ns", d)
		}
		if d := long.duration(1, 0, k); d != 50*day {
			t.Errorf("a long job runs for %d ns", d)
		}
	}
}

// In every block of the llm mix, gangs have a third of the GPU-time, up to the rounding of
// 62 durations to ms.
func TestBalanceIsExact(t *testing.T) {
	m := lookupMix("llm")
	var b block
	for k := range 20 {
		b.deal(m, 3, k)
		var gangs, all int64 // GPU x ms
		for slot, d := range b.durations {
			work := int64(m.class(slot).gpus) * (d / 1e6)
			all += work
			if m.class(slot).gpus >= gangGPUs {
				gangs += work
			}
		}
		if rest := all - 3*gangs; rest < 0 || rest > 3*3840 {
			t.Errorf("block %d: gangs have %d of %d GPU x ms", k, gangs, all)
		}
	}
}

// The factor keeps gangs about as long as their classes say.
func TestBalanceIsGentle(t *testing.T) {
	m := lookupMix("llm")
	plain := *m
	plain.gangsThird = false
	var b, before block
	for k := range 50 {
		b.deal(m, 4, k)
		before.deal(&plain, 4, k)
		if b.order != before.order {
			t.Fatal("balancing changed the order")
		}
		last := blockJobs - 1 // the largest gang
		if f := float64(b.durations[last]) / float64(before.durations[last]); f < 0.5 || f > 2 {
			t.Errorf("block %d: gangs run %.2f times as long", k, f)
		}
		if b.durations[0] != before.durations[0] {
			t.Error("a job that is no gang changed")
		}
	}
}
