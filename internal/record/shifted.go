package record

import "slices"

// since returns the record with its times counted from another beginning.
func (r *Record) since(base int64) *Record {
	out := &Record{Decisions: r.Decisions, End: r.End - base}
	for i := range r.Jobs {
		out.Jobs = append(out.Jobs, r.Jobs[i].since(base))
	}
	return out
}

// since returns a copy of the job whose times count from another beginning.
func (j Job) since(base int64) Job {
	if j.Submit -= base; j.WorkloadCreated != Never {
		j.WorkloadCreated -= base
	}
	for _, list := range []*[]int64{&j.Cleared, &j.Unsuspended, &j.Suspended, &j.Deactivated,
		&j.AllReady, &j.BarrierLost, &j.RunComplete, &j.JobComplete, &j.Finished} {
		*list = shifted(*list, func(at *int64) { *at -= base })
	}
	j.Admissions = shifted(j.Admissions, func(a *Admission) { a.At -= base })
	j.Assignments = shifted(j.Assignments, func(a *Assignment) { a.At -= base })
	j.Evictions = shifted(j.Evictions, func(e *Eviction) { e.At -= base })
	j.Created = shifted(j.Created, func(e *PodEvent) { e.At -= base })
	j.Bound = shifted(j.Bound, func(e *PodEvent) { e.At -= base })
	j.Steps = shifted(j.Steps, func(s *Step) { s.At -= base })
	j.Requeues = shifted(j.Requeues, func(q *Requeue) {
		if q.At -= base; q.Until != Never {
			q.Until -= base
		}
	})
	return j
}

// shifted returns a copy of a list, each of which was moved.
func shifted[T any](list []T, move func(*T)) []T {
	list = slices.Clone(list)
	for i := range list {
		move(&list[i])
	}
	return list
}
