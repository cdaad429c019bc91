package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gangplan/gangplan/internal/scenario"
)

// The scenario that docs/your-cluster-check.md shows is the one that it runs.
func TestScenarioOfTheDocs(t *testing.T) {
	text, err := os.ReadFile("../../docs/your-cluster-check.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := ""
	for _, m := range fence.FindAllStringSubmatch(string(text), -1) {
		if strings.Contains(m[2], "kind: Scenario") {
			shown = m[2]
		}
	}
	s, err := parse("docs", []byte(shown))
	if err != nil {
		t.Fatal(err)
	}
	shipped, err := scenario.Load("../../testdata/watch/scenario.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if s.Hash != shipped.Hash {
		t.Errorf("the docs show another scenario than testdata/watch/scenario.yaml:\n%s", shown)
	}
}

// stub plays kubectl: it prints what the sample has of a kind, and goes on watching. Nothing
// else is asked of it than whether there is Kueue.
const stub = `#!/bin/sh
case $1 in
api-resources) echo workloads.kueue.x-k8s.io; exit;;
esac
kind=$2
echo "$@" >>"$CALLS"
case $kind in nodes) kind=Node;; jobs.batch) kind=Job;; pods) kind=Pod;; workloads*) kind=Workload;; esac
grep '"kind":"'$kind'","metadata"' "$SAMPLE" | jq -c 'del(.at)'
exec sleep 60
`

// TestWatchScript runs docs/watch.sh with a kubectl that plays the sample, interrupts it as a
// user does, and compares what it wrote.
func TestWatchScript(t *testing.T) {
	for _, tool := range []string{"sh", "jq", "mkfifo"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip("needs " + tool)
		}
	}
	dir := t.TempDir()
	script, _ := filepath.Abs("../../docs/watch.sh")
	sample, _ := filepath.Abs("../../testdata/watch/watch.jsonl")
	if err := os.WriteFile(filepath.Join(dir, "kubectl"), []byte(stub), 0o700); err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	cmd := exec.Command("sh", script, filepath.Join(dir, "record"))
	cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "SAMPLE="+sample, "CALLS="+filepath.Join(dir, "calls"))
	cmd.Stderr, cmd.WaitDelay = &said, 10*time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := func(file string) int {
		text, _ := os.ReadFile(filepath.Join(dir, "record", file))
		return bytes.Count(text, []byte("\n"))
	}
	want, _ := os.ReadFile(sample)
	for range 200 {
		if lines("nodes.part")+lines("jobs.batch.part")+lines("pods.part")+lines("workloads.kueue.x-k8s.io.part") == bytes.Count(want, []byte("\n")) {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Skip("no signals here: ", err)
	}
	if err := cmd.Wait(); err != nil || !strings.Contains(said.String(), "changes") {
		t.Fatalf("%v: %s", err, &said)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "record", "*")); len(left) != 1 {
		t.Errorf("it leaves %q", left)
	}
	var out, errOut bytes.Buffer
	code := execute(t.Context(), []string{"trace", "validate", "../../testdata/watch/scenario.yaml", "--against", filepath.Join(dir, "record", "watch.jsonl"), "-o", "json"},
		strings.NewReader(""), &out, &errOut)
	var v struct {
		Equal, Outside int
		Notes          []string
	}
	if err := json.Unmarshal(out.Bytes(), &v); err != nil || code != exitOK || v.Equal == 0 {
		t.Errorf("exit code %d, %v: %s%s", code, err, &out, &errOut)
	}
	// What happened months ago is known to the second, though it was received just now.
	if len(v.Notes) != 1 || !strings.Contains(v.Notes[0], "2 of 2 jobs had been there for a while") {
		t.Errorf("notes %q", v.Notes)
	}
}
