package stage

import (
	"github.com/gangplan/gangplan/topology"
)

// Scorer rates a node for a pod, higher is better: used is what the node's pods ask for
// with the new one among them, cap what it has, gpus whether the pod asks for any. Scores are integers from 0 to 100 per
// plugin, as kube-scheduler computes them.
type Scorer func(used, cap *topology.Resources, gpus bool) int64

// Kube-scheduler counts a pod that asks for no CPU or memory as asking for this much.
const (
	nonZeroCPU    = 100
	nonZeroMemory = 200 << 20
)

// NonZero is the request scorers count for a pod.
func NonZero(r topology.Resources) topology.Resources {
	if r[topology.CPU] == 0 {
		r[topology.CPU] = nonZeroCPU
	}
	if r[topology.Memory] == 0 {
		r[topology.Memory] = nonZeroMemory
	}
	return r
}

// Spread is kube-scheduler's default profile: LeastAllocated over CPU and memory plus
// BalancedAllocation over the same. It does not look at GPUs.
func Spread(used, cap *topology.Resources, _ bool) int64 {
	least := (leastAllocated(used, cap, topology.CPU) + leastAllocated(used, cap, topology.Memory)) / 2
	return least + balanced(used, cap)
}

// Pack is the usual bin-packing profile: MostAllocated over GPU (weight 5), CPU and
// memory (1 each), plus BalancedAllocation. A pod without GPUs is not rated by them.
func Pack(used, cap *topology.Resources, gpus bool) int64 {
	sum := mostAllocated(used, cap, topology.CPU) + mostAllocated(used, cap, topology.Memory)
	weight := int64(2)
	if gpus {
		sum += 5 * mostAllocated(used, cap, topology.GPU)
		weight += 5
	}
	return sum/weight + balanced(used, cap)
}

func leastAllocated(used, cap *topology.Resources, r topology.Resource) int64 {
	if cap[r] == 0 || used[r] > cap[r] {
		return 0
	}
	return (cap[r] - used[r]) * 100 / cap[r]
}

func mostAllocated(used, cap *topology.Resources, r topology.Resource) int64 {
	if cap[r] == 0 {
		return 0
	}
	return min(used[r], cap[r]) * 100 / cap[r]
}

// balanced is floor((1 - |f_cpu - f_memory| / 2) x 100) in integers; memory counts in
// MiB so that the products fit.
func balanced(used, cap *topology.Resources) int64 {
	c1, c2 := cap[topology.CPU], cap[topology.Memory]>>20
	if c1 == 0 || c2 == 0 {
		return 0
	}
	u1, u2 := min(used[topology.CPU], c1), min(used[topology.Memory]>>20, c2)
	d := u1*c2 - u2*c1
	if d < 0 {
		d = -d
	}
	whole := c1 * c2
	return 100 - (50*d+whole-1)/whole
}
