package sim

import (
	"github.com/gangplan/gangplan/sim/ledger"
	"github.com/gangplan/gangplan/topology"
)

// A job with completions is a batch Job of Kubernetes: so many pods have to run to their
// end, as many at a time as it has, one wave after the other. When fewer are left than it
// was admitted with, the rest is reclaimed: their quota comes back while the job runs.

// nextWave begins the next wave of a job whose pods have all done their work, and reports
// whether there is one. What a wave did is done.
func (e *Engine) nextWave(j int32) bool {
	jb, spec := &e.jobs[j], &e.cfg.Jobs[j]
	if jb.completed += jb.ready; jb.completed >= spec.Completions {
		return false
	}
	e.settle(j)
	e.stopRunning(j, ledger.Held)
	e.safeAt, e.spinning = e.now, 0
	for p := jb.podBase; p < jb.podBase+jb.slots; p++ {
		if e.pods[p].state == PodReady || e.pods[p].state == PodStarting {
			e.emit(Evict, j, p-jb.podBase, e.pods[p].node, 1)
		}
	}
	e.removePods(j, 0)
	jb.remaining = ledger.Shl32(spec.Duration)
	jb.safe = jb.remaining
	jb.podStep, jb.lostPods, jb.noPodsUntil = 0, 0, 0
	if left := spec.Completions - jb.completed; left < jb.pods {
		e.unassignFrom(j, left)
		e.count(j, WantedGPUs, int64(left-jb.pods)*e.sets[jb.setBase].request[topology.GPU])
		e.grant(jb.setBase, left, left)
		e.after(e.cfg.Timing.FinishLag, evReclaim, j)
	}
	e.joinWaiting(j, &e.unbound)
	e.firstWave(j, e.cfg.Timing.ReadyLag)
	return true
}

// unassignFrom ends the topology assignment of the ranks from the n-th on.
func (e *Engine) unassignFrom(j, n int32) {
	jb := &e.jobs[j]
	for p := jb.podBase + n; p < jb.podBase+jb.slots; p++ {
		e.unassignPod(p)
	}
}

// reclaim gives back the quota of the pods that an admitted job needs no more.
func (e *Engine) reclaim(j int32) {
	jb := &e.jobs[j]
	if !jb.charged || jb.chargedPods <= jb.pods {
		return
	}
	before := jb.chargedPods
	for i := range jb.holds {
		it := &jb.holds[i]
		less := it.Amount / int64(before) * int64(before-jb.pods)
		it.Amount -= less
		e.quota.Free(jb.queue, it.FR, less)
	}
	e.reservedRate -= int64(before-jb.pods) * e.sets[jb.setBase].request[topology.GPU]
	jb.chargedPods = jb.pods
	e.signal(Signal{Kind: QuotaReclaimed, Job: j, Pod: -1, Place: jb.queue})
}

// pending returns how many pods of a PodSet are still to run to their end at once.
func (e *Engine) pending(j, full int32) int32 {
	if n := e.cfg.Jobs[j].Completions; n > 0 {
		return min(full, n-e.jobs[j].completed)
	}
	return full
}
