package report

import (
	"slices"
	"strings"

	"github.com/gangplan/gangplan/internal/stats"
	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/sim/ledger"
)

// Direction says which values of a metric are better.
type Direction uint8

// The directions. Neutral metrics describe the run instead of rating it.
const (
	Neutral Direction = iota
	Lower
	Higher
)

// String returns the direction as the registry's listing writes it.
func (d Direction) String() string { return [...]string{"neutral", "lower", "higher"}[d] }

// Arrow returns the direction as tables show it.
func (d Direction) Arrow() string { return [...]string{"", "↓", "↑"}[d] }

// Metric is one number that is measured of every run. The registry is the only place
// where metrics are declared: tables, JSON, gates and docs all read it.
type Metric struct {
	Name   string
	Unit   string // "jobs", "s", "GPU-hours", "ratio", ...; see Doc
	Better Direction
	Exact  bool // a count or an amount of the books, compared for equality; else a statistic of a sample
	Doc    string
	value  func(f *facts) (float64, bool)
}

// Text writes a value as tables show it; ok is false for null, which is never where a
// quantile lands on a job that did not get there.
func (m *Metric) Text(v float64, ok bool) string {
	switch {
	case !ok && m.Better == Lower && !strings.HasSuffix(m.Name, "mean") && !strings.HasSuffix(m.Name, "mean_seconds"):
		return "never"
	case !ok:
		return nothing
	}
	switch m.Unit {
	case "s":
		return Span(v)
	case "GPU-hours":
		return grouped(v, 1)
	case "ratio":
		return grouped(v, 3)
	}
	return raw(v)
}

// Metrics returns the registry in the order in which metrics are shown. It must not be
// changed.
func Metrics() []Metric { return registry }

// LookupMetric returns the metric of a name.
func LookupMetric(name string) (*Metric, bool) {
	i, ok := position[name]
	if !ok {
		return nil, false
	}
	return &registry[i], true
}

var registry = slices.Concat(
	jobMetrics,
	[]Metric{{"makespan_seconds", "s", Lower, true, "time of the last finish of any job, from the start of the scenario",
		func(f *facts) (float64, bool) { return f.makespan() }}},
	sampleMetrics("wait", "submit to the first instant the start barrier holds", func(f *facts) *stats.Sample { return &f.wait }),
	sizeMetrics(),
	sampleMetrics("admission_wait", "submit to the first admission", func(f *facts) *stats.Sample { return &f.admissionWait }),
	sampleMetrics("jct", "job completion time: submit to finish", func(f *facts) *stats.Sample { return &f.jct }),
	slowdownMetrics("bounded_slowdown", "job completion time over its work at ideal speed (at least 10 s), at least 1; over all jobs",
		[]int{50, 90, 95, 99, 100}, func(f *facts) *weighted { return &f.bounded }),
	disturbanceMetrics(),
	slowdownMetrics("allreduce_slowdown", "all-reduce time over that of the job's best placement on an idle fabric; over started jobs that have one, weighted by GPU-time",
		[]int{50, 95}, func(f *facts) *weighted { return &f.allReduce }),
	slowdownMetrics("locality_slowdown", "the part of allreduce_slowdown that placements make: without neighbours",
		[]int{50, 95}, func(f *facts) *weighted { return &f.locality }),
	slowdownMetrics("contention_slowdown", "the part of allreduce_slowdown that neighbours make: over that without them",
		[]int{50, 95}, func(f *facts) *weighted { return &f.contention }),
	slowdownMetrics("step_slowdown", "training step time over the ideal one; over started jobs that have an all-reduce, weighted by GPU-time",
		[]int{50, 95}, func(f *facts) *weighted { return &f.step }),
	gpuHourMetrics(),
	[]Metric{
		{"quota_reserved_unused", "GPU-hours", Lower, true, "quota taken by admitted jobs beyond what their bound pods hold",
			func(f *facts) (float64, bool) { return hours(f.books.Reserved), true }},
		{"gpus.stranded", "GPUs", Lower, true, "free GPUs at the end on hosts where no waiting pod fits; 0 when nobody waits",
			func(f *facts) (float64, bool) { return float64(f.run.Last.Stranded()) / 1000, true }},
	},
	fragmentationMetrics,
	verdictMetrics(),
	[]Metric{{"utilisation", "ratio", Higher, true, "gpu_hours.useful over gpu_hours.capacity, 0 to 1",
		func(f *facts) (float64, bool) { return f.utilisation() }}},
)

// position finds a metric in the registry by name.
var position = func() map[string]int {
	at := make(map[string]int, len(registry))
	for i := range registry {
		at[registry[i].Name] = i
	}
	return at
}()

// Jobs are counted over those submitted in the measured window; jobs carried into it
// from before are not among them.
var jobMetrics = []Metric{
	count("jobs.submitted", "jobs", Neutral, "jobs submitted in the measured window", func(f *facts) int { return f.submitted }),
	count("jobs.finished", "jobs", Higher, "of these, jobs that did all their work", func(f *facts) int { return f.finished }),
	count("jobs.unstarted", "jobs", Lower, "of these, jobs whose start barrier never held", func(f *facts) int { return f.wait.Missing() }),
	count("jobs.unfinished", "jobs", Lower, "of these, jobs that did not finish, for whatever reason", func(f *facts) int { return f.jct.Missing() }),
	count("jobs.failed", "jobs", Lower, "of these, jobs that were ended short of their work", func(f *facts) int { return f.failed }),
	count("jobs.deactivated", "jobs", Lower, "of these, jobs their queue gave up after too many requeues", func(f *facts) int { return f.deactivated }),
}

// count declares a metric that is a whole number.
func count(name, unit string, better Direction, doc string, of func(f *facts) int) Metric {
	return Metric{name, unit, better, true, doc, func(f *facts) (float64, bool) { return float64(of(f)), true }}
}

// quantiles are the nearest-rank percentages of every statistic of waiting, by name.
var quantiles = []struct {
	name    string
	percent int
}{{"p50", 50}, {"p90", 90}, {"p95", 95}, {"p99", 99}, {"max", 100}}

// sampleMetrics declares mean and quantiles, in seconds, of a sample in ns. The mean is
// over the jobs that have a value; quantiles are over all jobs of the window, those
// without a value counting as infinite.
func sampleMetrics(name, doc string, of func(f *facts) *stats.Sample) []Metric {
	ms := []Metric{{name + ".mean_seconds", "s", Lower, false, doc + "; mean over the jobs that have one", func(f *facts) (float64, bool) {
		mean, ok := of(f).Mean()
		return mean / 1e9, ok
	}}}
	for _, q := range quantiles {
		ms = append(ms, Metric{name + "." + q.name + "_seconds", "s", Lower, false,
			doc + "; " + q.name + " over all jobs, null if it lands on one that never got there", func(f *facts) (float64, bool) {
				v, ok := of(f).Quantile(q.percent)
				return float64(v) / 1e9, ok
			}})
	}
	return ms
}

// slowdownMetrics declares mean and some quantiles of ratios.
func slowdownMetrics(name, doc string, percents []int, of func(f *facts) *weighted) []Metric {
	ms := []Metric{{name + ".mean", "ratio", Lower, false, doc + "; mean", func(f *facts) (float64, bool) { return of(f).mean() }}}
	for _, q := range quantiles {
		if slices.Contains(percents, q.percent) {
			ms = append(ms, Metric{name + "." + q.name, "ratio", Lower, false, doc + "; " + q.name,
				func(f *facts) (float64, bool) { return of(f).quantile(q.percent) }})
		}
	}
	return ms
}

// causeDocs go on after "evicted".
var causeDocs = [sim.NumCauses]string{
	sim.CausePodsReady:   "because not all pods were ready in time",
	sim.CausePreempted:   "because a more urgent job needed the place",
	sim.CauseNode:        "because a node went down",
	sim.CauseFailure:     "because the job failed by itself",
	sim.CauseDeadline:    "because its time limit passed",
	sim.CauseNotice:      "because somebody noticed that it hangs",
	sim.CauseDeactivated: "for good, by one readiness timeout too many",
}

// disturbanceMetrics declares the counts of what interrupts jobs, carried ones included.
func disturbanceMetrics() []Metric {
	ms := []Metric{count("requeues", "count", Lower, "returns of evicted jobs to their queue; a backoff still pending at the end is none",
		func(f *facts) int { return f.requeues })}
	for c := range sim.NumCauses {
		ms = append(ms, count("evictions."+c.String(), "count", Lower, "jobs evicted or ended "+causeDocs[c],
			func(f *facts) int { return f.evictions[c] }))
	}
	return append(ms, count("preemptions", "count", Lower, "evictions by preemption, the same as evictions.preempted",
		func(f *facts) int { return f.evictions[sim.CausePreempted] }))
}

var accountDocs = [ledger.NumAccounts]struct {
	better Direction
	doc    string
}{
	ledger.Useful:              {Higher, "work at ideal speed that was kept"},
	ledger.StallLocality:       {Lower, "running, lost to a placement that communicates slower than the best one"},
	ledger.StallContention:     {Lower, "running, lost to other jobs on the same links"},
	ledger.Starting:            {Lower, "held by pods that are bound and not ready"},
	ledger.Held:                {Lower, "held by ready pods whose start barrier does not hold"},
	ledger.Lost:                {Lower, "ran, and the progress was thrown away"},
	ledger.Checkpoint:          {Lower, "held while checkpoints were written"},
	ledger.Terminating:         {Lower, "held by pods that are going away"},
	ledger.Down:                {Neutral, "on nodes that were down"},
	ledger.BlockedReserved:     {Lower, "free, held back by a reservation of the policy"},
	ledger.BlockedBackoff:      {Lower, "free, wanted by jobs in backoff"},
	ledger.BlockedGate:         {Lower, "free, wanted by jobs behind a gate"},
	ledger.BlockedOrder:        {Lower, "free, wanted by jobs that are not head of their StrictFIFO queue"},
	ledger.BlockedLatency:      {Lower, "free, wanted by jobs that were not looked at yet"},
	ledger.BlockedPreemption:   {Lower, "free, wanted by jobs that wait for their victims to go"},
	ledger.BlockedInsufficient: {Lower, "free, wanted by jobs that need more than is free"},
	ledger.BlockedQuota:        {Lower, "free, wanted by jobs without quota"},
	ledger.BlockedShape:        {Lower, "free, on hosts where the wanted pods do not fit"},
	ledger.BlockedTopology:     {Lower, "free, not close enough together for the jobs that want them"},
	ledger.NoDemand:            {Neutral, "free, wanted by nobody"},
}

// gpuHourMetrics declares the accounts of the ledger, over all GPU models.
func gpuHourMetrics() []Metric {
	gpu := func(name string, better Direction, doc string, of func(f *facts) ledger.Uint128) Metric {
		return Metric{"gpu_hours." + name, "GPU-hours", better, true, doc,
			func(f *facts) (float64, bool) { return hours(of(f)), true }}
	}
	ms := []Metric{gpu("capacity", Neutral, "all GPUs times the length of the run", func(f *facts) ledger.Uint128 { return f.capacity })}
	for a := range ledger.NumAccounts {
		ms = append(ms, gpu(a.String(), accountDocs[a].better, accountDocs[a].doc, func(f *facts) ledger.Uint128 { return f.accounts[a] }))
	}
	return append(append(ms, placeMetrics()...),
		gpu("idle", Lower, "held, starting, terminating, all blocked and no_demand together", func(f *facts) ledger.Uint128 { return f.idle() }),
		gpu("at_risk", Neutral, "running time since the last safe point at the end of the ledger; it counts as kept",
			func(f *facts) ledger.Uint128 { return f.run.AtRisk }))
}

func verdictMetrics() []Metric {
	var ms []Metric
	for k := sim.Deadlock; k <= sim.NeverFits; k++ {
		ms = append(ms, count("verdicts."+k.String(), "count", Lower, "verdicts of this kind", func(f *facts) int { return f.verdicts[k] }))
	}
	return ms
}
