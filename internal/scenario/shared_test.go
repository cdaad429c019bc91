package scenario

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A shared trace is read once, and what one scenario does to its jobs no other sees.
func TestSharedTrace(t *testing.T) {
	dir := t.TempDir()
	data, err := os.ReadFile("testdata/files/jobs.csv")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "jobs.csv")
	if err := os.WriteFile(file, data, 0o666); err != nil {
		t.Fatal(err)
	}
	base, err := Parse("s.yaml", []byte(withHeader("workload: {trace: jobs.csv}")))
	if err != nil {
		t.Fatal(err)
	}
	faster := overridden(t, base, "scale.load", "3")
	alone := make([]*Scenario, 2)
	for i, f := range []*File{base, faster} {
		if alone[i], err = f.Resolve(dir); err != nil {
			t.Fatal(err)
		}
	}
	var shared Traces
	if _, err := base.ResolveSharing(dir, &shared); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			s, err := []*File{base, faster}[i%2].ResolveSharing(dir, &shared)
			if err != nil {
				t.Error(err)
				return
			}
			want := alone[i%2]
			if diff := cmp.Diff(want.Config.Jobs, s.Config.Jobs); diff != "" || s.Hash != want.Hash {
				t.Errorf("jobs differ from those of a scenario by itself:\n%s", diff)
			}
			if diff := cmp.Diff(want.Inputs, s.Inputs); diff != "" {
				t.Error(diff)
			}
		})
	}
	wg.Wait()
}

// A trace that cannot be read is an error for everybody.
func TestSharedTraceError(t *testing.T) {
	base, err := Parse("s.yaml", []byte(withHeader("workload: {trace: broken.csv}")))
	if err != nil {
		t.Fatal(err)
	}
	_, want := base.Resolve("testdata/files")
	var shared Traces
	for range 2 {
		if _, err := base.ResolveSharing("testdata/files", &shared); err == nil || err.Error() != want.Error() {
			t.Errorf("%v, expected %v", err, want)
		}
	}
}

func overridden(t *testing.T, f *File, path, value string) *File {
	t.Helper()
	o, err := Set("--set", path, value)
	if err != nil {
		t.Fatal(err)
	}
	if f, err = f.With(o); err != nil {
		t.Fatal(err)
	}
	return f
}
