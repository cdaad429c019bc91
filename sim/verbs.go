package sim

import (
	"github.com/gangplan/gangplan/sim/devices"
	"github.com/gangplan/gangplan/topology"
)

// This file holds the verbs beside admitting, binding and evicting: what policies other
// than a plain binder use to wait with resources in hand, to plan ahead and to rearrange.
// They act at once and are not undone by Rollback.

// Bind binds a pod that was held.
func (tx *Tx) Bind(pod int32) {
	tx.e.must(tx.e.pods[pod].held, "bind a pod that is not held")
	tx.e.pods[pod].gen++
	tx.e.bindAssumed(pod)
}

// Release ends a pod's hold: its node is given back and it is pending again.
func (tx *Tx) Release(pod int32) {
	tx.e.must(tx.e.pods[pod].held, "release a pod that is not held")
	tx.e.endHold(pod)
}

func (e *Engine) hold(p int32, until int64) {
	pd := &e.pods[p]
	e.getPods(pd.job)
	pd.held = true
	e.sets[pd.set].held++
	pd.gen++
	if until != Never {
		e.events.push(max(until, e.now), evHoldEnd, p, pd.gen)
	}
}

func (e *Engine) endHold(p int32) {
	pd := &e.pods[p]
	node := pd.node
	e.unassume(p)
	pd.state = PodPending
	pd.gen++
	e.signal(Signal{Kind: HoldEnded, Job: pd.job, Pod: p, Place: node})
	e.signalFreed(-1, -1, node)
}

// Nominate promises a node to a pending pod whose victims are leaving; node -1 withdraws
// the promise. It takes nothing: View.Nominated shows it.
func (tx *Tx) Nominate(pod, node int32) { tx.e.nominate(pod, node) }

func (e *Engine) nominate(p, node int32) {
	pd := &e.pods[p]
	if pd.nominated == node {
		return
	}
	r := e.sets[pd.set].request
	if pd.nominated >= 0 {
		e.promise(pd.nominated, topology.Resources{}.Minus(r))
	}
	pd.nominated = node
	if node >= 0 {
		e.promise(node, r)
	}
}

// promise changes what is promised of a node, and lets View.Changes know.
func (e *Engine) promise(node int32, r topology.Resources) {
	e.nodes.nominated[node] = e.nodes.nominated[node].Plus(r)
	e.nodes.planes[Physical].index.Touch(node)
}

// Placeholder makes a pending pod's placeholder take a node: it holds the resources but
// does no work, until Swap.
func (tx *Tx) Placeholder(pod, node int32) {
	tx.e.must(tx.e.pods[pod].state == PodPending, "a placeholder for a pod that is not pending")
	tx.e.assume(pod, node)
	tx.e.hold(pod, Never)
}

// Swap replaces a placeholder by a real pod of the same PodSet, which is bound in its
// place; the placeholder's own pod is pending again unless it is the same.
func (tx *Tx) Swap(placeholder, pod int32) {
	e := tx.e
	e.must(e.pods[placeholder].held && e.pods[placeholder].set == e.pods[pod].set, "swap a pod that is no placeholder of the same PodSet")
	node := e.pods[placeholder].node
	if placeholder != pod {
		e.endHold(placeholder)
		e.assume(pod, node)
	}
	e.pods[pod].gen++
	e.bindAssumed(pod)
}

// PlaceOnReleasing lets a pending pod wait for what terminating pods hold of a node; the
// engine binds it as soon as it fits there.
func (tx *Tx) PlaceOnReleasing(pod, node int32) {
	e := tx.e
	e.must(e.pods[pod].state == PodPending, "place a pod that is not pending")
	e.nodes.pipelined[node] = append(e.nodes.pipelined[node], placed{pod, e.pods[pod].gen})
	e.bindPipelined(node)
}

// bindPipelined binds the pods that wait for a node, in order, while they fit. Pods that
// found another way are forgotten.
func (e *Engine) bindPipelined(node int32) {
	queue := e.nodes.pipelined[node]
	for len(queue) > 0 {
		p := queue[0].pod
		if pd := &e.pods[p]; pd.state == PodPending && pd.gen == queue[0].gen {
			if r := e.sets[pd.set].request; e.nodes.closed(node) || !r.FitsIn(&e.nodes.planes[Physical].free[node]) ||
				e.gpus != nil && !e.gpus[node].Fits(e.sets[pd.set].ask) {
				break
			}
			e.assume(p, node)
			e.bindAssumed(p)
			e.signalPod(PodDeleted, p)
		}
		queue = queue[1:]
	}
	e.nodes.pipelined[node] = queue
}

// Move takes a bound pod of a job to another node at once. If the job needs the pod, its
// progress since the last safe point is lost; the pod starts again there.
func (tx *Tx) Move(pod, node int32) {
	e := tx.e
	j := e.pods[pod].job
	e.must(e.pods[pod].state == PodStarting || e.pods[pod].state == PodReady, "move a pod that is not bound")
	e.lost = append(e.lost[:0], pod)
	e.breakBarrier(j, e.lost)
	e.removePod(pod, 0)
	e.pods[pod].state = PodPending
	e.assume(pod, node)
	e.bindAssumed(pod)
	e.noteHolding(j)
}

// Preempt deletes a bound pod to make room for a more important one, as kube-scheduler
// does: it terminates for its grace, and the controller of its job creates it again.
func (tx *Tx) Preempt(pod int32) {
	e := tx.e
	pd := &e.pods[pod]
	j := pd.job
	e.must(pd.state == PodStarting || pd.state == PodReady, "preempt a pod that is not bound")
	e.lost = append(e.lost[:0], pod)
	e.breakBarrier(j, e.lost)
	e.emitFor(CausePreempted.why(), Evict, j, pod-e.jobs[j].podBase, pd.node, 1)
	e.jobs[j].evictions[CausePreempted]++
	e.preempting = true
	grace := e.termination(j)
	e.removePod(pod, grace)
	e.preempting = false
	e.mendGang(j, e.lost, loss{shown: e.now, known: e.endOf(grace)})
}

// Leaving is a pod that was told to end and still holds its node.
type Leaving struct {
	Job, Pod  int32 // as which it ran; Pod may be bound again elsewhere
	Node      int32
	Preempted bool // to make room for a more important one
	Request   topology.Resources
	GPUs      devices.Mask
	Milli     int32 // of each of GPUs
}

// EachLeaving calls f with every pod that is on its way out.
func (v View) EachLeaving(f func(l *Leaving)) {
	for i := range v.e.slots.all {
		if s := &v.e.slots.all[i]; s.node >= 0 {
			f(&Leaving{s.job, s.pod, s.node, s.preempt, s.request, s.gpus, s.milli})
		}
	}
}

// Reassign gives a pod of an admitted job another node in its topology assignment, where
// the one it had is lost. The pod must not be bound: it is absent, or pending and learnt
// of anew by the Binder.
func (tx *Tx) Reassign(pod, node int32) {
	e := tx.e
	pd := &e.pods[pod]
	e.must(pd.assigned && pd.within < 0 && (pd.state == PodAbsent || pd.state == PodPending), "reassign a pod that is bound or has no assignment")
	r := e.sets[pd.set].request
	e.take(Assigned, pd.pin, topology.Resources{}.Minus(r))
	e.take(Assigned, node, r)
	pd.pin = node
	e.see(SawAssigned, pod, node)
	if pd.visible {
		e.signalPod(PodDeleted, pod)
		e.signalPod(PodCreated, pod)
	}
}

// Interval is a reservation of a node for a job, from a time to a time.
type Interval struct {
	Job, Node int32
	Pods      int32
	Set       int32
	From, To  int64
}

// Reserve plans pods of a PodSet onto a node for an interval. While it is current, free
// GPUs it covers are held: nobody else is given them by a policy that respects
// View.Reservations, and the ledger calls them reserved.
func (tx *Tx) Reserve(iv Interval) { tx.e.intervals = append(tx.e.intervals, iv) }

// Unreserve drops every reservation of a job.
func (tx *Tx) Unreserve(j int32) {
	kept := tx.e.intervals[:0]
	for _, iv := range tx.e.intervals {
		if iv.Job != j {
			kept = append(kept, iv)
		}
	}
	tx.e.intervals = kept
}

// Reservations returns every interval reserved, in the order of reserving.
func (v View) Reservations() []Interval { return v.e.intervals }

// currentReservations adds, per model, the milli-GPU that current intervals hold of what
// is free: on each node no more than is free there.
func (e *Engine) currentReservations(reserved []int64) {
	for i, iv := range e.intervals {
		if m := e.cfg.Cluster.Nodes[iv.Node].Model; m >= 0 && e.current(iv) {
			free := max(0, e.nodes.planes[Physical].free[iv.Node][topology.GPU])
			for _, before := range e.intervals[:i] {
				if before.Node == iv.Node && e.current(before) {
					free -= e.reservedBy(before)
				}
			}
			reserved[m] += max(0, min(free, e.reservedBy(iv)))
		}
	}
}

func (e *Engine) current(iv Interval) bool { return iv.From <= e.now && e.now < iv.To }

func (e *Engine) reservedBy(iv Interval) int64 {
	return int64(iv.Pods) * e.sets[iv.Set].request[topology.GPU]
}

// Defer states why a job or its unbound pods were refused. The reason is kept until the
// next: it is what View.Deferred, the ledger and explanations go by.
func (tx *Tx) Defer(j int32, r Reason) { tx.e.jobs[j].deferred = r }

// Deferred returns the reason a job was last deferred for.
func (v View) Deferred(j int32) Reason { return v.e.jobs[j].deferred }
