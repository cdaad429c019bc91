package stage

import "github.com/gangplan/gangplan/sim/order"

// Pace is how long what kube-scheduler's queue does takes, in ns.
type Pace struct {
	Attempt             int64 // one attempt to place a pod
	Backoff, MaxBackoff int64 // after the first failure, and what doubling it with every other ends at
	// Early is Kubernetes from 1.33 on: a pod is tried before its backoff is over when
	// nothing else waits, and backoffs end with whole seconds, within which priority decides.
	// Before, a pod waits until the first whole second after its backoff.
	Early bool
}

// The constants of the queue: how often it moves pods whose backoff is over, and how often
// it looks for pods that nothing has woken for too long.
const (
	never      = int64(1<<63 - 1) // a time that does not come
	second     = int64(1e9)
	flushEvery = 30 * second
	flushAfter = 300 * second
)

// Queue is the scheduling queue of kube-scheduler where attempts or backoffs take time. A
// pod is active, or backs off, or is unschedulable: it failed, and nothing happened since
// that could help it. Attempts are made one after another, the first by priority and then
// by the time of the last failure (or of creation).
//
// Pods that wait alike are in one lane, in the order of that time, so that the three stores
// are three stretches of each lane: what is woken, or has backed off long enough, are always
// its first ones. An event costs a step per lane, an attempt one per lane and pod.
//
// As in Classes, a class whose failure is known is parked. Attempts for its pods are made
// all the same, since each takes time and counts, but by the Queue alone and in arrears:
// nobody is asked again. What it does is not to be told from a queue that tries every pod.
type Queue struct {
	parking
	pace   Pace
	delays []int64 // by failures, the last for all more
	pods   []waiter
	kinds  []podClass // per class
	lanes  lanes
	live   []int32 // lanes with pods
	spare  []int32 // lanes that were put together for one event and are empty
	byKind map[laneKind]int32
	now    int64 // everything until here has been made
	free   int64 // when the attempt under way is over
	seq    int64
	hot    int32 // pods of classes that are not parked

	dueAt    int64 // when the first of them has its attempt, if dueKnown
	dueKnown bool
	ahead    lanes // scratch
	trace    func(pod int32, at int64)
}

// waiter is a pod in the queue.
type waiter struct {
	next, prev  int32 // in its lane
	lane, class int32
	priority    int32
	tries       uint8 // failures, up to the last of delays
	in          bool
	since       int64 // its last failure, or its creation
	seq         int64 // grows with since, and decides between equals
}

// podClass is what the queue knows of a class.
type podClass struct {
	size int32
	deaf bool // no pod's end wakes it
}

// laneKind is what pods of a lane have in common.
type laneKind struct {
	deaf     bool
	tries    uint8
	priority int32
}

// lanes are all lanes. Before ripe time alone moves nothing in them.
type lanes struct {
	all  []lane
	ripe int64
}

// lane is a list of pods: the active ones, then those that back off, then the unschedulable.
type lane struct {
	laneKind
	first, last int32
	idle        int32 // the first that is not active
	asleep      int32 // the first that is unschedulable
	at          int32 // position in live
	event       int64 // nonzero: put together for this event, by seq
}

// NewQueue makes room for pods 0..pods-1.
func NewQueue(pods int, pace Pace) *Queue {
	q := &Queue{pace: pace, pods: make([]waiter, pods), byKind: map[laneKind]int32{}, delays: []int64{0, pace.Backoff}}
	for d := pace.Backoff; d > 0 && d < pace.MaxBackoff; {
		d = min(2*d, pace.MaxBackoff)
		q.delays = append(q.delays, d)
	}
	return q
}

// Trace calls f with every attempt and when it began, those made in arrears too.
func (q *Queue) Trace(f func(pod int32, at int64)) { q.trace = f }

// grow makes sure the class exists.
func (q *Queue) grow(class int32) {
	for int32(len(q.kinds)) <= class {
		q.kinds = append(q.kinds, podClass{})
		q.parking.grow()
	}
}

// Push adds a pod that was created at a time.
func (q *Queue) Push(pod, class int32, k order.Key) {
	q.grow(class)
	q.seq++
	q.pods[pod] = waiter{class: class, priority: k.Priority, since: k.Time, seq: q.seq, in: true}
	q.kinds[class].size++
	q.append(pod, q.laneOf(laneKind{priority: k.Priority}))
	q.hot += q.heat(class)
	q.dueKnown = false
}

// Contains reports whether a pod waits, in whichever store.
func (q *Queue) Contains(pod int32) bool { return q.pods[pod].in }

// Class returns the class a pod was last pushed to.
func (q *Queue) Class(pod int32) int32 { return q.pods[pod].class }

// Remove takes a pod out.
func (q *Queue) Remove(pod int32) {
	w := &q.pods[pod]
	q.unlink(pod)
	q.kinds[w.class].size--
	w.in = false
	q.hot -= q.heat(w.class)
	q.dueKnown = false
}

// Park notes that the class's next attempt fails as its last did, until it is woken.
func (q *Queue) Park(class int32) {
	if !q.Parked(class) {
		q.hot -= q.kinds[class].size
	}
	q.park(class)
	q.dueKnown = false
}

// Wake notes that the class's next attempt must be made.
func (q *Queue) Wake(class int32) {
	if q.Parked(class) {
		q.hot += q.kinds[class].size
		q.parked[class] = false
		q.dueKnown = false
	}
}

// WakeIf is Wake for all classes that something may help; nil helps all.
func (q *Queue) WakeIf(helps func(class int32) bool) {
	for _, class := range q.take(helps) {
		q.Wake(class)
	}
}

// Move puts a pod into another class.
func (q *Queue) Move(pod, class int32) {
	q.grow(class)
	w := &q.pods[pod]
	q.hot += q.heat(class) - q.heat(w.class)
	q.kinds[w.class].size--
	q.kinds[class].size++
	w.class = class
	q.dueKnown = false
}

func (q *Queue) heat(class int32) int32 {
	if q.Parked(class) {
		return 0
	}
	return 1
}

// Size returns how many pods of a class wait.
func (q *Queue) Size(class int32) int { return int(q.kinds[class].size) }

// Waits reports whether a pod waits for its attempt: it is active or backs off.
func (q *Queue) Waits(pod int32) bool { return !q.sleeps(pod) }

// Head returns the pod whose attempt begins now and must be made, or order.None.
func (q *Queue) Head(now int64) int32 {
	if q.NextAttempt() > now {
		return order.None
	}
	for {
		at, start := q.due(&q.lanes, q.start(), now)
		if at == order.None || start > now {
			q.dueKnown = false // it was said too early
			return order.None
		}
		pod := q.lanes.all[at].first
		if !q.Parked(q.pods[pod].class) {
			return pod
		}
		q.fail(pod, start)
	}
}

// Bound takes out the pod whose attempt begins now and succeeds.
func (q *Queue) Bound(pod int32, now int64) {
	q.Remove(pod)
	q.spend(pod, now)
}

// Failed puts back the pod whose attempt begins now and fails. Pods that are deaf are not
// woken by the end of any other pod.
func (q *Queue) Failed(pod int32, now int64, deaf bool) {
	q.kinds[q.pods[pod].class].deaf = deaf
	q.dueKnown = false
	q.fail(pod, now)
}

// fail puts a pod back whose attempt began at a time.
func (q *Queue) fail(pod int32, start int64) {
	w := &q.pods[pod]
	q.unlink(pod)
	q.seq++
	w.since, w.seq = start+q.pace.Attempt, q.seq
	w.tries = min(w.tries+1, uint8(len(q.delays)-1))
	at, k := w.lane, laneKind{q.kinds[w.class].deaf, w.tries, w.priority}
	if l := &q.lanes.all[at]; l.laneKind != k || l.event != 0 {
		at = q.laneOf(k)
	}
	q.append(pod, at)
	if l := &q.lanes.all[at]; l.asleep == order.None {
		l.asleep = pod
		if l.idle == order.None {
			l.idle = pod
		}
		q.lanes.ripe = min(q.lanes.ripe, flushed(w))
	}
	q.spend(pod, start)
}

func (q *Queue) spend(pod int32, start int64) {
	q.now, q.free = max(q.now, start), start+q.pace.Attempt
	if q.trace != nil {
		q.trace(pod, start)
	}
}

// start is when the next attempt begins if a pod is there for it.
func (q *Queue) start() int64 { return max(q.now, q.free) }

// Advance makes the attempts that begin before a time: those whose outcome is known. It
// comes before whatever happens at that time.
func (q *Queue) Advance(to int64) {
	for {
		at, start := q.due(&q.lanes, q.start(), to)
		if at == order.None || start >= to || !q.Parked(q.pods[q.lanes.all[at].first].class) {
			break
		}
		q.fail(q.lanes.all[at].first, start)
	}
	q.now = max(q.now, to)
}

// NextAttempt returns when the first attempt begins that must be made, or Never.
func (q *Queue) NextAttempt() int64 {
	if !q.dueKnown {
		q.dueAt, q.dueKnown = q.lookAhead(), true
	}
	return q.dueAt
}

// lookAhead walks over the attempts to come without making them. Pods of a parked class
// are not put back, so that it may say too early a time, but never one too late.
func (q *Queue) lookAhead() int64 {
	if q.hot == 0 {
		return never
	}
	q.ahead.all, q.ahead.ripe = append(q.ahead.all[:0], q.lanes.all...), q.lanes.ripe
	from := q.start()
	for {
		at, start := q.due(&q.ahead, from, never)
		if at == order.None {
			return never
		}
		l := &q.ahead.all[at]
		if !q.Parked(q.pods[l.first].class) {
			return start
		}
		next := q.pods[l.first].next
		l.pass(l.first, next)
		l.first = next
		from = start + q.pace.Attempt
	}
}

// due returns the lane whose first pod has the next attempt, which begins from a time on,
// and when; order.None if there is none until another time.
func (q *Queue) due(ls *lanes, from, to int64) (at int32, start int64) {
	for {
		if from >= ls.ripe {
			q.ripen(ls, from)
		}
		if at = q.best(ls.all); at != order.None {
			return at, from
		}
		if from = ls.ripe; from > to || from == never {
			return order.None, to
		}
	}
}

// best returns the lane whose first pod is first of all: of the active ones, or, if there
// is none and the pace allows it, of those that back off.
func (q *Queue) best(lanes []lane) int32 {
	best := int32(order.None)
	for _, i := range q.live {
		if l := &lanes[i]; l.first != l.idle && (best == order.None || q.before(l.first, lanes[best].first)) {
			best = i
		}
	}
	if best != order.None || !q.pace.Early {
		return best
	}
	for _, i := range q.live {
		if l := &lanes[i]; l.first != l.asleep && (best == order.None || q.sooner(l.first, lanes[best].first)) {
			best = i
		}
	}
	return best
}

// before reports whether a pod comes before another in the active queue.
func (q *Queue) before(a, b int32) bool {
	x, y := &q.pods[a], &q.pods[b]
	switch {
	case x.priority != y.priority:
		return x.priority > y.priority
	case x.since != y.since:
		return x.since < y.since
	}
	return x.seq < y.seq
}

// sooner is the order of those that back off: by when that ends.
func (q *Queue) sooner(a, b int32) bool {
	if x, y := q.ready(&q.pods[a]), q.ready(&q.pods[b]); x != y {
		return x < y
	}
	return q.before(a, b)
}

// end is when a pod's backoff is over.
func (q *Queue) end(w *waiter) int64 { return w.since + q.delays[w.tries] }

// ready is the whole second at which it becomes active because of that.
func (q *Queue) ready(w *waiter) int64 {
	end := q.end(w)
	if q.pace.Early {
		return end - end%second + second
	}
	return (end + second - 1) / second * second
}

// flushed is when an unschedulable pod is woken for having waited too long.
func flushed(w *waiter) int64 { return (w.since+flushAfter)/flushEvery*flushEvery + flushEvery }

// ripen moves on, in every lane, what time alone has moved until now.
func (q *Queue) ripen(ls *lanes, now int64) {
	ls.ripe = never
	for _, i := range q.live {
		l := &ls.all[i]
		for l.asleep != order.None && flushed(&q.pods[l.asleep]) <= now {
			l.asleep = q.pods[l.asleep].next
		}
		for l.idle != l.asleep && q.ready(&q.pods[l.idle]) <= now {
			l.idle = q.pods[l.idle].next
		}
		if l.asleep != order.None {
			ls.ripe = min(ls.ripe, flushed(&q.pods[l.asleep]))
		}
		if l.idle != l.asleep {
			ls.ripe = min(ls.ripe, q.ready(&q.pods[l.idle]))
		}
	}
}
