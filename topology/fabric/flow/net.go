package flow

import (
	"math"
	"math/bits"
)

// Never is a time that does not come.
const Never = math.MaxInt64

// Nano is a nanosecond. Times are in picoseconds: were they in nanoseconds, the end of a
// short flow would be off by more than sharing is, and every end would waste up to a
// nanosecond of a link, which in a chain of a thousand ends would be seen.
const Nano = 1000

const picosPerSecond = 1_000_000_000_000

// CeilNanos is a time in nanoseconds, rounded up.
func CeilNanos(t int64) int64 { return (t + Nano - 1) / Nano }

// Net is a set of links and the flows that are on them now.
type Net struct {
	capacity []int64
	now      int64
	stale    bool // rates are those of an earlier set of flows

	ids     []int32 // of the flows on the net, in the order they joined
	routes  [][]int32
	weights []int64
	rates   []int64
	left    []amount
	ended   []int32
}

// NewNet returns a net at time 0 whose links carry so many bytes per second each.
func NewNet(capacity []int64) *Net { return &Net{capacity: capacity} }

// Now returns the net's time.
func (n *Net) Now() int64 { return n.now }

// Join starts a flow now. Its id is the caller's; the route is kept and must not change.
func (n *Net) Join(id int32, route []int32, weight, bytes int64) {
	n.ids = append(n.ids, id)
	n.routes = append(n.routes, route)
	n.weights = append(n.weights, weight)
	n.rates = append(n.rates, 0)
	n.left = append(n.left, picoBytes(bytes))
	n.stale = true
}

// Next returns when the next flow ends if no other joins, and Never if none will.
func (n *Net) Next() int64 {
	n.refresh()
	next := int64(Never)
	for i := range n.ids {
		next = min(next, n.endOf(i))
	}
	return next
}

// AdvanceTo moves the time on to t, which must not be beyond Next, and returns the ids of
// the flows that end there, in the order they joined. The slice is reused.
func (n *Net) AdvanceTo(t int64) []int32 {
	n.refresh()
	dt := t - n.now
	n.ended = n.ended[:0]
	keep := 0
	for i, id := range n.ids {
		done := n.endOf(i) <= t
		n.left[i].spend(uint64(dt), uint64(n.rates[i]))
		if done {
			n.ended = append(n.ended, id)
			continue
		}
		n.ids[keep], n.routes[keep], n.weights[keep], n.left[keep], n.rates[keep] =
			id, n.routes[i], n.weights[i], n.left[i], n.rates[i]
		keep++
	}
	n.now = t
	if keep < len(n.ids) {
		n.stale = true
		n.ids, n.routes, n.weights, n.left, n.rates = n.ids[:keep], n.routes[:keep], n.weights[:keep], n.left[:keep], n.rates[:keep]
	}
	return n.ended
}

func (n *Net) refresh() {
	if n.stale {
		Shares(n.capacity, n.routes, n.weights, n.rates)
		n.stale = false
	}
}

// endOf returns when a flow ends at its present rate. A flow without links takes no time.
func (n *Net) endOf(i int) int64 {
	if len(n.routes[i]) == 0 || n.left[i] == (amount{}) {
		return n.now
	}
	if n.rates[i] <= 0 {
		return Never
	}
	d := n.left[i].over(uint64(n.rates[i]))
	if d >= Never-n.now {
		return Never
	}
	return n.now + d
}

// amount is a number of bytes in 1e-12 bytes, 128 bits wide.
type amount struct{ hi, lo uint64 }

func picoBytes(bytes int64) amount {
	hi, lo := bits.Mul64(uint64(bytes), picosPerSecond)
	return amount{hi, lo}
}

// spend takes off a x b and stops at nothing.
func (m *amount) spend(a, b uint64) {
	hi, lo := bits.Mul64(a, b)
	if m.hi < hi || m.hi == hi && m.lo <= lo {
		*m = amount{}
		return
	}
	var borrow uint64
	m.lo, borrow = bits.Sub64(m.lo, lo, 0)
	m.hi, _ = bits.Sub64(m.hi, hi, borrow)
}

// over returns m / rate rounded up, at most Never.
func (m amount) over(rate uint64) int64 {
	if m.hi >= rate {
		return Never
	}
	q, r := bits.Div64(m.hi, m.lo, rate)
	if r > 0 {
		q++
	}
	return int64(min(q, Never))
}
