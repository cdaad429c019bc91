package sweep

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

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
	wantError(t, err, "4 of 12 cells are missing:\n", "policy gang, racks ", "seed ")
	if Is(dir) {
		t.Error("there are results all the same")
	}
	_, _, err = mergeOf(t, p)
	wantError(t, err, "12 of 12 cells are missing:\n", "and 2 more")
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
	odd := t.TempDir()
	if err := os.MkdirAll(filepath.Join(odd, cellsDir, strings.Repeat("0", idDigits)), 0o777); err != nil {
		t.Fatal(err)
	}
	for want, foreign := range map[string]string{
		"made by gangplan v0.9.0; this is v1.0.0":                   shardOf(t, old, 3, 12),
		"no cell of the study has this scenario":                    shardOf(t, planOf(t, "matrix: {policy: [gang], until: [1h]}\n"), 0, 1),
		"no cell of the study has this policy, seed and `keep`":     shardOf(t, planOf(t, "matrix: {policy: [gang], seed: [9]}\n"), 0, 1),
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
	for _, left := range []string{cellsDir + "/" + tempPrefix + p.tasks[0].id + "-123/gang/summary.json", cellsDir + "/" + tempPrefix + "x/y", stagePrefix + "9/data/z"} {
		path := filepath.Join(dir, filepath.FromSlash(left))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("half"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := p.Merge(context.Background(), dir, nil, 0); err != nil {
		t.Fatal(err)
	}
	same(t, want, dir)
}
