package stage

import (
	"slices"

	"github.com/gangplan/gangplan/sim/order"
)

// This file holds the lists of a Queue and what wakes their pods.

// Ended wakes, at a time, the pods up to a priority that the end of any other may help.
func (q *Queue) Ended(highest int32, now int64) {
	for i := 0; i < len(q.live); i++ { // lanes put together meanwhile have nobody to wake
		if l := &q.lanes.all[q.live[i]]; !l.deaf && l.asleep != order.None && l.priority <= highest {
			q.rouseLane(q.live[i], now)
		}
	}
	q.dueKnown, q.lanes.ripe = false, 0
}

// rouseLane wakes the unschedulable pods of a lane. With the early pace whole seconds make
// them active, in the order of the lane. Without it they are active at once if their
// backoff is over, even before pods of the lane that wait for the next whole second.
func (q *Queue) rouseLane(at int32, now int64) {
	l := &q.lanes.all[at]
	pod, overtakes := l.asleep, l.idle != l.asleep
	l.asleep = order.None
	if q.pace.Early {
		return
	}
	event := q.event()
	for pod != order.None && q.end(&q.pods[pod]) <= now {
		next := q.pods[pod].next
		if overtakes {
			q.move(pod, event, now)
		} else {
			l.idle = next
		}
		pod = next
	}
}

// Rouse wakes, at a time, some pods if they are there and unschedulable. The slice is sorted.
func (q *Queue) Rouse(pods []int32, now int64) {
	slices.SortStableFunc(pods, func(a, b int32) int { return int(q.pods[a].seq - q.pods[b].seq) })
	event := q.event()
	for _, pod := range pods {
		if q.pods[pod].in && q.sleeps(pod) {
			q.move(pod, event, now)
		}
	}
}

// RouseIf is Rouse for the pods of all classes that something helps.
func (q *Queue) RouseIf(helps func(class int32) bool, now int64) {
	for i := len(q.live) - 1; i >= 0; i-- { // backwards: a lane that empties is replaced by the last
		event := q.event()
		for pod := q.lanes.all[q.live[i]].asleep; pod != order.None; {
			next := q.pods[pod].next
			if helps(q.pods[pod].class) {
				q.move(pod, event, now)
			}
			pod = next
		}
	}
}

// event numbers something that wakes some pods of a lane and not others.
func (q *Queue) event() int64 {
	q.seq++
	return q.seq
}

// move takes an unschedulable pod into a lane that is put together for an event, and wakes
// it. The pods of an event come in the order of seq.
func (q *Queue) move(pod int32, event, now int64) {
	w := &q.pods[pod]
	q.unlink(pod)
	at := q.spareLane(laneKind{tries: w.tries, priority: w.priority}, event)
	q.append(pod, at)
	awake := q.end(w) <= now && !q.pace.Early || q.ready(w) <= now
	if l := &q.lanes.all[at]; l.idle == order.None && !awake {
		l.idle = pod
	}
	q.dueKnown, q.lanes.ripe = false, 0
}

// sleeps reports whether a pod is unschedulable: no pod of its lane that is comes before it.
func (q *Queue) sleeps(pod int32) bool {
	w := &q.pods[pod]
	first := q.lanes.all[w.lane].asleep
	return first != order.None && w.seq >= q.pods[first].seq
}

// laneOf returns the lane in which pods of a kind fall asleep, or begin.
func (q *Queue) laneOf(k laneKind) int32 {
	at, ok := q.byKind[k]
	if !ok {
		at = q.newLane(k)
		q.byKind[k] = at
	}
	return at
}

// spareLane returns the lane of an event for pods of a kind.
func (q *Queue) spareLane(k laneKind, event int64) int32 {
	for _, i := range q.live {
		if l := &q.lanes.all[i]; l.event == event && l.laneKind == k {
			return i
		}
	}
	at := int32(len(q.lanes.all))
	if n := len(q.spare); n > 0 {
		at, q.spare = q.spare[n-1], q.spare[:n-1]
	} else {
		q.newLane(k)
	}
	q.lanes.all[at].laneKind, q.lanes.all[at].event = k, event
	return at
}

func (q *Queue) newLane(k laneKind) int32 {
	q.lanes.all = append(q.lanes.all, lane{laneKind: k, first: order.None, last: order.None, idle: order.None, asleep: order.None})
	return int32(len(q.lanes.all) - 1)
}

// append puts a pod last into a lane.
func (q *Queue) append(pod, at int32) {
	l, w := &q.lanes.all[at], &q.pods[pod]
	w.lane, w.prev, w.next = at, l.last, order.None
	if l.last == order.None {
		l.first, l.at = pod, int32(len(q.live))
		q.live = append(q.live, at)
	} else {
		q.pods[l.last].next = pod
	}
	l.last = pod
}

// unlink takes a pod out of its lane.
func (q *Queue) unlink(pod int32) {
	w := &q.pods[pod]
	l := &q.lanes.all[w.lane]
	l.pass(pod, w.next)
	if w.prev == order.None {
		l.first = w.next
	} else {
		q.pods[w.prev].next = w.next
	}
	if w.next == order.None {
		l.last = w.prev
	} else {
		q.pods[w.next].prev = w.prev
	}
	if l.first == order.None {
		q.retire(w.lane)
	}
}

// pass moves the ends of a lane's stretches off a pod that leaves it.
func (l *lane) pass(pod, next int32) {
	if l.idle == pod {
		l.idle = next
	}
	if l.asleep == pod {
		l.asleep = next
	}
}

// retire takes an empty lane off the living ones.
func (q *Queue) retire(at int32) {
	l := &q.lanes.all[at]
	last := q.live[len(q.live)-1]
	q.live[l.at] = last
	q.lanes.all[last].at = l.at
	q.live = q.live[:len(q.live)-1]
	if l.event != 0 {
		q.spare = append(q.spare, at)
	}
}
