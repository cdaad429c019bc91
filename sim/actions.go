package sim

import "github.com/gangplan/gangplan/workloads"

// Action is something that is done to the cluster, to pods or to a job from outside.
type Action struct {
	Time int64
	Do   Deed
	Node int32 // -1: where the pod of Job with Rank is by then
	Job  int32 // -1 for none
	Rank int32 // of the pod; workloads.AllPods: those of Job on Node
}

// Deed is what an Action does.
type Deed uint8

// The deeds. A node that goes down takes its pods with it. What the control plane notices
// of it, and when, depends: of a node that goes down its condition, after a while; of one
// that is unreachable the condition stands already; a Node object that is deleted is seen
// at once, but its pods only once they are collected as garbage. A cordoned node keeps its
// pods and takes no others.
const (
	DoDown Deed = iota
	DoUp
	DoUnreachable
	DoDelete
	DoCordon
	DoUncordon
	DoDeletePod // pods are told to end
	DoFailPod   // their containers fail, for good
	DoDeleteJob
	DoDeactivate
	DoActivate
)

// kind is when in its instant an action comes.
func (a *Action) kind() eventKind {
	switch a.Do {
	case DoUp, DoUncordon:
		return evBringUp
	case DoDeleteJob, DoDeactivate, DoActivate:
		return evConfigure
	}
	return evTakeDown
}

// countDeed counts the actions that are still to come: a run does not end before those that
// can change how it ends.
func (e *Engine) countDeed(a *Action, by int) {
	e.deeds += by
	if a.Do == DoActivate {
		e.activations += by
	}
}

// act carries out an action, if there is still anything to do it to.
func (e *Engine) act(a *Action) {
	node := a.Node
	if node < 0 && a.Job >= 0 && a.Rank >= 0 {
		node = e.pods[e.jobs[a.Job].podBase+a.Rank].node
	}
	switch a.Do {
	case DoDeletePod, DoFailPod:
		e.endPods(a)
		return
	case DoDeleteJob:
		e.deleteJob(a.Job)
		return
	case DoDeactivate:
		e.deactivateByHand(a.Job)
		return
	case DoActivate:
		e.activate(a.Job)
		return
	}
	if node >= 0 {
		e.changeNode(a.Do, node)
	}
}

func (e *Engine) changeNode(do Deed, node int32) {
	switch do {
	case DoUp:
		e.nodeUp(node)
	case DoCordon:
		e.cordon(node)
	case DoUncordon:
		e.uncordon(node)
	default:
		e.nodeDown(node, do)
	}
}

// endPods ends bound pods of a job, which lives on and replaces them. One that is told to
// end holds its node for its grace, one whose containers failed does not.
func (e *Engine) endPods(a *Action) {
	jb := &e.jobs[a.Job]
	if jb.state != Admitted {
		return
	}
	lost := e.lost[:0]
	for p := jb.podBase; p < jb.podBase+jb.slots; p++ {
		bound := e.pods[p].state == PodStarting || e.pods[p].state == PodReady
		if bound && (p == jb.podBase+a.Rank || a.Rank == workloads.AllPods && e.pods[p].node == a.Node) {
			lost = append(lost, p)
		}
	}
	if e.lost = lost; len(lost) == 0 {
		return
	}
	grace := int64(0)
	if a.Do == DoDeletePod {
		grace = e.termination(a.Job)
	}
	e.losePods(a.Job, CauseFailure, grace, loss{shown: e.now, known: e.endOf(grace)})
}

// endOf is when, to the Job controller, a pod ended that was told to. The controller looks
// at it only after its batch: a pod that is gone by then ended when it went, one that still
// terminates when it was told to.
func (e *Engine) endOf(grace int64) int64 {
	if grace <= e.cfg.Timing.ReadyLag {
		return e.now + grace
	}
	return e.now
}

// deleteJob takes a job away for good. Its quota comes back at once; its pods terminate. One
// that a user took out of its queue has nothing to give back, and cannot be activated again.
func (e *Engine) deleteJob(j int32) {
	switch jb := &e.jobs[j]; jb.state {
	case Admitted:
		e.interrupt(j)
		e.emit(Fail, j, -1, -1, jb.pods)
		e.end(j, Failed, e.grace(j))
		e.signalJob(JobEvicted, j)
		e.releaseLater(j, 0)
	case Queued, Backoff:
		e.emit(Fail, j, -1, -1, jb.pods)
		e.withdraw(j, Failed)
	case Deactivated:
		jb.paused = false
	}
}

// withdraw ends a job that waits.
func (e *Engine) withdraw(j int32, state JobState) {
	jb := &e.jobs[j]
	known := jb.state == Queued && jb.visible
	e.leaveWaiting(j, &e.queued)
	e.countPending(j, -1)
	jb.state, jb.finishedAt, jb.visible = state, e.now, false
	jb.gen++
	e.ended++
	if known {
		e.signalJob(JobWithdrawn, j)
	}
}

// deactivateByHand is a user who takes a job's Workload out of its queue, for the time
// being.
func (e *Engine) deactivateByHand(j int32) {
	switch jb := &e.jobs[j]; jb.state {
	case Admitted:
		e.deactivate(j, CauseDeactivated)
		jb.paused = true
	case Queued, Backoff:
		e.emitFor(CauseDeactivated.why(), Deactivate, j, -1, -1, jb.pods)
		e.withdraw(j, Deactivated)
		jb.paused = true
	}
}

// activate lets a job come back that a user took out of its queue. One that gave up after
// too many timeouts stays out, as in every version of Kueue up to 0.19.2.
func (e *Engine) activate(j int32) {
	jb := &e.jobs[j]
	if jb.state != Deactivated || !jb.paused {
		return
	}
	jb.paused, jb.finishedAt, jb.backoffs = false, -1, 0
	e.ended--
	e.countPending(j, 1)
	jb.queueTime = jb.created
	jb.state, jb.requeueAt = Backoff, e.now
	e.joinWaiting(j, &e.queued)
	if !jb.charged {
		e.returnLater(j)
	}
}
