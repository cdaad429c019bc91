package report

import (
	"fmt"
	"path/filepath"
)

// shownCommon is how many transitions before a difference are shown.
const shownCommon = 3

// Difference is where two runs part: the first transition that is not the same in both.
// Transitions are compared by what the digest is made of; names are only shown.
type Difference struct {
	A, B         DiffSide
	Common       int    // transitions that are the same before the first difference
	Tail         []Step // the last of them, oldest first
	SameScenario bool
}

// DiffSide is one of the two runs. Next is its transition at the difference, nil if the
// run ended there; both are nil if the runs are equal.
type DiffSide struct {
	Dir      string
	Manifest *Manifest
	Steps    int // transitions in all
	Next     *Step
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
	for d.Common < len(stepsA) && d.Common < len(stepsB) && stepsA[d.Common].Same(stepsB[d.Common].Transition) {
		d.Common++
	}
	d.Tail = stepsA[max(0, d.Common-shownCommon):d.Common]
	d.A.Next, d.B.Next = stepAt(stepsA, d.Common), stepAt(stepsB, d.Common)
	return d, nil
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
	s.Dir = runs[0]
	if s.Manifest, err = ReadManifest(s.Dir); err != nil {
		return nil, err
	}
	steps, err := readSteps(filepath.Join(s.Dir, decisionsFile))
	s.Steps = len(steps)
	return steps, err
}
