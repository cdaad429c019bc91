package policies

import (
	"github.com/gangplan/gangplan/policies/stage"
	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/sim/order"
	"github.com/gangplan/gangplan/sim/quota"
	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/workloads"
)

// kueue is the Admitter of all policies that admit jobs whole: one head per
// ClusterQueue and cycle, checked against quota and, with a placer, against the
// topology. Without quota it passes every job through, as plain Kubernetes does.
//
// A ClusterQueue with BestEffortFIFO groups equal jobs: when one does not fit, its equals
// are parked with it until something is freed. StrictFIFO is the same list with a single
// class, so that its head blocks everybody.
type kueue struct {
	passThrough bool
	strategy    *quota.Strategy // overrides every queue's when not nil
	placer      *placer         // nil: no topology assignment

	queues  []clusterQueue
	classOf []int32
	arrived []int32 // jobs queued since the last cycle
	heads   []int32
	repair  *repair // of assignments whose node fails; nil: nothing moves
}

type clusterQueue struct {
	waiting *stage.Classes
	strict  bool
	freed   bool // quota came back since the last cycle
	flushAt int64
	reasons []sim.Reason // per class, of its last refusal
}

// Reset implements sim.Controller.
func (k *kueue) Reset(v sim.View) {
	k.queues = make([]clusterQueue, v.Quota().Len())
	for q := range k.queues {
		strategy := v.Quota().Queue(int32(q)).Strategy
		if k.strategy != nil {
			strategy = *k.strategy
		}
		k.queues[q] = clusterQueue{waiting: stage.NewClasses(v.Jobs()), strict: strategy == quota.StrictFIFO, flushAt: sim.Never}
	}
	classes := k.classify(v)
	for q := range k.queues {
		k.queues[q].reasons = make([]sim.Reason, classes)
	}
	if k.placer != nil {
		k.placer.reset(v)
	}
	if k.repair != nil {
		k.repair.reset(v)
	}
}

// classify numbers the classes of jobs that are equal to the Admitter.
func (k *kueue) classify(v sim.View) int32 {
	k.classOf = make([]int32, v.Jobs())
	known := map[jobKey]int32{}
	for j := range k.classOf {
		key := keyOf(v, int32(j))
		if _, ok := known[key]; !ok {
			known[key] = int32(len(known))
		}
		k.classOf[j] = known[key]
	}
	return int32(max(1, len(known)))
}

func (k *kueue) class(v sim.View, j int32) int32 {
	if k.queues[v.Queue(j)].strict {
		return 0
	}
	return k.classOf[j]
}

// Signals implements sim.Controller.
func (k *kueue) Signals(batch []sim.Signal) {
	for _, s := range batch {
		switch s.Kind {
		case sim.JobQueued:
			k.arrived = append(k.arrived, s.Job)
		case sim.QuotaFreed:
			k.freed(s.Place)
		case sim.NodeUp:
			for q := range k.queues {
				k.queues[q].freed = true
			}
		case sim.NodeDown:
			if k.repair != nil {
				k.repair.down = append(k.repair.down, s.Place)
			}
		}
	}
}

// freed notes that a queue may admit again. With topology assignments what one queue
// frees is room for all.
func (k *kueue) freed(queue int32) {
	for q := range k.queues {
		if int32(q) == queue || k.placer != nil {
			k.queues[q].freed = true
		}
	}
}

// Cycle implements sim.Controller: heads, nomination and admission of one round.
func (k *kueue) Cycle(tx *sim.Tx) bool {
	k.takeIn(tx.View)
	if k.repair != nil && k.repair.cycle(tx, k.placer) {
		return true
	}
	k.flush(tx.View)
	k.heads = k.heads[:0]
	for q := range k.queues {
		if j := k.queues[q].waiting.Head(); j != order.None {
			k.heads = append(k.heads, j)
		}
	}
	k.orderHeads(tx.View)
	for _, j := range k.heads {
		k.process(tx, j)
	}
	return len(k.heads) > 0
}

// takeIn puts newly queued jobs into their lists. A job that becomes the head of a
// StrictFIFO queue deserves an attempt even if the head before it was blocked.
func (k *kueue) takeIn(v sim.View) {
	for _, j := range k.arrived {
		q := &k.queues[v.Queue(j)]
		class := k.class(v, j)
		q.waiting.Push(j, class, order.Key{Priority: v.Job(j).Priority, Time: v.QueueTime(j), Seq: int64(j)})
		if q.strict && q.waiting.First(class) == j {
			q.waiting.Wake(class)
		}
	}
	k.arrived = k.arrived[:0]
}

// flush wakes the queues whose time has come: a StrictFIFO head soon after quota came
// back, parked jobs of BestEffortFIFO after a batch.
func (k *kueue) flush(v sim.View) {
	for i := range k.queues {
		q := &k.queues[i]
		if q.freed && q.flushAt == sim.Never {
			q.flushAt = v.Now() + v.Timing().Flush
			if q.strict {
				q.flushAt = v.Now() + v.Timing().StrictWake
			}
		}
		q.freed = false
		if q.flushAt <= v.Now() {
			q.flushAt = sim.Never
			q.waiting.WakeAll(int32(len(q.reasons)))
		}
	}
}

// orderHeads sorts the heads of a cycle by priority, then by time, then by queue.
func (k *kueue) orderHeads(v sim.View) {
	before := func(a, b int32) bool {
		ka := order.Key{Priority: v.Job(a).Priority, Time: v.QueueTime(a), Seq: int64(v.Queue(a))}
		kb := order.Key{Priority: v.Job(b).Priority, Time: v.QueueTime(b), Seq: int64(v.Queue(b))}
		return ka.Less(kb)
	}
	for i := 1; i < len(k.heads); i++ {
		for n := i; n > 0 && before(k.heads[n], k.heads[n-1]); n-- {
			k.heads[n], k.heads[n-1] = k.heads[n-1], k.heads[n]
		}
	}
}

// process admits a head, or parks it with its equals.
func (k *kueue) process(tx *sim.Tx, j int32) {
	q := &k.queues[tx.Queue(j)]
	reason := k.tryAdmit(tx, j)
	if reason == sim.ReasonNone {
		q.waiting.Remove(j)
		tx.Commit()
		return
	}
	class := q.waiting.Class(j)
	q.reasons[class] = reason
	q.waiting.Park(class)
	tx.Defer(j, reason)
}

// tryAdmit admits a job in the transaction, or leaves it clean and says why not.
func (k *kueue) tryAdmit(tx *sim.Tx, j int32) sim.Reason {
	if k.passThrough {
		tx.AdmitFree(j)
		return sim.ReasonNone
	}
	request := tx.Request(j)
	if !tx.Quota().Fits(tx.Queue(j), request) {
		return k.refusal(tx.View, j, sim.ReasonQuota)
	}
	if k.placer != nil {
		mark := tx.Savepoint()
		if k.placer.assign(tx, j) >= 0 {
			tx.Rollback(mark)
			return k.refusal(tx.View, j, sim.ReasonTopology)
		}
	}
	tx.Admit(j)
	return sim.ReasonNone
}

// refusal names the first reason of the contract that holds: too few free GPUs, the
// quota, pods that fit nowhere, the topology.
func (k *kueue) refusal(v sim.View, j int32, last sim.Reason) sim.Reason {
	if insufficient(v, j) {
		return sim.ReasonInsufficient
	}
	if last == sim.ReasonTopology && k.placer.lacksHosts(v, j) {
		return sim.ReasonShape
	}
	return last
}

// insufficient reports whether a job wants more GPUs than are free of the models it
// accepts.
func insufficient(v sim.View, j int32) bool {
	var want int64
	var accepted uint64
	first, last := v.SetsOf(j)
	for s := first; s < last; s++ {
		gpus := int64(v.Count(s)) * v.PodRequest(s)[topology.GPU]
		if want += gpus; gpus == 0 {
			continue
		}
		if v.Models(s) == 0 {
			accepted = ^uint64(0)
		}
		accepted |= v.Models(s)
	}
	if accepted == ^uint64(0) {
		accepted = 0
	}
	return v.FreeGPUs(accepted) < want
}

// NextWake implements sim.Controller.
func (k *kueue) NextWake() int64 {
	at := int64(sim.Never)
	for q := range k.queues {
		at = min(at, k.queues[q].flushAt)
	}
	if k.repair != nil {
		at = min(at, k.repair.nextTry())
	}
	return at
}

// Explain implements sim.Explainer, in Kueue's words: why jobs that have the quota have no
// place. Equal jobs hear the same, so it is found out once.
func (k *kueue) Explain(v sim.View, jobs []int32, say func(job int32, message string)) {
	if k.placer == nil {
		return
	}
	type kind struct{ queue, class int32 }
	known := map[kind]string{}
	for _, j := range jobs {
		is := kind{v.Queue(j), k.classOf[j]}
		message, ok := known[is]
		if !ok && v.Quota().Fits(v.Queue(j), v.Request(j)) {
			message = k.placer.explain(v, j)
		}
		if known[is] = message; message != "" {
			say(j, message)
		}
	}
}

// Why implements sim.Controller.
func (k *kueue) Why(v sim.View, j int32) sim.Reason {
	q := &k.queues[v.Queue(j)]
	if !q.waiting.Contains(j) {
		return sim.ReasonLatency
	}
	class := q.waiting.Class(j)
	switch {
	case q.strict && q.waiting.First(class) != j:
		return sim.ReasonOrder
	case q.flushAt != sim.Never || !q.waiting.Parked(class):
		return sim.ReasonLatency
	}
	return q.reasons[class]
}

// CanEver implements sim.Admitter.
func (k *kueue) CanEver(v sim.View, j int32) bool {
	if k.passThrough {
		return true
	}
	return v.Quota().EverFits(v.Queue(j), v.Request(j)) && (k.placer == nil || k.placer.canEver(v, j))
}

// jobKey is a chained hash of what makes jobs equal to the Admitter.
type jobKey uint64

func keyOf(v sim.View, j int32) jobKey {
	h := uint64(14695981039346656037)
	add := func(x uint64) { h = (h ^ x) * 1099511628211; h ^= h >> 29 }
	first, last := v.SetsOf(j)
	for s := first; s < last; s++ {
		spec := &v.Job(j).PodSets[s-first]
		add(uint64(v.Shape(s)))
		add(uint64(v.Count(s)))
		add(uint64(v.PinnedNode(s) + 1))
		addTopology(&spec.Topology, add)
	}
	return jobKey(h)
}

func addTopology(t *workloads.TopologyRequest, add func(uint64)) {
	addString := func(s string) {
		add(uint64(len(s)))
		for i := range len(s) {
			add(uint64(s[i]))
		}
	}
	add(uint64(t.Mode))
	addString(t.Level)
	addString(t.Group)
	for i := range t.Slices {
		if t.Slices[i].Size > 0 {
			add(uint64(t.Slices[i].Size))
			addString(t.Slices[i].Level)
		}
	}
}
