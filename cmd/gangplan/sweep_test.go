package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	"sigs.k8s.io/yaml"
)

const indexedStudy = `apiVersion: gangplan/v1alpha1
kind: Study
scenario:
  cluster: {synthetic: {racks: 2, hosts: 2, gpus: 8}}
  workload: {synthetic: {mix: llm, jobs: 10, load: 1}}
  timing: kubernetes
  until: 1d
matrix:
  policy: [gang, gang-topology]
  seed: 1..6
`

// What `sweep plan -o indexed-job` prints is a Job of Kubernetes, and its container's command
// line, run here as the Job would run it: once per index, again for the index that fails, and
// then the merge. The results are those of one process.
func TestIndexedJobRuns(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "study.yaml"), []byte(indexedStudy), 0o666); err != nil {
		t.Fatal(err)
	}
	text, err := commandIn(dir, nil, "gangplan", "sweep", "plan", "-f", "study.yaml", "--shards", "6", "-o", "indexed-job").Output()
	if err != nil {
		t.Fatal(err)
	}
	documents := strings.Split(string(text), "\n---\n")
	shards, merge := strictJob(t, documents[0]), strictJob(t, documents[1])
	line := shards.Spec.Template.Spec.Containers[0].Command
	for index := range int(*shards.Spec.Completions) {
		env := []string{fmt.Sprintf("JOB_COMPLETION_INDEX=%d", index)}
		if index == 3 {
			// No file may be larger than a block: this one fails.
			failing := append([]string{"bash", "-c", `ulimit -f 1 && exec "$@"`, "bash"}, line...)
			if out, err := commandIn(dir, env, failing...).CombinedOutput(); err == nil {
				t.Fatalf("index 3 does not fail: %s", out)
			}
			if out, err := commandIn(dir, nil, merge.Spec.Template.Spec.Containers[0].Command...).CombinedOutput(); err == nil {
				t.Fatalf("half of a sweep was merged: %s", out)
			}
		}
		if out, err := commandIn(dir, env, line...).CombinedOutput(); err != nil {
			t.Fatalf("index %d: %v\n%s", index, err, out)
		}
	}
	for _, line := range [][]string{merge.Spec.Template.Spec.Containers[0].Command, {"gangplan", "sweep", "-f", "study.yaml", "--out", "single"}} {
		if out, err := commandIn(dir, nil, line...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", line, err, out)
		}
	}
	if out, err := commandIn(dir, nil, "diff", "-r", "single", "results").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func strictJob(t *testing.T, document string) (j batchv1.Job) {
	t.Helper()
	if err := yaml.UnmarshalStrict([]byte(document), &j); err != nil {
		t.Fatalf("%v in\n%s", err, document)
	}
	return j
}

func commandIn(dir string, env []string, line ...string) *exec.Cmd {
	c := exec.Command(line[0], line[1:]...)
	c.Dir, c.Env = dir, append(os.Environ(), env...)
	return c
}

// An interrupted sweep says how far it came; the same command goes on from there.
func TestInterruptedSweep(t *testing.T) {
	out := filepath.Join(t.TempDir(), "results")
	args := []string{"sweep", "-f", "-", "--out", out, "--parallel", "1"}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var stdout, stderr bytes.Buffer
	if code := execute(ctx, args, strings.NewReader(indexedStudy), &stdout, &stderr); code != exitInterrupted || stdout.Len() != 0 {
		t.Errorf("exit code %d, stdout %q, stderr %q", code, &stdout, &stderr)
	}
	late := &countdown{Context: context.Background()}
	late.left.Store(12)
	stderr.Reset()
	if code := execute(late, args, strings.NewReader(indexedStudy), &stdout, &stderr); code != exitInterrupted || stdout.Len() != 0 ||
		!strings.Contains(stderr.String(), " of 12 runs done: the same command goes on from there") {
		t.Errorf("exit code %d, stdout %q, stderr %q", code, &stdout, &stderr)
	}
	stderr.Reset()
	if code := execute(context.Background(), args, strings.NewReader(indexedStudy), &stdout, &stderr); code != exitOK || stderr.Len() != 0 {
		t.Errorf("exit code %d, stderr %q", code, &stderr)
	}
}
