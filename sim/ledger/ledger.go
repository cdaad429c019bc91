// Package ledger keeps the books: every GPU-nanosecond of capacity is in exactly one
// account, in milli-GPU x ns and 128-bit integers, so that the accounts sum to
// capacity x time to the unit.
//
// GPUs are held in an account at a rate (milli-GPU) and the rate is integrated over
// time. Running GPUs are the exception: what they did is known only when their job
// reaches a safe point or loses its progress, so their time is settled by Settle and
// Lose instead.
package ledger

// Account says what a GPU was doing.
type Account uint8

// The accounts, in the order of the contract: allocated, down, unallocated. Running is
// no account of its own: it is where GPUs stand whose time is still at risk.
const (
	Useful Account = iota
	StallLocality
	StallContention
	Starting
	Held
	Lost
	Checkpoint
	Terminating
	Down
	BlockedReserved
	BlockedBackoff
	BlockedGate
	BlockedOrder
	BlockedLatency
	BlockedPreemption
	BlockedInsufficient
	BlockedQuota
	BlockedShape
	BlockedTopology
	NoDemand
	NumAccounts

	Running = NumAccounts
)

var names = [NumAccounts]string{
	"useful", "stall_locality", "stall_contention", "starting", "held", "lost", "checkpoint",
	"terminating", "down", "blocked_reserved", "blocked_backoff", "blocked_gate", "blocked_order",
	"blocked_latency", "blocked_preemption", "blocked_insufficient", "blocked_quota",
	"blocked_shape", "blocked_topology", "no_demand",
}

// String returns the account's name in summary.json, without its gpu_hours prefix.
func (a Account) String() string { return names[a] }

// Unallocated reports whether the account is one of free GPUs.
func (a Account) Unallocated() bool { return a > Down && a < NumAccounts }

// Settled reports whether the account takes running time, whose use is known only later; all
// others are what GPUs stand in.
func (a Account) Settled() bool {
	return a == Useful || a == StallLocality || a == StallContention || a == Lost
}

// Idle reports whether the account is part of gpu_hours.idle, the headline: held,
// starting, terminating, everything blocked, and no demand.
func (a Account) Idle() bool {
	return a == Held || a == Starting || a == Terminating || a.Unallocated()
}

// Rates are the milli-GPU standing in each account, and in Running.
type Rates [NumAccounts + 1]int64

// Ledger integrates the rates of every GPU model. Models are dense indexes.
type Ledger struct {
	now    int64
	rates  []Rates
	sums   [][NumAccounts]Uint128
	opened []int64 // capacity of each model when the ledger was opened
}

// New opens a ledger at time zero in which every milli-GPU of every model stands in
// NoDemand.
func New(capacity []int64) *Ledger {
	l := &Ledger{
		rates:  make([]Rates, len(capacity)),
		sums:   make([][NumAccounts]Uint128, len(capacity)),
		opened: append([]int64(nil), capacity...),
	}
	for m, c := range capacity {
		l.rates[m][NoDemand] = c
	}
	return l
}

// Advance integrates every rate up to time t.
func (l *Ledger) Advance(t int64) {
	dt := t - l.now
	if dt <= 0 {
		return
	}
	l.now = t
	for m := range l.rates {
		r, s := &l.rates[m], &l.sums[m]
		for a := range s {
			if r[a] != 0 {
				s[a].AddProduct(uint64(r[a]), uint64(dt))
			}
		}
	}
}

// Move shifts milli-GPU of a model from one account to another, from now on.
func (l *Ledger) Move(model int32, from, to Account, milli int64) {
	l.rates[model][from] -= milli
	l.rates[model][to] += milli
}

// Clear moves everything unallocated of a model into NoDemand and returns how much it is.
func (l *Ledger) Clear(model int32) int64 {
	r := &l.rates[model]
	for a := BlockedReserved; a < NoDemand; a++ {
		r[NoDemand] += r[a]
		r[a] = 0
	}
	return r[NoDemand]
}

// Stretch is running time that is settled: a number of GPUs that ran from a time on, without
// a break. On their own the job would have made Unshared ns of progress in it, so the rest of
// the wall time is the placement's fault; it made Useful ns, so the rest of Unshared is the
// neighbours'. That rest may be -1: fractions of both carry over from one stretch of the job
// to the next, and those of Useful may be the first to make a whole.
type Stretch struct {
	From, Wall       int64
	Milli            int64
	Useful, Unshared int64
}

// Spent is running time by what it turned out to be, in milli-GPU x ns.
type Spent struct{ Useful, StallLocality, StallContention, Lost Uint128 }

// Settle adds a stretch that was kept.
func (t *Spent) Settle(s *Stretch) { s.settle(&t.Useful, &t.StallLocality, &t.StallContention) }

// Kept returns the running time that is not lost.
func (t *Spent) Kept() Uint128 {
	sum := t.Useful
	sum.Add(t.StallLocality)
	sum.Add(t.StallContention)
	return sum
}

// Lose adds a stretch whose progress was thrown away.
func (t *Spent) Lose(s *Stretch) { t.Lost.AddProduct(uint64(s.Milli), uint64(s.Wall)) }

// Settle books running time that was kept.
func (l *Ledger) Settle(model int32, s *Stretch) {
	sums := &l.sums[model]
	s.settle(&sums[Useful], &sums[StallLocality], &sums[StallContention])
}

func (s *Stretch) settle(useful, locality, contention *Uint128) {
	useful.AddProduct(uint64(s.Milli), uint64(s.Useful))
	contention.AddSigned(uint64(s.Milli), s.Unshared-s.Useful)
	locality.AddProduct(uint64(s.Milli), uint64(s.Wall-s.Unshared))
}

// Lose books running time whose progress was thrown away.
func (l *Ledger) Lose(model int32, s *Stretch) {
	l.sums[model][Lost].AddProduct(uint64(s.Milli), uint64(s.Wall))
}

// Models returns the number of GPU models.
func (l *Ledger) Models() int { return len(l.rates) }

// Rates returns what stands where now.
func (l *Ledger) Rates(model int) Rates { return l.rates[model] }

// Sum returns an account of one model in milli-GPU x ns.
func (l *Ledger) Sum(model int, a Account) Uint128 { return l.sums[model][a] }

// Balanced reports whether every model's accounts sum to its capacity x time. It holds
// once all running time is settled.
func (l *Ledger) Balanced() bool {
	for m := range l.sums {
		var total, want Uint128
		for a := range l.sums[m] {
			total.Add(l.sums[m][a])
		}
		want.AddProduct(uint64(l.opened[m]), uint64(l.now))
		if total != want {
			return false
		}
	}
	return true
}

// CopyFrom makes l a copy of o. It allocates only the first time.
func (l *Ledger) CopyFrom(o *Ledger) {
	l.now = o.now
	l.rates = append(l.rates[:0], o.rates...)
	l.sums = append(l.sums[:0], o.sums...)
	l.opened = append(l.opened[:0], o.opened...)
}

// Now returns the time up to which the books are kept.
func (l *Ledger) Now() int64 { return l.now }
