package sim

import (
	"math/bits"

	"github.com/gangplan/gangplan/sim/ledger"
	"github.com/gangplan/gangplan/topology"
)

var accountOf = [...]ledger.Account{
	ReasonNone: ledger.BlockedLatency, ReasonBackoff: ledger.BlockedBackoff, ReasonGate: ledger.BlockedGate,
	ReasonOrder: ledger.BlockedOrder, ReasonLatency: ledger.BlockedLatency, ReasonPreemption: ledger.BlockedPreemption,
	ReasonInsufficient: ledger.BlockedInsufficient, ReasonQuota: ledger.BlockedQuota,
	ReasonShape: ledger.BlockedShape, ReasonTopology: ledger.BlockedTopology,
}

// claim says, once per instant, why free GPUs are free. They are claimed by what the
// policy reserves, then by unbound pods of admitted jobs, then by queued jobs; what
// nobody claims has no demand. The walk ends when no model that a waiter accepts is left.
func (e *Engine) claim() {
	var free int64
	copy(e.perModel, e.reserved)
	e.currentReservations(e.perModel)
	for m := range e.unalloc {
		left := e.books.Clear(int32(m))
		if r := min(left, e.perModel[m]); r > 0 {
			e.books.Move(int32(m), ledger.NoDemand, ledger.BlockedReserved, r)
			left -= r
		}
		e.left[m] = left
		free += left
	}
	if free > 0 {
		e.claimUnbound()
		e.claimQueued()
	}
}

// claimUnbound lets the unbound pods of admitted jobs claim, one claim per PodSet.
func (e *Engine) claimUnbound() {
	if e.podless.any() && e.roomForUnbound() {
		e.claimPodless()
		for _, j := range e.podless.others {
			e.claimJob(j)
		}
		return
	}
	for j := e.unbound.First(); j >= 0 && e.anyLeft(); j = e.unbound.Next(j) {
		e.claimJob(j)
	}
}

// claimJob lets an admitted job claim.
func (e *Engine) claimJob(j int32) {
	jb := &e.jobs[j]
	jb.refuse(e.sharpen(j, e.whyUnbound(j)))
	account := accountOf[jb.waited]
	for s := jb.setBase; s < jb.setBase+jb.sets; s++ {
		e.claimFor(e.sets[s].models, e.sets[s].unbound(), account)
	}
}

// unbound is the milli-GPU that the pods of a PodSet want which are neither bound nor held.
func (s *set) unbound() int64 { return int64(s.count-s.bound-s.held) * s.request[topology.GPU] }

// refuseWaiting notes, at the end of a run, why a job still waits, whether GPUs are free or not.
func (e *Engine) refuseWaiting(j int32) {
	jb := &e.jobs[j]
	switch {
	case !e.waitArena.Contains(j):
	case jb.state == Admitted:
		jb.refuse(e.sharpen(j, e.whyUnbound(j)))
	default:
		jb.refuse(e.sharpen(j, e.whyQueued(j)))
	}
}

// refuse notes why free GPUs do not help a job.
func (jb *job) refuse(why Reason) {
	jb.waited = why
	if why != ReasonNone && why != ReasonLatency {
		jb.refusal = why
	}
}

// sharpen puts too few free GPUs before what an attempt was refused for: whatever it
// was, an attempt now would be refused for that first.
func (e *Engine) sharpen(j int32, r Reason) Reason {
	if r != ReasonQuota && r != ReasonShape && r != ReasonTopology {
		return r
	}
	jb := &e.jobs[j]
	var want int64
	var accepted uint64
	for s := jb.setBase; s < jb.setBase+jb.sets; s++ {
		st := &e.sets[s]
		if gpus := int64(st.count-st.bound) * st.request[topology.GPU]; gpus > 0 {
			want += gpus
			accepted |= st.models
			if st.models == 0 {
				accepted = ^uint64(0)
			}
		}
	}
	if accepted == ^uint64(0) {
		accepted = 0
	}
	if e.freeGPUs(accepted) < want {
		return ReasonInsufficient
	}
	return r
}

// whyUnbound asks the Binder, unless it cannot know the pods yet.
func (e *Engine) whyUnbound(j int32) Reason {
	jb := &e.jobs[j]
	if jb.podStep == 0 {
		return ReasonLatency
	}
	return e.policy.Binder.Why(e.tx.View, j)
}

func (e *Engine) claimQueued() {
	for j := e.queued.First(); j >= 0 && e.anyLeft(); j = e.queued.Next(j) {
		jb := &e.jobs[j]
		jb.refuse(e.sharpen(j, e.whyQueued(j)))
		account := accountOf[jb.waited]
		for s := jb.setBase; s < jb.setBase+jb.sets; s++ {
			st := &e.sets[s]
			e.claimFor(st.models, int64(st.count)*st.request[topology.GPU], account)
		}
	}
}

func (e *Engine) whyQueued(j int32) Reason {
	switch jb := &e.jobs[j]; {
	case jb.state == Backoff && jb.requeueAt > e.now:
		return ReasonBackoff
	case jb.state == Backoff || !jb.visible:
		return ReasonLatency
	}
	return e.policy.Admitter.Why(e.tx.View, j)
}

// claimFor takes up to want milli-GPU of accepted models, in cluster order.
func (e *Engine) claimFor(models uint64, want int64, to ledger.Account) {
	for m := range e.left {
		if want <= 0 {
			return
		}
		if models != 0 && models>>m&1 == 0 {
			continue
		}
		if take := min(want, e.left[m]); take > 0 {
			e.left[m] -= take
			want -= take
			e.books.Move(int32(m), ledger.NoDemand, to, take)
		}
	}
}

// anyLeft reports whether GPUs are left of a model that some waiter accepts.
func (e *Engine) anyLeft() bool {
	var accepted uint64
	for slot, n := range e.waiting {
		switch {
		case n == 0:
		case e.maskOf[slot] == 0:
			accepted = ^uint64(0)
		default:
			accepted |= e.maskOf[slot]
		}
	}
	for m, n := range e.left {
		if n > 0 && accepted>>m&1 == 1 {
			return true
		}
	}
	return false
}

// freeGPUs is the milli-GPU on nodes that are up, unallocated and of an accepted model.
func (w *world) freeGPUs(models uint64) int64 {
	var n int64
	if models == 0 {
		for _, f := range w.unalloc {
			n += f
		}
		return n
	}
	for rest := models &^ (1 << 63); rest != 0; rest &= rest - 1 {
		n += w.unalloc[bits.TrailingZeros64(rest)]
	}
	return n
}
