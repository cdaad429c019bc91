package verify

import (
	"maps"
	"slices"
	"strconv"

	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/topology"
)

// freeByNode returns the free GPUs of every node after an instant, from the transitions. It
// is right where termination takes no time and no node fails, as in the scenarios.
func (r *ran) freeByNode(ns int64) []int64 {
	type pod struct{ job, rank int32 }
	free := make([]int64, len(r.scenario.Config.Cluster.Nodes))
	for n := range free {
		free[n] = r.scenario.Config.Cluster.Nodes[n].Allocatable[topology.GPU]
	}
	on := map[pod]int32{}
	release := func(p pod) {
		if n, ok := on[p]; ok {
			free[n] += r.gpusOf(p.job, p.rank)
			delete(on, p)
		}
	}
	for _, t := range r.transitions {
		if t.Time > ns {
			break
		}
		switch p := (pod{t.Job, t.Rank}); t.Kind {
		case sim.Bind:
			on[p] = t.Place
			free[t.Place] -= r.gpusOf(t.Job, t.Rank)
		case sim.Finish, sim.Fail, sim.Evict, sim.Deactivate:
			for other := range maps.Clone(on) {
				if other.job == t.Job && (t.Rank < 0 || other.rank == t.Rank) {
					release(other)
				}
			}
		}
	}
	return free
}

// gpusOf is what one pod of a job asks for, in milli-GPU.
func (r *ran) gpusOf(job, rank int32) int64 {
	for i := range r.scenario.Config.Jobs[job].PodSets {
		s := &r.scenario.Config.Jobs[job].PodSets[i]
		if rank < s.Count {
			return s.Request[topology.GPU]
		}
		rank -= s.Count
	}
	return 0
}

// freeGPUsAt answers free_gpus_at_SECONDS.
func (r *ran) freeGPUsAt(at string) (any, error) {
	s, err := strconv.ParseFloat(at, 64)
	if err != nil {
		return nil, cannot("the time %q", at)
	}
	return r.freeAt(int64(s * 1e9)), nil
}

// largestFreeBlock is the most free GPUs of one node when the last job was submitted: what
// the job that all others were in the way of has met.
func (r *ran) largestFreeBlock() (any, error) {
	last := int64(0)
	for i := range r.result.Jobs {
		last = max(last, r.result.Jobs[i].Submit)
	}
	return float64(slices.Max(r.freeByNode(last))) / topology.Milli, nil
}
