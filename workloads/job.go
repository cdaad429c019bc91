package workloads

import (
	"slices"

	"github.com/gangplan/gangplan/internal/rng"
	"github.com/gangplan/gangplan/topology"
)

// TopologyMode says how strictly a PodSet asks to be placed together.
type TopologyMode uint8

// The topology requests of Kueue: none, anywhere in one topology, in one domain of a
// level if possible, in one domain of a level, or only slice by slice.
const (
	TopologyNone TopologyMode = iota
	TopologyUnconstrained
	TopologyPreferred
	TopologyRequired
	TopologySliceOnly
)

// MaxSliceLayers is how many layers of slices a request may have.
const MaxSliceLayers = 3

// Slice asks for every Size consecutive pods to share one domain of a level.
type Slice struct {
	Level string
	Size  int32
}

// TopologyRequest asks for the pods of a PodSet to be close together. Level names a
// level of the cluster and is empty unless Mode is Preferred or Required. Slices are
// layers, the outermost first; those with size 0 are not there. Two PodSets of a job with
// the same Group are placed in one search: the smaller is a single leader pod, which
// ends up on one of the other's domains.
type TopologyRequest struct {
	Mode   TopologyMode
	Level  string
	Slices [MaxSliceLayers]Slice
	Group  string
}

// PodSet is a number of equal pods of a job.
type PodSet struct {
	Name       string
	Count      int32
	MinCount   int32 // the fewest pods the job can run with; 0 means Count
	Request    topology.Resources
	None       [topology.NumResources]bool `json:",omitzero"` // what its pods are known to ask nothing of; another zero may mean that nobody said
	Models     []string                    // GPU models it accepts; empty accepts all
	Topology   TopologyRequest
	Node       string // pins every pod to the named node when not empty
	NeverReady int32  // how many of its pods, the last ones, never become ready

	NodeSelector []topology.Requirement // what a node must have
	NodeAffinity topology.NodeAffinity  `json:",omitzero"`
	Tolerations  []topology.Toleration  // of taints that keep other pods off
}

// Job is one gang: it makes progress only while its start barrier holds. All times are
// nanoseconds; Submit counts from the start of the scenario.
type Job struct {
	ID       string
	Row      int64 // row in the original source, kept by convert and slice
	Submit   int64
	Duration int64 // work at ideal speed
	GPUs     int32 // total asked for by traces that do not give a shape; see Shape

	Queue     string
	Tenant    string
	Namespace string            `json:",omitempty"` // of its pods; empty is a namespace too
	Labels    map[string]string `json:",omitempty"` // of its pods, for selectors
	Priority  int32
	NoPreempt bool `json:",omitempty"` // its pods push nobody off: preemptionPolicy Never
	PodSets   []PodSet

	// What pods ask of each other under kube-scheduler, which other binders do not heed.
	Affinity     []PodTerm          `json:",omitempty"`
	AntiAffinity []PodTerm          `json:",omitempty"`
	Spread       []SpreadConstraint `json:",omitempty"`

	TimeLimit          int64 // longest running time; 0 means none
	AdmittedLimit      int64 `json:",omitzero"` // longest time with quota, over all its admissions; 0 means none
	CheckpointInterval int64 // 0 means no checkpoints: an interruption loses all progress
	CheckpointCost     int64
	Startup            int64     // time from bound to ready; 0 is ready as soon as bound; negative takes it from the timing
	Termination        Delay     `json:",omitzero"` // what its pods take to end when told to
	Tolerate           Delay     `json:",omitzero"` // how long they stay on a node that has the taint NoExecute for being lost
	Restarts           []Restart `json:",omitempty"`
	Completions        int32     `json:",omitzero"` // pods that have to run to their end, of a job with one PodSet; 0: each once, together
	PlainPods          bool      `json:",omitzero"` // its pods have no Job above them: evicted, their quota comes back when they are gone
	Image              string
	ImageBytes         int64

	Model *ModelProfile // nil: the job does not communicate

	Carried bool // was running when its window began; outside all wait statistics
}

// Restart is a failure of containers that the kubelet starts again where they are: of one
// pod of a job, or of all at once as a launcher does that restarts the whole gang.
type Restart struct {
	Time  int64 // from the start of the scenario, ns
	Rank  int32 // of the pod; AllPods for all
	Ready int64 // until they are ready again, ns
}

// Delay is a time in ns that a job may say or leave to the timing, which is the zero value.
type Delay int64

// AtOnce is the Delay of no time at all.
const AtOnce Delay = -1

// DelayOf is the Delay of so many ns.
func DelayOf(ns int64) Delay {
	if ns == 0 {
		return AtOnce
	}
	return Delay(ns)
}

// Or returns the delay in ns, or the timing's where the job does not say.
func (d Delay) Or(timing int64) int64 {
	switch {
	case d == 0:
		return timing
	case d < 0:
		return 0
	}
	return int64(d)
}

// AllPods is the Rank of a restart of every pod.
const AllPods = -1

// StartupFromTiming is the Startup of a job whose source does not say how long its pods
// take from bound to ready.
const StartupFromTiming = -1

// NewJob returns a job with nothing but its identity, whose start-up time comes from the
// timing. Constructors begin with it because the zero Startup means something else:
// ready as soon as bound.
func NewJob(id string, row int64) Job {
	return Job{ID: id, Row: row, Startup: StartupFromTiming}
}

// StableID returns what identifies the job in random draws: its source id and row,
// neither of which converting, slicing or relabelling a trace changes.
func (j *Job) StableID() uint64 { return rng.StableID(j.ID, j.Row) }

// Work returns the time the job works at ideal speed: its duration, as often as it has waves.
func (j *Job) Work() int64 {
	if n := j.Pods(); j.Completions > n && n > 0 {
		return j.Duration * int64((j.Completions+n-1)/n)
	}
	return j.Duration
}

// Pods returns the number of pods of the job.
func (j *Job) Pods() int32 {
	var n int32
	for i := range j.PodSets {
		n += j.PodSets[i].Count
	}
	return n
}

// GPUsByPod lists the milli-GPU of the job's pods, in rank order.
func (j *Job) GPUsByPod() []int32 {
	var gpus []int32
	for i := range j.PodSets {
		for range j.PodSets[i].Count {
			gpus = append(gpus, int32(j.PodSets[i].Request[topology.GPU]))
		}
	}
	return gpus
}

// TotalGPUs returns the milli-GPU the job asks for with all its pods.
func (j *Job) TotalGPUs() int64 {
	var n int64
	for i := range j.PodSets {
		n += int64(j.PodSets[i].Count) * j.PodSets[i].Request[topology.GPU]
	}
	return n
}

// ModelProfile is what the simulator knows of a model in training: how much it exchanges
// each step and how long a step computes. Source says where the figures come from; Estimate
// marks those that nobody measured.
type ModelProfile struct {
	Name             string
	Parameters       int64 // of the whole model; 0 if it is not known
	GradientBytes    int64 // bytes exchanged per step by one rank: its part of the model's gradient
	Tensor, Pipeline int32 // into how many parts a layer is cut, and the layers are; 0 is 1
	// FullyShard is fully sharded data parallelism: a step gathers the parameters twice and
	// scatters the gradients, in place of an all-reduce. Half as much again.
	FullyShard   bool
	Compute      int64 // ns of computation per step
	OverlapMilli int64 // share of the backward pass that hides communication, in 1/1000
	// GPU is what Compute was found on, and Others what is known of others; see On.
	GPU      string
	Others   []StepTime
	Source   string
	Estimate bool
}

// StepTime is the computation of a step on a GPU.
type StepTime struct {
	GPU     string
	Compute int64 // ns
}

// Parts is over how many GPUs one copy of the model is cut.
func (p *ModelProfile) Parts() int64 { return max(1, int64(p.Tensor)) * max(1, int64(p.Pipeline)) }

// StepNanos returns the length of one step whose all-reduce takes the given time: the
// backward pass is two thirds of the computation and hides its overlap's share of it.
// spec: T_step = C + max(0, T_ar - overlap * 2/3 C).
func (p *ModelProfile) StepNanos(allReduce int64) int64 {
	return p.Compute + max(0, allReduce-p.Hidden())
}

// Hidden is how much of an all-reduce the computation of a step hides, in ns.
func (p *ModelProfile) Hidden() int64 { return p.Compute * 2 * p.OverlapMilli / 3000 }

// Tolerated returns the tolerations of a PodSet's pods. Pods that ask for GPUs tolerate a
// taint by the resource's name, as the admission plugin ExtendedResourceToleration has it.
func (s *PodSet) Tolerated() []topology.Toleration {
	if s.Request[topology.GPU] == 0 {
		return s.Tolerations
	}
	return append(slices.Clip(s.Tolerations), topology.Toleration{Key: topology.GPU.String(), Exists: true})
}
