package verify

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// checkShipped runs a suite on its shipped cases: all of them pass, and at least so many
// are compared.
func checkShipped(t *testing.T, suite string, compared int) *Report {
	t.Helper()
	s, ok := Lookup(suite)
	if !ok {
		t.Fatalf("no suite %q", suite)
	}
	r, err := s.Check(Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range r.Mismatches {
		t.Errorf("%s: want %v, got %v", m.ID, m.Want, m.Got)
	}
	if n := r.Exact + r.Within; n < compared {
		t.Errorf("%d cases compared, want at least %d", n, compared)
	}
	return r
}

func TestMaxMin(t *testing.T)   { checkShipped(t, "maxmin", 63) }
func TestRingJobs(t *testing.T) { checkShipped(t, "ring-jobs", 30) }

// A suite that is handed wrong answers says so, and broken files are refused by line.
func TestFlowCasesFromFile(t *testing.T) {
	good := `{"case":"a","links":[{"id":0,"bandwidth_Bps":10}],"flows":[{"route":[0],"size_B":10,"start_s":1,"finish_s":2}]}`
	tests := []struct{ name, suite, text, want string }{
		{"right", "maxmin", good, "1 within"},
		{"wrong", "maxmin", strings.Replace(good, `"finish_s":2`, `"finish_s":2.00001`, 1), "1 outside"},
		{"link ids", "maxmin", strings.Replace(good, `"id":0`, `"id":1`, 1), ":1: link 1: expected the id 0 and a rate above 0"},
		{"routes", "maxmin", strings.Replace(good, `[0]`, `[3]`, 1), ":1: a route over link 3 of 1"},
		{"iterations", "ring-jobs", `{"case":"a","jobs":[{"iterations":0}]}`, ":1: job 0: expected at least one iteration"},
		{"count", "ring-jobs", `{"case":"a","jobs":[{"iterations":1,"compute_s":1,"iteration_end_s":[]}]}`, "1 outside"},
		{"an iteration", "ring-jobs", `{"case":"a","jobs":[{"iterations":2,"compute_s":1,"iteration_end_s":[1,2]}]}`, "1 within"},
	}
	for _, tt := range tests {
		if got := checkText(t, tt.suite, tt.text); !strings.Contains(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

// checkText runs a suite on one line and returns the error or the first count that is not 0.
func checkText(t *testing.T, suite, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "cases.jsonl")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, _ := Lookup(suite)
	r, err := s.Check(Options{Cases: file})
	switch {
	case err != nil:
		return err.Error()
	case r.Outside == 1:
		return "1 outside"
	case r.Skipped == 1:
		return "1 skipped: " + r.Results[0].Reason
	case r.Within == 1:
		return "1 within"
	}
	return "1 exact"
}
