package verify

import (
	"encoding/json"
	"testing"
)

// Every recorded decision is reproduced, and none is passed over.
func TestKueueExact(t *testing.T) {
	for _, name := range []string{"kueue-quota", "kueue-cycle"} {
		s, ok := Lookup(name)
		if !ok {
			t.Fatalf("no suite %s", name)
		}
		r, err := s.Check(Options{})
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
}
