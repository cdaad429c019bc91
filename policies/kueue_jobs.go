package policies

import (
	"github.com/gangplan/gangplan/policies/admission"
	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/sim/quota"
	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/workloads"
)

// workOf describes the jobs of a run to the kernel. Without partial admission it does not
// hear of jobs that could do with fewer pods.
func workOf(v sim.View, partial bool) []admission.Workload {
	work := make([]admission.Workload, v.Jobs())
	sets := make([]admission.PodSet, v.PodSets())
	for j := range work {
		first, last := v.SetsOf(int32(j))
		for s := first; s < last; s++ {
			sets[s] = admission.PodSet{Count: v.Count(s), Request: counted(v, quota.Amounts(*v.PodRequest(s)))}
			sets[s].Tainted, sets[s].Mismatched = v.Refused(s)
			if partial {
				sets[s].Min = v.MinCount(s)
			}
		}
		work[j] = admission.Workload{Queue: v.Queue(int32(j)), Priority: v.Job(int32(j)).Priority,
			Rank: v.Serial(int32(j)), Sets: sets[first:last:last]}
	}
	return work
}

// counted returns of what somebody asks for that which needs quota.
func counted(v sim.View, request quota.Amounts) quota.Amounts {
	for r, not := range v.QuotaCheck().Excluded {
		if not {
			request[r] = 0
		}
	}
	return request
}

// listed reports whether a queue lists all that a pod asks for, or need not.
func listed(v sim.View, q int32, request *quota.Amounts) bool {
	if !v.QuotaCheck().BlockUndeclared {
		return true
	}
	for r, n := range request {
		if n != 0 && r != int(topology.Pods) && !v.Quota().Lists(q, r) {
			return false
		}
	}
	return true
}

// grant leaves the PodSets of a queued job with the pods and the flavors they are given.
func grant(tx *sim.Tx, a *admission.Assignment, j int32) {
	first, _ := tx.SetsOf(j)
	for i := range a.Sets {
		s := first + int32(i)
		if n := a.Sets[i].Count; n < tx.Count(s) {
			tx.Reduce(s, n)
		}
		if tx.Flavors() > 0 {
			tx.Give(s, flavorsOf(&a.Sets[i]))
		}
	}
}

// flavorsOf returns the flavors that a PodSet is given, as a bit set.
func flavorsOf(s *admission.SetAssignment) (flavors uint64) {
	for _, f := range s.Flavor {
		if f >= 0 {
			flavors |= 1 << f
		}
	}
	return flavors
}

// recount tells the kernel how many pods a queued job asks for: fewer each time, where some
// ran to their end.
func (k *kueue) recount(v sim.View, j int32) {
	if v.Job(j).Completions == 0 {
		return
	}
	first, last := v.SetsOf(j)
	for s := first; s < last; s++ {
		set := &k.kernel.Work[j].Sets[s-first]
		set.Count = v.Count(s)
		set.Min = min(set.Min, set.Count)
	}
}

// canEver reports whether the quota of a job's queue, all unused, covers it with as few
// pods as it can do with: every PodSet by itself in flavors it may have, and all together.
func (k *kueue) canEver(v sim.View, j int32) bool {
	var sum topology.Resources
	all := ^uint64(0)
	first, last := v.SetsOf(j)
	for s := first; s < last; s++ {
		n := v.Count(s)
		if k.partial {
			n = least(v, s)
		}
		tainted, mismatched := v.Refused(s)
		one := counted(v, quota.Amounts(*v.PodRequest(s)))
		request := topology.Resources(one).Times(int64(n))
		if !listed(v, v.Queue(j), &one) || !v.Quota().EverFits(v.Queue(j), quota.Amounts(request), tainted|mismatched) {
			return false
		}
		sum, all = sum.Plus(request), all&(tainted|mismatched)
	}
	return last-first < 2 || v.Flavors() > 0 || v.Quota().EverFits(v.Queue(j), quota.Amounts(sum), all)
}

// classify numbers the classes of jobs that are equal to the Admitter.
func (k *kueue) classify(v sim.View) int32 {
	k.classOf = make([]int32, v.Jobs())
	known := map[jobKey]int32{}
	for j := range k.classOf {
		key := keyOf(v, int32(j))
		if _, ok := known[key]; !ok {
			known[key] = int32(len(known))
		}
		k.classOf[j] = known[key]
	}
	return int32(max(1, len(known)))
}

func (k *kueue) class(v sim.View, j int32) int32 {
	class, q := k.classOf[j], &k.queues[v.Queue(j)]
	if q.strict {
		class = 0
	}
	if i := v.LocalQueue(j); i >= 0 && q.slots > 1 {
		class += k.usages.locals[i].slot * k.classes
	}
	return class
}

// least returns how many pods of a PodSet its job cannot do without.
func least(v sim.View, s int32) int32 {
	if n := v.MinCount(s); n > 0 {
		return n
	}
	return v.Count(s)
}

// insufficient reports whether a job wants more GPUs than are free of the models it
// accepts.
func insufficient(v sim.View, j int32) bool {
	var want int64
	var accepted uint64
	first, last := v.SetsOf(j)
	for s := first; s < last; s++ {
		gpus := int64(least(v, s)) * v.PodRequest(s)[topology.GPU]
		if want += gpus; gpus == 0 {
			continue
		}
		if v.Models(s) == 0 {
			accepted = ^uint64(0)
		}
		accepted |= v.Models(s)
	}
	if accepted == ^uint64(0) {
		accepted = 0
	}
	return v.FreeGPUs(accepted) < want
}

// jobKey is a chained hash of what makes jobs equal to the Admitter.
type jobKey uint64

func keyOf(v sim.View, j int32) jobKey {
	h := uint64(14695981039346656037)
	add := func(x uint64) { h = (h ^ x) * 1099511628211; h ^= h >> 29 }
	if p := v.Quota().Queue(v.Queue(j)).Preemption; p != (quota.Preemption{}) {
		add(uint64(v.Job(j).Priority) + 1)
	}
	first, last := v.SetsOf(j)
	for s := first; s < last; s++ {
		spec := &v.Job(j).PodSets[s-first]
		add(uint64(v.Shape(s)))
		add(uint64(v.Count(s)))
		add(uint64(v.MinCount(s)))
		tainted, mismatched := v.Refused(s)
		add(tainted)
		add(mismatched)
		add(uint64(v.PinnedNode(s) + 1))
		addTopology(&spec.Topology, add)
	}
	return jobKey(h)
}

func addTopology(t *workloads.TopologyRequest, add func(uint64)) {
	addString := func(s string) {
		add(uint64(len(s)))
		for i := range len(s) {
			add(uint64(s[i]))
		}
	}
	add(uint64(t.Mode))
	addString(t.Level)
	addString(t.Group)
	for i := range t.Slices {
		if t.Slices[i].Size > 0 {
			add(uint64(t.Slices[i].Size))
			addString(t.Slices[i].Level)
		}
	}
}
