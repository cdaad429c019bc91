package stage

import (
	"math/big"
	"math/rand"
	"slices"
	"testing"

	"github.com/gangplan/gangplan/topology"
)

func load(offers, used topology.Resources) *Load {
	return &Load{Offers: offers, Real: used, NonZero: used}
}

// res is a vector in GPUs, cores and GiB.
func res(gpus, cores, gib int64) topology.Resources {
	return topology.Resources{topology.GPU: gpus * 1000, topology.CPU: cores * 1000, topology.Memory: gib << 30, topology.Pods: 110}
}

func TestFitStrategies(t *testing.T) {
	gpuHeavy := []Weighted{{topology.GPU, 5}, {topology.CPU, 1}, {topology.Memory, 1}}
	shape := Shape{{0, 0}, {50, 10}, {100, 5}}
	for _, c := range []struct {
		name   string
		fit    FitScorer
		demand topology.Resources
		node   *Load
		want   int64
	}{
		{"least: a third of the CPU, half of the memory", FitScorer{Resources: cpuAndMemory}, res(0, 4, 32), load(res(8, 12, 64), res(0, 0, 0)), (66 + 50) / 2},
		{"least: beyond the node scores nothing", FitScorer{Resources: cpuAndMemory}, res(0, 4, 32), load(res(8, 2, 64), res(0, 0, 0)), (0 + 50) / 2},
		{"least: no CPU does not count", FitScorer{Resources: cpuAndMemory}, res(0, 4, 32), load(res(8, 0, 64), res(0, 0, 0)), 50},
		{"least: nothing at all", FitScorer{Resources: cpuAndMemory}, res(0, 4, 32), load(res(8, 0, 0), res(0, 0, 0)), 0},
		{"most", FitScorer{Strategy: MostAllocated, Resources: gpuHeavy}, res(1, 4, 32), load(res(8, 16, 64), res(1, 4, 0)), (5*25 + 50 + 50) / 7},
		{"most: the GPU of a pod without", FitScorer{Strategy: MostAllocated, Resources: gpuHeavy}, res(0, 4, 32), load(res(8, 16, 64), res(8, 4, 0)), (50 + 50) / 2},
		{"most: a full node is full", FitScorer{Strategy: MostAllocated, Resources: cpuAndMemory}, res(0, 40, 128), load(res(8, 16, 64), res(0, 0, 0)), 100},
		{"ratio: 25% and 75%", FitScorer{RequestedToCapacityRatio, cpuAndMemory, shape}, res(0, 4, 48), load(res(0, 16, 64), res(0, 0, 0)), (50 + 75 + 1) / 2},
		{"ratio: what scores 0 has no weight", FitScorer{RequestedToCapacityRatio, cpuAndMemory, shape}, res(0, 0, 32), load(res(0, 100000, 64), res(0, 0, 0)), 100},
		{"ratio: beyond the node is full", FitScorer{RequestedToCapacityRatio, cpuAndMemory, shape}, res(0, 32, 128), load(res(0, 16, 64), res(0, 0, 0)), 50},
	} {
		d := NewDemand(c.demand)
		if got := c.fit.Score(&d, c.node); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

func TestShape(t *testing.T) {
	s := Shape{{10, 0}, {20, 10}, {90, 3}}
	for _, c := range [][2]int64{{0, 0}, {10, 0}, {15, 50}, {20, 100}, {21, 99}, {55, 65}, {90, 30}, {100, 30}} {
		if got := s.at(c[0]); got != c[1] {
			t.Errorf("at %d%%: %d, want %d", c[0], got, c[1])
		}
	}
	if got := Shape(nil).at(50); got != 0 {
		t.Errorf("no points: %d", got)
	}
}

func TestPercentOfHugeMemory(t *testing.T) {
	const eib = 1 << 60
	if got := percent(eib/4, eib); got != 25 {
		t.Errorf("a quarter of an EiB is %d%%", got)
	}
}

func TestNonZeroCountsForAllocationOnly(t *testing.T) {
	p := SpreadProfile()
	d := NewDemand(topology.Resources{topology.GPU: 1000, topology.Pods: 1})
	if d.NonZero[topology.CPU] != 100 || d.NonZero[topology.Memory] != 200<<20 {
		t.Fatalf("an empty request counts %v", d.NonZero)
	}
	l := &Load{Offers: res(8, 1, 1)}
	l.Add(&d)
	l.Add(&d)
	// 300m of 1000m and 600 MiB of 1024 MiB with the third such pod.
	if got := p.Fit.Score(&d, l); got != (70+41)/2 {
		t.Errorf("LeastAllocated %d", got)
	}
	if !p.Balanced.Skips(&d) || p.Balanced.Score(&d, l) != 0 {
		t.Error("BalancedAllocation rates a pod without CPU and memory")
	}
	if p.Resources(&d, l) != 55 {
		t.Errorf("both: %d", p.Resources(&d, l))
	}
}

func TestBalancedAllocation(t *testing.T) {
	two := BalancedScorer{Resources: []topology.Resource{topology.CPU, topology.Memory}}
	three := BalancedScorer{Resources: []topology.Resource{topology.CPU, topology.Memory, topology.GPU}}
	newer := BalancedScorer{Resources: two.Resources, Compared: true}
	for _, c := range []struct {
		name   string
		b      BalancedScorer
		demand topology.Resources
		used   topology.Resources
		want   int64
	}{
		{"even", two, res(0, 4, 16), res(0, 0, 0), 100},
		{"half and nothing", two, res(0, 8, 0), res(0, 0, 0), 75},
		{"more than all counts as all", two, res(0, 64, 0), res(0, 0, 0), 50},
		{"GPUs of a pod without", three, res(0, 8, 0), res(8, 0, 0), 75},
		// Fractions 1/2, 0, 1/2 have mean 1/3 and standard deviation sqrt(2)/6 = 0.2357.
		{"three", three, res(4, 8, 0), res(0, 0, 0), 76},
		{"newer: no change", newer, res(0, 4, 16), res(0, 2, 8), 75},
		{"newer: worst", newer, res(0, 16, 0), res(0, 0, 0), 50},
		{"newer: best", newer, res(0, 0, 64), res(0, 16, 0), 100},
	} {
		d := NewDemand(c.demand)
		if got := c.b.Score(&d, load(res(8, 16, 64), c.used)); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

// The score is that of binary floats where exact fractions differ: a test that such cases
// exist, so that nobody simplifies them away.
func TestBalancedAllocationIsNotExactFractions(t *testing.T) {
	b := SpreadProfile().Balanced
	r, differ := rand.New(rand.NewSource(1)), 0
	for range 20000 {
		cores := 100 * (1 + r.Int63n(9))
		d := NewDemand(topology.Resources{topology.CPU: 1 + r.Int63n(cores), topology.Memory: (1 + r.Int63n(100)) << 20})
		l := &Load{Offers: topology.Resources{topology.CPU: cores, topology.Memory: 100 << 20}}
		x := big.NewRat(d.Real[topology.CPU], cores)
		x.Sub(x, big.NewRat(d.Real[topology.Memory]>>20, 100)).Abs(x).Quo(x, big.NewRat(2, 1))
		x.Sub(big.NewRat(1, 1), x).Mul(x, big.NewRat(100, 1))
		exact := new(big.Int).Quo(x.Num(), x.Denom()).Int64()
		got := b.Score(&d, l)
		if got != exact {
			differ++
		}
		if got < exact-1 || got > exact {
			t.Fatalf("%v of %v: %d, exact %d", d.Real, l.Offers, got, exact)
		}
	}
	if differ == 0 {
		t.Error("never differs from exact fractions: the floats are for nothing")
	}
}

func TestComparingPlugins(t *testing.T) {
	for _, c := range []struct {
		name      string
		normalize func([]int64)
		raw, want []int64
	}{
		{"no soft taints", NormalizeTaints, []int64{0, 0}, []int64{100, 100}},
		{"soft taints", NormalizeTaints, []int64{0, 1, 3}, []int64{100, 67, 0}},
		{"no preference matches", NormalizePreference, []int64{0, 0}, []int64{0, 0}},
		{"preferences", NormalizePreference, []int64{0, 20, 60}, []int64{0, 33, 100}},
		{"pod affinity", NormalizeAffinity, []int64{-5, 0, 5}, []int64{0, 50, 100}},
		{"pod affinity, all alike", NormalizeAffinity, []int64{7, 7}, []int64{0, 0}},
		{"spread", NormalizeSpread, []int64{2, 4, 3, NoSpread}, []int64{100, 50, 75, 0}},
		{"spread, nothing there", NormalizeSpread, []int64{0, 0, NoSpread}, []int64{100, 100, 0}},
		{"nobody", NormalizeSpread, nil, nil},
	} {
		got := slices.Clone(c.raw)
		c.normalize(got)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestSpreadScore(t *testing.T) {
	// 3 pods x ln 6 + 2, and 1 pod x ln 4: 7.375 + 1.386 = 8.76.
	if got := SpreadScore([]SpreadTerm{{3, 3, 4}, {1, 1, 2}}); got != 9 {
		t.Errorf("%d, want 9", got)
	}
	if got := SpreadScore(nil); got != 0 {
		t.Errorf("no constraints: %d", got)
	}
}

func TestImageScore(t *testing.T) {
	const mb = 1 << 20
	for _, c := range [][3]int64{{0, 1, 0}, {23 * mb, 1, 0}, {1000 * mb, 1, 100}, {9000 * mb, 1, 100}, {500 * mb, 1, 48}, {500 * mb, 2, 24}} {
		if got := ImageScore(c[0], c[1]); got != c[2] {
			t.Errorf("%d MB in %d containers: %d, want %d", c[0]/mb, c[1], got, c[2])
		}
	}
}

func TestProfiles(t *testing.T) {
	// The seven-eighths full node attracts the packer and repels the spreader.
	d := NewDemand(res(1, 12, 96))
	empty, full := load(res(8, 128, 1024), res(0, 0, 0)), load(res(8, 128, 1024), res(7, 84, 672))
	if SpreadProfile().Resources(&d, empty) <= SpreadProfile().Resources(&d, full) {
		t.Error("spread prefers the full node")
	}
	if PackProfile().Resources(&d, empty) >= PackProfile().Resources(&d, full) {
		t.Error("pack prefers the empty node")
	}
	if TaintToleration.String() != "TaintToleration" || ImageLocality.String() != "ImageLocality" {
		t.Error("plugin names are shifted")
	}
}
