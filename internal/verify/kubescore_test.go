package verify

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestKubeScoreShippedCases(t *testing.T) {
	checkAllEqual(t, kubeScore, Options{}, 225)
}

// checkAllEqual runs a suite and wants so many cases, all of them exact.
func checkAllEqual(t *testing.T, s Suite, o Options, cases int) {
	t.Helper()
	r, err := s.Check(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range r.Results {
		if c.Verdict != Equal {
			t.Errorf("%s: %s: %s", c.ID, c.Verdict, c.Reason)
		}
	}
	if r.Cases != cases || r.Exact != cases {
		t.Errorf("%d of %d cases exact, want %d", r.Exact, r.Cases, cases)
	}
}

// A suite must notice a wrong answer, or its exact ones mean nothing.
func TestKubeScoreFindsDifferences(t *testing.T) {
	const right = `{"id":"a","profile":"default","nodes":[{"name":"n0","alloc":{"cpu_m":4000,"mem_mi":4096,"gpu":1},"pods_cap":110},` +
		`{"name":"n1","alloc":{"cpu_m":1000,"mem_mi":4096,"gpu":0},"pods_cap":110}],` +
		`"pod":{"cpu_m":2000,"mem_mi":1024,"gpu":0},"expected":{"feasible":["n0"],"infeasible":{"n1":["Insufficient cpu"]},` +
		`"scores":{"n0":{"total":449,"plugins":{"ImageLocality":0,"NodeResourcesBalancedAllocation":87,"NodeResourcesFit":62,"TaintToleration":300}}},"best":["n0"]}}`
	for _, c := range []struct {
		name, old, new string
		verdict        Verdict
		reason         string
	}{
		{"right", "", "", Equal, ""},
		{"feasible", `"feasible":["n0"]`, `"feasible":["n0","n1"]`, Outside, "feasible: "},
		{"reason", "Insufficient cpu", "Insufficient memory", Outside, "infeasible: "},
		{"plugin", `Fit":62`, `Fit":63`, Outside, "scores: "},
		{"total", `449`, `450`, Outside, "scores: "},
		{"best", `"best":["n0"]`, `"best":["n1"]`, Outside, "best: "},
		{"profile", `"default"`, `"mine"`, Skipped, `profile "mine"`},
		{"field", `"pod":{`, `"pod":{"ports":[80],`, Skipped, "unknown field"},
	} {
		path := filepath.Join(t.TempDir(), "cases.jsonl")
		if err := os.WriteFile(path, []byte(strings.Replace(right, c.old, c.new, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := kubeScore.Check(Options{Cases: path})
		if err != nil {
			t.Fatal(err)
		}
		got := r.Results[0]
		if got.Verdict != c.verdict || !strings.Contains(got.Reason, c.reason) {
			t.Errorf("%s: %s (%s), want %s with %q", c.name, got.Verdict, got.Reason, c.verdict, c.reason)
		}
	}
}

func TestKubeScoreNobodyFits(t *testing.T) {
	got := scheduleKube(&kubeCase{
		Nodes: []kubeNode{
			{Name: "a", Alloc: kubePod{1000, 1024, 0}, PodsCap: 1, Existing: []kubePod{{}}},
			{Name: "b", Taint: "NoExecute"}, {Name: "c", Taint: "NoSchedule", Unschedulable: true},
			{Name: "d", Alloc: kubePod{1000, 4096, 1}, PodsCap: 9},
		},
		Pod: kubePod{2000, 2048, 1},
	}, kubeProfiles["default"]())
	const want = "0/4 nodes are available: 1 Insufficient memory, 1 Insufficient nvidia.com/gpu, 1 Too many pods, " +
		"1 node(s) had untolerated taint(s), 1 node(s) were unschedulable, 2 Insufficient cpu."
	if got.Err != want {
		t.Errorf("got  %s\nwant %s", got.Err, want)
	}
	if got.Scores != nil || got.Best != nil || len(got.Feasible) != 0 {
		t.Errorf("scores without a feasible node: %+v", got)
	}
}
