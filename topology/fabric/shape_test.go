package fabric

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gangplan/gangplan/topology"
)

// joined makes hosts of a regular cluster share NVLink domains, so many consecutive ones each.
func joined(t testing.TB, c *topology.Cluster, together int) *topology.Cluster {
	t.Helper()
	nodes := slices.Clone(c.Nodes)
	for i := range nodes {
		nodes[i].Labels = map[string]string{topology.NVLinkDomainLabel: fmt.Sprint("nvl-", i/together)}
	}
	return build(t, c.Levels, nodes)
}

// trays is two racks of two domains of two hosts with four GPUs each: bare's four NICs of
// 10 GB/s per host, rack uplinks 4:1, so 40 GB/s.
func trays(t testing.TB, change func(*Profile)) *Fabric {
	p := bare()
	if change != nil {
		change(&p)
	}
	return compile(t, p, joined(t, regularOf(t, 4, "rack host", 2, 4), 2), oversubscribed("rack", 4))
}

// S is 1e9 bytes; nodes 0 and 1 are a domain, 2 and 3, and in the other rack 4 and 5, 6 and 7.
func TestDomainsOfSeveralHosts(t *testing.T) {
	const rack, host = 0, 1
	tests := []struct {
		name  string
		pods  []Pod
		ms    float64
		level int8
	}{
		{"one host", podsOn(4000, 0), 15, InDomain},
		{"two hosts of a domain: NVLink between them", podsOn(4000, 0, 1), 17.5, InDomain},
		{"half of both hosts", podsOn(2000, 0, 1), 15, InDomain},
		// m = 2: S over the NICs of the domain's hosts together, 2 x 40 GB/s
		{"two domains", podsOn(4000, 0, 1, 2, 3), 18.75, InDomain},
		{"a host of each of two domains", podsOn(4000, 0, 2), 25, host},
		{"three hosts: the domain with one counts", podsOn(4000, 0, 1, 2), 25, host},
		{"quarter hosts: NICs add up over the hosts", podsOn(1000, 0, 1, 2, 3), 50, host},
		// m = 4, n = 32: 1.9375 S over 40 GB/s of the racks' uplinks
		{"all of both racks", podsOn(4000, 0, 1, 2, 3, 4, 5, 6, 7), 48.4375, rack},
		// the domains are visited where their first ranks stand: 0, 2, 1 in domain 0 again
		{"pods of a domain that are not neighbours", podsOn(4000, 0, 2, 1, 3), 18.75, InDomain},
		// m = 4, n = 4: 1.5 S over one NIC of 10 GB/s; the racks are left twice: 2 x 1.5 S / 40
		{"domains in turns", podsOn(1000, 0, 4, 2, 6), 150, host},
	}
	f := trays(t, nil)
	for _, tt := range tests {
		want := Cost{int64(tt.ms * 1e6), tt.level}
		if got := f.AllReduce(NewScratch(f), tt.pods, 1e9); got != want {
			t.Errorf("%s: got %v, want %v", tt.name, got, want)
		}
	}
}

// What a cluster says of its domains must fit its tree.
func TestNVLinkDomains(t *testing.T) {
	with := func(label string, domains ...string) (*Fabric, error) {
		cluster := regular(t, "rack host", 2, 2)
		for i, domain := range domains {
			cluster.Nodes[i].Labels = map[string]string{label: domain}
		}
		return New(h100(t), cluster, nil)
	}
	tests := []struct {
		domains []string
		count   int
	}{
		{nil, 4}, {[]string{"x", "y", "z"}, 4}, {[]string{"x", "x"}, 3}, {[]string{"x", "x", "y", "y"}, 2}, {[]string{"", ""}, 4},
	}
	for _, tt := range tests {
		for _, label := range []string{"nvlink-domain", "nvidia.com/gpu.clique"} {
			f, err := with(label, tt.domains...)
			if err != nil || f.domains != tt.count {
				t.Errorf("%s %v: %v, %v", label, tt.domains, f, err)
			}
		}
	}
	_, err := with("nvlink-domain", "y", "x", "x")
	if err == nil || !strings.Contains(err.Error(), `nodes "host-1" and "host-2" share the NVLink domain "x" and are not in the same rack`) {
		t.Errorf("got %v", err)
	}
}

// A model that is cut: only ranks with the same part exchange it, on rings side by side.
// Hosts of 8 with 4 NICs of 10 GB/s; S is 1e9 bytes, B_N 100 GB/s, racks of four hosts 8:1,
// so 20 GB/s.
func TestParallelShapes(t *testing.T) {
	const rack, host = 0, 1
	full := podsOn(8000, 0, 1, 2, 3, 4, 5, 6, 7)
	tests := []struct {
		name             string
		pods             []Pod
		tensor, pipeline int32
		ms               float64
		level            int8
	}{
		{"one copy: nobody to exchange with", full, 8, 8, 0, NoLevel},
		{"less than a copy", podsOn(8000, 0), 8, 8, 0, NoLevel},
		// DP 2 inside each host: 2 x 1/2 S / 100
		{"copies inside a host", podsOn(8000, 0, 1, 2, 3), 4, 4, 10, InDomain},
		// DP 2 over pairs of hosts, each pair with 8 rings of S over 40 GB/s
		{"pairs of hosts", podsOn(8000, 0, 1, 2, 3), 8, 2, 200, host},
		// DP 4: 8 rings of 1.5 S over 40 GB/s; stages in racks of their own
		{"a stage in each rack", full, 8, 2, 300, host},
		// DP 8, one stage: 8 rings of 1.75 S over the racks' 20 GB/s
		{"one stage over both racks", full, 8, 1, 700, rack},
		// the same ranks, two stages, hosts in turns: each stage leaves a rack twice
		{"stages over both racks", podsOn(8000, 0, 4, 1, 5, 2, 6, 3, 7), 8, 2, 8 * 4 * 1.5 / 20 * 1000, rack},
		// TP 2: DP 16 over two hosts: 2 rings of S over 40 GB/s
		{"several copies in a host", podsOn(8000, 0, 1), 2, 1, 50, host},
	}
	f := compile(t, bare(), regular(t, "rack host", 2, 4), oversubscribed("rack", 8))
	for _, tt := range tests {
		want := Cost{int64(tt.ms * 1e6), tt.level}
		if got := f.Collect(NewScratch(f), tt.pods, Traffic{Bytes: 1e9, Tensor: tt.tensor, Pipeline: tt.pipeline}); got != want {
			t.Errorf("%s: got %v, want %v", tt.name, got, want)
		}
	}
}

// Ranks in random order leave an uplink as often as is expected; ordered by topology once.
func TestOrders(t *testing.T) {
	pods := podsOn(8000, 0, 4, 1, 5, 2) // three and two: as listed each rack is left twice
	tests := []struct {
		order Order
		kappa float64
	}{{ByPod, 2}, {ByTopology, 1}, {Random, 3. * 2 / 4}}
	for _, tt := range tests {
		p := bare()
		p.Order, p.NICGBps = tt.order, 1e6
		p.DomainBusBW = 1e9
		f := compile(t, p, regular(t, "rack host", 2, 4), oversubscribed("rack", 1e6))
		want := 1e9 * ringShare(40) * tt.kappa / 16
		if got := f.AllReduce(NewScratch(f), pods, 1e9); math.Abs(float64(got.Nanos)-want) > 1 || got.Level != 0 {
			t.Errorf("%s: %v, want %v", Orders[tt.order], got, want)
		}
		best := f.BestAllReduce(NewScratch(f), sizesOf(pods), 1e9)
		if ordered := 1e9 * ringShare(40) / 16; math.Abs(float64(best.Nanos)-ordered) > 1 {
			t.Errorf("%s: at best %v, want %v", Orders[tt.order], best, ordered)
		}
	}
}

// A full mesh has bandwidth for the links among the GPUs that take part; a switch has all.
func TestMesh(t *testing.T) {
	for _, tt := range []struct {
		gpus          int32
		mesh, switch_ float64 // ms of 1e9 bytes
	}{{2000, 70, 10}, {4000, 35, 15}, {8000, 17.5, 17.5}} {
		p := bare()
		for _, want := range []float64{tt.switch_, tt.mesh} {
			f := compile(t, p, regular(t, "host", 2), nil)
			s := NewScratch(f)
			got, best := f.AllReduce(s, podsOn(tt.gpus, 0), 1e9), f.BestAllReduce(s, []int32{tt.gpus}, 1e9)
			if math.Abs(float64(got.Nanos)-want*1e6) > 1 || best != got {
				t.Errorf("%d milli-GPU: %v, at best %v, want %v ms", tt.gpus, got, best, want)
			}
			p.Mesh = true
		}
	}
}

// A fully sharded step is two all-gathers and a reduce-scatter.
func TestFullyShard(t *testing.T) {
	p := h100(t)
	p.HopMicros = 3
	f := compile(t, p, regular(t, "rack host", 2, 4), oversubscribed("rack", 40))
	s := NewScratch(f)
	for _, pods := range [][]Pod{podsOn(8000, 0), podsOn(8000, 0, 1), podsOn(8000, 0, 4, 1, 5)} {
		for _, bytes := range []int64{kib, gib} {
			one := f.Collect(s, pods, Traffic{Collective: AllGather, Bytes: bytes})
			all := f.Collect(s, pods, Traffic{Collective: FullyShard, Bytes: bytes})
			if d := 3*one.Nanos - all.Nanos; d < 0 || d > 3 || all.Level != one.Level {
				t.Errorf("%v, %d bytes: %v, an all-gather %v", pods, bytes, all, one)
			}
		}
	}
}

// slowTraffic is the formula of the package's doc for any traffic, ring by ring and rank by
// rank: how many bytes each domain's NICs and each uplink carry.
func slowTraffic(f *Fabric, pods []Pod, t Traffic) float64 {
	ranks := slowRanks(f, pods)
	tensor, stages := int(max(1, t.Tensor)), int(max(1, t.Pipeline))
	copies := len(ranks) / (tensor * stages)
	if copies < 2 {
		return 0
	}
	count, op := passes(t.Collective)
	size := float64(count) * float64(t.Bytes)
	leave, cross, m := map[int32]int{}, map[int32]int{}, 1
	stage := (len(ranks) + stages - 1) / stages
	for from := 0; from < len(ranks); from += stage {
		var ring []rankAt // the domains of the stage
		for _, r := range ranks[from:min(len(ranks), from+stage)] {
			if len(ring) == 0 || ring[len(ring)-1].domain != r.domain {
				ring = append(ring, r)
			}
		}
		if len(ring) > 1 {
			m = max(m, min(copies, len(ring)))
			slowRing(f, ring, ranks[from:min(len(ranks), from+stage)], tensor, leave, cross)
		}
	}
	sh := shape{ranks: int64(copies), domains: int64(m)}
	bw, line := size*BusFactor(op, sh.ranks)/f.profile.DomainBusBW, f.profile.Intra
	if m > 1 {
		line = f.profile.Inter
		sent := size * f.phi(op, &sh)
		for d, rings := range leave {
			bw = max(bw, float64(rings)*sent/slowNICs(f, pods, d))
		}
		for d, times := range cross {
			bw = max(bw, float64(times)*sent/f.uplink[d])
		}
	}
	small, large := line.A0*1000*float64(count)+size/line.B0, line.A1*1000*float64(count)+bw
	return max(bw, min(small, large))
}

// rankAt is where a rank stands.
type rankAt struct{ node, domain int32 }

// slowRanks lists the ranks as a ring meets them: domain by domain.
func slowRanks(f *Fabric, pods []Pod) []rankAt {
	var order []rankAt // the domains
	for _, p := range pods {
		if d := f.nvlink[p.Node]; !slices.ContainsFunc(order, func(r rankAt) bool { return r.domain == d }) {
			order = append(order, rankAt{p.Node, d})
		}
	}
	if f.profile.Order == ByTopology {
		slices.SortFunc(order, func(a, b rankAt) int { return int(a.node - b.node) })
	}
	var ranks []rankAt
	for _, at := range order {
		for _, p := range pods {
			if f.nvlink[p.Node] == at.domain {
				for range ranksOf(int64(p.GPUs)) {
					ranks = append(ranks, at)
				}
			}
		}
	}
	return ranks
}

func slowRing(f *Fabric, ring, ranks []rankAt, tensor int, leave, cross map[int32]int) {
	for i, at := range ring {
		n := 0
		for _, r := range ranks {
			if r.domain == at.domain {
				n++
			}
		}
		leave[at.domain] += min(n, tensor)
		next := ring[(i+1)%len(ring)]
		for d := range f.uplink {
			dom := f.cluster.Domains[d]
			if in := func(n int32) bool { return n >= dom.First && n < dom.Last }; in(at.node) && !in(next.node) {
				cross[int32(d)] += tensor // every ring of the bundle
			}
		}
	}
}

// slowNICs is what the NICs next to the gang's GPUs in a domain carry.
func slowNICs(f *Fabric, pods []Pod, domain int32) float64 {
	used := map[int32]float64{}
	for _, p := range pods {
		if f.nvlink[p.Node] == domain {
			used[p.Node] += float64(p.GPUs)
		}
	}
	rate := 0.0
	for node, gpus := range used {
		total := float64(f.cluster.Nodes[node].Allocatable[topology.GPU])
		rate += max(1, float64(f.profile.NICs)*gpus/total) * f.nic
	}
	return rate
}

func TestAgainstSlowTraffic(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	levels := map[string]Level{"zone": {16, 0.7, 0, 0}, "rack": {3, 0.9, 0, 0}}
	for _, together := range []int{1, 2, 4} {
		c := joined(t, regular(t, "zone rack host", 2, 3, 4), together)
		for _, order := range []Order{ByPod, ByTopology} {
			p := h100(t)
			p.Order = order
			f := compile(t, p, c, levels)
			s := NewScratch(f)
			for range 1500 {
				pods := slices.DeleteFunc(randomGang(rng, c), func(p Pod) bool { return p.GPUs < 1000 })
				traffic := Traffic{Collective: []Collective{AllReduce, ReduceScatter, FullyShard}[rng.IntN(3)],
					Bytes: randomSize(rng), Tensor: int32(1 << rng.IntN(4)), Pipeline: int32(rng.IntN(4))}
				got, want := float64(f.Collect(s, pods, traffic).Nanos), slowTraffic(f, pods, traffic)
				if math.Abs(got-want) > 1+1e-12*want {
					t.Fatalf("%d together, %v, %+v: got %v, want %v", together, pods, traffic, got, want)
				}
			}
		}
	}
}

// The integers that links are shared by know what the closed form knows, for any traffic.
func TestLoadOfAnyTraffic(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 16))
	c := joined(t, regular(t, "zone rack host", 2, 3, 4), 2)
	for _, order := range []Order{ByPod, ByTopology, Random} {
		p := h100(t)
		p.Order = order
		f := compile(t, p, c, map[string]Level{"zone": {16, 0.7, 0, 0}, "rack": {3, 0.9, 30, 0}})
		s := NewScratch(f)
		var l Load
		for range 1000 {
			traffic := Traffic{Collective: FullyShard, Bytes: 1 + randomSize(rng), Tensor: int32(1 << rng.IntN(4)), Pipeline: int32(rng.IntN(3))}
			pods := randomGang(rng, c)
			want := f.Collect(s, pods, traffic)
			if f.Load(s, pods, traffic, &l); l.Idle != want {
				t.Fatalf("%v: %v, the closed form %v", pods, l.Idle, want)
			}
			bw := l.private
			for _, u := range l.uses {
				bw = max(bw, u.crossing(0))
			}
			if d := l.timeOf(bw) - want.Nanos; want.Level != NoLevel && (d < 0 || d > 2) {
				t.Fatalf("%v, %+v: the integers make %d of %v", pods, traffic, l.timeOf(bw), want)
			}
		}
	}
}

// Flows send what the loads say: a stage's rings together.
func TestEdgesOfStages(t *testing.T) {
	f := compile(t, bare(), regular(t, "rack host", 2, 4), oversubscribed("rack", 8))
	s := NewScratch(f)
	traffic := Traffic{Bytes: 1e9, Tensor: 8, Pipeline: 2}
	pods := podsOn(8000, 0, 4, 1, 5, 2, 6, 3, 7)
	var l Load
	f.Load(s, pods, traffic, &l)
	edges, capacity := f.Edges(s, pods, traffic, &l, f.Links())
	// two stages of four hosts in turns: four crossings each, and the edge that stands for the rest
	if len(edges) != 9 || len(capacity) != len(f.Links())+9 {
		t.Fatalf("%d edges", len(edges))
	}
	for _, e := range edges[1:] {
		if e.Bytes != int64(l.sent) || l.sent != 8*1.5e9 || len(e.Route) != 3 {
			t.Errorf("%+v, of rings that send %v", e, l.sent)
		}
	}
}

// No placement on a cluster of equal domains of several hosts beats the best, and for
// equal pods one is as good.
func TestBestOfDomainsOverAllPlacements(t *testing.T) {
	gangs := [][]int32{{1000}, {1000, 1000, 1000}, {2000, 2000}, {2000, 2000, 2000}, {2000, 2000, 2000, 2000, 2000}, {2000, 1000, 1000}, {1000, 1000, 1000, 1000, 1000}}
	c := joined(t, regularOf(t, 2, "rack host", 2, 4), 2)
	for _, r := range []float64{1, 3, 30} {
		p := bare()
		p.Intra, p.Inter, p.HopMicros = Latency{1, 50, 2}, Latency{3, 20, 9}, 1
		f := compile(t, p, c, oversubscribed("rack", r))
		s := NewScratch(f)
		for _, sizes := range gangs {
			best, least := f.BestAllReduce(s, sizes, 10*mib), int64(-1)
			place(c, sizes, func(pods []Pod) {
				if got := f.AllReduce(s, pods, 10*mib).Nanos; least < 0 || got < least {
					least = got
				}
			})
			if best.Nanos != least {
				t.Errorf("r = %v, %v: best %d, least over all placements %d", r, sizes, best.Nanos, least)
			}
		}
	}
}

// The same with models that are cut, over random placements on two kinds of domains.
func TestBestOfAnyTrafficIsALowerBound(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 18))
	for _, together := range []int{1, 2} {
		c := joined(t, regular(t, "zone rack host", 2, 2, 4), together)
		for _, order := range []Order{ByPod, ByTopology, Random} {
			p := h100(t)
			p.Order = order
			f := compile(t, p, c, map[string]Level{"rack": {1 + 50*rng.Float64(), 1, 0, 0}})
			s := NewScratch(f)
			for range 1500 {
				pods := randomPlacement(rng, c)
				traffic := Traffic{Bytes: randomSize(rng), Tensor: int32(1 << rng.IntN(4)), Pipeline: int32(1 << rng.IntN(3))}
				got, best := f.Collect(s, pods, traffic), f.Best(s, sizesOf(pods), traffic)
				if got.Nanos < best.Nanos {
					t.Fatalf("%d together, %v, %+v costs %v, less than the best %v", together, pods, traffic, got, best)
				}
			}
		}
	}
}
