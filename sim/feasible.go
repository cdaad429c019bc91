package sim

import (
	"cmp"
	"slices"

	"github.com/gangplan/gangplan/topology"
)

// fitsEmpty reports whether the pods a job needs fit on the empty cluster with every node
// up. PodSets with the fewest nodes to go to are placed first, then the largest, each pod
// on the first node with room; answers are kept per shape of job.
func (e *Engine) fitsEmpty(j int32) bool {
	jb := &e.jobs[j]
	key := e.jobShape(j)
	if fit, known := e.fitKnown[key]; known {
		return fit
	}
	sets := make([]int32, 0, jb.sets)
	for s := jb.setBase; s < jb.setBase+jb.sets; s++ {
		sets = append(sets, s)
	}
	slices.SortStableFunc(sets, e.compareChoice)
	free := make([]topology.Resources, len(e.cfg.Cluster.Nodes))
	for n := range free {
		free[n] = e.cfg.Cluster.Nodes[n].Allocatable
	}
	fit := true
	for _, s := range sets {
		fit = fit && e.placeEmpty(s, free)
	}
	e.fitKnown[key] = fit
	return fit
}

// compareChoice orders PodSets by how many nodes they may go to, then by size.
func (e *Engine) compareChoice(a, b int32) int {
	na, nb := e.choice(a), e.choice(b)
	if na != nb {
		return na - nb
	}
	return cmp.Compare(e.sets[b].request[topology.GPU], e.sets[a].request[topology.GPU])
}

// choice counts the nodes that a pod of the set fits on when nothing else is there.
func (e *Engine) choice(s int32) int {
	n := 0
	for node := range e.cfg.Cluster.Nodes {
		if e.eligible(s, int32(node)) && e.sets[s].request.FitsIn(&e.cfg.Cluster.Nodes[node].Allocatable) {
			n++
		}
	}
	return n
}

// eligible reports whether pods of a set may go to a node at all.
func (e *Engine) eligible(s, node int32) bool {
	st := &e.sets[s]
	m := e.cfg.Cluster.Nodes[node].Model
	return (st.filter == 0 || !e.barred[st.filter][node]) && (st.pinned < 0 || st.pinned == node) && (st.models == 0 || m >= 0 && st.models>>m&1 == 1)
}

// placeEmpty takes the pods that a PodSet cannot do without from free, node after node.
func (e *Engine) placeEmpty(s int32, free []topology.Resources) bool {
	st := &e.sets[s]
	left := int64(st.min)
	for n := range free {
		if !e.eligible(s, int32(n)) {
			continue
		}
		take := min(left, st.request.CountIn(&free[n]))
		free[n] = free[n].Minus(st.request.Times(take))
		if left -= take; left == 0 {
			return true
		}
	}
	return left == 0
}

// jobShape hashes what decides whether a job fits: shapes, counts and pins of its
// PodSets.
func (e *Engine) jobShape(j int32) uint64 {
	jb := &e.jobs[j]
	h := uint64(jb.sets)
	for s := jb.setBase; s < jb.setBase+jb.sets; s++ {
		st := &e.sets[s]
		h = mix(h ^ uint64(st.shape))
		h = mix(h ^ uint64(st.count))
		h = mix(h ^ uint64(st.min))
		h = mix(h ^ uint64(st.pinned+1))
	}
	return h
}
