package fabric

import (
	"cmp"
	"slices"

	"github.com/gangplan/gangplan/topology"
)

// bounds is what a cluster can hold at best, whatever the gang.
type bounds struct {
	kinds  []kind
	plain  bool          // every domain has hosts of one size: kinds have room in their order
	levels []levelBounds // by topology level, above the host only
}

// kind is a number of NVLink domains with the same hosts. Kinds are in descending order of
// their GPUs.
type kind struct {
	gpus  int64  // milli-GPU of a domain
	hosts []size // descending
	count int64
}

// size is a number of hosts with so many milli-GPU each.
type size struct{ gpus, hosts int64 }

// room is how many pods the domains of a kind take each.
type room struct{ pods, domains int64 }

// levelBounds says what the k fullest domains of a level hold: nvlink[k-1] NVLink domains
// with GPUs, gpus[k-1] milli-GPU. uplinks is sorted in descending order. The three orders may
// differ on a mixed cluster, which keeps each of them a bound.
type levelBounds struct {
	nvlink, gpus []int64
	uplinks      []float64
}

func newBounds(f *Fabric) bounds {
	c := f.cluster
	b := bounds{kinds: kindsOf(f)}
	b.plain = !slices.ContainsFunc(b.kinds, func(k kind) bool { return len(k.hosts) > 1 || k.hosts[0].hosts > 1 })
	domains, gpus := make([]int64, len(c.Domains)), make([]int64, len(c.Domains))
	seen := make([]bool, f.domains)
	for i := range c.Nodes {
		g := c.Nodes[i].Allocatable[topology.GPU]
		for l := range c.Levels {
			d := c.DomainOf(int32(i), int32(l))
			gpus[d] += g
			if g > 0 && !seen[f.nvlink[i]] {
				domains[d]++
			}
		}
		seen[f.nvlink[i]] = seen[f.nvlink[i]] || g > 0
	}
	for l := range c.Levels[:len(c.Levels)-1] {
		first, last := c.DomainsAt(int32(l))
		b.levels = append(b.levels, levelBounds{
			nvlink:  runningSum(descending(domains[first:last])),
			gpus:    runningSum(descending(gpus[first:last])),
			uplinks: descending(f.uplink[first:last]),
		})
	}
	return b
}

// kindsOf groups the NVLink domains by the sizes of their hosts.
func kindsOf(f *Fabric) []kind {
	hosts := make([][]int64, f.domains)
	for i := range f.cluster.Nodes {
		if g := f.cluster.Nodes[i].Allocatable[topology.GPU]; g > 0 {
			d := f.nvlink[i]
			hosts[d] = append(hosts[d], g)
		}
	}
	for d := range hosts {
		hosts[d] = descending(hosts[d])
	}
	slices.SortStableFunc(hosts, func(a, b []int64) int {
		return cmp.Or(cmp.Compare(sum(b), sum(a)), slices.Compare(b, a))
	})
	var kinds []kind
	for d := range hosts {
		if len(hosts[d]) == 0 {
			continue
		}
		if d == 0 || !slices.Equal(hosts[d], hosts[d-1]) {
			kinds = append(kinds, kind{gpus: sum(hosts[d]), hosts: equalHosts(hosts[d])})
		}
		kinds[len(kinds)-1].count++
	}
	return kinds
}

// equalHosts counts equal hosts of a descending list.
func equalHosts(hosts []int64) []size {
	var sizes []size
	for _, g := range hosts {
		if n := len(sizes); n == 0 || sizes[n-1].gpus != g {
			sizes = append(sizes, size{gpus: g})
		}
		sizes[len(sizes)-1].hosts++
	}
	return sizes
}

func sum(v []int64) int64 {
	total := int64(0)
	for _, x := range v {
		total += x
	}
	return total
}

// largest is the milli-GPU of the largest domain.
func (b *bounds) largest() int64 {
	if len(b.kinds) == 0 {
		return 0
	}
	return b.kinds[0].gpus
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

// Best returns the cost for pods of the given milli-GPU at the best place of the empty
// cluster: in the fewest NVLink domains, evenly over them, those in the fewest domains of
// each level above, ranks ordered by topology, pipeline stages side by side in places of
// their own.
//
// It is a bound, not a search: fewest domains and evenness are what counting says no
// placement can beat. For equal pods, and for pods that fill domains plus a rest, some
// placement meets it exactly. On a cluster whose NVLink domains are alike no placement costs
// less. With several sizes the shape is taken on the largest, and a placement on smaller
// ones, which share their NICs among fewer GPUs, may cost less: callers that divide by it
// hold the ratio at 1. A gang larger than the cluster is costed as if the whole cluster
// held it.
//
// It takes O(pods log pods) and allocates only to grow the scratch.
func (f *Fabric) Best(s *Scratch, podGPUs []int32, t Traffic) Cost {
	sh := f.bestShape(s, podGPUs, &t)
	return f.cost(&t, &sh)
}

// BestAllReduce is Best for an all-reduce among all ranks.
func (f *Fabric) BestAllReduce(s *Scratch, podGPUs []int32, bytes int64) Cost {
	return f.Best(s, podGPUs, Traffic{Bytes: bytes})
}

// BestTime is Best where there is no scratch at hand, in ns.
func (f *Fabric) BestTime(podGPUs []int32, t Traffic) int64 {
	return f.Best(&Scratch{}, podGPUs, t).Nanos
}

// bestShape is the shape of the pods at their best place.
func (f *Fabric) bestShape(s *Scratch, podGPUs []int32, t *Traffic) shape {
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
	tensor, stages, copies := t.cut(sh.ranks)
	if total == 0 {
		return sh
	}
	m := f.best.fewestDomains(s, total)
	even := evenest(s.sizes, total, m)
	sh.domains = min(f.longestStage(m, sh.ranks, stages), copies)
	if copies > 1 && sh.domains > 1 {
		share := float64(min(tensor, max(1, even/topology.Milli))) / float64(tensor)
		hosts := f.nicsAtBest(&sh, even, m, share)
		f.fewestCrossings(&sh, total/stages)
		sh.cap *= hosts
	}
	sh.ranks, sh.inside = copies, max(1, even/topology.Milli)
	return sh
}

// longestStage is how many domains of the m a stage needs at least: its share of them, and
// room for its ranks.
func (f *Fabric) longestStage(m, ranks, stages int64) int64 {
	if stages == 1 {
		return m
	}
	stage, most := (ranks+stages-1)/stages, max(1, f.best.largest()/topology.Milli)
	return min(m, max((m+stages-1)/stages, (stage+most-1)/most))
}

// nicsAtBest sets B_dom of a bundle, of which a share leaves each of m domains with so many
// milli-GPU, and returns the hosts there are to a bundle.
func (f *Fabric) nicsAtBest(sh *shape, even, m int64, share float64) float64 {
	k := f.best.kindOf(m)
	even, full := min(even, k.gpus), k.hosts[0].gpus
	sh.nics = f.attached(even, full) / share
	return float64((even+full-1)/full) / share
}

// fewestDomains returns how many NVLink domains the pods need at least. Sizes are in
// descending order. The largest j pods need as many as j pods of the smallest among them;
// and all need the room for their total.
func (b *bounds) fewestDomains(s *Scratch, total int64) int64 {
	m := b.domainsFor(s, total, 1)
	for i, size := range s.sizes {
		if i+1 == len(s.sizes) || s.sizes[i+1] != size {
			m = max(m, b.domainsFor(s, int64(i+1), size))
		}
	}
	return min(m, int64(len(s.sizes))) // pods that exceed every host still are one each
}

// domainsFor returns how many domains count pods of a size need, the roomiest first.
func (b *bounds) domainsFor(s *Scratch, count, size int64) int64 {
	s.rooms = s.rooms[:0]
	for i := range b.kinds {
		s.rooms = append(s.rooms, room{b.kinds[i].room(size), b.kinds[i].count})
	}
	if !b.plain {
		slices.SortStableFunc(s.rooms, func(a, b room) int { return cmp.Compare(b.pods, a.pods) })
	}
	var domains int64
	for _, r := range s.rooms {
		if r.pods*r.domains >= count {
			return domains + (count+r.pods-1)/r.pods
		}
		count -= r.pods * r.domains
		domains += r.domains
	}
	return domains
}

// room returns how many pods of a size a domain takes.
func (k *kind) room(size int64) int64 {
	var pods int64
	for _, h := range k.hosts {
		pods += h.hosts * podsPerHost(h.gpus, size)
	}
	return pods
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

// kindOf returns the kind of the m-th largest domain.
func (b *bounds) kindOf(m int64) *kind {
	i := 0
	for ; i+1 < len(b.kinds) && m > b.kinds[i].count; i++ {
		m -= b.kinds[i].count
	}
	return &b.kinds[i]
}

// evenest returns the most milli-GPU that the emptiest of m domains can have of the gang.
// The largest j pods are in at most j of them, so the other m-j share at most the rest; and
// what a domain has is a multiple of what divides all pods.
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

// fewestCrossings adds the uplinks that a stage of so many milli-GPU must cross. One that
// needs k > 1 domains of a level leaves each of them once, the k-th best at the least.
func (f *Fabric) fewestCrossings(sh *shape, total int64) {
	for l := f.cluster.HostLevel() - 1; l >= 0; l-- {
		b := &f.best.levels[l]
		k := max(firstAtLeast(b.nvlink, sh.domains), firstAtLeast(b.gpus, total))
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
