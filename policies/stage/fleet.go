package stage

import (
	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/sim/capacity"
	"github.com/gangplan/gangplan/sim/devices"
	"github.com/gangplan/gangplan/topology"
)

// Fleet rates the nodes of a cluster for pods. It rates classes of equal nodes, not nodes:
// what a node's rating hangs on is its class, and ratings are kept per pod shape until
// nobody has needed a class for long. A decision costs a look-up per class that has
// nodes, and allocates nothing.
type Fleet struct {
	profile *Profile
	devices DeviceScorer // instead of the profile, if not nil

	groups *Groups[NodeState]
	kinds  []nodeKind // equal nodes when empty
	kindOf []int32
	soft   bool // some node has a soft taint
	seen   int  // moment of the plane's history

	rows  [][]rating // of shapes, by class
	rowOf []int32    // shape -> row or -1
	owner []int32    // row -> shape
	next  int        // row to be given away next

	window []int32 // feasible nodes of the last search
}

// NodeState is what a node's rating depends on.
type NodeState struct {
	kind            int32
	real            topology.Resources
	noCPU, noMemory int32 // pods that do not ask
	gpuPods         uint32
	gpus            devices.Set
}

// nodeKind is what does not change of a node.
type nodeKind struct {
	offers topology.Resources
	model  int32
	bars   string // by filter, whether it keeps pods off: a bit each
	soft   int64
}

// rating is a class's, if age is the class's.
type rating struct {
	age   uint32
	value int32 // NotFeasible, or the part of the score that no other node influences
}

// NotFeasible is the rating of a node that cannot take the pod.
const NotFeasible = -1

// Want is a pod that needs a node.
type Want struct {
	Shape  capacity.Shape
	Filter int32 // of nodes, by labels and taints; it goes with the shape
	Demand Demand
	Guest  Guest // of the same pod, for device scorers
}

// NewFleet makes ratings by a profile, or by a device scorer if it is not nil.
func NewFleet(v sim.View, p *Profile, d DeviceScorer) *Fleet {
	n := len(v.Cluster().Nodes)
	f := &Fleet{profile: p, devices: d, groups: NewGroups[NodeState](n), kindOf: make([]int32, n), seen: -1, window: make([]int32, 0, n), rowOf: make([]int32, v.Shapes())}
	for s := range f.rowOf {
		f.rowOf[s] = -1
	}
	for i := range n {
		f.kindOf[i] = f.addKind(kindOfNode(v, int32(i)))
	}
	return f
}

func kindOfNode(v sim.View, node int32) nodeKind {
	n := &v.Cluster().Nodes[node]
	bars := make([]byte, (v.Filters()+7)/8)
	for f := range v.Filters() {
		if v.Bars(f, node) {
			bars[f/8] |= 1 << (f % 8)
		}
	}
	return nodeKind{offers: n.Allocatable, model: n.Model, bars: string(bars), soft: SoftTaints(n.Taints)}
}

func (f *Fleet) addKind(k nodeKind) int32 {
	f.soft = f.soft || k.soft > 0
	for i := range f.kinds {
		if f.kinds[i] == k {
			return int32(i)
		}
	}
	f.kinds = append(f.kinds, k)
	return int32(len(f.kinds) - 1)
}

// Sync takes in what happened to nodes since the last call.
func (f *Fleet) Sync(v sim.View) {
	nodes, now, ok := v.Changes(sim.Physical, f.seen)
	if !ok {
		for n := range f.kindOf {
			f.file(v, int32(n))
		}
	}
	for _, n := range nodes {
		f.file(v, n)
	}
	f.seen = now
}

// Resolvable reports whether a pod could run on a node if enough others left it.
func (f *Fleet) Resolvable(w *Want, node int32) bool {
	k := &f.kinds[f.kindOf[node]]
	return !k.refuses(w) && w.Demand.Real.FitsIn(&k.offers)
}

// Full reports whether some node that is up, and that a pod may go to, lacks room for it.
func (f *Fleet) Full(w *Want) bool {
	row := f.row(w.Shape)
	for _, class := range f.groups.Live() {
		if f.full(row, w, class) {
			return true
		}
	}
	return false
}

// FullBetween is Full for the nodes [first, last).
func (f *Fleet) FullBetween(w *Want, first, last int32) bool {
	row := f.row(w.Shape)
	for n := first; n < last; n++ {
		if class := f.groups.Of(n); class >= 0 && f.full(row, w, class) {
			return true
		}
	}
	return false
}

func (f *Fleet) full(row []rating, w *Want, class int32) bool {
	return f.rate(row, w, class) == NotFeasible && !f.kinds[f.groups.Key(class).kind].refuses(w)
}

// file puts a node where it belongs: nowhere while it is down. What is promised of it
// counts as used.
func (f *Fleet) file(v sim.View, n int32) {
	if v.Down(n) {
		f.groups.Drop(n)
		return
	}
	noCPU, noMemory := v.Unasked(n)
	s := NodeState{kind: f.kindOf[n], real: v.Used(sim.Physical)[n].Plus(v.Nominated(n)), noCPU: int32(noCPU), noMemory: int32(noMemory)}
	if gpus := v.GPUs(); gpus != nil {
		s.gpus, s.gpuPods = gpus[n], v.GPUPods(n)
	}
	f.groups.File(n, s)
}

// Rate returns a node's rating: NotFeasible, or the part of its score that does not depend
// on the other nodes.
func (f *Fleet) Rate(w *Want, node int32) int32 {
	class := f.groups.Of(node)
	if class < 0 {
		return NotFeasible
	}
	return f.rate(f.row(w.Shape), w, class)
}

// rate looks a class's rating up, or works it out.
func (f *Fleet) rate(row []rating, w *Want, class int32) int32 {
	if known := row[class]; known.age == f.groups.Age(class) {
		return known.value
	}
	value := f.workOut(w, f.groups.Key(class))
	row[class] = rating{f.groups.Age(class), value}
	return value
}

func (f *Fleet) workOut(w *Want, s *NodeState) int32 {
	k := &f.kinds[s.kind]
	load := Load{Offers: k.offers, Real: s.real, NonZero: s.real}
	load.NonZero[topology.CPU] += int64(s.noCPU) * nonZeroCPU
	load.NonZero[topology.Memory] += int64(s.noMemory) * nonZeroMemory
	if k.refuses(w) || FilterResources(&w.Demand, &load) != 0 || s.gpus.Len() > 0 && !s.gpus.Fits(w.Guest.Ask) {
		return NotFeasible
	}
	if f.devices == nil {
		return int32(f.profile.Resources(&w.Demand, &load))
	}
	site := s.site(k)
	return int32(f.devices.Score(&w.Guest, &site))
}

func (s *NodeState) site(k *nodeKind) Site {
	return Site{CPU: k.offers[topology.CPU] - s.real[topology.CPU], Model: max(0, k.model), Classes: s.gpuPods, GPUs: s.gpus}
}

// refuses checks what never changes: labels, taints and the GPU model.
func (k *nodeKind) refuses(w *Want) bool {
	if w.Filter != 0 && k.bars[w.Filter/8]>>(w.Filter%8)&1 == 1 {
		return true
	}
	return w.Guest.Models != 0 && (k.model < 0 || w.Guest.Models>>k.model&1 == 0)
}

// maxRows bounds the memory for ratings, about 64 MiB.
func (f *Fleet) maxRows() int { return max(16, 64<<20/(8*f.groups.Most())) }

// row returns the ratings of a shape. When there are too many shapes one loses its.
func (f *Fleet) row(s capacity.Shape) []rating {
	if at := f.rowOf[s]; at >= 0 {
		return f.rows[at]
	}
	if len(f.rows) < f.maxRows() {
		f.rows = append(f.rows, make([]rating, f.groups.Most()))
		f.owner = append(f.owner, int32(s))
		f.rowOf[s] = int32(len(f.rows) - 1)
		return f.rows[len(f.rows)-1]
	}
	at := f.next
	f.next = (f.next + 1) % len(f.rows)
	f.rowOf[f.owner[at]] = -1
	f.owner[at], f.rowOf[s] = int32(s), int32(at)
	clear(f.rows[at])
	return f.rows[at]
}

// First returns the first of the best nodes, or -1 if none is feasible.
func (f *Fleet) First(w *Want) int32 {
	row := f.row(w.Shape)
	taints := f.mostTaints(row, w)
	best, node := int64(-1), int32(-1)
	for _, class := range f.groups.Live() {
		value := f.rate(row, w, class)
		if value == NotFeasible {
			continue
		}
		score := int64(value) + f.taintScore(class, taints)
		if first := f.groups.First(class); score > best || score == best && first < node {
			best, node = score, first
		}
	}
	return node
}

// mostTaints returns the most soft taints of a feasible node.
func (f *Fleet) mostTaints(row []rating, w *Want) (most int64) {
	if !f.soft {
		return 0
	}
	for _, class := range f.groups.Live() {
		if f.rate(row, w, class) != NotFeasible {
			most = max(most, f.taintsOf(class))
		}
	}
	return most
}

func (f *Fleet) taintsOf(class int32) int64 { return f.kinds[f.groups.Key(class).kind].soft }

// taintScore is the weighted score of TaintToleration, given the most soft taints of a
// feasible node; 0 where none has any, since all would get the same.
func (f *Fleet) taintScore(class int32, most int64) int64 {
	if most == 0 || f.devices != nil {
		return 0
	}
	return f.profile.Weights[TaintToleration] * (MaxScore - MaxScore*f.taintsOf(class)/most)
}

// Candidates calls visit for every feasible node of a window of the nodes, in its order,
// with its score. The window is the order from start on, round, until most feasible nodes
// were found; their number and that of the nodes looked at are returned.
func (f *Fleet) Candidates(w *Want, order []int32, start, most int, visit func(node int32, score int64)) (found, looked int) {
	row := f.row(w.Shape)
	taints, at := int64(0), start
	f.window = f.window[:0]
	for looked < len(order) && len(f.window) < most {
		node := order[at]
		if looked, at = looked+1, at+1; at == len(order) {
			at = 0
		}
		class := f.groups.Of(node)
		if class < 0 || f.rate(row, w, class) == NotFeasible {
			continue
		}
		f.window = append(f.window, node)
		if f.soft {
			taints = max(taints, f.taintsOf(class))
		}
	}
	for _, node := range f.window {
		class := f.groups.Of(node)
		visit(node, int64(f.rate(row, w, class))+f.taintScore(class, taints))
	}
	return len(f.window), looked
}

// Totals appends the score of each of some feasible nodes, among which there is no other.
func (f *Fleet) Totals(w *Want, nodes []int32, to []int64) []int64 {
	most := int64(0)
	for _, n := range nodes {
		most = max(most, f.taintsOf(f.groups.Of(n)))
	}
	for _, n := range nodes {
		to = append(to, int64(f.Rate(w, n))+f.taintScore(f.groups.Of(n), most))
	}
	return to
}

// GPUsFor returns the GPUs of a node that a pod gets; 0 leaves the choice to the engine.
func (f *Fleet) GPUsFor(w *Want, node int32) devices.Mask {
	class := f.groups.Of(node)
	if f.devices == nil || class < 0 {
		return 0
	}
	s := f.groups.Key(class)
	site := s.site(&f.kinds[s.kind])
	return f.devices.Pick(&w.Guest, &site)
}

// SampleSize is how many feasible nodes kube-scheduler looks for: all below 100 nodes, then
// a share that falls with their number, never below 5% or 100 nodes.
func SampleSize(nodes int) int {
	if nodes < 100 {
		return nodes
	}
	return max(100, nodes*max(5, 50-nodes/125)/100)
}
