package policies

import (
	"cmp"
	"slices"

	"github.com/gangplan/gangplan/policies/admission"
	"github.com/gangplan/gangplan/policies/stage"
	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/workloads"
)

// placer is the topology half of a topology-aware queue: it gives every pod of a job a
// node before the job is admitted.
type placer struct {
	fallback workloads.TopologyRequest // for jobs that carry no request
	forced   *stage.Algorithm          // overrides the choice by request when not nil
	preset   stage.Preset
	by       stage.Placement
	leaf     string // the lowest level of the topology; empty is the host
	search   *stage.Search
	leaves   stage.Leaves
	kept     []stage.Slot // of a job that lost a node
	found    []place      // by canEver
	partial  bool         // jobs may be admitted with fewer pods
	fewest   bool         // places are asked for as few pods as a job can do with
}

// reset prepares for a run. A request without a level means the one above the host.
func (p *placer) reset(v sim.View) {
	leaf := v.Cluster().HostLevel()
	if l := v.Cluster().Level(p.leaf); l >= 0 {
		leaf = l
	}
	p.search = stage.NewSearch(v.Cluster(), leaf)
	needsLevel := p.fallback.Mode == workloads.TopologyPreferred || p.fallback.Mode == workloads.TopologyRequired
	if p.fallback.Level == "" && needsLevel {
		p.fallback.Level = v.Cluster().Levels[max(0, leaf-1)]
	}
}

// place is a number of pods of a PodSet in a domain: a host, or a leaf above it.
type place struct {
	domain, set, count int32
	flavors            uint64 // that the pods are given
	times              int32  // how often the cycle takes it, see stage.Preset.TakesPerResource
}

// seek finds places for the PodSets of a job in a plane, one after the other; each sees what
// those before it would take. It returns them in the order of PodSets and ranks, and the
// first PodSet that has none, counted from the job's first, or -1.
func (p *placer) seek(v sim.View, plane sim.Plane, j int32, to []place) ([]place, int32) {
	first, last := v.SetsOf(j)
	failed := int32(-1)
	to = to[:0]
	for s := first; s < last && failed < 0; s++ {
		workers, leader := p.group(v, j, s)
		if workers < 0 {
			continue
		}
		if !p.place(v, plane, j, workers, leader) {
			failed = s - first
			break
		}
		before := len(to)
		if to = p.places(v, to, workers, leader); last-first > 1 {
			p.assume(v, plane, to[before:], 1)
		}
	}
	if last-first > 1 {
		p.assume(v, plane, to, -1)
	}
	return to, failed
}

// assume takes places for the PodSets that follow, or with -1 gives them back.
func (p *placer) assume(v sim.View, plane sim.Plane, list []place, by int64) {
	for _, t := range list {
		r := *v.PodRequest(t.set)
		if !p.preset.SetsTakePods {
			r[topology.Pods] = 0
		}
		v.Pretend(plane, t.domain, r.Times(by*int64(t.count)))
	}
}

// places appends the answer of the search for a PodSet and its leader, or -1.
func (p *placer) places(v sim.View, to []place, workers, leader int32) []place {
	base, _ := v.Cluster().DomainsAt(p.search.LeafLevel())
	if v.PinnedNode(workers) >= 0 {
		base = v.Cluster().HostDomain(0)
	}
	for _, slot := range p.search.Slots {
		to = append(to, place{base + slot.Leaf, workers, slot.Count, v.Given(workers), 1})
	}
	if leader >= 0 && p.search.Leader >= 0 {
		to = append(to, place{base + p.search.Leader, leader, 1, v.Given(leader), 1})
	}
	return to
}

// pretend takes places in a plane, or with -1 gives them back.
func pretend(v sim.View, plane sim.Plane, list []place, by int64) {
	for _, t := range list {
		v.Pretend(plane, t.domain, v.PodRequest(t.set).Times(by*int64(t.count)*int64(t.times)))
	}
}

// assign gives the pods of a queued job its places, rank after rank.
func assign(tx *sim.Tx, list []place) {
	host, set, pod := tx.Cluster().HostDomain(0), int32(-1), int32(0)
	for _, t := range list {
		if t.set != set {
			set, pod = t.set, tx.FirstPod(t.set)
		}
		for range t.count {
			if t.domain >= host {
				tx.Assign(pod, t.domain-host)
			} else {
				tx.AssignWithin(pod, t.domain)
			}
			pod++
		}
	}
}

// stillFits reports whether each of some places has what its pods ask for, but for pod slots.
func (p *placer) stillFits(v sim.View, list []place) bool {
	host := v.Cluster().HostDomain(0)
	return !slices.ContainsFunc(list, func(t place) bool {
		request := *v.PodRequest(t.set)
		request[topology.Pods] = 0
		if t.domain >= host {
			return request.CountIn(&v.Free(sim.Assigned)[t.domain-host]) < int64(t.count)
		}
		room := p.roomIn(v, sim.Assigned, t.domain, t.set, t.flavors)
		return request.CountIn(&room) < int64(t.count)
	})
}

// group returns the PodSets that are placed together with a set: itself, and the leader of
// its group. A set that was placed with one before it returns -1.
func (p *placer) group(v sim.View, j, s int32) (workers, leader int32) {
	first, last := v.SetsOf(j)
	sets := v.Job(j).PodSets
	name := sets[s-first].Topology.Group
	if name == "" {
		return s, -1
	}
	for o := first; o < last; o++ {
		if o == s || sets[o-first].Topology.Group != name {
			continue
		}
		if o < s {
			return -1, -1
		}
		if v.Count(o) > v.Count(s) {
			return o, s
		}
		return s, o
	}
	return s, -1
}

// request resolves what a PodSet asks for.
func (p *placer) request(v sim.View, j, s int32) (stage.Request, error) {
	first, _ := v.SetsOf(j)
	t := &v.Job(j).PodSets[s-first].Topology
	if t.Mode == workloads.TopologyNone {
		t = &p.fallback
	}
	r, err := stage.Resolve(t, p.count(v, s), v.Cluster(), p.search.LeafLevel(), &p.preset)
	if p.forced != nil {
		r.Algo = *p.forced
	}
	return r, err
}

// count returns for how many pods of a PodSet places are asked for.
func (p *placer) count(v sim.View, s int32) int32 {
	if p.fewest {
		return least(v, s)
	}
	return v.Count(s)
}

// place searches, in a plane, for one PodSet and the leader of its group, or -1. An answer
// that loses the leader, as older versions give some, is none.
func (p *placer) place(v sim.View, plane sim.Plane, j, s, leader int32) bool {
	shape := v.Shape(s)
	if pin := v.PinnedNode(s); pin >= 0 {
		p.search.Slots = append(p.search.Slots[:0], stage.Slot{Leaf: pin, Count: p.count(v, s)})
		p.search.Leader = -1
		return leader < 0 && v.Counts(plane, shape)[v.Cluster().HostDomain(pin)] >= p.count(v, s)
	}
	r, err := p.request(v, j, s)
	if err != nil || r.Count%max(1, r.Layers[0].Size) != 0 {
		return false
	}
	if p.aboveHosts(v) {
		return p.placeAbove(v, plane, s, leader, &r)
	}
	if leader < 0 {
		return p.search.PlaceBy(p.by, &r, v.Index(plane), shape, v.Counts(sim.Empty, shape))
	}
	r.Leader = true
	p.fill(v, plane, s, leader)
	return p.search.Place(&r, &p.leaves) && p.search.Leader >= 0 && p.search.Pods() == r.Count
}

// fill counts what fits on the hosts beside a leader.
func (p *placer) fill(v sim.View, plane sim.Plane, s, leader int32) {
	counts := v.Counts(plane, v.Shape(s))[v.Cluster().HostDomain(0):]
	hosts := v.Counts(plane, v.Shape(leader))[v.Cluster().HostDomain(0):]
	free, lead, pod := v.Free(plane), v.PodRequest(leader), v.PodRequest(s)
	p.leaves.Pods = counts
	p.leaves.Beside = p.leaves.Beside[:0]
	for n := range counts {
		beside := int32(-1)
		if hosts[n] > 0 {
			room := free[n].Minus(*lead)
			beside = min(counts[n], int32(min(pod.CountIn(&room), topology.NoLimit/2)))
		}
		p.leaves.Beside = append(p.leaves.Beside, beside)
	}
}

// lacksHosts reports whether the pods that fit over all hosts of the flavors they would have
// are fewer than wanted.
func (p *placer) lacksHosts(v sim.View, e *admission.Entry) bool {
	first, _ := v.SetsOf(e.Workload)
	plane := sim.Assigned
	if p.aboveHosts(v) {
		plane = sim.Physical // assignments are to no host
	}
	for i := range e.Sets {
		s := first + int32(i)
		if v.Room(plane, s, flavorsOf(&e.Sets[i])) < int64(p.count(v, s)) {
			return true
		}
	}
	return false
}

// canEverHave reports whether a PodSet has places by itself on the empty cluster, with the
// flavors it is given. PodSets of a group are looked at with all others.
func (p *placer) canEverHave(v sim.View, j, s int32) bool {
	if workers, leader := p.group(v, j, s); workers != s || leader >= 0 {
		return true
	}
	p.fewest = p.partial
	defer func() { p.fewest = false }()
	return p.place(v, sim.Empty, j, s, -1)
}

// canEver reports whether the PodSets of a job have places beside each other on the empty
// cluster.
func (p *placer) canEver(v sim.View, j int32) bool {
	failed := int32(-1)
	p.fewest = p.partial
	p.found, failed = p.seek(v, sim.Empty, j, p.found)
	p.fewest = false
	return failed < 0
}

// explain says, in Kueue's words, why a queued job has no place now, or "" if it has one: of
// its first PodSet that has none beside those before it. It is for people, not for the hot
// path.
func (p *placer) explain(v sim.View, j int32) string {
	list, failed := p.seek(v, sim.Assigned, j, p.found)
	if p.found = list; failed < 0 {
		return ""
	}
	p.assume(v, sim.Assigned, list, 1)
	defer p.assume(v, sim.Assigned, list, -1)
	first, _ := v.SetsOf(j)
	workers, leader := p.group(v, j, first+failed)
	if p.place(v, sim.Assigned, j, workers, leader); v.PinnedNode(workers) >= 0 {
		return "the node it is pinned to has no room"
	}
	r, err := p.request(v, j, workers)
	if err != nil {
		return err.Error()
	}
	if z := max(1, r.Layers[0].Size); r.Count%z != 0 {
		return "the number of pods is not a multiple of the slice size"
	}
	return p.search.Message(&stage.Why{Topology: cmp.Or(v.Cluster().Name, "default"), Free: p.freeOf(v), Pod: v.PodRequest(workers), Filter: p.filterOf(v, j, workers),
		Down: func(n int32) bool { return v.Closed(n) || !v.Offers(n, workers, v.Given(workers)) }})
}

// filterOf judges every node for a PodSet.
func (p *placer) filterOf(v sim.View, j, s int32) *stage.Verdicts {
	first, _ := v.SetsOf(j)
	set := &v.Job(j).PodSets[s-first]
	f := stage.Filter{Selector: set.NodeSelector, Tolerations: set.Tolerated()}
	if p.preset.Affinity {
		f.Affinity = set.NodeAffinity
	}
	return f.Apply(v.Cluster())
}
