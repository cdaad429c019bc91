package sim

import (
	"cmp"
	"slices"

	"github.com/gangplan/gangplan/sim/ledger"
	"github.com/gangplan/gangplan/topology"
)

// The fragmentation measure of Weng et al. (USENIX ATC 2023): what is free on a node is a
// fragment for a pod that cannot use it, and pods come with the frequencies of the
// workload. Frequencies are counts of pods, so that the whole measure is in integers.

// typicalPercent of all pods are of the types that are measured with, as in the study.
const typicalPercent = 95

// podKey is what makes pods of one type: memory is not part of it.
type podKey struct {
	cpu, gpu int64
	models   uint64
}

type podType struct {
	podKey
	pods int64 // of all jobs
}

// typicalPods returns the most frequent types of pods, as many as it takes for 95 % of
// them all. Ties go to the larger.
func (e *Engine) typicalPods() []podType {
	seen := map[podKey]int{}
	var types []podType
	var total int64
	for i := range e.sets {
		s := &e.sets[i]
		key := podKey{s.request[topology.CPU], s.request[topology.GPU], s.models}
		at, ok := seen[key]
		if !ok {
			at = len(types)
			seen[key] = at
			types = append(types, podType{podKey: key})
		}
		types[at].pods += int64(s.count)
		total += int64(s.count)
	}
	slices.SortStableFunc(types, compareTypes)
	var sum int64
	for i := range types {
		if sum += types[i].pods; 100*sum >= typicalPercent*total {
			return types[:i+1]
		}
	}
	return types
}

func compareTypes(a, b podType) int {
	return cmp.Or(cmp.Compare(b.pods, a.pods), cmp.Compare(b.cpu, a.cpu), cmp.Compare(b.gpu, a.gpu), cmp.Compare(b.models, a.models))
}

// fragment is the milli-GPU, rounded up, that a typical pod cannot use: over all nodes,
// averaged over the types by their frequency.
func (e *Engine) fragment() int64 {
	types, nodes := e.sampler.types, e.cfg.Cluster.Nodes
	var sum ledger.Uint128
	var pods int64
	for i := range types {
		var lost int64
		for n := range nodes {
			lost += types[i].fragmentOf(&e.sampler.free[n], nodes[n].Model)
		}
		sum.AddProduct(uint64(types[i].pods), uint64(lost))
		pods += types[i].pods
	}
	if pods == 0 {
		return 0
	}
	f, _ := sum.CeilDiv(uint64(pods))
	return f
}

// fragmentOf is what a pod of the type cannot use of what is free on a node. A node's free
// milli-GPU are taken for whole devices and one with the rest. A pod that fits can use
// every device that is free enough for it.
func (t *podType) fragmentOf(free *topology.Resources, model int32) int64 {
	left := free[topology.GPU]
	switch {
	case left <= 0:
		return 0
	case t.gpu == 0:
		return left // pods without GPUs waste them all
	case t.models != 0 && (model < 0 || t.models>>model&1 == 0):
		return left
	case free[topology.CPU] < t.cpu:
		return left
	}
	devices, each := (t.gpu+topology.Milli-1)/topology.Milli, int64(topology.Milli)
	if t.gpu < topology.Milli {
		each = t.gpu
	}
	whole, rest := left/topology.Milli, left%topology.Milli
	enough := whole
	if rest >= each {
		enough++
	}
	switch {
	case enough < devices:
		return left
	case rest < each:
		return rest
	}
	return 0
}
