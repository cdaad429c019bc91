package policies

import (
	"github.com/gangplan/gangplan/internal/rng"
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
	score      stage.Scorer
	randomTies bool

	waiting *stage.Classes
	reasons []sim.Reason // per class, of its last refusal
	pinned  map[pinKey]int32
	byNode  [][]int32 // classes of pods pinned to each node
	unpin   int32     // classes below this are of pods that may go anywhere
	created []int32
	freed   []int32 // nodes that changed
	with    topology.Resources
	seq     int64
}

// pinKey is a class of pods that may go to the nodes of one domain only, which most often
// is a host.
type pinKey struct {
	domain int32
	shape  capacity.Shape
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
	k.created, k.freed, k.seq = k.created[:0], k.freed[:0], 0
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
		tx.Assume(pod, node)
		tx.Commit()
		return true
	}
	class := k.waiting.Class(pod)
	k.reasons[class] = k.refusal(tx.View, pod)
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
	if domain < 0 {
		return int32(shape)
	}
	key := pinKey{domain, shape}
	class, ok := k.pinned[key]
	if !ok {
		class = int32(len(k.reasons))
		k.pinned[key] = class
		k.reasons = append(k.reasons, sim.ReasonNone)
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
	for _, n := range k.freed {
		for _, class := range k.byNode[n] {
			k.waiting.Wake(class)
		}
	}
	k.freed = k.freed[:0]
}

// pick returns the best node for a pod, or -1.
func (k *kube) pick(v sim.View, pod int32) int32 {
	set := v.SetOf(pod)
	base := v.Cluster().HostDomain(0)
	if v.Total(sim.Physical, v.Shape(set)) == 0 {
		return -1
	}
	counts := v.Counts(sim.Physical, v.Shape(set))
	if node := v.Pin(pod); node >= 0 {
		if counts[base+node] == 0 {
			return -1
		}
		return node
	}
	request := stage.NonZero(*v.PodRequest(set))
	used, nodes := v.Used(sim.Physical), v.Cluster().Nodes
	gpus := request[topology.GPU] > 0
	best, bestScore := int32(-1), int64(-1)
	first, last := int32(0), int32(len(nodes))
	if d := v.Within(pod); d >= 0 {
		first, last = v.Cluster().Domains[d].First, v.Cluster().Domains[d].Last
	}
	for n := first; n < last; n++ {
		if counts[base+n] == 0 {
			continue
		}
		k.with = used[n].Plus(request) // a field, as a local would be allocated for the call
		score := k.score(&k.with, &nodes[n].Allocatable, gpus)
		if score > bestScore || score == bestScore && k.randomTies && k.tie(v, pod, n) < k.tie(v, pod, best) {
			best, bestScore = n, score
		}
	}
	return best
}

// tie is the lot of a node among equals for this pod and attempt: the smallest wins.
func (k *kube) tie(v sim.View, pod, node int32) uint64 {
	first, _ := v.PodsOf(v.JobOf(pod))
	id := rng.ID2(v.Stable(v.JobOf(pod)), uint64(pod-first))
	return rng.Hash(v.Seed(), rng.Tie, rng.ID2(id, rng.StableID(v.Cluster().Nodes[node].Name, 0)), uint64(v.Attempt(pod)))
}

// refusal names the first reason of the contract that holds for a pod without a node.
func (k *kube) refusal(v sim.View, pod int32) sim.Reason {
	set := v.SetOf(pod)
	unbound := int64(v.Unbound(set))
	switch {
	case v.FreeGPUs(v.Models(set)) < unbound*v.PodRequest(set)[topology.GPU]:
		return sim.ReasonInsufficient
	case domainOf(v, pod) >= 0 && v.Total(sim.Physical, v.Shape(set)) >= unbound:
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
