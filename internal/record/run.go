package record

import (
	"cmp"
	"slices"

	"github.com/gangplan/gangplan/sim"
)

// FromRun plays a policy and returns what an API server would have shown of the jobs.
func FromRun(cfg *sim.Config, policy sim.Policy) (*Record, error) {
	o := newObserver(cfg, policy.Readiness)
	e, err := sim.New(cfg, policy, o)
	if err != nil {
		return nil, err
	}
	for e.Step() {
	}
	o.out.End = max(cfg.Until, o.now)
	if b, ok := policy.Binder.(sim.Settler); ok {
		b.Settle(o.out.End)
	}
	return o.take(), nil
}

// observer is the recorder of a run that notes what shows of each job.
type observer struct {
	cfg    *sim.Config
	queued bool // jobs have Workloads
	now    int64
	jobs   []observed
	lost   ghosts
	out    Record
}

// observed is a job with what has to be remembered of it beside its record.
type observed struct {
	Job
	admitted    bool // its admission stands
	barrier     bool
	done        bool // its work, or it is deleted
	deactivated bool
	byHand      bool // by a user

	on         map[int32]int32 // bound pods by node
	place      map[int32]int32 // the node to which each pod was bound last, by rank
	finishedAt int64           // Never while there is work
	bound      int32
	backoffs   int32           // requeueState.count
	assigned   map[int32]int32 // pod rank -> node, of the topology assignment
}

func newObserver(cfg *sim.Config, queued bool) *observer {
	o := &observer{cfg: cfg, queued: queued, jobs: make([]observed, len(cfg.Jobs))}
	for j := range o.jobs {
		jb := &o.jobs[j]
		jb.Name, jb.State, jb.WorkloadCreated, jb.assigned = cfg.Jobs[j].ID, Pending, Never, map[int32]int32{}
		jb.on, jb.place, jb.finishedAt = map[int32]int32{}, map[int32]int32{}, Never
	}
	return o
}

// Steps of the control plane that are no transition of their own, as parts of those that
// are: see docs/timing.md for the medians that were recorded.
const (
	suspendedOfStop    = 12.0 / 66
	completeOfFinished = 1012.0 / 1027
)

func partOf(d int64, part float64) int64 { return int64(float64(d) * part) }

// Record implements sim.Recorder.
func (o *observer) Record(t sim.Transition) {
	if t.Kind == sim.Verdict {
		return
	}
	o.advance(t.Time)
	jb := &o.jobs[t.Job]
	timing := &o.cfg.Timing
	switch t.Kind {
	case sim.Submit:
		jb.Submit = t.Time
	case sim.Admit:
		o.admit(t)
	case sim.Bind:
		jb.Bound = append(jb.Bound, PodEvent{t.Time, t.Rank, o.node(t.Place)})
		jb.on[t.Place]++
		jb.place[t.Rank] = t.Place
		jb.step(t.Time, 1)
	case sim.Barrier:
		jb.barrier = true
		jb.AllReady = append(jb.AllReady, t.Time)
	case sim.Evict:
		o.evict(t)
	case sim.Requeue:
		jb.requeued(t.Time, timing.Requeue)
	case sim.Deactivate:
		o.deactivate(t)
	case sim.Fail:
		o.remove(t)
	case sim.Finish:
		jb.barrier, jb.done = false, true
		jb.RunComplete = append(jb.RunComplete, t.Time)
	}
}

func (o *observer) node(n int32) string {
	if n < 0 {
		return ""
	}
	return o.cfg.Cluster.Nodes[n].Name
}

func (j *observed) step(at int64, by int32) {
	j.bound += by
	j.Steps = append(j.Steps, Step{at, j.bound})
}

func (o *observer) admit(t sim.Transition) {
	jb := &o.jobs[t.Job]
	jb.admitted = true
	if !o.queued {
		return
	}
	jb.Admissions = append(jb.Admissions, Admission{At: t.Time, Counts: []int32{t.Count}})
	o.out.Decisions = append(o.out.Decisions, jb.Name)
}

// evict notes the loss of a pod, or the eviction of a whole job.
func (o *observer) evict(t sim.Transition) {
	jb := &o.jobs[t.Job]
	if t.Rank >= 0 {
		o.losePod(t)
		return
	}
	if o.queued {
		o.endAdmission(t, reasonOf(t.Why))
		if t.Why == causeOf(sim.CausePodsReady) {
			jb.backoffs++
			jb.Requeues = append(jb.Requeues, Requeue{At: t.Time, Until: Never, Count: jb.backoffs})
		}
	}
}

// remove notes that a job is deleted. What was last seen of it stands.
func (o *observer) remove(t sim.Transition) {
	jb := &o.jobs[t.Job]
	if jb.barrier {
		jb.BarrierLost = append(jb.BarrierLost, t.Time+o.cfg.Timing.EvictStop)
	}
	jb.barrier, jb.done = false, true
}

func (o *observer) losePod(t sim.Transition) {
	jb := &o.jobs[t.Job]
	if !jb.barrier {
		return
	}
	jb.barrier = false
	if t.Why == 0 && o.cfg.Jobs[t.Job].Completions > 0 {
		jb.RunComplete = append(jb.RunComplete, t.Time) // of this wave
	} else {
		jb.BarrierLost = append(jb.BarrierLost, t.Time)
	}
}

// endAdmission notes that an admission is taken back.
func (o *observer) endAdmission(t sim.Transition, reason string) {
	jb := &o.jobs[t.Job]
	stop := o.cfg.Timing.EvictStop
	jb.Evictions = append(jb.Evictions, Eviction{t.Time, reason})
	if !jb.admitted {
		return
	}
	jb.Suspended = append(jb.Suspended, t.Time+partOf(stop, suspendedOfStop))
	if jb.barrier {
		jb.BarrierLost = append(jb.BarrierLost, t.Time+stop)
	}
	jb.admitted, jb.barrier = false, false
}

// deactivate notes that a queue gives a job up; its requeueState is removed. One that backs
// off is evicted already.
func (o *observer) deactivate(t sim.Transition) {
	jb := &o.jobs[t.Job]
	jb.deactivated = true
	jb.Deactivated = append(jb.Deactivated, t.Time)
	if jb.admitted || len(jb.Evictions) == 0 {
		o.endAdmission(t, jb.whyDeactivated(t.Why))
	}
	if jb.backoffs > 0 {
		jb.Requeues = append(jb.Requeues, Requeue{At: t.Time, Until: Never})
	}
}

// whyDeactivated is Kueue's reason for the eviction of a job that is given up.
func (j *observed) whyDeactivated(w sim.Why) string {
	switch {
	case j.byHand:
		return "Deactivated"
	case w == causeOf(sim.CauseDeadline):
		return "DeactivatedDueToMaximumExecutionTimeExceeded"
	}
	return "DeactivatedDueToRequeuingLimitExceeded"
}

// requeued notes that a backoff is over.
func (j *observed) requeued(at, lag int64) {
	if n := len(j.Requeues); n > 0 && j.Evictions[len(j.Evictions)-1].Reason == "PodsReadyTimeout" {
		j.Requeues[n-1].Until = at - lag
		j.Requeues = append(j.Requeues, Requeue{At: at, Until: Never, Count: j.backoffs})
	}
}

func causeOf(c sim.Cause) sim.Why { return sim.WhyNamed(c.String()) }

// reasonOf is Kueue's word for why a job was evicted.
func reasonOf(w sim.Why) string {
	switch w {
	case causeOf(sim.CausePodsReady):
		return "PodsReadyTimeout"
	case causeOf(sim.CausePreempted):
		return "Preempted"
	case causeOf(sim.CauseNode):
		return "NodeFailures"
	}
	return w.String()
}

// See implements sim.Witness.
func (o *observer) See(s sim.Sight) {
	if s.Kind < sim.SawQueued { // those that follow are told ahead
		o.advance(s.Time)
	}
	jb := &o.jobs[s.Job]
	switch s.Kind {
	case sim.SawCreated:
		jb.Created = append(jb.Created, PodEvent{At: s.Time, Rank: s.Rank})
	case sim.SawAttempt:
		jb.Attempts++
	case sim.SawGone:
		jb.on[s.Node]--
		jb.step(s.Time, -1)
	case sim.SawQueued:
		jb.WorkloadCreated = s.Time
	case sim.SawUnsuspended:
		jb.Unsuspended = append(jb.Unsuspended, s.Time)
	case sim.SawFinished:
		jb.finishedAt = s.Time
	case sim.SawReleased:
		if !jb.done {
			jb.Cleared = append(jb.Cleared, s.Time)
		}
	case sim.SawAssigned:
		o.assign(s)
	}
}

// assign notes a node of a topology assignment. Those of a moment are one assignment; that of
// an admission comes before it, and others replace a part of that.
func (o *observer) assign(s sim.Sight) {
	jb := &o.jobs[s.Job]
	n := len(jb.Assignments)
	if n == 0 || jb.Assignments[n-1].At != s.Time {
		if !jb.admitted {
			clear(jb.assigned)
		}
		jb.Assignments = append(jb.Assignments, Assignment{At: s.Time})
		n++
	}
	jb.assigned[s.Rank] = s.Node
	jb.Assignments[n-1].Slots = o.slots(s.Job)
}

// slots writes an assignment as Kueue does: per PodSet the nodes in the order of their
// paths, with their pods.
func (o *observer) slots(j int32) (sets [][]Slot) {
	first := int32(0)
	cluster := o.cfg.Cluster
	for _, set := range o.cfg.Jobs[j].PodSets {
		on := map[int32]int32{}
		var nodes []int32
		for rank := first; rank < first+set.Count; rank++ {
			if n, ok := o.jobs[j].assigned[rank]; ok && n >= 0 {
				if on[n]++; on[n] == 1 {
					nodes = append(nodes, n)
				}
			}
		}
		first += set.Count
		slices.SortFunc(nodes, func(a, b int32) int {
			return cmp.Compare(cluster.Domains[cluster.HostDomain(a)].NameRank, cluster.Domains[cluster.HostDomain(b)].NameRank)
		})
		var list []Slot
		for _, n := range nodes {
			list = append(list, Slot{cluster.Nodes[n].Name, on[n]})
		}
		sets = append(sets, list)
	}
	return sets
}

// take returns the record of what there was.
func (o *observer) take() *Record {
	o.advance(o.out.End)
	for j := range o.jobs {
		jb := &o.jobs[j]
		o.complete(jb)
		jb.cut(o.out.End)
		jb.State = o.stateOf(jb)
		o.out.Jobs = append(o.out.Jobs, jb.Job)
	}
	return &o.out
}

// complete notes when a job was Complete whose work is done: not while a pod of it is left,
// if only one that terminates.
func (o *observer) complete(j *observed) {
	n := len(j.Steps)
	if j.finishedAt == Never || n > 0 && j.Steps[n-1].N > 0 {
		return
	}
	lag := o.cfg.Timing.FinishLag
	at := j.finishedAt
	if n > 0 {
		at = max(at, j.Steps[n-1].At+lag)
	}
	j.Finished = append(j.Finished, at)
	j.JobComplete = append(j.JobComplete, at-lag+partOf(lag, completeOfFinished))
}

// cut drops what lies behind the end: steps that were foreseen and not seen.
func (j *observed) cut(end int64) {
	for _, list := range []*[]int64{&j.Unsuspended, &j.Suspended, &j.JobComplete, &j.Finished, &j.BarrierLost} {
		*list = slices.DeleteFunc(*list, func(at int64) bool { return at > end })
	}
	if j.WorkloadCreated > end {
		j.WorkloadCreated = Never
	}
}

func (o *observer) stateOf(j *observed) State {
	switch {
	case len(j.JobComplete) > 0:
		return Finished
	case j.finishedAt != Never && j.bound > 0:
		return WaitingForTerminating
	case j.deactivated:
		return Deactivated
	case j.barrier:
		return Running
	case o.queued && len(j.Admissions) > len(j.Cleared):
		return AdmittedNotReady
	case !o.queued && j.bound > 0:
		return PartiallyBound
	}
	return Pending
}
