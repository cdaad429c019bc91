package fabric

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gangplan/gangplan/topology"
)

// Two racks of four hosts, rack uplinks 4:1, so 4 x 40 / 4 = 40 GB/s, as much as one
// host's NICs. S is 1e9 bytes, and every time is worked out by hand.
func TestAllReduceByHand(t *testing.T) {
	const rack, host = 0, 1
	tests := []struct {
		name  string
		pods  []Pod
		ms    float64
		level int8
	}{
		{"no pods", nil, 0, NoLevel},
		{"one rank", podsOn(1000, 0), 0, NoLevel},
		{"a share of a GPU is one rank", podsOn(300, 0), 0, NoLevel},
		{"pods without GPUs take no part", append(podsOn(0, -1, 3, 7), Pod{0, 1000}), 0, NoLevel},
		// c S / B_N = 2 (n-1)/n x 10 ms
		{"two ranks of a host", podsOn(2000, 0), 10, InDomain},
		{"two shares are two ranks", podsOn(500, 0, 0), 10, InDomain},
		{"eight ranks of a host", podsOn(4000, 0, 0), 17.5, InDomain},
		// m = 2: S / B_dom, B_dom = 10 GB/s x max(1, 4 g/8)
		{"two full hosts", podsOn(8000, 0, 1), 25, host},
		{"half hosts have half the NICs", podsOn(4000, 0, 1), 50, host},
		{"three GPUs have one and a half", podsOn(3000, 0, 1), 1000. / 15, host},
		{"one GPU has one NIC at least", podsOn(1000, 0, 1), 100, host},
		{"the host with fewest NICs counts", []Pod{{0, 8000}, {1, 2000}}, 100, host},
		{"GPUs of a host add up over its pods", podsOn(2000, 0, 0, 1, 1), 50, host},
		{"of equals the innermost", podsOn(8000, 3, 4), 25, host},
		// m = 4, n = 32: 1.9375 S / 40
		{"four full hosts of a rack", podsOn(8000, 0, 1, 2, 3), 48.4375, host},
		{"two and two, in order", podsOn(8000, 0, 1, 4, 5), 48.4375, host},
		{"two and two, alternating: the rack is left twice", podsOn(8000, 0, 4, 1, 5), 96.875, rack},
		{"rank order is a circle", podsOn(8000, 1, 4, 5, 0), 48.4375, host},
		// m = 2, n = 4: a host is one place of the ring, however its pods are numbered
		{"pods of a host that are not neighbours", podsOn(1000, 0, 4, 0, 4), 100, host},
	}
	f := compile(t, bare(), regular(t, "rack host", 2, 4), oversubscribed("rack", 4))
	s := NewScratch(f)
	for _, tt := range tests {
		want := Cost{int64(math.Ceil(tt.ms * 1e6)), tt.level}
		if got := f.AllReduce(s, tt.pods, 1e9); got != want {
			t.Errorf("%s: got %v, want %v", tt.name, got, want)
		}
	}
}

// Where uplinks of several levels are equally loaded, the lowest is named. A zone has the
// NICs of two racks, so 2r:1 at the zone is as slow as r:1 at the rack.
func TestBottleneckOfEquals(t *testing.T) {
	const zone, rack = 0, 1
	c := regular(t, "zone rack host", 2, 2, 4)
	for _, tt := range []struct {
		zone, rack float64
		level      int8
	}{{16, 8, rack}, {15, 8, rack}, {17, 8, zone}} {
		f := compile(t, bare(), c, map[string]Level{"zone": {tt.zone, 1, 0, 0}, "rack": {tt.rack, 1, 0, 0}})
		if got := f.AllReduce(NewScratch(f), podsOn(8000, 0, 8), 1e9); got.Level != tt.level {
			t.Errorf("zone %v:1, rack %v:1: got %v, want level %d", tt.zone, tt.rack, got, tt.level)
		}
	}
}

func TestNothingToReduce(t *testing.T) {
	f := compile(t, h100(t), regular(t, "host", 2), nil)
	for _, bytes := range []int64{0, -1} {
		want := Cost{0, NoLevel}
		if got := f.AllReduce(NewScratch(f), podsOn(8000, 0, 1), bytes); got != want {
			t.Errorf("%d bytes: %v", bytes, got)
		}
		if got := f.BestAllReduce(NewScratch(f), []int32{8000, 8000}, bytes); got != want {
			t.Errorf("%d bytes at best: %v", bytes, got)
		}
	}
}

// Over two domains all algorithms send S; from three on they differ. With m = 4 full hosts
// of 40 GB/s, 1e9 bytes take phi x 25 ms.
func TestAlgorithms(t *testing.T) {
	tests := []struct {
		algorithm Algorithm
		two, four float64 // phi
	}{
		{Ring, 1, 2. * 31 / 32},
		{Tree, 1, 2},
		{Hierarchical, 1, 2. * 3 / 4},
	}
	c := regular(t, "host", 4)
	for _, tt := range tests {
		p := bare()
		p.Algorithm = tt.algorithm
		f := compile(t, p, c, nil)
		s := NewScratch(f)
		two, four := f.AllReduce(s, podsOn(8000, 0, 1), 1e9), f.AllReduce(s, podsOn(8000, 0, 1, 2, 3), 1e9)
		if two.Nanos != int64(tt.two*25e6) || four.Nanos != int64(tt.four*25e6) {
			t.Errorf("algorithm %d: %v and %v", tt.algorithm, two, four)
		}
	}
}

// The hop latency is paid per step between domains: 2(m-1) of a ring, 2 ceil(log2 m) of a tree.
func TestHops(t *testing.T) {
	tests := []struct {
		algorithm Algorithm
		m         int
		steps     int64
	}{
		{Ring, 1, 0}, {Ring, 2, 2}, {Ring, 3, 4}, {Ring, 8, 14},
		{Tree, 1, 0}, {Tree, 2, 2}, {Tree, 3, 4}, {Tree, 4, 4}, {Tree, 5, 6}, {Tree, 8, 6},
		{Hierarchical, 8, 14},
	}
	c := regular(t, "host", 8)
	for _, tt := range tests {
		p := bare()
		p.Algorithm = tt.algorithm
		var pods []Pod
		for i := range tt.m {
			pods = append(pods, podsOn(4000, int32(i), int32(i))...)
		}
		still := compile(t, p, c, nil)
		p.HopMicros = 7
		hops := compile(t, p, c, nil)
		got := hops.AllReduce(NewScratch(hops), pods, 1e9).Nanos - still.AllReduce(NewScratch(still), pods, 1e9).Nanos
		if got != tt.steps*7000 {
			t.Errorf("algorithm %d over %d domains: hops of %d ns, want %d steps of 7000", tt.algorithm, tt.m, got, tt.steps)
		}
	}
}

// Small messages follow a0 + S/b0, large ones a1 above their bandwidth; but no line goes
// past what a slow uplink allows.
func TestLatencyLines(t *testing.T) {
	c := regular(t, "rack host", 2, 4)
	tests := []struct {
		name  string
		pods  []Pod
		r     float64
		bytes int64
		want  float64 // ns
	}{
		{"small in a host", podsOn(8000, 0), 1, 13200, 18_000 + 100},
		{"large in a host", podsOn(8000, 0), 1, 480e6, 69_000 + 1.75e6},
		{"small over hosts", podsOn(8000, 0, 1), 1, 2000, 60_000 + 100},
		{"large over hosts", podsOn(8000, 0, 1), 1, 480e6, 250_000 + 1.875e6},
		{"bandwidth above the small line", podsOn(8000, 0, 7), 1e6, 2000, 2000 / (4 * 8 * 50 * 0.93 / 1e6)},
	}
	for _, tt := range tests {
		f := compile(t, h100(t), c, oversubscribed("rack", tt.r))
		got := f.AllReduce(NewScratch(f), tt.pods, tt.bytes).Nanos
		if diff := float64(got) - tt.want; diff < -1e-3 || diff > 1+1e-3 {
			t.Errorf("%s: got %d ns, want %v rounded up", tt.name, got, tt.want)
		}
	}
}

// The host level's own figures are those of its NICs.
func TestHostLevelScalesNICs(t *testing.T) {
	c := regular(t, "rack host", 2, 4)
	f := compile(t, bare(), c, map[string]Level{"host": {Oversubscription: 2, Efficiency: 0.5}})
	if got, want := f.AllReduce(NewScratch(f), podsOn(8000, 0, 1), 1e9), (Cost{100e6, 1}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

// A text-book example: ten gigabytes among eight hosts with one NIC of 50 GB/s, reduced in
// the host first: 2 x 7/8 x 10/50 s.
func TestTextbookHierarchical(t *testing.T) {
	p := bare()
	p.DomainBusBW, p.NICs, p.NICGBps, p.Algorithm = 400, 1, 50, Hierarchical
	f := compile(t, p, regular(t, "rack host", 2, 8), oversubscribed("rack", 4))
	if got := f.AllReduce(NewScratch(f), podsOn(8000, 0, 1, 2, 3, 4, 5, 6, 7), 10e9); got != (Cost{350e6, 1}) {
		t.Errorf("got %v, want 0.35 s at the NICs", got)
	}
}

// Published nccl-tests runs at 8 to 16 GiB. The tolerance is what the model claims: 5% for
// tuned fabrics, 15% for the one that is not.
func TestPublishedBusBandwidth(t *testing.T) {
	tests := []struct {
		name      string
		nodes     int
		bytes     int64
		busbw     float64 // GB/s
		tolerance float64
	}{
		{"1x8 H100 Voltage Park (aigatech/vpbenchmarking)", 1, 8 * gib, 479.7, 0.05},
		{"2x8 H200 3200 Gb (stas00/ml-engineering)", 2, 16 * gib, 486.8, 0.05},
		{"4x8 H200 3200 Gb EFA (stas00/ml-engineering)", 4, 16 * gib, 369.1, 0.05},
		{"4x8 H100 Voltage Park (aigatech/vpbenchmarking)", 4, 8 * gib, 330.9, 0.15},
	}
	f := compile(t, h100(t), regular(t, "rack host", 1, 4), nil)
	for _, tt := range tests {
		var pods []Pod
		for i := range tt.nodes {
			pods = append(pods, Pod{int32(i), 8000})
		}
		cost := f.AllReduce(NewScratch(f), pods, tt.bytes)
		got := float64(tt.bytes) * ringShare(int64(8*tt.nodes)) / float64(cost.Nanos)
		t.Logf("%s: %.1f GB/s, model %.1f (%+.1f%%)", tt.name, tt.busbw, got, 100*(got/tt.busbw-1))
		if math.Abs(got/tt.busbw-1) > tt.tolerance {
			t.Errorf("%s: busbw %.1f, measured %.1f", tt.name, got, tt.busbw)
		}
	}
}

// kappaOf counts crossings the slow way, one domain at a time.
func kappaOf(c *topology.Cluster, pods []Pod, domain int32) int {
	in := func(p Pod) bool {
		return p.Node >= c.Domains[domain].First && p.Node < c.Domains[domain].Last
	}
	var hosts []Pod // the ring visits a host once, where its first pod stands
	for _, p := range pods {
		if !slices.ContainsFunc(hosts, func(h Pod) bool { return h.Node == p.Node }) {
			hosts = append(hosts, p)
		}
	}
	kappa := 0
	for i := range hosts {
		if in(hosts[i]) && !in(hosts[(i+1)%len(hosts)]) {
			kappa++
		}
	}
	return kappa
}

// slowAllReduce is the formula of the package's doc, word for word.
func slowAllReduce(f *Fabric, pods []Pod, bytes int64) float64 {
	c, p, size := f.cluster, f.profile, float64(bytes)
	used := map[int32]float64{}
	n := 0.0
	for _, pod := range pods {
		used[pod.Node] += float64(pod.GPUs) / 1000
		n += math.Ceil(float64(pod.GPUs) / 1000)
	}
	m, line := float64(len(used)), p.Intra
	bw := 2 * (n - 1) / n * size / p.DomainBusBW
	if m > 1 {
		line = p.Inter
		phi := map[bool]float64{true: 1, false: 2 * (n - 1) / n}[m == 2]
		for node, gpus := range used {
			total := float64(c.Nodes[node].Allocatable[topology.GPU]) / 1000
			bw = max(bw, phi*size/(max(1, float64(p.NICs)*gpus/total)*p.NICGBps*p.NetEfficiency))
		}
		for d := range f.uplink {
			bw = max(bw, float64(kappaOf(c, pods, int32(d)))*phi*size/f.uplink[d])
		}
	}
	return max(bw, min(line.A0*1000+size/line.B0, line.A1*1000+bw))
}

// randomGang puts pods anywhere, as long as the hosts have the GPUs.
func randomGang(rng *rand.Rand, c *topology.Cluster) []Pod {
	free := make([]int64, len(c.Nodes))
	for i := range free {
		free[i] = c.Nodes[i].Allocatable[topology.GPU]
	}
	var pods []Pod
	for range 1 + rng.IntN(12) {
		p := Pod{int32(rng.IntN(len(free))), []int32{500, 1000, 2000, 4000, 8000}[rng.IntN(5)]}
		if free[p.Node] >= int64(p.GPUs) {
			free[p.Node] -= int64(p.GPUs)
			pods = append(pods, p)
		}
	}
	return pods
}

func randomSize(rng *rand.Rand) int64 { return int64(math.Exp(rng.Float64() * math.Log(1e11))) }

func TestAgainstSlowFormula(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	c := regular(t, "zone rack host", 2, 3, 4)
	f := compile(t, h100(t), c, map[string]Level{"zone": {16, 0.7, 0, 0}, "rack": {3, 0.9, 0, 0}})
	s := NewScratch(f) // one for all: what a call leaves behind would show
	for range 5000 {
		pods, bytes := randomGang(rng, c), randomSize(rng)
		got := float64(f.AllReduce(s, pods, bytes).Nanos)
		if len(pods) == 0 || len(pods) == 1 && pods[0].GPUs <= 1000 {
			continue
		}
		if want := slowAllReduce(f, pods, bytes); math.Abs(got-want) > 1+1e-12*want {
			t.Fatalf("%v of %d bytes: got %v, want %v", pods, bytes, got, want)
		}
	}
}

// Worse fabrics and larger messages never make the same placement faster.
func TestMonotone(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	c := regular(t, "zone rack host", 2, 3, 4)
	cost := func(p Profile, zone, rack Level, pods []Pod, bytes int64) int64 {
		f := compile(t, p, c, map[string]Level{"zone": zone, "rack": rack})
		return f.AllReduce(NewScratch(f), pods, bytes).Nanos
	}
	for range 1000 {
		pods, bytes, p := randomGang(rng, c), randomSize(rng), h100(t)
		zone, rack := Level{1 + 20*rng.Float64(), 1 - rng.Float64(), 0, 0}, Level{1 + 20*rng.Float64(), 1 - rng.Float64(), 0, 0}
		base := cost(p, zone, rack, pods, bytes)
		slow := p
		slow.NICGBps *= rng.Float64() + 0.01
		slow.NICGBps = min(slow.NICGBps, p.NICGBps)
		worse := map[string]int64{
			"more bytes":        cost(p, zone, rack, pods, bytes+rng.Int64N(bytes)+1),
			"more to one zone":  cost(p, Level{zone.Oversubscription * (1 + rng.Float64()), zone.Efficiency, 0, 0}, rack, pods, bytes),
			"more to one rack":  cost(p, zone, Level{rack.Oversubscription * (1 + rng.Float64()), rack.Efficiency, 0, 0}, pods, bytes),
			"less efficiency":   cost(p, zone, Level{rack.Oversubscription, rack.Efficiency * (1 - rng.Float64()), 0, 0}, pods, bytes),
			"slower NICs":       cost(slow, zone, rack, pods, bytes),
			"nothing different": base,
		}
		for what, got := range worse {
			if got < base {
				t.Fatalf("%s: %v of %d bytes takes %d ns, before %d", what, pods, bytes, got, base)
			}
		}
	}
}

// The more levels a ring crosses the longer it takes, with the same hosts in number.
func TestMonotoneInLevels(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	c := regular(t, "zone block rack host", 2, 2, 2, 4)
	nested := [][]Pod{
		podsOn(8000, 0, 1, 2, 3), podsOn(8000, 0, 1, 4, 5), podsOn(8000, 0, 1, 8, 9), podsOn(8000, 0, 1, 16, 17), // one rack, two, two blocks, two zones
		podsOn(8000, 0, 4, 8, 16), // as many racks as hosts
	}
	for range 500 {
		levels := map[string]Level{}
		for _, name := range []string{"zone", "block", "rack"} {
			levels[name] = Level{1 + 30*rng.Float64(), 0.5 + rng.Float64()/2, 40 * rng.Float64() * float64(rng.IntN(2)), 0}
		}
		p := h100(t)
		p.Algorithm, p.HopMicros = Algorithm(rng.IntN(int(numAlgorithms))), 5*rng.Float64()
		f := compile(t, p, c, levels)
		s, bytes, last := NewScratch(f), randomSize(rng), int64(0)
		for _, pods := range nested {
			got := f.AllReduce(s, pods, bytes).Nanos
			if got < last {
				t.Fatalf("%v of %d bytes takes %d ns, less than %d where fewer levels are crossed", pods, bytes, got, last)
			}
			last = got
		}
	}
}

// Ordered by topology a gang is never slower than in any other order, and leaves each
// domain once. A random order of one pod per host leaves a domain with p of the m pods
// p(m-p)/(m-1) times on average.
func TestRankOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	c := regular(t, "zone rack host", 2, 2, 4)
	f := compile(t, h100(t), c, map[string]Level{"zone": {8, 1, 0, 0}, "rack": {4, 1, 0, 0}})
	s := NewScratch(f)
	ordered := podsOn(8000, 0, 1, 2, 4, 5, 9)
	best := f.AllReduce(s, ordered, gib)
	const rounds = 20_000
	sum := 0
	for range rounds {
		pods := slices.Clone(ordered)
		rng.Shuffle(len(pods), func(i, j int) { pods[i], pods[j] = pods[j], pods[i] })
		if got := f.AllReduce(s, pods, gib); got.Nanos < best.Nanos {
			t.Fatalf("order %v costs %v, less than the ordered %v", pods, got, best)
		}
		sum += kappaOf(c, pods, c.DomainOf(0, 1))
	}
	if got, want := float64(sum)/rounds, 3.*3/5; math.Abs(got-want) > 0.02 {
		t.Errorf("random orders leave the first rack %.3f times, want %.3f", got, want)
	}
	for d := range c.LevelStart[2] {
		if k := kappaOf(c, ordered, d); k > 1 {
			t.Errorf("the ordered gang leaves domain %d %d times", d, k)
		}
	}
}

// All bandwidths times k and all latencies over k: all times over k.
func TestScale(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	c := regular(t, "rack host", 3, 4)
	const k = 4
	p := h100(t)
	p.HopMicros = 3
	q := p
	q.DomainBusBW, q.NICGBps, q.HopMicros = k*q.DomainBusBW, k*q.NICGBps, q.HopMicros/k
	q.Intra = Latency{p.Intra.A0 / k, p.Intra.B0 * k, p.Intra.A1 / k}
	q.Inter = Latency{p.Inter.A0 / k, p.Inter.B0 * k, p.Inter.A1 / k}
	slow, fast := compile(t, p, c, oversubscribed("rack", 5)), compile(t, q, c, oversubscribed("rack", 5))
	for range 500 {
		pods, bytes := randomGang(rng, c), randomSize(rng)
		a, b := slow.AllReduce(NewScratch(slow), pods, bytes), fast.AllReduce(NewScratch(fast), pods, bytes)
		if diff := a.Nanos - k*b.Nanos; diff > 0 || diff <= -k || a.Level != b.Level {
			t.Fatalf("%v: %v, and %v on a fabric %d times as fast", pods, a, b, k)
		}
	}
}

// What no int64 holds stays at the largest.
func TestSaturates(t *testing.T) {
	f := compile(t, bare(), regular(t, "rack host", 2, 1), oversubscribed("rack", 1e15))
	if got := f.AllReduce(NewScratch(f), podsOn(8000, 0, 1), math.MaxInt64); got != (Cost{math.MaxInt64, 0}) {
		t.Errorf("got %v", got)
	}
}

func gang64() (pods []Pod) {
	for i := range int32(64) {
		pods = append(pods, Pod{i * 37 % 1000, 8000})
	}
	return pods
}

func TestNoAllocations(t *testing.T) {
	f := compile(t, h100(t), regular(t, "zone rack host", 2, 20, 25), oversubscribed("rack", 4))
	s, pods := NewScratch(f), gang64()
	sizes := sizesOf(pods)
	n := testing.AllocsPerRun(100, func() {
		f.AllReduce(s, pods, gib)
		f.BestAllReduce(s, sizes, gib)
	})
	if n != 0 {
		t.Errorf("%v allocations per call", n)
	}
}

func BenchmarkAllReduce(b *testing.B) {
	f := compile(b, h100(b), regular(b, "zone rack host", 2, 20, 25), oversubscribed("rack", 4))
	s, pods := NewScratch(f), gang64()
	b.ReportAllocs()
	for b.Loop() {
		f.AllReduce(s, pods, gib)
	}
}
