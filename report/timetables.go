package report

import (
	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/sim/ledger"
	"github.com/gangplan/gangplan/sim/quota"
)

// The books and the queues over time, in the buckets of the run's timeline.

// bucket is a stretch of time in which something is told.
type bucket struct {
	run      *sim.Result
	at       int
	from, to int64
}

func bucketOf(r *Record, at int) bucket {
	b := bucket{run: r.Result, at: at}
	b.from, b.to = r.Result.Timeline.Span(at)
	return b
}

// buckets is how many a run has; a result that was not run has none.
func buckets(r *Record) int {
	if r.Result.Timeline == nil {
		return 0
	}
	return r.Result.Timeline.Buckets()
}

// bookRow is an account of a GPU model within a bucket.
type bookRow struct {
	bucket
	model   int
	account ledger.Account
}

func (b *bookRow) sum() ledger.Uint128 { return b.run.Account(b.at, b.model, b.account) }

var ledgerTable = newTable(ledgerFile, "an account of a GPU model within a bucket of time, all of them, by time", "",
	[]field[*bookRow]{
		number("time_ns", "ns", "start of the bucket, from the start of the scenario", always(func(b *bookRow) int64 { return b.from })),
		number("end_ns", "ns", "its end; buckets are equally wide but for the last, which ends with the run", always(func(b *bookRow) int64 { return b.to })),
		text("model", "GPU model", true, func(b *bookRow) string { return b.run.Config.Cluster.Models[b.model] }),
		text("account", "what the GPUs did", true, func(b *bookRow) string { return b.account.String() }),
		exact("milli_gpu_ns", "how much: the accounts of a model sum to its capacity x time, the buckets to summary.json, to the unit", (*bookRow).sum),
		gpuHours("gpu_hours", "milli_gpu_ns / 3.6e15", (*bookRow).sum),
	},
	func(r *Record) int { return buckets(r) * r.Result.Books.Models() * int(ledger.NumAccounts) },
	func(r *Record, i int) *bookRow {
		accounts, models := int(ledger.NumAccounts), r.Result.Books.Models()
		return &bookRow{bucketOf(r, i/accounts/models), i / accounts % models, ledger.Account(i % accounts)}
	})

// queueRow is a queue within a bucket.
type queueRow struct {
	bucket
	queue int
}

func (q *queueRow) spec() *quota.Queue { return &q.run.Config.Queues[q.queue] }

// meanJobs is how many jobs were in a lane, on average; meanGPUs how many GPUs.
func meanJobs(lane sim.QueueLane) func(q *queueRow) (float64, bool) {
	return func(q *queueRow) (float64, bool) { return q.mean(lane, 1) }
}

func meanGPUs(lane sim.QueueLane) func(q *queueRow) (float64, bool) {
	return func(q *queueRow) (float64, bool) { return q.mean(lane, 1000) }
}

// mean is a lane averaged over the bucket; there is none over no time.
func (q *queueRow) mean(lane sim.QueueLane, unit float64) (float64, bool) {
	if q.from == q.to {
		return 0, false
	}
	return q.run.Queue(q.at, q.queue, lane).Float64() / float64(q.to-q.from) / unit, true
}

// nominal is the GPUs of a queue's own quota, of all flavors; none if it has no quota of GPUs.
func (q *queueRow) nominal() (gpus float64, ok bool) {
	for _, g := range q.spec().Resolved() {
		if !g.Covers[gpuResource] {
			continue
		}
		ok = true
		for _, f := range g.Flavors {
			gpus += float64(f.Quota[gpuResource].Nominal) / 1000
		}
	}
	return gpus, ok
}

// gpuResource is the position of GPUs among resources.
const gpuResource = 0

// ofQuota is for what means something only where there is a quota.
func ofQuota(of func(q *queueRow) (float64, bool)) func(q *queueRow) (float64, bool) {
	return func(q *queueRow) (float64, bool) {
		if _, ok := q.nominal(); !ok {
			return 0, false
		}
		return of(q)
	}
}

// utilisation is bound GPUs over nominal ones.
func (q *queueRow) utilisation() (float64, bool) {
	nominal, _ := q.nominal()
	bound, ok := q.mean(sim.BoundGPUs, 1000)
	if nominal == 0 || !ok {
		return 0, false
	}
	return bound / nominal, true
}

var queuesTable = newTable(queuesFile, "a queue within a bucket of time, all of them, by time; numbers are averages over the bucket", "",
	[]field[*queueRow]{
		number("time_ns", "ns", "start of the bucket, from the start of the scenario: the buckets of "+ledgerFile, always(func(q *queueRow) int64 { return q.from })),
		number("end_ns", "ns", "its end", always(func(q *queueRow) int64 { return q.to })),
		text("queue", "ClusterQueue", true, func(q *queueRow) string { return q.spec().Name }),
		text("cohort", "cohort of the queue; null if it has none", true, func(q *queueRow) string { return q.spec().Cohort }),
		float("pending_jobs", "jobs", "wait for admission, for the first time or again", meanJobs(sim.PendingJobs)),
		float("admitted_jobs", "jobs", "are admitted, those that run included", meanJobs(sim.AdmittedJobs)),
		float("running_jobs", "jobs", "run: their start barrier holds", meanJobs(sim.RunningJobs)),
		float("wanted_gpus", "GPUs", "of pods without a node, of jobs that are pending or admitted, those that never fit included", meanGPUs(sim.WantedGPUs)),
		float("bound_gpus", "GPUs", "of pods that are bound: starting, held, running or writing a checkpoint", meanGPUs(sim.BoundGPUs)),
		float("nominal_gpus", "GPUs", "the queue's own quota, of all flavors; null, as all that follows, if it has no quota of GPUs", (*queueRow).nominal),
		float("charged_gpus", "GPUs", "quota taken by admitted jobs", ofQuota(meanGPUs(sim.ChargedGPUs))),
		float("borrowed_gpus", "GPUs", "of it, beyond the nominal quota", ofQuota(meanGPUs(sim.BorrowedGPUs))),
		float("utilisation", "ratio", "bound_gpus over nominal_gpus; null if that is 0", (*queueRow).utilisation),
	},
	func(r *Record) int { return buckets(r) * len(r.Result.Config.Queues) },
	func(r *Record, i int) *queueRow {
		queues := len(r.Result.Config.Queues)
		return &queueRow{bucketOf(r, i/queues), i % queues}
	})
