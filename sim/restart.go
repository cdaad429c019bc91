package sim

import (
	"github.com/gangplan/gangplan/sim/ledger"
	"github.com/gangplan/gangplan/workloads"
)

// restart lets containers of a job fail and start again on their nodes. They hold their
// GPUs meanwhile; work stops if the barrier does not hold without them, and what was not
// safe is lost. Where waitForPodsReady has a recovery timeout its clock starts.
func (e *Engine) restart(j int32, r *workloads.Restart) {
	jb := &e.jobs[j]
	failed := e.lost[:0]
	for p := jb.podBase; p < jb.podBase+jb.slots; p++ {
		up := e.pods[p].state == PodReady || e.pods[p].state == PodStarting
		if up && (r.Rank == workloads.AllPods || p == jb.podBase+r.Rank) {
			failed = append(failed, p)
		}
	}
	if e.lost = failed; len(failed) == 0 {
		return
	}
	e.breakBarrier(j, failed)
	for _, p := range failed {
		e.restartPod(p, r.Ready)
	}
	e.noteHolding(j)
	e.startRecovery(j, e.now+e.cfg.Timing.ReadyLag)
}

// restartPod sends a bound pod back to the beginning of its start-up.
func (e *Engine) restartPod(p int32, ready int64) {
	pd := &e.pods[p]
	jb, st := &e.jobs[pd.job], &e.sets[pd.set]
	rank := p - jb.podBase
	e.emit(Evict, pd.job, rank, pd.node, 1)
	e.emit(Bind, pd.job, rank, pd.node, 1)
	if pd.state == PodReady {
		e.unready(p)
		e.account(p, ledger.Held, ledger.Starting)
		e.startingPods++
	}
	pd.state = PodStarting
	pd.gen++
	if rank-st.first < st.count-st.neverReady {
		e.events.push(e.now+ready, evPodReady, p, pd.gen)
	}
}

// unready takes a pod out of the count of those that are ready.
func (e *Engine) unready(p int32) {
	jb, st := &e.jobs[e.pods[p].job], &e.sets[e.pods[p].set]
	jb.ready--
	st.ready--
	if st.ready == st.min-1 {
		jb.setsReady--
	}
}

// startRecovery starts the clock of a gang that was whole and is not any more, at the time
// when its Workload says so.
func (e *Engine) startRecovery(j int32, shown int64) {
	jb := &e.jobs[j]
	if !jb.seenReady || shown == Never {
		return
	}
	jb.seenReady = false
	if r := e.cfg.PodsReady.RecoveryTimeout; r > 0 && e.policy.Readiness && e.cfg.PodsReady.Enabled {
		e.startDeadline(j, e.cfg.Timing.clock(shown)+r)
	}
}
