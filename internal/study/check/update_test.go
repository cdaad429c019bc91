package check

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// What an update that was killed left behind is taken away by the next. A kill between two
// renames leaves a new record beside an old baseline: the gate still goes by the baseline.
func TestUpdateAfterAKill(t *testing.T) {
	dir := based(t, map[string]string{"a.yaml": queueing, "b.yaml": drawn})
	before := contents(t, dir)
	edit(t, dir, "a.yaml", "strategy: StrictFIFO, ", "")
	run(t, dir, Options{Update: true})
	after := contents(t, dir)
	put(t, dir, "a.baseline.yaml", before["a.baseline.yaml"])
	if err := os.Mkdir(filepath.Join(dir, stagePrefix+"1234"), 0o777); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, stagePrefix+"1234"), "a.baseline.yaml", "half a bas")
	old := time.Now().Add(-48 * time.Hour)
	for _, path := range []string{"a.baseline.yaml", ""} {
		if err := os.Chtimes(filepath.Join(dir, stagePrefix+"1234", path), old, old); err != nil {
			t.Fatal(err)
		}
	}
	g := run(t, dir, Options{})
	says(t, g, dir, false, "a.transitions.gz: the record is of other runs than the baseline", "✗ a · gang:")
	if g.Scenarios[0].Policies[0].Parting != nil {
		t.Error("a difference is told from a record of other runs")
	}
	run(t, dir, Options{Update: true})
	if !maps.Equal(contents(t, dir), after) {
		t.Errorf("the update after is another: %v", contents(t, dir))
	}
}

// A file that cannot be replaced is an error that names it; what was replaced before is said,
// and nothing is left behind.
func TestUpdateThatCannotReplace(t *testing.T) {
	dir := based(t, map[string]string{"a.yaml": queueing, "b.yaml": drawn})
	for _, name := range []string{"a.yaml", "b.yaml"} {
		edit(t, dir, name, "kind: Scenario", "kind: Scenario\nuntil: 1h")
	}
	blocked := filepath.Join(dir, "b.transitions.gz")
	if err := errors.Join(os.Remove(blocked), os.MkdirAll(filepath.Join(blocked, "full"), 0o777)); err != nil {
		t.Fatal(err)
	}
	_, err := Run(t.Context(), dir, Options{Update: true})
	if err == nil || !strings.Contains(err.Error(), "b.transitions.gz") || !strings.Contains(err.Error(), "(2 of 4 files were replaced before)") {
		t.Errorf("error %v", err)
	}
	for name := range contents(t, dir) {
		if strings.HasPrefix(name, ".") {
			t.Errorf("%s is left behind", name)
		}
	}
	says(t, run(t, dir, Options{Scenarios: []string{"a"}}), dir, true)
}

// A folder in which nothing can be made is noticed before anything is run.
func TestUpdateOfAnUnwritableFolder(t *testing.T) {
	dir := folder(t, map[string]string{"a.yaml": queueing})
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(dir, 0o755)
	if f, err := os.Create(filepath.Join(dir, "probe")); err == nil {
		f.Close()
		os.Remove(f.Name())
		t.Skip("this user may write everywhere")
	}
	if _, err := Run(t.Context(), dir, Options{Update: true}); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("error %v", err)
	}
}

// A stage that cannot be made says so, whoever runs it.
func TestStageNowhere(t *testing.T) {
	dir := folder(t, map[string]string{"file": ""})
	if _, err := newStage(filepath.Join(dir, "file")); err == nil {
		t.Error("made below a file")
	}
	s, err := newStage(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.add("x/a", []byte("1")), s.add("y/a", []byte("2"))); !errors.Is(err, fs.ErrExist) {
		t.Errorf("two files of one name: %v", err)
	}
}
