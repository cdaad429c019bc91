package verify

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// checkLine runs the scenarios suite over one line and returns the outcomes.
func checkLine(t *testing.T, line string) []Outcome {
	t.Helper()
	file := filepath.Join(t.TempDir(), "cases.jsonl")
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(line, "\n", " ")+"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	r, err := scenarios.Check(Options{Cases: file})
	if err != nil {
		t.Fatal(err)
	}
	return r.Results
}

// two racks of two hosts each, and a job of six pods.
const racks = `"id": "X", "queues": {"q": {"quota_gpus": 16}}, "config": {},
	"cluster": {"racks": [{"name": "r1", "hosts": [{"name": "h1", "gpus": 4}, {"name": "h2", "gpus": 3}]},
		{"name": "r2", "hosts": [{"name": "h3", "gpus": 3}, {"name": "h4", "gpus": 1}]}]},
	"jobs": [{"id": "P", "submit": 0, "pods": 6, "gpus_per_pod": 1, "duration": 10, "topology": {"required": "rack"}}]`

// groups is two superpods, of leaves of 1, 2 and 3 hosts and of 2 and 5.
const groups = `"id": "Y", "queues": {"q": {"quota_gpus": 104}}, "config": {},
	"cluster": {"leaf_groups": [1, 2, 2, 3, 5], "gpus_per_host": 8,
		"superpods": [{"name": "A", "leaf_groups": "the others"}, {"name": "B", "leaf_groups": [2, 5]}]},
	"jobs": [{"template": "g{k}", "k": "0..3", "submit": 0, "pods": 3, "gpus_per_pod": 8, "duration": 60}]`

// What scenarios expect of placement is found where it holds, and missed where it does not.
func TestTopologyExpectations(t *testing.T) {
	for _, c := range []struct {
		name, line string
		want       []string // verdict and reason of every outcome
	}{
		{"assignment to racks", `{"policy": ["gang-topology"], ` + racks + `, "expect": {"assignment": {"r1": 6}, "P_start": 0}}`, []string{"equal "}},
		{"assignment to hosts", `{"policy": ["gang-topology"], ` + racks + `, "expect": {"assignment": {"h1": 4, "h2": 2}}}`, []string{"equal "}},
		{"another assignment", `{"policy": ["gang-topology"], ` + racks + `, "expect": {"assignment": {"r1": 5, "r2": 1}}}`, []string{"outside differs in assignment"}},
		{"nodes by rank", `{"policy": ["gang-topology"], ` + racks + `, "expect": {"P_on": ["h1", "h1", "h1", "h1", "h2", "h2"]}}`, []string{"equal "}},
		{"a placement", `{"policy": ["gang-topology/spread"], ` + racks + `, "expect": {"P_on": ["h1", "h1", "h1", "h2", "h2", "h2"]}}`, []string{"equal "}},
		{"a placement by its name", `{"policy": ["TAS spread"], ` + racks + `, "expect": {"assignment": {"h1": 3, "h2": 3}}}`, []string{"equal "}},
		{"nowhere", `{"policy": ["gang-topology"], ` + racks + `, "expect": {"assignment": {"h9": 3}}}`, []string{"skipped an assignment to map[h9:3]"}},
		{"no placement", `{"policy": ["gang-topology/best"], ` + racks + `, "expect": {"P_start": 0}}`, []string{"outside not a valid scenario"}},
		{"a rack with more", `{"policy": ["gang-topology"], "id": "Z", "cluster": {"racks": [{"name": "r", "nic": 4}]}, "expect": {"P_start": 0}}`, []string{"skipped rack: nic"}},
		{"racks by number", `{"policy": ["gang-topology"], "id": "Z", "cluster": {"racks": 4}, "expect": {"P_start": 0}}`, []string{"skipped racks that do not list"}},
		{"preemption as the queue has it", `{"policy": ["gang-topology+preemption"], "id": "Z", "cluster": {"nodes": [{"name": "n1", "gpus": 8, "max_pods": 2}, {"name": "n2", "gpus": 2}]},
			"queues": {"q": {"quota_gpus": 100, "preemption": {"withinClusterQueue": "LowerPriority"}}}, "config": {}, "jobs": [
				{"id": "a", "submit": 0, "pods": 1, "gpus_per_pod": 4, "duration": 50}, {"id": "b", "submit": 0, "pods": 1, "gpus_per_pod": 4, "duration": 50},
				{"id": "c", "submit": 0, "pods": 1, "gpus_per_pod": 2, "duration": 50}, {"id": "H", "submit": 10, "pods": 2, "gpus_per_pod": 3, "duration": 6, "priority": 1}],
			"expect": {"preempted": ["a", "b"], "preemptions": 2, "H_start": 10, "c_end": 50, "a_end": 66}}`, []string{"equal "}},

		{"by variant", `{"policy": ["gang-topology/required leaf", "gang-topology/required superpod", "gang-topology/preferred"], ` + groups + `, "expect": {
			"required leaf": {"concurrent": 2, "hosts_used": 6, "hosts_idle": 7, "makespan": 120},
			"required superpod": {"concurrent": 4, "hosts_idle_first_wave": 1, "makespan": 60},
			"gang-topology/preferred": {"concurrent": 4, "hosts_idle": 0}}}`,
			[]string{"equal ", "equal ", "outside differs in hosts_idle"}},
		{"runs of their own", `{"policy": ["gang-topology/required leaf"], ` + groups + `, "expect": {"required leaf": {"concurrent": 2},
			"job needing 6 hosts in one leaf": {"verdict": "never satisfiable (largest leaf group is 5)"},
			"job needing 7 hosts in one leaf": {"verdict": "never satisfiable (largest leaf group is 6)"},
			"job needing 5 hosts in one leaf": {"verdict": "never satisfiable"},
			"job needing 8 hosts in one superpod": {"verdict": "refused"}}}`,
			[]string{"equal ", "outside differs in verdict", "equal ", "outside differs in verdict", "skipped the verdict refused"}},
		{"too many groups", `{"policy": ["gang-topology"], "id": "Z", "cluster": {"leaf_groups": [1], "superpods": [{"name": "A", "leaf_groups": [2]}], "gpus_per_host": 8},
			"expect": {"P_start": 0}}`, []string{"skipped a superpod with a leaf group of 2"}},
		{"groups left over", `{"policy": ["gang-topology"], "id": "Z", "cluster": {"leaf_groups": [1, 2], "superpods": [{"name": "A", "leaf_groups": [2]}], "gpus_per_host": 8},
			"expect": {"P_start": 0}}`, []string{"skipped leaf groups in no superpod"}},

		{"once settled", `{"policy": ["gang-placement"], "id": "Z", "cluster": {"nodes": [{"name": "n", "gpus": 8, "cpus": 32, "max_pods": 3}]},
			"queues": {"q": {"quota_gpus": 8}}, "config": {}, "jobs": [{"template": "j{k}", "k": "0..4", "submit": "5*k", "pods": 1, "gpus_per_pod": 1, "cpus_per_pod": 8, "duration": 100}],
			"expect": {"running": 3, "pending": 2, "free_gpus": 5, "stranded_gpus": 5, "note": "pods are the limit"}}`, []string{"equal "}},
		{"nothing stranded", `{"policy": ["gang-placement"], "id": "Z", "cluster": {"nodes": [{"name": "n", "gpus": 8}]},
			"queues": {"q": {"quota_gpus": 8}}, "config": {}, "jobs": [{"id": "j", "submit": 0, "pods": 1, "gpus_per_pod": 1, "duration": 100}],
			"expect": {"running": 1, "pending": 1, "free_gpus": 7, "stranded_gpus": 7}}`, []string{"outside differs in pending, stranded_gpus"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := checkLine(t, c.line)
			if len(got) != len(c.want) {
				t.Fatalf("%d outcomes: %v", len(got), got)
			}
			for i, o := range got {
				if text := string(o.Verdict) + " " + o.Reason; !strings.HasPrefix(text, c.want[i]) || c.want[i] == "equal " && text != c.want[i] {
					t.Errorf("%s: got %q, want %q (want %v, got %v)", o.ID, text, c.want[i], o.Want, o.Got)
				}
			}
		})
	}
}
