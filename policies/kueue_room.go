package policies

import (
	"github.com/gangplan/gangplan/policies/admission"
	"github.com/gangplan/gangplan/sim"
)

// room answers the kernel's questions about places: the topology half of a decision.
type room struct {
	placer  *placer
	partial bool
	tx      *sim.Tx
	ready   int32 // 1 + the job whose only PodSet's places the search holds
}

// Fits reports whether a job's pods have places on what is free now.
func (r *room) Fits(j int32, a *admission.Assignment) bool {
	first, last := r.tx.SetsOf(j)
	if r.ready = 0; last-first == 1 && (!r.partial || r.tx.MinCount(first) == 0) {
		fits := r.placer.place(r.tx.View, sim.Assigned, j, first, -1)
		if fits {
			r.ready = j + 1
		}
		return fits
	}
	mark := r.tx.Savepoint()
	r.reduce(j, a)
	fits := r.placer.assign(r.tx, j) < 0
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

func (r *room) reduce(j int32, a *admission.Assignment) {
	if r.partial {
		reduce(r.tx, a, j)
	}
}

// Take assigns the places of a job that fits.
func (r *room) Take(j int32, a *admission.Assignment) {
	r.reduce(j, a)
	if first, _ := r.tx.SetsOf(j); r.ready == j+1 {
		r.placer.take(r.tx, first, -1)
	} else {
		r.placer.assign(r.tx, j)
	}
	r.ready = 0
}
