package policies

import (
	"slices"

	"github.com/gangplan/gangplan/internal/rng"
	"github.com/gangplan/gangplan/policies/stage"
	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/topology"
)

// This file is the kube Binder's preemption: a pod that fits nowhere pushes less important
// ones off a node, is promised the node, and waits until they are gone. It looks at single
// pods: it may break a gang for a pod of another that can never be whole.

// tryPreempt makes room for a pod if that helps, and reports whether it did, and whether
// the pod waits for room that was made.
func (k *kube) tryPreempt(tx *sim.Tx, pod int32) (made, waits bool) {
	if n := tx.NominatedNode(pod); n >= 0 && tx.Releasing(n) != (topology.Resources{}) {
		return false, true
	}
	victims := k.cheapestVictims(tx.View, pod)
	if len(victims) == 0 {
		return false, false
	}
	k.promised[pod] = victims[0].Node
	if !slices.Contains(k.nominees, pod) {
		k.nominees = append(k.nominees, pod)
	}
	tx.Nominate(pod, victims[0].Node)
	for i := range victims {
		tx.Preempt(victims[i].Pod)
	}
	return true, true
}

// space is what is free of a node and not promised to others that are as important.
func (k *kube) space(v sim.View, node int32) stage.Space {
	s := stage.Space{Free: v.Free(sim.Physical)[node].Minus(k.promisedTo(node))}
	if gpus := v.GPUs(); gpus != nil {
		s.GPUs, s.Shared = gpus[node], true
	}
	return s
}

// cheapestVictims tries nodes in order until enough were found that would do,
// and returns the pods to preempt on the best of them.
func (k *kube) cheapestVictims(v sim.View, pod int32) (best []stage.Victim) {
	lower := k.lessImportant(v, pod)
	if len(lower) == 0 {
		return nil
	}
	nodes := len(k.order)
	offset := k.preemptionOffset(v, pod)
	found := 0
	for i := range nodes {
		node := int32((offset + i) % nodes)
		victims, ok := k.victimsOn(v, pod, node, lower)
		if !ok || len(victims) == 0 {
			continue
		}
		if best == nil || stage.CheaperVictims(victims, best) {
			best = victims
		}
		if found++; found == stage.PreemptionCandidates(nodes) {
			break
		}
	}
	return best
}

// preemptionOffset is the node from which nodes are tried: any, where ties go by lot.
func (k *kube) preemptionOffset(v sim.View, pod int32) int {
	if !k.randomTies {
		return 0
	}
	first, _ := v.PodsOf(v.JobOf(pod))
	id := rng.ID2(rng.ID2(v.Stable(v.JobOf(pod)), uint64(pod-first)), 0)
	return int(rng.Below(rng.Hash(v.Seed(), rng.Tie, id, uint64(v.Attempt(pod))), uint64(len(k.order))))
}

// victimsOn returns which of the less important pods, sorted by node, must leave a node.
func (k *kube) victimsOn(v sim.View, pod, node int32, lower []stage.Victim) ([]stage.Victim, bool) {
	if v.Down(node) || !mayGo(v, pod, node) || !k.fleet.Resolvable(k.want(v, pod), node) || !k.allows(v, pod, node, k.askOf(v, pod)) {
		return nil, false
	}
	byNode := func(x stage.Victim, n int32) int { return int(x.Node - n) }
	from, there := slices.BinarySearchFunc(lower, node, byNode)
	if !there {
		return nil, false
	}
	to, _ := slices.BinarySearchFunc(lower, node+1, byNode)
	return stage.Reprieve(k.space(v, node), k.want(v, pod), lower[from:to])
}

// lessImportant lists the bound pods of lower priority, by node.
func (k *kube) lessImportant(v sim.View, pod int32) (lower []stage.Victim) {
	priority := v.Job(v.JobOf(pod)).Priority
	for _, j := range v.Active() {
		if v.Job(j).Priority >= priority {
			continue
		}
		first, last := v.PodsOf(j)
		for p := first; p < last; p++ {
			if s := v.PodState(p); s != sim.PodStarting && s != sim.PodReady {
				continue
			}
			lower = append(lower, stage.Victim{Pod: p, Node: v.NodeOf(p), Priority: v.Job(j).Priority, Started: k.started[p],
				Request: *v.PodRequest(v.SetOf(p)), GPUs: v.GPUsOf(p), Milli: v.Ask(v.SetOf(p)).Milli})
		}
	}
	slices.SortStableFunc(lower, func(a, b stage.Victim) int {
		if a.Node != b.Node {
			return int(a.Node - b.Node)
		}
		return int(a.Pod - b.Pod)
	})
	return lower
}
