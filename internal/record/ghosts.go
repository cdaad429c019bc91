package record

import (
	"slices"

	"github.com/gangplan/gangplan/sim"
)

// A pod on a node that is lost does not end for the API server: nobody is there who could
// say so. It stays bound, a ghost, until the node is back; or, where the Node object is
// gone, until pod garbage collection finds it.

// ghosts are the lost nodes of a run, and what becomes of the pods on them.
type ghosts struct {
	next  int            // action that comes next
	nodes map[int32]bool // lost
	ends  []collection   // in the order of time
}

// collection is the end of ghosts of a job.
type collection struct {
	at      int64
	job     int
	node, n int32
}

// advance brings what is known of lost nodes up to a time.
func (o *observer) advance(to int64) {
	for {
		act, end := int64(sim.Never), int64(sim.Never)
		if o.lost.next < len(o.cfg.Actions) {
			act = o.cfg.Actions[o.lost.next].Time
		}
		if len(o.lost.ends) > 0 {
			end = o.lost.ends[0].at
		}
		switch {
		case min(act, end) > to:
			o.now = max(o.now, to)
			return
		case end < act:
			o.collect(o.lost.ends[0])
			o.lost.ends = o.lost.ends[1:]
		default:
			o.act(&o.cfg.Actions[o.lost.next])
			o.lost.next++
		}
	}
}

func (o *observer) collect(c collection) {
	jb := &o.jobs[c.job]
	jb.on[c.node] -= c.n
	for range c.n {
		jb.step(c.at, -1)
	}
}

// act notes what an action does to nodes, and that it was done by hand to jobs.
func (o *observer) act(a *sim.Action) {
	switch a.Do {
	case sim.DoDeactivate:
		o.jobs[a.Job].byHand = true
		return
	case sim.DoActivate:
		o.jobs[a.Job].byHand, o.jobs[a.Job].deactivated = false, false
		return
	}
	node := a.Node
	if node < 0 && a.Job >= 0 {
		node = o.placeOf(a.Job, a.Rank)
	}
	if node < 0 {
		return
	}
	switch a.Do {
	case sim.DoDown, sim.DoUnreachable, sim.DoDelete:
		if a.Do == sim.DoDelete {
			o.collectLater(node, a.Time+o.cfg.Timing.PodGC)
		}
		if o.lost.nodes == nil {
			o.lost.nodes = map[int32]bool{}
		}
		o.lost.nodes[node] = true
	case sim.DoUp:
		if o.lost.nodes[node] {
			delete(o.lost.nodes, node)
			o.lost.ends = slices.DeleteFunc(o.lost.ends, func(c collection) bool { return c.node == node })
			for j := range o.jobs {
				o.collect(collection{a.Time, j, node, o.jobs[j].on[node]})
			}
		}
	}
}

// collectLater plans the end of the pods on a node whose object is gone.
func (o *observer) collectLater(node int32, at int64) {
	for j := range o.jobs {
		if n := o.jobs[j].on[node]; n > 0 {
			o.lost.ends = append(o.lost.ends, collection{at, j, node, n})
		}
	}
}

// placeOf returns the node to which a pod was bound last, -1 without one.
func (o *observer) placeOf(j, rank int32) int32 {
	if node, ok := o.jobs[j].place[rank]; ok {
		return node
	}
	return -1
}
