package report

import (
	"github.com/gangplan/gangplan/internal/columnar"
	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/sim/ledger"
)

// field is a column and how a row of some kind fills it.
type field[R any] struct {
	columnar.Column
	put func(t *columnar.Table, column int, row R)
}

// number is an int64 column; a value that is not there is null.
func number[R any](name, unit, doc string, of func(row R) (int64, bool)) field[R] {
	return field[R]{columnar.Column{Name: name, Unit: unit, Doc: doc, Kind: columnar.Int64},
		func(t *columnar.Table, column int, row R) {
			if v, ok := of(row); ok {
				t.AppendInt64(column, v)
			} else {
				t.AppendNull(column)
			}
		}}
}

// ratio is a float column; zero is null.
func ratio[R any](name, doc string, of func(row R) float64) field[R] {
	return field[R]{columnar.Column{Name: name, Unit: "ratio", Doc: doc, Kind: columnar.Float64},
		func(t *columnar.Table, column int, row R) {
			if v := of(row); v != 0 {
				t.AppendFloat64(column, v)
			} else {
				t.AppendNull(column)
			}
		}}
}

// amount is a float column; a value that is not there is null.
func amount[R any](name, unit, doc string, of func(row R) (float64, bool)) field[R] {
	return field[R]{columnar.Column{Name: name, Unit: unit, Doc: doc, Kind: columnar.Float64},
		func(t *columnar.Table, column int, row R) {
			if v, ok := of(row); ok {
				t.AppendFloat64(column, v)
			} else {
				t.AppendNull(column)
			}
		}}
}

// text is a string column; "" is null. Names that repeat are stored as a dictionary.
func text[R any](name, doc string, dict bool, of func(row R) string) field[R] {
	return field[R]{columnar.Column{Name: name, Doc: doc, Kind: columnar.String, Dict: dict},
		func(t *columnar.Table, column int, row R) {
			if s := of(row); s != "" {
				t.AppendString(column, s)
			} else {
				t.AppendNull(column)
			}
		}}
}

func flag[R any](name, doc string, of func(row R) bool) field[R] {
	return field[R]{columnar.Column{Name: name, Doc: doc, Kind: columnar.Bool},
		func(t *columnar.Table, column int, row R) { t.AppendBool(column, of(row)) }}
}

// newTable declares the columns of some fields.
func newTable[R any](fields []field[R]) *columnar.Table {
	columns := make([]columnar.Column, len(fields))
	for i := range fields {
		columns[i] = fields[i].Column
	}
	return columnar.NewTable(columns...)
}

func appendRow[R any](t *columnar.Table, fields []field[R], row R) {
	for i := range fields {
		fields[i].put(t, i, row)
	}
}

// jobView is a job as it was asked for and as it went.
type jobView struct {
	sim.JobRow
	position, source  int64
	id, queue, tenant string
	priority          int32
	bounds            *sim.Bounds // nil without a fabric
	levels            []string
}

// always is for numbers that every row has, timed for instants that may not have come.
func always[R any](of func(row R) int64) func(R) (int64, bool) {
	return func(row R) (int64, bool) { return of(row), true }
}

func timed(of func(j *jobView) int64) func(j *jobView) (int64, bool) {
	return func(j *jobView) (int64, bool) { return of(j), of(j) >= 0 }
}

// since is the time from submit to an instant; null where it did not come and for jobs
// that were carried into the window, as in the metrics.
func since(of func(j *jobView) int64) func(j *jobView) (int64, bool) {
	return func(j *jobView) (int64, bool) { return of(j) - j.Submit, of(j) >= 0 && !j.Carried }
}

var stateNames = [...]string{sim.Future: "future", sim.Queued: "queued", sim.Backoff: "backoff", sim.Admitted: "admitted",
	sim.Finished: "finished", sim.Failed: "failed", sim.Deactivated: "deactivated"}

var jobFields = func() []field[*jobView] {
	fs := []field[*jobView]{
		number("job", "", "position in the sorted trace, from 0", always(func(j *jobView) int64 { return j.position })),
		text("id", "id in the source", false, func(j *jobView) string { return j.id }),
		number("row", "", "row in the original source", always(func(j *jobView) int64 { return j.source })),
		text("queue", "ClusterQueue", true, func(j *jobView) string { return j.queue }),
		text("tenant", "tenant or user", true, func(j *jobView) string { return j.tenant }),
		number("priority", "", "larger is more urgent", always(func(j *jobView) int64 { return int64(j.priority) })),
		text("state", "where the job stands at the end", true, func(j *jobView) string { return stateNames[j.State] }),
		number("submit_ns", "ns", "submit, from the start of the scenario", always(func(j *jobView) int64 { return j.Submit })),
		number("first_admit_ns", "ns", "first admission", timed(func(j *jobView) int64 { return j.FirstAdmit })),
		number("start_ns", "ns", "first instant the start barrier held", timed(func(j *jobView) int64 { return j.FirstStart })),
		number("finish_ns", "ns", "end of a finished job", timed(func(j *jobView) int64 { return j.Finish })),
		number("wait_ns", "ns", "submit to start", since(func(j *jobView) int64 { return j.FirstStart })),
		number("jct_ns", "ns", "submit to finish", since(func(j *jobView) int64 { return j.Finish })),
		number("work_ns", "ns", "work at ideal speed", always(func(j *jobView) int64 { return j.Work })),
		number("pods", "pods", "pods of the job", always(func(j *jobView) int64 { return int64(j.Pods) })),
		number("gpus_milli", "milli-GPU", "GPUs of all its pods", always(func(j *jobView) int64 { return j.GPUs })),
	}
	for c := range sim.NumCauses {
		fs = append(fs, number("evictions_"+c.String(), "count", "evicted or ended "+causeDocs[c],
			always(func(j *jobView) int64 { return int64(j.Evictions[c]) })))
	}
	fs = append(fs,
		number("requeues", "count", "returns to its queue", always(func(j *jobView) int64 { return int64(j.Requeues) })),
		number("run_ns", "ns", "time the job ran, lost progress included", always(func(j *jobView) int64 { return j.RunNanos })),
		ratio("allreduce_slowdown", "all-reduce time over that of the best placement, averaged over its running time", func(j *jobView) float64 { return float64(j.AllReduce) / 1e6 }),
		ratio("locality_slowdown", "the part of it that the placement makes: without neighbours", func(j *jobView) float64 { return float64(j.Locality) / 1e6 }),
		ratio("contention_slowdown", "the part of it that neighbours make: allreduce_slowdown over locality_slowdown", func(j *jobView) float64 { return contention(&j.JobRow) }),
		ratio("step_slowdown", "step time over the ideal one, averaged over its running time", func(j *jobView) float64 { return float64(j.Step) / 1e6 }),
		text("bottleneck", "what bound its all-reduce for most of its running time: nvlink, nic, or the level whose uplink did; null if it has none", true,
			(*jobView).bottleneck),
	)
	return append(append(fs, stalledFields()...),
		flag("never_fits", "asks for more than the empty cluster or the whole quota can give", func(j *jobView) bool { return j.NeverFits }),
		text("message", "why a job that is still queued at the end has no place, in the words of the scheduler; null if it has nothing to say", true,
			func(j *jobView) string { return j.Message }),
		flag("carried", "ran before the measured window; outside wait statistics", func(j *jobView) bool { return j.Carried }),
	)
}()

func jobsTable(r *sim.Result) *columnar.Table {
	t := newTable(jobFields)
	for j := range r.Jobs {
		row, spec := r.Jobs[j], &r.Config.Jobs[j]
		v := &jobView{JobRow: row, position: int64(j), source: spec.Row, id: spec.ID,
			queue: queueName(r.Config, row.Queue), tenant: spec.Tenant, priority: spec.Priority}
		if r.Bounds != nil {
			v.bounds, v.levels = &r.Bounds[j], r.Config.Cluster.Levels
		}
		appendRow(t, jobFields, v)
	}
	return t
}

// ledgerTable holds the books of a run at its own end, a row per GPU model and account.
func ledgerTable(r *sim.Result) *columnar.Table {
	t := columnar.NewTable(
		columnar.Column{Name: "model", Doc: "GPU model", Kind: columnar.String, Dict: true},
		columnar.Column{Name: "account", Doc: "what the GPUs were doing", Kind: columnar.String, Dict: true},
		columnar.Column{Name: "milli_gpu_ns", Unit: "milli-GPU x ns", Doc: "exact; the accounts of a model sum to its capacity x time", Kind: columnar.Decimal38},
		columnar.Column{Name: "gpu_hours", Unit: "GPU-hours", Doc: "milli_gpu_ns / 3.6e15", Kind: columnar.Float64})
	for m := range r.Books.Models() {
		for a := range ledger.NumAccounts {
			sum := r.Books.Sum(m, a)
			t.AppendString(0, r.Config.Cluster.Models[m])
			t.AppendString(1, a.String())
			t.AppendDecimal(2, columnar.Int128{Hi: int64(sum.Hi), Lo: sum.Lo})
			t.AppendFloat64(3, hours(sum))
		}
	}
	return t
}
