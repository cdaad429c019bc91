package sim

import (
	"github.com/gangplan/gangplan/sim/devices"
	"github.com/gangplan/gangplan/sim/quota"
	"github.com/gangplan/gangplan/topology"
)

// Tx is how a policy changes the world. Its verbs take effect in the view at once and
// can be undone down to a savepoint; Commit makes them real. A cycle ends with all its
// verbs committed or rolled back.
type Tx struct {
	View
	ops       []op
	imagined  int64              // jobs that are imagined gone
	pretended topology.Resources // by View.Pretend, and not given back
}

// Mark is a savepoint.
type Mark int

// op is one tentative change, as a plain record, so that undoing it needs no closure.
type op struct {
	kind opKind
	a, b int32
	at   int64
}

type opKind uint8

const (
	opAdmit opKind = iota
	opReduce
	opGive
	opAssign
	opAssume
	opHold
	opEvict
)

// Savepoint marks the present state of the transaction.
func (tx *Tx) Savepoint() Mark { return Mark(len(tx.ops)) }

// Rollback undoes every verb since the mark, newest first.
func (tx *Tx) Rollback(m Mark) {
	for i := len(tx.ops) - 1; i >= int(m); i-- {
		tx.e.undo(tx.ops[i])
	}
	tx.ops = tx.ops[:m]
}

// Admit charges a queued job's whole request to its queue's quota, of the first flavors.
func (tx *Tx) Admit(j int32) {
	jb := &tx.e.jobs[j]
	jb.holds = tx.e.quota.AppendFirst(jb.holds[:0], jb.queue, tx.e.total(j))
	tx.AdmitUsing(j, jb.holds)
}

// AdmitUsing charges a queued job what it is given: of which flavors how much. The list
// must not change while the job holds quota.
func (tx *Tx) AdmitUsing(j int32, usage []quota.Item) {
	tx.e.must(tx.e.jobs[j].state == Queued, "admit a job that is not queued")
	tx.e.jobs[j].holds = usage
	tx.e.charge(j)
	tx.do(op{kind: opAdmit, a: j})
}

// Reduce admits, with the Admit that follows, only the first n pods of a PodSet of a queued
// job: partial admission. Its barrier then wants just these.
func (tx *Tx) Reduce(set, n int32) {
	st := &tx.e.sets[set]
	tx.e.must(tx.e.jobs[st.job].state == Queued && n > 0 && n <= st.full, "reduce a PodSet that cannot be")
	tx.do(op{kind: opReduce, a: set, b: st.count, at: int64(st.min)})
	tx.e.grant(set, n, n)
}

// Give admits, with the Admit that follows, a PodSet of a queued job with flavors, as a bit
// set: its pods then go to nodes of these only.
func (tx *Tx) Give(set int32, flavors uint64) {
	st := &tx.e.sets[set]
	tx.e.must(tx.e.jobs[st.job].state == Queued, "give flavors to a PodSet that is not queued")
	tx.do(op{kind: opGive, a: set, at: int64(st.flavors)})
	tx.e.give(set, flavors)
}

// AdmitFree admits a queued job without quota, as plain Kubernetes does.
func (tx *Tx) AdmitFree(j int32) {
	tx.e.must(tx.e.jobs[j].state == Queued, "admit a job that is not queued")
	tx.do(op{kind: opAdmit, a: j, b: 1})
}

// Assign gives a pod of a queued job its node before the pod exists: the topology
// assignment. It is held in the Assigned plane as long as the job has quota.
func (tx *Tx) Assign(pod, node int32) {
	e := tx.e
	pd := &e.pods[pod]
	e.must(!pd.assigned, "assign a pod twice")
	pd.assigned, pd.pin = true, node
	e.take(Assigned, node, e.sets[pd.set].request)
	tx.do(op{kind: opAssign, a: pod, b: node})
}

// AssignWithin gives a pod of a queued job a domain above the host: it may go to any node
// of it. What it asks for is held of the domain, of no node in particular, as long as the
// job has quota.
func (tx *Tx) AssignWithin(pod, domain int32) {
	e := tx.e
	pd := &e.pods[pod]
	e.must(!pd.assigned, "assign a pod twice")
	pd.assigned, pd.within = true, domain
	e.takeWithin(Assigned, domain, e.sets[pd.set].request)
	tx.do(op{kind: opAssign, a: pod, b: domain})
}

// Assume takes a node's resources for a pending pod. Commit binds it.
func (tx *Tx) Assume(pod, node int32) {
	e := tx.e
	e.must(e.pods[pod].state == PodPending, "assume a pod that is not pending")
	e.assume(pod, node)
	tx.do(op{kind: opAssume, a: pod, b: node})
}

// HoldUntil keeps an assumed pod from being bound by Commit: it holds its node without
// running until Bind, or gives it back at time t.
func (tx *Tx) HoldUntil(pod int32, t int64) {
	tx.e.must(tx.e.pods[pod].state == PodAssumed, "hold a pod that is not assumed")
	tx.do(op{kind: opHold, a: pod, at: t})
}

// Evict takes an admitted job away. Until Commit it only frees, in the view, what the
// eviction will free: nodes, assignment and quota.
func (tx *Tx) Evict(j int32, c Cause) {
	tx.e.must(tx.e.jobs[j].state == Admitted, "evict a job that is not admitted")
	tx.e.pretendGone(j, -1)
	tx.do(op{kind: opEvict, a: j, b: int32(c)})
}

func (tx *Tx) do(o op) { tx.ops = append(tx.ops, o) }

// mustBeClean catches a cycle that left verbs neither committed nor rolled back.
func (tx *Tx) mustBeClean() {
	tx.e.must(len(tx.ops) == 0 && tx.imagined == 0 && tx.pretended == topology.Resources{}, "a cycle ended with an open transaction")
}

// undo takes one tentative change back.
func (e *Engine) undo(o op) {
	switch o.kind {
	case opAdmit:
		if o.b == 0 {
			e.uncharge(o.a)
		}
	case opReduce:
		e.grant(o.a, o.b, int32(o.at))
	case opGive:
		e.give(o.a, uint64(o.at))
	case opAssign:
		e.unassignPod(o.a)
	case opAssume:
		e.unassume(o.a)
		e.pods[o.a].state = PodPending
	case opEvict:
		e.pretendGone(o.a, 1)
	}
}

// Commit makes every verb of the transaction real, in order.
func (tx *Tx) Commit() {
	e := tx.e
	for _, o := range tx.ops {
		if o.kind == opHold {
			e.hold(o.a, o.at)
		}
	}
	for _, o := range tx.ops {
		switch o.kind {
		case opAdmit:
			e.admitted(o.a)
		case opAssign:
			e.see(SawAssigned, o.a, e.pods[o.a].pin)
		case opAssume:
			if !e.pods[o.a].held {
				e.bindAssumed(o.a)
			}
		case opEvict:
			e.pretendGone(o.a, 1)
			e.evict(o.a, Cause(o.b))
		}
	}
	tx.ops = tx.ops[:0]
}

func (e *Engine) charge(j int32) {
	jb := &e.jobs[j]
	jb.charged = true
	e.quota.UseAll(jb.queue, jb.holds)
	e.reservedRate += e.total(j)[topology.GPU]
	jb.chargedPods = jb.pods
	e.count(j, ChargedGPUs, jb.charge())
}

func (e *Engine) uncharge(j int32) {
	jb := &e.jobs[j]
	jb.charged = false
	e.quota.FreeAll(jb.queue, jb.holds)
	e.reservedRate -= e.total(j)[topology.GPU] + int64(jb.chargedPods-jb.pods)*e.sets[jb.setBase].request[topology.GPU]
	e.count(j, ChargedGPUs, -jb.charge())
}

// charge is the milli-GPU of the quota that a job holds.
func (jb *job) charge() (sum int64) {
	for _, it := range jb.holds {
		if it.FR.Resource() == int(topology.GPU) {
			sum += it.Amount
		}
	}
	return sum
}

// assume takes a node for a pod without binding it; the GPUs are reserved, not
// allocated.
func (e *Engine) assume(p, node int32) { e.assumeGPUs(p, node, 0) }

func (e *Engine) assumeGPUs(p, node int32, gpus devices.Mask) {
	pd := &e.pods[p]
	pd.state, pd.node = PodAssumed, node
	e.giveGPUs(p, node, gpus)
	r := e.sets[pd.set].request
	e.take(Physical, node, r)
	e.must(!e.overfull(node), "a node was given more than it has")
	e.reserve(node, r[topology.GPU])
}

// unassume gives an assumed pod's node back. The caller sets the pod's state.
func (e *Engine) unassume(p int32) {
	pd := &e.pods[p]
	r := e.sets[pd.set].request
	e.reserve(pd.node, -r[topology.GPU])
	e.take(Physical, pd.node, topology.Resources{}.Minus(r))
	e.returnGPUs(pd.node, pd.gpus, e.sets[pd.set].ask.Milli)
	pd.node = -1
	e.letGo(pd)
}

// letGo ends a hold, if the pod is held.
func (e *Engine) letGo(pd *pod) {
	if pd.held {
		pd.held = false
		e.sets[pd.set].held--
	}
}

func (e *Engine) reserve(node int32, milli int64) {
	if m := e.cfg.Cluster.Nodes[node].Model; m >= 0 {
		e.reserved[m] += milli
	}
}

func (e *Engine) overfull(node int32) bool {
	for _, f := range e.nodes.planes[Physical].free[node] {
		if f < 0 {
			return true
		}
	}
	return e.nodes.closed(node)
}

func (e *Engine) bindAssumed(p int32) {
	pd := &e.pods[p]
	node := pd.node
	e.must(!e.overfull(node), "a node was given more than it has")
	e.letGo(pd)
	e.reserve(node, -e.sets[pd.set].request[topology.GPU])
	e.bindPod(p, node)
}

// Imagine frees in the view what a job's pods and assignment hold of nodes, or takes it
// again. Unlike Evict it leaves quota alone, and whoever imagines takes everything back
// before the cycle ends: a search for victims does, in any order.
func (tx *Tx) Imagine(j int32, gone bool) {
	by := int64(1)
	if gone {
		by = -1
	}
	tx.imagined -= by
	tx.e.pretendPlaces(j, by)
}

// pretendGone frees, or with by = 1 takes again, what evicting a job frees.
func (e *Engine) pretendGone(j int32, by int64) {
	e.pretendPlaces(j, by)
	switch jb := &e.jobs[j]; {
	case !jb.charged:
	case by < 0:
		e.quota.FreeAll(jb.queue, jb.holds)
	default:
		e.quota.UseAll(jb.queue, jb.holds)
	}
}

func (e *Engine) pretendPlaces(j int32, by int64) {
	jb := &e.jobs[j]
	for p := jb.podBase; p < jb.podBase+jb.slots; p++ {
		pd := &e.pods[p]
		r := e.sets[pd.set].request.Times(by)
		if pd.node >= 0 {
			e.take(Physical, pd.node, r)
			e.returnGPUs(pd.node, pd.gpus, -e.sets[pd.set].ask.Milli*int32(by))
		}
		if pd.assigned {
			e.takeAssigned(pd, r)
		}
	}
}

// unassign ends the topology assignment of a job.
func (e *Engine) unassign(j int32) {
	jb := &e.jobs[j]
	for p := jb.podBase; p < jb.podBase+jb.slots; p++ {
		e.unassignPod(p)
	}
}

func (e *Engine) unassignPod(p int32) {
	pd := &e.pods[p]
	if !pd.assigned {
		return
	}
	st := &e.sets[pd.set]
	e.takeAssigned(pd, topology.Resources{}.Minus(st.request))
	pd.assigned, pd.pin, pd.within = false, st.pinned, -1
}

// takeAssigned changes what a pod's topology assignment holds, of a node or of a domain.
func (e *Engine) takeAssigned(pd *pod, r topology.Resources) {
	if pd.within >= 0 {
		e.takeWithin(Assigned, pd.within, r)
		return
	}
	e.take(Assigned, pd.pin, r)
}

func (e *Engine) takeWithin(p Plane, domain int32, r topology.Resources) {
	held := &e.nodes.inDomain[p]
	if *held == nil {
		*held = make([]topology.Resources, len(e.cfg.Cluster.Domains))
	}
	(*held)[domain] = (*held)[domain].Plus(r)
}

// must panics when an invariant is broken; the command line turns the panic into a
// report with seed, digest, time and a command to reproduce.
func (e *Engine) must(ok bool, what string) {
	if !ok {
		panic(&Broken{What: what, Seed: e.cfg.Seed, Digest: e.digest, Time: e.now, Policy: e.policy.Name})
	}
}

// Broken is the panic of a broken invariant.
type Broken struct {
	What   string
	Seed   uint64
	Digest Digest
	Time   int64
	Policy string
}

// Error returns what was broken.
func (b *Broken) Error() string { return "invariant broken: " + b.What }
