package fabric

import "math/bits"

// Collective is what the ranks do together. Its size S is that of the whole array: what
// a rank has before a reduce-scatter, and after an all-gather.
type Collective uint8

// The collectives. An all-reduce is a reduce-scatter and an all-gather. FullyShard is what a
// step of fully sharded data parallelism (FSDP, ZeRO-3) exchanges: the parameters gathered
// twice, for the forward and the backward pass, and the gradients scattered once.
const (
	AllReduce Collective = iota
	ReduceScatter
	AllGather
	FullyShard
)

// Collectives are the names nccl-tests has for those it measures, by their number.
var Collectives = []string{"all_reduce", "reduce_scatter", "all_gather"}

// Traffic is what a gang exchanges in one step of training. A model that is cut by tensor
// and pipeline parallelism is cut over Tensor x Pipeline ranks; as often as the gang holds a
// whole copy, so many ranks hold the same part and exchange it. Ranks are numbered by part
// of a layer first, then by copy, then by stage, as Megatron numbers them. What the parts of
// one copy send to each other is not counted.
type Traffic struct {
	Collective       Collective
	Bytes            int64 // of the array that one rank holds: its part of the model's
	Tensor, Pipeline int32 // 0 is 1
}

// cut returns tensor and pipeline parallelism and how many ranks hold the same part.
func (t *Traffic) cut(ranks int64) (tensor, stages, copies int64) {
	tensor, stages = max(1, int64(t.Tensor)), max(1, int64(t.Pipeline))
	return tensor, stages, ranks / (tensor * stages)
}

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

// passes is how many collectives of half an all-reduce each make up the traffic, and one
// of them. An all-reduce is one of its own: over two domains it is less than its halves.
func passes(op Collective) (int64, Collective) {
	if op == FullyShard {
		return 3, AllGather
	}
	return 1, op
}

// BusFactor is what nccl-tests multiplies the algorithm bandwidth S/t with, so that the
// result can be compared with what links are rated at: 2(n-1)/n, half of it for a
// reduce-scatter or an all-gather.
func BusFactor(op Collective, n int64) float64 {
	switch op {
	case AllReduce:
		return ringShare(n)
	case FullyShard:
		return 3 * ringShare(n) / 2
	}
	return ringShare(n) / 2
}

// ringShare is 2(n-1)/n, the bytes each of n ranks sends per byte reduced.
func ringShare(n int64) float64 { return float64(2*(n-1)) / float64(n) }

// terms are the parts of the formula of the package's doc, in ns.
type terms struct {
	private float64 // of the bandwidth term, what nobody else can slow: domain, NICs, bound per host
	level   int8    // which of them it is
	sent    float64 // bytes that the rings of a stage send from a domain to the next; 0 within one
	small   float64 // the line of small messages
	latency float64 // what a large message takes above its bandwidth
}

// termsOf costs a shape. Its traffic has copies, more than one.
func (f *Fabric) termsOf(t *Traffic, sh *shape) terms {
	count, op := passes(t.Collective)
	times, size := float64(count), float64(count)*float64(t.Bytes)
	out := terms{private: size * BusFactor(op, sh.ranks) / f.busBandwidth(sh), level: InDomain}
	line, hops, far := f.profile.Intra, 0.0, 0.0
	if sh.domains > 1 {
		line, hops = f.profile.Inter, float64(times*f.hops(op, sh.domains))
		far = float64(float64(count*ways(op)*logSteps(sh.domains)) * sh.delay)
		out.sent = size * f.phi(op, sh) * float64(max(1, t.Tensor))
		if t := out.sent / sh.nics; t > out.private {
			out.private, out.level = t, int8(f.cluster.HostLevel())
		}
	}
	out.small = float64(times*(line.A0*1000)) + size/line.B0 + far
	out.latency = float64(times*(line.A1*1000)) + hops + far
	return out
}

// cost is the closed form of the package's doc.
func (f *Fabric) cost(t *Traffic, sh *shape) Cost {
	if sh.ranks <= 1 || t.Bytes <= 0 {
		return Cost{0, NoLevel}
	}
	terms := f.termsOf(t, sh)
	bw, level := terms.private, terms.level
	if t := float64(terms.sent * sh.uplink); t > bw {
		bw, level = t, sh.level
	}
	if t := terms.sent / sh.cap; sh.cap > 0 && t > bw {
		bw, level = t, sh.capAt
	}
	return Cost{ceilNanos(max(bw, min(terms.small, terms.latency+bw))), level}
}

// busBandwidth is B_N. Over links from each GPU to each other a gang that has some of a
// domain's GPUs has as many of its links; behind a switch it has all the bandwidth.
func (f *Fabric) busBandwidth(sh *shape) float64 {
	if !f.profile.Mesh || sh.inside < 2 {
		return f.profile.DomainBusBW
	}
	return f.profile.DomainBusBW * float64(sh.inside-1) / float64(max(sh.inside, f.meshGPUs)-1)
}

// phi is the bytes that leave a domain per byte of the array, for m > 1, on one ring.
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

// hops is the latency of the steps between m domains in nanoseconds.
func (f *Fabric) hops(op Collective, m int64) float64 {
	var steps int64 // one way
	switch f.profile.Algorithm {
	case Tree, HalvingDoubling:
		steps = logSteps(m)
	case InNetwork, Direct:
		steps = 1
	default:
		steps = m - 1
	}
	return float64(float64(ways(op)*steps) * (f.profile.HopMicros * 1000))
}

// ways is how often a collective goes through its steps: an all-reduce there and back.
func ways(op Collective) int64 {
	if op == AllReduce {
		return 2
	}
	return 1
}

// logSteps is the logarithm of m rounded up to an integer: math.Log2 differs in the last bit
// between processors.
func logSteps(m int64) int64 { return int64(bits.Len64(uint64(m - 1))) }
