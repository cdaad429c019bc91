package scenario

import (
	"cmp"
	"fmt"
	"io"
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
	r.checkJobs(list)
	workloads.Sort(list.jobs)
	r.out.Config.Jobs, r.out.Config.Stable = list.jobs, stableIDs(list.jobs)
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
	r.input(p.to("file"), given.File, func(shown string, in io.Reader) {
		t, err := traces.Read(in, shown, format, traces.Options{Location: zone})
		if err != nil {
			r.traceError(p.to("file"), err)
			return
		}
		jobs = r.window(p.to("window"), given.Window, t.Jobs)
		r.out.Warnings = append(r.out.Warnings, t.Warnings...)
	})
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

// mostPerGPU bounds what a gang asks for per GPU, so that no product overflows.
const mostPerGPU = 1 << 40

// shape gives jobs that have only a total of GPUs their pods.
func (r *resolver) shape(jobs []workloads.Job) {
	gang, perGPU := r.File.Workload.Gang, workloads.PerGPU()
	nodeGPUs := r.nodeGPUs()
	if gang != nil {
		if gang.Pods != 0 && gang.GPUsPerPod == 0 {
			r.fail(at("workload", "gang"), "gpusPerPod is missing: expected it beside pods")
			return
		}
		if gang.CPUPerGPU > mostPerGPU || gang.MemoryPerGPU > mostPerGPU {
			r.fail(at("workload", "gang"), "cpuPerGPU or memoryPerGPU is too large")
			return
		}
		nodeGPUs = cmp.Or(int64(gang.GPUsPerPod), nodeGPUs)
		perGPU[topology.CPU] = cmp.Or(int64(gang.CPUPerGPU), perGPU[topology.CPU])
		perGPU[topology.Memory] = cmp.Or(int64(gang.MemoryPerGPU), perGPU[topology.Memory])
	}
	shaped := false
	for i := range jobs {
		if jobs[i].PodSets != nil {
			continue
		}
		shaped = true
		if gang != nil && gang.Pods != 0 {
			jobs[i].GPUs = int32(min(int64(gang.Pods)*nodeGPUs, workloads.MaxGPUs+1))
		}
		jobs[i].PodSets = workloads.Shape(jobs[i].GPUs, nodeGPUs, perGPU)
	}
	if shaped {
		r.assume("job shapes from GPU totals: pods of %d", nodeGPUs)
		if gang == nil || gang.CPUPerGPU == 0 || gang.MemoryPerGPU == 0 {
			r.assumePods()
		}
	}
}

// nodeGPUs is the node size by which jobs without a shape are divided.
func (r *resolver) nodeGPUs() int64 {
	return cmp.Or(r.jobNodes.DominantNodeGPUs(), workloads.DefaultNodeGPUs)
}

// fillPods gives pods whose trace is silent about CPU or memory the usual amount.
func (r *resolver) fillPods(jobs []workloads.Job) {
	for i := range jobs {
		for k := range jobs[i].PodSets {
			request := &jobs[i].PodSets[k].Request
			usual := usualPod(request[topology.GPU])
			for _, resource := range []topology.Resource{topology.CPU, topology.Memory} {
				if request[resource] == 0 {
					request[resource] = usual[resource]
					r.assumePods()
				}
			}
		}
	}
}

// usualPod is what a pod of so many milli-GPU asks for if nobody says.
func usualPod(gpus int64) topology.Resources {
	if gpus <= 0 {
		return topology.Resources{topology.CPU: workloads.CPUPodCPU, topology.Memory: workloads.CPUPodMemory}
	}
	gpus = min(gpus, workloads.MaxGPUs*topology.Milli)
	whole, part := gpus/topology.Milli, gpus%topology.Milli
	per := workloads.PerGPU()
	return topology.Resources{
		topology.GPU:    gpus,
		topology.CPU:    per[topology.CPU]*whole + per[topology.CPU]*part/topology.Milli,
		topology.Memory: per[topology.Memory]*whole + per[topology.Memory]*part/topology.Milli,
	}
}

// assumePods notes what pods ask for by default, and warns if nodes offer less.
func (r *resolver) assumePods() {
	s := fmt.Sprintf("pods without CPU or memory: %d CPU and %d GiB per GPU, %d CPU and %d GiB without GPUs",
		workloads.PodCPUPerGPU/topology.Milli, workloads.PodMemoryPerGPU/topology.GiB,
		workloads.CPUPodCPU/topology.Milli, workloads.CPUPodMemory/topology.GiB)
	if slices.Contains(r.out.Assumptions, s) {
		return
	}
	r.assume("%s", s)
	for i := range r.jobNodes.Nodes {
		have := &r.jobNodes.Nodes[i].Allocatable
		need := usualPod(have[topology.GPU])
		if have[topology.GPU] > 0 && (have[topology.CPU] < need[topology.CPU] || have[topology.Memory] < need[topology.Memory]) {
			r.warn("node %s offers less CPU or memory per GPU than is assumed of pods: it cannot use all its GPUs unless pods say what they need",
				r.jobNodes.Nodes[i].Name)
			return
		}
	}
}

// syntheticJobs draws the jobs. Their load is that of the cluster before scale.cluster.
func (r *resolver) syntheticJobs(given *SyntheticJobs) jobList {
	p := at("workload", "synthetic")
	if mixes := workloads.Mixes(); !slices.Contains(mixes, given.Mix) {
		r.fail(p.to("mix"), "%s: expected one of %s%s", quote(given.Mix), strings.Join(mixes, ", "), suggest.Hint(given.Mix, mixes))
		return jobList{}
	}
	jobs, err := workloads.Synthetic{
		Mix: given.Mix, Jobs: given.Jobs, Load: given.Load, StartHour: given.StartHour,
		ClusterGPUs: r.jobNodes.Capacity()[topology.GPU] / topology.Milli, NodeGPUs: r.nodeGPUs(), Seed: r.out.Config.Seed,
	}.Generate()
	if e, ok := err.(*workloads.FieldError); ok {
		field, ok := map[string]string{"cluster_gpus": "mix", "node_gpus": "mix", "start_hour": "startHour"}[e.Field]
		if !ok {
			field = e.Field
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
