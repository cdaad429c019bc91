package policies

import (
	"slices"

	"github.com/gangplan/gangplan/policies/admission"
	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/sim/order"
)

// A job of a BestEffortFIFO queue that cannot be admitted is set aside until something is
// freed. With SchedulingEquivalenceHashing its equals go with it, and those that come later
// join them. Without, every job is tried by itself: who comes later may find what was freed
// before those aside are woken, and the next of its equals somebody to preempt whom the same
// cycle admitted. When a cycle changes nothing they are refused alike, and set aside at once:
// Kueue would take a cycle for each, and some might find what later heads of other queues
// changed, which is left out. So every class has a twin: one of the two may be parked.

// twin returns the class beside a class.
func (k *kueue) twin(q *clusterQueue, class int32) int32 {
	half := k.classes * q.slots
	return (class + half) % (2 * half)
}

// awake returns where a job of a class goes that comes to its queue.
func (k *kueue) awake(q *clusterQueue, class int32) int32 {
	if q.waiting.Parked(class) && !k.rules.Hashing {
		return k.twin(q, class)
	}
	return class
}

// noteMoves notes in which trees a cycle changes something. Where there is a topology, all
// meet in it; a cycle that waits at the gate is not made at one time.
func (k *kueue) noteMoves(v sim.View, entries []*admission.Entry) {
	moves := func(e *admission.Entry) bool {
		return k.gate.on || e.Status == admission.Assumed || e.Requeue == admission.PendingPreemption
	}
	all := k.placer != nil && slices.ContainsFunc(entries, moves)
	for t := range k.trees {
		k.trees[t].moves = all
	}
	for _, e := range entries {
		if moves(e) {
			k.trees[k.queues[v.Queue(e.Workload)].tree].moves = true
		}
	}
}

// setAside parks a refused job, and its equals if they go with it.
func (k *kueue) setAside(q *clusterQueue, j int32, why sim.Reason) {
	if class := q.waiting.Class(j); k.rules.Hashing || !k.trees[q.tree].moves {
		k.parkEquals(q, class, why)
		return
	}
	k.parkOne(q, j, why)
}

// parkEquals sets aside all of a class, in all LocalQueues.
func (k *kueue) parkEquals(q *clusterQueue, class int32, why sim.Reason) {
	for slot := range q.slots {
		first := class%k.classes + slot*k.classes
		if k.rules.Hashing {
			q.park(first, why)
			continue
		}
		second := k.twin(q, first)
		q.parkAll(first, second, why)
		q.parkAll(second, first, why)
	}
}

func (q *clusterQueue) park(class int32, why sim.Reason) {
	q.reasons[class] = why
	q.waiting.Park(class)
}

// parkAll sets aside a class, where there is somebody in it. Those that join others take over
// their reason.
func (q *clusterQueue) parkAll(class, twin int32, why sim.Reason) {
	switch {
	case q.waiting.Parked(class) || q.waiting.First(class) == order.None:
		return
	case !q.waiting.Parked(twin):
		q.park(class, why)
	case q.waiting.Size(class) <= q.waiting.Size(twin):
		q.moveAll(class, twin)
	default:
		q.moveAll(twin, class)
		q.waiting.Wake(twin)
		q.park(class, q.reasons[twin])
	}
}

// parkOne sets aside one job alone.
func (k *kueue) parkOne(q *clusterQueue, j int32, why sim.Reason) {
	class := q.waiting.Class(j)
	twin := k.twin(q, class)
	if !q.waiting.Parked(twin) {
		if q.waiting.Size(class) < q.waiting.Size(twin) {
			class, twin = twin, class
		}
		q.moveAll(twin, class)
		q.park(twin, why)
	}
	q.waiting.Move(j, twin)
}

func (q *clusterQueue) moveAll(from, to int32) {
	for j := q.waiting.First(from); j != order.None; j = q.waiting.First(from) {
		q.waiting.Move(j, to)
	}
}
