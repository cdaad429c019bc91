// Package capacity answers "how many pods of this shape fit here" for every domain of
// the topology without looking at every node each time: the counts of a shape are kept
// per domain, and a shape that is asked for catches up with the nodes that changed
// since it was asked last.
//
// Cost: a change of a node is one append; a question costs the changed nodes times the
// number of levels. Many shapes may exist while few are active.
package capacity

import (
	"github.com/gangplan/gangplan/sim/devices"
	"github.com/gangplan/gangplan/topology"
)

// Shape is a dense index of a registered pod shape.
type Shape int32

// Index counts pods over one array of free resources, which its owner changes in place
// and reports with Touch.
type Index struct {
	cluster *topology.Cluster
	free    []topology.Resources
	shapes  []shape
	log     []int32       // nodes changed, oldest first
	gpus    []devices.Set // free of each GPU, per node, where pods share GPUs; else nil
	base    int           // position of log[0] in the history of all changes
}

type shape struct {
	request topology.Resources
	ask     devices.Ask
	models  uint64  // accepted GPU models as a bit set; 0 accepts all
	count   []int32 // per domain
	total   int64
	seen    int // position in the history up to which count is right
}

// New makes an index over the free resources of the cluster's nodes. A node that takes
// no pods has nothing free.
func New(c *topology.Cluster, free []topology.Resources) *Index {
	return &Index{cluster: c, free: free, log: make([]int32, 0, 2*len(free)+16)}
}

// Register adds a shape. models is a bit set of accepted GPU models, 0 for all.
func (x *Index) Register(request topology.Resources, models uint64) Shape {
	ask, _ := devices.NewAsk(request[topology.GPU])
	x.shapes = append(x.shapes, shape{request: request, ask: ask, models: models, seen: -1,
		count: make([]int32, len(x.cluster.Domains))})
	return Shape(len(x.shapes) - 1)
}

// ShareGPUs makes the index count pods by what is free of each GPU, not by the sum of a
// node. The owner changes the sets in place, with the resources that Touch reports.
func (x *Index) ShareGPUs(gpus []devices.Set) { x.gpus = gpus }

// Touch says that a node's free resources changed.
func (x *Index) Touch(node int32) {
	if len(x.log) == cap(x.log) {
		half := len(x.log) / 2
		x.base += half
		x.log = append(x.log[:0], x.log[half:]...)
	}
	x.log = append(x.log, node)
}

// Since returns the nodes touched since a moment of the history, with repeats, and the
// present moment; ok is false where the history does not reach back.
func (x *Index) Since(moment int) (nodes []int32, now int, ok bool) {
	now = x.base + len(x.log)
	if moment < x.base {
		return nil, now, false
	}
	return x.log[moment-x.base:], now, true
}

// Total returns how many pods of the shape fit over all hosts.
func (x *Index) Total(s Shape) int64 {
	return x.sync(s).total
}

// Counts returns the number of pods of the shape that fit into each domain, by domain
// id. The slice is the index's own and is right until the next change.
func (x *Index) Counts(s Shape) []int32 {
	return x.sync(s).count
}

func (x *Index) sync(s Shape) *shape {
	sh := &x.shapes[s]
	end := x.base + len(x.log)
	switch {
	case sh.seen == end:
	case sh.seen < x.base || end-sh.seen > len(x.free):
		x.rebuild(sh)
	default:
		for _, node := range x.log[sh.seen-x.base:] {
			x.update(sh, node)
		}
	}
	sh.seen = end
	return sh
}

func (x *Index) rebuild(sh *shape) {
	clear(sh.count)
	sh.total = 0
	for node := range x.free {
		x.update(sh, int32(node))
	}
}

func (x *Index) update(sh *shape, node int32) {
	delta := x.fit(sh, node) - sh.count[x.cluster.HostDomain(node)]
	if delta == 0 {
		return
	}
	sh.total += int64(delta)
	for d := x.cluster.HostDomain(node); d >= 0; d = x.cluster.Domains[d].Parent {
		sh.count[d] += delta
	}
}

// fit is the number of pods that fit on a node: at least one of the request's resources
// is always bounded, as every pod asks for one of the node's pod slots.
func (x *Index) fit(sh *shape, node int32) int32 {
	if m := x.cluster.Nodes[node].Model; sh.models != 0 && (m < 0 || sh.models>>m&1 == 0) {
		return 0
	}
	count := sh.request.CountIn(&x.free[node])
	if x.gpus != nil && count > 0 && sh.ask.Count > 0 {
		count = min(count, x.gpus[node].CountOf(sh.ask))
	}
	return int32(min(count, 1<<24))
}
