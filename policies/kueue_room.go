package policies

import (
	"github.com/gangplan/gangplan/policies/admission"
	"github.com/gangplan/gangplan/policies/stage"
	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/workloads"
)

// room answers the kernel's questions about places: the topology half of a decision.
type room struct {
	placer *placer
	tx     *sim.Tx
	ready  int32 // 1 + the job whose only PodSet's places the search holds
}

// Fits reports whether a job's pods have places on what is free now.
func (r *room) Fits(j int32, _ *admission.Assignment) bool {
	first, last := r.tx.SetsOf(j)
	if r.ready = 0; last-first == 1 {
		fits := r.placer.place(r.tx.View, sim.Assigned, j, first)
		if fits {
			r.ready = j + 1
		}
		return fits
	}
	mark := r.tx.Savepoint()
	fits := r.placer.assign(r.tx, j)
	r.tx.Rollback(mark)
	return fits
}

// FitsEmpty reports whether they would on the empty cluster.
func (r *room) FitsEmpty(j int32, _ *admission.Assignment) bool { return !r.tx.NeverFits(j) }

// Leave and Return pretend that a victim's places are free, and that they are not.
func (r *room) Leave(j int32)  { r.imagine(j, true) }
func (r *room) Return(j int32) { r.imagine(j, false) }

func (r *room) imagine(j int32, gone bool) {
	r.ready = 0
	r.tx.Imagine(j, gone)
}

// Take assigns the places of a job that fits.
func (r *room) Take(j int32, _ *admission.Assignment) {
	if first, _ := r.tx.SetsOf(j); r.ready == j+1 {
		r.placer.search.AssignSet(r.tx, first)
	} else {
		r.placer.assign(r.tx, j)
	}
	r.ready = 0
}

// placer is the topology half of a topology-aware queue.
type placer struct {
	fallback workloads.TopologyRequest // for jobs that carry no request
	forced   *stage.Algorithm          // overrides the choice by request when not nil
	search   *stage.Search
}

// reset prepares for a run. A request without a level means the one above the host.
func (p *placer) reset(v sim.View) {
	p.search = stage.NewSearch(v.Cluster())
	if p.fallback.Level == "" {
		p.fallback.Level = v.Cluster().Levels[max(0, v.Cluster().HostLevel()-1)]
	}
}

// assign places the PodSets of a job one after the other; each sees what those before it
// took.
func (p *placer) assign(tx *sim.Tx, j int32) bool {
	first, last := tx.SetsOf(j)
	for s := first; s < last; s++ {
		if !p.place(tx.View, sim.Assigned, j, s) {
			return false
		}
		p.search.AssignSet(tx, s)
	}
	return true
}

// place searches for one PodSet in a plane.
func (p *placer) place(v sim.View, plane sim.Plane, j, s int32) bool {
	counts := v.Counts(plane, v.Shape(s))
	if pin := v.PinnedNode(s); pin >= 0 {
		p.search.Slots = append(p.search.Slots[:0], stage.Slot{Node: pin, Count: v.Count(s)})
		return counts[v.Cluster().HostDomain(pin)] >= v.Count(s)
	}
	first, _ := v.SetsOf(j)
	request := v.Job(j).PodSets[s-first].Topology
	if request.Mode == workloads.TopologyNone {
		request = p.fallback
	}
	level := v.Cluster().HostLevel()
	algo := stage.LeastFreeCapacity
	if request.Mode == workloads.TopologyPreferred || request.Mode == workloads.TopologyRequired {
		level, algo = v.Cluster().Level(request.Level), stage.BestFit
	}
	if p.forced != nil {
		algo = *p.forced
	}
	return p.search.Place(counts, v.Count(s), request.Mode, level, algo)
}

// lacksHosts reports whether the pods that fit over all hosts are fewer than wanted.
func (p *placer) lacksHosts(v sim.View, j int32) bool {
	first, last := v.SetsOf(j)
	for s := first; s < last; s++ {
		if v.Total(sim.Assigned, v.Shape(s)) < int64(v.Count(s)) {
			return true
		}
	}
	return false
}

// canEver reports whether every PodSet has a place on the empty cluster.
func (p *placer) canEver(v sim.View, j int32) bool {
	first, last := v.SetsOf(j)
	for s := first; s < last; s++ {
		if !p.place(v, sim.Empty, j, s) {
			return false
		}
	}
	return true
}
