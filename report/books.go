package report

import (
	"math/big"
	"math/bits"

	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/sim/ledger"
)

// milliNanosPerHour is one GPU-hour in the unit of the ledger, milli-GPU x ns.
const milliNanosPerHour = 1000 * 3600 * uint64(1e9)

// Books are the accounts of a run up to an end: its own, or a later one to which they
// were kept on so that runs of unequal length can be compared.
type Books struct {
	End      int64                                // ns from the start of the scenario
	Sums     [][ledger.NumAccounts]ledger.Uint128 // milli-GPU x ns, per GPU model
	Reserved ledger.Uint128                       // quota taken beyond what was bound, milli-GPU x ns
}

// OwnBooks copies the accounts of a run at its own end.
func OwnBooks(r *sim.Result) *Books {
	b := &Books{End: r.End, Reserved: r.Reserved}
	if r.Books == nil {
		return b
	}
	b.Sums = make([][ledger.NumAccounts]ledger.Uint128, r.Books.Models())
	for m := range b.Sums {
		for a := range ledger.NumAccounts {
			b.Sums[m][a] = r.Books.Sum(m, a)
		}
	}
	return b
}

// hours converts milli-GPU x ns to GPU-hours. Whole hours are exact; sums are far below
// the 2^64 hours above which it would not be defined.
func hours(u ledger.Uint128) float64 {
	whole, rest := bits.Div64(u.Hi, u.Lo, milliNanosPerHour)
	return float64(whole) + float64(rest)/float64(milliNanosPerHour)
}

// decimal writes a 128-bit integer out in full.
func decimal(u ledger.Uint128) string {
	n := new(big.Int).SetUint64(u.Hi)
	n.Lsh(n, 64).Or(n, new(big.Int).SetUint64(u.Lo))
	return n.String()
}
