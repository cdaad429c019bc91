package sim

import (
	"slices"

	"github.com/gangplan/gangplan/topology"
)

// fitsEmpty reports whether all pods of a job fit on the empty cluster with every node
// up. Pods are placed largest first, each on the first node with room; answers are kept
// per shape of job.
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
	slices.SortStableFunc(sets, func(a, b int32) int {
		return int((e.sets[b].request[topology.GPU] - e.sets[a].request[topology.GPU]) / topology.Milli)
	})
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

// placeEmpty takes the pods of a PodSet from free, node after node.
func (e *Engine) placeEmpty(s int32, free []topology.Resources) bool {
	st := &e.sets[s]
	left := int64(st.count)
	for n := range free {
		m := e.cfg.Cluster.Nodes[n].Model
		if st.pinned >= 0 && st.pinned != int32(n) || st.models != 0 && (m < 0 || st.models>>m&1 == 0) {
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
		h = mix(h ^ uint64(st.pinned+1))
	}
	return h
}
