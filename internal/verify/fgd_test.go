package verify

import (
	"os"
	"path/filepath"
	"testing"
)

// openbData is the folder of the openb lists, or the test is skipped.
func openbData(t *testing.T) string {
	t.Helper()
	shared := os.Getenv("GANGPLAN_SHARED")
	if shared == "" {
		t.Skip("GANGPLAN_SHARED is not set: the openb node and pod lists are not shipped")
	}
	data := filepath.Join(shared, "traces", "openb-v2023")
	if _, err := os.Stat(data); err != nil {
		t.Skip(err)
	}
	return data
}

func TestFGD(t *testing.T) {
	if testing.Short() {
		t.Skip("300 runs of the study")
	}
	r, err := fgd.Check(Options{Data: openbData(t)})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range r.Results {
		if c.Verdict == Outside {
			t.Errorf("%s: %s", c.ID, c.Reason)
		}
	}
	if r.Exact != 250 || r.Within != 50 {
		t.Errorf("%d exact and %d within, want 250 and 50", r.Exact, r.Within)
	}
}

func TestFGDWithoutData(t *testing.T) {
	r, err := fgd.Check(Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Cases != 300 || r.Skipped != 300 || r.Results[0].Reason == "" {
		t.Errorf("%d of %d skipped, because %q", r.Skipped, r.Cases, r.Results[0].Reason)
	}
}
