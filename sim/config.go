package sim

import (
	"github.com/gangplan/gangplan/sim/quota"
	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/topology/fabric"
	"github.com/gangplan/gangplan/workloads"
)

// Config is everything a run depends on besides its policy. It is not changed by a run,
// so that the runs of several policies share one.
type Config struct {
	Cluster *topology.Cluster
	Fabric  *fabric.Fabric // nil: communication costs nothing
	Sharing Sharing        // what jobs on the same links do to each other
	Jobs    []workloads.Job
	Stable  []uint64 // stable id of every job, for randomness
	Queues  []quota.Queue
	Cohorts []quota.Cohort
	Locals  []quota.LocalQueue
	Flavors []topology.Flavor // what quota is given for; none: one that all nodes have
	Actions []Action          // in the order of time

	Timing    Timing
	Budgets   []workloads.Budget // pod disruption budgets
	PodsReady PodsReady
	Usage     UsageFairness
	Check     QuotaCheck
	Notice    Notice
	Creation  Creation

	StarvationAfter int64 // 0 means DefaultStarvationAfter
	Until           int64 // 0: the run ends with its last transition
	SampleEvery     int64 // between two samples of how free GPUs lie; 0: none are taken
	Seed            uint64
}

// DefaultStarvationAfter is how long a job waits while others pass it until the run calls
// it starved: 7 days.
const DefaultStarvationAfter = 7 * 24 * 3600 * int64(1e9)

// Sharing is how jobs that use the same links slow each other down.
type Sharing uint8

// NoSharing leaves every job alone. Fluid takes averages: each job meets the others as
// often as they are on the network. Flow simulates every message with phases aligned
// whenever a placement changes; it is for small studies.
const (
	NoSharing Sharing = iota
	Fluid
	Flow
)

// Creation is the order in which pods of jobs that start together come into being.
type Creation uint8

// Burst creates job after job. SlowStart creates waves of 1, 2, 4, ... pods as the Job
// controller does, so that jobs interleave. Interleaved alternates pod by pod.
const (
	Burst Creation = iota
	SlowStart
	Interleaved
)

// PodsReady is Kueue's waitForPodsReady. It governs the jobs of policies whose Admitter
// is Kueue.
type PodsReady struct {
	Enabled         bool
	Timeout         int64
	RecoveryTimeout int64 // 0: a gang that loses a pod later is not evicted
	BlockAdmission  bool  // nobody is admitted while a gang that is admitted is not ready
	FromCreation    bool  // requeuingStrategy.timestamp: Creation instead of Eviction
	BackoffBase     int64
	BackoffMax      int64
	BackoffLimit    int32 // negative: for ever
}

// backoff returns the wait before the return after the n-th timeout (n from 1).
func (p *PodsReady) backoff(n int32) int64 {
	d := min(p.BackoffBase, p.BackoffMax)
	for ; n > 1 && d < p.BackoffMax; n-- {
		if d > p.BackoffMax/2 {
			return p.BackoffMax
		}
		d *= 2
	}
	return d
}

// QuotaCheck is what Kueue's configuration says of resources: which of those that a job asks
// for need quota.
type QuotaCheck struct {
	BlockUndeclared bool                  // quotaCheckStrategy: a ClusterQueue gives nobody what it does not list
	Excluded        [quota.Resources]bool // excludeResourcePrefixes: needs none
}

// UsageFairness is Kueue's admission fair sharing: of the LocalQueues of a ClusterQueue that
// asks for it, the one that used least goes first. Usage is sampled, and what was used
// counts half after the half-life.
type UsageFairness struct {
	HalfLife int64 // ns; 0 forgets all but the present
	Interval int64 // between two samples, ns
	Weights  [quota.Resources]float64
}

// NoticeAction is what the human does who finds a hung job.
type NoticeAction uint8

// Kill ends the job as failed, Restart sends it back to its queue.
const (
	Kill NoticeAction = iota
	Restart
)

// Notice is the human who finds jobs that hold GPUs behind an incomplete barrier.
type Notice struct {
	After  int64 // 0: nobody looks
	Action NoticeAction
}

// Timing holds the latencies of the control plane and of starting pods, in ns. The zero
// value is the preset instant: nothing takes time and clocks are exact.
type Timing struct {
	Name string

	Workload     int64 // job created -> its Workload exists
	JobVisible   int64 // Workload created -> it can be admitted
	Unsuspend    int64 // admitted -> Job unsuspended
	PodCreate    int64 // unsuspended, or created without a queue -> first pod created
	PodWave      int64 // between the waves of the Job controller
	Jitter       int64 // thousandths: one of a hundred of these steps but JobVisible takes more than so many times its median
	Ungate       int64 // pod with a topology assignment created -> schedulable
	Bind         int64 // pod bound -> kubelet acts on it
	ReadyLag     int64 // first pod ready, or lost, since the Job was last looked at -> its status says so
	FinishLag    int64 // last pod exits -> quota released
	EvictStop    int64 // evicted -> pods get SIGTERM
	EvictRelease int64 // evicted -> quota released
	Termination  int64 // SIGTERM -> pod gone
	EndStarting  bool  // a pod that still starts when it is told to end has no container to stop, and ends
	PodEnd       int64 // by how much the ends of pods of a job that end together lie apart, for each of them
	Flush        int64 // quota freed -> parked BestEffortFIFO jobs are looked at again
	StrictWake   int64 // quota freed -> a StrictFIFO head is looked at again
	Requeue      int64 // backoff over -> back in the queue
	DeadlineLag  int64 // readiness timeout -> evicted
	Replace      int64 // pod lost -> its replacement; doubles with every pod lost, up to ReplaceMax
	ReplaceMax   int64
	FrozenStatus bool // the Job's status stands still until then: a bug of Kubernetes 1.32 to 1.34.4

	NodeDetect int64 // node down -> its condition says so
	NodeTaint  int64 // condition -> taint NoExecute
	Tolerate   int64 // taint -> its pods are deleted, where they do not say
	Untaint    int64 // node uncordoned -> the taint of cordoned nodes is gone
	NodeGone   int64 // Node object deleted -> the topology-aware queue knows
	PodGC      int64 // Node object deleted -> its pods are
	SecondPass int64 // node lost -> the queue looks for another for its assignment

	WholeSeconds bool  // condition clocks are truncated to the second, and equal seconds come in an order of their own
	SecondOffset int64 // how far time 0 lies in a second of the clock

	AdmitterCycle int64 // cost of one Admitter cycle
	BinderCycle   int64 // cost of one Binder cycle that looks at up to FewNodes nodes
	BinderNode    int64 // what each node more adds
	PodBackoff    int64 // from a pod's first failed attempt until kube-scheduler tries it in its turn again; doubles
	PodBackoffMax int64

	Clients      Clients
	Start        StartUp
	PullBytesSec int64 // bytes per second of an image pull into an empty node; 0: no pulls
}

// StartUp is the time from the kubelet's first action to ready: a log-normal per pod
// plus an initialisation drawn uniformly per job and attempt. All zero: at once.
type StartUp struct {
	Median, P99      int64
	InitMin, InitMax int64
}

const ms = int64(1e6)

// Instant is the timing preset in which nothing takes time.
var Instant = Timing{Name: "instant"}

// Kubernetes is the timing preset of a quiet control plane of Kubernetes 1.34 and Kueue
// 0.17: medians recorded step by step, one-second clocks, batches and lags included.
// Starting a container, pulling an image and initialising a training job are published
// figures (see docs/timing.md).
var Kubernetes = Timing{
	Name:          "kubernetes",
	Workload:      7 * ms,
	JobVisible:    13 * ms,
	Unsuspend:     12 * ms,
	PodCreate:     4 * ms,
	PodWave:       6 * ms,
	Jitter:        5000, // the 95th percentiles are about three times the medians
	Ungate:        1017 * ms,
	Bind:          11 * ms,
	ReadyLag:      1020 * ms, // a batch of a second, then the Workload
	FinishLag:     1027 * ms,
	EvictStop:     66 * ms,
	EvictRelease:  141 * ms,
	Termination:   30_000 * ms,
	EndStarting:   true,
	PodEnd:        ms,
	Flush:         1000 * ms,
	StrictWake:    27 * ms,
	Requeue:       39 * ms,
	DeadlineLag:   14 * ms,
	Replace:       10_000 * ms,
	ReplaceMax:    600_000 * ms,
	NodeDetect:    40_000 * ms,
	NodeTaint:     2500 * ms, // the node controller looks every 5 s
	Tolerate:      300_000 * ms,
	Untaint:       40 * ms,
	NodeGone:      30 * ms,
	PodGC:         63_000 * ms,
	SecondPass:    1000 * ms,
	WholeSeconds:  true,
	AdmitterCycle: ms / 5,
	BinderCycle:   3 * ms / 10,
	BinderNode:    ms / 400, // to 1.5 ms at 5,000 nodes, of which 500 are looked at
	PodBackoff:    1000 * ms,
	PodBackoffMax: 10_000 * ms,
	Start:         StartUp{Median: 3000 * ms, P99: 12_000 * ms, InitMin: 30_000 * ms, InitMax: 120_000 * ms},
	PullBytesSec:  35_000_000,
}

// FewNodes is the size of the clusters on which cycles were recorded.
const FewNodes = 16

// cycle is the cost of a Binder cycle that looks at so many nodes.
func (t *Timing) cycle(nodes int) int64 {
	return t.BinderCycle + t.BinderNode*int64(max(0, nodes-FewNodes))
}

// clock truncates a condition's time as the API does.
func (t *Timing) clock(now int64) int64 {
	if t.WholeSeconds {
		return now - (now+t.SecondOffset)%1e9
	}
	return now
}
