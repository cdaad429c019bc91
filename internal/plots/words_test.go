package plots

import (
	"fmt"
	"math"
	"testing"

	"github.com/gangplan/gangplan/report"
)

func TestTelling(t *testing.T) {
	all := []said{{"a", "3m", 180}, {"b", "1m", 60}, {"c", "never", math.Inf(1)}, {"d", "2m", 120}}
	for n, want := range []string{"", "3m under a", "1m under b, 3m under a", "1m under b, 3m under a, never under c", "1m under b, never under c (best and worst of 4)"} {
		wants(t, fmt.Sprint(n), telling(all[:n]), want)
	}
	if all[0].label != "a" {
		t.Error("the list was sorted in place")
	}
}

func TestNumbers(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{percent(0), "0%"}, {percent(0.0004), "0%"}, {percent(0.007), "0.7%"}, {percent(0.0899), "9%"}, {percent(0.123), "12%"}, {percent(0.996), "99.6%"}, {percent(1), "100%"},
		{number(0), "0"}, {number(1234567), "1,234,567"}, {number(-1234), "-1,234"}, {number(-123), "-123"}, {number(3.14159), "3.14"}, {number(0.12345), "0.123"}, {number(99.95), "100"}, {number(123.4), "123"}, {number(2.5), "2.5"},
		{count(1, "job"), "1 job"}, {count(2000, "job"), "2,000 jobs"}, {gpus(1), "1 GPU"}, {gpus(0.5), "0.5 GPUs"},
		{span(0), "0"}, {span(90), "1m30s"}, {waited(math.Inf(1)), "never"}, {waited(0), "0s"},
		{joined(nil), ""}, {joined([]string{"a"}), "a"}, {joined([]string{"a", "b", "c"}), "a, b and c"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}

// Every metric has a title and a label that end up in pictures.
func TestLabelsOfMetrics(t *testing.T) {
	for name, want := range map[string]string{
		"wait.p95_seconds": "wait, p95", "gpu_hours.useful": "useful GPU-hours", "jobs.finished": "jobs finished", "requeues": "requeues (count)",
		"allreduce_slowdown.mean": "allreduce slowdown, mean", "utilisation": "utilisation (ratio)", "makespan_seconds": "makespan",
	} {
		m, ok := report.LookupMetric(name)
		if !ok {
			t.Fatal(name)
		}
		wants(t, name, label(m), want)
	}
}

// Runs of one label are told apart by their seeds, or by where they lie.
func TestLabelled(t *testing.T) {
	run := func(dir, label string, seed uint64) *report.StoredRun {
		return &report.StoredRun{Dir: dir, Manifest: report.Manifest{Label: label, Seed: seed}}
	}
	for _, c := range []struct {
		runs []*report.StoredRun
		want string
	}{
		{[]*report.StoredRun{run("a/gang", "gang", 1), run("a/per-pod", "per-pod", 1)}, "[gang per-pod]"},
		{[]*report.StoredRun{run("a/gang", "gang", 1), run("b/gang", "gang", 2), run("b/x", "x", 2)}, "[gang (seed 1) gang (seed 2) x]"},
		{[]*report.StoredRun{run("a/gang", "gang", 1), run("b/gang", "gang", 1)}, "[gang (a) gang (b)]"},
		{[]*report.StoredRun{run("a/x/gang", "gang", 1), run("b/x/gang", "gang", 1)}, "[gang (a/x/gang) gang (b/x/gang)]"},
	} {
		var got []string
		for _, r := range labelled(c.runs) {
			got = append(got, r.Label)
		}
		wants(t, "labels", fmt.Sprint(got), c.want)
	}
}

func TestOpenNothing(t *testing.T) {
	_, err := Open([]string{t.TempDir()})
	fails(t, err, "holds no run")
}
