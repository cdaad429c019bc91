package compare

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchproc"
)

// The reader of the Go project reads what is written, and its projections find the keys.
func TestBenchmarksAreRead(t *testing.T) {
	dir := write(t, t.TempDir(), crowd, "v1.0.0", upTo(3), "gang-topology]", "{name: gang-topology, as: tas-4}]")
	c := compared(t, dir+"/policy=gang", dir+"/policy=tas-4", Options{})
	text := rendered(t, c, "benchfmt")
	reader := benchfmt.NewReader(strings.NewReader(text), "test")
	var parser benchproc.ProjectionParser
	policy, err := parser.Parse("/policy", nil)
	if err != nil {
		t.Fatal(err)
	}
	runs, units := map[string]int{}, 0
	for reader.Scan() {
		switch r := reader.Result().(type) {
		case *benchfmt.Result:
			runs[policy.Project(r).String()]++
			for _, v := range r.Values {
				if v.Unit == "utilisation" && (v.Value <= 0 || v.Value > 1) {
					t.Errorf("utilisation %v", v.Value)
				}
			}
		case *benchfmt.UnitMetadata:
			units++
		default:
			t.Errorf("%v", r)
		}
	}
	if err := reader.Err(); err != nil || len(runs) != 2 || runs["/policy:gang"] != 3 || runs["/policy:tas-4"] != 3 {
		t.Errorf("%v, %v in\n%s", err, runs, text)
	}
	if u := reader.Units().GetBetter("utilisation"); u != 1 || units < len(c.metrics) {
		t.Errorf("utilisation is better %d; %d lines of units", u, units)
	}
}

func TestBenchmarkWord(t *testing.T) {
	if got := benchmarkWord("gang/quota of 8=all"); got != "gang_quota_of_8_all" {
		t.Error(got)
	}
}

// Runs that differ in nothing but the side say which they are of.
func TestBenchmarksOfTwoSides(t *testing.T) {
	a, b := write(t, t.TempDir(), queue, "v1.0.0", []uint64{1}), write(t, t.TempDir(), queue, "v1.1.0", []uint64{1})
	text := rendered(t, compared(t, a, b, Options{Metrics: []string{"requeues"}}), "benchfmt")
	for _, want := range []string{"BenchmarkRun/policy=strict/side=A 1 0 requeues\n", "BenchmarkRun/policy=strict/side=B 1 0 requeues\n", "Unit requeues assume=exact\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// The real benchstat makes its table of it, with the better direction and the exact counts.
func TestBenchstat(t *testing.T) {
	if testing.Short() {
		t.Skip("builds benchstat")
	}
	benchstat := filepath.Join(t.TempDir(), "benchstat")
	if out, err := exec.Command("go", "build", "-o", benchstat, "golang.org/x/perf/cmd/benchstat").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	dir := swept(t, "matrix:\n  cluster.synthetic.hosts: [2, 3]\n  seed: 1..6\n")
	c := compared(t, dir+"/policy=gang", dir+"/policy=gang-topology", Options{Metrics: []string{"jobs.finished", "wait.mean_seconds"}})
	run := exec.Command(benchstat, "-col", "/policy", "-row", "/hosts", "-")
	run.Stdin = strings.NewReader(rendered(t, c, "benchfmt"))
	var stderr strings.Builder
	run.Stderr = &stderr
	out, err := run.Output()
	if err != nil || stderr.String() != "" {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	for _, want := range []string{"gang-topology", "wait.mean_seconds", "jobs.finished", "vs base", "n=6)"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}
