package sweep

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gangplan/gangplan/internal/scenario"
	"github.com/gangplan/gangplan/internal/study"
)

// tiny is a study whose runs take no time. Its matrix is to follow.
const tiny = `apiVersion: gangplan/v1alpha1
kind: Study
name: tiny
scenario:
  name: two-racks
  cluster: {synthetic: {racks: 2, hosts: 2, gpus: 8}}
  workload: {synthetic: {mix: llm, jobs: 6, load: 1}}
  policies: [gang, per-pod, {name: gang, as: random, ties: random}]
  waitForPodsReady: {timeout: 5m}
  timing: kubernetes
  until: 12h
`

// planOf plans tiny with a matrix.
func planOf(t testing.TB, matrix string) *Plan {
	t.Helper()
	p, err := tryPlan(tiny+matrix, "v1.0.0")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func tryPlan(text, version string) (*Plan, error) {
	s, err := scenario.ParseStudy("study.yaml", []byte(text), "testdata", study.MetricNames())
	if err != nil {
		return nil, err
	}
	return NewPlan(context.Background(), s, version, 0)
}

// finished runs all of a plan and returns its folder.
func finished(t testing.TB, p *Plan, parallel int) string {
	t.Helper()
	dir := t.TempDir()
	run(t, p, Options{Dir: dir, Parallel: parallel})
	finish(t, p, dir)
	return dir
}

func run(t testing.TB, p *Plan, o Options) Progress {
	t.Helper()
	done, err := p.Run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return done
}

func finish(t testing.TB, p *Plan, dir string) *Sweep {
	t.Helper()
	s, err := p.Finish(dir)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// files are the files below a folder and the hashes of what is in them.
func files(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		sum := sha256.Sum256(data)
		name, _ := filepath.Rel(dir, path)
		all[filepath.ToSlash(name)] = fmt.Sprintf("%d bytes, %s", len(data), hex.EncodeToString(sum[:8]))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// same wants two folders to have the same files with the same bytes.
func same(t testing.TB, want, got string) {
	t.Helper()
	if diff := cmp.Diff(files(t, want), files(t, got)); diff != "" {
		t.Errorf("%s is not as it should be:\n%s", got, diff)
	}
}

// spoil changes a file in place.
func spoil(t testing.TB, path string, how func(data []byte) []byte) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	changed := how(bytes.Clone(data))
	if bytes.Equal(changed, data) {
		t.Fatalf("%s was not spoilt", path)
	}
	// A file of its own: results are linked to the cells' files.
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, changed, 0o666); err != nil {
		t.Fatal(err)
	}
}

// wantError wants an error that says all of some words.
func wantError(t testing.TB, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error, expected %q", words)
		return
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%v\nexpected %q", err, w)
		}
	}
}
