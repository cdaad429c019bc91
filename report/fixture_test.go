package report

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gangplan/gangplan/internal/columnar"
	"github.com/gangplan/gangplan/policies"
	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/sim/ledger"
	"github.com/gangplan/gangplan/sim/quota"
	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/workloads"
)

const (
	sec  = int64(1e9)
	hour = 3600 * sec
)

// golden compares text with a file of testdata, or writes the file when GANGPLAN_UPDATE
// is set, as `make golden` does.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if os.Getenv("GANGPLAN_UPDATE") != "" {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (make golden writes it)", err)
	}
	if got != string(want) {
		t.Errorf("%s differs from what is written now (make golden writes it anew):\n%s", path, firstDifference(string(want), got))
	}
}

// firstDifference shows the first line in which two texts differ.
func firstDifference(want, got string) string {
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range a {
		if i >= len(b) || a[i] != b[i] {
			return "- " + a[i] + "\n+ " + strings.Join(b[min(i, len(b)):min(i+1, len(b))], "")
		}
	}
	return "+ " + b[len(a)]
}

// handmade returns a result written down by hand: n jobs of one GPU that arrive a minute
// apart and never start, on a cluster of the given whole GPUs, one per model.
func handmade(n int, gpus ...int64) *sim.Result {
	cfg := &sim.Config{Cluster: &topology.Cluster{}, Queues: []quota.Queue{{Name: "default"}}, Seed: 1}
	var capacity []int64
	for m, g := range gpus {
		cfg.Cluster.Models = append(cfg.Cluster.Models, "gpu-"+string(rune('a'+m)))
		cfg.Cluster.Nodes = append(cfg.Cluster.Nodes, topology.Node{Name: "node-" + string(rune('a'+m)), Model: int32(m)})
		capacity = append(capacity, g*1000)
	}
	r := &sim.Result{Config: cfg, Policy: "gang", Seed: 1, Digest: 0xabc, Books: ledger.New(capacity)}
	for j := range n {
		submit := int64(j) * 60 * sec
		cfg.Jobs = append(cfg.Jobs, workloads.Job{ID: "job-" + string(rune('A'+j)), Row: int64(j), Submit: submit, Duration: 100 * sec})
		r.Jobs = append(r.Jobs, sim.JobRow{State: sim.Queued, Pods: 1, GPUs: 1000, Submit: submit,
			FirstAdmit: -1, FirstStart: -1, Finish: -1, Work: 100 * sec})
	}
	return r
}

// finished lets a job start after a wait and finish after its running time, in seconds.
func finished(row *sim.JobRow, wait, run int64) {
	row.State = sim.Finished
	row.FirstAdmit, row.FirstStart = row.Submit+wait/2*sec, row.Submit+wait*sec
	row.Finish = row.FirstStart + run*sec
	row.RunNanos = run * sec
}

// get returns a metric that must have a value.
func get(t *testing.T, vs Values, name string) float64 {
	t.Helper()
	v, ok := vs.Get(name)
	if !ok {
		t.Fatalf("%s is null", name)
	}
	return v
}

// play runs a policy on two nodes of four GPUs with the given jobs.
func play(t *testing.T, policy string, change func(cfg *sim.Config), jobs ...workloads.Job) (*sim.Result, sim.Transitions) {
	t.Helper()
	nodes := []topology.Node{
		{Name: "n1", GPUModel: "H100", Allocatable: topology.DefaultAllocatable(4)},
		{Name: "n2", GPUModel: "H100", Allocatable: topology.DefaultAllocatable(4)},
	}
	c, err := topology.Build([]string{"host"}, nodes)
	if err != nil {
		t.Fatal(err)
	}
	cfg := &sim.Config{Cluster: c, Jobs: jobs, Creation: sim.Interleaved, Seed: 7,
		Queues: []quota.Queue{{Name: "default", Nominal: quota.Amounts{8000}, Covers: [4]bool{true}}}}
	if change != nil {
		change(cfg)
	}
	declared, ok := policies.Lookup(policy)
	if !ok {
		t.Fatalf("no policy %s", policy)
	}
	var tape sim.Transitions
	e, err := sim.New(cfg, declared.New(nil), &tape)
	if err != nil {
		t.Fatal(err)
	}
	return e.Run(), tape
}

// wholeTable makes a whole table of a record.
func wholeTable(declared Table, r *Record) *columnar.Table {
	t := columnar.NewTable(declared.Columns...)
	for put := declared.pull(r); put(t); {
	}
	return t
}

// gangOf is a job of some one-GPU pods; times are in seconds.
func gangOf(id string, submit int64, pods int32, duration int64) workloads.Job {
	return workloads.Job{ID: id, Submit: submit * sec, Duration: duration * sec, Tenant: "team", PodSets: []workloads.PodSet{{Name: "main", Count: pods,
		Request: topology.Resources{1000, 12_000, 96 << 30, 1}}}}
}

// gridlock is two gangs that each need the whole cluster and arrive together.
func gridlock() []workloads.Job {
	return []workloads.Job{gangOf("A", 0, 8, 600), gangOf("B", 0, 8, 600)}
}
