package sim

import (
	"github.com/gangplan/gangplan/sim/ledger"
	"github.com/gangplan/gangplan/sim/quota"
	"github.com/gangplan/gangplan/topology"
)

// The books and the queues over time. Both are sums that grow, cut into the same buckets by
// ledger.Timeline: its lanes are the accounts of every GPU model, then those of every queue.

// QueueLane is something that is counted of a queue, and summed over time.
type QueueLane uint8

// What is counted: jobs, then milli-GPU. A job waits for admission from its submission, and
// again when it is evicted.
const (
	PendingJobs  QueueLane = iota // wait for admission
	AdmittedJobs                  // admitted, those that run included
	RunningJobs                   // their barrier holds
	WantedGPUs                    // of pods without a node, of jobs that are pending or admitted
	BoundGPUs                     // of pods that are bound, until they terminate
	ChargedGPUs                   // quota taken
	BorrowedGPUs                  // of it, beyond the queue's nominal quota
	NumQueueLanes
)

// queueCount is what stands in the lanes of a queue. An instant changes present as often as
// it likes; when time goes on, what was before has stood until then.
type queueCount struct {
	present, before [NumQueueLanes]int64
	since           int64
	changed         bool
	sums            [NumQueueLanes]ledger.Uint128 // count x ns
}

// advance sums what stood up to t.
func (q *queueCount) advance(t int64) {
	if t > q.since {
		for lane, n := range q.before {
			if n != 0 {
				q.sums[lane].AddProduct(uint64(n), uint64(t-q.since))
			}
		}
		q.since = t
	}
}

func (e *Engine) newTimeline() {
	e.counts = make([]queueCount, len(e.cfg.Queues))
	e.recounted = make([]int32, 0, len(e.counts))
	e.timeline = ledger.NewTimeline(e.queueLane(int32(len(e.counts)), 0))
}

// accountLane is the first lane of a model's accounts, queueLane a lane of a queue.
func accountLane(model int32) int { return int(model) * int(ledger.NumAccounts) }

func (e *Engine) queueLane(q int32, lane QueueLane) int {
	return accountLane(int32(e.books.Models())) + int(q)*int(NumQueueLanes) + int(lane)
}

// count changes what stands in a lane of a job's queue.
func (e *Engine) count(j int32, lane QueueLane, by int64) {
	q := &e.counts[e.jobs[j].queue]
	q.present[lane] += by
	if !q.changed {
		q.changed = true
		e.recounted = append(e.recounted, e.jobs[j].queue)
	}
}

// countPending counts a job that waits for admission, and what it asks for.
func (e *Engine) countPending(j int32, by int64) {
	e.count(j, PendingJobs, by)
	e.count(j, WantedGPUs, by*e.cfg.Jobs[j].TotalGPUs())
}

// countAdmitted counts one that is admitted, and what it was granted; bound pods are taken
// off when they are bound.
func (e *Engine) countAdmitted(j int32, by int64) {
	e.count(j, AdmittedJobs, by)
	e.count(j, WantedGPUs, by*e.total(j)[topology.GPU])
}

// closeCounts ends an instant for the queues that changed in it.
func (e *Engine) closeCounts() {
	for _, queue := range e.recounted {
		q := &e.counts[queue]
		q.advance(e.now)
		q.present[BorrowedGPUs] = e.borrowed(queue)
		q.before, q.changed = q.present, false
	}
	e.recounted = e.recounted[:0]
}

// borrowed is the milli-GPU that a queue uses beyond its own quota of each flavor.
func (e *Engine) borrowed(queue int32) (sum int64) {
	for fr := quota.FR(topology.GPU); int(fr) < e.quota.FRs(); fr += quota.Resources {
		sum += max(0, e.quota.Usage(queue, fr)-e.quota.Nominal(queue, fr))
	}
	return sum
}

// turnTimeline records the buckets that end before t.
func (e *Engine) turnTimeline(t int64) {
	for e.timeline.Turns(t) {
		at := e.timeline.End()
		e.books.Advance(at)
		for q := range e.counts {
			e.counts[q].advance(at)
		}
		e.recordBooks()
		for q := range e.counts {
			for lane, sum := range e.counts[q].sums {
				e.timeline.Record(e.queueLane(int32(q), QueueLane(lane)), sum)
			}
		}
		e.timeline.Turn()
	}
}

// recordBooks records the accounts that GPUs stand in; the others are settled.
func (e *Engine) recordBooks() {
	for m := range e.books.Models() {
		for a := range ledger.NumAccounts {
			if !a.Settled() {
				e.timeline.Record(accountLane(int32(m))+int(a), e.books.Sum(m, a))
			}
		}
	}
}

// noteCounts remembers what the queues have summed while the run may be at its own end.
func (e *Engine) noteCounts() {
	e.closingCounts = e.closingCounts[:0]
	for q := range e.counts {
		e.counts[q].advance(e.now)
		e.closingCounts = append(e.closingCounts, e.counts[q].sums)
	}
}

// closeTimeline ends it at the run's own end.
func (e *Engine) closeTimeline() {
	if !e.wound {
		e.noteCounts()
	}
	e.timeline.Close(e.now)
	e.recordBooks()
	for q := range e.closingCounts {
		for lane, sum := range e.closingCounts[q] {
			e.timeline.Record(e.queueLane(int32(q), QueueLane(lane)), sum)
		}
	}
}

// Account returns the milli-GPU x ns of an account within a bucket of Result.Timeline.
// Useful, lost and stalls stand when the time passed, not when it was known what it was.
func (r *Result) Account(bucket, model int, a ledger.Account) ledger.Uint128 {
	return r.Timeline.Amount(bucket, accountLane(int32(model))+int(a))
}

// Queue returns a lane of a queue within a bucket, times ns.
func (r *Result) Queue(bucket, queue int, lane QueueLane) ledger.Uint128 {
	return r.Timeline.Amount(bucket, accountLane(int32(r.Books.Models()))+queue*int(NumQueueLanes)+int(lane))
}
