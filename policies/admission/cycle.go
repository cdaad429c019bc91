package admission

import (
	"github.com/gangplan/gangplan/sim/quota"
)

// Status is how far an entry came in its cycle.
type Status uint8

// Waiting was not admitted, Skipped lost to an earlier entry after a nomination that could
// have been, Assumed is admitted.
const (
	Waiting Status = iota
	Skipped
	Assumed
)

// String returns Kueue's name of the status.
func (s Status) String() string { return [...]string{"", "skipped", "assumed"}[s] }

// Requeue says why an entry goes back to its queue.
type Requeue uint8

// Kueue's reasons of requeueing. Those named here put it back at the head; the others
// set it aside, if the queue is BestEffortFIFO.
const (
	Generic Requeue = iota
	FailedAfterNomination
	PendingPreemption
)

// String returns Kueue's name of the reason.
func (r Requeue) String() string {
	return [...]string{"", "FailedAfterNomination", "PendingPreemption"}[r]
}

// Entry is a head and what a cycle made of it.
type Entry struct {
	Workload int32
	Assignment
	Status  Status
	Requeue Requeue
	Skipped string // why it was skipped
	noPlace bool   // it no longer fits because of the topology alone
}

// Blocked reports an entry that would preempt but found nobody to.
func (e *Entry) Blocked() bool { return e.Mode == Preempt && len(e.Targets) == 0 }

// LacksPlace reports an entry that quota allows and the topology does not.
func (e *Entry) LacksPlace() bool {
	if n := len(e.Reasons); n == 0 || e.Reasons[n-1].Kind != NoPlace {
		return e.Skipped == NoLonger && e.noPlace
	}
	return true
}

// Cycle decides about one head of every queue. The entries are in the order they were
// processed, and valid until the next cycle. The tree is as it was before: the caller
// charges what is admitted and evicts the targets, which stay charged until they are gone.
func (k *Kernel) Cycle(heads []int32) []*Entry {
	k.search.parades.forget()
	k.nominateAll(heads)
	mark := k.Tree.Mark()
	k.done = k.done[:0]
	k.taken = 0
	k.inOrder()
	k.Tree.Undo(mark)
	k.endSimulation()
	k.clearVictims()
	if k.taken > 0 {
		k.Room.Clear()
	}
	return k.done
}

// nominateAll makes entries of the heads, each nominated against the same state.
func (k *Kernel) nominateAll(heads []int32) {
	for len(k.entries) < len(heads) {
		k.entries = append(k.entries, Entry{})
	}
	k.entries = k.entries[:len(heads)]
	for i, w := range heads {
		e := &k.entries[i]
		e.Workload, e.Status, e.Requeue, e.Skipped, e.noPlace = w, Waiting, Generic, "", false
		k.nominate(w, &e.Assignment)
		k.remember(e)
	}
}

// remember writes the workload's memory.
func (k *Kernel) remember(e *Entry) {
	wl := &k.Work[e.Workload]
	m := &wl.memory
	m.valid, m.generation = true, k.generation[wl.Queue]
	m.tried = m.tried[:0]
	for i := range e.Sets {
		m.tried = append(m.tried, e.Sets[i].Tried)
	}
}

// process decides about one entry, given what those before it took.
func (k *Kernel) process(e *Entry) {
	k.done = append(k.done, e)
	q := k.Work[e.Workload].Queue
	fits := k.stillFits(e, q)
	if !fits && e.noPlace && k.Rules.PlaceAgain {
		k.nominateAgain(e)
		fits = k.stillFits(e, q)
	}
	switch {
	case e.Mode == NoFit:
	case e.Blocked():
		if k.Tree.Queue(q).Preemption.Reclaim != quota.Any {
			k.reserve(e, q)
		}
	case k.overlaps(e):
		k.skip(e, Overlaps)
	case !fits:
		k.skip(e, NoLonger)
	default:
		k.accept(e, q)
	}
}

// nominateAgain nominates an entry against what is left, with the flavors it has: its quota
// is there but its places were taken. It may need victims now.
func (k *Kernel) nominateAgain(e *Entry) {
	k.showSimulation()
	k.again = append(k.again[:0], e.Sets...)
	k.pinned = k.again
	k.Forget(e.Workload)
	k.nominate(e.Workload, &e.Assignment)
	k.remember(e)
	k.pinned = nil
}

// showSimulation lets searches see what the earlier entries took; endSimulation, that it is
// given back.
func (k *Kernel) showSimulation() {
	k.shown = true
	for _, e := range k.done {
		k.ranks.touch(k.Work[e.Workload].Queue)
	}
}

func (k *Kernel) endSimulation() {
	if k.shown {
		k.showSimulation()
		k.shown = false
	}
}

// reserve keeps capacity from later entries of the cycle for a head that waits: up to the
// nominal quota, or the borrowing limit if it borrows. In a queue beyond its limit that is less
// than nothing, and taken off the queue's own usage alone: what its cohort lent it stays lent.
func (k *Kernel) reserve(e *Entry, q int32) {
	for _, it := range e.Usage {
		v, used := it.Amount, k.Tree.Usage(q, it.FR)
		limit := k.Tree.BorrowingLimit(q, it.FR)
		switch {
		case e.Level == 0:
			v = max(0, min(v, k.Tree.Nominal(q, it.FR)-used))
		case limit.Set:
			v = min(v, k.Tree.Nominal(q, it.FR)+limit.N-used)
		}
		k.Tree.Use(q, it.FR, v)
	}
	k.takePlaces(e)
}

// takePlaces takes an entry's places for those after it. A head that waits for victims it
// does not have takes those it would have on the empty topology, held or not.
func (k *Kernel) takePlaces(e *Entry) {
	if k.Room != nil && len(k.done) < len(k.entries) {
		k.taken++
		k.Room.Take(e.Workload, &e.Assignment)
	}
}

// overlaps reports whether an earlier entry has one of the targets already.
func (k *Kernel) overlaps(e *Entry) bool {
	for _, t := range e.Targets {
		if k.isVictim[t.Workload] {
			return true
		}
	}
	return false
}

func (k *Kernel) addVictim(w int32) {
	root := k.Tree.Root(k.Work[w].Queue)
	k.victims, k.victimsIn[root], k.isVictim[w] = append(k.victims, w), append(k.victimsIn[root], w), true
}

func (k *Kernel) clearVictims() {
	for _, w := range k.victims {
		k.isVictim[w] = false
		root := k.Tree.Root(k.Work[w].Queue)
		k.victimsIn[root] = k.victimsIn[root][:0]
	}
	k.victims = k.victims[:0]
}

func (k *Kernel) skip(e *Entry, why string) {
	e.Status, e.Requeue, e.Skipped = Skipped, FailedAfterNomination, why
	k.Forget(e.Workload)
}

// stillFits reports whether an entry that could be admitted fits when its targets and those
// of all earlier entries are gone, and all earlier entries are there; noPlace, whether it has
// the quota and lacks the places only.
func (k *Kernel) stillFits(e *Entry, q int32) bool {
	if e.noPlace = false; e.Mode == NoFit || e.Blocked() {
		return false
	}
	fits := k.stillHasQuota(e, q)
	e.noPlace = fits && !k.stillHasRoom(e)
	return fits && !e.noPlace
}

// stillHasQuota looks at the victims of earlier entries only if it must: those of its own
// cohort tree can help.
func (k *Kernel) stillHasQuota(e *Entry, q int32) bool {
	mark := k.Tree.Mark()
	for _, t := range e.Targets {
		if !k.isVictim[t.Workload] {
			k.free(t.Workload)
		}
	}
	fits := k.covers(e, q)
	if !fits {
		for _, w := range k.victimsIn[k.Tree.Root(q)] {
			k.free(w)
		}
		fits = k.covers(e, q)
	}
	k.Tree.Undo(mark)
	return fits
}

func (k *Kernel) covers(e *Entry, q int32) bool {
	for _, it := range e.Usage {
		if it.Amount > k.Tree.Available(q, it.FR) {
			return false
		}
	}
	return true
}

// stillHasRoom reports whether the entry's places are still there. They are if nobody took
// any since the nomination.
func (k *Kernel) stillHasRoom(e *Entry) bool {
	if k.taken == 0 {
		return true
	}
	k.eachVictim(e, k.Room.Leave)
	fits := k.Room.StillFits(e.Workload)
	k.eachVictim(e, k.Room.Return)
	return fits
}

// free takes what a holder uses off the tree.
func (k *Kernel) free(w int32) { k.Tree.FreeAll(k.Work[w].Queue, k.Work[w].holds) }

// eachVictim calls f for the victims of all earlier entries and of this one, each once.
func (k *Kernel) eachVictim(e *Entry, f func(int32)) {
	for _, v := range k.victims {
		f(v)
	}
	for _, t := range e.Targets {
		if !k.isVictim[t.Workload] {
			f(t.Workload)
		}
	}
}

// accept takes the entry's usage and places for the rest of the cycle. A preemptor gets no
// more than that: it has to win again when its victims are gone.
func (k *Kernel) accept(e *Entry, q int32) {
	k.Tree.UseAll(q, e.Usage)
	for _, t := range e.Targets {
		k.addVictim(t.Workload)
	}
	k.takePlaces(e)
	if e.Mode == Preempt {
		e.Requeue = PendingPreemption
		k.Forget(e.Workload)
		return
	}
	e.Status = Assumed
}
