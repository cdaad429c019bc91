package study

import (
	"testing"

	"github.com/gangplan/gangplan/report"
	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/sim/ledger"
)

func resultsOf(outcomes []Outcome) []*sim.Result {
	results := make([]*sim.Result, len(outcomes))
	for i := range outcomes {
		results[i] = outcomes[i].Result
	}
	return results
}

// total is all accounts of a model together.
func total(b *report.Books, model int) ledger.Uint128 {
	var sum ledger.Uint128
	for a := range ledger.NumAccounts {
		sum.Add(b.Sums[model][a])
	}
	return sum
}

// Extended to the same end, every run accounts for the same capacity.
func TestExtendBalances(t *testing.T) {
	results := resultsOf(runAll(t, Options{}, three...))
	if results[0].End == results[1].End {
		t.Fatal("the runs end together: nothing is extended")
	}
	var want ledger.Uint128
	extended := Extend(results)
	want.AddProduct(8000, uint64(extended[0].Books.End))
	for i, x := range extended {
		if x.Result != results[i] || x.Books.End != max(results[0].End, results[1].End, results[2].End) {
			t.Errorf("run %d is extended to %d", i, x.Books.End)
		}
		if got := total(x.Books, 0); got != want {
			t.Errorf("%s accounts for %v of %v", results[i].Policy, got, want)
		}
	}
}

// A deadlock goes on holding; a run that is over has no demand.
func TestExtendGoesOnAsItStood(t *testing.T) {
	outcomes := runAll(t, Options{}, "per-pod", "gang")
	hung, whole := outcomes[0].Result, outcomes[1].Result
	if len(hung.Findings) == 0 || hung.End >= whole.End {
		t.Fatalf("per-pod does not hang before gang ends: %v, %d and %d", hung.Findings, hung.End, whole.End)
	}
	own, x := report.OwnBooks(hung), Extend([]*sim.Result{hung, whole})
	held := own.Sums[0][ledger.Held]
	held.AddProduct(uint64(hung.Books.Rates(0)[ledger.Held]), uint64(whole.End-hung.End))
	if x[0].Books.Sums[0][ledger.Held] != held || hung.Books.Rates(0)[ledger.Held] == 0 {
		t.Errorf("held is %v, want %v", x[0].Books.Sums[0][ledger.Held], held)
	}
	if x[1].Books.Sums[0] != report.OwnBooks(whole).Sums[0] {
		t.Error("the longest run was extended")
	}
}

// The result is as it was: a run directory written afterwards is at the run's own end.
func TestExtendLeavesTheResultAlone(t *testing.T) {
	results := resultsOf(runAll(t, Options{}, "per-pod", "gang"))
	before, end := results[0].Books.Sum(0, ledger.Held), results[0].End
	Extend(results)
	if results[0].Books.Sum(0, ledger.Held) != before || results[0].End != end {
		t.Error("extending changed the result")
	}
}

func TestExtendOfOneAndNone(t *testing.T) {
	if len(Extend(nil)) != 0 {
		t.Error("nothing was extended to something")
	}
	r := runAll(t, Options{}, "gang")[0].Result
	if x := Extend([]*sim.Result{r}); x[0].Books.End != r.End || x[0].Books.Sums[0] != report.OwnBooks(r).Sums[0] {
		t.Error("one run alone was extended")
	}
}

// Runs with the same `until` have the same end, running jobs or not; runs with different
// ones cannot be compared.
func TestExtendRefusesRunningJobs(t *testing.T) {
	play := func(until int64) *sim.Result {
		cfg := gridlock(t)
		cfg.Until = until
		outcomes, err := Run(t.Context(), cfg, choose(t, "gang"), Options{})
		if err != nil {
			t.Fatal(err)
		}
		return outcomes[0].Result
	}
	short := play(300 * sec)
	if Extend([]*sim.Result{short, play(300 * sec)})[0].Books.End != 300*sec {
		t.Error("not at the common end")
	}
	defer func() {
		if recover() == nil {
			t.Error("running jobs were extended")
		}
	}()
	Extend([]*sim.Result{short, play(hour)})
}
