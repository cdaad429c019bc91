package sim

import (
	"github.com/gangplan/gangplan/sim/capacity"
	"github.com/gangplan/gangplan/sim/quota"
	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/workloads"
)

// View is what a policy may see: the state of the cluster and of the jobs, read only.
// Jobs, PodSets, pods, nodes and queues are dense indexes.
type View struct{ e *Engine }

// Now is the time of the present instant.
func (v View) Now() int64 { return v.e.now }

// Seed is the seed of the run.
func (v View) Seed() uint64 { return v.e.cfg.Seed }

// Cluster is the topology of the run.
func (v View) Cluster() *topology.Cluster { return v.e.cfg.Cluster }

// Timing holds the latencies of the run.
func (v View) Timing() *Timing { return &v.e.cfg.Timing }

// BinderCycle is what a cycle of the Binder costs.
func (v View) BinderCycle() int64 { return v.e.bind.cost }

// Jobs returns the number of jobs of the trace, Pods of all their pods and PodSets of all
// their PodSets.
func (v View) Jobs() int    { return len(v.e.jobs) }
func (v View) Pods() int    { return len(v.e.pods) }
func (v View) PodSets() int { return len(v.e.sets) }

// Job returns a job as the trace describes it.
func (v View) Job(j int32) *workloads.Job { return &v.e.cfg.Jobs[j] }

// State returns where a job stands.
func (v View) State(j int32) JobState { return v.e.jobs[j].state }

// Queue returns a job's ClusterQueue.
func (v View) Queue(j int32) int32 { return v.e.jobs[j].queue }

// LocalQueue returns the LocalQueue a job was sent to, or -1.
func (v View) LocalQueue(j int32) int32 { return v.e.jobs[j].local }

// LocalQueues are those of the scenario.
func (v View) LocalQueues() []quota.LocalQueue { return v.e.cfg.Locals }

// QuotaCheck says which resources need quota.
func (v View) QuotaCheck() *QuotaCheck { return &v.e.cfg.Check }

// UsageFairness is admission fair sharing as configured.
func (v View) UsageFairness() *UsageFairness { return &v.e.cfg.Usage }

// QueueTime returns the time that orders a job within its queue.
func (v View) QueueTime(j int32) int64 { return v.e.jobs[j].queueTime }

// Created returns when a job was created, to the clocks of its objects.
func (v View) Created(j int32) int64 { return v.e.jobs[j].created }

// NeverFits reports whether a job got that verdict when it was submitted.
func (v View) NeverFits(j int32) bool { return v.e.jobs[j].neverFits }

// PodsReady holds waitForPodsReady as configured.
func (v View) PodsReady() *PodsReady { return &v.e.cfg.PodsReady }

// Charged reports whether a job's quota is taken; it may still be when the job is evicted.
func (v View) Charged(j int32) bool { return v.e.jobs[j].charged }

// Quota returns the quota tree. Policies change it through Tx only.
func (v View) Quota() *quota.Tree { return v.e.quota }

// Request returns what all pods of a job ask for together.
func (v View) Request(j int32) topology.Resources { return v.e.total(j) }

// SetsOf returns a job's PodSets [first, last).
func (v View) SetsOf(j int32) (first, last int32) {
	jb := &v.e.jobs[j]
	return jb.setBase, jb.setBase + jb.sets
}

// PodsOf returns a job's pods [first, last), in the order of their ranks.
func (v View) PodsOf(j int32) (first, last int32) {
	jb := &v.e.jobs[j]
	return jb.podBase, jb.podBase + jb.slots
}

// Count returns how many pods a PodSet has: those of its job's admission, if it is
// admitted.
func (v View) Count(set int32) int32 { return v.e.sets[set].count }

// MinCount returns the fewest pods the PodSet can be admitted with, 0 for all of them.
func (v View) MinCount(set int32) int32 {
	st := &v.e.sets[set]
	return v.e.cfg.Jobs[st.job].PodSets[set-v.e.jobs[st.job].setBase].MinCount
}

// FirstPod returns the first pod of a PodSet.
func (v View) FirstPod(set int32) int32 {
	st := &v.e.sets[set]
	return v.e.jobs[st.job].podBase + st.first
}

// Unbound returns how many pods of a PodSet have no node.
func (v View) Unbound(set int32) int32 { return v.e.sets[set].count - v.e.sets[set].bound }

// PodRequest returns what one pod of a PodSet asks for.
func (v View) PodRequest(set int32) *topology.Resources { return &v.e.sets[set].request }

// Models returns the GPU models a PodSet accepts as a bit set; 0 accepts all.
func (v View) Models(set int32) uint64 { return v.e.sets[set].models }

// Filters returns how many distinct filters of nodes PodSets have: selectors and
// tolerations that bar the same nodes may be two. Filter 0 bars none.
func (v View) Filters() int32 { return int32(len(v.e.barred)) }

// Filter returns the filter of a PodSet.
func (v View) Filter(set int32) int32 { return v.e.sets[set].filter }

// Bars reports whether a filter keeps pods off a node: the wrong labels, or a taint.
func (v View) Bars(filter, node int32) bool { return filter != 0 && v.e.barred[filter][node] }

// Flavors returns how many flavors quota is given for; 0 if nobody tells them apart.
func (v View) Flavors() int { return len(v.e.cfg.Flavors) }

// Given returns the flavors a PodSet is given, as a bit set.
func (v View) Given(set int32) uint64 { return v.e.sets[set].flavors }

// Offers reports whether a node is of some flavors, 0 for any, and has GPUs that a PodSet
// accepts. Its own labels and taints are another matter.
func (v View) Offers(node, set int32, flavors uint64) bool {
	m, models := v.e.cfg.Cluster.Nodes[node].Model, v.e.sets[set].models
	return (models == 0 || m >= 0 && models>>m&1 == 1) && (flavors == 0 || v.e.flavored[node]&flavors == flavors)
}

// Room returns how many pods of a PodSet fit over all hosts with a choice of flavors.
func (v View) Room(p Plane, set int32, flavors uint64) int64 {
	st := &v.e.sets[set]
	for i := range st.variants {
		if st.variants[i].flavors == flavors {
			return v.Total(p, st.variants[i].shape)
		}
	}
	return v.Total(p, st.shape)
}

// AnyChoice reports whether f likes a choice of flavors that a PodSet could be admitted with,
// as a bit set; 0 if nobody tells flavors apart. What it reads of the PodSet's shape is as if
// it had been given them.
func (v View) AnyChoice(set int32, f func(flavors uint64) bool) bool {
	st := &v.e.sets[set]
	if st.variants == nil {
		return f(0)
	}
	before := st.flavors
	defer v.e.give(set, before)
	for _, i := range st.suited {
		if v.e.give(set, st.variants[i].flavors); f(st.flavors) {
			return true
		}
	}
	return false
}

// Refused returns the flavors a PodSet cannot have, as bit sets: those with a taint it does
// not tolerate, and those whose labels it does not want.
func (v View) Refused(set int32) (tainted, mismatched uint64) {
	st := &v.e.sets[set]
	return st.tainted, st.mismatched
}

// EachShape calls f with every shape the pods of a PodSet may have, and its filter: that of
// the PodSet by itself first, and those with flavors.
func (v View) EachShape(set int32, f func(shape capacity.Shape, filter int32)) {
	st := &v.e.sets[set]
	if st.variants == nil {
		f(st.shape, st.filter)
	}
	for i := range st.variants {
		f(st.variants[i].shape, st.variants[i].filter)
	}
}

// PinnedNode returns the node a PodSet is pinned to by its job, or -1.
func (v View) PinnedNode(set int32) int32 { return v.e.sets[set].pinned }

// Shape returns the pod shape of a PodSet, the key of Counts and Total.
func (v View) Shape(set int32) capacity.Shape { return v.e.sets[set].shape }

// Shapes returns the number of distinct pod shapes.
func (v View) Shapes() int { return len(v.e.shapes) }

// JobOf, SetOf, Pin and Attempt describe a pod: its job, its PodSet, the only node it may
// go to or -1, and how many times it was created before.
func (v View) JobOf(pod int32) int32       { return v.e.pods[pod].job }
func (v View) SetOf(pod int32) int32       { return v.e.pods[pod].set }
func (v View) Pin(pod int32) int32         { return v.e.pods[pod].pin }
func (v View) Attempt(pod int32) uint32    { return v.e.pods[pod].attempt }
func (v View) PodState(pod int32) PodState { return v.e.pods[pod].state }

// Within returns the domain above the host that a pod is assigned to, or -1.
func (v View) Within(pod int32) int32 { return v.e.pods[pod].within }

// HeldWithin returns what assignments to a domain above the host hold of it in a plane.
func (v View) HeldWithin(p Plane, domain int32) topology.Resources {
	if v.e.nodes.inDomain[p] == nil {
		return topology.Resources{}
	}
	return v.e.nodes.inDomain[p][domain]
}

// Assigned reports whether Pin or Within is a topology assignment.
func (v View) Assigned(pod int32) bool { return v.e.pods[pod].assigned }

// NodeOf returns the node a pod is on, or -1.
func (v View) NodeOf(pod int32) int32 { return v.e.pods[pod].node }

// Stable returns the id of a job that relabelling and slicing do not change.
func (v View) Stable(j int32) uint64 { return v.e.stableID(j) }

// Serial orders jobs that queued at the same time: by their place in the trace, or, where the
// clock of the API tells seconds only, by the random name that a Workload gets.
func (v View) Serial(j int32) int64 { return v.e.serial(j) }

// Down reports whether a node is down, Closed whether it takes no pods: it is down or
// cordoned.
func (v View) Down(node int32) bool   { return v.e.nodes.down[node] }
func (v View) Closed(node int32) bool { return v.e.nodes.closed(node) }

// Free returns what is free on each node in a plane. The slice is the engine's own.
func (v View) Free(p Plane) []topology.Resources { return v.e.nodes.planes[p].free }

// Used returns what is used of each node in a plane. The slice is the engine's own.
func (v View) Used(p Plane) []topology.Resources { return v.e.nodes.planes[p].used }

// Counts returns how many pods of a shape fit into every domain, by domain id.
func (v View) Counts(p Plane, s capacity.Shape) []int32 { return v.e.nodes.planes[p].index.Counts(s) }

// Index returns the capacity index of a plane, for searches that need its order.
func (v View) Index(p Plane) *capacity.Index { return v.e.nodes.planes[p].index }

// Total returns how many pods of a shape fit over all hosts.
func (v View) Total(p Plane, s capacity.Shape) int64 { return v.e.nodes.planes[p].index.Total(s) }

// Unasked returns how many pods on a node ask for no CPU, and how many for no memory.
func (v View) Unasked(node int32) (cpu, memory int64) {
	u := v.e.unasked[node]
	return int64(u[0]), int64(u[1])
}

// Changes returns the nodes of which anything changed in a plane since a moment, and the
// present moment; ok is false where that is too long ago, and for the moment -1.
func (v View) Changes(p Plane, since int) (nodes []int32, now int, ok bool) {
	return v.e.nodes.planes[p].index.Since(since)
}

// Active returns the admitted jobs, in no order. The slice is the engine's own.
func (v View) Active() []int32 { return v.e.active }

// NominatedNode returns the node promised to a pod, or -1.
func (v View) NominatedNode(pod int32) int32 { return v.e.pods[pod].nominated }

// Pretend takes resources, in a plane, of a host or another domain, or gives them back where
// they are negative. Whoever asks what would be if leaves the plane as it was, by the end of
// the question or of the cycle.
func (v View) Pretend(p Plane, domain int32, r topology.Resources) {
	v.e.tx.pretended = v.e.tx.pretended.Plus(r)
	if host := v.Cluster().HostDomain(0); domain >= host {
		v.e.take(p, domain-host, r)
	} else {
		v.e.takeWithin(p, domain, r)
	}
}

// Image returns a number of a job's container image and its size in bytes, 0 if it has none.
func (v View) Image(j int32) (image int32, bytes int64) {
	return v.e.imageOf[j], v.e.cfg.Jobs[j].ImageBytes
}

// Having returns the nodes that have pulled an image, in the order they did.
func (v View) Having(image int32) []int32 { return v.e.nodes.having[image].at(v.e.now) }

// Budgets returns the pod disruption budgets.
func (v View) Budgets() []workloads.Budget { return v.e.cfg.Budgets }

// Releasing returns what terminating pods still hold of a node.
func (v View) Releasing(node int32) topology.Resources { return v.e.nodes.releasing[node] }

// Nominated returns what is promised of a node to pods that wait for victims.
func (v View) Nominated(node int32) topology.Resources { return v.e.nodes.nominated[node] }

// FreeGPUs returns the free milli-GPU of the accepted models on nodes that are up.
func (v View) FreeGPUs(models uint64) int64 { return v.e.freeGPUs(models) }

// ExpectedEnd returns when a running job's work ends if nothing changes, at the latest at
// its time limit; Never when it does not run.
func (v View) ExpectedEnd(j int32) int64 {
	jb := &v.e.jobs[j]
	if !jb.running || jb.rate == 0 {
		return Never
	}
	d, ok := jb.remaining.CeilDiv(jb.rate)
	if !ok || d > Never-jb.settledAt {
		return Never
	}
	return min(jb.settledAt+d, jb.limitAt)
}
