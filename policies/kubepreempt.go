package policies

import (
	"slices"

	"github.com/gangplan/gangplan/internal/rng"
	"github.com/gangplan/gangplan/policies/stage"
	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/workloads"
)

// This file is the kube Binder's preemption: a pod that fits nowhere pushes less important
// ones off a node, is promised the node, and waits until they are gone. It looks at single
// pods: it may break a gang for a pod of another that can never be whole.

// tryPreempt makes room for a pod if that helps, and reports whether it did, and whether
// the pod waits for room that was made.
func (k *kube) tryPreempt(tx *sim.Tx, pod int32) (made, waits bool) {
	if tx.Job(tx.JobOf(pod)).NoPreempt {
		return false, false
	}
	if k.awaitsVictims(tx.View, pod) {
		return false, true
	}
	best := k.cheapest(tx.View, pod)
	if best == nil {
		return false, false
	}
	k.promise(tx, pod, best.Node)
	for i := range best.Victims {
		if !best.Victims[i].Leaving {
			tx.Preempt(best.Victims[i].Pod)
		}
	}
	return true, true
}

// awaitsVictims reports whether less important pods are leaving the node that a pod is
// promised, because of a preemption.
func (k *kube) awaitsVictims(v sim.View, pod int32) (waits bool) {
	n := v.NominatedNode(pod)
	if n < 0 || !k.fleet.Resolvable(k.want(v, pod), n) {
		return false
	}
	v.EachLeaving(func(l *sim.Leaving) {
		waits = waits || l.Node == n && l.Preempted && v.Job(l.Job).Priority < k.priorityOf(pod)
	})
	return waits
}

// promise promises a node to a pod. Less important ones lose what they were promised of it.
func (k *kube) promise(tx *sim.Tx, pod, node int32) {
	k.promised[pod] = node
	if !slices.Contains(k.nominees, pod) {
		k.nominees = append(k.nominees, pod)
	}
	tx.Nominate(pod, node)
	for _, p := range k.nominees {
		if p != pod && tx.NominatedNode(p) == node && k.priorityOf(p) < k.priorityOf(pod) {
			tx.Nominate(p, -1)
			if k.waiting.Contains(p) {
				k.reclass(tx.View, p)
			}
		}
	}
}

// space is what is free of a node and not promised to others that are as important.
func (k *kube) space(v sim.View, pod, node int32) stage.Space {
	s := stage.Space{Want: k.want(v, pod), Free: v.Free(sim.Physical)[node].Minus(k.promisedTo(node))}
	if gpus := v.GPUs(); gpus != nil {
		s.GPUs, s.Shared = gpus[node], true
	}
	return s
}

// trial is a node that is tried for a pod which asks something of others.
type trial struct {
	stage.Space
	k    *kube
	v    sim.View
	pod  int32
	node int32
	ask  *ask
}

// Take implements stage.Node: a victim that leaves does not count for others any more.
func (t *trial) Take(v *stage.Victim) {
	t.Space.Take(v)
	t.k.shift(t.v, v.Job, t.node, -1)
}

// Return implements stage.Node.
func (t *trial) Return(v *stage.Victim) {
	t.Space.Return(v)
	t.k.shift(t.v, v.Job, t.node, 1)
}

// Holds implements stage.Node.
func (t *trial) Holds() bool {
	t.k.prepare(t.v, t.pod, t.ask)
	return t.Space.Holds() && t.k.allows(t.v, t.pod, t.node, t.ask)
}

// shift counts a pod of a job in or out for as long as something is tried.
func (k *kube) shift(v sim.View, j, node, by int32) {
	t := k.tallies
	for _, r := range t.of[j].counted {
		y := t.get(j, r)
		y.change(node, t.domain(y, node), by, t.scopes)
	}
}

// cheapest tries nodes in order until enough were found that would do, one of them without a
// violation of a budget, and returns what hurts least, or nil.
func (k *kube) cheapest(v sim.View, pod int32) (best *stage.Sacrifice) {
	lower := k.lessImportant(v, pod)
	if len(lower) == 0 {
		return nil
	}
	nodes := k.resolvable(v, pod)
	k.allowBudgets(v)
	found, clean := 0, 0
	for i, offset := 0, k.preemptionOffset(v, pod, len(nodes)); i < len(nodes); i++ {
		s, ok := k.sacrificeOn(v, pod, nodes[(offset+i)%len(nodes)], lower)
		if !ok || len(s.Victims) == 0 {
			continue
		}
		if best == nil || s.Cheaper(best) {
			best = &s
		}
		if found++; s.Violations == 0 {
			clean++
		}
		if clean > 0 && found >= stage.PreemptionCandidates(len(nodes)) {
			break
		}
	}
	return best
}

// resolvable lists the nodes that a pod could run on if others left them, in the order of the
// cluster. Those without the pods that it must be near are none.
func (k *kube) resolvable(v sim.View, pod int32) (nodes []int32) {
	a, w := k.askOf(v, pod), k.want(v, pod)
	first, last := span(v, pod)
	for n := first; n < last; n++ {
		if !v.Closed(n) && k.fleet.Resolvable(w, n) && (a == nil || k.near(v.JobOf(pod), n, a)) {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// preemptionOffset is the node from which nodes are tried: any, where ties go by lot.
func (k *kube) preemptionOffset(v sim.View, pod int32, nodes int) int {
	if !k.randomTies || nodes == 0 {
		return 0
	}
	first, _ := v.PodsOf(v.JobOf(pod))
	id := rng.ID2(rng.ID2(v.Stable(v.JobOf(pod)), uint64(pod-first)), 0)
	return int(rng.Below(rng.Hash(v.Seed(), rng.Tie, id, uint64(v.Attempt(pod))), uint64(nodes)))
}

// sacrificeOn returns which of the less important pods, sorted by node, must leave a node.
func (k *kube) sacrificeOn(v sim.View, pod, node int32, lower []stage.Victim) (s stage.Sacrifice, ok bool) {
	byNode := func(x stage.Victim, n int32) int { return int(x.Node - n) }
	from, there := slices.BinarySearchFunc(lower, node, byNode)
	if !there {
		return s, false
	}
	to, _ := slices.BinarySearchFunc(lower, node+1, byNode)
	pods := lower[from:to]
	slices.SortStableFunc(pods, stage.MoreImportant)
	k.markViolations(v, pods)
	space := k.space(v, pod, node)
	if a := k.askOf(v, pod); a != nil {
		t := &trial{Space: space, k: k, v: v, pod: pod, node: node, ask: a}
		s, ok = stage.Reprieve(t, pods)
		k.putBack(t, pods, &s, ok)
	} else {
		s, ok = stage.Reprieve(&space, pods)
	}
	s.Node = node
	return s, ok
}

// putBack undoes what a trial did to the tallies.
func (k *kube) putBack(t *trial, pods []stage.Victim, s *stage.Sacrifice, ok bool) {
	off := s.Victims
	if !ok {
		off = pods
	}
	for i := range off {
		t.Return(&off[i])
	}
	k.prepare(t.v, t.pod, t.ask)
}

// lessImportant lists the bound pods of lower priority, by node; also those that are leaving.
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
			lower = append(lower, stage.Victim{Pod: p, Job: j, Node: v.NodeOf(p), Priority: v.Job(j).Priority, Started: k.started[p],
				Request: *v.PodRequest(v.SetOf(p)), GPUs: v.GPUsOf(p), Milli: v.Ask(v.SetOf(p)).Milli})
		}
	}
	v.EachLeaving(func(l *sim.Leaving) {
		if p := v.Job(l.Job).Priority; p < priority {
			lower = append(lower, stage.Victim{Pod: l.Pod, Job: l.Job, Node: l.Node, Priority: p, Started: k.started[l.Pod], Leaving: true,
				Request: l.Request, GPUs: l.GPUs, Milli: l.Milli})
		}
	})
	slices.SortStableFunc(lower, func(a, b stage.Victim) int {
		if a.Node != b.Node {
			return int(a.Node - b.Node)
		}
		return int(a.Pod - b.Pod)
	})
	return lower
}

// allowBudgets works out how many pods more each disruption budget lets go.
func (k *kube) allowBudgets(v sim.View) {
	budgets := v.Budgets()
	k.allowed = k.allowed[:0]
	for b := range budgets {
		var expected, ready int32
		for _, j := range v.Active() {
			if !covers(&budgets[b], v.Job(j)) {
				continue
			}
			first, last := v.PodsOf(j)
			expected += last - first
			for p := first; p < last; p++ {
				if v.PodState(p) == sim.PodReady {
					ready++
				}
			}
		}
		k.allowed = append(k.allowed, budgets[b].Allowed(expected, ready))
	}
}

// covers reports whether a budget is about the pods of a job. To the scheduler a budget that
// selects all pods selects none, and pods without labels have none.
func covers(b *workloads.Budget, j *workloads.Job) bool {
	return len(b.Of.Match) > 0 && len(j.Labels) > 0 && b.Namespace == j.Namespace && topology.MatchAll(b.Of.Match, j.Labels)
}

// markViolations notes which pods of a node, the most important first, would be one too many
// for a budget.
func (k *kube) markViolations(v sim.View, pods []stage.Victim) {
	budgets := v.Budgets()
	if len(budgets) == 0 {
		return
	}
	k.spared = append(k.spared[:0], k.allowed...)
	for i := range pods {
		pods[i].Violates = false
		for b := range budgets {
			if covers(&budgets[b], v.Job(pods[i].Job)) {
				k.spared[b]--
				pods[i].Violates = pods[i].Violates || k.spared[b] < 0
			}
		}
	}
}
