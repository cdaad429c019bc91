package kube

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/gangplan/gangplan/workloads"
)

// Jobs turns the Workloads of a dump into jobs, in the order of their creation. Times count
// from the first creation, or, where some were admitted before it, from the first admission.
//
// A finished Workload worked from when its pods were ready, else from its admission, to its
// end. One that is not finished has no end to tell: it gets the median of the others, and a
// warning says for how many that is. Levels are the names of the cluster's levels by label.
// Warnings are sentences. The error is an *Error.
func (d *Dump) Jobs(levels map[string]string) (jobs []workloads.Job, warnings []string, err error) {
	type row struct {
		job     workloads.Job
		created time.Time
	}
	var rows []row
	var unfinished []int
	for i := range d.Workloads {
		w := &d.Workloads[i]
		created, bad := time.Parse(time.RFC3339, w.T.Metadata.CreationTimestamp)
		if bad != nil {
			return nil, nil, w.fail(nil, "metadata.creationTimestamp", "%q: expected a time such as 2025-06-01T12:00:00Z", w.T.Metadata.CreationTimestamp)
		}
		job, err := d.job(w, levels)
		if err != nil {
			return nil, nil, err
		}
		if job.Duration < 0 {
			unfinished = append(unfinished, len(rows))
		}
		rows = append(rows, row{job, created})
	}
	var lengths []int64
	for i := range rows {
		if rows[i].job.Duration >= 0 {
			lengths = append(lengths, rows[i].job.Duration)
		}
	}
	for _, i := range unfinished {
		rows[i].job.Duration = median(lengths)
	}
	if len(unfinished) > 0 {
		warnings = append(warnings, fmt.Sprintf("%d of %d Workloads are not finished: they are taken to need the median of the others, %v",
			len(unfinished), len(rows), time.Duration(median(lengths))))
	}
	slices.SortStableFunc(rows, func(a, b row) int {
		return cmp.Or(a.created.Compare(b.created), cmp.Compare(a.job.ID, b.job.ID))
	})
	for i := range rows {
		job := rows[i].job
		job.Row, job.Submit = int64(i)+1, int64(rows[i].created.Sub(rows[0].created))
		jobs = append(jobs, job)
	}
	return jobs, warnings, nil
}

// median returns the nearest-rank median, an hour of nothing.
func median(list []int64) int64 {
	if len(list) == 0 {
		return int64(time.Hour)
	}
	slices.Sort(list)
	return list[(len(list)+1)/2-1]
}

// job turns a Workload into a job without its submission. One that is not finished has a
// negative duration.
func (d *Dump) job(w *Item[Workload], levels map[string]string) (workloads.Job, error) {
	spec := &w.T.Spec
	job := workloads.NewJob(w.Namespace+"/"+w.Name, 0)
	job.Queue, job.Tenant, job.Duration = w.Namespace+"/"+spec.QueueName, w.Namespace, -1
	job.Priority = d.priorityOf(&w.T)
	if spec.MaximumExecutionTime != nil {
		job.AdmittedLimit = *spec.MaximumExecutionTime * int64(time.Second)
	}
	begin := w.T.Since("PodsReady")
	if begin.IsZero() {
		begin = w.T.Since("Admitted")
	}
	if end := w.T.Since("Finished"); !end.IsZero() && !begin.IsZero() {
		job.Duration = max(0, int64(end.Sub(begin)))
	}
	for i := range spec.PodSets {
		set, err := d.podSet(w, &spec.PodSets[i], levels)
		if err != nil {
			return job, err
		}
		job.PodSets = append(job.PodSets, set)
	}
	if len(job.PodSets) == 0 {
		return job, w.fail(nil, "spec.podSets", "the list is empty: expected at least one")
	}
	job.Namespace = w.Namespace
	if err := d.friends(&w.Object, &spec.PodSets[0].Template, &job); err != nil {
		return job, err
	}
	d.nameLevels(&job, levels)
	return job, nil
}

// nameLevels puts the names of levels in the place of topology keys. Terms whose key is no
// level of the cluster are left out, and noted.
func (d *Dump) nameLevels(j *workloads.Job, levels map[string]string) {
	missing := func(level *string) bool {
		name, ok := levels[*level]
		if !ok {
			d.unknown.add("Workload.topologyKey." + *level)
		}
		*level = name
		return !ok
	}
	for _, terms := range []*[]workloads.PodTerm{&j.Affinity, &j.AntiAffinity} {
		*terms = slices.DeleteFunc(*terms, func(t workloads.PodTerm) bool { return levels[t.Level] == "" && missing(&t.Level) })
		for i := range *terms {
			missing(&(*terms)[i].Level)
		}
	}
	j.Spread = slices.DeleteFunc(j.Spread, func(s workloads.SpreadConstraint) bool { return levels[s.Level] == "" && missing(&s.Level) })
	for i := range j.Spread {
		missing(&j.Spread[i].Level)
	}
}

func (d *Dump) priorityOf(w *Workload) int32 {
	if w.Spec.Priority != nil {
		return *w.Spec.Priority
	}
	for i := range d.PriorityClasses {
		if c := &d.PriorityClasses[i].T; c.Metadata.Name == w.Spec.PriorityClassName {
			return c.Value
		}
	}
	return 0
}

func (d *Dump) podSet(w *Item[Workload], given *PodSet, levels map[string]string) (set workloads.PodSet, err error) {
	set.Name, set.Count = given.Name, given.Count
	if given.Count < 1 {
		return set, w.fail(nil, "podSets."+given.Name+".count", "%d: expected at least 1", given.Count)
	}
	if given.MinCount != nil {
		set.MinCount = *given.MinCount
	}
	if set.Request, err = d.request(&w.Object, &given.Template.Spec); err != nil {
		return set, err
	}
	if err := d.place(&w.Object, &given.Template.Spec, &set); err != nil {
		return set, err
	}
	set.Topology, err = topologyOf(w, given.TopologyRequest, levels)
	return set, err
}

// topologyOf turns a topology request, whose levels are label keys, into one of the
// cluster's levels.
func topologyOf(w *Item[Workload], given *TopologyRequest, levels map[string]string) (t workloads.TopologyRequest, err error) {
	if given == nil {
		return t, nil
	}
	level := func(label string) string {
		name, ok := levels[label]
		if !ok && err == nil {
			err = w.fail(nil, "topologyRequest", "%q: no Topology has a level of this label", label)
		}
		return name
	}
	t.Group = given.Group
	switch {
	case given.Required != "":
		t.Mode, t.Level = workloads.TopologyRequired, level(given.Required)
	case given.Preferred != "":
		t.Mode, t.Level = workloads.TopologyPreferred, level(given.Preferred)
	case given.Unconstrained != nil && *given.Unconstrained:
		t.Mode = workloads.TopologyUnconstrained
	case given.SliceTopology != "":
		t.Mode = workloads.TopologySliceOnly
	}
	if given.SliceTopology != "" && given.SliceSize != nil {
		t.Slices[0] = workloads.Slice{Level: level(given.SliceTopology), Size: *given.SliceSize}
	}
	return t, err
}
