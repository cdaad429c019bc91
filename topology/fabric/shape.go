package fabric

import (
	"math"
	"slices"

	"github.com/gangplan/gangplan/topology"
)

// Scratch is the working memory of one goroutine for one fabric.
type Scratch struct {
	stops []stop    // the NVLink domains of the gang, in rank order
	hosts []int32   // its hosts
	ring  []stretch // the ring that is being walked
	used  []int64   // milli-GPU of the gang by node; zero between calls
	stop  []int32   // 1 + the index in stops, by NVLink domain; zero between calls
	kappa []int32   // bundles that leave, by domain above the host; zero between calls
	count []int32   // domains of a ring inside, likewise

	sizes []int64 // of Best
	rooms []room

	keepUses  bool // for Load
	uses      []use
	keepEdges bool // for Edges
	edges     []hop
}

// hop leads from a node to the next of a ring.
type hop struct{ from, to int32 }

// stop is an NVLink domain that a gang uses. A collective library keeps the ranks of a
// domain together, so rings visit it once, where its first rank stands.
type stop struct {
	node, domain int32 // of its first rank
	ranks, hosts int64
	nics         float64 // GB/s of the NICs next to its ranks
	rings        int64   // rings that leave it
}

// stretch is a part of a ring: ranks of one stop.
type stretch struct {
	stop  int32
	ranks int64
}

// NewScratch makes working memory for calls to f.
func NewScratch(f *Fabric) *Scratch {
	return &Scratch{
		used:  make([]int64, len(f.cluster.Nodes)),
		stop:  make([]int32, f.domains),
		kappa: make([]int32, len(f.uplink)),
		count: make([]int32, len(f.uplink)),
	}
}

// shape is all that the cost of a collective depends on, besides its size.
type shape struct {
	ranks   int64   // n of a ring: those that hold the same part of the model
	domains int64   // m of a ring, of the longest
	inside  int64   // fewest ranks that a domain with several of them has
	nics    float64 // B_dom of a bundle, GB/s; of no meaning for m = 1
	uplink  float64 // largest kappa_X / C_X above the host, ns per byte; 0 when nothing is crossed
	level   int8    // where that is
	cap     float64 // GB/s of a bundle by the tightest bound per host that is on the way; 0 is none
	capAt   int8    // the level of it
	delay   float64 // ns added to a step by the slowest level that is crossed
}

// shapeOf reads the shape of the pods where they stand.
func (f *Fabric) shapeOf(s *Scratch, pods []Pod, t *Traffic) shape {
	f.occupy(s, pods)
	var sh shape
	for i := range s.stops {
		sh.ranks += s.stops[i].ranks
	}
	tensor, stages, copies := t.cut(sh.ranks)
	if copies > 1 && len(s.stops) > 1 {
		f.attachNICs(s)
		f.walkStages(s, &sh, tensor, stages, copies)
		f.worstUplink(s, &sh)
		sh.fewestNICs(s.stops, float64(tensor))
	}
	sh.ranks, sh.domains = copies, max(1, sh.domains)
	sh.inside = fewestTogether(s.stops)
	for _, node := range s.hosts {
		s.used[node] = 0
	}
	for i := range s.stops {
		s.stop[s.stops[i].domain] = 0
	}
	return sh
}

// occupy notes the gang's domains in the order of its ranks, and its GPUs by host.
func (f *Fabric) occupy(s *Scratch, pods []Pod) {
	s.stops, s.hosts = s.stops[:0], s.hosts[:0]
	for _, p := range pods {
		if p.GPUs <= 0 {
			continue
		}
		d := f.nvlink[p.Node]
		if s.stop[d] == 0 {
			s.stops = append(s.stops, stop{node: p.Node, domain: d})
			s.stop[d] = int32(len(s.stops))
		}
		at := &s.stops[s.stop[d]-1]
		at.ranks += ranksOf(int64(p.GPUs))
		if s.used[p.Node] == 0 {
			s.hosts = append(s.hosts, p.Node)
			at.hosts++
		}
		s.used[p.Node] += int64(p.GPUs)
	}
	if f.profile.Order == ByTopology {
		slices.SortStableFunc(s.stops, func(a, b stop) int { return int(a.node - b.node) })
		for i := range s.stops {
			s.stop[s.stops[i].domain] = int32(i + 1)
		}
	}
}

// ranksOf returns the ranks of a pod: one for each GPU, and one for a part of one.
func ranksOf(gpus int64) int64 { return (gpus + topology.Milli - 1) / topology.Milli }

// attachNICs adds up the NICs next to the gang's GPUs, by domain.
func (f *Fabric) attachNICs(s *Scratch) {
	for _, node := range s.hosts {
		total := f.cluster.Nodes[node].Allocatable[topology.GPU]
		s.stops[s.stop[f.nvlink[node]]-1].nics += f.nicRate(s.used[node], total)
	}
}

// nicRate is the bandwidth of the NICs next to some of a host's GPUs.
func (f *Fabric) nicRate(used, total int64) float64 { return f.attached(min(used, total), total) }

// attached is the bandwidth of the NICs next to so many milli-GPU of hosts that have full
// each: one at the least.
func (f *Fabric) attached(used, full int64) float64 {
	nics := 1.0
	if full > 0 {
		nics = max(nics, float64(f.profile.NICs)*float64(used)/float64(full))
	}
	return float64(nics * f.nic) // is summed
}

// walkStages walks the rings of every pipeline stage: a run of tensor x copies ranks. As
// many rings as the model has parts of a layer go through a stage side by side, each on NICs
// of its own, as the channels of a single ring do: together they are one bundle.
func (f *Fabric) walkStages(s *Scratch, sh *shape, tensor, stages, copies int64) {
	total, stage := sh.ranks, (sh.ranks+stages-1)/stages
	next, rest := int32(0), s.stops[0].ranks
	for done := int64(0); done < total; {
		s.ring = s.ring[:0]
		for want := min(stage, total-done); want > 0; {
			n := min(want, rest)
			s.ring = append(s.ring, stretch{next, n})
			want, rest, done = want-n, rest-n, done+n
			if rest == 0 && done < total {
				next++
				rest = s.stops[next].ranks
			}
		}
		f.walkRing(s, sh, tensor, copies)
	}
}

// walkRing notes what the bundle of one stage does: with how many rings it leaves each domain,
// and how often it crosses the uplinks above. It enters a domain as often as it leaves it, so
// both directions carry the same.
func (f *Fabric) walkRing(s *Scratch, sh *shape, tensor, copies int64) {
	m := int64(len(s.ring))
	if m == 1 {
		return
	}
	sh.domains = max(sh.domains, min(m, copies))
	for _, part := range s.ring {
		s.stops[part.stop].rings += min(part.ranks, tensor)
	}
	if f.profile.Order == Random {
		f.expectCrossings(s)
		return
	}
	prev := s.stops[s.ring[m-1].stop].node
	for _, part := range s.ring {
		node := s.stops[part.stop].node
		if s.keepEdges {
			s.edges = append(s.edges, hop{prev, node})
		}
		for l := f.cluster.HostLevel() - 1; l >= 0; l-- {
			from := f.cluster.DomainOf(prev, l)
			if from == f.cluster.DomainOf(node, l) {
				break // and so are all levels above
			}
			s.cross(from, kappaOne)
		}
		prev = node
	}
}

// cross notes crossings of an uplink, as far as they can be counted: eight million.
func (s *Scratch) cross(domain int32, kappa int64) {
	s.kappa[domain] = int32(min(math.MaxInt32, int64(s.kappa[domain])+kappa))
}

// expectCrossings is walkRing for ranks in random order: of m domains on a ring, p of them
// in X, it leaves X p(m-p)/(m-1) times on average. Rounded up.
func (f *Fabric) expectCrossings(s *Scratch) {
	m := int64(len(s.ring))
	for l := f.cluster.HostLevel() - 1; l >= 0; l-- {
		for _, part := range s.ring {
			s.count[f.cluster.DomainOf(s.stops[part.stop].node, l)]++
		}
		for _, part := range s.ring {
			d := f.cluster.DomainOf(s.stops[part.stop].node, l)
			p := int64(s.count[d])
			s.count[d] = 0
			s.cross(d, (p*(m-p)*kappaOne+m-2)/(m-1))
		}
	}
}

// fewestNICs finds B_dom: the NIC bandwidth that a bundle has in the domain that has least. A
// domain has more of it where less than the whole bundle passes, and less where several do.
func (sh *shape) fewestNICs(stops []stop, tensor float64) {
	hosts := math.Inf(1)
	sh.nics = hosts
	for i := range stops {
		if at := &stops[i]; at.rings > 0 {
			share := float64(at.rings) / tensor
			sh.nics = min(sh.nics, at.nics/share)
			hosts = min(hosts, float64(at.hosts)/share)
		}
	}
	if sh.cap > 0 {
		sh.cap *= hosts
	}
}

// fewestTogether returns the fewest ranks of a domain that has several; 0 if none has.
func fewestTogether(stops []stop) int64 {
	least := int64(0)
	for i := range stops {
		if r := stops[i].ranks; r > 1 && (least == 0 || r < least) {
			least = r
		}
	}
	return least
}

// worstUplink finds the uplink with most crossings for its bandwidth and clears kappa.
func (f *Fabric) worstUplink(s *Scratch, sh *shape) {
	for l := f.cluster.HostLevel() - 1; l >= 0; l-- {
		for i := range s.stops {
			d := f.cluster.DomainOf(s.stops[i].node, l)
			if s.kappa[d] == 0 {
				continue
			}
			sh.load(float64(s.kappa[d])/kappaOne/f.uplink[d], l)
			sh.pass(f, l)
			if s.keepUses {
				s.uses = append(s.uses, use{pool: d, kappa: s.kappa[d]})
			}
			s.kappa[d] = 0
		}
	}
}

// pass notes that a level is left: that its steps take longer, and that its hosts have a
// bound of their own.
func (sh *shape) pass(f *Fabric, level int32) {
	sh.delay = max(sh.delay, f.delays[level])
	if c := f.caps[level]; c > 0 && (sh.cap == 0 || c < sh.cap) {
		sh.cap, sh.capAt = c, int8(level)
	}
}

// load notes an uplink's load. Levels come from the host upwards; the first of equals stays.
func (sh *shape) load(nsPerByte float64, level int32) {
	if nsPerByte > sh.uplink {
		sh.uplink, sh.level = nsPerByte, int8(level)
	}
}
