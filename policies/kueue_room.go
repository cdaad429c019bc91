package policies

import (
	"github.com/gangplan/gangplan/policies/admission"
	"github.com/gangplan/gangplan/sim"
)

// room answers the kernel's questions about places: the topology half of a decision.
type room struct {
	placer *placer
	tx     *sim.Tx
	found  [][]place // per queue: the places of its head
	taken  []int32   // heads whose places are taken for this cycle
}

// Fits implements admission.Room.
func (r *room) Fits(j int32, a *admission.Assignment) int32 { return r.seek(sim.Assigned, j, a) }

// FitsEmpty implements admission.Room: on the nodes that are up, whoever holds them.
func (r *room) FitsEmpty(j int32, a *admission.Assignment) int32 { return r.seek(sim.Vacant, j, a) }

func (r *room) seek(plane sim.Plane, j int32, a *admission.Assignment) (failed int32) {
	q, mark := r.tx.Queue(j), r.tx.Savepoint()
	grant(r.tx, a, j)
	r.found[q], failed = r.placer.seek(r.tx.View, plane, j, r.found[q])
	r.tx.Rollback(mark)
	return failed
}

// StillFits implements admission.Room.
func (r *room) StillFits(j int32) bool {
	return r.placer.stillFits(r.tx.View, r.found[r.tx.Queue(j)])
}

// Leave and Return implement admission.Room.
func (r *room) Leave(j int32)  { r.tx.Imagine(j, true) }
func (r *room) Return(j int32) { r.tx.Imagine(j, false) }

// Take implements admission.Room.
func (r *room) Take(j int32, a *admission.Assignment) {
	list := r.found[r.tx.Queue(j)]
	first, _ := r.tx.SetsOf(j)
	for i := range list {
		list[i].times = 1
		if r.placer.preset.TakesPerResource {
			list[i].times = resources(&a.Sets[list[i].set-first])
		}
	}
	pretend(r.tx.View, sim.Assigned, list, 1)
	r.taken = append(r.taken, j)
}

// resources counts those that a PodSet has a flavor for.
func resources(s *admission.SetAssignment) (n int32) {
	for _, f := range s.Flavor {
		if f >= 0 {
			n++
		}
	}
	return n
}

// Clear implements admission.Room.
func (r *room) Clear() {
	for _, j := range r.taken {
		pretend(r.tx.View, sim.Assigned, r.found[r.tx.Queue(j)], -1)
	}
	r.taken = r.taken[:0]
}

// assign gives the pods of a job its places for good.
func (r *room) assign(j int32) { assign(r.tx, r.found[r.tx.Queue(j)]) }
