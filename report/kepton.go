package report

import (
	"fmt"
	"math/big"

	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/sim/ledger"
)

// KeptOn returns the metrics of a stored run with its books kept on to a later end, as
// Measure has them with the books of Books.KeepOn: what is not GPU-time is that of the own
// end. The error says what of the summary cannot be.
func (s *Summary) KeptOn(endNanos int64) (Values, error) {
	b, err := s.books()
	if err != nil {
		return nil, err
	}
	if endNanos < s.EndNanos {
		return nil, fmt.Errorf("the run ends at %d ns, after the %d ns it is to be kept on to", s.EndNanos, endNanos)
	}
	for _, m := range s.Models {
		if m.Running != 0 && endNanos > s.EndNanos {
			return nil, fmt.Errorf("jobs are still running at its end, %d ns: it cannot be kept on to %d ns", s.EndNanos, endNanos)
		}
	}
	b.KeepOn(endNanos)
	f := &facts{run: &sim.Result{}, books: b}
	if f.run.AtRisk, err = wide(s.AtRisk); err != nil {
		return nil, err
	}
	f.addBooks()
	values := make(Values, len(s.Metrics))
	for i, v := range s.Metrics {
		if m, known := LookupMetric(v.Name); known && m.ofBooks() {
			number, ok := m.value(f)
			v = Value{Name: v.Name, Number: number, Null: !ok}
		}
		values[i] = v
	}
	return values, nil
}

// ofBooks reports whether a metric is a function of the books alone.
func (m *Metric) ofBooks() bool { return m.Unit == "GPU-hours" || m.Name == "utilisation" }

// books reads the books of a summary.
func (s *Summary) books() (*Books, error) {
	b := &Books{End: s.EndNanos, reserved: s.Taken}
	var err error
	if b.Reserved, err = wide(s.Reserved); err != nil {
		return nil, err
	}
	for _, m := range s.Models {
		var sums [ledger.NumAccounts]ledger.Uint128
		var standing ledger.Rates
		if len(m.Accounts) != len(sums) {
			return nil, fmt.Errorf("gpu_models: %s has %d accounts, expected %d", m.Model, len(m.Accounts), len(sums))
		}
		for a := range ledger.NumAccounts {
			account := m.Accounts[a]
			if account.Account != a.String() {
				return nil, fmt.Errorf("gpu_models: %s: account %s in the place of %s", m.Model, account.Account, a)
			}
			if sums[a], err = wide(account.Sum); err != nil {
				return nil, err
			}
			standing[a] = account.Held
		}
		standing[ledger.Running] = m.Running
		b.Sums, b.standing = append(b.Sums, sums), append(b.standing, standing)
	}
	return b, nil
}

// wide reads a 128-bit integer written out in full.
func wide(s string) (ledger.Uint128, error) {
	n, ok := new(big.Int).SetString(s, 10)
	if !ok || n.Sign() < 0 || n.BitLen() > 128 {
		return ledger.Uint128{}, fmt.Errorf("%q: expected a whole number below 2^128", s)
	}
	low := new(big.Int).And(n, new(big.Int).SetUint64(1<<64-1))
	return ledger.Uint128{Hi: new(big.Int).Rsh(n, 64).Uint64(), Lo: low.Uint64()}, nil
}
