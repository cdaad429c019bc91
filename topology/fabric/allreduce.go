package fabric

import (
	"math"

	"github.com/gangplan/gangplan/topology"
)

// Pod is one pod of a gang. The pods of a gang are listed in rank order.
type Pod struct {
	Node int32
	GPUs int32 // milli-GPU
}

// What Cost.Level says when it is not the index of a topology level.
const (
	NoLevel  = -1 // nothing is sent
	InDomain = -2 // the NVLink domain
)

// Cost is what one all-reduce costs.
type Cost struct {
	Nanos int64 // rounded up
	// Level is the bottleneck: the topology level whose uplink binds (the host level stands
	// for the NICs), InDomain, or NoLevel. Of equals it is the one closest to the GPU. It
	// speaks of the bandwidth term even where latency is the larger part.
	Level int8
}

// Scratch is the working memory of one goroutine for one fabric.
type Scratch struct {
	ring  []int32 // nodes of the pods with GPUs, in rank order
	used  []int64 // milli-GPU of the gang by node; zero between calls
	kappa []int32 // ring edges that leave, by domain above the host; zero between calls
	sizes []int64 // of BestAllReduce

	keepUses bool // for Load
	uses     []use
}

// NewScratch makes working memory for calls to f.
func NewScratch(f *Fabric) *Scratch {
	return &Scratch{
		used:  make([]int64, len(f.cluster.Nodes)),
		kappa: make([]int32, len(f.uplink)),
	}
}

// shape is all that the cost of an all-reduce depends on, besides its size.
type shape struct {
	ranks   int64   // n
	domains int64   // m
	nics    float64 // B_dom, GB/s; of no meaning for m = 1
	uplink  float64 // largest kappa_X / C_X above the host, ns per byte; 0 when nothing is crossed
	level   int8    // where that is
	cap     float64 // GB/s of the tightest bound per host that is on the way; 0 is none
	capAt   int8    // the level of it
}

// AllReduce returns the cost of reducing bytes among the pods where they stand, with no
// other traffic. It takes O(pods x levels) and allocates only to grow the scratch.
func (f *Fabric) AllReduce(s *Scratch, pods []Pod, bytes int64) Cost {
	return f.Collect(s, AllReduce, pods, bytes)
}

// Collect is AllReduce for any collective.
func (f *Fabric) Collect(s *Scratch, op Collective, pods []Pod, bytes int64) Cost {
	sh := f.shapeOf(s, pods)
	return f.cost(op, &sh, bytes)
}

// shapeOf reads the shape of the pods where they stand.
func (f *Fabric) shapeOf(s *Scratch, pods []Pod) shape {
	sh := s.occupy(pods)
	if sh.domains > 1 {
		sh.nics = f.fewestNICs(s)
		f.walkRing(s)
		f.worstUplink(s, &sh)
	}
	for _, node := range s.ring {
		s.used[node] = 0
	}
	return sh
}

// occupy notes the gang's ring and its GPUs by node, and counts ranks and domains. The
// ring visits each node once, where its first rank stands: a collective library keeps
// the ranks of a host together.
func (s *Scratch) occupy(pods []Pod) shape {
	var sh shape
	s.ring = s.ring[:0]
	for _, p := range pods {
		if p.GPUs <= 0 {
			continue
		}
		if s.used[p.Node] == 0 {
			s.ring = append(s.ring, p.Node)
			sh.domains++
		}
		s.used[p.Node] += int64(p.GPUs)
		sh.ranks += ranksOf(int64(p.GPUs))
	}
	return sh
}

// ranksOf returns the ranks of a pod: one for each GPU, and one for a part of one.
func ranksOf(gpus int64) int64 { return (gpus + topology.Milli - 1) / topology.Milli }

// fewestNICs returns B_dom, the NIC bandwidth of the domain that has least of it.
func (f *Fabric) fewestNICs(s *Scratch) float64 {
	least := math.Inf(1)
	for _, node := range s.ring {
		total := f.cluster.Nodes[node].Allocatable[topology.GPU]
		least = min(least, f.nicRate(s.used[node], total))
	}
	return least
}

// nicRate is the bandwidth of the NICs next to some of a host's GPUs.
func (f *Fabric) nicRate(used, total int64) float64 {
	attached := 1.0
	if total > 0 {
		attached = max(attached, float64(f.profile.NICs)*float64(min(used, total))/float64(total))
	}
	return attached * f.nic
}

// walkRing counts in kappa how often the ring leaves each domain above the host. It enters
// a domain as often as it leaves it, so both directions carry the same.
func (f *Fabric) walkRing(s *Scratch) {
	prev := s.ring[len(s.ring)-1]
	for _, node := range s.ring {
		for l := f.cluster.HostLevel() - 1; l >= 0; l-- {
			from := f.cluster.DomainOf(prev, l)
			if from == f.cluster.DomainOf(node, l) {
				break // and so are all levels above
			}
			s.kappa[from]++
		}
		prev = node
	}
}

// worstUplink finds the uplink with most crossings for its bandwidth and clears kappa.
func (f *Fabric) worstUplink(s *Scratch, sh *shape) {
	for l := f.cluster.HostLevel() - 1; l >= 0; l-- {
		for _, node := range s.ring {
			d := f.cluster.DomainOf(node, l)
			if s.kappa[d] == 0 {
				continue
			}
			sh.load(float64(s.kappa[d])/f.uplink[d], l)
			sh.pass(f, l)
			if s.keepUses {
				s.uses = append(s.uses, use{pool: d, kappa: s.kappa[d]})
			}
			s.kappa[d] = 0
		}
	}
}

// pass notes that a level is left whose hosts have a bound of their own.
func (sh *shape) pass(f *Fabric, level int32) {
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

// ceilNanos rounds up, and holds what does not fit at the largest time there is.
func ceilNanos(ns float64) int64 {
	if ns = math.Ceil(ns); ns < math.MaxInt64 {
		return int64(ns)
	}
	return math.MaxInt64
}
