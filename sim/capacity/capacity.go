// Package capacity answers "how many pods of this shape fit here" for every domain of
// the topology, and "which is the smallest domain that still fits", without looking at
// every node: the counts of a shape are kept per domain, the domains of a level are
// bucketed by count, and a shape that is asked for catches up with the nodes that
// changed since it was asked last.
//
// Cost. A change of a node is one append, whatever the number of shapes. A question costs
// first the catching up: per changed node three divisions and, if its count changed, one
// move between buckets per level. Then it is a look-up. Undoing a change is changing
// again; it costs the same.
//
// Memory, per active shape: four bytes a domain, and one bit a domain for every distinct
// count that occurs at its level. A shape that nobody asks about while as many nodes
// change as the cluster has gives its memory back; asked again, it is counted anew.
package capacity

import (
	"math"

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
	parent  []int32 // by domain
	rank    []int32 // by domain: its place among its level's names
	byRank  []int32 // by start of the level + rank: the domain
	most    int64   // pods of a host beyond this do not count, so that sums fit
	shapes  []shape
	log     []int32       // nodes changed, oldest first
	gpus    []devices.Set // free of each GPU, per node, where pods share GPUs; else nil
	base    int           // position of log[0] in the history of all changes
	spare   []counts      // of shapes that were aged out
}

type shape struct {
	request topology.Resources
	ask     devices.Ask
	models  uint64 // accepted GPU models as a bit set; 0 accepts all
	barred  []bool // nodes that pods of the shape may not go to; nil: none
	counts
	total int64
	seen  int // position in the history up to which counts are right; -1: never
}

// counts is what is kept per domain. A shape that was aged out has none.
type counts struct {
	of     []int32  // by domain
	levels []bucket // by level
}

// New makes an index over the free resources of the cluster's nodes. A node that takes
// no pods has nothing free.
func New(c *topology.Cluster, free []topology.Resources) *Index {
	n := len(c.Domains)
	x := &Index{cluster: c, free: free, log: make([]int32, 0, 2*len(free)+16), most: math.MaxInt32 / int64(len(free)),
		parent: make([]int32, n), rank: make([]int32, n), byRank: make([]int32, n)}
	for i := range c.Domains {
		d := &c.Domains[i]
		x.parent[i], x.rank[i] = d.Parent, d.NameRank
		x.byRank[c.LevelStart[d.Level]+d.NameRank] = int32(i)
	}
	return x
}

// Register adds a shape. models is a bit set of accepted GPU models, 0 for all.
func (x *Index) Register(request topology.Resources, models uint64) Shape {
	return x.RegisterBarred(request, models, nil)
}

// RegisterBarred adds a shape that fits on no node of those that are barred.
func (x *Index) RegisterBarred(request topology.Resources, models uint64, barred []bool) Shape {
	ask, _ := devices.NewAsk(request[topology.GPU])
	x.shapes = append(x.shapes, shape{request: request, ask: ask, models: models, barred: barred, seen: -1})
	return Shape(len(x.shapes) - 1)
}

// ShareGPUs makes the index count pods by what is free of each GPU, not by the sum of a
// node. The owner changes the sets in place, with the resources that Touch reports.
func (x *Index) ShareGPUs(gpus []devices.Set) { x.gpus = gpus }

// Touch says that a node's free resources changed.
func (x *Index) Touch(node int32) {
	if len(x.log) == cap(x.log) {
		x.forget()
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

// forget drops the older half of the log. A shape that has not seen it must be counted
// anew if it is ever asked for, so it needs no memory until then.
func (x *Index) forget() {
	half := len(x.log) / 2
	x.base += half
	x.log = append(x.log[:0], x.log[half:]...)
	for i := range x.shapes {
		if s := &x.shapes[i]; s.of != nil && s.seen < x.base {
			x.spare = append(x.spare, s.counts)
			s.counts, s.seen = counts{}, -1
		}
	}
}

// Total returns how many pods of the shape fit over all hosts.
func (x *Index) Total(s Shape) int64 {
	return x.sync(s).total
}

// Counts returns the number of pods of the shape that fit into each domain, by domain
// id. The slice is the index's own and is right until the next change.
func (x *Index) Counts(s Shape) []int32 {
	return x.sync(s).of
}

// sync brings a shape up to date.
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

// rebuild counts a shape anew: hosts first, then level by level up.
func (x *Index) rebuild(sh *shape) {
	x.provide(sh)
	clear(sh.of)
	sh.total = 0
	for node := range x.free {
		n := x.fit(sh, int32(node))
		sh.of[x.cluster.HostDomain(int32(node))] = n
		sh.total += int64(n)
	}
	for level := x.cluster.HostLevel(); level >= 0; level-- {
		b := &sh.levels[level]
		b.reset()
		first, last := x.cluster.DomainsAt(level)
		for d := first; d < last; d++ {
			b.insert(x.rank[d], sh.of[d])
			if level > 0 {
				sh.of[x.parent[d]] += sh.of[d]
			}
		}
	}
}

// provide gives a shape its arrays, of an aged-out shape if there are any.
func (x *Index) provide(sh *shape) {
	switch n := len(x.spare); {
	case sh.of != nil:
	case n > 0:
		sh.counts = x.spare[n-1]
		x.spare = x.spare[:n-1]
	default:
		sh.of = make([]int32, len(x.parent))
		sh.levels = make([]bucket, len(x.cluster.Levels))
		for l := range sh.levels {
			first, last := x.cluster.DomainsAt(int32(l))
			sh.levels[l].init(last - first)
		}
	}
}

// update counts one node anew and carries the difference up the tree.
func (x *Index) update(sh *shape, node int32) {
	d := x.cluster.HostDomain(node)
	delta := x.fit(sh, node) - sh.of[d]
	if delta == 0 {
		return
	}
	sh.total += int64(delta)
	for level := len(sh.levels) - 1; d >= 0; level-- {
		b, was := &sh.levels[level], sh.of[d]
		sh.of[d] = was + delta
		b.remove(x.rank[d], was)
		b.insert(x.rank[d], was+delta)
		d = x.parent[d]
	}
}

// fit is the number of pods that fit on a node: at least one of the request's resources
// is always bounded, as every pod asks for one of the node's pod slots.
func (x *Index) fit(sh *shape, node int32) int32 {
	if sh.models != 0 {
		if m := x.cluster.Nodes[node].Model; m < 0 || sh.models>>m&1 == 0 {
			return 0
		}
	}
	if sh.barred != nil && sh.barred[node] {
		return 0
	}
	count := sh.request.CountIn(&x.free[node])
	if x.gpus != nil && count > 0 && sh.ask.Count > 0 {
		count = min(count, x.gpus[node].CountOf(sh.ask))
	}
	return int32(min(count, x.most))
}
