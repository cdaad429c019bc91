package policies

import (
	"github.com/gangplan/gangplan/policies/stage"
	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/sim/capacity"
	"github.com/gangplan/gangplan/sim/order"
	"github.com/gangplan/gangplan/topology"
)

// kube is the Binder of kube-scheduler: one pod per cycle, the best node by score, no
// knowledge of gangs. Pods wait by priority, then by the time they were created; equal
// pods share a class, so that one failure parks them all until a node changes.
//
// With cycles that cost nothing a backoff never delays an attempt (the scheduler pops
// from the backoff queue when nothing else is active), so none is kept here.
type kube struct {
	profile    *stage.Profile
	scorer     string // of the fragmentation study, instead of the profile; or empty
	randomTies bool
	preempts   bool // less important pods give way
	sampling   bool // from 100 nodes on look for some feasible nodes only

	fleet   *stage.Fleet
	wants   []stage.Want // per shape
	order   []int32      // in which nodes are looked at: zones take turns
	nodeIDs []uint64     // stable, for lots
	start   int          // position in order where the next search starts

	waiting  *stage.Classes
	reasons  []sim.Reason // per class, of its last refusal
	pinned   map[pinKey]int32
	byNode   [][]int32 // classes of pods pinned to each node
	unpin    int32     // classes below this are of pods that may go anywhere
	anywhere []int32   // and these, of pods whose priority counts
	created  []int32
	freed    []int32 // nodes that changed
	seq      int64

	started []int64 // when each pod was bound, for preemption

	terms  []*terms // per job, nil where it has none; nil if no job has any
	counts []int32  // of the job at hand: bound pods per domain
	placed int32    // all of them
	fewest []int32  // per constraint, the pods of the domain that has fewest
	window []int32  // of a search by terms: the feasible nodes, their scores, and room
	totals []int64
	raw    []int64
	soft   []stage.SpreadTerm
	seen   []int32
}

// pinKey is a class of pods that may go to the nodes of one domain only, most often a
// host, or to any (-1) but whose priority counts because they preempt, or whose job counts
// (not -1) because of its terms.
type pinKey struct {
	domain   int32
	job      int32
	shape    capacity.Shape
	priority int32
}

// domainOf returns the only domain that a pod may go to, or -1.
func domainOf(v sim.View, p int32) int32 {
	if node := v.Pin(p); node >= 0 {
		return v.Cluster().HostDomain(node)
	}
	return v.Within(p)
}

// Reset implements sim.Controller.
func (k *kube) Reset(v sim.View) {
	k.waiting = stage.NewClasses(v.Pods())
	k.unpin = int32(v.Shapes())
	k.reasons = make([]sim.Reason, k.unpin)
	k.pinned = map[pinKey]int32{}
	k.byNode = make([][]int32, len(v.Cluster().Nodes))
	k.created, k.freed, k.seq, k.start = k.created[:0], k.freed[:0], 0, 0
	k.anywhere = k.anywhere[:0]
	k.started = make([]int64, v.Pods())
	k.resetSearch(v)
	k.resetTerms(v)
}

// Signals implements sim.Controller.
func (k *kube) Signals(batch []sim.Signal) {
	for _, s := range batch {
		switch s.Kind {
		case sim.PodCreated, sim.HoldEnded:
			k.created = append(k.created, s.Pod)
		case sim.PodDeleted:
			k.drop(s.Pod)
		case sim.NodeFreed, sim.NodeUp:
			k.freed = append(k.freed, s.Place)
		}
	}
}

// drop forgets a pod that is waiting, or whose creation was not taken in yet.
func (k *kube) drop(pod int32) {
	if k.waiting.Contains(pod) {
		k.waiting.Remove(pod)
		return
	}
	for i, p := range k.created {
		if p == pod {
			k.created = append(k.created[:i], k.created[i+1:]...)
			return
		}
	}
}

// Cycle implements sim.Controller: one attempt for the first pod that waits.
func (k *kube) Cycle(tx *sim.Tx) bool {
	k.takeIn(tx.View)
	k.wake()
	pod := k.waiting.Head()
	if pod == order.None {
		return false
	}
	if node := k.pick(tx.View, pod); node >= 0 {
		k.waiting.Remove(pod)
		k.wakeSiblings(tx.View, pod)
		k.started[pod] = tx.Now()
		tx.AssumeGPUs(pod, node, k.fleet.GPUsFor(k.want(tx.View, pod), node))
		tx.Commit()
		return true
	}
	class := k.waiting.Class(pod)
	k.reasons[class] = k.refusal(tx.View, pod)
	if k.preempts && k.tryPreempt(tx, pod) {
		k.reasons[class] = sim.ReasonPreemption
	}
	k.waiting.Park(class)
	return true
}

// takeIn puts newly created pods into the queue.
func (k *kube) takeIn(v sim.View) {
	for _, p := range k.created {
		k.seq++
		k.waiting.Push(p, k.class(v, p), order.Key{Priority: v.Job(v.JobOf(p)).Priority, Time: v.Now(), Seq: k.seq})
	}
	k.created = k.created[:0]
}

// class returns the class of pods that are served alike: by shape, and by node for those
// that may go to one only.
func (k *kube) class(v sim.View, p int32) int32 {
	shape, domain := v.Shape(v.SetOf(p)), domainOf(v, p)
	priority := int32(0)
	if k.preempts {
		priority = v.Job(v.JobOf(p)).Priority
	}
	t, job := k.termsOf(v, p), int32(-1)
	if t != nil {
		job = v.JobOf(p)
	}
	if domain < 0 && priority == 0 && t == nil {
		return int32(shape)
	}
	key := pinKey{domain, job, shape, priority}
	class, ok := k.pinned[key]
	if !ok {
		class = int32(len(k.reasons))
		k.pinned[key] = class
		k.reasons = append(k.reasons, sim.ReasonNone)
		if t != nil {
			t.classes = append(t.classes, class)
		}
		if domain < 0 {
			k.anywhere = append(k.anywhere, class)
			return class
		}
		d := &v.Cluster().Domains[domain]
		for n := d.First; n < d.Last; n++ {
			k.byNode[n] = append(k.byNode[n], class)
		}
	}
	return class
}

// wake lets the pods that a change of nodes can help be tried again.
func (k *kube) wake() {
	if len(k.freed) == 0 {
		return
	}
	k.waiting.WakeAll(k.unpin)
	for _, class := range k.anywhere {
		k.waiting.Wake(class)
	}
	for _, n := range k.freed {
		for _, class := range k.byNode[n] {
			k.waiting.Wake(class)
		}
	}
	k.freed = k.freed[:0]
}

// refusal names the first reason of the contract that holds for a pod without a node.
func (k *kube) refusal(v sim.View, pod int32) sim.Reason {
	set := v.SetOf(pod)
	unbound := int64(v.Unbound(set))
	switch {
	case v.FreeGPUs(v.Models(set)) < unbound*v.PodRequest(set)[topology.GPU]:
		return sim.ReasonInsufficient
	case (domainOf(v, pod) >= 0 || k.termsOf(v, pod) != nil) && v.Total(sim.Physical, v.Shape(set)) >= unbound:
		return sim.ReasonTopology
	}
	return sim.ReasonShape
}

// NextWake implements sim.Controller.
func (k *kube) NextWake() int64 { return sim.Never }

// Why implements sim.Controller: the reason of the job's first pod that waits.
func (k *kube) Why(v sim.View, j int32) sim.Reason {
	first, last := v.PodsOf(j)
	for p := first; p < last; p++ {
		if !k.waiting.Contains(p) {
			continue
		}
		if class := k.waiting.Class(p); k.waiting.Parked(class) {
			return k.reasons[class]
		}
		return sim.ReasonLatency
	}
	return sim.ReasonLatency
}
