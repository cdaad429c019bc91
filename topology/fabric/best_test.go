package fabric

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gangplan/gangplan/topology"
)

// The ideal of one gang is the cost of one placement that can be named.
func TestBestIsThisPlacement(t *testing.T) {
	// Two zones of two racks of three hosts: nodes 0-2, 3-5 | 6-8, 9-11.
	tests := []struct {
		name string
		pods []Pod
	}{
		{"one pod", podsOn(8000, 4)},
		{"pods share a host", podsOn(2000, 4, 4, 4, 4)},
		{"shares of devices", podsOn(500, 4, 4, 4)},
		{"launcher and workers", append(podsOn(0, 0), podsOn(4000, 0, 0)...)},
		{"a rack", podsOn(8000, 0, 1, 2)},
		{"a zone", podsOn(8000, 0, 1, 2, 3)},
		{"both zones", podsOn(8000, 0, 1, 2, 3, 4, 5, 6)},
		{"twelve single GPUs, six and six", podsOn(1000, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1)},
		{"threes: two to a host, and one left", podsOn(3000, 0, 0, 1, 1, 2)},
		{"fives: one to a host", podsOn(5000, 0, 1, 2)},
		{"full hosts and a rest", append(podsOn(8000, 0, 1), Pod{2, 3000})},
		{"pairs of different sizes", []Pod{{0, 5000}, {0, 3000}, {1, 5000}, {1, 3000}}},
		{"700 milli-GPU: one to a device", podsOn(700, 0, 0, 0, 0, 0, 1, 1, 1, 1)},
	}
	c := regular(t, "zone rack host", 2, 2, 3)
	f := compile(t, h100(t), c, map[string]Level{"zone": {100, 1, 0, 0}, "rack": {10, 1, 0, 0}})
	s := NewScratch(f)
	for _, tt := range tests {
		for _, bytes := range []int64{kib, mib, gib} {
			want := f.AllReduce(s, tt.pods, bytes)
			if got := f.BestAllReduce(s, sizesOf(tt.pods), bytes); got != want {
				t.Errorf("%s, %d bytes: got %v, want %v", tt.name, bytes, got, want)
			}
		}
	}
}

func TestFewestHosts(t *testing.T) {
	tests := []struct {
		sizes []int64 // descending, in GPUs
		want  int64
	}{
		{[]int64{8}, 1},
		{[]int64{8, 1}, 2},
		{[]int64{4, 4, 4}, 2},
		{[]int64{5, 5, 5}, 3},
		{[]int64{5, 5, 5, 3, 3, 3}, 3},
		{[]int64{3, 3, 3, 3, 3}, 3},
		{[]int64{6, 1, 1}, 1},
	}
	f := compile(t, bare(), regular(t, "host", 10), nil)
	for _, tt := range tests {
		var total int64
		sizes := slices.Clone(tt.sizes)
		for i := range sizes {
			sizes[i] *= topology.Milli
			total += sizes[i]
		}
		if got := f.best.fewestDomains(&Scratch{sizes: sizes}, total); got != tt.want {
			t.Errorf("%v: %d hosts, want %d", tt.sizes, got, tt.want)
		}
	}
}

// place calls visit for every way to put the pods on hosts with room, in rank order.
func place(c *topology.Cluster, sizes []int32, visit func([]Pod)) {
	free := make([]int64, len(c.Nodes))
	for i := range free {
		free[i] = c.Nodes[i].Allocatable[topology.GPU]
	}
	pods := make([]Pod, len(sizes))
	var next func(int)
	next = func(i int) {
		if i == len(sizes) {
			visit(pods)
			return
		}
		for n := range free {
			if g := int64(sizes[i]); free[n] >= g {
				free[n] -= g
				pods[i] = Pod{int32(n), sizes[i]}
				next(i + 1)
				free[n] += g
			}
		}
	}
	next(0)
}

// Over all placements of a small gang on a small cluster of equal hosts, none is better
// than the best, and for equal pods one is as good.
func TestBestOverAllPlacements(t *testing.T) {
	c := regularOf(t, 4, "rack host", 2, 3)
	gangs := [][]int32{
		{1000}, {1000, 1000}, {2000, 2000, 2000}, {3000, 3000, 3000}, {4000, 4000, 4000, 4000},
		{1000, 1000, 1000, 1000, 1000}, {1000, 1000, 1000, 1000, 1000, 1000}, {2000, 2000, 2000, 2000, 2000},
		{3000, 1000}, {4000, 1000}, {3000, 2000, 1000}, {3000, 3000, 1000, 1000}, {3000, 2000, 2000, 1000, 1000},
		{500, 500, 500}, {4000, 4000, 2000, 2000}, {0, 2000, 2000, 2000},
	}
	for _, r := range []float64{1, 3, 30} {
		p := bare()
		p.Intra, p.Inter, p.HopMicros = Latency{1, 50, 2}, Latency{3, 20, 9}, 1
		f := compile(t, p, c, oversubscribed("rack", r))
		s := NewScratch(f)
		for _, sizes := range gangs {
			bytes := int64(10 * mib)
			best, least := f.BestAllReduce(s, sizes, bytes), int64(-1)
			place(c, sizes, func(pods []Pod) {
				got := f.AllReduce(s, pods, bytes).Nanos
				if least < 0 || got < least {
					least = got
				}
			})
			if best.Nanos != least {
				t.Errorf("r = %v, %v: best %d, least over all placements %d", r, sizes, best.Nanos, least)
			}
		}
	}
}

// randomPlacement makes pods of one size or of many, each put where there was room for it.
func randomPlacement(rng *rand.Rand, c *topology.Cluster) []Pod {
	free := make([]int64, len(c.Nodes))
	for i := range free {
		free[i] = c.Nodes[i].Allocatable[topology.GPU]
	}
	var pods []Pod
	equal := rng.IntN(2) == 0
	size := int64(1000 * (1 + rng.IntN(8)))
	for range 1 + rng.IntN(10) {
		n := rng.IntN(len(free))
		if !equal {
			size = int64(1000 * (1 + rng.IntN(8)))
		}
		if free[n] >= size {
			free[n] -= size
			pods = append(pods, Pod{int32(n), int32(size)})
		}
	}
	return pods
}

// No placement on equal hosts beats the best, be the racks of one size or not.
func TestBestIsALowerBound(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	rack := func(hosts int) []int64 { return slices.Repeat([]int64{8}, hosts) }
	clusters := []*topology.Cluster{
		regular(t, "host", 6),
		regular(t, "zone rack host", 2, 2, 3),
		racksOf(t, rack(1), rack(4), rack(2), []int64{0, 0}),
	}
	for i, c := range clusters {
		for _, algorithm := range []Algorithm{Ring, Tree, Hierarchical} {
			p := h100(t)
			p.Algorithm, p.HopMicros = algorithm, 5
			f := compile(t, p, c, map[string]Level{c.Levels[0]: {1 + 50*rng.Float64(), 1, 0, 0}})
			s := NewScratch(f)
			for range 3000 {
				pods, bytes := randomPlacement(rng, c), randomSize(rng)
				got, best := f.AllReduce(s, pods, bytes), f.BestAllReduce(s, sizesOf(pods), bytes)
				if got.Nanos < best.Nanos {
					t.Fatalf("cluster %d: %v of %d bytes costs %v, less than the best %v", i, pods, bytes, got, best)
				}
			}
		}
	}
}

// Uneven racks: the gang takes the largest, and what it must cross is the smallest of the
// fewest. Rack uplinks are 20:1, so 2 GB/s per host.
func TestBestOnUnevenRacks(t *testing.T) {
	c := racksOf(t, []int64{8}, []int64{8, 8, 8, 8}, []int64{8, 8})
	f := compile(t, bare(), c, oversubscribed("rack", 20))
	s := NewScratch(f)
	tests := []struct {
		hosts  int
		uplink float64 // 0: the NICs bind
	}{
		{4, 0},
		{5, 4}, // racks of four and two
		{6, 4},
		{7, 2}, // all three
	}
	for _, tt := range tests {
		n := int64(8 * tt.hosts)
		want := Cost{ceilNanos(1e9 * ringShare(n) / 40), 1}
		if tt.uplink > 0 {
			want = Cost{ceilNanos(1e9 * ringShare(n) / tt.uplink), 0}
		}
		got := f.BestAllReduce(s, slices.Repeat([]int32{8000}, tt.hosts), 1e9)
		if got.Level != want.Level || got.Nanos-want.Nanos > 1 || want.Nanos-got.Nanos > 1 {
			t.Errorf("%d hosts: got %v, want %v", tt.hosts, got, want)
		}
	}
}

// On mixed hosts the gang takes the largest first. Either rack has 16 GPUs: more need both,
// although the first rack has hosts enough.
func TestBestOnMixedHosts(t *testing.T) {
	c := racksOf(t, []int64{4, 4, 4, 4}, []int64{8, 8, 0, 0})
	f := compile(t, bare(), c, oversubscribed("rack", 20))
	tests := []struct {
		pods []Pod
	}{
		{podsOn(8000, 4, 5)},
		{podsOn(1000, 4, 4, 4, 4, 4, 5, 5, 5, 5, 5)},
		{podsOn(4000, 4, 4, 5, 5, 0)},
	}
	s := NewScratch(f)
	for _, tt := range tests {
		want := f.AllReduce(s, tt.pods, 1e9)
		if got := f.BestAllReduce(s, sizesOf(tt.pods), 1e9); got != want {
			t.Errorf("%v: got %v, want %v", tt.pods, got, want)
		}
	}
}

// Gangs that never fit still get a finite figure.
func TestBestOfTooMuch(t *testing.T) {
	for _, c := range []*topology.Cluster{
		racksOf(t, []int64{8, 8}, []int64{0, 0}),
		racksOf(t, []int64{0}),
	} {
		f := compile(t, bare(), c, oversubscribed("rack", 2))
		for _, sizes := range [][]int32{{8000, 8000, 8000}, {16000}, {16000, 16000}, {500}} {
			got := f.BestAllReduce(NewScratch(f), sizes, 1e9)
			if got.Nanos < 0 || got.Nanos > 1e9 {
				t.Errorf("%d nodes, %v: %v", len(c.Nodes), sizes, got)
			}
		}
	}
}

func ExampleFabric_BestAllReduce() {
	s := topology.Synthetic{Levels: []string{"rack", "host"}, Counts: []int{2, 4}, GPUs: 8}
	nodes, _ := s.Nodes()
	cluster, _ := topology.Build(s.Levels, nodes)
	profile, _ := Lookup("h100-ndr")
	f, _ := New(profile, cluster, map[string]Level{"rack": {Oversubscription: 8, Efficiency: 1}})

	scratch := NewScratch(f)
	pods := []Pod{{0, 8000}, {4, 8000}, {1, 8000}, {5, 8000}} // two racks, in turns
	actual := f.AllReduce(scratch, pods, 16_100_000_000)      // gradients of 8 billion parameters
	best := f.BestAllReduce(scratch, []int32{8000, 8000, 8000, 8000}, 16_100_000_000)
	fmt.Printf("%d ms at the %s, at best %d ms\n", actual.Nanos/1e6, cluster.Levels[actual.Level], best.Nanos/1e6)
	// Output: 335 ms at the rack, at best 84 ms
}

func BenchmarkBestAllReduce(b *testing.B) {
	f := compile(b, h100(b), regular(b, "zone rack host", 2, 20, 25), oversubscribed("rack", 4))
	s, sizes := NewScratch(f), sizesOf(gang64())
	b.ReportAllocs()
	for b.Loop() {
		f.BestAllReduce(s, sizes, gib)
	}
}
