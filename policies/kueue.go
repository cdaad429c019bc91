package policies

import (
	"slices"

	"github.com/gangplan/gangplan/policies/admission"
	"github.com/gangplan/gangplan/policies/stage"
	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/sim/order"
	"github.com/gangplan/gangplan/sim/quota"
)

// kueue is the Admitter of all policies that admit jobs whole: one head per ClusterQueue
// and cycle, decided upon by Kueue's own rules (policies/admission), and with a placer also
// by the topology. Without quota it passes every job through, as plain Kubernetes does.
//
// A ClusterQueue with BestEffortFIFO groups equal jobs: when one cannot be admitted, its
// equals are parked with it until something is freed in their cohort tree (kueue_aside.go).
// StrictFIFO is the same list with a single class that is never parked. A cohort tree gets a cycle when
// something changed in it: one without a change would decide the same again.
type kueue struct {
	passThrough bool
	partial     bool            // jobs may be admitted with fewer pods
	flushNow    bool            // what was set aside is looked at without a delay
	wakeAll     bool            // what is freed is looked at by all that meet in a topology
	strategy    *quota.Strategy // overrides every queue's when not nil
	rules       admission.Rules
	placer      *placer // nil: no topology assignment

	kernel  *admission.Kernel
	room    room
	queues  []clusterQueue
	trees   []cohortTree
	classOf []int32
	classes int32
	ever    map[everKey]bool // could it be admitted
	arrived []int32          // jobs queued since the last cycle
	changes []sim.Signal     // evictions and releases since the last cycle, in order
	heads   []int32
	epoch   int64   // grows when anything but what heads remember changes
	usages  usages  // of LocalQueues
	repair  *repair // of assignments whose node fails; nil: nothing moves
	gate    gate
}

type clusterQueue struct {
	waiting *stage.Classes
	slots   int32 // LocalQueues that take turns; 1 if they do not
	tree    int32
	strict  bool
	freed   bool // quota came back since the last cycle
	flushAt int64
	sticky  int32        // the job that preempts for its turn, or order.None
	tried   int32        // the last head that was refused and stays head, or order.None
	reasons []sim.Reason // per class, of its last refusal
	round   round
}

// cohortTree is what can lend to each other: the queues below a root cohort, or a queue
// alone.
type cohortTree struct {
	queues []int32
	dirty  bool  // it deserves a cycle
	moves  bool  // the present cycle admits or preempts somebody
	freed  bool  // quota came back since the last cycle
	wakeAt int64 // when the heads that stayed are looked at again
}

// Reset implements sim.Controller.
func (k *kueue) Reset(v sim.View) {
	k.usages.reset(v)
	k.resetTrees(v)
	k.classes, k.ever = k.classify(v), map[everKey]bool{}
	for q := range k.queues {
		k.queues[q].reasons = make([]sim.Reason, 2*k.classes*k.queues[q].slots)
	}
	k.gate.reset(v)
	k.changes, k.arrived = k.changes[:0], k.arrived[:0]
	if k.repair != nil {
		k.repair.reset(v)
	}
	if k.passThrough {
		return
	}
	k.rules.BlockUndeclared = v.QuotaCheck().BlockUndeclared
	k.kernel = admission.New(k.rules, v.Quota(), workOf(v, k.partial))
	if k.placer != nil {
		k.placer.reset(v)
		k.room = room{placer: k.placer, found: make([][]place, len(k.queues))}
		k.kernel.Room = &k.room
	}
	if k.usages.on(v) {
		k.kernel.Locals = &turns{&k.usages, v}
	}
}

func (k *kueue) resetTrees(v sim.View) {
	k.queues, k.trees = make([]clusterQueue, v.Quota().Len()), nil
	treeOf := make([]int32, v.Quota().Nodes())
	arena, classOf := order.NewArena(v.Jobs()), make([]int32, v.Jobs())
	for q := range k.queues {
		strategy := v.Quota().Queue(int32(q)).Strategy
		if k.strategy != nil {
			strategy = *k.strategy
		}
		root := v.Quota().Root(int32(q))
		if treeOf[root] == 0 {
			k.trees = append(k.trees, cohortTree{wakeAt: sim.Never})
			treeOf[root] = int32(len(k.trees))
		}
		tree := treeOf[root] - 1
		k.trees[tree].queues = append(k.trees[tree].queues, int32(q))
		k.queues[q] = clusterQueue{waiting: stage.NewClassesIn(arena, classOf), slots: k.usages.slots(v, int32(q)), tree: tree, strict: strategy == quota.StrictFIFO,
			flushAt: sim.Never, sticky: order.None, tried: order.None}
	}
}

// Signals implements sim.Controller.
func (k *kueue) Signals(batch []sim.Signal) {
	for _, s := range batch {
		switch s.Kind {
		case sim.JobQueued:
			k.arrived = append(k.arrived, s.Job)
		case sim.JobEvicted, sim.JobWithdrawn, sim.QuotaFreed, sim.QuotaReclaimed, sim.JobReady:
			k.changes = append(k.changes, s)
		case sim.NodeUp:
			k.epoch++
			for t := range k.trees {
				k.freed(int32(t))
			}
		case sim.NodeDown:
			if k.repair != nil {
				k.repair.lost = append(k.repair.lost, s)
			}
		}
	}
}

// freed notes that the queues of a tree may admit again.
func (k *kueue) freed(tree int32) {
	k.trees[tree].freed = true
	for _, q := range k.trees[tree].queues {
		k.queues[q].freed = true
	}
}

// Cycle implements sim.Controller: one round of heads of the trees where something
// changed.
func (k *kueue) Cycle(tx *sim.Tx) bool {
	k.takeIn(tx.View)
	if k.repair != nil && k.repair.cycle(tx, k.placer) {
		k.epoch++
		return true
	}
	k.flush(tx.View)
	if len(k.gate.held) > 0 {
		return k.goOn(tx)
	}
	if k.collectHeads(tx.View); len(k.heads) == 0 {
		return false
	}
	if k.passThrough {
		k.passAll(tx)
		return true
	}
	k.room.tx = tx
	k.applyAll(tx, k.kernel.Cycle(k.heads))
	return true
}

// takeIn brings the kernel up to date and puts newly queued jobs into their lists. A job
// that becomes a head deserves an attempt.
func (k *kueue) takeIn(v sim.View) {
	k.sampleUsage(v)
	k.epoch += int64(len(k.changes) + len(k.arrived))
	for _, s := range k.changes {
		k.note(v, s)
	}
	k.changes = k.changes[:0]
	for _, j := range k.arrived {
		q := &k.queues[v.Queue(j)]
		if !k.passThrough {
			k.kernel.Work[j].Time = v.QueueTime(j)
			k.kernel.Forget(j)
			k.recount(v, j)
		}
		q.waiting.Push(j, k.awake(q, k.class(v, j)), order.Key{Priority: v.Job(j).Priority, Time: v.QueueTime(j), Seq: v.Serial(j)})
		if k.head(v, q) == j {
			k.trees[q.tree].dirty = true
		}
	}
	k.arrived = k.arrived[:0]
}

// note tells the kernel who is on the way out and who is gone. What a job frees is looked at
// by the queues of its own cohort tree, even where others meet it in a topology: Kueue is
// notified by ClusterQueue.
func (k *kueue) note(v sim.View, s sim.Signal) {
	if s.Kind != sim.JobEvicted && k.gate.opens(s.Job) { // an evicted job closes it until its quota is back
		for t := range k.trees {
			k.trees[t].dirty = true
		}
	}
	switch s.Kind {
	case sim.JobReady:
		return
	case sim.JobWithdrawn:
		k.withdraw(s.Job, v.Queue(s.Job))
		return
	}
	if k.kernel == nil || !k.kernel.Holds(s.Job) {
		return
	}
	if s.Kind == sim.JobEvicted {
		k.kernel.Work[s.Job].Time = v.QueueTime(s.Job)
		k.kernel.Evict(s.Job)
		return
	}
	if s.Kind == sim.QuotaReclaimed {
		k.usages.shrink(v, s.Job, k.kernel.Holding(s.Job))
		k.kernel.Shrunk(s.Job)
	} else {
		k.usages.charge(v, s.Job, k.kernel.Holding(s.Job), -1)
		k.kernel.Drop(s.Job)
	}
	for t := range k.trees {
		if int32(t) == k.queues[s.Place].tree || k.wakeAll && k.placer != nil {
			k.freed(int32(t))
		}
	}
}

// withdraw forgets a job that left its queue.
func (k *kueue) withdraw(j, queue int32) {
	if i := slices.Index(k.arrived, j); i >= 0 {
		k.arrived = slices.Delete(k.arrived, i, i+1)
		return
	}
	q := &k.queues[queue]
	q.waiting.Remove(j)
	if q.sticky == j {
		q.sticky = order.None
	}
	k.trees[q.tree].dirty = true
}

// flush wakes what its time has come for: heads that stayed soon after quota came back,
// parked jobs of BestEffortFIFO after a batch.
func (k *kueue) flush(v sim.View) {
	for i := range k.trees {
		t := &k.trees[i]
		if t.freed && t.wakeAt == sim.Never {
			t.wakeAt = v.Now() + v.Timing().StrictWake
		}
		t.freed = false
		if t.wakeAt <= v.Now() {
			t.wakeAt, t.dirty = sim.Never, true
		}
	}
	for i := range k.queues {
		q := &k.queues[i]
		if q.freed && q.flushAt == sim.Never && !q.strict {
			if q.flushAt = v.Now(); !k.flushNow {
				q.flushAt += v.Timing().Flush
			}
		}
		q.freed = false
		if q.flushAt <= v.Now() {
			q.flushAt = sim.Never
			q.waiting.WakeIf(nil)
			k.trees[q.tree].dirty = true
		}
	}
}

// collectHeads lists the heads of the trees that deserve a cycle: of all, if one does and
// they meet in one topology, where a head that waits may keep places from others.
func (k *kueue) collectHeads(v sim.View) {
	k.heads = k.heads[:0]
	all := k.placer != nil && slices.ContainsFunc(k.trees, func(t cohortTree) bool { return t.dirty })
	for i := range k.trees {
		if !k.trees[i].dirty && !all {
			continue
		}
		k.trees[i].dirty = false
		for _, q := range k.trees[i].queues {
			if j := k.head(v, &k.queues[q]); j != order.None {
				k.heads = append(k.heads, j)
			}
		}
	}
}

// head returns whose turn it is: who preempted for it, or the first.
func (k *kueue) head(v sim.View, q *clusterQueue) int32 {
	if q.slots > 1 {
		return k.fairHead(v, q)
	}
	if q.sticky != order.None && !q.waiting.Parked(q.waiting.Class(q.sticky)) {
		return q.sticky
	}
	return q.waiting.Head()
}

// passAll admits every head, without quota.
func (k *kueue) passAll(tx *sim.Tx) {
	k.orderHeads(tx.View)
	for _, j := range k.heads {
		q := &k.queues[tx.Queue(j)]
		k.trees[q.tree].dirty = true
		q.waiting.Remove(j)
		tx.AdmitFree(j)
		tx.Commit()
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

// apply makes an entry's outcome real.
func (k *kueue) apply(tx *sim.Tx, e *admission.Entry) {
	j := e.Workload
	q := &k.queues[tx.Queue(j)]
	switch {
	case e.Status == admission.Assumed:
		k.admit(tx, q, e)
	case e.Requeue == admission.PendingPreemption:
		k.preempt(tx, q, e)
	case q.strict || e.Requeue != admission.Generic || k.kernel.Pending(j):
		k.stay(tx, q, j, k.reasonOf(tx.View, e))
		if k.kernel.Pending(j) && !q.round.closes(j, k.epoch, k.kernel.Tried(j)) {
			k.trees[q.tree].dirty = true
		}
	default:
		k.epoch++
		why := k.reasonOf(tx.View, e)
		k.setAside(q, j, why)
		k.trees[q.tree].dirty = true
		tx.Defer(j, why)
	}
}

func (k *kueue) admit(tx *sim.Tx, q *clusterQueue, e *admission.Entry) {
	j := e.Workload
	k.epoch++
	q.waiting.Remove(j)
	if q.sticky == j {
		q.sticky = order.None
	}
	k.trees[q.tree].dirty = true
	grant(tx, &e.Assignment, j)
	if k.placer != nil {
		k.room.assign(j)
	}
	k.kernel.Work[j].Time = tx.Created(j) // as long as it holds quota, whenever it was evicted before
	k.kernel.Hold(j, tx.Now(), e.Usage)
	tx.AdmitUsing(j, k.kernel.Holding(j))
	k.usages.charge(tx.View, j, k.kernel.Holding(j), 1)
	tx.Commit()
	k.gate.admitted(j)
}

// preempt evicts an entry's victims. It stays head and has to win again when they are gone.
func (k *kueue) preempt(tx *sim.Tx, q *clusterQueue, e *admission.Entry) {
	if k.rules.Sticky && !q.strict {
		q.sticky = e.Workload
	}
	for _, t := range e.Targets {
		if tx.State(t.Workload) != sim.Admitted {
			continue // on its way out already
		}
		tx.Evict(t.Workload, sim.CausePreempted)
		tx.Commit()
		k.epoch++
		k.trees[q.tree].dirty = true
	}
	k.stay(tx, q, e.Workload, sim.ReasonPreemption)
}

// stay keeps a refused head where it is.
func (k *kueue) stay(tx *sim.Tx, q *clusterQueue, j int32, why sim.Reason) {
	q.tried = j
	q.reasons[q.waiting.Class(j)] = why
	tx.Defer(j, why)
}

// reasonOf names, of an entry that was refused, the first reason of the contract that
// holds: victims it waits for, too few free GPUs, the quota, pods that fit nowhere, the
// topology.
func (k *kueue) reasonOf(v sim.View, e *admission.Entry) sim.Reason {
	switch {
	case e.Skipped == admission.Overlaps:
		return sim.ReasonPreemption
	case insufficient(v, e.Workload):
		return sim.ReasonInsufficient
	case !e.LacksPlace():
		return sim.ReasonQuota
	case k.placer.lacksHosts(v, e):
		return sim.ReasonShape
	}
	return sim.ReasonTopology
}

// NextWake implements sim.Controller.
func (k *kueue) NextWake() int64 {
	at := int64(sim.Never)
	for q := range k.queues {
		at = min(at, k.queues[q].flushAt)
	}
	for t := range k.trees {
		at = min(at, k.trees[t].wakeAt)
	}
	if k.repair != nil {
		at = min(at, k.repair.nextTry())
	}
	return min(at, k.nextSample())
}

// Explain implements sim.Explainer, in Kueue's words: why jobs that have the quota have no
// place. Equal jobs hear the same, so it is found out once.
func (k *kueue) Explain(tx *sim.Tx, jobs []int32, say func(job int32, message string)) {
	if k.placer == nil {
		return
	}
	type kind struct{ queue, class int32 }
	known := map[kind]string{}
	for _, j := range jobs {
		is := kind{tx.Queue(j), k.classOf[j]}
		message, ok := known[is]
		if !ok && tx.Quota().Fits(tx.Queue(j), counted(tx.View, tx.Request(j))) {
			message = k.explain(tx, j)
		}
		if known[is] = message; message != "" {
			say(j, message)
		}
	}
}

// explain says why a job has no place, with the flavors that quota would give it.
func (k *kueue) explain(tx *sim.Tx, j int32) string {
	if tx.Flavors() == 0 {
		return k.placer.explain(tx.View, j)
	}
	var a admission.Assignment
	k.room.tx = tx
	k.kernel.Nominate(j, &a)
	if first, last := tx.SetsOf(j); len(a.Sets) < int(last-first) || !a.Sets[len(a.Sets)-1].Assigned() {
		return "" // none that it may have
	}
	mark := tx.Savepoint()
	defer tx.Rollback(mark)
	grant(tx, &a, j)
	return k.placer.explain(tx.View, j)
}

// Why implements sim.Controller.
func (k *kueue) Why(v sim.View, j int32) sim.Reason {
	q := &k.queues[v.Queue(j)]
	if !q.waiting.Contains(j) {
		return sim.ReasonLatency
	}
	class := q.waiting.Class(j)
	switch {
	case len(k.gate.held) > 0:
		return sim.ReasonGate
	case q.strict && q.waiting.First(class) != j:
		return sim.ReasonOrder
	case q.flushAt != sim.Never, !q.waiting.Parked(class) && (q.tried != j || k.trees[q.tree].wakeAt != sim.Never):
		return sim.ReasonLatency
	}
	return q.reasons[class]
}
