package report

import (
	"fmt"
	"slices"

	"github.com/gangplan/gangplan/sim"
)

// shownCommon is how many transitions before a difference are shown.
const shownCommon = 3

// Difference is where two runs part: the first transition that is not the same in both.
// Transitions are compared by what the digest is made of; names and reasons are only shown.
type Difference struct {
	A, B         DiffSide
	Common       int    // transitions that are the same before the first difference
	Tail         []Step // the last of them, oldest first
	SameScenario bool
}

// DiffSide is one of the two runs. Next is its transition at the difference, nil if the
// run ended there; both are nil if the runs are equal. Later is what became, in this run, of
// the transition that is next in the other; nil if it never came.
type DiffSide struct {
	Dir         string
	Manifest    *Manifest
	Steps       int // transitions in all
	Next, Later *Step
}

// Equal reports whether the two runs made the same transitions.
func (d *Difference) Equal() bool { return d.A.Next == nil && d.B.Next == nil }

// Diff compares the transitions of two runs. Each path is a run directory, or a folder
// that holds exactly one. It reads both runs' decisions whole. On 32-bit builds the error
// is columnar.ErrUnsupported.
func Diff(a, b string) (*Difference, error) {
	d := &Difference{}
	stepsA, err := d.A.open(a)
	if err != nil {
		return nil, err
	}
	stepsB, err := d.B.open(b)
	if err != nil {
		return nil, err
	}
	d.SameScenario = d.A.Manifest.Scenario.Hash == d.B.Manifest.Scenario.Hash
	d.part(stepsA, stepsB)
	return d, nil
}

// DiffTransitions compares what two runs of the same jobs on the same nodes did. The
// configuration has the names.
func DiffTransitions(cfg *sim.Config, a, b sim.Transitions) *Difference {
	common := 0
	for common < len(a) && common < len(b) && a[common].Same(b[common]) {
		common++
	}
	d := &Difference{SameScenario: true}
	d.part(nameSteps(cfg, around(a, b, common)), nameSteps(cfg, around(b, a, common)))
	d.Common += max(0, common-shownCommon)
	d.A.Steps, d.B.Steps = len(a), len(b)
	return d
}

// around keeps of a long list what is shown of it: the transitions before the difference, the
// next, and what became of the one that is next in the other list.
func around(ts, others sim.Transitions, common int) sim.Transitions {
	kept := slices.Clone(ts[max(0, common-shownCommon):min(common+1, len(ts))])
	if common >= len(others) {
		return kept
	}
	for i := common + 1; i < len(ts); i++ {
		if about(ts[i]) == about(others[common]) {
			return append(kept, ts[i])
		}
	}
	return kept
}

// part finds where the two part, and what became of it.
func (d *Difference) part(a, b []Step) {
	d.A.Steps, d.B.Steps = len(a), len(b)
	for d.Common < len(a) && d.Common < len(b) && a[d.Common].Same(b[d.Common].Transition) {
		d.Common++
	}
	d.Tail = a[max(0, d.Common-shownCommon):d.Common]
	d.A.Next, d.B.Next = stepAt(a, d.Common), stepAt(b, d.Common)
	d.A.Later, d.B.Later = laterStep(a[d.Common:], d.B.Next), laterStep(b[d.Common:], d.A.Next)
}

// laterStep finds the first of some steps that does the same to the same, at whatever time
// and place.
func laterStep(steps []Step, s *Step) *Step {
	for i := range steps {
		if s != nil && about(steps[i].Transition) == about(s.Transition) {
			return &steps[i]
		}
	}
	return nil
}

// about is what a transition is about: what happens, and to whom.
func about(t sim.Transition) sim.Transition {
	out := sim.Transition{Kind: t.Kind, Job: t.Job, Rank: t.Rank}
	if t.Kind == sim.Verdict {
		out.Count = t.Count
	}
	return out
}

func stepAt(steps []Step, i int) *Step {
	if i >= len(steps) {
		return nil
	}
	return &steps[i]
}

// open finds the run and reads its transitions.
func (s *DiffSide) open(path string) ([]Step, error) {
	runs, err := FindRuns(path)
	if err != nil {
		return nil, err
	}
	if len(runs) > 1 {
		return nil, fmt.Errorf("%s: holds %d runs, expected one: name one of its folders, such as %s", path, len(runs), runs[0])
	}
	run, err := OpenRun(runs[0])
	if err != nil {
		return nil, err
	}
	s.Dir, s.Manifest = run.Dir, &run.Manifest
	return run.steps()
}
