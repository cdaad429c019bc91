package policies

import (
	"github.com/gangplan/gangplan/policies/stage"
	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/sim/capacity"
	"github.com/gangplan/gangplan/sim/order"
)

// This file is the kube Binder's queue: which pods wait, in which classes, and what wakes
// them.

// podList is a waiting list of pods in classes of equals: stage.Classes or stage.Queue.
type podList interface {
	Push(pod, class int32, k order.Key)
	Move(pod, class int32)
	Remove(pod int32)
	Contains(pod int32) bool
	Class(pod int32) int32
	Size(class int32) int
	Park(class int32)
	Parked(class int32) bool
	Wake(class int32)
	WakeIf(helps func(class int32) bool)
}

// podClass is a class of pods that are served alike.
type podClass struct {
	classKey
	reason sim.Reason // of its last refusal
	deaf   bool       // no node lacked room then: that another pod ends is no help
	kept   whyNot     // what terms had against nodes then
	ask    *ask       // what its pods ask of others
	asker  int32      // a job of such pods
}

// classKey is what the pods of a class have in common. Subjects that make no difference are
// -1.
type classKey struct {
	shape    capacity.Shape
	domain   int32 // the only one they may go to, most often a host
	job      int32 // whose pods they are, if what they ask is told apart by job
	form     *form // what they are to others
	set      int32 // and their PodSet's number in it
	pod      int32 // the only one, which is promised a node
	priority int32 // 0 where nothing is preempted
}

// resetWaiting prepares the queue for a run.
func (k *kube) resetWaiting(v sim.View) {
	t := v.Timing()
	pace := stage.Pace{Attempt: v.BinderCycle(), Backoff: t.PodBackoff, MaxBackoff: t.PodBackoffMax, Early: k.early}
	k.queue = nil
	if pace.Attempt == 0 && pace.Backoff == 0 {
		k.waiting = stage.NewClasses(v.Pods())
	} else {
		k.queue = stage.NewQueue(v.Pods(), pace)
		k.waiting = k.queue
		if v.Watched() {
			k.queue.Trace(v.Tried)
		}
	}
	k.signals, k.seq = k.signals[:0], 0
	k.classes, k.spare, k.classOf = k.classes[:0], k.spare[:0], map[classKey]int32{}
	k.freed, k.round = make([]uint32, len(v.Cluster().Domains)), 0
	k.helped = func(class int32) bool {
		c := &k.classes[class]
		return !c.deaf && (c.domain < 0 || k.freed[c.domain] == k.round)
	}
}

// Settle implements sim.Settler.
func (k *kube) Settle(to int64) {
	if k.queue != nil {
		k.queue.Advance(to)
	}
}

// domainOf returns the only domain that a pod may go to, or -1.
func domainOf(v sim.View, p int32) int32 {
	if node := v.Pin(p); node >= 0 {
		return v.Cluster().HostDomain(node)
	}
	return v.Within(p)
}

// heed takes in what happened since the last cycle.
func (k *kube) heed(v sim.View) {
	k.round++
	for _, s := range k.signals {
		if k.queue != nil {
			k.queue.Advance(s.At)
		}
		switch s.Kind {
		case sim.PodCreated, sim.HoldEnded:
			k.push(v, s.Pod, s.At)
		case sim.PodDeleted:
			k.drop(v, s.Pod, s.At)
		case sim.PodBound:
			k.came(v, s.Job, s.Place, s.At)
		case sim.PodLeaving:
			k.left(v, s)
		case sim.NodeFreed:
			k.ended(v, s)
		case sim.NodeUp:
			k.returned(v, s)
		}
	}
	k.signals = k.signals[:0]
}

// push puts a newly created pod into the queue.
func (k *kube) push(v sim.View, p int32, at int64) {
	k.seq++
	k.waiting.Push(p, k.class(v, p), order.Key{Priority: v.Job(v.JobOf(p)).Priority, Time: at, Seq: k.seq})
}

// drop forgets a pod that waits. If it was promised a node, others may have it now.
func (k *kube) drop(v sim.View, p int32, at int64) {
	if !k.waiting.Contains(p) {
		return
	}
	class := k.waiting.Class(p)
	k.waiting.Remove(p)
	promised := k.classes[class].pod >= 0
	k.release(class)
	if promised {
		k.freedOn(v, k.promised[p], v.Job(v.JobOf(p)).Priority, at)
	}
}

// ended notes that a pod is gone from a node.
func (k *kube) ended(v sim.View, s sim.Signal) {
	k.freedOn(v, s.Place, order.Highest, s.At)
	k.left(v, s)
}

// freedOn wakes the pods up to a priority that more room on a node can help.
func (k *kube) freedOn(v sim.View, node, highest int32, at int64) {
	for d := v.Cluster().HostDomain(node); d >= 0; d = v.Cluster().Domains[d].Parent {
		k.freed[d] = k.round
	}
	k.waiting.WakeIf(k.helped)
	if k.queue != nil {
		k.queue.Ended(highest, at)
	}
}

// returned notes that a node is there again: it wakes the pods that could run on it empty.
func (k *kube) returned(v sim.View, s sim.Signal) {
	helps := func(class int32) bool { return k.mayGo(v, class, s.Place) }
	k.waiting.WakeIf(helps)
	if k.queue != nil {
		k.queue.RouseIf(helps, s.At)
	}
}

// mayGo reports whether pods of a class could run on a node if nobody else did.
func (k *kube) mayGo(v sim.View, class, node int32) bool {
	c := &k.classes[class]
	if c.domain >= 0 {
		d := &v.Cluster().Domains[c.domain]
		if node < d.First || node >= d.Last {
			return false
		}
	}
	return k.fleet.Resolvable(&k.wants[c.shape], node)
}

// head returns the pod that is to be tried now, or order.None.
func (k *kube) head(now int64) int32 {
	if k.queue != nil {
		return k.queue.Head(now)
	}
	return k.waiting.(*stage.Classes).Head()
}

// bound takes the pod out that was tried.
func (k *kube) bound(v sim.View, pod int32) {
	class := k.waiting.Class(pod)
	if k.queue != nil {
		k.queue.Bound(pod, v.Now())
	} else {
		k.waiting.Remove(pod)
	}
	k.release(class)
}

// failed parks the pod that was tried, and its equals with it.
func (k *kube) failed(pod int32, now int64, why sim.Reason, deaf bool, kept whyNot) {
	class := k.waiting.Class(pod)
	c := &k.classes[class]
	c.reason, c.deaf, c.kept = why, deaf, kept
	k.waiting.Park(class)
	if k.queue != nil {
		k.queue.Failed(pod, now, deaf)
	}
}

// reclass puts a pod that waits into the class it belongs to now.
func (k *kube) reclass(v sim.View, p int32) {
	before, class := k.waiting.Class(p), k.class(v, p)
	if class != before {
		k.waiting.Move(p, class)
		k.release(before)
	}
}

// class returns the class of a pod.
func (k *kube) class(v sim.View, p int32) int32 {
	j, set, a := v.JobOf(p), v.SetOf(p), k.askOf(v, p)
	key := classKey{shape: v.Shape(set), domain: domainOf(v, p), job: -1, pod: -1}
	if a != nil {
		first, _ := v.SetsOf(j)
		key.form, key.set = k.tallies.of[j], set-first
		if a.owns() {
			key.job = j
		}
	}
	if k.preempts {
		key.priority = v.Job(v.JobOf(p)).Priority
		if v.NominatedNode(p) >= 0 {
			key.pod = p
		}
	}
	class, ok := k.classOf[key]
	if !ok {
		class = k.number(key)
		if a != nil {
			k.tallies.open(j)
			k.classes[class].ask, k.classes[class].asker = a, j
			k.enrol(class, j, a, true)
		}
	}
	return class
}

// number gives a new class a number.
func (k *kube) number(key classKey) int32 {
	class := int32(len(k.classes))
	if n := len(k.spare); n > 0 {
		class, k.spare = k.spare[n-1], k.spare[:n-1]
	} else {
		k.classes = append(k.classes, podClass{})
	}
	k.classes[class] = podClass{classKey: key}
	k.classOf[key] = class
	return class
}

// release forgets a class of one job or pod, or with terms, when nobody of it waits any
// more; there would be ever more of them.
func (k *kube) release(class int32) {
	c := &k.classes[class]
	if c.ask == nil && c.pod < 0 || k.waiting.Size(class) > 0 {
		return
	}
	if c.ask != nil {
		k.enrol(class, c.asker, c.ask, false)
		k.tallies.close(c.asker)
	}
	k.waiting.Wake(class)
	delete(k.classOf, c.classKey)
	k.spare = append(k.spare, class)
}

// NextWake implements sim.Controller.
func (k *kube) NextWake() int64 {
	if k.queue == nil {
		return sim.Never
	}
	return k.queue.NextAttempt()
}

// Undecided implements sim.Binder.
func (k *kube) Undecided() bool { return k.NextWake() != sim.Never }
