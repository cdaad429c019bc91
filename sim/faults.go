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
	e.signalPlace(NodeDown, node)
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

// sinkTerminating frees, for the books, the GPUs of pods that terminate on a node that
// goes down; their slots end in their own time.
func (e *Engine) sinkTerminating(node int32) {
	e.allocate(node, -e.nodes.releasing[node][topology.GPU], ledger.Terminating)
}

// nodeUp brings a node back empty.
func (e *Engine) nodeUp(node int32) {
	if !e.nodes.down[node] {
		return
	}
	e.nodes.down[node] = false
	e.refreshAll(node)
	e.allocate(node, -e.cfg.Cluster.Nodes[node].Allocatable[topology.GPU], ledger.Down)
	e.allocate(node, e.nodes.releasing[node][topology.GPU], ledger.Terminating)
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
		e.emit(Evict, j, p-jb.podBase, node, 1)
		e.removePod(p, 0)
		e.signal(Signal{Kind: PodLost, Job: j, Pod: p, Place: node})
	}
	e.noteHolding(j)
	if jb.seenReady {
		jb.seenReady = false
		if r := e.cfg.PodsReady.RecoveryTimeout; r > 0 && e.policy.Readiness && e.cfg.PodsReady.Enabled {
			e.startDeadline(j, e.cfg.Timing.clock(e.now+e.cfg.Timing.ReadyLag)+r)
		}
	}
	e.replaceLost(j)
}

// podsOn lists the job's pods that hold resources of a node. The slice is reused.
func (e *Engine) podsOn(j, node int32) []int32 {
	e.lost = e.lost[:0]
	jb := &e.jobs[j]
	for p := jb.podBase; p < jb.podBase+jb.pods; p++ {
		if e.pods[p].node == node {
			e.lost = append(e.lost, p)
		}
	}
	return e.lost
}

// breakBarrier stops a running job that cannot do without the pods it is about to lose,
// and settles one that can.
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
	jb.advance(e.now)
	e.settle(j)
	for _, p := range lost {
		if e.pods[p].state == PodReady {
			e.account(p, jb.runAccount(), ledger.Held)
		}
	}
}

// replaceLost creates the lost pods again, at once or after the Job controller's backoff.
func (e *Engine) replaceLost(j int32) {
	jb := &e.jobs[j]
	e.joinWaiting(j, &e.unbound)
	t := &e.cfg.Timing
	if t.Replace == 0 {
		e.events.push(e.now, evReplace, j, jb.gen)
		return
	}
	d := t.Replace
	for n := jb.lostPods; n > 0 && d < t.ReplaceMax; n-- {
		d *= 2
	}
	jb.lostPods++
	e.events.push(max(e.now, t.clock(e.now)+min(d, t.ReplaceMax)), evReplace, j, jb.gen)
}

// replace creates every pod of an admitted job that is missing.
func (e *Engine) replace(j int32) {
	jb := &e.jobs[j]
	for p := jb.podBase; p < jb.podBase+jb.podStep; p++ {
		if e.pods[p].state == PodAbsent {
			e.createPod(p)
		}
	}
}
