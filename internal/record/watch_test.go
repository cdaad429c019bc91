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
		j = j.since(zero)
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
