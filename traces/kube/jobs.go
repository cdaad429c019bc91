package kube

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gangplan/gangplan/workloads"
)

// Jobs turns the Workloads of a dump into jobs, in the order of their creation, from which
// times count. levels are the names of the cluster's levels by label; nil leaves the labels.
//
// A finished Workload worked from when its pods were ready, else from its admission, to its
// end. Of one that is not finished, or whose times are none, nobody knows how long it works:
// it gets the median of the others. Notes are sentences that say for which Workloads what was
// done. The error is an Errors.
func (d *Dump) Jobs(levels map[string]string) (jobs []workloads.Job, notes []string, err error) {
	b := &jobMaker{dump: d, levels: levels}
	for i := range d.Workloads {
		b.take(&d.Workloads[i])
	}
	b.setLengths()
	slices.SortStableFunc(b.rows, func(a, c row) int {
		return cmp.Or(a.of.T.trace.created.Compare(c.of.T.trace.created), cmp.Compare(a.job.ID, c.job.ID))
	})
	for i := range b.rows {
		r := &b.rows[i]
		r.job.Row, r.job.Submit = int64(i)+1, int64(r.of.T.trace.created.Sub(b.rows[0].of.T.trace.created))
		if r.job.Submit > workloads.MaxTime || r.job.Duration > workloads.MaxTime {
			b.wrong(r.of.Fail(At("metadata", "creationTimestamp"), "more than 100 years after the first, or at work for as long"))
		}
		jobs = append(jobs, r.job)
	}
	if len(b.errs) > 0 {
		return nil, nil, b.errs[:min(len(b.errs), MaxErrors)]
	}
	return jobs, b.notes(), nil
}

// jobMaker is the state of one Jobs.
type jobMaker struct {
	dump   *Dump
	levels map[string]string
	rows   []row
	errs   Errors

	noPods, unfinished, odd, early, future, inactive []string // names of Workloads
	silent                                           int      // PodSets that ask for no CPU or no memory
	median                                           time.Duration
}

type row struct {
	job workloads.Job
	of  *Item[Workload]
}

func (b *jobMaker) wrong(e *Error) { b.errs = append(b.errs, e) }

func (b *jobMaker) take(w *Item[Workload]) {
	t := &w.T.trace
	if len(t.job.PodSets) == 0 {
		b.noPods = append(b.noPods, t.job.ID)
		return
	}
	job := t.job
	b.setPriority(w, &job)
	b.nameLevels(w, &job)
	b.setDuration(w, &job)
	if w.T.Spec.Active != nil && !*w.T.Spec.Active && w.T.Since("Finished").IsZero() {
		b.inactive = append(b.inactive, job.ID)
	}
	for i := range job.PodSets {
		if job.PodSets[i].None != [len(job.PodSets[i].None)]bool{} {
			b.silent++
		}
	}
	b.rows = append(b.rows, row{job, w})
}

// setPriority looks the class of a Workload up that does not say its priority itself.
func (b *jobMaker) setPriority(w *Item[Workload], job *workloads.Job) {
	class := w.T.trace.class
	if w.T.Spec.Priority != nil || class == "" {
		return
	}
	for i := range b.dump.PriorityClasses {
		if c := &b.dump.PriorityClasses[i].T; c.Metadata.Name == class {
			job.Priority = c.Value
			return
		}
	}
	p := specPath.To("priorityClassName")
	if w.T.Spec.PriorityClassName == "" {
		p = specPath.To("priorityClassRef", "name")
	}
	b.wrong(w.Fail(p, "%s: expected priority beside it, or the class among the objects", quote(class)))
}

// setDuration tells how long a Workload worked; negative where nobody knows.
func (b *jobMaker) setDuration(w *Item[Workload], job *workloads.Job) {
	created, admitted, ready, end := w.T.trace.created, w.T.Since("Admitted"), w.T.Since("PodsReady"), w.T.Since("Finished")
	if b.dump.latest.After(time.Time{}) && created.Sub(b.dump.latest) > aheadOfDump {
		b.future = append(b.future, job.ID)
	}
	if !admitted.IsZero() && admitted.Before(created) {
		b.early = append(b.early, job.ID)
	}
	begin := ready
	if begin.IsZero() || !end.IsZero() && begin.After(end) && !admitted.After(end) {
		begin = admitted
	}
	switch {
	case end.IsZero():
		b.unfinished = append(b.unfinished, job.ID)
	case begin.IsZero() || begin.After(end):
		b.odd = append(b.odd, job.ID)
	default:
		job.Duration = int64(end.Sub(begin))
	}
}

// aheadOfDump is how long after all that a dump tells of a Workload may be created: it was
// printed a little later than the others, and had not been looked at yet.
const aheadOfDump = time.Hour

// setLengths gives jobs of unknown length the median of the others.
func (b *jobMaker) setLengths() {
	var known []int64
	for i := range b.rows {
		if d := b.rows[i].job.Duration; d >= 0 {
			known = append(known, d)
		}
	}
	m := median(known)
	b.median = time.Duration(m)
	for i := range b.rows {
		if j := &b.rows[i].job; j.Duration < 0 {
			j.Duration = m
		}
	}
}

// median returns the nearest-rank median, an hour of nothing.
func median(list []int64) int64 {
	if len(list) == 0 {
		return int64(time.Hour)
	}
	slices.Sort(list)
	return list[(len(list)+1)/2-1]
}

// notes says what was done with Workloads that do not say all, or strange things.
func (b *jobMaker) notes() (notes []string) {
	add := func(names []string, one, many string) {
		if n := len(names); n > 0 {
			notes = append(notes, strings.Replace(Count(n, one, many), "%s", Few(names), 1))
		}
	}
	length := "the median of the others, " + written(b.median)
	if len(b.unfinished)+len(b.odd) == len(b.rows) {
		length = written(b.median) + ", since none tells"
	}
	all := fmt.Sprintf("of %d Workloads ", len(b.rows))
	add(b.unfinished, all+"is not finished (%s): it is taken to need "+length, all+"are not finished (%s): they are taken to need "+length)
	add(b.odd, "Workload finished before it was admitted, or never was (%s): it is taken to need "+length, "Workloads finished before they were admitted, or never were (%s): they are taken to need "+length)
	add(b.early, "Workload was admitted before it was created (%s): it is submitted when it was created", "Workloads were admitted before they were created (%s): they are submitted when they were created")
	add(b.future, "Workload was created after all else that the dump tells of (%s): it is submitted then all the same", "Workloads were created after all else that the dump tells of (%s): they are submitted then all the same")
	add(b.inactive, "Workload is deactivated (%s): here it waits like the others", "Workloads are deactivated (%s): here they wait like the others")
	add(b.noPods, "Workload has no pods (%s): it is left out", "Workloads have no pods (%s): they are left out")
	if b.silent > 0 {
		notes = append(notes, Count(b.silent, "PodSet asks for no CPU or no memory and needs none, as in the cluster", "PodSets ask for no CPU or no memory and need none, as in the cluster"))
	}
	return notes
}

// written is a time as in 30m, without parts that are zero at its end.
func written(d time.Duration) string {
	text := d.Round(time.Second).String()
	for _, zero := range []string{"m0s", "h0m"} {
		if rest, ok := strings.CutSuffix(text, zero); ok {
			text = rest + zero[:1]
		}
	}
	return text
}

// Count writes a number of things.
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Few lists the first names, and how many more there are.
func Few(names []string) string {
	const most = 3
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// nameLevels puts the names of levels in the place of labels. Terms between pods whose key is
// no level of the cluster are left out, and noted.
func (b *jobMaker) nameLevels(w *Item[Workload], j *workloads.Job) {
	if b.levels == nil {
		return
	}
	b.nameRequests(w, j)
	known := func(level *string) bool {
		name, ok := b.levels[*level]
		if !ok {
			b.dump.unknown.add("Workload.topologyKey." + *level)
		}
		*level = name
		return ok
	}
	for _, terms := range []*[]workloads.PodTerm{&j.Affinity, &j.AntiAffinity} {
		var kept []workloads.PodTerm
		for _, t := range *terms {
			if known(&t.Level) {
				kept = append(kept, t)
			}
		}
		*terms = kept
	}
	var kept []workloads.SpreadConstraint
	for _, s := range j.Spread {
		if known(&s.Level) {
			kept = append(kept, s)
		}
	}
	j.Spread = kept
}

// nameRequests names the levels that PodSets ask for, each of which must be there.
func (b *jobMaker) nameRequests(w *Item[Workload], j *workloads.Job) {
	j.PodSets = slices.Clone(j.PodSets)
	for i := range j.PodSets {
		t := &j.PodSets[i].Topology
		for _, level := range []*string{&t.Level, &t.Slices[0].Level, &t.Slices[1].Level, &t.Slices[2].Level} {
			if *level == "" {
				continue
			}
			name, ok := b.levels[*level]
			if !ok {
				b.wrong(w.placeOf(*level, "%s: no Topology has a level of this label", quote(*level)))
			}
			*level = name
		}
	}
}

// placeOf is a mistake of a level that a topology request names.
func (o *Object) placeOf(level, format string, args ...any) *Error {
	e := o.Fail(nil, format, args...)
	for _, m := range o.marks {
		if m.value == level && strings.Contains(m.path, "topologyRequest") {
			e.Line, e.Column, e.Field = m.line, m.column, e.Field+" "+m.path
			break
		}
	}
	return e
}
