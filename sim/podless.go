package sim

// Under a timing in which the control plane takes its time, thousands of admitted jobs may
// have no pods yet. All of them wait for the same, and where there is room for everybody's
// unbound pods it makes no difference in which order they claim: so they claim at once.

// podlessJobs are the unbound jobs, those without pods apart from the others.
type podlessJobs struct {
	jobs, others []int32 // in no order
	wants        []int64 // milli-GPU of jobs, per slot of maskOf
	claims       int64   // how often all of jobs claimed at once
}

// unboundPlace is where a job is among them.
type unboundPlace struct {
	isPodless bool
	unboundAt int32
	claimsWas int64 // claims when it came
}

func (p *podlessJobs) any() bool { return len(p.jobs) > 0 }

// list returns the list that a job is in.
func (p *podlessJobs) list(jb *job) *[]int32 {
	if jb.isPodless {
		return &p.jobs
	}
	return &p.others
}

// joinUnbound notes a job whose pods have to be bound.
func (e *Engine) joinUnbound(j int32) { e.placeUnbound(j, e.jobs[j].podStep == 0) }

func (e *Engine) placeUnbound(j int32, podless bool) {
	jb, p := &e.jobs[j], &e.podless
	jb.isPodless, jb.claimsWas = podless, p.claims
	list := p.list(jb)
	jb.unboundAt = int32(len(*list))
	*list = append(*list, j)
	e.wantPodless(jb, 1)
}

// leaveUnbound takes a job out. What it claimed with all others it is told now.
func (e *Engine) leaveUnbound(j int32) {
	jb, p := &e.jobs[j], &e.podless
	if jb.isPodless && p.claims > jb.claimsWas {
		jb.refuse(ReasonLatency)
	}
	e.wantPodless(jb, -1)
	list := p.list(jb)
	last := (*list)[len(*list)-1]
	(*list)[jb.unboundAt], e.jobs[last].unboundAt = last, jb.unboundAt
	*list = (*list)[:len(*list)-1]
	jb.isPodless = false
}

// getPods notes that a job has pods from now on, or has a place held for one.
func (e *Engine) getPods(j int32) {
	if e.jobs[j].isPodless {
		e.leaveUnbound(j)
		e.placeUnbound(j, false)
	}
}

func (e *Engine) wantPodless(jb *job, sign int64) {
	if !jb.isPodless {
		return
	}
	for s := jb.setBase; s < jb.setBase+jb.sets; s++ {
		st := &e.sets[s]
		e.podless.wants[st.maskSlot] += sign * st.unbound()
	}
}

// roomForUnbound reports whether every model has GPUs for all unbound pods, and some over.
func (e *Engine) roomForUnbound() bool {
	var want int64
	for _, w := range e.podless.wants {
		want += w
	}
	for _, j := range e.podless.others {
		jb := &e.jobs[j]
		for s := jb.setBase; s < jb.setBase+jb.sets; s++ {
			want += e.sets[s].unbound()
		}
	}
	for _, left := range e.left {
		if left <= want {
			return false
		}
	}
	return true
}

// claimPodless lets the jobs without pods claim.
func (e *Engine) claimPodless() {
	e.podless.claims++
	for slot, want := range e.podless.wants {
		e.claimFor(e.maskOf[slot], want, accountOf[ReasonLatency])
	}
}
