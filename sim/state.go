package sim

import (
	"github.com/gangplan/gangplan/internal/rng"
	"github.com/gangplan/gangplan/sim/capacity"
	"github.com/gangplan/gangplan/sim/devices"
	"github.com/gangplan/gangplan/sim/ledger"
	"github.com/gangplan/gangplan/sim/order"
	"github.com/gangplan/gangplan/sim/quota"
	"github.com/gangplan/gangplan/topology"
)

// Plane is one way of counting what is free on nodes.
type Plane uint8

// Physical counts what pods hold, terminating ones included. Assigned counts what the
// topology assignments of jobs with quota hold: it is what the Admitter of a
// topology-aware queue believes, and it comes back with the quota. Vacant is the nodes that
// are up with nothing on them. Empty is the cluster with every node up and nothing on it; it
// never changes.
const (
	Physical Plane = iota
	Assigned
	Vacant
	Empty
	numPlanes
)

// plane holds, per node, what is used and what is free. A node that is down or cordoned has
// nothing free.
type plane struct {
	used, free []topology.Resources
	index      *capacity.Index
}

// nodes is the state of all nodes, as arrays over the node index.
type nodes struct {
	down      []bool
	cordoned  []bool
	cordonGen []uint32
	planes    [numPlanes]plane
	releasing []topology.Resources // held by terminating pods, comes back by itself
	nominated []topology.Resources // promised to pods that wait for a victim
	pipelined [][]placed           // pods placed on releasing resources, in order
	images    [][]int32            // container images present
	having    []holders            // per image

	// inDomain is what is held of domains above the host, of no node in particular: per
	// plane, by domain. nil until something is.
	inDomain [numPlanes][]topology.Resources
}

// placed is a pod in line for a node, in this life of it.
type placed struct {
	pod int32
	gen uint32
}

// JobState is where a job stands in its life.
type JobState uint8

// The states of a job.
const (
	Future JobState = iota
	Queued
	Backoff // evicted, not yet back in the queue
	Admitted
	Finished
	Failed
	Deactivated
)

// job is the run-time state of one job. Times that have not come are -1.
type job struct {
	state   JobState
	queue   int32
	local   int32        // its LocalQueue, -1 for none
	visible bool         // its Workload reached the Admitter
	charged bool         // its quota is taken
	holds   []quota.Item // what is charged
	gen     uint32       // grows with every admission and eviction; events of an earlier life are dead

	request            topology.Resources // of all its pods
	activeAt           int32              // position in Engine.active while admitted
	podBase, slots     int32              // its part of the array of pods
	pods               int32              // of these, in its present admission; all of them while it waits
	setBase, sets      int32
	podStep            int32 // pods created so far in this admission
	granted            int32 // pods of its last admission
	completed          int32 // pods that ran to their end, of a job with completions
	chargedPods        int32 // whose quota is taken
	bound, ready       int32
	setsReady          int32
	holding, neverFits bool

	created     int64
	queueTime   int64
	requeueAt   int64
	admittedAt  int64
	limitAt     int64 // its time limit, Never without one
	spent       int64 // time with quota in earlier admissions, where that is limited
	firstAdmit  int64
	firstStart  int64
	finishedAt  int64
	seenReady   bool // its Workload is PodsReady
	watched     bool // a look at its status is due
	deadlineGen uint32
	noticeGen   uint32
	backoffs    int32 // requeueState.count
	evictions   [NumCauses]int32
	requeues    int32
	evictedAt   [3]int64 // the last three evictions, oldest first
	burst       int32    // evictions within the present instant
	burstAt     int64
	deferred    Reason // why it was last refused
	waited      Reason // for what its last claim of free GPUs went, since its admission or barrier
	refusal     Reason // why free GPUs did not help it when it last waited
	lostPods    int32  // pods lost since one succeeded, for the replacement backoff
	noPodsUntil int64  // its end,
	lossKnown   int64  // if the loss is known by then
	paused      bool   // deactivated by a user
	unboundPlace

	progress
}

// PodState is where a pod stands.
type PodState uint8

// The states of a pod. Assumed pods hold a node but are not bound: a hold, a placeholder
// or a decision that is not committed.
const (
	PodAbsent PodState = iota
	PodPending
	PodAssumed
	PodStarting
	PodReady
)

// pod is the state of one rank of a job.
type pod struct {
	job, set  int32
	node      int32 // where it is, or -1
	pin       int32 // the only node it may go to, or -1
	gen       uint32
	attempt   uint32
	state     PodState
	assigned  bool         // the pin, or within, is a topology assignment of this admission
	within    int32        // the domain above the host that it is assigned to, or -1
	held      bool         // assumed beyond its cycle
	nominated int32        // node promised to it, or -1
	visible   bool         // the Binder knows it
	lifted    bool         // its gate is, or will be as soon as the client lets it
	gpus      devices.Mask // of its node, where GPUs are shared
}

// set is a PodSet of a job, resolved against the cluster.
type set struct {
	job        int32
	first      int32 // rank of its first pod
	full       int32 // its pods; count of them are in the present admission
	count, min int32 // the barrier wants min ready
	request    topology.Resources
	models     uint64
	maskSlot   int32
	shape      capacity.Shape
	filter     int32 // of nodes; 0 bars none
	held       int32 // of its pods: assumed beyond a cycle
	ask        devices.Ask
	bound      int32
	ready      int32
	neverReady int32
	flavors    uint64 // it is admitted with, a bit set
	variants   []variant
	suited     []int32 // of the variants: with which it could be admitted
	tainted    uint64  // flavors it cannot have: it does not tolerate them,
	mismatched uint64  // or asks for other labels
	pinned     int32
}

// World is the state of a run; View and Tx give policies their window on it.
type world struct {
	cfg     *Config
	now     int64
	nodes   nodes
	gpus    []devices.Set      // free of each GPU, per node; nil: nobody asks for a part of one
	gpuPods [][gpuKinds]uint16 // pods with GPUs by kind, per node, with gpus
	unasked [][2]int32         // pods that ask for no CPU and for no memory, per node
	jobs    []job
	sets    []set
	pods    []pod
	quota   *quota.Tree

	books     *ledger.Ledger
	unalloc   []int64 // free milli-GPU on nodes that are up, per model
	reserved  []int64 // of those, held by the policy (assumed pods, placeholders, reservations)
	maskOf    []uint64
	waiting   []int32 // waiting jobs per slot of maskOf
	imageOf   []int32 // per job: a dense number of its image
	waitArena *order.Arena
	queued    order.List  // jobs with GPUs in a queue or backoff
	unbound   order.List  // admitted jobs with unbound GPU pods
	podless   podlessJobs // of these
	shapes    map[shapeKey]capacity.Shape
	flavored  []uint64   // per node: the flavors it is of, as a bit set; nil without flavors
	choices   [][]uint64 // per queue, the choices of flavors it offers; nil without flavors
	variants  map[variantKey][]variant
	barredBy  map[string]int32 // filters by what they ask, in barred
	barred    [][]bool         // by filter: the nodes it bars; filter 0 bars none
	believed  [][]bool         // the same, but for node affinity
	blind     bool             // Policy.Blind
}

type shapeKey struct {
	request topology.Resources
	models  uint64
	filter  int32
}

// take changes what is used of a node in a plane; negative quantities give back.
func (w *world) take(p Plane, node int32, r topology.Resources) {
	pl := &w.nodes.planes[p]
	pl.used[node] = pl.used[node].Plus(r)
	if p == Physical {
		w.countUnasked(node, &r)
	}
	w.refresh(p, node)
}

// countUnasked counts the pods that are taken into account with r, or given back, and ask
// for no CPU or no memory: schedulers count a default for them.
func (w *world) countUnasked(node int32, r *topology.Resources) {
	if r[topology.CPU] == 0 {
		w.unasked[node][0] += int32(r[topology.Pods])
	}
	if r[topology.Memory] == 0 {
		w.unasked[node][1] += int32(r[topology.Pods])
	}
}

// closed reports whether a node takes no pods: it is down or cordoned.
func (n *nodes) closed(node int32) bool { return n.down[node] || n.cordoned[node] }

func (w *world) refresh(p Plane, node int32) {
	pl := &w.nodes.planes[p]
	if w.nodes.closed(node) && p != Empty {
		pl.free[node] = topology.Resources{}
	} else {
		pl.free[node] = w.cfg.Cluster.Nodes[node].Allocatable.Minus(pl.used[node])
	}
	pl.index.Touch(node)
}

// allocate moves GPUs of a node from unallocated into an account, and back with a
// negative amount.
func (w *world) allocate(node int32, milli int64, to ledger.Account) {
	if m := w.cfg.Cluster.Nodes[node].Model; m >= 0 && milli != 0 {
		w.unalloc[m] -= milli
		w.books.Move(m, ledger.NoDemand, to, milli)
	}
}

// transfer moves GPUs on a node between two accounts that are not unallocated.
func (w *world) transfer(node int32, milli int64, from, to ledger.Account) {
	if m := w.cfg.Cluster.Nodes[node].Model; m >= 0 && milli != 0 {
		w.books.Move(m, from, to, milli)
	}
}

func (w *world) stableID(j int32) uint64 {
	if w.cfg.Stable != nil {
		return w.cfg.Stable[j]
	}
	return rng.StableID(w.cfg.Jobs[j].ID, w.cfg.Jobs[j].Row)
}

// serial orders jobs that queued at the same time, see View.Serial.
func (w *world) serial(j int32) int64 {
	if !w.cfg.Timing.WholeSeconds {
		return int64(j)
	}
	return int64(rng.Hash(w.cfg.Seed, rng.Identity, w.stableID(j), 0) >> 1)
}

// total is what all pods of a job ask for.
func (w *world) total(j int32) topology.Resources { return w.jobs[j].request }
