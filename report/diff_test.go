package report

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/workloads"
)

// script makes a run of written-down transitions: two jobs of one pod.
func script(label string, transitions ...sim.Transition) Record {
	r := handmade(2, 4)
	r.Jobs[0].FirstAdmit = 0
	return Record{Label: label, Result: r, Transitions: transitions, Manifest: Manifest{Scenario: Input{"s.yaml", "sha256:1"}}}
}

var opening = []sim.Transition{
	{Time: 0, Kind: sim.Submit, Job: 0, Rank: -1, Place: 0, Count: 1},
	{Time: 0, Kind: sim.Admit, Job: 0, Rank: -1, Place: 0, Count: 1},
	{Time: 0, Kind: sim.Bind, Job: 0, Rank: 0, Place: 0, Count: 1},
	{Time: 1_500_000_000, Kind: sim.Ready, Job: 0, Rank: 0, Place: 0, Count: 1},
	{Time: 60 * sec, Kind: sim.Submit, Job: 1, Rank: -1, Place: 0, Count: 1},
}

// diffOf writes two records and compares them. The text must not depend on where the test
// ran.
func diffOf(t *testing.T, a, b Record) (*Difference, string) {
	t.Helper()
	dir := t.TempDir()
	mustWrite(t, filepath.Join(dir, "one"), a)
	mustWrite(t, filepath.Join(dir, "two"), b)
	d, err := Diff(filepath.Join(dir, "one"), filepath.Join(dir, "two"))
	if err != nil {
		t.Fatal(err)
	}
	d.A.Dir, d.B.Dir = "one/"+filepath.Base(d.A.Dir), "two/"+filepath.Base(d.B.Dir)
	var text strings.Builder
	if err := d.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	return d, text.String()
}

func with(more ...sim.Transition) []sim.Transition {
	return append(append([]sim.Transition(nil), opening...), more...)
}

func TestDiffEqual(t *testing.T) {
	d, text := diffOf(t, script("gang", opening...), script("gang", opening...))
	if !d.Equal() || d.Common != len(opening) {
		t.Errorf("%d in common, equal is %v", d.Common, d.Equal())
	}
	golden(t, "diff-equal.txt", text)
}

func TestDiffParts(t *testing.T) {
	a := script("gang", with(sim.Transition{Time: 60 * sec, Kind: sim.Admit, Job: 1, Rank: -1, Place: 0, Count: 1})...)
	b := script("gang-topology", with(
		sim.Transition{Time: 300 * sec, Kind: sim.Bind, Job: 0, Rank: 12, Place: 0, Count: 1},
		sim.Transition{Time: 301 * sec, Kind: sim.Verdict, Job: 1, Rank: -1, Place: -1, Count: int32(sim.NeverFits)})...)
	d, text := diffOf(t, a, b)
	if d.Equal() || d.Common != len(opening) || len(d.Tail) != 3 || d.A.Next.Kind != sim.Admit || d.B.Next.Node != "node-a" || d.B.Steps != 7 {
		t.Errorf("%+v", d)
	}
	golden(t, "diff-parts.txt", text)
}

// Names of clusters and paths of people are long. The text keeps to a terminal, and has every
// letter of them.
func TestDiffOfLongNames(t *testing.T) {
	folder, node := "results/2026-11-30-what-if-we-bought-another-row-of-racks/seed-1/", "gke-research-a3-megagpu-8g-pool-0f3c1b2a-"
	side := func(label, node string) DiffSide {
		return DiffSide{Dir: folder + label, Manifest: &Manifest{Label: label, Seed: 1, Digest: "00112233445566aa"},
			Next: &Step{Transition: sim.Transition{Kind: sim.Bind, Count: 1}, ID: "research/train-70b-6f9d1f60-9f8e-4c0e-8d2a-3f6f0c9b1a77", Node: node}}
	}
	d := &Difference{A: side("gang-strict", node+"x7k2"), B: side("gang-topology-strict", node+"q9z1"), SameScenario: true}
	var text strings.Builder
	if err := d.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	keepsTo(t, text.String())
	golden(t, "diff-long.txt", text.String())
}

func TestDiffOneEndsEarly(t *testing.T) {
	a, b := script("gang", opening...), script("gang", opening[:2]...)
	b.Manifest.Scenario.Hash = "sha256:2"
	d, text := diffOf(t, a, b)
	if d.Equal() || d.Common != 2 || d.B.Next != nil || d.SameScenario {
		t.Errorf("%+v", d)
	}
	golden(t, "diff-ends.txt", text)
}

func TestDiffFromTheStart(t *testing.T) {
	verdict := sim.Transition{Time: 0, Kind: sim.Verdict, Job: 0, Rank: -1, Place: -1, Count: int32(sim.Deadlock)}
	_, text := diffOf(t, script("gang", verdict), script("gang", opening...))
	golden(t, "diff-start.txt", text)
}

// Two real policies part where the first pod goes elsewhere or is not created.
func TestDiffOfRealRuns(t *testing.T) {
	d, _ := diffOf(t, recordOf(t, "per-pod", "per-pod"), recordOf(t, "gang", "gang"))
	if d.Equal() || d.Common == 0 || d.A.Next == nil || d.B.Next == nil {
		t.Errorf("%+v", d)
	}
}

// Two lists that were never on a disk: why something came is told where it is known, and of
// what comes in the other run too, when. What comes there as well, and at the same time, is
// not worth a line.
func TestDiffTransitions(t *testing.T) {
	cfg := handmade(2, 4).Config
	admit := sim.Transition{Time: 60 * sec, Kind: sim.Admit, Job: 1, Rank: -1, Place: 0, Count: 1}
	late := admit
	late.Time, late.Why = 300*sec, sim.Why(sim.ReasonShape)
	finish := sim.Transition{Time: 200 * sec, Kind: sim.Finish, Job: 0, Rank: -1, Place: -1, Count: 1}
	evict := sim.Transition{Time: 60 * sec, Kind: sim.Evict, Job: 0, Rank: -1, Place: -1, Count: 1, Why: 33}
	for name, b := range map[string]sim.Transitions{
		"diff-later.txt": with(finish, late), "diff-evicted.txt": with(evict, late), "diff-moved.txt": with(late),
	} {
		d := DiffTransitions(cfg, with(admit, finish), b)
		if d.Equal() || d.Common != len(opening) {
			t.Errorf("%s: %+v", name, d)
		}
		var text strings.Builder
		d.writeParting(&printer{w: &text}, "baseline", "now")
		golden(t, name, text.String())
	}
	if d := DiffTransitions(cfg, with(admit), with(admit)); !d.Equal() {
		t.Errorf("equal lists part: %+v", d)
	}
}

func TestDiffNeedsOneRunEach(t *testing.T) {
	dir := t.TempDir()
	mustWrite(t, dir, script("a", opening...), script("b", opening...))
	if _, err := Diff(dir, filepath.Join(dir, "b")); err == nil || !strings.Contains(err.Error(), "holds 2 runs") {
		t.Errorf("error %v", err)
	}
	if _, err := Diff(filepath.Join(dir, "a"), filepath.Join(dir, "c")); err == nil {
		t.Error("a run that is not there is no error")
	}
	if d, err := Diff(filepath.Join(dir, "a"), filepath.Join(dir, "b")); err != nil || !d.Equal() {
		t.Errorf("%+v, %v", d, err)
	}
}

func TestDiffNeedsDecisions(t *testing.T) {
	dir := t.TempDir()
	r := script("a", opening...)
	r.Transitions = nil
	mustWrite(t, dir, r)
	if _, err := Diff(dir, dir); err == nil || !strings.Contains(err.Error(), "decisions.parquet") {
		t.Errorf("error %v", err)
	}
}

func TestSeconds(t *testing.T) {
	for ns, want := range map[int64]string{0: "0s", 1: "0.000000001s", 1_500_000_000: "1.5s", 120 * sec: "120s"} {
		if got := seconds(ns); got != want {
			t.Errorf("%d ns is %s, want %s", ns, got, want)
		}
	}
}

// What has no name is called by its position.
func TestStepWithoutNames(t *testing.T) {
	cfg := handmade(1, 4).Config
	cfg.Queues, cfg.Jobs[0] = nil, workloads.Job{}
	s := nameStep(cfg, opening[1])
	if got := strings.Join(s.fields(), " "); got != "0s admit #0  queue #0 1 pod " {
		t.Errorf("%q", got)
	}
	if kindNamed("no such kind") != 0 {
		t.Error("an unknown kind has a number")
	}
}
