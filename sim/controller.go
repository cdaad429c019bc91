package sim

// Reason says why GPUs that somebody waits for stay free, or why a job was refused. The
// ledger and every explanation are built on it.
type Reason uint8

// The reasons of the contract. The policy states one whenever it refuses; backoff is the
// engine's own.
const (
	ReasonNone Reason = iota
	ReasonBackoff
	ReasonGate
	ReasonOrder
	ReasonLatency
	ReasonPreemption
	ReasonInsufficient
	ReasonQuota
	ReasonShape
	ReasonTopology
)

// String returns the reason's name as the ledger has it behind blocked_, "" for none.
func (r Reason) String() string { return reasonNames[r] }

var reasonNames = [...]string{"", "backoff", "gate", "order", "latency", "preemption", "insufficient", "quota", "shape", "topology"}

// SignalKind names what changed.
type SignalKind uint8

// What controllers are told. Both get every signal and take what concerns them.
const (
	JobQueued      SignalKind = iota // Job is in its queue, new or returned
	JobReady                         // every pod of Job is ready, and it was noticed
	JobEvicted                       // Job lost its admission
	JobWithdrawn                     // Job left its queue for good, or for now
	QuotaFreed                       // quota of Job came back to its queue, Place
	QuotaReclaimed                   // part of the quota of Job, which goes on, came back to its queue, Place
	PodCreated                       // Pod waits for a node
	PodDeleted                       // Pod waits no more
	NodeFreed                        // something on Place was freed; a bound pod of Job is gone, if there is one: Pod, unless it left before
	NodeUp
	NodeDown   // Place is lost: the pods of Job on it are given up, or of all if it is -1
	HoldEnded  // Pod's hold ran out and its node was given back
	PodBound   // Pod was bound to Place
	PodLeaving // Pod was told to end, and holds Place for its grace
)

// Signal is one change since a controller's last cycle. Subjects that do not apply are -1.
type Signal struct {
	Kind SignalKind
	Job  int32
	Pod  int32
	// Place is the queue of QuotaFreed and QuotaReclaimed, and the node of all others.
	Place int32
	At    int64 // when it happened: earlier than the cycle if the controller was busy
}

// Controller is one of the two reactive halves of a policy. It keeps state of its own,
// reads the view in Tx and changes the world only through Tx's verbs.
type Controller interface {
	// Reset forgets everything and prepares for a run over the view.
	Reset(v View)
	// Signals tells what changed, in order. It must not look at the view.
	Signals(batch []Signal)
	// Cycle makes one decision: one head per queue, one pod, one gang. It reports
	// whether it did anything; the engine calls again until it did not.
	Cycle(tx *Tx) bool
	// NextWake is when the controller wants a cycle although nothing happens, or Never.
	NextWake() int64
	// Why says why a job waits: a queued one to the Admitter, the unbound pods of an
	// admitted one to the Binder. It must not take longer than a look-up.
	Why(v View, job int32) Reason
}

// Admitter decides which jobs' pods may exist.
type Admitter interface {
	Controller
	// CanEver says whether the job could be admitted on an empty cluster with every
	// node up and all quota unused.
	CanEver(v View, job int32) bool
}

// Explainer is an Admitter that can say, in the words of the real scheduler, why queued
// jobs have no place.
type Explainer interface {
	// Explain calls say with the jobs of the list that it has something to say of. It is
	// for people, at the end of a run, and leaves the transaction as it was.
	Explain(tx *Tx, jobs []int32, say func(job int32, message string))
}

// Binder decides which nodes pods get.
type Binder interface {
	Controller
	// Undecided reports whether an attempt is ahead that may succeed, although nothing
	// happens before: nobody is deadlocked until it was made.
	Undecided() bool
}

// Policy is two controllers put together. Readiness says that the Admitter is Kueue: a
// Workload stands for every job, suspended until it is admitted, and waitForPodsReady governs
// it. GPUs says that the policy looks at every GPU of a node, Blind that the Admitter's
// assignments do not heed node affinity, which the Binder's nodes do. Looks is how many nodes
// a cycle of the Binder looks at, of so many; nil: at all.
type Policy struct {
	Name      string
	Admitter  Admitter
	Binder    Binder
	Readiness bool
	GPUs      bool
	Blind     bool
	Looks     func(nodes int) int
}
