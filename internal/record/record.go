// Package record is what an API server shows of jobs over time: when their Workloads were
// admitted and evicted, their pods created, bound and ready, and how they ended. A record
// is made from a run of the simulator, from recorded cases, or from what kubectl prints of
// a cluster, so that the three can be compared.
package record

// Never is a time that did not come.
const Never int64 = -1

// Record is what was seen of some jobs. Times are nanoseconds since its beginning.
type Record struct {
	Jobs      []Job
	Decisions []string // names of jobs, in the order in which they were admitted
	End       int64    // how long the observation lasted
}

// Job is what was seen of one job.
type Job struct {
	Name            string
	Submit          int64
	WorkloadCreated int64 // Never without a queue
	Admissions      []Admission
	Assignments     []Assignment // each topology assignment, those that replace nodes of it too
	Cleared         []int64      // the admission was taken back: its quota is free
	Unsuspended     []int64
	Suspended       []int64
	Evictions       []Eviction
	Requeues        []Requeue
	Deactivated     []int64

	Created  []PodEvent // pods that came into being
	Bound    []PodEvent // pods that got a node
	Steps    []Step     // how many pods are bound, at each change
	Attempts int32      // of the scheduler to place its pods

	AllReady    []int64 // every pod of the job is ready: its barrier holds
	BarrierLost []int64
	RunComplete []int64 // its work is done: the pods exit
	JobComplete []int64
	Finished    []int64 // the Workload is finished
	State       State   // at the end of the observation
}

// Admission is one admission of a Workload, with the pods that it was given, per PodSet.
type Admission struct {
	At     int64
	Counts []int32
}

// Assignment is a topology assignment, per PodSet.
type Assignment struct {
	At    int64
	Slots [][]Slot
}

// Slot is a number of pods on a node, in the order of the assignment.
type Slot struct {
	Node string
	Pods int32
}

// Eviction is one condition Evicted, with its reason in Kueue's words.
type Eviction struct {
	At     int64
	Reason string
}

// Requeue is a change of a Workload's requeueState. Count 0 is that it was removed; At
// Until it waits, Never for no longer.
type Requeue struct {
	At, Until int64
	Count     int32
}

// PodEvent is a pod and its node. Node is empty while it has none.
type PodEvent struct {
	At   int64
	Rank int32
	Node string
}

// Step is a number that holds from a time on.
type Step struct {
	At int64
	N  int32
}

// State is where a job stood when the observation ended.
type State string

// The states. PartiallyBound is a job without a queue some of whose pods have no node;
// WaitingForTerminating is one that succeeded but is not complete, because a pod of it
// that terminates never goes.
const (
	Pending               State = "pending"
	AdmittedNotReady      State = "admitted-not-ready"
	PartiallyBound        State = "partially-bound"
	Running               State = "running"
	Finished              State = "finished"
	Failed                State = "failed"
	Deactivated           State = "deactivated"
	WaitingForTerminating State = "succeeded-waiting-for-terminating-pods"
)

// MaxBound returns the most pods that were bound at once.
func (j *Job) MaxBound() (most int32) {
	for _, s := range j.Steps {
		most = max(most, s.N)
	}
	return most
}

// FinalBound returns how many pods were bound at the end.
func (j *Job) FinalBound() int32 {
	if len(j.Steps) == 0 {
		return 0
	}
	return j.Steps[len(j.Steps)-1].N
}
