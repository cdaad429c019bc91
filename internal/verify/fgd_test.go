package verify

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/gangplan/gangplan/testdata"
)

// openbData is the folder of the openb lists, or the test is skipped.
func openbData(t *testing.T) string {
	t.Helper()
	shared := os.Getenv("GANGPLAN_SHARED")
	if shared == "" {
		t.Skip("GANGPLAN_SHARED is not set: the openb node and pod lists are not shipped")
	}
	data := filepath.Join(shared, "traces", "openb-v2023")
	if _, err := os.Stat(data); errors.Is(err, fs.ErrNotExist) {
		t.Skip(err)
	}
	return data
}

// someRuns writes a file of every few published runs: each workload and policy is among
// them, and another seed for each.
func someRuns(t *testing.T) string {
	t.Helper()
	var out bytes.Buffer
	i := 0
	err := eachLine("", testdata.FGD, func(line []byte) error {
		if i++; i%everyNth == 1 {
			out.Write(line)
			out.WriteByte('\n')
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "some.jsonl")
	if err := os.WriteFile(name, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

const everyNth = 9 // has no divisor in common with the ten seeds of a policy

// With GANGPLAN_ALL all 300 runs are played, as the command does.
func TestFGD(t *testing.T) {
	o, exact, within := Options{Data: openbData(t)}, 250, 50
	if os.Getenv("GANGPLAN_ALL") == "" {
		o.Cases, exact, within = someRuns(t), 27, 7
	}
	r, err := fgd.Check(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range r.Results {
		if c.Verdict == Outside {
			t.Errorf("%s: %s", c.ID, c.Reason)
		}
	}
	if r.Exact != exact || r.Within != within {
		t.Errorf("%d exact and %d within, want %d and %d", r.Exact, r.Within, exact, within)
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
