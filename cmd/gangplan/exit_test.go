package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gangplan/gangplan/internal/scenario"
	"github.com/gangplan/gangplan/internal/study"
	"github.com/gangplan/gangplan/sim"
)

// endless runs for millennia, one eviction after another, if nobody stops it.
const endless = `apiVersion: gangplan/v1alpha1
kind: Scenario
cluster: {nodes: [{name: n, count: 2, gpus: 8}]}
workload:
  jobs:
  - {id: long, duration: 5000w, gpus: 8}
  - {id: hung, duration: 1s, gpusPerPod: 8, neverReady: true}
waitForPodsReady: {timeout: 1s, requeuingStrategy: {backoffBaseSeconds: 1, backoffMaxSeconds: 1}}
policies: [gang, gang-topology]
seed: 5
`

// countdown is a context that is cancelled once it has been looked at so many times:
// while the simulation runs, wherever the test runs.
type countdown struct {
	context.Context
	left atomic.Int64
}

func (c *countdown) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

func TestInterrupted(t *testing.T) {
	for _, looks := range []int64{0, 1, 10} {
		out := filepath.Join(t.TempDir(), "results")
		ctx := &countdown{Context: context.Background()}
		ctx.left.Store(looks)
		var stdout, stderr bytes.Buffer
		code := execute(ctx, []string{"run", "-f", "-", "--out", out}, strings.NewReader(endless), &stdout, &stderr)
		if code != exitInterrupted || stdout.Len() != 0 || stderr.String() != "gangplan: interrupted; nothing was written\n" {
			t.Errorf("after %d looks: exit code %d, stdout %q, stderr %q", looks, code, &stdout, &stderr)
		}
		if ctx.left.Load() >= 0 {
			t.Errorf("after %d looks: ended by itself", looks)
		}
		if _, err := os.Stat(out); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("after %d looks: something was written: %v", looks, err)
		}
	}
}

// The real program and a real signal. The scenario is longer than a pipe, so once it is
// written the program is reading it, and has been listening to signals for a while.
func TestSignal(t *testing.T) {
	out := filepath.Join(t.TempDir(), "results")
	cmd := exec.Command("gangplan", "run", "-f", "-", "--out", out)
	cmd.WaitDelay = 10 * time.Second
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	padding := strings.Repeat("# a long way to say nothing\n", 1<<16)
	if _, err := in.Write([]byte(endless + padding)); err != nil {
		t.Fatal(err)
	}
	in.Close()
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Skip("no signals here: ", err)
	}
	var failed *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &failed) || failed.ExitCode() != exitInterrupted {
		t.Errorf("%v: %s", err, &stderr)
	}
	if _, err := os.Stat(out); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("something was written: %v", err)
	}
}

// brokenRun is the error of a run whose policy panics, as the commands get it.
func brokenRun(t *testing.T) error {
	t.Helper()
	f, err := scenario.Parse("-", []byte(endless))
	if err != nil {
		t.Fatal(err)
	}
	s, err := f.Resolve("")
	if err != nil {
		t.Fatal(err)
	}
	rogue := study.Choice{Label: "rogue", New: func() sim.Policy { panic("two and two are five") }}
	_, err = study.Run(t.Context(), s.Config, []study.Choice{rogue}, study.Options{})
	return err
}

// A broken invariant says all it takes to see it again: seed, time, digest, command line.
func TestBroken(t *testing.T) {
	literal := &study.Broken{Label: "gang", Seed: 7, Digest: 0xabc, Time: 60e9, What: "a node has less than nothing", Stack: []byte("the stack\n")}
	args := []string{"run", "-f", "scenario.yaml", "--seed", "7"}
	for _, c := range []struct {
		name string
		err  error
		says []string
	}{
		{"an invariant", literal, []string{"policy gang, seed 7, at 60000000000 ns, digest 0000000000000abc: a node has less than nothing\n", "\nthe stack\n"}},
		{"wrapped", fmt.Errorf("demo: %w", literal), []string{"seed 7", "digest 0000000000000abc"}},
		{"a panic", brokenRun(t), []string{"policy rogue, seed 5, at 0 ns", "two and two are five", "brokenRun"}},
	} {
		var stderr bytes.Buffer
		if code := exitCode(c.err, args, &stderr); code != exitBroken {
			t.Errorf("%s: exit code %d", c.name, code)
		}
		for _, part := range append(c.says, "gangplan: internal error, please report it: ", "\nreproduce: gangplan run -f scenario.yaml --seed 7\n") {
			if !strings.Contains(stderr.String(), part) {
				t.Errorf("%s: does not say %q:\n%s", c.name, part, &stderr)
			}
		}
	}
}

func TestExitCode(t *testing.T) {
	for _, c := range []struct {
		name   string
		err    error
		code   int
		stderr string
	}{
		{"nothing wrong", nil, exitOK, ""},
		{"a gate", errFailed, exitFailed, ""},
		{"bad input, two lines", errors.New("a.yaml:1: one\na.yaml:2: two"), exitUsage, "gangplan: a.yaml:1: one\ngangplan: a.yaml:2: two\n"},
		{"interrupted", fmt.Errorf("run: %w", context.Canceled), exitInterrupted, "gangplan: interrupted; nothing was written\n"},
	} {
		var stderr bytes.Buffer
		if code := exitCode(c.err, nil, &stderr); code != c.code || stderr.String() != c.stderr {
			t.Errorf("%s: exit code %d, %q", c.name, code, stderr.String())
		}
	}
}
