package report

import (
	"slices"
	"strings"

	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/sim/ledger"
)

// jobView is a job as it was asked for and as it went.
type jobView struct {
	*sim.JobRow
	position, source  int64
	stable            int64
	id, queue, tenant string
	local             string
	profile, verdicts string
	priority          int32
	gpuModels         string
	bounds            *sim.Bounds // nil without a fabric
	levels            []string
}

// timed is for instants that may not have come.
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

var jobsTable = newTable(jobsFile, "a job of the trace, in the order of submission", "",
	slices.Concat(identityFields, lifeFields, disturbanceFields(), speedFields, spentFields, stalledFields(), verdictFields),
	func(r *Record) int { return len(r.Result.Jobs) }, viewJob)

// viewJob joins a job's row with what the trace says of it.
func viewJob(r *Record, i int) *jobView {
	cfg, row := r.Result.Config, &r.Result.Jobs[i]
	spec := &cfg.Jobs[i]
	v := &jobView{JobRow: row, position: int64(i), source: spec.Row, stable: int64(spec.StableID()), id: spec.ID,
		queue: queueName(cfg, row.Queue), tenant: spec.Tenant, priority: spec.Priority, verdicts: r.verdictsOn(i)}
	if r.Result.Bounds != nil {
		v.bounds, v.levels = &r.Result.Bounds[i], cfg.Cluster.Levels
	}
	if cfg.Stable != nil {
		v.stable = int64(cfg.Stable[i])
	}
	if spec.Queue != v.queue {
		v.local = spec.Queue
	}
	if spec.Model != nil {
		v.profile = spec.Model.Name
	}
	for k := range spec.PodSets {
		if models := spec.PodSets[k].Models; len(models) > 0 {
			v.gpuModels = strings.Join(models, ",")
			break
		}
	}
	return v
}

// verdictsOn returns the kinds of the verdicts that name a job.
func (r *Record) verdictsOn(job int) string {
	if r.named == nil {
		r.named = map[int32]string{}
		for i := range r.Result.Findings {
			f := &r.Result.Findings[i]
			for _, j := range f.Jobs {
				if kind := f.Kind.String(); r.named[j] == "" {
					r.named[j] = kind
				} else if !slices.Contains(strings.Split(r.named[j], ","), kind) {
					r.named[j] += "," + kind
				}
			}
		}
	}
	return r.named[int32(job)]
}

var identityFields = []field[*jobView]{
	number("job", "index", "position in the sorted trace, from 0", always(func(j *jobView) int64 { return j.position })),
	text("id", "id in the source", false, func(j *jobView) string { return j.id }),
	number("row", "index", "row in the original source", always(func(j *jobView) int64 { return j.source })),
	number("stable_id", "hash", "hash of id and row, by which draws know the job: the same in every run, however the trace was cut", always(func(j *jobView) int64 { return j.stable })),
	text("queue", "ClusterQueue", true, func(j *jobView) string { return j.queue }),
	text("local_queue", "LocalQueue, if the job was sent to one", true, func(j *jobView) string { return j.local }),
	text("tenant", "tenant or user", true, func(j *jobView) string { return j.tenant }),
	number("priority", "level", "larger is more urgent", always(func(j *jobView) int64 { return int64(j.priority) })),
	text("profile", "model profile; null if the job does not communicate", true, func(j *jobView) string { return j.profile }),
	number("pods", "pods", "pods of the job: the size of the gang", always(func(j *jobView) int64 { return int64(j.Pods) })),
	number("admitted_pods", "pods", "of these, in its last admission; null if it was never admitted", func(j *jobView) (int64, bool) { return int64(j.Admitted), j.FirstAdmit >= 0 }),
	number("gpus_milli", "milli-GPU", "GPUs of all its pods", always(func(j *jobView) int64 { return j.GPUs })),
	text("gpu_models", "GPU models it accepts, of the first PodSet that says so; null: all", true, func(j *jobView) string { return j.gpuModels }),
	number("work_ns", "ns", "work at ideal speed", always(func(j *jobView) int64 { return j.Work })),
	flag("carried", "ran before the measured window; outside wait statistics", func(j *jobView) bool { return j.Carried }),
}

var lifeFields = []field[*jobView]{
	text("state", "where the job stands at the end: future, queued, backoff, admitted, finished, failed, deactivated", true, func(j *jobView) string { return stateNames[j.State] }),
	number("submit_ns", "ns", "submit, from the start of the scenario", always(func(j *jobView) int64 { return j.Submit })),
	number("first_admit_ns", "ns", "first admission; null if it never came, as in the next", timed(func(j *jobView) int64 { return j.FirstAdmit })),
	number("start_ns", "ns", "first instant the start barrier held", timed(func(j *jobView) int64 { return j.FirstStart })),
	number("finish_ns", "ns", "end of a finished job", timed(func(j *jobView) int64 { return j.Finish })),
	number("admission_wait_ns", "ns", "submit to first admission", since(func(j *jobView) int64 { return j.FirstAdmit })),
	number("wait_ns", "ns", "submit to start", since(func(j *jobView) int64 { return j.FirstStart })),
	number("jct_ns", "ns", "job completion time: submit to finish", since(func(j *jobView) int64 { return j.Finish })),
	float("bounded_slowdown", "ratio", "jct_ns over work_ns (at least 10 s), at least 1",
		func(j *jobView) (float64, bool) { return boundedSlowdown(j.JobRow), j.Finish >= 0 && !j.Carried }),
	number("run_ns", "ns", "time the job ran, lost progress included", always(func(j *jobView) int64 { return j.RunNanos })),
	number("requeues", "count", "returns to its queue", always(func(j *jobView) int64 { return int64(j.Requeues) })),
}

func disturbanceFields() (fs []field[*jobView]) {
	for c := range sim.NumCauses {
		fs = append(fs, number("evictions_"+c.String(), "count", "evicted or ended "+causeDocs[c],
			always(func(j *jobView) int64 { return int64(j.Evictions[c]) })))
	}
	return fs
}

var speedFields = []field[*jobView]{
	ratio("allreduce_slowdown", "all-reduce time over that of the best placement, averaged over its running time", func(j *jobView) float64 { return float64(j.AllReduce) / 1e6 }),
	ratio("locality_slowdown", "the part of it that the placement makes: without neighbours", func(j *jobView) float64 { return float64(j.Locality) / 1e6 }),
	ratio("contention_slowdown", "the part of it that neighbours make: allreduce_slowdown over locality_slowdown", func(j *jobView) float64 { return contention(j.JobRow) }),
	ratio("step_slowdown", "step time over the ideal one, averaged over its running time", func(j *jobView) float64 { return float64(j.Step) / 1e6 }),
	text("bottleneck", "what bound its all-reduce for most of its running time: nvlink, nic, or the level whose uplink did; null if it has none", true, (*jobView).bottleneck),
}

var spentFields = []field[*jobView]{
	gpuHours("useful_gpu_hours", "work at ideal speed that was kept; over all jobs this and the next sum to the accounts of the ledger", func(j *jobView) ledger.Uint128 { return j.Spent.Useful }),
	gpuHours("stall_locality_gpu_hours", "running, lost to its placement", func(j *jobView) ledger.Uint128 { return j.Spent.StallLocality }),
	gpuHours("stall_contention_gpu_hours", "running, lost to neighbours on its links", func(j *jobView) ledger.Uint128 { return j.Spent.StallContention }),
	gpuHours("lost_gpu_hours", "ran, and the progress was thrown away", func(j *jobView) ledger.Uint128 { return j.Spent.Lost }),
}

var verdictFields = []field[*jobView]{
	text("refusal", "why the job still waits at the end, or waited when it last claimed GPUs that were free: the reason of the ledger's blocked_* accounts; null if it never did", true, func(j *jobView) string { return j.Refusal.String() }),
	text("verdicts", "verdicts that name the job, separated by commas: deadlock, livelock, starvation, never_fits", true, func(j *jobView) string { return j.verdicts }),
	flag("never_fits", "asks for more than the empty cluster or the whole quota can give", func(j *jobView) bool { return j.NeverFits }),
	text("message", "why a job that is still queued at the end has no place, in the words of the scheduler; null if it has nothing to say", true, func(j *jobView) string { return j.Message }),
}
