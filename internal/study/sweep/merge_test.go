package sweep

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// leave leaves half a file behind, and its folders, as a process that was killed two days ago.
func leave(t *testing.T, dir, name string) {
	t.Helper()
	path, at := filepath.Join(dir, name), time.Now().Add(-48*time.Hour)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte("half"), 0o666)); err != nil {
		t.Fatal(err)
	}
	for ; path != dir; path = filepath.Dir(path) {
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
}

// mergeOf merges some folders of a plan into a new one.
func mergeOf(t *testing.T, p *Plan, sources ...string) (*Sweep, string, error) {
	dir := t.TempDir()
	s, err := p.Merge(context.Background(), dir, sources, 0)
	return s, dir, err
}

// shardOf runs one shard of a plan by itself.
func shardOf(t *testing.T, p *Plan, index, of int) string {
	dir := t.TempDir()
	run(t, p, Options{Dir: dir, Shard: Shard{index, of}})
	return dir
}

func TestMergeOfHoles(t *testing.T) {
	p := planOf(t, small)
	_, dir, err := mergeOf(t, p, shardOf(t, p, 0, 3), shardOf(t, p, 2, 3))
	wantError(t, err, "4 of 12 cells missing:\n", "policy gang, racks ", "seed ")
	if Is(dir) {
		t.Error("there are results all the same")
	}
	_, _, err = mergeOf(t, p)
	wantError(t, err, "12 of 12 cells missing:\n", "and 2 more")
}

// A merge leaves its sources alone, and takes a cell that several have once.
func TestMergeOfMoreThanEnough(t *testing.T) {
	p := planOf(t, small)
	a, b, c := shardOf(t, p, 0, 2), shardOf(t, p, 1, 2), shardOf(t, p, 1, 3)
	before := files(t, a)
	_, dir, err := mergeOf(t, p, a, b, c, a)
	if err != nil {
		t.Fatal(err)
	}
	same(t, finished(t, p, 0), dir)
	if len(before) != len(files(t, a)) {
		t.Error("a source was changed")
	}
}

func TestMergeOfForeignCells(t *testing.T) {
	p := planOf(t, small)
	own := []string{shardOf(t, p, 0, 2), shardOf(t, p, 1, 2)}
	old, err := tryPlan(tiny+small, "v0.9.0")
	if err != nil {
		t.Fatal(err)
	}
	nameless, err := tryPlan(strings.Replace(tiny, "  name: two-racks\n", "", 1)+"matrix: {policy: [gang], until: [1h]}\n", "v1.0.0")
	if err != nil {
		t.Fatal(err)
	}
	odd := t.TempDir()
	if err := os.MkdirAll(filepath.Join(odd, cellsDir, strings.Repeat("0", idDigits)), 0o777); err != nil {
		t.Fatal(err)
	}
	for want, foreign := range map[string]string{
		"made by gangplan v0.9.0; this is v1.0.0":                   shardOf(t, old, 3, 12),
		"no cell of the study has this scenario":                    shardOf(t, planOf(t, "matrix: {policy: [gang], until: [1h]}\n"), 0, 1),
		"no cell of the study has this policy, seed and `keep`":     shardOf(t, planOf(t, "matrix: {policy: [gang], seed: [9]}\n"), 0, 1),
		"seed 1 of a scenario without a name: no cell of the study": shardOf(t, nameless, 0, 1),
		"no cell of any study, or damaged":                          odd,
		"expected the folder of a sweep, with cells in it":          t.TempDir(),
		"policy gang, seed 9 of scenario \"two-racks\": no cell of": shardOf(t, planOf(t, "matrix: {policy: [gang], seed: [9]}\n"), 0, 1),
	} {
		_, dir, err := mergeOf(t, p, append(own, foreign)...)
		wantError(t, err, foreign, want)
		if Is(dir) {
			t.Errorf("%s: there are results all the same", want)
		}
	}
}

// A shard's damaged cell is named, and not copied over a good one.
func TestMergeOfDamage(t *testing.T) {
	p := planOf(t, small)
	a, b := shardOf(t, p, 0, 2), shardOf(t, p, 1, 2)
	spoil(t, filepath.Join(b, cellsDir, p.tasks[1].id, "summary.json"), func(data []byte) []byte { return data[:20] })
	_, _, err := mergeOf(t, p, a, b)
	wantError(t, err, p.tasks[1].cell, "damaged")
}

// What processes that were killed left behind is no cell, and goes away.
func TestMergeSweepsAway(t *testing.T) {
	p := planOf(t, "matrix: {policy: [gang]}\n")
	want, dir := finished(t, p, 0), t.TempDir()
	run(t, p, Options{Dir: dir})
	for _, left := range []string{cellsDir + "/" + tempPrefix + "123/gang/summary.json", cellsDir + "/" + tempPrefix + "x/y", stagePrefix + "9/data/z"} {
		leave(t, dir, filepath.FromSlash(left))
	}
	if _, err := p.Merge(context.Background(), dir, nil, 0); err != nil {
		t.Fatal(err)
	}
	same(t, want, dir)
}

// A merge that is refused writes nothing: no folders, and the results that there are stay.
func TestRefusedMergeWritesNothing(t *testing.T) {
	p := planOf(t, small)
	b := shardOf(t, p, 1, 2)
	spoil(t, filepath.Join(b, cellsDir, p.tasks[1].id, "summary.json"), func(data []byte) []byte { return data[:20] })
	fresh := filepath.Join(t.TempDir(), "out")
	old := finished(t, planOf(t, "matrix: {policy: [gang], until: [1h]}\n"), 0)
	before := files(t, old)
	for _, sources := range [][]string{nil, {b}, {shardOf(t, p, 0, 2), b}} {
		_, err := p.Merge(context.Background(), fresh, sources, 0)
		if _, absent := os.Stat(fresh); err == nil || !errors.Is(absent, fs.ErrNotExist) {
			t.Errorf("%v, and the folder: %v", err, absent)
		}
		if _, err := p.Merge(context.Background(), old, sources, 0); err == nil {
			t.Error("merged with the cells of another study")
		}
	}
	if diff := cmp.Diff(before, files(t, old)); diff != "" {
		t.Errorf("what was there is another: %s", diff)
	}
}
