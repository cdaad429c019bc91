package verify

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestEffects(t *testing.T) {
	r := checkShipped(t, "effects", 13)
	for _, o := range r.Results {
		t.Logf("%-8s %s: %s", o.Verdict, o.ID, o.Reason)
	}
}

// The table of docs/validation.md is what the suite says today.
func TestEffectsDoc(t *testing.T) {
	table, err := EffectsTable(Options{})
	if err != nil {
		t.Fatal(err)
	}
	sameSection(t, "effects", table)
}

// A file of effects brings its scenarios; what is outside, or cannot be played, is said.
func TestEffectsFromFile(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("s.yaml", `apiVersion: gangplan/v1alpha1
kind: Scenario
cluster: {levels: [host], synthetic: {hosts: 2, gpus: 8}}
fabric: {profile: custom, domainBusGBps: 100, nics: 1, nicGBps: 10}
workload:
  jobs:
  - {id: in, steps: 10, pods: 2, gpusPerPod: 1, node: host-0, model: {gradientGB: 1, compute: 100ms, overlap: 0}}
  - {id: out, steps: 10, model: {gradientGB: 1, compute: 100ms, overlap: 0}, podSets: [{name: a, gpusPerPod: 1, node: host-0}, {name: b, gpusPerPod: 1, node: host-1}]}
  - {id: silent, duration: 1m, gpus: 1}
policies: [per-pod]
`)
	row := `{"id":"a","what":"w","measure":"step","job":{"scenario":"s.yaml","id":"out"},"over":{"scenario":"s.yaml","id":"in"},"published":1.8,"low":1.8,"high":1.9,"claim":"c"}`
	// 0.1 s + 1 GB / 10 GB/s over 0.1 s + 1 GB / 100 GB/s; the exchanges alone are ten to one
	tests := []struct{ name, old, new, want string }{
		{"right", "", "", "1 within"},
		{"the exchange", `"step"`, `"exchange"`, "1 outside"},
		{"no such job", `"id":"in"`, `"id":"im"`, "s.yaml: no job im"},
		{"a job without a model", `"id":"in"`, `"id":"silent"`, "trains no model"},
		{"no such scenario", `"scenario":"s.yaml","id":"in"`, `"scenario":"t.yaml","id":"in"`, "t.yaml"},
		{"another measure", `"step"`, `"steps"`, ":1: expected an id, the measure step or exchange"},
		{"a wide claim", `"low":1.8`, `"low":2.8`, ":1: expected an id"},
	}
	for _, tt := range tests {
		path := write("effects.jsonl", strings.Replace(row, tt.old, tt.new, 1))
		s, _ := Lookup("effects")
		r, err := s.Check(Options{Cases: path})
		got := ""
		if err != nil {
			got = err.Error()
		} else if r.Within == 1 {
			got = "1 within"
		} else if r.Outside == 1 {
			got = "1 outside"
		}
		if !strings.Contains(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}
