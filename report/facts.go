package report

import (
	"math"
	"slices"

	"github.com/gangplan/gangplan/internal/stats"
	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/sim/ledger"
)

// shortestWork is the work below which bounded_slowdown does not divide: 10 s in ns.
const shortestWork = 10 * int64(1e9)

// facts are what the metrics of one run are computed from.
type facts struct {
	run      *sim.Result
	books    *Books
	accounts [ledger.NumAccounts]ledger.Uint128 // over all GPU models
	capacity ledger.Uint128

	submitted, finished, failed, deactivated int
	requeues                                 int
	evictions                                [sim.NumCauses]int
	verdicts                                 [sim.NeverFits + 1]int

	wait, admissionWait, jct stats.Sample // ns
	waitOfSize               [numSizes]stats.Sample
	bounded, allReduce, step weighted
	locality, contention     weighted // allReduce is their product, job by job
}

// Measure computes every metric of a run, in the order of the registry. Nil books are the
// run's own; others are the same run's, kept on to a later end. O(n log n) in the jobs.
func Measure(r *sim.Result, b *Books) Values {
	f := gather(r, b)
	values := make(Values, len(registry))
	for i := range registry {
		number, ok := registry[i].value(f)
		values[i] = Value{Name: registry[i].Name, Number: number, Null: !ok}
		if !ok {
			values[i].Number = 0
		}
	}
	return values
}

func gather(r *sim.Result, b *Books) *facts {
	if b == nil {
		b = OwnBooks(r)
	}
	f := &facts{run: r, books: b}
	f.addBooks()
	for j := range r.Jobs {
		row := &r.Jobs[j]
		f.addDisturbances(row)
		f.addSpeed(row)
		if row.State != sim.Future && !row.Carried {
			f.addOutcome(row)
		}
	}
	for i := range r.Findings {
		f.verdicts[r.Findings[i].Kind]++
	}
	slices.Sort(f.bounded.values) // every quantile sorts, and is quick when there is nothing to do
	return f
}

func (f *facts) addBooks() {
	for m := range f.books.Sums {
		for a := range f.accounts {
			f.accounts[a].Add(f.books.Sums[m][a])
		}
	}
	for a := range f.accounts {
		f.capacity.Add(f.accounts[a])
	}
}

func (f *facts) addDisturbances(row *sim.JobRow) {
	f.requeues += int(row.Requeues)
	for c, n := range row.Evictions {
		f.evictions[c] += int(n)
	}
}

// addSpeed notes how much slower than ideal a job communicated and stepped, if it ran
// and has an all-reduce.
func (f *facts) addSpeed(row *sim.JobRow) {
	if row.AllReduce <= 0 {
		return
	}
	weight := stats.Product(uint64(row.GPUs), uint64(row.RunNanos))
	f.allReduce.add(float64(row.AllReduce)/1e6, weight)
	f.locality.add(float64(row.Locality)/1e6, weight)
	f.contention.add(contention(row), weight)
	f.step.add(float64(row.Step)/1e6, weight)
}

// contention is the part of a job's all-reduce slowdown that its placement does not explain;
// 0 for a job without an all-reduce.
func contention(row *sim.JobRow) float64 {
	if row.Locality <= 0 {
		return 0
	}
	return float64(row.AllReduce) / float64(row.Locality)
}

// addOutcome counts a job of the measured window.
func (f *facts) addOutcome(row *sim.JobRow) {
	f.submitted++
	switch row.State {
	case sim.Finished:
		f.finished++
	case sim.Failed:
		f.failed++
	case sim.Deactivated:
		f.deactivated++
	}
	addSince(&f.wait, row.Submit, row.FirstStart)
	addSince(&f.waitOfSize[classOf(row.GPUs)], row.Submit, row.FirstStart)
	addSince(&f.admissionWait, row.Submit, row.FirstAdmit)
	addSince(&f.jct, row.Submit, row.Finish)
	f.bounded.values = append(f.bounded.values, boundedSlowdown(row))
}

// addSince adds the time from one instant to another, which is negative if it never came.
func addSince(s *stats.Sample, from, to int64) {
	if to < 0 {
		s.AddMissing()
		return
	}
	s.Add(to - from)
}

// boundedSlowdown returns max(1, jct / max(work, 10 s)), +Inf for a job that did not finish.
func boundedSlowdown(row *sim.JobRow) float64 {
	if row.Finish < 0 {
		return math.Inf(1)
	}
	return max(1, float64(row.Finish-row.Submit)/float64(max(row.Work, shortestWork)))
}

// makespan returns the last finish in seconds, and false if no job finished.
func (f *facts) makespan() (float64, bool) {
	last := int64(-1)
	for j := range f.run.Jobs {
		last = max(last, f.run.Jobs[j].Finish)
	}
	return float64(last) / 1e9, last >= 0
}

func (f *facts) idle() ledger.Uint128 {
	var sum ledger.Uint128
	for a := range ledger.NumAccounts {
		if a.Idle() {
			sum.Add(f.accounts[a])
		}
	}
	return sum
}

func (f *facts) utilisation() (float64, bool) {
	if f.capacity.IsZero() {
		return 0, false
	}
	return f.accounts[ledger.Useful].Float64() / f.capacity.Float64(), true
}

// weighted is a sample of ratios, each with a weight. Nil weights weigh one each.
type weighted struct {
	values  []float64
	weights []stats.Uint128
}

func (w *weighted) add(value float64, weight stats.Uint128) {
	w.values = append(w.values, value)
	w.weights = append(w.weights, weight)
}

func (w *weighted) quantile(percent int) (float64, bool) {
	return stats.WeightedQuantile(w.values, w.weights, percent)
}

func (w *weighted) mean() (float64, bool) { return stats.WeightedMean(w.values, w.weights) }
