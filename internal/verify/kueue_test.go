package verify

import (
	"encoding/json"
	"testing"
)

// Every recorded decision is reproduced, and none is passed over.
func TestKueueExact(t *testing.T) {
	exactly(t, "kueue-quota", Options{})
	exactly(t, "kueue-cycle", Options{})
}

// So are those of corners that the shipped tables touch rarely: lending limits at several levels
// of deep trees, cohorts with quota of their own, weights of 0 and of halves, more flavors and
// groups, priority thresholds, fewer pods of several PodSets. They were drawn at random and
// answered by the code of Kueue v0.17.0.
func TestKueueCorners(t *testing.T) {
	exactly(t, "kueue-quota", Options{Cases: "../../testdata/conformance/kueue_quota_corners.jsonl.gz"})
	exactly(t, "kueue-cycle", Options{Cases: "../../testdata/conformance/kueue_cycle_corners.jsonl.gz"})
}

func exactly(t *testing.T, name string, o Options) {
	t.Helper()
	s, ok := Lookup(name)
	if !ok {
		t.Fatalf("no suite %s", name)
	}
	r, err := s.Check(o)
	if err != nil {
		t.Fatal(err)
	}
	if r.Exact != r.Cases || r.Outside != 0 || r.Skipped != 0 || r.Cases == 0 {
		t.Errorf("%s: %d cases, %d exact, %d outside, %d skipped", name, r.Cases, r.Exact, r.Outside, r.Skipped)
	}
	for i, m := range r.Mismatches {
		if i == 5 {
			break
		}
		want, _ := json.Marshal(m.Want)
		got, _ := json.Marshal(m.Got)
		t.Errorf("%s\nwant %s\ngot  %s", m.ID, want, got)
	}
}
