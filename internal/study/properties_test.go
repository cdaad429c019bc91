package study

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/sim/ledger"
)

// drawLedger draws books with a random history that ends with nothing running.
func drawLedger(t *rapid.T) *sim.Result {
	capacity := rapid.SliceOfN(rapid.Int64Range(1, 100_000), 1, 3).Draw(t, "capacity")
	books := ledger.New(capacity)
	account := rapid.Custom(func(t *rapid.T) ledger.Account {
		return ledger.Account(rapid.IntRange(int(ledger.Starting), int(ledger.NoDemand)).Draw(t, "account"))
	})
	for range rapid.IntRange(0, 10).Draw(t, "moves") {
		m := rapid.IntRange(0, len(capacity)-1).Draw(t, "model")
		from := account.Draw(t, "from")
		books.Move(int32(m), from, account.Draw(t, "to"), rapid.Int64Range(0, books.Rates(m)[from]).Draw(t, "milli"))
		books.Advance(books.Now() + rapid.Int64Range(0, 1<<50).Draw(t, "dt"))
	}
	return &sim.Result{Books: books, End: books.Now()}
}

// Extended books balance as the engine's do: every model accounts for its capacity times
// the common end. Extending in two steps is extending in one.
func TestExtendedBooksBalance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		results := rapid.SliceOfN(rapid.Custom(drawLedger), 1, 4).Draw(t, "runs")
		far := &sim.Result{Books: ledger.New(nil), End: rapid.Int64Range(0, 1<<60).Draw(t, "far")}
		extended := Extend(append(results, far))
		for i, x := range extended {
			for m := range x.Books.Sums {
				var capacity int64
				for _, rate := range results[i].Books.Rates(m) {
					capacity += rate
				}
				var want ledger.Uint128
				want.AddProduct(uint64(capacity), uint64(x.Books.End))
				if got := total(x.Books, m); got != want {
					t.Fatalf("run %d, model %d: %v of %v", i, m, got, want)
				}
			}
		}
		near := Extend(results)
		for i := range results {
			near[i].Books.KeepOn(extended[i].Books.End)
			for m := range near[i].Books.Sums {
				if near[i].Books.Sums[m] != extended[i].Books.Sums[m] {
					t.Fatalf("run %d: two steps give %v, one %v", i, near[i].Books.Sums[m], extended[i].Books.Sums[m])
				}
			}
		}
	})
}
