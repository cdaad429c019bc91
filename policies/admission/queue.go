package admission

import (
	"github.com/gangplan/gangplan/sim/order"
	"github.com/gangplan/gangplan/sim/quota"
)

// Queue is the waiting side of a ClusterQueue: those in the running, and those set aside
// as inadmissible until something changes.
type Queue struct {
	Strategy quota.Strategy
	heap     order.List
	aside    order.List
	sticky   int32 // the last preemptor: first of its list until it is admitted
	parked   bool  // the sticky one is set aside
}

// NewQueue makes an empty queue over an arena of workloads.
func NewQueue(a *order.Arena, s quota.Strategy) Queue {
	return Queue{Strategy: s, heap: order.NewList(a), aside: order.NewList(a), sticky: order.None}
}

// queueKey orders a workload in its queue.
func (k *Kernel) queueKey(w int32) order.Key {
	wl := &k.Work[w]
	return order.Key{Priority: wl.Priority, Time: wl.Time, Seq: wl.Rank}
}

// Push puts a workload into the running.
func (k *Kernel) Push(q *Queue, w int32) { q.heap.Insert(w, k.queueKey(w)) }

// Head returns the workload whose turn it is, or order.None. A preemptor keeps its turn.
func (q *Queue) Head() int32 {
	if q.sticky != order.None && !q.parked {
		return q.sticky
	}
	return q.heap.First()
}

// Return puts a head that was not admitted where it belongs: back, or aside.
func (k *Kernel) Return(q *Queue, e *Entry) {
	if k.Rules.Sticky && e.Requeue == PendingPreemption && q.Strategy == quota.BestEffortFIFO {
		q.sticky, q.parked = e.Workload, false
	}
	if q.Strategy == quota.StrictFIFO || e.Requeue != Generic || k.Pending(e.Workload) {
		return
	}
	q.heap.Remove(e.Workload)
	q.aside.Insert(e.Workload, k.queueKey(e.Workload))
	q.parked = q.parked || q.sticky == e.Workload
}

// Remove takes an admitted head out.
func (q *Queue) Remove(w int32) {
	q.heap.Remove(w)
	if q.sticky == w {
		q.sticky = order.None
	}
}

// Wake puts all that were set aside back into the running.
func (k *Kernel) Wake(q *Queue) {
	for w := q.aside.First(); w != order.None; w = q.aside.First() {
		q.aside.Remove(w)
		k.Push(q, w)
	}
	q.parked = false
}

// Active and Aside return who is in the running and who is not, in order.
func (q *Queue) Active() []int32 { return q.walk(&q.heap) }
func (q *Queue) Aside() []int32  { return q.walk(&q.aside) }

func (q *Queue) walk(l *order.List) []int32 {
	out := make([]int32, 0, l.Len())
	for w := l.First(); w != order.None; w = l.Next(w) {
		out = append(out, w)
		if w == q.sticky {
			copy(out[1:], out)
			out[0] = w
		}
	}
	return out
}
