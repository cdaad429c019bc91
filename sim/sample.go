package sim

import (
	"math"

	"github.com/gangplan/gangplan/sim/capacity"
	"github.com/gangplan/gangplan/sim/order"
	"github.com/gangplan/gangplan/topology"
)

// Sample says how the free GPUs lie at one time, after the last cycle of its instant, in
// milli-GPU. Levels are the cluster's; Largest has one more, the cluster as a whole.
type Sample struct {
	Time     int64
	Free     int64
	Fragment int64 // of Free, by the FGD measure: see fragment.go
	// Largest is the largest gang of the workload's main pod shape that fits into one
	// domain of each level.
	Largest []int64
	// Unusable is what is free in domains of each level that hold no waiting gang whole;
	// on hosts, that hold no pod of one. It is 0 when nobody waits.
	Unusable []int64
}

// Stranded is what is free on hosts where no waiting pod fits.
func (s *Sample) Stranded() int64 {
	if len(s.Unusable) == 0 {
		return 0
	}
	return s.Unusable[len(s.Unusable)-1]
}

// sampler takes samples. Nothing happens between two instants, so a sample between them is
// taken late, when the next one begins: sampling needs no events and changes no run.
type sampler struct {
	next    int64 // time of the next sample, or Never
	gang    int32 // a PodSet of the shape that measures gangs, or -1
	types   []podType
	usable  []bool               // by domain
	need    []int32              // by shape: pods of the smallest waiting gang, 0 if none waits
	waiting []capacity.Shape     // shapes with a need
	singles int                  // of these, by a single pod
	free    []topology.Resources // of every node
	taken   []Sample
}

func (e *Engine) newSampler() {
	s := &e.sampler
	s.next = Never
	if e.cfg.SampleEvery > 0 {
		s.next = 0
	}
	s.gang = e.mainSet()
	s.types = e.typicalPods()
	s.usable = make([]bool, len(e.cfg.Cluster.Domains))
	s.need = make([]int32, len(e.shapes))
	s.free = e.nodes.planes[Physical].free
}

// mainSet returns a PodSet of the shape that asks for most GPUs over all jobs, the first
// in the trace among equals; -1 if none asks for any.
func (e *Engine) mainSet() int32 {
	demand := make([]int64, len(e.shapes))
	for i := range e.sets {
		demand[e.sets[i].shape] += int64(e.sets[i].count) * e.sets[i].request[topology.GPU]
	}
	best := int32(-1)
	for i := range e.sets {
		if d := demand[e.sets[i].shape]; d > 0 && (best < 0 || d > demand[e.sets[best].shape]) {
			best = int32(i)
		}
	}
	return best
}

// sampleUntil takes the samples that are due before t: all that happens until then has
// happened.
func (e *Engine) sampleUntil(t int64) {
	for s := &e.sampler; s.next < t; s.next += e.cfg.SampleEvery {
		s.taken = append(s.taken, e.sample(s.next))
	}
}

// samplesTo returns the samples up to the run's own end, which may lie before the last
// instant that was looked at.
func (e *Engine) samplesTo(end int64) []Sample {
	taken := e.sampler.taken
	for len(taken) > 0 && taken[len(taken)-1].Time > end {
		taken = taken[:len(taken)-1]
	}
	return taken
}

// sample measures the present state.
func (e *Engine) sample(at int64) Sample {
	levels := len(e.cfg.Cluster.Levels)
	arena := make([]int64, 2*levels+1)
	out := Sample{Time: at, Largest: arena[: levels+1 : levels+1], Unusable: arena[levels+1:]}
	for i := range e.sampler.free {
		out.Free += e.sampler.free[i][topology.GPU]
	}
	out.Fragment = e.fragment()
	e.largest(out.Largest)
	e.unusable(out.Unusable)
	return out
}

func (e *Engine) largest(by []int64) {
	if e.sampler.gang < 0 {
		return
	}
	set := &e.sets[e.sampler.gang]
	index, gpus := e.nodes.planes[Physical].index, set.request[topology.GPU]
	counts := index.Counts(set.shape)
	for level := range e.cfg.Cluster.Levels {
		if d := index.Largest(set.shape, int32(level)); d >= 0 {
			by[level] = int64(counts[d]) * gpus
		}
	}
	by[len(by)-1] = index.Total(set.shape) * gpus
}

// unusable fills in what is free where nothing that waits fits.
func (e *Engine) unusable(by []int64) {
	if e.queued.Len() == 0 && e.unbound.Len() == 0 {
		return
	}
	e.collectNeeds()
	e.markUsable()
	c := e.cfg.Cluster
	for level := range c.Levels {
		first, last := c.DomainsAt(int32(level))
		for d := first; d < last; d++ {
			if e.sampler.usable[d] {
				continue
			}
			for n := c.Domains[d].First; n < c.Domains[d].Last; n++ {
				by[level] += max(0, e.sampler.free[n][topology.GPU])
			}
		}
	}
}

// collectNeeds notes, per shape, the smallest gang that waits. When a single pod of every shape
// does, nobody else matters.
func (e *Engine) collectNeeds() {
	s := &e.sampler
	for _, shape := range s.waiting {
		s.need[shape] = 0
	}
	s.waiting, s.singles = s.waiting[:0], 0
	for _, l := range [...]*order.List{&e.unbound, &e.queued} {
		for j := l.First(); j >= 0 && s.singles < len(s.need); j = l.Next(j) {
			e.collectNeed(j)
		}
	}
}

func (e *Engine) collectNeed(j int32) {
	s, jb := &e.sampler, &e.jobs[j]
	for i := jb.setBase; i < jb.setBase+jb.sets; i++ {
		set := &e.sets[i]
		if set.request[topology.GPU] == 0 || set.bound == set.count {
			continue
		}
		pods := max(1, set.min-set.bound)
		if s.need[set.shape] == 0 {
			s.waiting = append(s.waiting, set.shape)
			s.need[set.shape] = math.MaxInt32
		}
		if pods < s.need[set.shape] {
			if s.need[set.shape] = pods; pods == 1 {
				s.singles++
			}
		}
	}
}

// markUsable marks the domains that hold a waiting gang, and the hosts that hold a pod.
func (e *Engine) markUsable() {
	s, host := &e.sampler, e.cfg.Cluster.HostDomain(0)
	clear(s.usable)
	for _, shape := range s.waiting {
		counts := e.nodes.planes[Physical].index.Counts(shape)
		for d, n := range counts {
			if int32(d) >= host && n > 0 || n >= s.need[shape] {
				s.usable[d] = true
			}
		}
	}
}
