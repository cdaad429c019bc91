package policies

import (
	"github.com/gangplan/gangplan/policies/admission"
	"github.com/gangplan/gangplan/sim"
)

// room answers the kernel's questions about places: the topology half of a decision.
type room struct {
	placer *placer
	tx     *sim.Tx
	ready  int32 // 1 + the job whose only PodSet's places the search holds
}

// Fits reports whether a job's pods have places on what is free now.
func (r *room) Fits(j int32, a *admission.Assignment) bool {
	first, last := r.tx.SetsOf(j)
	if r.ready = 0; last-first == 1 && r.plain(a, first) {
		fits := r.placer.place(r.tx.View, sim.Assigned, j, first, -1)
		if fits {
			r.ready = j + 1
		}
		return fits
	}
	mark := r.tx.Savepoint()
	grant(r.tx, a, j)
	fits := r.placer.assign(r.tx, j) < 0
	r.tx.Rollback(mark)
	return fits
}

// plain reports whether the first PodSet is given all its pods, wherever they fit.
func (r *room) plain(a *admission.Assignment, first int32) bool {
	return r.tx.Flavors() == 0 && a.Sets[0].Count == r.tx.Count(first)
}

// FitsEmpty reports whether they would on the empty cluster.
func (r *room) FitsEmpty(j int32, a *admission.Assignment) bool {
	if first, _ := r.tx.SetsOf(j); r.tx.NeverFits(j) || r.plain(a, first) {
		return !r.tx.NeverFits(j)
	}
	mark := r.tx.Savepoint()
	grant(r.tx, a, j)
	fits := r.placer.canEver(r.tx.View, j, false)
	r.tx.Rollback(mark)
	return fits
}

// Leave and Return pretend that a victim's places are free, and that they are not.
func (r *room) Leave(j int32)  { r.imagine(j, true) }
func (r *room) Return(j int32) { r.imagine(j, false) }

func (r *room) imagine(j int32, gone bool) {
	r.ready = 0
	r.tx.Imagine(j, gone)
}

// Take assigns the places of a job that fits.
func (r *room) Take(j int32, a *admission.Assignment) {
	grant(r.tx, a, j)
	if first, _ := r.tx.SetsOf(j); r.ready == j+1 {
		r.placer.take(r.tx, first, -1)
	} else {
		r.placer.assign(r.tx, j)
	}
	r.ready = 0
}
