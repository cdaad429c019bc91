package sim

import (
	"cmp"
	"slices"

	"github.com/gangplan/gangplan/sim/devices"
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
		t := &types[i]
		ask, _ := devices.NewAsk(t.gpu)
		var lost int64
		for n := range nodes {
			free := &e.sampler.free[n]
			if left := free[topology.GPU]; !t.mayUse(free, nodes[n].Model) {
				lost += max(0, left)
			} else if left > 0 {
				lost += left - e.usable(int32(n), left, ask)
			}
		}
		sum.AddProduct(uint64(t.pods), uint64(lost))
		pods += t.pods
	}
	if pods == 0 {
		return 0
	}
	f, _ := sum.CeilDiv(uint64(pods))
	return f
}

// mayUse reports whether a pod of the type wants GPUs of a node and has the CPU for them.
// Pods without GPUs waste them all.
func (t *podType) mayUse(free *topology.Resources, model int32) bool {
	return t.gpu > 0 && (t.models == 0 || model >= 0 && t.models>>model&1 == 1) && free[topology.CPU] >= t.cpu
}

// usable is what of a node's free milli-GPU an ask can have: nothing if there are too few
// GPUs that are free enough for it, else all that is free of those that are. Where GPUs are
// not kept apart all that is free is whole.
func (e *Engine) usable(node int32, left int64, ask devices.Ask) int64 {
	if e.gpus == nil {
		if left < ask.Total() {
			return 0
		}
		return left
	}
	gpus := &e.gpus[node]
	enough := gpus.With(ask.Milli)
	if enough.Len() < int(ask.Count) {
		return 0
	}
	return gpus.TotalOf(enough)
}
