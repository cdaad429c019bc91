package report

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// write puts a file where none is.
func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
}

// An earlier run of the same label is replaced as a whole, others stay.
func TestWriteRunsReplacesRuns(t *testing.T) {
	dir := t.TempDir()
	old, other := recordOf(t, "gang", "per-pod"), recordOf(t, "other", "gang")
	if _, err := WriteRuns(dir, []Record{old, other}); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "gang", "plot.svg"), "made of the old run")
	before := files(t, dir)
	if _, err := WriteRuns(dir, []Record{recordOf(t, "gang", "gang")}); err != nil {
		t.Fatal(err)
	}
	after := files(t, dir)
	if m, err := ReadManifest(filepath.Join(dir, "gang")); err != nil || m.Policy != "gang" {
		t.Errorf("the old run is still there: %+v %v", m, err)
	}
	if _, there := after["gang/plot.svg"]; there {
		t.Error("a file of the old run is left in the new one")
	}
	if after["other/summary.json"] != before["other/summary.json"] {
		t.Error("a run that was not written changed")
	}
}

func TestWriteRunsRefuses(t *testing.T) {
	for _, c := range []struct {
		name, want string
		prepare    func(t *testing.T, dir string)
	}{
		{"a folder of something else", "is no run of gangplan", func(t *testing.T, dir string) { write(t, filepath.Join(dir, "gang", "thesis.tex"), "") }},
		{"a manifest of something else", "is no run of gangplan", func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, "gang", "manifest.json"), `{"name": "web app"}`)
		}},
		{"a file", "not a directory", func(t *testing.T, dir string) { write(t, filepath.Join(dir, "gang"), "") }},
		{"a file instead of the folder", "is a file", func(t *testing.T, dir string) { write(t, dir, "") }},
		{"a run instead of a folder of runs", "is a run itself", func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, "manifest.json"), `{"apiVersion": "gangplan/v1alpha1", "kind": "Run"}`)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "out")
			c.prepare(t, dir)
			before := files(t, dir)
			_, err := WriteRuns(dir, []Record{recordOf(t, "per-pod", "per-pod"), recordOf(t, "gang", "gang")})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
			if early := CheckRunDirs(dir, &Manifest{}, []string{"per-pod", "gang"}); early == nil || early.Error() != err.Error() {
				t.Errorf("CheckRunDirs says %v", early)
			}
			if !maps.Equal(files(t, dir), before) {
				t.Error("something was written all the same")
			}
		})
	}
}

func TestWriteRunsTakesAnEmptyFolder(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "gang"), 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := WriteRuns(dir, []Record{recordOf(t, "gang", "gang")}); err != nil {
		t.Error(err)
	}
}

// A run that cannot be written leaves no trace, neither of itself nor of those before it.
func TestWriteRunsIsAllOrNothing(t *testing.T) {
	parent := t.TempDir()
	dir := filepath.Join(parent, "out")
	good, bad := recordOf(t, "good", "gang"), recordOf(t, "bad", "gang")
	bad.Result.Config.Jobs[0].ID = "\xff not UTF-8"
	if warnings, err := WriteRuns(dir, []Record{good, bad}); err == nil {
		if len(warnings) > 0 {
			t.Skip(warnings[0])
		}
		t.Fatal("an id that is no text was written")
	}
	if left, _ := os.ReadDir(parent); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// Nothing hidden stays behind when all went well either.
func TestNoStageIsLeft(t *testing.T) {
	dir := t.TempDir()
	for range 2 {
		if _, err := WriteRuns(dir, []Record{recordOf(t, "gang", "gang")}); err != nil {
			t.Fatal(err)
		}
	}
	entries, _ := os.ReadDir(dir)
	if len(entries) != 1 || entries[0].Name() != "gang" {
		t.Errorf("in the folder: %v", entries)
	}
}

// If the new run cannot take its place, the earlier one is put back.
func TestPublishPutsBack(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "gang", "manifest.json"), "old")
	s, err := newStage(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.publish([]string{"gang"}); !errors.Is(err, fs.ErrNotExist) { // nothing was staged
		t.Errorf("error %v", err)
	}
	if err := s.close(); err != nil {
		t.Error(err)
	}
	if files(t, dir)["gang/manifest.json"] != "old" {
		t.Error("the earlier run is gone")
	}
}

func TestFolder(t *testing.T) {
	for label, want := range map[string]string{
		"gang": "gang", "per-pod/pack": "per-pod_pack", "gang strategy=StrictFIFO,ties=first": "gang_strategy=StrictFIFO,ties=first",
		"": "_", "..": "_..", ".hidden": "_.hidden", `a\b:c*`: "a_b_c_", "größe": "gr__e",
	} {
		if got := folder(label); got != want {
			t.Errorf("%q goes to %q, want %q", label, got, want)
		}
	}
}

func TestFoldersMustDiffer(t *testing.T) {
	for _, labels := range [][]string{{"a/b", "a b"}, {"gang", "gang"}, {"Gang", "gang"}} {
		if err := CheckRunDirs(t.TempDir(), &Manifest{}, labels); err == nil || !strings.Contains(err.Error(), "would both be written") {
			t.Errorf("%q: error %v", labels, err)
		}
	}
}

// Runs of one folder can be compared: what would stay there must be of the same scenario, seed
// and version. What would be replaced may be of any.
func TestRunsBesideOthers(t *testing.T) {
	for _, c := range []struct {
		name, want string
		change     func(r *Record)
	}{
		{"the same", "", func(*Record) {}},
		{"another scenario", "gang: is a run of another scenario than", func(r *Record) { r.Manifest.Scenario.Hash = "sha256:01" }},
		{"another seed", "gang: is a run of another seed than", func(r *Record) { r.Result.Seed++ }},
		{"another version", "gang: is a run of another version of gangplan than", func(r *Record) { r.Manifest.Version = "v0.2.0" }},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			old := []Record{recordOf(t, "gang", "gang"), recordOf(t, "per-pod", "per-pod")}
			if _, err := WriteRuns(dir, old); err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(dir, "notes", "manifest.json"), `{"name": "web app"}`)
			before := files(t, dir)
			fresh := recordOf(t, "per-pod", "per-pod")
			c.change(&fresh)
			_, err := WriteRuns(dir, []Record{fresh})
			if c.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.want) || !maps.Equal(files(t, dir), before) {
				t.Errorf("error %v, want %q and nothing written", err, c.want)
			}
			again := recordOf(t, "gang", "gang")
			c.change(&again)
			if _, err := WriteRuns(dir, []Record{fresh, again}); err != nil {
				t.Errorf("all are replaced: %v", err)
			}
		})
	}
}

func TestFindRuns(t *testing.T) {
	dir := t.TempDir()
	if _, err := WriteRuns(dir, []Record{recordOf(t, "b", "gang"), recordOf(t, "a", "gang")}); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, ".gangplan-123", "c", "manifest.json"), `{"apiVersion": "gangplan/v1alpha1", "kind": "Run"}`)
	write(t, filepath.Join(dir, "notes", "manifest.json"), `{"version": 3}`)
	runs, err := FindRuns(dir)
	if err != nil || len(runs) != 2 || filepath.Base(runs[0]) != "a" || filepath.Base(runs[1]) != "b" {
		t.Errorf("found %v, %v", runs, err)
	}
	if one, err := FindRuns(runs[0]); err != nil || len(one) != 1 || one[0] != runs[0] {
		t.Errorf("a run is not found by its own path: %v, %v", one, err)
	}
	if _, err := FindRuns(filepath.Join(dir, "notes")); err == nil {
		t.Error("a folder without runs is no error")
	}
	write(t, filepath.Join(dir, "notes", "c", "manifest.json"), "cut off")
	if _, err := FindRuns(filepath.Join(dir, "notes")); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("a damaged run is passed over: %v", err)
	}
	if _, err := FindRuns(filepath.Join(dir, "nowhere")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}
