package scenario

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/workloads"
)

// mostPerGPU bounds what a gang asks for per GPU, so that no product overflows.
const mostPerGPU = 1 << 40

// cut is how totals of GPUs are divided into pods.
type cut struct {
	size   int64              // GPUs of a pod
	pods   int32              // of every job; 0 divides the job's own total
	perGPU topology.Resources // what a pod asks for beside each GPU
	usual  bool               // perGPU was not stated
}

// cutOf reads how the jobs of a trace are cut: by node size, unless a gang says otherwise.
func (r *resolver) cutOf(gang *Gang) cut {
	c := cut{size: r.nodeGPUs(), perGPU: workloads.PerGPU(), usual: true}
	if gang == nil {
		return c
	}
	if gang.Pods != 0 && gang.GPUsPerPod == 0 {
		r.fail(at("workload", "gang"), "gpusPerPod is missing: expected it beside pods")
	}
	if gang.CPUPerGPU > mostPerGPU || gang.MemoryPerGPU > mostPerGPU {
		r.fail(at("workload", "gang"), "cpuPerGPU or memoryPerGPU is too large")
		return c
	}
	c.size, c.pods = cmp.Or(int64(gang.GPUsPerPod), c.size), gang.Pods
	c.perGPU[topology.CPU] = cmp.Or(int64(gang.CPUPerGPU), c.perGPU[topology.CPU])
	c.perGPU[topology.Memory] = cmp.Or(int64(gang.MemoryPerGPU), c.perGPU[topology.Memory])
	c.usual = gang.CPUPerGPU == 0 || gang.MemoryPerGPU == 0
	return c
}

// shape gives jobs that have only a total of GPUs their pods.
func (r *resolver) shape(jobs []workloads.Job) {
	c, shaped := r.cutOf(r.File.Workload.Gang), 0
	for i := range jobs {
		if jobs[i].PodSets != nil {
			continue
		}
		if c.pods != 0 {
			jobs[i].GPUs = int32(min(int64(c.pods)*c.size, workloads.MaxGPUs+1))
		}
		jobs[i].PodSets = workloads.Shape(jobs[i].GPUs, c.size, c.perGPU)
		shaped++
	}
	switch {
	case shaped > 0:
		r.assume("job shapes from GPU totals: pods of %d", c.size)
		if c.usual {
			r.assumePods()
		}
	case r.File.Workload.Gang != nil && len(jobs) > 0:
		r.warn("workload.gang changes nothing: the trace says the shape of all its jobs")
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
				if request[resource] == 0 && !jobs[i].PodSets[k].None[resource] {
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
