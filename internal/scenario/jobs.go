package scenario

import (
	"fmt"
	"strings"

	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/workloads"
)

// listedJobs makes the jobs of a list of entries. Their rows are 1, 2 and so on.
func (r *resolver) listedJobs(entries []Job) jobList {
	p := at("workload", "jobs")
	if len(entries) == 0 {
		r.fail(p, "the list is empty: expected at least one job")
	}
	var list jobList
	var entryOf []int
	list.blame = func(job int, field, msg string) {
		i := entryOf[job]
		r.fail(p.to(i).to(entries[i].fieldPath(field, msg)...), "%s", msg)
	}
	ids := map[string]bool{}
	for i := range entries {
		if r.errs.full() || !r.checkCount(p.to(i), &entries[i], len(list.jobs)) {
			break
		}
		for _, job := range r.jobsOf(p.to(i), &entries[i], len(list.jobs)) {
			if ids[job.ID] {
				r.fail(p.to(i, "id"), "%s is the id of another job too", quote(job.ID))
				break
			}
			ids[job.ID] = true
			list.jobs, entryOf = append(list.jobs, job), append(entryOf, i)
		}
	}
	return list
}

// jobsOf makes the jobs that an entry stands for; their rows follow those of the jobs
// before.
func (r *resolver) jobsOf(p path, entry *Job, before int) []workloads.Job {
	job, ok := r.listedJob(p, entry)
	if !ok {
		return nil
	}
	jobs := make([]workloads.Job, max(1, entry.Count))
	for k := range jobs {
		job.ID, job.Row = numbered(entry.ID, k, entry.Count), int64(before+k)+1
		job.Submit = int64(entry.Submit) + int64(k)*int64(entry.SubmitEvery)
		jobs[k] = job
	}
	return jobs
}

// checkCount bounds what an entry stands for, so that neither jobs nor times overflow.
func (r *resolver) checkCount(p path, j *Job, jobs int) bool {
	count := int64(max(1, j.Count))
	switch {
	case count > int64(MaxPods-jobs):
		r.fail(p.to("count"), "the workload would have more than %d jobs", MaxPods)
		return false
	case j.SubmitEvery != 0 && j.Count == 0:
		r.fail(p.to("submitEvery"), "expected count beside it")
	case int64(j.SubmitEvery) > workloads.MaxTime/count:
		r.fail(p.to("submitEvery"), "%s: the last of %d jobs would be submitted after more than 100 years", j.SubmitEvery, count)
		return false
	}
	return true
}

// fieldPath leads to a field of an entry that an error of package workloads names.
func (j *Job) fieldPath(field, msg string) path {
	var k int
	if _, err := fmt.Sscanf(field, "podsets[%d]", &k); err == nil && j.PodSets != nil {
		return at("podSets", k, podField(field, msg))
	}
	return at(podField(field, msg))
}

// podField turns the name of a field in an error of package workloads into the one it has
// here, without the PodSet.
func podField(field, msg string) string {
	if strings.Contains(field, ".topology") {
		return "topology"
	}
	if strings.HasPrefix(field, "restarts") {
		return "restarts"
	}
	field = field[strings.LastIndexByte(field, '.')+1:]
	if field == "request" {
		field, _, _ = strings.Cut(msg, ":")
	}
	ours, ok := map[string]string{
		"count": "pods", "podsets": "pods", "min_count": "minPods", "never_ready": "neverReady",
		"time_limit": "timeLimit", "admitted_limit": "maximumExecutionTime", "image_bytes": "imageSize", "interval": "checkpoint", "cost": "checkpoint",
		topology.GPU.String(): "gpusPerPod", topology.CPU.String(): "cpuPerPod", topology.Memory.String(): "memoryPerPod",
	}[field]
	if ok {
		return ours
	}
	return field
}

// listedJob makes the job of an entry, without its id, row and submission.
func (r *resolver) listedJob(p path, j *Job) (workloads.Job, bool) {
	before := len(r.errs.list)
	job := workloads.Job{
		Duration: int64(j.Duration), Queue: j.Queue, Tenant: j.Tenant, Priority: j.Priority,
		TimeLimit: int64(j.TimeLimit), AdmittedLimit: int64(j.AdmittedLimit), Image: j.Image, ImageBytes: int64(j.ImageSize),
		Startup: int64(or(j.Startup, workloads.StartupFromTiming)),
		PodSets: r.podSets(p, j),
	}
	if j.Termination != nil {
		job.Termination = workloads.DelayOf(int64(*j.Termination))
	}
	job.Tolerate = tolerate(j)
	r.terms(p, j, &job)
	if c := j.Checkpoint; c != nil {
		job.CheckpointInterval, job.CheckpointCost = int64(c.Interval), int64(c.Cost)
	}
	job.Restarts, job.Completions, job.PlainPods = restarts(j.Restarts), j.Completions, j.PlainPods
	job.Model = r.model(p.to("model"), j.Model)
	r.onGPU(&job)
	r.setWork(p, j, &job)
	return job, len(r.errs.list) == before
}

func restarts(given []Restart) []workloads.Restart {
	var out []workloads.Restart
	for _, r := range given {
		out = append(out, workloads.Restart{Time: int64(r.At), Rank: or(r.Pod, workloads.AllPods), Ready: int64(r.ReadyAfter)})
	}
	return out
}

// podSets makes the PodSets of a job, whichever of the three ways it says its shape.
func (r *resolver) podSets(p path, j *Job) []workloads.PodSet {
	pods := j.Pods.Pods != 0 || j.Pods.GPUsPerPod != nil
	kind, ok := r.oneOf(p, []string{"gpus", "pods", "podSets"}, j.GPUs != nil, pods, j.PodSets != nil)
	if !ok {
		return nil
	}
	if kind == "pods" {
		return []workloads.PodSet{r.podSet(p, workloads.WorkersPodSet, &j.Pods)}
	}
	if kind == "gpus" {
		return r.shapedSets(p, j)
	}
	if field := setField(&j.Pods, true); field != "" {
		r.fail(p.to(field), "it belongs into each of podSets")
	}
	var sets []workloads.PodSet
	for i := range j.PodSets {
		sets = append(sets, r.podSet(p.to("podSets", i), j.PodSets[i].Name, &j.PodSets[i].Pods))
	}
	if len(sets) == 0 {
		r.fail(p.to("podSets"), "the list is empty: expected at least one")
	}
	return sets
}

// shapedSets divides a total of GPUs into pods.
func (r *resolver) shapedSets(p path, j *Job) []workloads.PodSet {
	if field := setField(&j.Pods, false); field != "" {
		r.fail(p.to(field), "expected pods and gpusPerPod beside it, in place of gpus")
	}
	r.assume("job shapes from GPU totals: pods of %d", r.nodeGPUs())
	r.assumePods()
	sets := workloads.Shape(*j.GPUs, r.nodeGPUs(), workloads.PerGPU())
	ask, tolerations := r.topology(p.to("topology"), j.Pods.Topology), r.tolerations(p.to("tolerations"), j.Pods.Tolerations)
	affinity := r.nodeAffinity(p.to("nodeAffinity"), j.Pods.NodeAffinity)
	for i := range sets {
		sets[i].Node, sets[i].Models, sets[i].Topology = j.Pods.Node, j.Pods.GPUModels, ask
		sets[i].NodeSelector, sets[i].NodeAffinity, sets[i].Tolerations = selector(j.Pods.NodeSelector), affinity, tolerations
	}
	return sets
}

// setField returns the name of a field that only means something beside a number of pods,
// or with all true also of one that speaks of every pod of a job, if there is one.
func setField(s *Pods, all bool) string {
	for _, f := range []struct {
		name string
		set  bool
	}{
		{"cpuPerPod", s.CPUPerPod != nil}, {"memoryPerPod", s.MemoryPerPod != nil},
		{"minPods", s.MinPods != 0}, {"neverReady", s.NeverReady != 0},
		{"node", all && s.Node != ""}, {"gpuModels", all && s.GPUModels != nil}, {"topology", all && s.Topology != nil},
		{"nodeSelector", all && s.NodeSelector != nil}, {"nodeAffinity", all && s.NodeAffinity != nil}, {"tolerations", all && s.Tolerations != nil},
	} {
		if f.set {
			return f.name
		}
	}
	return ""
}

func (r *resolver) podSet(p path, name string, s *Pods) workloads.PodSet {
	if s.GPUsPerPod == nil {
		r.fail(p.to("gpusPerPod"), "missing: expected the GPUs of each pod, or 0")
		return workloads.PodSet{}
	}
	out := workloads.PodSet{Name: name, Count: max(1, s.Pods), MinCount: s.MinPods, Models: s.GPUModels, Node: s.Node,
		NeverReady: int32(s.NeverReady), Topology: r.topology(p.to("topology"), s.Topology),
		NodeSelector: selector(s.NodeSelector), NodeAffinity: r.nodeAffinity(p.to("nodeAffinity"), s.NodeAffinity),
		Tolerations: r.tolerations(p.to("tolerations"), s.Tolerations)}
	if s.NeverReady == AllPods {
		out.NeverReady = out.Count
	}
	out.Request = usualPod(int64(*s.GPUsPerPod))
	out.Request[topology.GPU], out.Request[topology.Pods] = int64(*s.GPUsPerPod), 1
	if s.CPUPerPod == nil || s.MemoryPerPod == nil {
		r.assumePods()
	}
	if s.CPUPerPod != nil {
		out.Request[topology.CPU] = int64(*s.CPUPerPod)
	}
	if s.MemoryPerPod != nil {
		out.Request[topology.Memory] = int64(*s.MemoryPerPod)
	}
	return out
}
