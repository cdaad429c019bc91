package stage

import (
	"github.com/gangplan/gangplan/topology"
)

// MaxScore is the best score of a plugin on a node; the worst is 0.
const MaxScore = 100

// Plugin is one score plugin of kube-scheduler.
type Plugin uint8

// The score plugins in the order of the default profile.
const (
	TaintToleration Plugin = iota
	NodeAffinity
	PodTopologySpread
	InterPodAffinity
	NodeResourcesFit
	BalancedAllocation
	ImageLocality
	NumPlugins
)

var pluginNames = [NumPlugins]string{"TaintToleration", "NodeAffinity", "PodTopologySpread", "InterPodAffinity",
	"NodeResourcesFit", "NodeResourcesBalancedAllocation", "ImageLocality"}

// String returns the plugin's name as kube-scheduler's configuration writes it.
func (p Plugin) String() string { return pluginNames[p] }

// Weights multiply the plugins' scores in a node's total.
type Weights [NumPlugins]int64

// DefaultWeights are those of kube-scheduler's default profile.
var DefaultWeights = Weights{TaintToleration: 3, NodeAffinity: 2, PodTopologySpread: 2, InterPodAffinity: 2,
	NodeResourcesFit: 1, BalancedAllocation: 1, ImageLocality: 1}

// Kube-scheduler counts a pod that asks for no CPU or memory as asking for this much when
// it rates nodes by what is allocated.
const (
	nonZeroCPU    = 100
	nonZeroMemory = 200 << 20
)

// NonZero is the request that LeastAllocated and its kin count for a pod.
func NonZero(r topology.Resources) topology.Resources {
	if r[topology.CPU] == 0 {
		r[topology.CPU] = nonZeroCPU
	}
	if r[topology.Memory] == 0 {
		r[topology.Memory] = nonZeroMemory
	}
	return r
}

// Demand is what a pod asks for: as written, and as the plugins count it.
type Demand struct {
	Real, NonZero topology.Resources
}

// NewDemand returns the demand of a pod with a request.
func NewDemand(r topology.Resources) Demand { return Demand{r, NonZero(r)} }

// Load is a node as the plugins see it: what it offers, and what its pods ask for as
// written and as the plugins count it. The pod to be placed is not among them.
type Load struct {
	Offers, Real, NonZero topology.Resources
}

// Add counts a pod in.
func (l *Load) Add(d *Demand) {
	l.Real, l.NonZero = l.Real.Plus(d.Real), l.NonZero.Plus(d.NonZero)
}

// Profile is how kube-scheduler is configured to rate nodes.
type Profile struct {
	Fit      FitScorer
	Balanced BalancedScorer
	Weights  Weights
}

// SpreadProfile is the default: LeastAllocated and BalancedAllocation over CPU and
// memory. It does not look at GPUs, and so leaves a few free on every node.
func SpreadProfile() *Profile {
	return &Profile{Fit: FitScorer{Strategy: LeastAllocated, Resources: cpuAndMemory},
		Balanced: BalancedScorer{Resources: []topology.Resource{topology.CPU, topology.Memory}}, Weights: DefaultWeights}
}

// PackProfile is the usual one for GPUs: MostAllocated over GPU (weight 5), CPU and
// memory (1 each); BalancedAllocation as it is by default.
func PackProfile() *Profile {
	p := SpreadProfile()
	p.Fit = FitScorer{Strategy: MostAllocated, Resources: []Weighted{{topology.GPU, 5}, {topology.CPU, 1}, {topology.Memory, 1}}}
	return p
}

// Resources is the part of a node's total that depends on the pod and the node alone:
// NodeResourcesFit and NodeResourcesBalancedAllocation, weighted. The other plugins
// compare the feasible nodes with each other; where no pod states a preference and no
// node a soft taint they rate all alike.
func (p *Profile) Resources(d *Demand, l *Load) int64 {
	return p.Weights[NodeResourcesFit]*p.Fit.Score(d, l) + p.Weights[BalancedAllocation]*p.Balanced.Score(d, l)
}
