package sim

import (
	"github.com/gangplan/gangplan/sim/ledger"
	"github.com/gangplan/gangplan/sim/order"
	"github.com/gangplan/gangplan/topology"
)

// arrive submits the next job of the trace and schedules the arrival after it.
func (e *Engine) arrive(j int32) {
	spec := &e.cfg.Jobs[j]
	jb := &e.jobs[j]
	e.arrived++
	if int(j)+1 < len(e.jobs) {
		e.events.push(e.cfg.Jobs[j+1].Submit, evArrival, j+1, 0)
	}
	jb.state, jb.created = Queued, e.cfg.Timing.clock(e.now)
	visible := int64(0)
	if e.policy.Readiness { // a Workload stands for it
		created := e.reconcile(j, e.cfg.Timing.Workload, stepWorkload)
		jb.created = e.cfg.Timing.clock(created)
		e.seeJob(SawQueued, j, created)
		visible = created - e.now + e.cfg.Timing.JobVisible
	}
	jb.queueTime = jb.created
	jb.remaining = ledger.Shl32(spec.Duration)
	jb.safe = jb.remaining
	e.emit(Submit, j, -1, jb.queue, jb.pods)
	e.countPending(j, 1)
	if !e.fitsEmpty(j) || !e.policy.Admitter.CanEver(e.tx.View, j) {
		jb.neverFits = true
		e.find(Finding{Kind: NeverFits, Time: e.now, Jobs: []int32{j}, Detail: "asks for more than the empty cluster or the whole quota can give"})
	}
	e.joinWaiting(j, &e.queued)
	e.after(visible, evVisible, j)
	e.starving++
	e.events.push(e.now+e.starvationAfter(), evStarvation, j, 0)
}

func (e *Engine) starvationAfter() int64 {
	if e.cfg.StarvationAfter > 0 {
		return e.cfg.StarvationAfter
	}
	return DefaultStarvationAfter
}

// after schedules a step of a job's life, or takes it at once when it takes no time.
func (e *Engine) after(d int64, kind eventKind, j int32) {
	ev := event{time: e.now + d, kind: kind, id: j, gen: e.jobs[j].gen}
	if d == 0 {
		e.handle(ev)
		return
	}
	e.events.push(ev.time, kind, j, ev.gen)
}

// joinWaiting puts a job among those that may claim free GPUs, if it wants any and could
// ever have them.
func (e *Engine) joinWaiting(j int32, l *order.List) {
	if !e.jobs[j].neverFits && e.total(j)[topology.GPU] > 0 && !e.waitArena.Contains(j) {
		l.Insert(j, e.waitKey(j))
		e.countWaiting(j, 1)
		if l == &e.unbound {
			e.joinUnbound(j)
		}
	}
}

func (e *Engine) waitKey(j int32) order.Key {
	return order.Key{Priority: e.cfg.Jobs[j].Priority, Time: e.jobs[j].queueTime, Seq: e.serial(j)}
}

// leaveWaiting takes a job out of the list of claimants it is in, if any.
func (e *Engine) leaveWaiting(j int32, l *order.List) {
	if e.waitArena.Contains(j) {
		l.Remove(j)
		e.countWaiting(j, -1)
		if l == &e.unbound {
			e.leaveUnbound(j)
		}
	}
}

func (e *Engine) countWaiting(j int32, by int32) {
	jb := &e.jobs[j]
	for s := jb.setBase; s < jb.setBase+jb.sets; s++ {
		if e.sets[s].request[topology.GPU] > 0 {
			e.waiting[e.sets[s].maskSlot] += by
		}
	}
}

// show makes a queued job known to the Admitter.
func (e *Engine) show(j int32) {
	e.jobs[j].visible = true
	e.signalJob(JobQueued, j)
}

// admitted starts a life of a job: its pods will be created, its readiness clock runs.
func (e *Engine) admitted(j int32) {
	jb := &e.jobs[j]
	e.leaveWaiting(j, &e.queued)
	e.countPending(j, -1)
	e.countAdmitted(j, 1)
	jb.state = Admitted
	jb.gen++
	jb.activeAt = int32(len(e.active))
	e.active = append(e.active, j)
	jb.admittedAt, jb.limitAt = e.now, Never
	jb.podStep, jb.started, jb.seenReady, jb.watched = 0, false, false, false
	e.stretch(j)
	if jb.firstAdmit < 0 {
		jb.firstAdmit = e.now
	}
	e.emitFor(Why(jb.waited), Admit, j, -1, jb.queue, jb.pods)
	jb.waited = ReasonNone
	e.joinWaiting(j, &e.unbound)
	e.unsuspend(j)
	if limit := e.cfg.Jobs[j].AdmittedLimit; limit > 0 && jb.charged {
		e.events.push(e.now+limit-jb.spent, evBudget, j, jb.gen)
	}
	if e.policy.Readiness && e.cfg.PodsReady.Enabled {
		e.startDeadline(j, e.cfg.Timing.clock(e.now)+e.cfg.PodsReady.Timeout)
	}
}

func (e *Engine) startDeadline(j int32, at int64) {
	jb := &e.jobs[j]
	jb.deadlineGen++
	e.events.push(max(e.now, at+e.cfg.Timing.DeadlineLag), evReadyDeadline, j, jb.deadlineGen)
}

// bindPod puts a pod on a node for good and starts it.
func (e *Engine) bindPod(p, node int32) {
	pd := &e.pods[p]
	jb := &e.jobs[pd.job]
	st := &e.sets[pd.set]
	pd.state, pd.node = PodStarting, node
	pd.gen++
	e.nominate(p, -1)
	e.emitFor(Why(jb.waited), Bind, pd.job, p-jb.podBase, node, 1)
	e.signalPod(PodBound, p)
	e.allocate(node, st.request[topology.GPU], ledger.Starting)
	e.count(pd.job, WantedGPUs, -st.request[topology.GPU])
	e.count(pd.job, BoundGPUs, st.request[topology.GPU])
	st.bound++
	jb.bound++
	if jb.charged {
		e.reservedRate -= st.request[topology.GPU]
	}
	if jb.bound == jb.pods {
		e.leaveWaiting(pd.job, &e.unbound)
	}
	e.noteHolding(pd.job)
	if p-jb.podBase-st.first < st.count-st.neverReady {
		e.startingPods++
		e.startPod(p)
	}
}

// startPod schedules the end of a pod's start-up. The pod counts as starting until then.
func (e *Engine) startPod(p int32) {
	pd := &e.pods[p]
	d := e.startUp(p)
	if d == 0 {
		e.podReady(p)
		return
	}
	e.events.push(e.now+d, evPodReady, p, pd.gen)
}

func (e *Engine) podReady(p int32) {
	pd := &e.pods[p]
	j := pd.job
	jb := &e.jobs[j]
	st := &e.sets[pd.set]
	e.startingPods--
	e.emit(Ready, j, p-jb.podBase, pd.node, 1)
	to := ledger.Held
	if jb.running {
		e.resize(j)
		to = jb.runAccount()
	}
	pd.state = PodReady
	e.account(p, ledger.Starting, to)
	jb.ready++
	st.ready++
	if st.ready == st.min {
		jb.setsReady++
	}
	e.watchStatus(j)
	if !jb.running && jb.setsReady == jb.sets {
		e.barrier(j)
	}
}

// account moves a bound pod's GPUs between accounts.
func (e *Engine) account(p int32, from, to ledger.Account) {
	pd := &e.pods[p]
	e.transfer(pd.node, e.sets[pd.set].request[topology.GPU], from, to)
}

// watchStatus lets the Job controller look at a job of which a pod became ready. It does so
// in batches: what becomes ready before it looks is seen together.
func (e *Engine) watchStatus(j int32) {
	jb := &e.jobs[j]
	switch {
	case e.cfg.Timing.ReadyLag == 0:
		e.seeReady(j)
	case !jb.watched:
		jb.watched = true
		e.events.push(e.now+e.cfg.Timing.ReadyLag, evPodsReadySeen, j, jb.gen)
	}
}

// seeReady stops the readiness clock of a gang that is whole.
func (e *Engine) seeReady(j int32) {
	jb := &e.jobs[j]
	jb.watched = false
	if jb.ready != jb.pods || jb.seenReady {
		return
	}
	jb.seenReady = true
	jb.deadlineGen++
	e.signalJob(JobReady, j)
}

// barrier lets a job whose start barrier holds work.
func (e *Engine) barrier(j int32) {
	jb := &e.jobs[j]
	e.emit(Barrier, j, -1, -1, jb.ready)
	jb.waited = ReasonNone
	if jb.firstStart < 0 {
		jb.firstStart = e.now
		e.countStart(j)
		e.spinning = 0
	}
	if limit := e.cfg.Jobs[j].TimeLimit; limit > 0 && !jb.started {
		jb.limitAt = e.now + limit
		e.events.push(jb.limitAt, evTimeLimit, j, jb.gen)
	}
	jb.started = true
	e.run(j)
	e.noteHolding(j)
}

// noteHolding keeps count of the jobs that hold GPUs behind an open barrier, and starts
// or stops the clock of the human who finds them.
func (e *Engine) noteHolding(j int32) {
	jb := &e.jobs[j]
	holds := jb.bound > 0 && !jb.running && e.total(j)[topology.GPU] > 0
	if holds == jb.holding {
		return
	}
	jb.holding = holds
	jb.noticeGen++
	e.holdingSet ^= mix(uint64(j))
	if !holds {
		e.holding--
		return
	}
	e.holding++
	if e.cfg.Notice.After > 0 {
		e.events.push(e.now+e.cfg.Notice.After, evNotice, j, jb.noticeGen)
	}
}

// finish ends a job whose work is done. Its pods exit at once; the quota comes back when
// the control plane has seen it.
func (e *Engine) finish(j int32) {
	jb := &e.jobs[j]
	jb.advance(e.now)
	if e.cfg.Jobs[j].Completions > 0 && e.nextWave(j) {
		return
	}
	e.settle(j)
	e.stopRunning(j, ledger.Held)
	e.finishedAt = e.now
	e.spinning = 0
	e.emit(Finish, j, -1, -1, jb.pods)
	e.end(j, Finished, 0)
	lag := e.finishLag(jb.pods)
	e.seeJob(SawFinished, j, e.now+lag)
	e.releaseLater(j, lag)
}

// finishLag is how long after the last of its pods exited a job's quota is back. The Job
// controller looks at them after its batch, and takes the finalizer of each away.
func (e *Engine) finishLag(pods int32) int64 {
	t := &e.cfg.Timing
	seen := e.now + min(t.ReadyLag, t.FinishLag)
	return t.FinishLag + e.limits.jobs.all(pods, seen) - seen
}

// fail ends a job for good, short of its work.
func (e *Engine) fail(j int32, c Cause) {
	jb := &e.jobs[j]
	e.interrupt(j)
	jb.evictions[c]++
	e.emitFor(c.why(), Fail, j, -1, -1, jb.pods)
	e.end(j, Failed, e.termination(j))
	e.releaseLater(j, e.releaseDelay(j))
}

// end closes the life of a job for good.
func (e *Engine) end(j int32, state JobState, grace int64) {
	e.leaveAdmitted(j, state, grace)
	e.jobs[j].finishedAt = e.now
	e.ended++
}

// leaveAdmitted takes an admitted job's pods away and makes the timers of this life dead.
func (e *Engine) leaveAdmitted(j int32, state JobState, grace int64) {
	jb := &e.jobs[j]
	e.removePods(j, grace)
	e.unstretch(j)
	jb.spent += e.now - jb.admittedAt
	e.leaveWaiting(j, &e.unbound)
	last := e.active[len(e.active)-1]
	e.active[jb.activeAt], e.jobs[last].activeAt = last, jb.activeAt
	e.active = e.active[:len(e.active)-1]
	e.countAdmitted(j, -1)
	if state == Backoff {
		e.countPending(j, 1)
	}
	jb.state = state
	jb.gen++
	jb.deadlineGen++
}
