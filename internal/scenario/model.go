package scenario

import (
	"cmp"
	"math"
	"strings"

	"github.com/gangplan/gangplan/internal/suggest"
	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/workloads"
	"gopkg.in/yaml.v3"
)

// model returns the model that a job trains: a known one, with what is said differently,
// or one of the scenario's own.
func (r *resolver) model(p path, m *Model) *workloads.ModelProfile {
	if m == nil {
		return nil
	}
	own := workloads.ModelProfile{Name: "custom", OverlapMilli: workloads.DefaultOverlapMilli}
	if m.Name != "" {
		known, ok := workloads.LookupModel(m.Name)
		if !ok {
			r.fail(p, "unknown model %s: expected one of %s%s", quote(m.Name),
				strings.Join(workloads.ModelNames(), ", "), suggest.Hint(m.Name, workloads.ModelNames()))
			return nil
		}
		if *m == (Model{Name: m.Name}) {
			return known
		}
		own = *known
	} else if m.GradientGB == 0 || m.Compute == 0 {
		r.fail(p, "expected name, or gradientGB and compute")
		return nil
	}
	if !r.checkModel(p, m) {
		return nil
	}
	cut := own.Parts()
	own.Tensor, own.Pipeline = cmp.Or(m.Tensor, own.Tensor), cmp.Or(m.Pipeline, own.Pipeline)
	own.GradientBytes = cmp.Or(int64(math.Round(m.GradientGB*1e9)), max(1, own.GradientBytes*cut/own.Parts()))
	own.FullyShard = *cmp.Or(m.FSDP, &own.FullyShard)
	if m.Overlap != nil {
		own.OverlapMilli = int64(math.Round(*m.Overlap * 1000))
	}
	if m.Compute != 0 {
		own.Compute, own.GPU, own.Others = int64(m.Compute), "", nil
	}
	return &own
}

func (r *resolver) checkModel(p path, m *Model) bool {
	switch {
	case m.Overlap != nil && !(*m.Overlap >= 0 && *m.Overlap <= 1):
		r.fail(p.to("overlap"), "%v: expected a number from 0 to 1", *m.Overlap)
	case m.GradientGB > 1e6:
		r.fail(p.to("gradientGB"), "%v: expected at most a million", m.GradientGB)
	case m.Tensor > workloads.MaxGPUs:
		r.fail(p.to("tensor"), "%d: expected at most %d", m.Tensor, workloads.MaxGPUs)
	case m.Pipeline > workloads.MaxGPUs:
		r.fail(p.to("pipeline"), "%d: expected at most %d", m.Pipeline, workloads.MaxGPUs)
	default:
		return true
	}
	return false
}

// missing reports whether a mapping of the file has no such field. Files that were not
// parsed miss nothing.
func (r *resolver) missing(p path, field string) bool {
	n := r.find(p)
	if n != nil && n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n != nil && r.find(p.to(field)) == n
}

// setWork sets the work of a job that is given in steps at ideal speed.
func (r *resolver) setWork(p path, j *Job, job *workloads.Job) {
	switch {
	case j.Steps == 0:
		if j.Duration == 0 && r.missing(p, "duration") {
			r.fail(p.to("duration"), "missing: expected a duration such as 90, 5m, 1h30m or 7d")
		}
	case j.Duration != 0:
		r.fail(p.to("steps"), "there is duration already: expected one of them")
	case j.Model == nil:
		r.fail(p.to("steps"), "expected model beside it")
	case job.Model == nil: // it was said what is wrong with it
	default:
		step := job.Model.StepNanos(r.idealAllReduce(job))
		if step > workloads.MaxTime/j.Steps {
			r.fail(p.to("steps"), "%d steps of %s take more than 100 years", j.Steps, Duration(step))
			return
		}
		job.Duration = step * j.Steps
	}
}

// idealAllReduce is what an all-reduce of the job takes at its best place; nothing without
// a fabric.
func (r *resolver) idealAllReduce(job *workloads.Job) int64 {
	f := r.out.Config.Fabric
	if f == nil {
		return 0
	}
	return f.BestTime(job.GPUsByPod(), sim.TrafficOf(job.Model))
}
