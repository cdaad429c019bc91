package study

import (
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/gangplan/gangplan/sim"
)

// Broken is the error of a run that broke an invariant or panicked: a fault of gangplan,
// never of its input. The command line prints it and exits 3.
type Broken struct {
	Label  string
	Seed   uint64
	Digest sim.Digest // of the transitions so far; 0 if it is not known
	Time   int64      // virtual ns; the last transition's if the exact time is not known
	What   string
	Stack  []byte
}

// Error says what broke, where in the run, and what it takes to see it again.
func (b *Broken) Error() string {
	return fmt.Sprintf("policy %s, seed %d, at %d ns, digest %016x: %s", b.Label, b.Seed, b.Time, uint64(b.Digest), b.What)
}

// broken makes the error from a panic. It is called while panicking, so that the stack is
// that of the fault.
func broken(label string, seed uint64, t *tape, panicked any) *Broken {
	b := &Broken{Label: label, Seed: seed, Time: t.last.Time, What: fmt.Sprint(panicked), Stack: debug.Stack()}
	var invariant *sim.Broken
	if err, ok := panicked.(error); ok && errors.As(err, &invariant) {
		b.Digest, b.Time, b.What = invariant.Digest, invariant.Time, invariant.What
		return b
	}
	if t.keep {
		b.Digest = sim.NewDigest
		for _, x := range t.all {
			b.Digest = b.Digest.Add(x)
		}
	}
	return b
}

// Guard calls f, which plays a run by other means than Run. A panic becomes the error that it
// is of Run.
func Guard(label string, seed uint64, f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = broken(label, seed, &tape{}, p)
		}
	}()
	return f()
}
