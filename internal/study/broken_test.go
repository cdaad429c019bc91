package study

import (
	"errors"
	"strings"
	"testing"

	"github.com/gangplan/gangplan/sim"
)

// runRogue runs choices of which some break, and returns the error as the fault it must be.
func runRogue(t *testing.T, opts Options, choices ...Choice) *Broken {
	t.Helper()
	outcomes, err := Run(t.Context(), gridlock(t), choices, opts)
	var fault *Broken
	if !errors.As(err, &fault) || outcomes != nil {
		t.Fatalf("outcomes %v, error %v", outcomes, err)
	}
	return fault
}

// An invariant that the engine finds broken comes with all that it takes to see it again.
func TestBrokenInvariant(t *testing.T) {
	admitTwice := func(tx *sim.Tx) {
		tx.AdmitFree(0)
		tx.Commit()
		tx.AdmitFree(0)
	}
	fault := runRogue(t, Options{Record: true}, rogueChoice("rogue/x", 2, admitTwice))
	if fault.Label != "rogue/x" || fault.Seed != 7 || fault.Time != 60*sec || fault.What != "admit a job that is not queued" {
		t.Errorf("%+v", fault)
	}
	if fault.Digest == 0 || fault.Digest == sim.NewDigest {
		t.Errorf("digest %x", fault.Digest)
	}
	for _, part := range []string{"rogue/x", "seed 7", "60000000000 ns", "admit a job"} {
		if !strings.Contains(fault.Error(), part) {
			t.Errorf("%q does not say %q", fault.Error(), part)
		}
	}
}

// Any other panic is told as well, with the place where it happened.
func TestAnyPanic(t *testing.T) {
	index := func(*sim.Tx) {
		var none []int
		none[len(none)]++
	}
	for _, record := range []bool{false, true} {
		fault := runRogue(t, Options{Record: record}, rogueChoice("rogue", 3, index))
		if fault.Time != 120*sec || !strings.Contains(fault.What, "index out of range") || !strings.Contains(string(fault.Stack), "TestAnyPanic") {
			t.Errorf("%+v", fault)
		}
		if known := fault.Digest != 0; known != record {
			t.Errorf("digest %x with recording %v", fault.Digest, record)
		}
	}
}

func TestPanicOfAConstructor(t *testing.T) {
	c := Choice{Label: "none", New: func() sim.Policy { panic("no such parameter") }}
	if fault := runRogue(t, Options{}, c); fault.What != "no such parameter" || fault.Time != 0 {
		t.Errorf("%+v", fault)
	}
}

// Of several that fail, the first in order is told, whichever fails first in time.
func TestTheFirstFailureIsTold(t *testing.T) {
	fail := func(what string) func(*sim.Tx) { return func(*sim.Tx) { panic(what) } }
	for range 20 {
		choices := append(choose(t, three...), rogueChoice("late", 3, fail("late")), rogueChoice("early", 1, fail("early")))
		if fault := runRogue(t, Options{}, choices...); fault.Label != "late" {
			t.Fatalf("told of %s", fault.Label)
		}
	}
}

// A run that is played by other means is guarded too.
func TestGuard(t *testing.T) {
	err := Guard("rogue", 9, func() error { panic("two and two are five") })
	fault, ok := errors.AsType[*Broken](err)
	if !ok || fault.Label != "rogue" || fault.Seed != 9 || fault.What != "two and two are five" || !strings.Contains(string(fault.Stack), "TestGuard") {
		t.Errorf("%+v", err)
	}
	if plain := errors.New("bad input"); Guard("rogue", 9, func() error { return plain }) != plain || Guard("rogue", 9, func() error { return nil }) != nil {
		t.Error("an error that is none of a panic is another")
	}
}
