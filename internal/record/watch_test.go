package record

import (
	stdcmp "cmp"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func (r *Record) names() (list []string) {
	for i := range r.Jobs {
		list = append(list, r.Jobs[i].Name)
	}
	return list
}

// read reads what kubectl printed of the jobs of a record.
func read(t *testing.T, of *Record, text string) *Watched {
	t.Helper()
	var w Watch
	if err := w.Read("watch.jsonl", strings.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	got, err := w.Record(of.names())
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// differences says where a watch reads otherwise than what was played, times that are so far
// apart aside. When a wave ends is known better by those who run it: a watch sees the pods
// exit one by one.
func differences(want *Record, got *Watched, most int64) string {
	isTime := func(p cmp.Path) bool {
		return p.Last().Type().Kind().String() == "int64" && !strings.HasSuffix(p.String(), ".Until") && !strings.HasSuffix(p.String(), "RunComplete")
	}
	within := func(most int64) cmp.Option {
		return cmp.Comparer(func(a, b int64) bool { return max(a-b, b-a) <= most })
	}
	options := []cmp.Option{cmpopts.EquateEmpty(), cmp.FilterPath(isTime, within(most)),
		cmp.FilterPath(func(p cmp.Path) bool { return !isTime(p) }, within(most+1e9)), cmpopts.IgnoreFields(Job{}, "Attempts")}
	a, b := plain(want), plain(&got.Record)
	if most >= 1e9 { // what happened within a second has no order, and only what it came to
		options = append(options, cmpopts.IgnoreFields(Job{}, "Created", "Bound", "Steps"))
	}
	return cmp.Diff(a, b, options...)
}

// plain returns the jobs as if the first came at 0, events at the same time in the order of
// ranks, and one step at a time.
func plain(r *Record) (jobs []Job) {
	zero := r.Jobs[0].Submit
	for i := range r.Jobs {
		zero = min(zero, r.Jobs[i].Submit)
	}
	for _, j := range r.Jobs {
		j = later(j, -zero)
		byRank := func(a, b PodEvent) int { return stdcmp.Or(stdcmp.Compare(a.At, b.At), stdcmp.Compare(a.Rank, b.Rank)) }
		slices.SortFunc(j.Created, byRank)
		slices.SortFunc(j.Bound, byRank)
		var steps []Step
		for _, s := range j.Steps {
			if n := len(steps); n > 0 && steps[n-1].At == s.At {
				steps = steps[:n-1]
			}
			steps = append(steps, s)
		}
		j.Steps = steps
		jobs = append(jobs, j)
	}
	return jobs
}

// later returns a copy of a job with all times moved.
func later(j Job, by int64) Job {
	move := func(list []int64) (out []int64) {
		for _, at := range list {
			out = append(out, at+by)
		}
		return out
	}
	if j.Submit += by; j.WorkloadCreated != Never {
		j.WorkloadCreated += by
	}
	j.Cleared, j.Unsuspended, j.Suspended, j.Deactivated = move(j.Cleared), move(j.Unsuspended), move(j.Suspended), move(j.Deactivated)
	j.AllReady, j.BarrierLost, j.RunComplete, j.JobComplete, j.Finished = move(j.AllReady), move(j.BarrierLost), move(j.RunComplete), move(j.JobComplete), move(j.Finished)
	j.Admissions, j.Assignments, j.Evictions = slices.Clone(j.Admissions), slices.Clone(j.Assignments), slices.Clone(j.Evictions)
	for i := range j.Admissions {
		j.Admissions[i].At += by
	}
	for i := range j.Assignments {
		j.Assignments[i].At += by
	}
	for i := range j.Evictions {
		j.Evictions[i].At += by
	}
	j.Requeues = slices.Clone(j.Requeues)
	for i := range j.Requeues {
		if q := &j.Requeues[i]; q.Until != Never {
			q.Until += by
		}
		j.Requeues[i].At += by
	}
	j.Created, j.Bound, j.Steps = slices.Clone(j.Created), slices.Clone(j.Bound), slices.Clone(j.Steps)
	for i := range j.Created {
		j.Created[i].At += by
	}
	for i := range j.Bound {
		j.Bound[i].At += by
	}
	for i := range j.Steps {
		j.Steps[i].At += by
	}
	return j
}
