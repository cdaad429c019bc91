package report

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gangplan/gangplan/sim"
)

// staged opens a stage in a new folder in which each name is already taken by a folder,
// so that a file of that name cannot be created.
func staged(t *testing.T, taken ...string) *stage {
	t.Helper()
	s, err := newStage(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.close() })
	for _, name := range taken {
		if err := os.MkdirAll(filepath.Join(s.path, name), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func TestStageRefusesANameTwice(t *testing.T) {
	r := recordOf(t, "gang", "gang")
	s := staged(t, "gang")
	if _, err := s.write("gang", &r); !os.IsExist(err) {
		t.Errorf("error %v", err)
	}
}

// A file that cannot be created is named in the error.
func TestWriteFileNamesTheFile(t *testing.T) {
	s := staged(t, "gang/summary.json")
	err := writeFile(filepath.Join(s.path, "gang", "summary.json"), nil)
	if err == nil || !strings.Contains(err.Error(), "summary.json") {
		t.Errorf("error %v", err)
	}
}

func TestWriteRunsIntoAnImpossibleFolder(t *testing.T) {
	parent := t.TempDir()
	write(t, filepath.Join(parent, "file"), "")
	dir := filepath.Join(parent, "file", "out")
	if _, err := WriteRuns(dir, []Record{recordOf(t, "gang", "gang")}); err == nil {
		t.Error("runs were written below a file")
	}
	if err := CheckRunDirs(dir, &Manifest{}, []string{"gang"}); err == nil {
		t.Error("CheckRunDirs allows a folder below a file")
	}
}

// A run that could not be put back is kept, and its new place told.
func TestPutBackFails(t *testing.T) {
	s := staged(t)
	write(t, filepath.Join(s.path, "old-gang", "manifest.json"), "old")
	write(t, filepath.Join(s.dir, "gang", "in the way"), "")
	err := s.putBack(filepath.Join(s.path, "old-gang"), filepath.Join(s.dir, "gang"))
	if err == nil || !strings.Contains(err.Error(), filepath.Join(s.path, "old-gang")) {
		t.Errorf("error %v", err)
	}
	if err := s.close(); err != nil {
		t.Fatal(err)
	}
	if files(t, s.path)["old-gang/manifest.json"] != "old" {
		t.Error("the earlier run was cleaned away")
	}
}

func TestReadManifestOfStrangers(t *testing.T) {
	for content, want := range map[string]string{
		`{`: "unexpected end", `[]`: "is no manifest of a run", `{"kind": "Run", "inputs": 3}`: "damaged: json: cannot unmarshal",
		`{"kind": "Run"}`: "expected apiVersion", `{"apiVersion": "gangplan/v1alpha1", "kind": "Sweep"}`: `got "gangplan/v1alpha1" and "Sweep"`,
	} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "manifest.json"), content)
		if _, err := ReadManifest(dir); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), dir) {
			t.Errorf("%s: error %v, want %q", content, err, want)
		}
	}
}

// A Parquet file that is none is an error with its name, not a difference.
func TestDiffOfABrokenFile(t *testing.T) {
	dir := t.TempDir()
	mustWrite(t, dir, script("a", opening...), script("b", opening...))
	for _, broken := range []string{"", "PAR1 and nothing else PAR1"} {
		write(t, filepath.Join(dir, "b", decisionsFile), broken)
		if _, err := Diff(filepath.Join(dir, "a"), filepath.Join(dir, "b")); err == nil || !strings.Contains(err.Error(), decisionsFile) {
			t.Errorf("%q: error %v", broken, err)
		}
	}
}

// Books of a run that never had any are empty, not a crash.
func TestMeasureWithoutBooks(t *testing.T) {
	r := handmade(1, 8)
	r.Books = nil
	vs := Measure(r, nil)
	if get(t, vs, "gpu_hours.capacity") != 0 || get(t, vs, "jobs.submitted") != 1 {
		t.Errorf("%v", vs)
	}
}

// NaN and infinity are no results; better a crash than a file that says so.
func TestValuesAreFinite(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a number that JSON cannot write was written")
		}
	}()
	zero := 0.0
	_ = Value{Name: "x", Number: 1 / zero}.text()
}

// A verdict names jobs by their ids wherever they stand in the trace.
func TestVerdictJobs(t *testing.T) {
	r := handmade(5)
	r.Findings = []sim.Finding{{Kind: sim.Livelock, Time: 9, Jobs: []int32{4, 0}}, {Kind: sim.Deadlock}}
	got := verdicts(r)
	if len(got) != 2 || strings.Join(got[0].Jobs, " ") != "job-E job-A" || got[0].TimeNanos != 9 || got[1].Jobs == nil {
		t.Errorf("%+v", got)
	}
}
