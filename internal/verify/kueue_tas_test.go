package verify

import "testing"

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
