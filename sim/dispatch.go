package sim

// handle dispatches an event to what it does, by its subject, if that still lives that life.
func (e *Engine) handle(ev event) {
	switch {
	case ev.kind == evPodGone:
		e.podGone(ev.id) // also where a node took the pod down: until now its slot was taken
	case e.alive(&ev):
		e.handleAlive(ev)
	}
}

// alive reports whether an event's subject still lives the life it was scheduled for.
func (e *Engine) alive(ev *event) bool {
	switch ev.kind {
	case evBringUp, evTakeDown, evConfigure, evArrival, evStarvation, evAdmitterWake, evBinderWake, evNodeNoticed, evQuotaRelease:
		return true // these come whatever became of it
	case evPodRestart:
		return e.jobs[ev.id].state == Admitted
	case evUntaint:
		return e.nodes.cordonGen[ev.id] == ev.gen
	case evPodGone:
		return e.slots.all[ev.id].node >= 0
	case evReplace, evPodCreate, evPodShow:
		return e.jobs[e.pods[ev.id].job].gen == ev.gen
	case evPodReady, evHoldEnd:
		return e.pods[ev.id].gen == ev.gen
	case evJobFinish:
		return e.jobs[ev.id].finishGen == ev.gen
	case evCheckpointStart, evCheckpointEnd:
		return e.jobs[ev.id].runGen == ev.gen
	case evReadyDeadline:
		return e.jobs[ev.id].deadlineGen == ev.gen
	case evNotice:
		return e.jobs[ev.id].noticeGen == ev.gen
	}
	return e.jobs[ev.id].gen == ev.gen
}

func (e *Engine) handleAlive(ev event) {
	switch ev.kind {
	case evBringUp, evTakeDown, evConfigure:
		e.countDeed(&e.cfg.Actions[ev.id], -1)
		e.act(&e.cfg.Actions[ev.id])
	case evAdmitterWake:
		e.woken++
		e.admit.woken(e.now)
	case evBinderWake:
		e.bind.woken(e.now)
	case evUntaint:
		e.untaint(ev.id)
	case evNodeNoticed:
		e.noticeDown(ev.id, int32(ev.gen)-1)
	case evPodReady:
		e.podReady(ev.id)
	case evHoldEnd:
		e.endHold(ev.id)
	case evReplace:
		e.replace(ev.id)
	case evPodCreate, evPodShow:
		e.called(ev.kind, ev.id)
	case evPodRestart:
		e.restart(ev.id, &e.cfg.Jobs[ev.id].Restarts[ev.gen])
	default:
		e.handleJob(ev.kind, ev.id)
	}
}

// handleJob dispatches what comes to a job as a whole.
func (e *Engine) handleJob(kind eventKind, j int32) {
	switch kind {
	case evArrival:
		e.arrive(j)
	case evVisible:
		e.show(j)
	case evPodWave:
		e.createNow = append(e.createNow, turn{j, e.jobs[j].gen})
	case evPodVisible:
		e.showPods(j)
	case evPodsReadySeen:
		e.seeReady(j)
	case evJobFinish:
		e.finishDue(j)
	case evCheckpointStart:
		e.startCheckpoint(j)
	case evCheckpointEnd:
		e.endCheckpoint(j)
	case evReadyDeadline:
		e.readyTimeout(j)
	case evNotice:
		e.noticed(j)
	case evReclaim:
		e.reclaim(j)
	case evQuotaRelease:
		e.releaseQuota(j)
	case evBackoffEnd:
		e.requeue(j)
	case evTimeLimit:
		e.fail(j, CauseDeadline)
	case evBudget:
		e.deactivate(j, CauseDeadline)
	case evStarvation:
		e.starving--
		e.checkStarvation(j)
	}
}
