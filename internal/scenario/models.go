package scenario

import (
	"slices"
	"strings"

	"github.com/gangplan/gangplan/internal/suggest"
	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/workloads"
)

// assignModels gives jobs that name no model one of those the scenario lists for their size.
func (r *resolver) assignModels(jobs []workloads.Job) {
	m := r.File.Workload.Models
	if m == nil {
		return
	}
	p := at("workload", "models")
	kind, ok := r.oneOf(p, []string{"mix", "byGPUs"}, m.Mix != "", m.ByGPUs != nil)
	if !ok {
		return
	}
	before := len(r.errs.list)
	choices := r.modelChoices(p.to(kind), m)
	if len(r.errs.list) > before {
		return
	}
	if n := workloads.AssignModels(jobs, r.out.Config.Seed, choices); n > 0 {
		r.assume("models of %d jobs drawn by their GPUs", n)
	}
}

func (r *resolver) modelChoices(p path, m *Models) []workloads.ModelChoice {
	if m.Mix != "" {
		choices, ok := workloads.MixModels(m.Mix)
		if !ok {
			r.fail(p, "%s: expected one of %s%s", quote(m.Mix), strings.Join(workloads.Mixes(), ", "), suggest.Hint(m.Mix, workloads.Mixes()))
		}
		return choices
	}
	if len(m.ByGPUs) == 0 {
		r.fail(p, "the list is empty: expected at least one")
	}
	var choices []workloads.ModelChoice
	for i, c := range m.ByGPUs {
		at := p.to(i)
		if last := len(choices) - 1; c.UpTo == 0 && i+1 < len(m.ByGPUs) {
			r.fail(at.to("upTo"), "missing: only the last entry is for any number of GPUs")
		} else if last >= 0 && c.UpTo != 0 && c.UpTo <= choices[last].MaxGPUs {
			r.fail(at.to("upTo"), "%d: expected more than the %d of the entry before", c.UpTo, choices[last].MaxGPUs)
		}
		choice := workloads.ModelChoice{MaxGPUs: c.UpTo}
		for k := range c.Of {
			choice.Models = append(choice.Models, r.model(at.to("of", k), &c.Of[k]))
		}
		choices = append(choices, choice)
	}
	return choices
}

// onGPUs gives the models of jobs the computation they have on the cluster's GPUs.
func (r *resolver) onGPUs(jobs []workloads.Job) {
	for i := range jobs {
		r.onGPU(&jobs[i])
	}
}

// modelOn is a model on a GPU.
type modelOn struct {
	model *workloads.ModelProfile
	gpu   string
}

func (r *resolver) onGPU(j *workloads.Job) {
	if j.Model == nil || j.Model.GPU == "" {
		return
	}
	key := modelOn{j.Model, r.gpuOf(j)}
	if _, known := r.models[key]; !known {
		if r.models == nil {
			r.models = map[modelOn]*workloads.ModelProfile{}
		}
		on, scaled := j.Model.On(key.gpu)
		r.models[key] = on
		r.models[modelOn{on, key.gpu}] = on
		if scaled && r.out.Config.Fabric != nil {
			r.assume("computation of models that was found on other GPUs scaled by peak FLOP/s")
		}
	}
	j.Model = r.models[key]
}

// gpuOf returns the GPU model of a job: of those it accepts the one that the cluster has
// most of.
func (r *resolver) gpuOf(j *workloads.Job) string {
	if r.gpus == nil {
		r.gpus = make([]int64, len(r.jobNodes.Models))
		for i := range r.jobNodes.Nodes {
			if n := &r.jobNodes.Nodes[i]; n.Model >= 0 {
				r.gpus[n.Model] += n.Allocatable[topology.GPU]
			}
		}
	}
	accepts := func(string) bool { return true }
	for i := range j.PodSets {
		if s := &j.PodSets[i]; len(s.Models) > 0 && s.Request[topology.GPU] > 0 {
			accepts = func(name string) bool { return slices.Contains(s.Models, name) }
		}
	}
	best, most := "", int64(0)
	for i, name := range r.jobNodes.Models {
		if accepts(name) && r.gpus[i] > most {
			best, most = name, r.gpus[i]
		}
	}
	return best
}

// checkCopies warns of jobs that hold less than a copy of their model: there is nobody to
// exchange gradients with, which is rarely meant.
func (r *resolver) checkCopies(jobs []workloads.Job) {
	if r.out.Config.Fabric == nil {
		return
	}
	first, count := -1, 0
	for i := range jobs {
		if m := jobs[i].Model; m != nil && m.Parts() > jobs[i].TotalGPUs()/topology.Milli && m.Parts() > 1 {
			if count++; first < 0 {
				first = i
			}
		}
	}
	if count > 0 {
		j := &jobs[first]
		r.warn("%d jobs have fewer GPUs than one copy of their model and exchange no gradients: the first is %s, %s on %d of %d GPUs",
			count, j.ID, j.Model.Name, j.TotalGPUs()/topology.Milli, j.Model.Parts())
	}
}
