package scenario

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/gangplan/gangplan/internal/suggest"
	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/traces"
	"github.com/gangplan/gangplan/workloads"
)

// MaxPods bounds the pods of all jobs of a scenario together.
const MaxPods = 10_000_000

// jobList is a workload before its jobs are checked. Its positions are those of blame.
type jobList struct {
	jobs  []workloads.Job
	blame func(job int, field, msg string) // adds a mistake of a job
}

// resolveWorkload makes the jobs.
func (r *resolver) resolveWorkload() {
	w := &r.File.Workload
	kind, ok := r.oneOf(at("workload"), []string{"trace", "jobs", "synthetic"}, w.Trace != nil, w.Jobs != nil, w.Synthetic != nil)
	if !ok {
		return
	}
	if w.Gang != nil && kind != "trace" {
		r.fail(at("workload", "gang"), "only the jobs of a trace can be given another shape")
	}
	before := len(r.errs.list)
	var list jobList
	switch kind {
	case "trace":
		list = r.traceJobs(w.Trace)
	case "jobs":
		list = r.listedJobs(w.Jobs)
	case "synthetic":
		list = r.syntheticJobs(w.Synthetic)
		r.out.redraw = r.redraw
	}
	if len(r.errs.list) == before {
		r.finish(list)
	}
}

// redraw makes the jobs of a synthetic workload for another seed.
func (r *resolver) redraw(seed uint64) ([]workloads.Job, error) {
	config := *r.out.Config
	config.Seed = seed
	again := &resolver{File: r.File, open: r.open, jobNodes: r.jobNodes, cluster: r.cluster, out: Scenario{Config: &config}}
	if list := again.syntheticJobs(r.File.Workload.Synthetic); len(again.errs.list) == 0 {
		again.finish(list)
	}
	return config.Jobs, again.errs.err(r.name)
}

// finish scales, checks and sorts the jobs.
func (r *resolver) finish(list jobList) {
	if !r.scaleLoad(list.jobs) {
		return
	}
	r.assignModels(list.jobs)
	r.onGPUs(list.jobs)
	r.checkCopies(list.jobs)
	r.checkJobs(list)
	if r.File.Workload.Trace != nil {
		r.checkEnd(list.jobs)
	}
	workloads.Sort(list.jobs)
	r.out.Config.Jobs, r.out.Config.Stable = list.jobs, stableIDs(list.jobs)
}

// checkEnd wants an end of the run where jobs of a trace have none: services, and pods without departures.
func (r *resolver) checkEnd(jobs []workloads.Job) {
	if r.Until > 0 {
		return
	}
	for i := range jobs {
		if jobs[i].Duration >= workloads.MaxTime {
			r.fail(at("until"), "missing: expected a time, since job %s never ends", quote(jobs[i].ID))
			return
		}
	}
}

// scaleLoad divides the times between arrivals.
func (r *resolver) scaleLoad(jobs []workloads.Job) bool {
	p, x := at("scale", "load"), r.Scale.Load
	if inner := r.File.Workload.Scale.Load; inner != 0 {
		if x != 0 {
			r.fail(p, "workload.scale.load is given too: expected only one of them")
			return false
		}
		p, x = at("workload", "scale", "load"), inner
	}
	if x == 0 || x == 1 {
		return true
	}
	if err := workloads.ScaleLoad(jobs, x); err != nil {
		r.fail(p, "%v", err)
		return false
	}
	return true
}

func (r *resolver) traceJobs(given *Trace) jobList {
	p := at("workload", "trace")
	var jobs []workloads.Job
	list := jobList{blame: func(i int, field, msg string) {
		r.fail(p, "job %s (row %d): %s: %s", quote(jobs[i].ID), jobs[i].Row, podField(field, msg), msg)
	}}
	zone := r.zone(p.to("timezone"), given.Timezone)
	formats := append([]string{"auto"}, traces.Formats()...)
	format := word(r, p.to("format"), given.Format, formats, formats...)
	if t := r.trace(p, given, format, zone); t != nil {
		jobs = r.window(p.to("window"), given.Window, t.Jobs)
		r.out.Warnings = append(r.out.Warnings, t.Warnings...)
		r.out.Config.Budgets = append(r.out.Config.Budgets, t.Budgets...)
	}
	r.shape(jobs)
	r.fillPods(jobs)
	list.jobs = jobs
	return list
}

// traceError passes on an error of a trace, which has a place of its own.
func (r *resolver) traceError(p path, err error) {
	if e, ok := err.(*traces.Error); ok {
		r.errs.add(&Error{e.File, e.Line, e.Column, e.Field, e.Msg})
		return
	}
	r.fail(p, "%v", err)
}

// zone looks up a time zone by its name; nil is the default of the trace's format. The
// zone of the machine has no name.
func (r *resolver) zone(p path, name string) *time.Location {
	if name == "" {
		return nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil || name == "Local" {
		r.fail(p, "%s: expected the name of a time zone such as America/Los_Angeles", quote(name))
	}
	return zone
}

// window cuts the window out of the jobs of a trace.
func (r *resolver) window(p path, w *Window, jobs []workloads.Job) []workloads.Job {
	if w == nil {
		return jobs
	}
	from, to := int64(w.From), cmp.Or(int64(w.To), math.MaxInt64)
	carry := word(r, p.to("carry"), w.Carry, []string{"none", "running"}, workloads.CarryNone, workloads.CarryRunning)
	if from >= to {
		r.fail(p.to("to"), "%s: expected more than from, %s", w.To, w.From)
		return nil
	}
	kept := workloads.Window(jobs, from, to, carry)
	if len(kept) == 0 {
		r.fail(p, "no job of the trace is in the window: its jobs are submitted from %s to %s",
			Duration(jobs[0].Submit), Duration(jobs[len(jobs)-1].Submit))
	}
	if carry == workloads.CarryRunning {
		r.assume("jobs that run when the window begins started when they were submitted")
	}
	return kept
}

// syntheticJobs draws the jobs. Their load is that of the cluster before scale.cluster.
func (r *resolver) syntheticJobs(given *SyntheticJobs) jobList {
	p := at("workload", "synthetic")
	if mixes := workloads.Mixes(); !slices.Contains(mixes, given.Mix) {
		r.fail(p.to("mix"), "%s: expected one of %s%s", quote(given.Mix), strings.Join(mixes, ", "), suggest.Hint(given.Mix, mixes))
		return jobList{}
	}
	if len(r.jobNodes.Models) == 0 {
		r.fail(p, "the cluster has no GPUs: expected some, for which a load can be drawn")
		return jobList{}
	}
	jobs, err := workloads.Synthetic{
		Mix: given.Mix, Jobs: given.Jobs, Load: given.Load, StartHour: given.StartHour,
		ClusterGPUs: r.jobNodes.Capacity()[topology.GPU] / topology.Milli, NodeGPUs: r.nodeGPUs(), Seed: r.out.Config.Seed,
	}.Generate()
	if e, ok := err.(*workloads.FieldError); ok {
		field := e.Field
		if field == "start_hour" {
			field = "startHour"
		}
		r.fail(p.to(field), "%s", e.Problem)
	} else if err != nil {
		r.fail(p, "%v", err)
	}
	r.assume("job shapes from GPU totals: pods of %d", r.nodeGPUs())
	r.assumePods()
	return jobList{jobs, func(i int, field, msg string) {
		r.fail(p, "job %s: %s: %s", quote(jobs[i].ID), podField(field, msg), msg)
	}}
}
