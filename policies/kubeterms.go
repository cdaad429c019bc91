package policies

import (
	"math/bits"
	"slices"

	"github.com/gangplan/gangplan/policies/stage"
	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/sim/order"
	"github.com/gangplan/gangplan/topology"
)

// This file is how the kube Binder heeds what pods ask of each other when it looks for a
// node, and how a pod that comes or goes wakes those that wait because of others.

// whyNot is what terms have against a node.
type whyNot uint8

const (
	uneven   whyNot = 1 << iota // a topology spread constraint
	unfriend                    // affinity or anti-affinity
)

// askOf returns what the pods of a pod's PodSet ask and are asked; nil if that is nothing.
func (k *kube) askOf(v sim.View, pod int32) *ask {
	if k.tallies == nil {
		return nil
	}
	first, _ := v.SetsOf(v.JobOf(pod))
	a := &k.tallies.of[v.JobOf(pod)].sets[v.SetOf(pod)-first]
	if len(a.reads) == 0 {
		return nil
	}
	return a
}

// prepare works out what all nodes have in common for a pod: the fewest pods of a domain.
func (k *kube) prepare(v sim.View, pod int32, a *ask) {
	k.fewest = k.fewest[:0]
	if a == nil {
		return
	}
	c := v.Cluster()
	only := domainOf(v, pod)
	for i := range a.skew {
		s := &a.skew[i]
		first, last := c.DomainsAt(s.level)
		from, to := first, last
		if only >= 0 && !s.all { // what keeps a pod in a domain is a node selector
			from, to = c.DomainOf(c.Domains[only].First, s.level), c.DomainOf(c.Domains[only].Last-1, s.level)+1
		}
		k.fewest = append(k.fewest, k.tallies.fewest(k.tallies.get(v.JobOf(pod), s.ref), s, from-first, to-first))
	}
}

// against returns what is against a node: 0 if the terms that are required let the pod on.
func (k *kube) against(j, node int32, a *ask) whyNot {
	t := k.tallies
	for i := range a.skew {
		s := &a.skew[i]
		if t.on(t.get(j, s.ref), node)+s.self-k.fewest[i] > s.most {
			return uneven
		}
	}
	if !k.near(j, node, a) {
		return unfriend
	}
	for _, r := range a.forbid {
		if t.on(t.get(j, r), node) > 0 {
			return unfriend
		}
	}
	return 0
}

// near reports whether the pods are on a node that the affinity of a job's pods requires. The
// first of its kind may go anywhere: else none ever could.
func (k *kube) near(j, node int32, a *ask) bool {
	for i, r := range a.need {
		y := k.tallies.get(j, r)
		if i == 0 && y.total == 0 && a.first {
			return true
		}
		if k.tallies.on(y, node) == 0 {
			return false
		}
	}
	return true
}

// allows is against for a pod that may ask nothing.
func (k *kube) allows(v sim.View, pod, node int32, a *ask) bool {
	return a == nil || k.against(v.JobOf(pod), node, a) == 0
}

// rateTerms fills in the raw scores of InterPodAffinity and PodTopologySpread of the nodes
// looked at.
func (k *kube) rateTerms(v sim.View, pod int32, a *ask) {
	if k.scorer != "" {
		return
	}
	t, j := k.tallies, v.JobOf(pod)
	for _, w := range a.near {
		y := t.get(j, w.ref)
		for i := range k.list {
			k.list[i].Raw[stage.InterPodAffinity] += w.weight * int64(t.on(y, k.list[i].Node))
		}
	}
	if len(a.soft) == 0 {
		return
	}
	k.softs = k.softs[:0]
	k.markFeasible(v, pod, a)
	for i := range a.soft {
		k.softs = append(k.softs, stage.SpreadTerm{MaxSkew: int64(a.soft[i].most), Domains: k.domains(v, a.soft[i].level)})
	}
	clear(k.marks)
	for i := range k.list {
		for s := range a.soft {
			k.softs[s].Matching = int64(t.on(t.get(j, a.soft[s].ref), k.list[i].Node))
		}
		k.list[i].Raw[stage.PodTopologySpread] = stage.SpreadScore(k.softs)
	}
}

// markFeasible marks the feasible nodes that were looked at: of stretches not only the first
// of each class.
func (k *kube) markFeasible(v sim.View, pod int32, a *ask) {
	if k.sampled {
		for i := range k.list {
			n := k.list[i].Node
			k.marks[n>>6] |= 1 << (n & 63)
		}
		return
	}
	for i := 1; i < len(k.cuts); i++ {
		if k.allows(v, pod, k.cuts[i-1], a) {
			k.fleet.Mark(k.want(v, pod), k.cuts[i-1], k.cuts[i], k.marks)
		}
	}
}

// domains counts the domains of a level that have marked nodes.
func (k *kube) domains(v sim.View, level int32) (n int64) {
	c := v.Cluster()
	if level == c.HostLevel() {
		for _, word := range k.marks {
			n += int64(bits.OnesCount64(word))
		}
		return n
	}
	first, last := c.DomainsAt(level)
	for d := first; d < last; d++ {
		if stage.AnyMarked(k.marks, c.Domains[d].First, c.Domains[d].Last) {
			n++
		}
	}
	return n
}

// Pods appear and leave: every tally that counts one is changed, and wakes who waits for it.

// came counts a pod that was bound.
func (k *kube) came(v sim.View, j, node int32, now int64) {
	if k.tallies != nil {
		k.tallies.open(j)
		k.count(v, j, node, 1, now, func(*census) bool { return true })
	}
}

// left counts a pod out: of the tallies of spreading when it is told to end, of the others
// when it is gone.
func (k *kube) left(v sim.View, s sim.Signal) {
	if k.tallies == nil || s.Job < 0 {
		return
	}
	k.count(v, s.Job, s.Place, -1, s.At, func(y *census) bool {
		switch {
		case s.Kind == sim.PodLeaving:
			return y.spread
		case s.Pod < 0: // it was told to end before
			return !y.spread
		}
		return true
	})
	k.tallies.close(s.Job)
}

// count changes the tallies in which the pods of a job count, and that are concerned.
func (k *kube) count(v sim.View, j, node, by int32, now int64, concerns func(*census) bool) {
	t := k.tallies
	for _, r := range t.of[j].counted {
		if r < 0 && t.own[j] == nil {
			continue // all its pods were told to end before
		}
		if y := t.get(j, r); concerns(y) && y.change(node, t.domain(y, node), by, t.scopes) {
			k.wakeReaders(v, y, by, now)
		}
	}
}

// wakeReaders lets the classes be tried again that a change of a tally can help. Those that
// the terms kept away when they were tried last are woken by it, as the plugins' queueing
// hints have it.
func (k *kube) wakeReaders(v sim.View, y *census, by int32, now int64) {
	for _, w := range y.waiting {
		c := &k.classes[w.class]
		helps := w.how == evens || w.how == needs && by > 0 || w.how == shuns && by < 0
		if helps || w.how == needs && y.total == 0 {
			k.waiting.Wake(w.class)
		}
		kept := unfriend
		if w.how == evens {
			kept = uneven
		}
		if k.queue == nil || !helps || c.kept&kept == 0 {
			continue
		}
		if c.job >= 0 {
			k.queue.Rouse(k.podsOf(v, c.job), now)
		} else {
			k.queue.RouseIf(func(class int32) bool { return class == w.class }, now)
		}
	}
}

// podsOf lists the pods of a job.
func (k *kube) podsOf(v sim.View, j int32) []int32 {
	k.listed = k.listed[:0]
	first, last := v.PodsOf(j)
	for p := first; p < last; p++ {
		k.listed = append(k.listed, p)
	}
	return k.listed
}

// enrol lets a class of pods of a job hear of what it waits for; with false no more.
func (k *kube) enrol(class, j int32, a *ask, in bool) {
	each := func(r ref, h how) {
		y := k.tallies.get(j, r)
		if in {
			y.waiting = append(y.waiting, reader{class, h})
		} else {
			y.waiting = slices.DeleteFunc(y.waiting, func(w reader) bool { return w.class == class })
		}
	}
	for _, r := range a.need {
		each(r, needs)
	}
	for _, r := range a.forbid {
		each(r, shuns)
	}
	for i := range a.skew {
		each(a.skew[i].ref, evens)
	}
	for i := range a.soft {
		each(a.soft[i].ref, rates)
	}
	for i := range a.near {
		each(a.near[i].ref, rates)
	}
}

// owns reports whether what a class reads is told apart by job.
func (a *ask) owns() bool { return slices.ContainsFunc(a.reads, func(r ref) bool { return r < 0 }) }

// keptBy returns what the terms have against the nodes that have room for a pod.
func (k *kube) keptBy(v sim.View, pod int32, a *ask) (kept whyNot) {
	if a == nil || k.queue == nil {
		return 0
	}
	k.cutAt(v, pod, a)
	for i := 1; i < len(k.cuts); i++ {
		first, last := k.cuts[i-1], k.cuts[i]
		if why := k.against(v.JobOf(pod), first, a); why&^kept != 0 {
			if k.list = k.fleet.Between(k.want(v, pod), first, last, k.list[:0]); len(k.list) > 0 {
				kept |= why
			}
		}
	}
	return kept
}

// promisedTo is what of a node is promised to pods at least as important as the one at hand.
func (k *kube) promisedTo(node int32) (sum topology.Resources) {
	for _, p := range k.nominees {
		if p != k.hand && k.view.NominatedNode(p) == node && k.priorityOf(p) >= k.priorityOf(k.hand) {
			sum = sum.Plus(*k.view.PodRequest(k.view.SetOf(p)))
		}
	}
	return sum
}

func (k *kube) priorityOf(pod int32) int32 {
	if pod == order.None {
		return order.Highest
	}
	return k.view.Job(k.view.JobOf(pod)).Priority
}
