package sim

import (
	"slices"

	"github.com/gangplan/gangplan/sim/ledger"
	"github.com/gangplan/gangplan/topology"
)

// nodeDown takes a node and everything on it away. Its GPUs are down, whatever they did.
func (e *Engine) nodeDown(node int32) {
	if e.nodes.down[node] {
		return
	}
	for _, j := range e.jobsOn(node) {
		e.losePods(j, node)
	}
	e.sinkTerminating(node)
	e.nodes.down[node] = true
	e.refreshAll(node)
	e.allocate(node, e.cfg.Cluster.Nodes[node].Allocatable[topology.GPU], ledger.Down)
	if e.cfg.Timing.NodeDetect == 0 {
		e.noticeDown(node)
	} else {
		e.events.push(e.now+e.cfg.Timing.NodeDetect, evNodeNoticed, node, 0)
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

// losePods removes a job's pods from a node that is gone. Work stops if the barrier no
// longer holds; the Job controller replaces what was lost.
func (e *Engine) losePods(j, node int32) {
	jb := &e.jobs[j]
	lost := e.podsOn(j, node)
	if len(lost) == 0 {
		return
	}
	e.breakBarrier(j, lost)
	for _, p := range lost {
		e.emitFor(CauseNode.why(), Evict, j, p-jb.podBase, node, 1)
		e.removePod(p, 0)
	}
	e.mendGang(j, lost, e.now+e.cfg.Timing.NodeDetect)
}

// mendGang lets a job that lost pods wait for others in their place. The control plane
// knows of the loss at a time that may lie ahead.
func (e *Engine) mendGang(j int32, lost []int32, known int64) {
	e.noteHolding(j)
	e.startRecovery(j)
	e.replaceLost(j, lost, known)
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

// replaceLost creates lost pods again, at once or after the Job controller's backoff, which
// doubles with every loss until the gang is whole.
func (e *Engine) replaceLost(j int32, lost []int32, at int64) {
	jb := &e.jobs[j]
	e.joinWaiting(j, &e.unbound)
	t := &e.cfg.Timing
	if t.Replace > 0 {
		d := t.Replace
		for n := jb.lostPods; n > 0 && d < t.ReplaceMax; n-- {
			d *= 2
		}
		jb.lostPods++
		at = max(at, t.clock(at)+min(d, t.ReplaceMax))
	}
	for _, p := range lost {
		e.events.push(at, evReplace, p, jb.gen)
	}
}

// replace creates a lost pod again.
func (e *Engine) replace(p int32) {
	if e.pods[p].state == PodAbsent {
		e.createPod(p)
	}
}

// noticeDown tells the controllers of a node that is down, when the control plane has seen it.
func (e *Engine) noticeDown(node int32) {
	if e.nodes.down[node] {
		e.signalPlace(NodeDown, node)
	}
}
