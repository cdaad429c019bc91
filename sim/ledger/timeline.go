package ledger

import (
	"math"
	"math/bits"
)

// Timeline cuts what is summed over a run into equal buckets of time, lane by lane, so that
// the buckets of a lane add up to its sum to the unit. Nobody knows beforehand how long a run
// will be: buckets begin at a second, and when there would be more than the limit, some
// neighbours become one, so that their width is always the next that people think in.
//
// A lane is either recorded, from a sum that the caller keeps, at the end of every bucket;
// or spread, when it becomes known later what was done in a stretch of time. What a bucket
// holds depends only on its width: merging gives what wider buckets would have held.
type Timeline struct {
	lanes, limit int
	width        int64     // of a bucket, ns
	open         int       // the bucket that time is in
	end          int64     // of that bucket, math.MaxInt64 if that is beyond time
	amounts      []Uint128 // bucket x lane
	recorded     []Uint128 // by lane: what all its buckets hold
}

// MaxBuckets is how many buckets a timeline has at most; one of many lanes has fewer, down to
// minBuckets, so that it stays within maxCells amounts.
const (
	MaxBuckets = 1024
	minBuckets = 128
	maxCells   = 1 << 20
)

const second = int64(1e9)

// widths are those of buckets, in s, up to a day; then they double. Each divides the next.
var widths = []int64{1, 5, 10, 30, 60, 300, 600, 1800, 3600, 7200, 14400, 43200, 86400}

// NewTimeline returns an empty timeline at time 0. Afterwards nothing allocates.
func NewTimeline(lanes int) *Timeline {
	limit := min(MaxBuckets, max(minBuckets, maxCells/max(1, lanes)))
	return &Timeline{lanes: lanes, limit: limit, width: second, end: second,
		amounts: make([]Uint128, lanes*limit), recorded: make([]Uint128, lanes)}
}

// Turns reports whether time t lies beyond the open bucket, after merging buckets until it
// is within the limit. The caller then brings its sums to End, records every lane, calls
// Turn, and asks again.
func (l *Timeline) Turns(t int64) bool {
	if t <= l.end {
		return false
	}
	for l.index(t) >= int64(l.limit) {
		l.merge()
	}
	return t > l.end
}

// index is the bucket that ends at t or goes on then.
func (l *Timeline) index(t int64) int64 { return max(0, t-1) / l.width }

// End returns the end of the open bucket.
func (l *Timeline) End() int64 { return l.end }

// Turn opens the next bucket.
func (l *Timeline) Turn() {
	l.open++
	l.setEnd()
}

func (l *Timeline) setEnd() {
	l.end = math.MaxInt64
	if hi, lo := bits.Mul64(uint64(l.open+1), uint64(l.width)); hi == 0 && lo < math.MaxInt64 {
		l.end = int64(lo)
	}
}

// merge makes buckets of the next width.
func (l *Timeline) merge() {
	wider := 2 * l.width
	for _, w := range widths {
		if w*second > l.width {
			wider = w * second
			break
		}
	}
	factor := int(wider / l.width)
	for b := 1; b <= l.open; b++ {
		from, to := l.row(b), l.row(b/factor)
		for i := range from {
			if b%factor == 0 {
				to[i] = from[i]
			} else {
				to[i].Add(from[i])
			}
		}
	}
	kept := l.open/factor + 1
	clear(l.amounts[kept*l.lanes : (l.open+1)*l.lanes])
	l.width, l.open = wider, kept-1
	l.setEnd()
}

func (l *Timeline) row(bucket int) []Uint128 {
	return l.amounts[bucket*l.lanes : (bucket+1)*l.lanes]
}

// Record puts into the open bucket what a lane's sum has grown by since it was last recorded.
func (l *Timeline) Record(lane int, sum Uint128) {
	by := sum
	by.Sub(l.recorded[lane])
	l.recorded[lane] = sum
	l.amounts[l.open*l.lanes+lane].Add(by)
}

// Close ends the timeline at a time that may lie before what was recorded: buckets behind
// it are dropped, and what the open one holds too much is taken back when each recorded
// lane is recorded once more, at its sum at that time.
func (l *Timeline) Close(end int64) {
	l.open = int(min(int64(l.open), l.index(end)))
	l.end = end
	clear(l.recorded)
	for b := range l.Buckets() {
		for lane, amount := range l.row(b) {
			l.recorded[lane].Add(amount)
		}
	}
}

// Buckets returns how many buckets there are: at least one, unless the timeline is the zero
// value.
func (l *Timeline) Buckets() int {
	if l.lanes == 0 {
		return 0
	}
	return l.open + 1
}

// Span returns the times, in ns, between which a bucket lies. The last ends where the
// timeline was closed.
func (l *Timeline) Span(bucket int) (from, to int64) {
	from = int64(bucket) * l.width
	if bucket == l.open {
		return from, l.end
	}
	return from, from + l.width
}

// Amount returns what a bucket of a lane holds.
func (l *Timeline) Amount(bucket, lane int) Uint128 { return l.amounts[bucket*l.lanes+lane] }

// Settle books a stretch that was kept, as Ledger.Settle does, into the lanes of a model's
// accounts, the first of which is given. Useful time and both stalls are spread evenly over
// the stretch, which is as they were unless the job's speed changed within it.
func (l *Timeline) Settle(lane int, s *Stretch) {
	stalled, local := s.Wall-s.Useful, s.Wall-s.Unshared
	rest := max(0, local-stalled) // see Stretch
	local -= rest
	var u, p int64 // useful and stalled by placement, in the buckets so far
	for done := int64(0); done < s.Wall; {
		b, next := l.cut(s, done)
		u2 := share(s.Useful, next, s.Wall)
		p2 := share(local, next-u2, stalled)
		row := l.row(b)[lane:]
		row[Useful].AddProduct(uint64(s.Milli), uint64(u2-u))
		row[StallLocality].AddProduct(uint64(s.Milli), uint64(p2-p))
		row[StallContention].AddProduct(uint64(s.Milli), uint64((next-done)-(u2-u)-(p2-p)))
		if done, u, p = next, u2, p2; done == s.Wall && rest > 0 {
			l.moveBack(b, lane+int(StallContention), lane+int(StallLocality), s.Milli, rest)
		}
	}
}

// moveBack moves milli x ns from a lane to another in the latest bucket, up to the given one,
// that has it: the neighbours of a stretch that owes them a nanosecond may have been earlier.
func (l *Timeline) moveBack(bucket, from, to int, milli, ns int64) {
	var owed Uint128
	owed.AddProduct(uint64(milli), uint64(ns))
	for b := bucket; b >= 0 && !owed.IsZero(); b-- {
		row := l.row(b)
		part := owed
		if row[from].Less(part) {
			part = row[from]
		}
		row[from].Sub(part)
		row[to].Add(part)
		owed.Sub(part)
	}
	l.row(bucket)[from].Sub(owed) // nothing, if what is owed was ever there
	l.row(bucket)[to].Add(owed)
}

// Lose books a stretch whose progress was thrown away, when it was made.
func (l *Timeline) Lose(lane int, s *Stretch) {
	for done := int64(0); done < s.Wall; {
		b, next := l.cut(s, done)
		l.row(b)[lane:][Lost].AddProduct(uint64(s.Milli), uint64(next-done))
		done = next
	}
}

// cut returns the bucket in which a stretch goes on after some ns, and after how many it
// leaves it.
func (l *Timeline) cut(s *Stretch, done int64) (bucket int, next int64) {
	bucket = int((s.From + done) / l.width)
	if bucket >= l.open {
		return l.open, s.Wall
	}
	return bucket, min(s.Wall, int64(bucket+1)*l.width-s.From)
}

// share is floor(n x part / whole) for 0 <= part <= whole, and 0 of nothing.
func share(n, part, whole int64) int64 {
	if whole == 0 {
		return 0
	}
	hi, lo := bits.Mul64(uint64(n), uint64(part))
	q, _ := bits.Div64(hi, lo, uint64(whole))
	return int64(q)
}
