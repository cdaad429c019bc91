package record

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// printed is an object as kubectl prints it. Owners are kind/name/uid.
func printed(version, kind, namespace, name, uid, second string, owner, rest string) string {
	owners := ""
	if owner != "" {
		p := strings.Split(owner, "/")
		owners = fmt.Sprintf(`, "ownerReferences": [{"kind": %q, "name": %q, "uid": %q, "controller": %v}]`, p[0], p[1], p[2], p[0] != "Pod")
	}
	return fmt.Sprintf(`{"apiVersion": %q, "kind": %q, "metadata": {"name": %q, "namespace": %q, "uid": %q, "creationTimestamp": "2026-03-01T12:00:%sZ"%s%s}, "spec": {}, "status": {}}`+"\n",
		version, kind, name, namespace, uid, second, owners, rest)
}

func aJob(namespace, name, uid, second string) string {
	return printed("batch/v1", "Job", namespace, name, uid, second, "", "")
}

func watchOf(t *testing.T, namespace, text string) *Watch {
	t.Helper()
	w := &Watch{Namespace: namespace}
	if err := w.Read("w", strings.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	return w
}

// What belongs to one job is one job, whatever its owners are called and in whatever order
// the kinds were watched.
func TestWhatBelongsTogether(t *testing.T) {
	kueue, label := "kueue.x-k8s.io/v1beta2", func(k, v string) string { return fmt.Sprintf(`, "labels": {%q: %q}`, k, v) }
	parts := []string{
		printed("v1", "Pod", "ml", "a-0", "p1", "03", "Job/a/j1", ""),
		printed("v1", "Pod", "ml", "a-1", "p2", "03", "Job/a/j1", ""),
		aJob("ml", "a", "j1", "01"),
		printed(kueue, "Workload", "ml", "job-a-123", "w1", "02", "Job/a/j1", ""),
		// A JobSet, which is not watched: its two Jobs are one job.
		printed("batch/v1", "Job", "ml", "set-leader-0", "j2", "11", "JobSet/set/s1", ""),
		printed("batch/v1", "Job", "ml", "set-worker-0", "j3", "11", "JobSet/set/s1", ""),
		printed(kueue, "Workload", "ml", "jobset-set-9", "w2", "10", "JobSet/set/s1", ""),
		printed("v1", "Pod", "ml", "set-worker-0-0", "p3", "12", "Job/set-worker-0/j3", ""),
		// A group of plain pods.
		printed("v1", "Pod", "ml", "g-0", "p4", "20", "", label("kueue.x-k8s.io/pod-group-name", "group")),
		printed("v1", "Pod", "ml", "g-1", "p5", "20", "", label("kueue.x-k8s.io/pod-group-name", "group")),
		printed(kueue, "Workload", "ml", "group", "w3", "21", "Pod/g-0/p4", ""),
		// A pod whose Job was not watched, but has a Workload, and one of a service.
		printed("v1", "Pod", "ml", "b-0", "p6", "31", "Job/b/j9", label("job-name", "b")),
		printed(kueue, "Workload", "ml", "job-b-1", "w4", "30", "Job/b/j9", ""),
		printed("v1", "Pod", "ml", "web-1", "p7", "31", "ReplicaSet/web/r1", ""),
	}
	backwards := slices.Clone(parts)
	slices.Reverse(backwards)
	for _, order := range [][]string{parts, backwards} {
		w := watchOf(t, "", strings.Join(order, ""))
		var got []string
		for _, u := range w.units() {
			got = append(got, fmt.Sprintf("%s %d jobs %d workloads %d pods", u.name, len(u.jobs), len(u.workloads), len(u.pods)))
		}
		slices.Sort(got)
		want := []string{"a 1 jobs 1 workloads 2 pods", "b 0 jobs 1 workloads 1 pods", "group 0 jobs 1 workloads 2 pods", "set 2 jobs 1 workloads 1 pods"}
		if !slices.Equal(got, want) {
			t.Errorf("got  %q\nwant %q", got, want)
		}
		if r, err := w.Record([]string{"ml/job-a-123", "set", "job-b-1", "ml/group"}); err != nil || len(r.Jobs) != 4 || len(r.Others) != 0 || r.Jobs[1].Name != "set" {
			t.Errorf("by other names: %+v, %v", r, err)
		}
	}
}

// A job is told by its name, in any namespace, as long as only one has it.
func TestNamesOfJobs(t *testing.T) {
	two := aJob("x", "a", "1", "01") + aJob("y", "a", "2", "05") + aJob("y", "b", "3", "09")
	for _, c := range []struct {
		namespace, text string
		ids             []string
		want            string // names of jobs, and of others
	}{
		{"", two, []string{"a"}, "two jobs of the record are called a: Job/x/a (w:1) and Job/y/a (w:2): one run is compared at a time"},
		{"y", two, []string{"b", "a"}, "[b a] []"},
		{"", two, []string{"x/a", "b"}, "[x/a b] [y/a]"},
		{"", two, []string{"bb"}, `no job of the scenario is in the record: "bb" is called otherwise, the record has a, b (did you mean b?)`},
		{"z", two, []string{"a"}, "no Job and no Workload of the namespace z is in the record: watch jobs as well"},
		{"", printed("v1", "Pod", "ml", "a-0", "p1", "04", "Job/a/j1", ""), []string{"a"},
			"no Job and no Workload is in the record, only 1 pod: watch jobs as well, and workloads where there is Kueue, as in kubectl get jobs"},
		{"", aJob("x", "a", "1", "01") + aJob("x", "a", "2", "30"), []string{"a"}, "two jobs of the record are called a: Job/x/a (w:1) and Job/x/a (w:2)"},
	} {
		r, err := watchOf(t, c.namespace, c.text).Record(c.ids)
		got := fmt.Sprint(err)
		if err == nil {
			got = fmt.Sprint(r.names(), r.Others)
		}
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("%s %q:\n got %s\nwant %s", c.namespace, c.ids, got, c.want)
		}
	}
}
