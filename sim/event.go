package sim

// Never is a time that does not come.
const Never = 1<<63 - 1

// eventKind names what happens. Within one instant the rank of a kind decides, then the
// order in which events were scheduled.
type eventKind uint8

// The order of an instant. Each rank has one reason:
//
//	1 what ends, ends: a job that finishes, or a pod that is ready, at the very moment
//	  of its timeout wins, and what it frees is there for everyone else
//	2 capacity comes before 3 capacity goes, so that a replacement finds it
//	4 configuration changes before the jobs that arrive under it
//	5 arrivals before timers, so that a timer sees the whole queue
//	6 all other timers
//
// Controllers run after all of these and samples after the controllers.
const (
	evPodReady        eventKind = iota // 1: a pod's start-up ends
	evJobFinish                        // 1
	evCheckpointEnd                    // 1
	evPodGone                          // 1: a terminating pod is gone
	evQuotaRelease                     // 1
	evReclaim                          // 1: quota of pods that are needed no more comes back
	evPodsReadySeen                    // 1: the readiness of a gang is noticed
	evBringUp                          // 2: an action that gives capacity
	evUntaint                          // 2: a node that was uncordoned takes pods
	evTakeDown                         // 3: an action that takes some, or pods
	evPodRestart                       // 3: containers of a job fail and start again
	evConfigure                        // 4: an action on a job
	evArrival                          // 5
	evReadyDeadline                    // 6
	evBackoffEnd                       // 6
	evVisible                          // 6: a queued job reaches the Admitter
	evPodWave                          // 6: pods are created
	evPodCreate                        // 6: a pod comes into being within its wave, or whose creator was held up
	evPodVisible                       // 6: a job's created pods reach the Binder
	evPodShow                          // 6: one of them does, whose gate was held up
	evReplace                          // 6: a pod is created by itself: again, where it was lost, or at its moment in a wave
	evNodeNoticed                      // 6: the control plane sees that a node is down
	evCheckpointStart                  // 6
	evTimeLimit                        // 6
	evBudget                           // 6: a job has been admitted for as long as it may
	evNotice                           // 6
	evHoldEnd                          // 6
	evStarvation                       // 6
	evAdmitterWake                     // 6
	evBinderWake                       // 6
	numEventKinds
)

var rankOf = [numEventKinds]uint8{
	evPodReady: 1, evJobFinish: 1, evCheckpointEnd: 1, evPodGone: 1, evQuotaRelease: 1, evReclaim: 1, evPodsReadySeen: 1,
	evBringUp: 2, evUntaint: 2, evTakeDown: 3, evPodRestart: 3, evConfigure: 4, evArrival: 5,
	evReadyDeadline: 6, evBackoffEnd: 6, evVisible: 6, evPodWave: 6, evPodCreate: 6, evPodVisible: 6, evPodShow: 6, evReplace: 6, evNodeNoticed: 6, evCheckpointStart: 6,
	evTimeLimit: 6, evBudget: 6, evNotice: 6, evHoldEnd: 6, evStarvation: 6, evAdmitterWake: 6, evBinderWake: 6,
}

// passive events do not keep a run alive and cannot end a deadlock: arrivals may queue
// behind it, controllers may look again, but nothing is freed.
func (k eventKind) passive() bool {
	return k == evStarvation || k == evVisible || k == evAdmitterWake || k == evBinderWake || k == evArrival
}

// event is a value: what happens to which subject, and for which of its lives. An event
// whose generation is not the subject's any more is dead and does nothing, which is
// cheaper than finding and removing it.
type event struct {
	time int64
	seq  uint64 // rank in the high byte, then the order of scheduling
	id   int32  // job, pod, node or slot
	gen  uint32
	kind eventKind
}

func (e *event) before(o *event) bool {
	if e.time != o.time {
		return e.time < o.time
	}
	return e.seq < o.seq
}

// eventQueue is a 4-ary heap of event values. container/heap would box every event.
type eventQueue struct {
	heap   []event
	seq    uint64
	beyond bool // an event was due beyond the end of time and is not there
}

// push schedules an event. A time that int64 cannot hold has wrapped below zero.
func (q *eventQueue) push(t int64, kind eventKind, id int32, gen uint32) {
	if t < 0 || t == Never {
		q.beyond = q.beyond || !kind.passive()
		return
	}
	q.seq++
	q.heap = append(q.heap, event{time: t, seq: uint64(rankOf[kind])<<56 | q.seq, id: id, gen: gen, kind: kind})
	q.up(len(q.heap) - 1)
}

// peek returns the time of the first event, or Never.
func (q *eventQueue) peek() int64 {
	if len(q.heap) == 0 {
		return Never
	}
	return q.heap[0].time
}

func (q *eventQueue) pop() event {
	first := q.heap[0]
	last := len(q.heap) - 1
	q.heap[0] = q.heap[last]
	q.heap = q.heap[:last]
	if last > 0 {
		q.down(0)
	}
	return first
}

func (q *eventQueue) up(i int) {
	e := q.heap[i]
	for i > 0 {
		parent := (i - 1) / 4
		if !e.before(&q.heap[parent]) {
			break
		}
		q.heap[i] = q.heap[parent]
		i = parent
	}
	q.heap[i] = e
}

func (q *eventQueue) down(i int) {
	e := q.heap[i]
	for {
		child := 4*i + 1
		if child >= len(q.heap) {
			break
		}
		best := child
		for c := child + 1; c < min(child+4, len(q.heap)); c++ {
			if q.heap[c].before(&q.heap[best]) {
				best = c
			}
		}
		if !q.heap[best].before(&e) {
			break
		}
		q.heap[i] = q.heap[best]
		i = best
	}
	q.heap[i] = e
}
