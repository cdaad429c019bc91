package fabric

import "math/bits"

// Collective is what the ranks do together. Its size S is that of the whole array: what
// a rank has before a reduce-scatter, and after an all-gather.
type Collective uint8

// The collectives. An all-reduce is a reduce-scatter and an all-gather.
const (
	AllReduce Collective = iota
	ReduceScatter
	AllGather
)

// Collectives are the names nccl-tests has for them, by their number.
var Collectives = []string{"all_reduce", "reduce_scatter", "all_gather"}

// Algorithm is how the ranks of several NVLink domains go about it.
type Algorithm uint8

const (
	// Ring is NCCL's flat ring with one channel per NIC: 2(n-1)/n bytes leave a domain for
	// each byte reduced. It is what large messages use. Over two domains NCCL takes its tree,
	// where each domain sends every byte once.
	Ring Algorithm = iota
	// Tree is the pipelined double binary tree: 2 bytes, over two domains 1.
	Tree
	// Hierarchical reduces inside the domain first: 2(m-1)/m bytes. It is the textbook form
	// and is faster than what NCCL was measured to do.
	Hierarchical
	// InNetwork lets switches add (SHARP): each byte is sent up once.
	InNetwork
	// HalvingDoubling halves the vector with partners at doubling distance, nearest first,
	// so that what leaves a domain is as little as in the hierarchical form, in fewer steps.
	HalvingDoubling
	// Direct is the exchange of all with all: each rank sends a piece to every other, so the
	// ranks of a domain send together as much as there are of them.
	Direct
	numAlgorithms
)

// Algorithms are the names of the algorithms, by their number.
var Algorithms = []string{"ring", "tree", "hierarchical", "in-network", "halving-doubling", "direct"}

// String returns the algorithm's name.
func (a Algorithm) String() string { return Algorithms[a] }

// BusFactor is what nccl-tests multiplies the algorithm bandwidth S/t with, so that the
// result can be compared with what links are rated at: 2(n-1)/n, half of it for a
// reduce-scatter or an all-gather.
func BusFactor(op Collective, n int64) float64 {
	if op == AllReduce {
		return ringShare(n)
	}
	return ringShare(n) / 2
}

// ringShare is 2(n-1)/n, the bytes each of n ranks sends per byte reduced.
func ringShare(n int64) float64 { return float64(2*(n-1)) / float64(n) }

// cost is the closed form of the package's doc.
func (f *Fabric) cost(op Collective, sh *shape, bytes int64) Cost {
	if sh.ranks <= 1 || bytes <= 0 {
		return Cost{0, NoLevel}
	}
	size := float64(bytes)
	bw, level := f.bandwidth(op, sh, size)
	return Cost{ceilNanos(f.withLatency(op, sh, size, bw)), level}
}

// bandwidth is T_bw in ns and the level that binds.
func (f *Fabric) bandwidth(op Collective, sh *shape, size float64) (float64, int8) {
	bw, level := size*BusFactor(op, sh.ranks)/f.profile.DomainBusBW, int8(InDomain)
	if sh.domains > 1 {
		sent := size * f.phi(op, sh)
		if t := sent / sh.nics; t > bw {
			bw, level = t, int8(f.cluster.HostLevel())
		}
		if t := float64(sent * sh.uplink); t > bw {
			bw, level = t, sh.level
		}
		if t := sent / sh.cap; sh.cap > 0 && t > bw {
			bw, level = t, sh.capAt
		}
	}
	return bw, level
}

// withLatency is the time of a collective whose bandwidth term is bw ns.
func (f *Fabric) withLatency(op Collective, sh *shape, size, bw float64) float64 {
	line, hops := f.profile.Intra, 0.0
	if sh.domains > 1 {
		line, hops = f.profile.Inter, f.hops(op, sh.domains)
	}
	small := float64(line.A0*1000) + size/line.B0
	large := float64(line.A1*1000) + hops + bw
	return max(bw, min(small, large))
}

// phi is the bytes that leave a domain per byte of the array, for m > 1.
func (f *Fabric) phi(op Collective, sh *shape) float64 {
	alg := f.profile.Algorithm
	if op == AllReduce && sh.domains == 2 && alg != Direct {
		return 1
	}
	switch alg {
	case Tree:
		if op == AllReduce {
			return 2
		}
	case InNetwork:
		return 1
	case Hierarchical, HalvingDoubling:
		return BusFactor(op, sh.domains)
	case Direct:
		return BusFactor(op, sh.domains) * float64(sh.ranks) / float64(sh.domains)
	}
	return BusFactor(op, sh.ranks) // NCCL has no tree for the others: they go round the ring
}

// hops is the latency of the steps between m domains in nanoseconds. The logarithm is
// rounded up to an integer: math.Log2 differs in the last bit between processors.
func (f *Fabric) hops(op Collective, m int64) float64 {
	var steps int64 // one way; an all-reduce goes both
	switch f.profile.Algorithm {
	case Tree, HalvingDoubling:
		steps = int64(bits.Len64(uint64(m - 1)))
	case InNetwork, Direct:
		steps = 1
	default:
		steps = m - 1
	}
	if op == AllReduce {
		steps *= 2
	}
	return float64(float64(steps) * (f.profile.HopMicros * 1000))
}
