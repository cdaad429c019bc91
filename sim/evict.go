package sim

// evict takes a job's admission away: its progress since the last safe point is lost,
// its pods terminate, its quota comes back as its kind of job does it, and it returns to
// its queue when that is done and its backoff is over.
func (e *Engine) evict(j int32, c Cause) {
	jb := &e.jobs[j]
	jb.evictions[c]++
	e.emitFor(c.why(), Evict, j, -1, -1, jb.pods)
	e.interrupt(j)
	e.dismiss(j, Backoff)
	jb.queueTime = jb.created
	if c == CausePodsReady && !e.cfg.PodsReady.FromCreation {
		jb.queueTime = e.cfg.Timing.clock(e.now)
	}
	jb.requeueAt = e.now
	if c == CausePodsReady {
		jb.requeueAt = e.cfg.Timing.clock(e.now) + e.cfg.PodsReady.backoff(jb.backoffs)
	}
	e.joinWaiting(j, &e.queued)
	e.noteEviction(j)
	if jb.charged {
		e.releaseLater(j, e.releaseDelay(j))
	} else {
		e.returnLater(j)
	}
}

// dismiss ends an admission that did not come to its end, with the grace pods get.
func (e *Engine) dismiss(j int32, state JobState) {
	e.leaveAdmitted(j, state, e.grace(j))
	e.signalJob(JobEvicted, j)
}

// grace is how long the pods of an evicted job hold their nodes.
func (e *Engine) grace(j int32) int64 {
	return e.cfg.Timing.EvictStop + e.termination(j)
}

// termination is how long a pod of a job takes to end when it is told to.
func (e *Engine) termination(j int32) int64 {
	return e.cfg.Jobs[j].Termination.Or(e.cfg.Timing.Termination)
}

// releaseDelay is how long an evicted job keeps its quota: a batch Job until the control
// plane has seen that it is suspended, plain pods until they are gone.
func (e *Engine) releaseDelay(j int32) int64 {
	if e.cfg.Jobs[j].PlainPods {
		return e.grace(j)
	}
	return e.cfg.Timing.EvictRelease
}

// releaseLater gives a job's quota back after a delay.
func (e *Engine) releaseLater(j int32, delay int64) {
	switch {
	case !e.jobs[j].charged:
	case delay == 0:
		e.releaseQuota(j)
	default:
		e.events.push(e.now+delay, evQuotaRelease, j, 0)
	}
}

// releaseQuota gives back the quota of a job and the assignment that came with it.
func (e *Engine) releaseQuota(j int32) {
	jb := &e.jobs[j]
	e.uncharge(j)
	e.unassign(j)
	e.grantAll(j)
	e.see(SawReleased, jb.podBase, -1)
	e.signal(Signal{Kind: QuotaFreed, Job: j, Pod: -1, Place: jb.queue})
	if jb.state == Backoff {
		e.returnLater(j)
	}
}

// returnLater schedules the return of an evicted job whose quota is back.
func (e *Engine) returnLater(j int32) {
	jb := &e.jobs[j]
	at := jb.requeueAt
	if at > e.now {
		at += e.cfg.Timing.Requeue
	}
	e.events.push(max(at, e.now), evBackoffEnd, j, jb.gen)
}

// requeue returns an evicted job to its queue.
func (e *Engine) requeue(j int32) {
	jb := &e.jobs[j]
	jb.state = Queued
	jb.requeues++
	e.emit(Requeue, j, -1, jb.queue, jb.pods)
	e.show(j)
}

// readyTimeout is the end of a gang's patience: it backs off, or gives up when it has
// done so too often.
func (e *Engine) readyTimeout(j int32) {
	jb := &e.jobs[j]
	limit := e.cfg.PodsReady.BackoffLimit
	if limit >= 0 && jb.backoffs+1 > limit {
		e.deactivate(j, CauseDeactivated)
		return
	}
	jb.backoffs++
	e.evict(j, CausePodsReady)
}

// deactivate takes a job's admission away for good: its queue gives it up.
func (e *Engine) deactivate(j int32, c Cause) {
	jb := &e.jobs[j]
	jb.evictions[c]++
	e.emitFor(c.why(), Deactivate, j, -1, -1, jb.pods)
	e.interrupt(j)
	e.dismiss(j, Deactivated)
	e.ended++
	e.noteEviction(j)
	e.releaseLater(j, e.releaseDelay(j))
}

// noticed is the moment a human finds the job hanging.
func (e *Engine) noticed(j int32) {
	if e.cfg.Notice.Action == Kill {
		e.fail(j, CauseNotice)
		return
	}
	e.evict(j, CauseNotice)
}
