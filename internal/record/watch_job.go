package record

import (
	"cmp"
	"slices"
)

// This file makes a Job of what was seen of a unit.

// submitted is when the unit came into being, in nanoseconds since 1970.
func (u *unit) submitted(c *clock) (at int64) {
	for _, list := range [][]*thing{u.jobs, u.workloads, u.pods} {
		for _, t := range list {
			if x := c.at(t, t.created); at == 0 || x < at {
				at = x
			}
		}
		if at != 0 {
			break
		}
	}
	return at
}

// record returns the unit as a job.
func (u *unit) record(c *clock, id string) Job {
	j := Job{Name: id, Submit: u.submitted(c) - c.zero, WorkloadCreated: Never}
	for _, t := range u.workloads {
		if at := c.at(t, t.created) - c.zero; j.WorkloadCreated == Never || at < j.WorkloadCreated {
			j.WorkloadCreated = at
		}
		for i := range t.changes {
			j.fromWorkload(&t.changes[i], c.at(t, t.changes[i].moment)-c.zero, c.zero)
		}
	}
	for _, t := range u.jobs {
		for i := range t.changes {
			j.fromJob(t.changes[i].kind, c.at(t, t.changes[i].moment)-c.zero)
		}
	}
	u.fromPods(&j, c)
	if len(u.workloads) == 0 {
		j.Finished = j.JobComplete
	}
	j.State = u.state(&j)
	return j
}

func (j *Job) fromWorkload(x *change, at, zero int64) {
	switch x.kind {
	case admitted, moved:
		j.granted(x, at)
	case cleared:
		j.Cleared = append(j.Cleared, at)
	case evicted:
		j.Evictions = append(j.Evictions, Eviction{at, x.reason})
	case requeued:
		r := Requeue{At: at, Until: Never, Count: int32(x.queue.count)}
		if x.queue.until != 0 {
			r.Until = x.queue.until - zero
		}
		j.Requeues = append(j.Requeues, r)
	case deactivated:
		j.Deactivated = append(j.Deactivated, at)
	case finished:
		j.Finished = append(j.Finished, at)
	}
}

// granted notes an admission, or an assignment that another takes the place of.
func (j *Job) granted(x *change, at int64) {
	a, placed := Assignment{At: at}, false
	var counts []int32
	for _, set := range x.given {
		var slots []Slot
		for _, h := range set.Hosts {
			slots = append(slots, Slot{h.Name, h.Pods})
		}
		counts, a.Slots = append(counts, set.Pods), append(a.Slots, slots)
		placed = placed || slots != nil
	}
	if placed {
		j.Assignments = append(j.Assignments, a)
	}
	if x.kind == admitted {
		j.Admissions = append(j.Admissions, Admission{at, counts})
	}
}

func (j *Job) fromJob(kind changeKind, at int64) {
	switch kind {
	case suspended:
		j.Suspended = append(j.Suspended, at)
	case unsuspended:
		j.Unsuspended = append(j.Unsuspended, at)
	case complete:
		j.JobComplete = append(j.JobComplete, at)
	}
}

// turn is a change of the numbers of pods.
type turn struct {
	at                 int64
	order              int // within the same second, as they were printed
	bound, ready, done int32
}

// life is a pod over time, as it changes the numbers.
type life struct {
	bound, ready bool
	order        int // of what comes next
	turns        []turn
}

// be is that a pod is bound or not, and ready or not, from a time on.
func (l *life) be(at int64, bound, ready bool, done int32) {
	x := turn{at, l.order, one(bound) - one(l.bound), one(ready) - one(l.ready), done}
	if l.bound, l.ready = bound, ready; x != (turn{at: at, order: l.order}) {
		l.turns = append(l.turns, x)
	}
}

func one(is bool) int32 {
	if is {
		return 1
	}
	return 0
}

// fromPods fills in what the pods did.
func (u *unit) fromPods(j *Job, c *clock) {
	var turns []turn
	for _, t := range u.pods {
		turns = append(turns, j.fromPod(t, c)...)
	}
	byTime := func(a, b PodEvent) int { return cmp.Compare(a.At, b.At) }
	slices.SortStableFunc(j.Created, byTime)
	slices.SortStableFunc(j.Bound, byTime)
	slices.SortStableFunc(turns, func(a, b turn) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.order, b.order)) })
	have := int32(0)
	for _, x := range turns {
		if have += x.bound; x.bound != 0 {
			j.Steps = append(j.Steps, Step{x.at, have})
		}
	}
	u.barriers(j, turns)
}

// fromPod notes a pod's life and returns how it changes the numbers.
func (j *Job) fromPod(t *thing, c *clock) []turn {
	var l life
	j.Created = append(j.Created, PodEvent{At: c.at(t, t.created) - c.zero, Rank: t.Pod.Rank})
	for _, x := range t.changes {
		at := c.at(t, x.moment) - c.zero
		l.order = x.order
		switch x.kind {
		case bound:
			j.Bound = append(j.Bound, PodEvent{at, t.Pod.Rank, x.node})
			l.be(at, true, l.ready, 0)
		case ready:
			l.be(at, l.bound, true, 0)
		case unready:
			l.be(at, l.bound, false, 0)
		case succeeded:
			l.be(at, false, false, 1)
		case failed:
			l.be(at, false, false, 0)
		}
	}
	if t.gone != (moment{}) {
		l.order = t.last
		l.be(c.at(t, t.gone)-c.zero, false, false, 0)
	}
	return l.turns
}

// size returns how many pods the unit runs at a time, from a time on, and how many in all.
func (u *unit) size(j *Job, at int64) (wide, all int32) {
	for _, t := range u.jobs {
		wide += t.Job.Parallelism
		all += cmp.Or(t.Job.Completions, t.Job.Parallelism)
	}
	if len(u.jobs) == 0 {
		for _, n := range u.workloads[len(u.workloads)-1].Workload.Pods {
			wide, all = wide+n, all+n
		}
	}
	for i := range j.Admissions {
		if a := &j.Admissions[i]; a.At <= at {
			wide = 0
			for _, n := range a.Counts {
				wide += n
			}
		}
	}
	return wide, all
}

// barriers finds when all pods of the unit were ready, when they were no more though they were
// not done, and when they were. With more completions than pods one wave follows another.
func (u *unit) barriers(j *Job, turns []turn) {
	var ready, done, wave, before int32 // of them in the wave that is whole, and done before it
	for _, x := range turns {
		ready, done = ready+x.ready, done+x.done
		wide, all := u.size(j, x.at)
		if whole := wave > 0 && done-before >= wave; whole || x.done > 0 && done >= all {
			j.RunComplete, wave = append(j.RunComplete, x.at), 0
		}
		if wave > 0 && ready+done-before < wave {
			j.BarrierLost, wave = append(j.BarrierLost, x.at), 0
		}
		if want := min(wide, all-done); wave == 0 && want > 0 && ready >= want && x.ready > 0 {
			j.AllReady, wave, before = append(j.AllReady, x.at), want, done
		}
	}
}

// state is where the unit stood when the record ended.
func (u *unit) state(j *Job) State {
	holds := len(j.AllReady) > len(j.BarrierLost)+len(j.RunComplete)
	switch admitted := len(j.Admissions) > len(j.Cleared); {
	case u.ended(failed):
		return Failed
	case len(j.Finished) > 0:
		return Finished
	case u.ended(criteriaMet):
		return WaitingForTerminating
	case len(u.workloads) > 0 && !u.workloads[len(u.workloads)-1].Workload.Active:
		return Deactivated
	case len(u.workloads) > 0 && !admitted:
		return Pending
	case holds:
		return Running
	case len(u.workloads) > 0:
		return AdmittedNotReady
	case j.FinalBound() == 0:
		return Pending
	}
	return PartiallyBound
}

// ended reports whether a Job of the unit came to an end of some kind.
func (u *unit) ended(kind changeKind) bool {
	return slices.ContainsFunc(u.jobs, func(t *thing) bool {
		return slices.ContainsFunc(t.changes, func(x change) bool { return x.kind == kind })
	})
}
