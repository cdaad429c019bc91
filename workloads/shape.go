package workloads

import "github.com/gangplan/gangplan/topology"

// What a pod asks for beside GPUs where a trace does not say. These are assumptions, to
// be printed as such with every result that rests on them: three quarters of an assumed
// node of 16 CPU and 128 GiB per GPU, so that pods which fill a node's GPUs fit it.
const (
	PodCPUPerGPU    = 12 * topology.Milli // milli-cores
	PodMemoryPerGPU = 96 * topology.GiB   // bytes
	CPUPodCPU       = 1 * topology.Milli  // milli-cores of the pod of a job without GPUs
	CPUPodMemory    = 8 * topology.GiB    // bytes of the same
)

// DefaultNodeGPUs is the node size that shapes jobs when the cluster has no GPUs.
const DefaultNodeGPUs = 8

// The names of the PodSets that Shape makes.
const (
	WorkersPodSet = "workers"
	RestPodSet    = "rest"
)

// PerGPU returns what a pod asks for per GPU by default, the GPU itself included.
func PerGPU() topology.Resources {
	return topology.Resources{
		topology.GPU:    topology.Milli,
		topology.CPU:    PodCPUPerGPU,
		topology.Memory: PodMemoryPerGPU,
	}
}

// Shape divides a number of whole GPUs into pods for nodes of nodeGPUs whole GPUs, the
// node size that holds most of the cluster's GPUs (0 or less: DefaultNodeGPUs). There are
// floor(gpus / nodeGPUs) pods of a whole node and, if GPUs are left, one last pod with
// the rest. The first PodSet is called "workers", the second, if there are two, "rest".
// A pod asks for its GPUs times perGPU (its GPU entry is taken to be one GPU). No GPUs
// make one pod of CPUPodCPU and CPUPodMemory. Every pod counts as one of topology.Pods.
func Shape(gpus int32, nodeGPUs int64, perGPU topology.Resources) []PodSet {
	if gpus <= 0 {
		return []PodSet{cpuPod()}
	}
	if nodeGPUs <= 0 {
		nodeGPUs = DefaultNodeGPUs
	}
	whole, rest := int64(gpus)/nodeGPUs, int64(gpus)%nodeGPUs
	switch {
	case rest == 0:
		return []PodSet{gpuPods(WorkersPodSet, whole, nodeGPUs, perGPU)}
	case whole == 0:
		return []PodSet{gpuPods(WorkersPodSet, 1, rest, perGPU)}
	}
	return []PodSet{
		gpuPods(WorkersPodSet, whole, nodeGPUs, perGPU),
		gpuPods(RestPodSet, 1, rest, perGPU),
	}
}

func gpuPods(name string, count, gpus int64, perGPU topology.Resources) PodSet {
	perGPU[topology.GPU] = topology.Milli
	request := perGPU.Times(gpus)
	request[topology.Pods] = 1
	return PodSet{Name: name, Count: int32(count), Request: request}
}

func cpuPod() PodSet {
	return PodSet{Name: WorkersPodSet, Count: 1, Request: topology.Resources{
		topology.CPU:    CPUPodCPU,
		topology.Memory: CPUPodMemory,
		topology.Pods:   1,
	}}
}
