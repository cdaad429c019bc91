package fabric

import (
	"math"
	"math/bits"

	"github.com/gangplan/gangplan/topology/fabric/flow"
)

// Load is what one gang's all-reduce asks of the fabric: the integers that the sharing of
// links is computed from. Floats end here.
type Load struct {
	Idle Cost // without neighbours

	private int64 // ns of the bandwidth term where nobody shares: domain, NICs, bounds per host
	small   int64 // ns of the line for small messages
	latency int64 // ns on top of the bandwidth term of a large one
	sent    float64
	uses    []use // uplinks that are crossed, by domain
}

// use is a gang on an uplink.
type use struct {
	pool  int32
	kappa int32 // crossings, in 1/kappaOne
	unit  int64 // 2^-16 ns that one crossing takes: phi S / C_X, rounded up
	at    int32 // position among the members of the pool
}

// Fractions of the integers: unit has 16 binary places, a duty 32, a kappa 8, because those
// of ranks in random order are expectations. What the rings of all jobs cross of one uplink
// is below 2^24, the GPUs below it.
const (
	unitBits  = 16
	fullDuty  = 1 << 32
	kappaBits = 8
	kappaOne  = 1 << kappaBits
)

// mostNanos bounds every time here, so that two can be added.
const mostNanos = 1 << 61

// Load computes the load of a gang where it stands. It is Collect with a memory of the
// uplinks; l is overwritten and its memory reused.
func (f *Fabric) Load(s *Scratch, pods []Pod, t Traffic, l *Load) {
	s.uses, s.keepUses = l.uses[:0], true
	sh := f.shapeOf(s, pods, &t)
	s.keepUses = false
	*l = Load{Idle: f.cost(&t, &sh), uses: s.uses}
	s.uses = nil
	if l.Idle.Level == NoLevel {
		l.uses = l.uses[:0]
		return
	}
	terms := f.termsOf(&t, &sh)
	bw := terms.private
	if sh.cap > 0 {
		bw = max(bw, terms.sent/sh.cap)
	}
	l.sent = terms.sent
	l.private = max(1, boundNanos(bw))
	l.small = boundNanos(terms.small)
	l.latency = boundNanos(terms.latency)
	for i := range l.uses {
		u := &l.uses[i]
		u.unit = boundNanos(float64(l.sent / f.uplink[u.pool] * (1 << unitBits)))
	}
}

func boundNanos(ns float64) int64 {
	if ns = math.Ceil(ns); ns < mostNanos {
		return int64(ns)
	}
	return mostNanos
}

// timeOf is the time of an all-reduce whose bandwidth term is bw. It never falls below the
// idle one, which differs by the rounding of one nanosecond.
func (l *Load) timeOf(bw int64) int64 {
	return max(l.Idle.Nanos, bw, min(l.small, l.latency+bw))
}

// crossing is the bandwidth term on one uplink: own crossings in full, those of others as
// often as they are there. Rounded up.
func (u *use) crossing(others uint64) int64 {
	hi, lo := bits.Mul64(uint64(u.unit), uint64(u.kappa)*fullDuty+others)
	const shift = unitBits + 32 + kappaBits
	lo, carry := bits.Add64(lo, 1<<shift-1, 0)
	hi += carry
	if hi >= 1<<(shift-4) {
		return mostNanos
	}
	return min(mostNanos, int64(hi<<(64-shift)|lo>>shift))
}

// tightness is the share of the pool that one crossing of the gang takes at the speed of
// its private links, in 2^-32, rounded up: kappas of jobs with at most this cannot fill
// the pool while they add up to less than one.
func (u *use) tightness(private int64) uint64 {
	hi, lo := bits.Mul64(uint64(u.unit), fullDuty>>unitBits)
	if hi >= uint64(private) {
		return math.MaxUint64
	}
	q, r := bits.Div64(hi, lo, uint64(private))
	if r > 0 {
		q++
	}
	return q
}

// Edges are the gang's messages as flows: one of each crossing of a bundle over its uplinks,
// and one that stands for all that cross none. Every edge has a private link, numbered from first on, whose rate is added to
// capacity. Uplinks are links 2d, their downlinks 2d+1, in the capacities of Links.
func (f *Fabric) Edges(s *Scratch, pods []Pod, t Traffic, l *Load, capacity []int64) ([]flow.Edge, []int64) {
	s.edges, s.keepEdges = s.edges[:0], true
	f.shapeOf(s, pods, &t)
	s.keepEdges = false
	bytes := int64(math.Round(max(1, l.sent)))
	private := int64(min(math.MaxInt64/2, float64(bytes)/float64(l.private)*1e9))
	add := func(edges []flow.Edge, route []int32) []flow.Edge {
		capacity = append(capacity, max(1, private))
		return append(edges, flow.Edge{Route: append(route, int32(len(capacity)-1)), Bytes: bytes})
	}
	edges := add(nil, nil)
	for _, e := range s.edges {
		if route := f.route(e.from, e.to); len(route) > 0 {
			edges = add(edges, route)
		}
	}
	return edges, capacity
}

// route lists the uplinks and downlinks between two hosts.
func (f *Fabric) route(from, to int32) []int32 {
	var route []int32
	for l := f.cluster.HostLevel() - 1; l >= 0; l-- {
		a, b := f.cluster.DomainOf(from, l), f.cluster.DomainOf(to, l)
		if a == b {
			break
		}
		route = append(route, 2*a, 2*b+1)
	}
	return route
}

// Links are the capacities of the uplinks and downlinks in bytes per second.
func (f *Fabric) Links() []int64 {
	links := make([]int64, 2*len(f.uplink))
	for d, c := range f.uplink {
		links[2*d] = int64(min(math.MaxInt64/2, c*1e9))
		links[2*d+1] = links[2*d]
	}
	return links
}

// Step is what a job does between two all-reduces.
type Step struct {
	Compute int64 // ns
	Hidden  int64 // ns of an all-reduce that the computation hides, at most Compute
}

// Nanos is the length of a step whose all-reduce takes so long.
func (s Step) Nanos(allReduce int64) int64 { return s.Compute + max(0, allReduce-s.Hidden) }

// duty is the share of a step that its all-reduce is on the network, in 2^-32, rounded down.
func (s Step) duty(allReduce int64) uint64 {
	step := s.Nanos(allReduce)
	if step <= allReduce {
		return fullDuty
	}
	hi, lo := bits.Mul64(uint64(allReduce), fullDuty)
	q, _ := bits.Div64(hi, lo, uint64(step))
	return q
}

// FlowJob is the job as flows over the edges, from time 0 on: the latency delays what is
// sent.
func (l *Load) FlowJob(step Step, edges []flow.Edge) flow.Job {
	return flow.Job{Compute: []int64{step.Compute * flow.Nano}, Hidden: (step.Hidden - l.latency) * flow.Nano, Edges: edges}
}
