package verify

import (
	"path/filepath"
	"testing"

	"github.com/gangplan/gangplan/policies/stage"
)

// TestKueueTASExact wants every recorded topology assignment to the letter.
func TestKueueTASExact(t *testing.T) {
	for _, name := range []string{"kueue-tas", "kueue-tas-sequences"} {
		s, ok := Lookup(name)
		if !ok {
			t.Fatalf("no suite %s", name)
		}
		r, err := s.Check(Options{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		t.Logf("%s: %d cases, %d exact", name, r.Cases, r.Exact)
		if r.Outside > 0 || r.Skipped > 0 || r.Within > 0 || r.Cases < 50 {
			t.Errorf("%s: %d outside, %d skipped, %d within of %d", name, r.Outside, r.Skipped, r.Within, r.Cases)
		}
		shown := 0
		for _, o := range r.Results {
			if o.Verdict == Outside && shown < 3 {
				shown++
				t.Errorf("%s: %s", o.ID, o.Reason)
			}
		}
	}
}

// TestKueueTASVersions wants the same of what Kueue 0.19.2 and 0.17.0 answered: leaders and
// balanced placement (0.19), taints, selectors and node affinity, layers of slices, and a node
// of an assignment replaced, with another down in some.
func TestKueueTASVersions(t *testing.T) {
	r, err := kueueTAS.Check(Options{Cases: filepath.Join("..", "..", "testdata", "conformance", "kueue_tas_versions.jsonl.gz")})
	if err != nil {
		t.Fatal(err)
	}
	if r.Exact != 1400 || r.Cases != 1400 {
		t.Errorf("%d exact of %d, want 1400 of 1400: %+v", r.Exact, r.Cases, r.Mismatches[:min(3, len(r.Mismatches))])
	}
}

// TestKueueTASGates wants the same of cases that Kueue 0.17.0 answered with other gates:
// slices beside leaders, several layers of slices, and BestFit for everything.
func TestKueueTASGates(t *testing.T) {
	path := filepath.Join("..", "..", "testdata", "conformance", "kueue_tas_gates.jsonl.gz")
	r, err := kueueTAS.Check(Options{Cases: path})
	if err != nil {
		t.Fatal(err)
	}
	if r.Exact != 1000 || r.Cases != 1000 {
		t.Errorf("%d exact of %d, want 1000 of 1000: %+v", r.Exact, r.Cases, r.Mismatches[:min(3, len(r.Mismatches))])
	}
	flat, layered := stage.Kueue017, stage.Kueue017
	flat.Mixed, layered.MultiLayer = false, true
	for gates, want := range map[string]stage.Preset{
		"default":                    stage.Kueue017,
		"TASProfileMixed=false":      flat,
		"TASMultiLayerTopology=true": layered,
	} {
		if got := (&tasCluster{Gates: gates}).preset(); got != want {
			t.Errorf("%s: %+v, want %+v", gates, got, want)
		}
	}
}
