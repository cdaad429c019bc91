package scenario

import (
	"cmp"
	"slices"

	"github.com/gangplan/gangplan/internal/suggest"
	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/workloads"
)

// Event is something that is done to a node, to pods or to a job. A node is named, or is
// where a pod of a job is by then; pods are one of a job, or those of a job on a node.
type Event struct {
	At   Duration `yaml:"at,required"`
	Do   string   `yaml:"do,required"` // one of deedNames
	Node string   `yaml:"node"`
	Job  string   `yaml:"job"`
	Pod  *int32   `yaml:"pod"` // its rank
}

// deedNames are the words for what an event does. A node that is added is not there before.
var deedNames = []string{"down", "up", "add", "delete", "unreachable", "cordon", "uncordon",
	"deletePod", "failPod", "deleteJob", "deactivate", "activate"}

var deeds = []sim.Deed{sim.DoDown, sim.DoUp, sim.DoUp, sim.DoDelete, sim.DoUnreachable, sim.DoCordon, sim.DoUncordon,
	sim.DoDeletePod, sim.DoFailPod, sim.DoDeleteJob, sim.DoDeactivate, sim.DoActivate}

// resolveEvents reads what is done to nodes, pods and jobs from outside.
func (r *resolver) resolveEvents() {
	if len(r.Events) == 0 {
		return
	}
	nodes, jobs := nodeIndex(r.cluster), r.jobIndex()
	seen := map[int32]bool{}
	var absent, list []sim.Action
	order := slices.Clone(r.Events)
	index := make([]int, len(order))
	for i := range index {
		index[i] = i
	}
	slices.SortStableFunc(index, func(a, b int) int { return cmp.Compare(order[a].At, order[b].At) })
	for _, i := range index {
		e := &order[i]
		a := r.action(at("events", i), e, nodes, jobs)
		if a.Node >= 0 && !seen[a.Node] && e.Do == "add" {
			absent = append(absent, sim.Action{Do: sim.DoDelete, Node: a.Node, Job: -1})
		}
		seen[a.Node] = true
		list = append(list, a)
	}
	r.out.Config.Actions = append(absent, list...)
}

// jobIndex finds jobs by name. Events come after the workload, so that jobs have their
// places.
func (r *resolver) jobIndex() map[string]int32 {
	jobs := map[string]int32{}
	for j := range r.out.Config.Jobs {
		jobs[r.out.Config.Jobs[j].ID] = int32(j)
	}
	return jobs
}

// action resolves one event.
func (r *resolver) action(p path, e *Event, nodes, jobs map[string]int32) sim.Action {
	a := sim.Action{Time: int64(e.At), Do: word(r, p.to("do"), e.Do, deedNames, deeds...), Node: -1, Job: -1, Rank: workloads.AllPods}
	if e.Node != "" {
		n, ok := nodes[e.Node]
		if !ok {
			r.fail(p.to("node"), "%s", noNode(e.Node, r.cluster))
		}
		a.Node = n
	}
	if e.Job != "" {
		a.Job = r.eventJob(p, e, jobs)
		r.checkSubmitted(p, e, a.Job)
	}
	if e.Pod != nil {
		a.Rank = *e.Pod
		r.checkPod(p, &a)
	}
	r.checkSubject(p, e, a.Do)
	return a
}

func (r *resolver) eventJob(p path, e *Event, jobs map[string]int32) int32 {
	j, ok := jobs[e.Job]
	if !ok {
		names := make([]string, 0, len(jobs))
		for name := range jobs {
			names = append(names, name)
		}
		slices.Sort(names)
		r.fail(p.to("job"), "there is no job %s%s", quote(e.Job), suggest.Hint(e.Job, names))
		return -1
	}
	return j
}

// checkSubmitted refuses an event on a job that is not there yet. What is done from outside
// comes before the jobs of its moment.
func (r *resolver) checkSubmitted(p path, e *Event, job int32) {
	if job < 0 {
		return
	}
	if submit := Duration(r.out.Config.Jobs[job].Submit); e.At <= submit {
		r.fail(p.to("at"), "%s: expected a time after job %s is submitted, at %s", e.At, quote(e.Job), submit)
	}
}

// checkPod refuses a pod that its job does not have.
func (r *resolver) checkPod(p path, a *sim.Action) {
	switch {
	case a.Job < 0:
		r.fail(p.to("pod"), "expected job beside it")
	case a.Rank < 0 || a.Rank >= r.out.Config.Jobs[a.Job].Pods():
		r.fail(p.to("pod"), "%d: the job has pods 0 to %d", a.Rank, r.out.Config.Jobs[a.Job].Pods()-1)
	}
}

// checkSubject refuses an event that is not about what its deed is done to.
func (r *resolver) checkSubject(p path, e *Event, do sim.Deed) {
	node, job, pod := e.Node != "", e.Job != "", e.Pod != nil
	switch do {
	case sim.DoDeletePod, sim.DoFailPod:
		if !job || node == pod {
			r.fail(p, "%s: expected job, and either pod or node", e.Do)
		}
	case sim.DoDeleteJob, sim.DoDeactivate, sim.DoActivate:
		if !job || node || pod {
			r.fail(p, "%s: expected job, and nothing else", e.Do)
		}
	default:
		if node == pod || job != pod {
			r.fail(p, "%s: expected node, or job and pod", e.Do)
		}
	}
}
