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

	standing []ledger.Rates // milli-GPU in each account at the end, per GPU model
	reserved int64          // milli-GPU of quota taken beyond what was bound at the end
}

// OwnBooks copies the accounts of a run at its own end.
func OwnBooks(r *sim.Result) *Books {
	b := &Books{End: r.End, Reserved: r.Reserved, reserved: r.ReservedRate}
	if r.Books == nil {
		return b
	}
	b.Sums = make([][ledger.NumAccounts]ledger.Uint128, r.Books.Models())
	for m := range b.Sums {
		for a := range ledger.NumAccounts {
			b.Sums[m][a] = r.Books.Sum(m, a)
		}
		b.standing = append(b.standing, r.Books.Rates(m))
	}
	return b
}

// KeepOn keeps the books on to a later end: what stands in an account goes on standing
// there. Pods that are terminating are taken to be gone.
//
// It panics if jobs are still running, whose time no account has yet: runs that are
// compared share their `until`.
func (b *Books) KeepOn(end int64) {
	dt := uint64(end - b.End)
	b.Reserved.AddProduct(uint64(b.reserved), dt)
	b.End = end
	if dt == 0 {
		return
	}
	for m := range b.Sums {
		rates := b.standing[m]
		if rates[ledger.Running] != 0 {
			panic("report: the books of a run that still runs jobs cannot be kept on")
		}
		rates[ledger.NoDemand] += rates[ledger.Terminating]
		rates[ledger.Terminating] = 0
		for a := range b.Sums[m] {
			b.Sums[m][a].AddProduct(uint64(rates[a]), dt)
		}
	}
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
