package fabric

import (
	"cmp"
	"slices"

	"github.com/gangplan/gangplan/topology"
)

// bounds is what a cluster can hold at best, whatever the gang.
type bounds struct {
	sizes  []hostSize
	levels []levelBounds // by topology level, above the host only
}

// hostSize is a number of equal hosts. Sizes are in descending order.
type hostSize struct {
	gpus  int64 // milli-GPU per host
	hosts int64
}

// levelBounds says what the k fullest domains of a level hold: hosts[k-1] hosts with GPUs,
// gpus[k-1] milli-GPU. uplinks is sorted in descending order. The three orders may differ
// on a mixed cluster, which keeps each of them a bound.
type levelBounds struct {
	hosts, gpus []int64
	uplinks     []float64
}

func newBounds(c *topology.Cluster, hosts []int64, uplink []float64) bounds {
	var b bounds
	b.sizes = hostSizes(c)
	gpus := gpusByDomain(c)
	for l := range c.Levels[:len(c.Levels)-1] {
		first, last := c.DomainsAt(int32(l))
		b.levels = append(b.levels, levelBounds{
			hosts:   runningSum(descending(hosts[first:last])),
			gpus:    runningSum(descending(gpus[first:last])),
			uplinks: descending(uplink[first:last]),
		})
	}
	return b
}

func hostSizes(c *topology.Cluster) []hostSize {
	var all []int64
	for i := range c.Nodes {
		if g := c.Nodes[i].Allocatable[topology.GPU]; g > 0 {
			all = append(all, g)
		}
	}
	var sizes []hostSize
	for _, g := range descending(all) {
		if n := len(sizes); n == 0 || sizes[n-1].gpus != g {
			sizes = append(sizes, hostSize{gpus: g})
		}
		sizes[len(sizes)-1].hosts++
	}
	return sizes
}

func gpusByDomain(c *topology.Cluster) []int64 {
	gpus := make([]int64, len(c.Domains))
	for i := range c.Nodes {
		for l := range c.Levels {
			gpus[c.DomainOf(int32(i), int32(l))] += c.Nodes[i].Allocatable[topology.GPU]
		}
	}
	return gpus
}

// descending returns a sorted copy.
func descending[T cmp.Ordered](v []T) []T {
	v = slices.Clone(v)
	slices.Sort(v)
	slices.Reverse(v)
	return v
}

// runningSum replaces each element by the sum up to it.
func runningSum(v []int64) []int64 {
	for i := 1; i < len(v); i++ {
		v[i] += v[i-1]
	}
	return v
}

// BestAllReduce returns the cost for pods of the given milli-GPU at the best place of the
// empty cluster: in the fewest hosts, evenly over them, those in the fewest domains of each
// level above, ranks ordered by topology.
//
// It is a bound, not a search: fewest hosts and evenness are what counting says no
// placement can beat. For equal pods, and for pods that fill hosts plus a rest, some
// placement meets it exactly. On a cluster whose hosts have one size no placement costs
// less. With several sizes the shape is taken on the largest hosts, and a placement on
// smaller ones, which share their NICs among fewer GPUs, may cost less: callers that
// divide by it hold the ratio at 1. A gang larger than the cluster is costed as if the
// whole cluster held it.
//
// It takes O(pods log pods) and allocates only to grow the scratch.
func (f *Fabric) BestAllReduce(s *Scratch, podGPUs []int32, bytes int64) Cost {
	sh := f.bestShape(s, podGPUs)
	return f.cost(AllReduce, &sh, bytes)
}

// BestTime is BestAllReduce where there is no scratch at hand, in ns.
func (f *Fabric) BestTime(podGPUs []int32, bytes int64) int64 {
	return f.BestAllReduce(&Scratch{}, podGPUs, bytes).Nanos
}

// bestShape is the shape of the pods at their best place.
func (f *Fabric) bestShape(s *Scratch, podGPUs []int32) shape {
	var sh shape
	var total int64
	s.sizes = s.sizes[:0]
	for _, g := range podGPUs {
		if g > 0 {
			s.sizes = append(s.sizes, int64(g))
			sh.ranks += ranksOf(int64(g))
			total += int64(g)
		}
	}
	slices.Sort(s.sizes)
	slices.Reverse(s.sizes)
	sh.domains = f.best.fewestHosts(s.sizes, total)
	if sh.domains > 1 {
		sh.nics = f.nicRate(evenest(s.sizes, total, sh.domains), f.best.sizeOf(sh.domains))
		f.fewestDomains(&sh, total)
	}
	return sh
}

// fewestHosts returns how many hosts the pods need at least. Sizes are in descending order.
// The largest j pods need as many as j pods of the smallest among them; and all need the
// room for their total.
func (b *bounds) fewestHosts(sizes []int64, total int64) int64 {
	m := b.hostsFor(total, 1)
	for i, size := range sizes {
		if i+1 == len(sizes) || sizes[i+1] != size {
			m = max(m, b.hostsFor(int64(i+1), size))
		}
	}
	return min(m, int64(len(sizes))) // pods that exceed every host still are one each
}

// hostsFor returns how many hosts count pods of a size need, the largest hosts first.
func (b *bounds) hostsFor(count, size int64) int64 {
	var hosts int64
	for _, h := range b.sizes {
		room := podsPerHost(h.gpus, size)
		if room*h.hosts >= count {
			return hosts + (count+room-1)/room
		}
		count -= room * h.hosts
		hosts += h.hosts
	}
	return hosts
}

// podsPerHost returns how many pods of a size a host takes. A pod of less than one GPU is on
// one device.
func podsPerHost(gpus, size int64) int64 {
	if size >= topology.Milli {
		return gpus / size
	}
	devices, rest := gpus/topology.Milli, gpus%topology.Milli
	return devices*(topology.Milli/size) + rest/size
}

// sizeOf returns the size of the m-th largest host.
func (b *bounds) sizeOf(m int64) int64 {
	var size int64
	for _, h := range b.sizes {
		size = h.gpus
		if m -= h.hosts; m <= 0 {
			break
		}
	}
	return size
}

// evenest returns the most milli-GPU that the emptiest of m hosts can have of the gang.
// The largest j pods are on at most j hosts, so the other m-j share at most the rest; and
// what a host has is a multiple of what divides all pods.
func evenest(sizes []int64, total, m int64) int64 {
	var unit int64
	for _, size := range sizes {
		unit = gcd(size, unit)
	}
	rest, least := total, total
	for j := int64(0); j < m; j++ {
		least = min(least, rest/(m-j))
		rest -= sizes[j]
	}
	return least / unit * unit
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// fewestDomains adds the uplinks that the gang must cross. A gang that needs k > 1 domains
// of a level leaves each of them once, the k-th best at the least.
func (f *Fabric) fewestDomains(sh *shape, total int64) {
	for l := f.cluster.HostLevel() - 1; l >= 0; l-- {
		b := &f.best.levels[l]
		k := max(firstAtLeast(b.hosts, sh.domains), firstAtLeast(b.gpus, total))
		if k == 0 {
			return // one domain holds it, and so does one of each level above
		}
		sh.load(1/b.uplinks[k], l)
		sh.pass(f, l)
	}
}

// firstAtLeast returns the index of the first running sum that reaches want, or, if none
// does, that reaches all there is.
func firstAtLeast(sums []int64, want int64) int {
	i, _ := slices.BinarySearch(sums, min(want, sums[len(sums)-1]))
	return i
}
