package stage

import (
	"fmt"
	"slices"

	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/sim/capacity"
	"github.com/gangplan/gangplan/sim/devices"
	"github.com/gangplan/gangplan/topology"
)

// Fleet rates the nodes of a cluster for pods. It rates classes of equal nodes, not nodes:
// what a node's rating hangs on is its class, and ratings are kept per pod shape until
// nobody has needed a class for long. A decision costs a look-up per class that has
// nodes, and allocates nothing.
//
// Nodes that are promised to pods which wait for victims are aside: what is free of one
// depends on who asks. They are few, and rated one by one.
type Fleet struct {
	profile *Profile
	devices DeviceScorer // instead of the profile, if not nil

	// Promised is what is promised of a node to others than the pod at hand that count
	// against it. The owner sets it if anything is ever promised.
	Promised func(node int32) topology.Resources

	groups *Groups[NodeState]
	kinds  []nodeKind
	kindOf []int32
	likes  [][]like // per kind and liking
	plain  []bool   // per liking: all nodes are alike to it
	aside  []int32
	states []NodeState // of nodes aside, in the same order
	seen   int         // moment of the plane's history

	rows  [][]rating // of shapes, by class
	rowOf []int32    // shape -> row or -1
	owner []int32    // row -> shape
	next  int        // row to be given away next

	sampled []sampled
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
	likes  string // by liking, as text
}

// Liking is what a pod prefers of nodes by what never changes of them: taints that only
// discourage, and preferred terms of node affinity.
type Liking struct {
	Tolerations []Toleration
	Affinity    topology.NodeAffinity
}

// like is a node as a liking sees it.
type like struct{ taints, preference int64 }

// of returns what the liking finds on a node.
func (l *Liking) of(n *topology.Node) like {
	return like{SoftTaints(n.Taints, l.Tolerations), l.Affinity.Score(n.Labels)}
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
	Liking int32
	Demand Demand
	Guest  Guest // of the same pod, for device scorers
}

// NewFleet makes ratings by a profile, or by a device scorer if it is not nil, for pods with
// some likings.
func NewFleet(v sim.View, p *Profile, d DeviceScorer, likings []Liking) *Fleet {
	n := len(v.Cluster().Nodes)
	f := &Fleet{profile: p, devices: d, groups: NewGroups[NodeState](n), kindOf: make([]int32, n), seen: -1,
		rowOf: make([]int32, v.Shapes()), plain: make([]bool, len(likings))}
	for s := range f.rowOf {
		f.rowOf[s] = -1
	}
	for i := range n {
		f.kindOf[i] = f.addKind(v, int32(i), likings)
	}
	for l := range likings {
		f.plain[l] = !slices.ContainsFunc(f.likes, func(k []like) bool { return k[l] != f.likes[0][l] })
	}
	return f
}

func (f *Fleet) addKind(v sim.View, node int32, likings []Liking) int32 {
	n := &v.Cluster().Nodes[node]
	bars := make([]byte, (v.Filters()+7)/8)
	for filter := range v.Filters() {
		if v.Bars(filter, node) {
			bars[filter/8] |= 1 << (filter % 8)
		}
	}
	likes := make([]like, len(likings))
	for l := range likings {
		likes[l] = likings[l].of(n)
	}
	k := nodeKind{offers: n.Allocatable, model: n.Model, bars: string(bars), likes: fmt.Sprint(likes)}
	if i := slices.Index(f.kinds, k); i >= 0 {
		return int32(i)
	}
	f.kinds, f.likes = append(f.kinds, k), append(f.likes, likes)
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

// file puts a node where it belongs: nowhere while it is closed.
func (f *Fleet) file(v sim.View, n int32) {
	if i := slices.Index(f.aside, n); i >= 0 {
		f.aside, f.states = slices.Delete(f.aside, i, i+1), slices.Delete(f.states, i, i+1)
	}
	if v.Closed(n) {
		f.groups.Drop(n)
		return
	}
	noCPU, noMemory := v.Unasked(n)
	s := NodeState{kind: f.kindOf[n], real: v.Used(sim.Physical)[n], noCPU: int32(noCPU), noMemory: int32(noMemory)}
	if gpus := v.GPUs(); gpus != nil {
		s.gpus, s.gpuPods = gpus[n], v.GPUPods(n)
	}
	if v.Nominated(n) != (topology.Resources{}) {
		f.groups.Drop(n)
		f.aside, f.states = append(f.aside, n), append(f.states, s)
		return
	}
	f.groups.File(n, s)
}

// Resolvable reports whether a pod could run on a node if enough others left it.
func (f *Fleet) Resolvable(w *Want, node int32) bool {
	k := &f.kinds[f.kindOf[node]]
	return !k.refuses(w) && w.Demand.Real.FitsIn(&k.offers)
}

// Refuses reports whether a node's labels, taints or model keep a pod off.
func (f *Fleet) Refuses(w *Want, node int32) bool { return f.kinds[f.kindOf[node]].refuses(w) }

// Rate returns a node's rating: NotFeasible, or the part of its score that does not depend
// on the other nodes.
func (f *Fleet) Rate(w *Want, node int32) int32 {
	if class := f.groups.Of(node); class >= 0 {
		return f.rate(f.row(w.Shape), w, class)
	}
	if i := slices.Index(f.aside, node); i >= 0 {
		return f.rateAside(w, i)
	}
	return NotFeasible
}

// rateAside rates a node that is aside, by its place among them.
func (f *Fleet) rateAside(w *Want, i int) int32 {
	s := f.states[i]
	s.real = s.real.Plus(f.Promised(f.aside[i]))
	return f.workOut(w, &s)
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

// First returns the first of the nodes with the highest rating, or -1 if none is feasible. It
// is the best node where nodes are not compared with each other.
func (f *Fleet) First(w *Want) int32 {
	row := f.row(w.Shape)
	best, node := int32(NotFeasible), int32(-1)
	for _, class := range f.groups.Live() {
		if value := f.rate(row, w, class); value > best || value == best && value != NotFeasible && f.groups.First(class) < node {
			best, node = value, f.groups.First(class)
		}
	}
	for i, n := range f.aside {
		if value := f.rateAside(w, i); value > best || value == best && value != NotFeasible && n < node {
			best, node = value, n
		}
	}
	return node
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
