package sim

import "github.com/gangplan/gangplan/topology"

// fitsEmpty reports whether the pods a job needs may fit on the empty cluster with every
// node up. It says no only when that is certain: a PodSet that has no room by itself, or
// all together asking for more than there is. Whether PodSets that have room each and in
// sum also fit beside each other is a packing problem that nobody solves at a submission.
// Answers are kept per shape of job.
func (e *Engine) fitsEmpty(j int32) bool {
	key := e.jobShape(j)
	fit, known := e.fitKnown[key]
	if !known {
		fit = e.mayFit(j)
		e.fitKnown[key] = fit
	}
	return fit
}

func (e *Engine) mayFit(j int32) bool {
	jb := &e.jobs[j]
	var need topology.Resources
	for s := jb.setBase; s < jb.setBase+jb.sets; s++ {
		if !e.placeEmpty(s) {
			return false
		}
		need = need.Plus(e.sets[s].request.Times(int64(e.sets[s].min)))
	}
	capacity := e.capacityFor(j)
	return need.FitsIn(&capacity)
}

// capacityFor is what the nodes have that some pod of the job may go to.
func (e *Engine) capacityFor(j int32) topology.Resources {
	jb := &e.jobs[j]
	var sum topology.Resources
	for n := range e.cfg.Cluster.Nodes {
		for s := jb.setBase; s < jb.setBase+jb.sets; s++ {
			if e.eligible(s, int32(n)) {
				sum = sum.Plus(e.cfg.Cluster.Nodes[n].Allocatable)
				break
			}
		}
	}
	return sum
}

// eligible reports whether pods of a set may go to a node at all.
func (e *Engine) eligible(s, node int32) bool {
	st := &e.sets[s]
	m := e.cfg.Cluster.Nodes[node].Model
	return e.offered(st, node) && (st.filter == 0 || !e.barred[st.filter][node]) && (st.pinned < 0 || st.pinned == node) && (st.models == 0 || m >= 0 && st.models>>m&1 == 1)
}

// placeEmpty reports whether the pods that a PodSet cannot do without have room when
// nothing else is there.
func (e *Engine) placeEmpty(s int32) bool {
	st := &e.sets[s]
	left := int64(st.min)
	for n := range e.cfg.Cluster.Nodes {
		if e.eligible(s, int32(n)) {
			left -= st.request.CountIn(&e.cfg.Cluster.Nodes[n].Allocatable)
		}
		if left <= 0 {
			return true
		}
	}
	return false
}

// jobShape hashes what decides whether a job fits: shapes, counts and pins of its
// PodSets.
func (e *Engine) jobShape(j int32) uint64 {
	jb := &e.jobs[j]
	h := uint64(jb.sets)
	if e.choices != nil {
		h = mix(h ^ uint64(jb.queue))
	}
	for s := jb.setBase; s < jb.setBase+jb.sets; s++ {
		st := &e.sets[s]
		h = mix(h ^ uint64(st.shape))
		h = mix(h ^ uint64(st.count))
		h = mix(h ^ uint64(st.min))
		h = mix(h ^ uint64(st.pinned+1))
		h = mix(h ^ st.tainted)
		h = mix(h ^ st.mismatched)
	}
	return h
}
