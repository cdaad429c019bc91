package policies

import (
	"github.com/gangplan/gangplan/policies/stage"
	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/sim/order"
	"github.com/gangplan/gangplan/topology"
)

// kube is the Binder of kube-scheduler: one pod per cycle, the best node by score, no
// knowledge of gangs. Equal pods share a class: when one has no place, none has until
// something changes that can help it.
//
// Where attempts and backoffs take no time a waiting pod is tried whenever something could
// have helped it, and equal pods wait by priority, then by the time they were created
// (stage.Classes). Where they take time the order of attempts is that of kube-scheduler's
// queue, pod by pod (stage.Queue).
type kube struct {
	profile    *stage.Profile
	scorer     string // of the fragmentation study, instead of the profile; or empty
	randomTies bool
	preempts   bool // less important pods give way
	sampling   bool // from 100 nodes on look for some feasible nodes only
	early      bool // pods are popped before their backoff is over if nothing else waits

	fleet   *stage.Fleet
	wants   []stage.Want // per shape
	order   []int32      // in which nodes are looked at: zones take turns
	zones   bool         // it is not the order of the cluster
	nodeIDs []uint64     // stable, for lots
	start   int          // position in order where the next search starts

	likingOf []int32 // per PodSet: what it prefers of nodes

	view     sim.View
	hand     int32   // the pod that is looked for a node for
	nominees []int32 // pods that are promised a node, and some that were
	from, to int32   // the nodes that it may go to
	cuts     []int32 // where they are cut into stretches of nodes that only classes tell apart
	list     []stage.Candidate
	sampled  bool     // the list has every node that was found feasible
	marks    []uint64 // of nodes
	room     []int64
	softs    []stage.SpreadTerm

	waiting podList
	queue   *stage.Queue // the same, where attempts or backoffs take time; else nil
	signals []sim.Signal // since the last cycle
	seq     int64
	classes []podClass
	classOf map[classKey]int32
	spare   []int32 // numbers of classes that are no more

	freed  []uint32 // per domain: the last round in which something in it was freed
	round  uint32
	helped func(class int32) bool

	started  []int64 // when each pod was bound, for preemption
	promised []int32 // the node it was promised last
	allowed  []int32 // per disruption budget: pods that may go, and of those the ones left
	spared   []int32

	tallies *tallies // of the pods that terms speak of; nil if there are no terms
	fewest  []int32  // per spread constraint of the pod at hand: the pods of the domain that has fewest
	listed  []int32
}

// Reset implements sim.Controller.
func (k *kube) Reset(v sim.View) {
	k.resetWaiting(v)
	k.start = 0
	k.started, k.promised = make([]int64, v.Pods()), make([]int32, v.Pods())
	k.resetSearch(v)
	k.tallies = newTallies(v)
}

// Signals implements sim.Controller.
func (k *kube) Signals(batch []sim.Signal) { k.signals = append(k.signals, batch...) }

// Cycle implements sim.Controller: one attempt for the first pod that waits.
func (k *kube) Cycle(tx *sim.Tx) bool {
	k.heed(tx.View)
	pod := k.head(tx.Now())
	if pod == order.None {
		return false
	}
	if k.queue == nil {
		tx.Tried(pod, tx.Now())
	}
	if node := k.pick(tx.View, pod); node >= 0 {
		k.bind(tx, pod, node)
	} else {
		k.refuse(tx, pod)
	}
	return true
}

func (k *kube) bind(tx *sim.Tx, pod, node int32) {
	gpus := k.fleet.GPUsFor(k.want(tx.View, pod), node)
	k.bound(tx.View, pod)
	k.started[pod] = tx.Now()
	tx.AssumeGPUs(pod, node, gpus)
	tx.Commit()
}

// refuse makes room for a pod without a place, or parks it with its equals. A pod that made
// room is promised a node, and is nobody's equal any more.
func (k *kube) refuse(tx *sim.Tx, pod int32) {
	deaf, kept := !k.lacksRoom(tx.View, pod), k.keptBy(tx.View, pod, k.askOf(tx.View, pod))
	reason := k.refusal(tx.View, pod)
	if k.preempts {
		made, waits := k.tryPreempt(tx, pod)
		if made {
			k.reclass(tx.View, pod)
		}
		if waits {
			reason = sim.ReasonPreemption
		}
	}
	k.failed(pod, tx.Now(), reason, deaf, kept)
}

// lacksRoom reports whether a node that a pod may go to is without room for it: then the
// end of any pod wakes it, as the resource filter's queueing hint has it.
func (k *kube) lacksRoom(v sim.View, pod int32) bool {
	if k.queue == nil {
		return true // which nobody asks for
	}
	first, last := span(v, pod)
	return k.fleet.Full(k.want(v, pod), first, last)
}

// refusal names the first reason of the contract that holds for a pod without a node.
func (k *kube) refusal(v sim.View, pod int32) sim.Reason {
	set := v.SetOf(pod)
	unbound := int64(v.Unbound(set))
	switch {
	case v.FreeGPUs(v.Models(set)) < unbound*v.PodRequest(set)[topology.GPU]:
		return sim.ReasonInsufficient
	case (domainOf(v, pod) >= 0 || k.askOf(v, pod) != nil) && v.Total(sim.Physical, v.Shape(set)) >= unbound:
		return sim.ReasonTopology
	}
	return sim.ReasonShape
}

// Why implements sim.Controller: the reason of the job's first pod that waits.
func (k *kube) Why(v sim.View, j int32) sim.Reason {
	first, last := v.PodsOf(j)
	for p := first; p < last; p++ {
		if !k.waiting.Contains(p) {
			continue
		}
		class := k.waiting.Class(p)
		if k.waiting.Parked(class) || k.queue != nil && !k.queue.Waits(p) {
			return k.classes[class].reason
		}
		return sim.ReasonLatency
	}
	return sim.ReasonLatency
}
