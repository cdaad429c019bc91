package stage

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gangplan/gangplan/topology"
)

// The formulas of kube-scheduler's scoring plugins, in floats, resource by resource.
// spec: kube-scheduler LeastAllocated, MostAllocated, BalancedAllocation (up to 1.35).

func floatLeast(used, cap int64) float64 {
	if cap == 0 || used > cap {
		return 0
	}
	return math.Floor(float64(cap-used) / float64(cap) * 100)
}

func floatMost(used, cap int64) float64 {
	if cap == 0 {
		return 0
	}
	return math.Floor(float64(min(used, cap)) / float64(cap) * 100)
}

func floatBalanced(used, cap *topology.Resources) float64 {
	f := func(r topology.Resource) float64 { return min(1, float64(used[r])/float64(cap[r])) }
	std := math.Abs(f(topology.CPU)-f(topology.Memory)) / 2
	return math.Floor((1 - std) * 100)
}

func floatSpread(used, cap *topology.Resources) float64 {
	least := floatLeast(used[topology.CPU], cap[topology.CPU]) + floatLeast(used[topology.Memory], cap[topology.Memory])
	return math.Floor(least/2) + floatBalanced(used, cap)
}

func floatPack(used, cap *topology.Resources) float64 {
	most := 5*floatMost(used[topology.GPU], cap[topology.GPU]) + floatMost(used[topology.CPU], cap[topology.CPU]) +
		floatMost(used[topology.Memory], cap[topology.Memory])
	return math.Floor(most/7) + floatBalanced(used, cap)
}

// randomNode draws a node with GPUs and what a pod that fits on it leaves used. Sizes
// are primes, so that no quotient of the formulas is a whole number, where floats and
// integers round differently.
func randomNode(r *rand.Rand) (used, cap topology.Resources) {
	cap = topology.Resources{int64(1+r.IntN(8)) * topology.Milli, 127_997, 1_048_573 << 20, 110}
	for k := range cap {
		used[k] = 1 + r.Int64N(cap[k]-1)
	}
	used[topology.Memory] &^= 1<<20 - 1
	used[topology.GPU] = r.Int64N(cap[topology.GPU] + 1)
	return used, cap
}

// near allows one point: where a quotient is a whole number the float may fall just below.
func near(got int64, want float64) bool { return math.Abs(float64(got)-want) <= 1 }

func TestScorersAgainstFloatFormulas(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 6))
	exact := 0
	const n = 20_000
	for range n {
		used, cap := randomNode(r)
		spread, pack := Spread(&used, &cap, true), Pack(&used, &cap, true)
		wantSpread, wantPack := floatSpread(&used, &cap), floatPack(&used, &cap)
		if !near(spread, wantSpread) {
			t.Fatalf("Spread(%v, %v) is %d, want %v", used, cap, spread, wantSpread)
		}
		if !near(pack, wantPack) {
			t.Fatalf("Pack(%v, %v) is %d, want %v", used, cap, pack, wantPack)
		}
		if float64(spread) == wantSpread && float64(pack) == wantPack {
			exact++
		}
	}
	if exact < n*999/1000 {
		t.Errorf("only %d of %d scores are exact", exact, n)
	}
}

// Numbers worked out by hand on a node of 8 GPUs, 128 cores and 1 TiB.
func TestScoresByHand(t *testing.T) {
	cap := topology.Resources{8000, 128_000, 1 << 40, 110}
	for _, c := range []struct {
		name         string
		used         topology.Resources
		spread, pack int64
	}{
		// least (100 + 100) / 2, balanced 100; most 0
		{"empty", topology.Resources{}, 200, 100},
		// all a half: least 50, balanced 100; most (250 + 50 + 50) / 7
		{"half", topology.Resources{4000, 64_000, 1 << 39, 4}, 150, 150},
		// cpu full, memory empty: least (0 + 100) / 2, balanced 100 - 50; most (100 + 0) / 7
		{"all cores, no memory", topology.Resources{0, 128_000, 0, 1}, 100, 64},
		// GPUs full: most (500 + 50 + 50) / 7 = 85
		{"all GPUs", topology.Resources{8000, 64_000, 1 << 39, 8}, 150, 185},
		// 12 of 128 cores is 9.375 %, so 90.625 % is left; 96 GiB of 1 TiB the same; GPU 12.5 %
		{"one default pod", topology.Resources{1000, 12_000, 96 << 30, 1}, 190, 100 + (5*12+9+9)/7},
		// one core too many counts as none left and as full
		{"overcommitted", topology.Resources{8000, 129_000, 1 << 40, 1}, 100, 200},
	} {
		if got := Spread(&c.used, &cap, true); got != c.spread {
			t.Errorf("%s: spread %d, want %d", c.name, got, c.spread)
		}
		if got := Pack(&c.used, &cap, true); got != c.pack {
			t.Errorf("%s: pack %d, want %d", c.name, got, c.pack)
		}
	}
}

// The largest nodes there are do not overflow the products.
func TestScoresOfHugeNodes(t *testing.T) {
	cap := topology.Resources{1024 * topology.Milli, 10_000 * topology.Milli, 64 << 40, 1000}
	if s := Spread(&topology.Resources{}, &cap, true); s != 200 {
		t.Errorf("an empty huge node has %d", s)
	}
	if s := Pack(&cap, &cap, true); s != 200 {
		t.Errorf("a full huge node has %d", s)
	}
}

func TestScoresAreFromZeroTo200(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 6))
	for range 5000 {
		var used, cap topology.Resources
		for k := range cap {
			cap[k], used[k] = r.Int64N(1<<r.UintN(40)+1), r.Int64N(1<<r.UintN(40)+1)
		}
		for _, s := range []int64{Spread(&used, &cap, true), Pack(&used, &cap, true)} {
			if s < 0 || s > 200 {
				t.Fatalf("used %v of %v scores %d", used, cap, s)
			}
		}
	}
}

// spec: kube-scheduler counts 100 milli-cores and 200 MiB where a container asks for none.
func TestNonZeroRequests(t *testing.T) {
	got := NonZero(topology.Resources{5, 0, 0, 1})
	if got != (topology.Resources{5, 100, 200 << 20, 1}) {
		t.Errorf("got %v", got)
	}
	kept := topology.Resources{0, 1, 1, 1}
	if NonZero(kept) != kept {
		t.Error("a request that is there is changed")
	}
}
