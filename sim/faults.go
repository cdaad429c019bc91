package sim

import (
	"slices"

	"github.com/gangplan/gangplan/sim/ledger"
	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/workloads"
)

// nodeDown takes a node and everything on it away. Its GPUs are down, whatever they did.
func (e *Engine) nodeDown(node int32, do Deed) {
	if e.nodes.down[node] {
		return
	}
	e.sinking = true
	for _, j := range e.jobsOn(node) {
		e.podsOn(j, node)
		l := e.lossOf(j, do)
		e.losePods(j, CauseNode, 0, l)
		if do != DoDelete {
			e.noticeLater(node, j, l.known)
		}
	}
	e.sinkTerminating(node)
	e.sinking = false
	e.nodes.down[node] = true
	e.refreshAll(node)
	e.allocate(node, e.cfg.Cluster.Nodes[node].Allocatable[topology.GPU], ledger.Down)
	if do == DoDelete {
		e.noticeLater(node, -1, e.now+e.cfg.Timing.NodeGone)
	} else {
		e.noticeLater(node, -1, e.now+e.condition(do)+e.cfg.Timing.NodeTaint+e.cfg.Timing.Tolerate)
	}
}

// loss is what the control plane knows of pods that a job lost: when their readiness is
// gone, and when, to the Job controller, they ended. Never is for ever.
type loss struct{ shown, known int64 }

// lossOf is when the loss of a job's pods on a node that goes is known.
func (e *Engine) lossOf(j int32, do Deed) loss {
	t := &e.cfg.Timing
	if do == DoDelete {
		return loss{e.now + t.PodGC, e.now + t.PodGC}
	}
	gone := int64(Never)
	if d := e.toleration(j); d < workloads.MaxTime {
		gone = e.now + e.condition(do) + t.NodeTaint + d
	}
	if do == DoUnreachable {
		return loss{gone, gone}
	}
	return loss{e.now + e.condition(do), gone}
}

// condition is how long it takes until a node's condition says that it is gone. Whoever
// sets the condition by hand, as DoUnreachable is, does not mark its pods as not ready.
func (e *Engine) condition(do Deed) int64 {
	if do == DoUnreachable {
		return 0
	}
	return e.cfg.Timing.NodeDetect
}

// toleration is how long a job's pods stay on a node that has the taint NoExecute; for ever
// from workloads.MaxTime on.
func (e *Engine) toleration(j int32) int64 {
	return e.cfg.Jobs[j].Tolerate.Or(e.cfg.Timing.Tolerate)
}

// noticeLater tells the controllers at a time that a node is lost: to one job whose pods
// are given up by then, or to all.
func (e *Engine) noticeLater(node, j int32, at int64) {
	switch at {
	case e.now:
		e.noticeDown(node, j)
	case Never:
	default:
		e.events.push(at, evNodeNoticed, node, uint32(j+1))
	}
}

// cordon closes a node to pods that are not there yet.
func (e *Engine) cordon(node int32) {
	e.nodes.cordonGen[node]++
	e.nodes.cordoned[node] = true
	e.refreshAll(node)
}

// uncordon opens a node again. Schedulers look at once, in vain: the node has a taint until
// the node controller takes it away.
func (e *Engine) uncordon(node int32) {
	if !e.nodes.cordoned[node] {
		return
	}
	e.signalUp(node)
	if d := e.cfg.Timing.Untaint; d > 0 {
		e.events.push(e.now+d, evUntaint, node, e.nodes.cordonGen[node])
		return
	}
	e.untaint(node)
}

func (e *Engine) untaint(node int32) {
	e.nodes.cordoned[node] = false
	e.refreshAll(node)
	e.signalUp(node)
}

// signalUp says that pods may find room on a node, if it is up.
func (e *Engine) signalUp(node int32) {
	if !e.nodes.down[node] {
		e.signalPlace(NodeUp, node)
	}
}

// jobsOn lists the admitted jobs with a pod on a node, in the order of the trace.
func (e *Engine) jobsOn(node int32) []int32 {
	var jobs []int32
	for _, j := range e.active {
		if len(e.podsOn(j, node)) > 0 {
			jobs = append(jobs, j)
		}
	}
	slices.Sort(jobs)
	return jobs
}

// sinkTerminating ends the pods that terminate on a node that goes down.
func (e *Engine) sinkTerminating(node int32) {
	for id := range e.slots.all {
		if e.slots.all[id].node == node {
			e.endTerminating(int32(id))
		}
	}
}

// nodeUp brings a node back empty.
func (e *Engine) nodeUp(node int32) {
	if !e.nodes.down[node] {
		return
	}
	e.nodes.down[node] = false
	e.refreshAll(node)
	e.allocate(node, -e.cfg.Cluster.Nodes[node].Allocatable[topology.GPU], ledger.Down)
	e.signalPlace(NodeUp, node)
}

func (e *Engine) refreshAll(node int32) {
	e.refresh(Physical, node)
	e.refresh(Assigned, node)
}

// losePods takes the pods in e.lost from a job. Work stops if the barrier no longer holds;
// the Job controller replaces what was lost.
func (e *Engine) losePods(j int32, c Cause, grace int64, l loss) {
	jb := &e.jobs[j]
	e.breakBarrier(j, e.lost)
	for _, p := range e.lost {
		e.emitFor(c.why(), Evict, j, p-jb.podBase, e.pods[p].node, 1)
		e.removePod(p, grace)
	}
	e.mendGang(j, e.lost, l)
}

// mendGang lets a job that lost pods wait for others in their place. The control plane
// knows of the loss at times that may lie ahead.
func (e *Engine) mendGang(j int32, lost []int32, l loss) {
	e.noteHolding(j)
	at := e.replaceLost(j, lost, l.known)
	switch {
	case e.cfg.Timing.FrozenStatus:
		e.startRecovery(j, at)
	case l.shown != Never:
		e.startRecovery(j, l.shown+e.cfg.Timing.ReadyLag)
	}
}

// podsOn lists the job's pods that hold resources of a node. The slice is reused.
func (e *Engine) podsOn(j, node int32) []int32 {
	e.lost = e.lost[:0]
	jb := &e.jobs[j]
	for p := jb.podBase; p < jb.podBase+jb.slots; p++ {
		if e.pods[p].node == node {
			e.lost = append(e.lost, p)
		}
	}
	return e.lost
}

// breakBarrier stops a running job that cannot do without the pods it is about to lose,
// and resizes one that can.
func (e *Engine) breakBarrier(j int32, lost []int32) {
	jb := &e.jobs[j]
	if !jb.running {
		return
	}
	for _, p := range lost {
		if e.pods[p].state == PodReady {
			e.sets[e.pods[p].set].ready--
		}
	}
	holds := true
	for s := jb.setBase; s < jb.setBase+jb.sets; s++ {
		holds = holds && e.sets[s].ready >= e.sets[s].min
	}
	for _, p := range lost {
		if e.pods[p].state == PodReady {
			e.sets[e.pods[p].set].ready++
		}
	}
	if !holds {
		e.interrupt(j)
		return
	}
	e.resize(j)
	for _, p := range lost {
		if e.pods[p].state == PodReady {
			e.account(p, jb.runAccount(), ledger.Held)
		}
	}
}

// replaceLost creates lost pods again, at once or after the Job controller's backoff, and
// returns when. The backoff doubles with every pod that was lost since one succeeded, and
// outlives an eviction.
func (e *Engine) replaceLost(j int32, lost []int32, known int64) (at int64) {
	jb := &e.jobs[j]
	e.joinWaiting(j, &e.unbound)
	if known == Never {
		return Never
	}
	t := &e.cfg.Timing
	if at = known; t.Replace > 0 {
		jb.lostPods += int32(len(lost))
		d := t.Replace
		for n := jb.lostPods; n > 1 && d < t.ReplaceMax; n-- {
			d *= 2
		}
		at = max(at, t.clock(known)+min(d, t.ReplaceMax))
		jb.lossKnown, jb.noPodsUntil = known, at
	}
	for _, p := range lost {
		e.events.push(at, evReplace, p, jb.gen)
	}
	return at
}

// replace creates a lost pod again, unless others were lost since: there is one backoff for
// all pods of a job.
func (e *Engine) replace(p int32) {
	if e.pods[p].state != PodAbsent {
		return
	}
	if jb := &e.jobs[e.pods[p].job]; jb.noPodsUntil > e.now && jb.lossKnown <= e.now {
		e.events.push(jb.noPodsUntil, evReplace, p, jb.gen)
		return
	}
	e.createPod(p)
}

// noticeDown tells the controllers of a node that is down: one job's pods on it are given
// up, or with -1 everybody's.
func (e *Engine) noticeDown(node, j int32) {
	if e.nodes.down[node] {
		e.signal(Signal{Kind: NodeDown, Job: j, Pod: -1, Place: node})
	}
}
