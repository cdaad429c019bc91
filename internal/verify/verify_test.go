package verify

import (
	"testing"
)

func TestScenarios(t *testing.T) {
	s, _ := Lookup("scenarios")
	r, err := s.Check(Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d cases, %d exact, %d outside, %d skipped", r.Cases, r.Exact, r.Outside, r.Skipped)
	for _, c := range r.Results {
		t.Logf("%s: %s %s", c.ID, c.Verdict, c.Reason)
	}
	for _, m := range r.Mismatches {
		t.Errorf("%s: want %v, got %v", m.ID, m.Want, m.Got)
	}
}
