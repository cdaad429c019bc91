package policies

import (
	"slices"

	"github.com/gangplan/gangplan/policies/stage"
	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/workloads"
)

// This file is how the kube Binder heeds what the pods of a job ask of each other: pod
// affinity and anti-affinity, and topology spread constraints. They are judged pod by
// pod, against the pods that are bound already: none knows how many are still to come.

// terms is what the pods of one job ask of each other, by levels of the cluster.
type terms struct {
	affinity, against []workloads.PodTerm
	spread            []workloads.SpreadConstraint
	near, apart, over []int32 // the levels of the three
	levels            []int32 // all of them, each once
	classes           []int32 // of the job's pods that wait
}

// resetTerms reads the terms of all jobs.
func (k *kube) resetTerms(v sim.View) {
	k.terms = nil
	for j := range int32(v.Jobs()) {
		job := v.Job(j)
		if len(job.Affinity)+len(job.AntiAffinity)+len(job.Spread) == 0 {
			continue
		}
		if k.terms == nil {
			k.terms = make([]*terms, v.Jobs())
			k.counts = make([]int32, len(v.Cluster().Domains))
		}
		t := &terms{affinity: job.Affinity, against: job.AntiAffinity, spread: job.Spread}
		add := func(to *[]int32, level string) {
			at := v.Cluster().Level(level)
			*to = append(*to, at)
			if !slices.Contains(t.levels, at) {
				t.levels = append(t.levels, at)
			}
		}
		for i := range t.affinity {
			add(&t.near, t.affinity[i].Level)
		}
		for i := range t.against {
			add(&t.apart, t.against[i].Level)
		}
		for i := range t.spread {
			add(&t.over, t.spread[i].Level)
		}
		k.terms[j] = t
	}
}

// termsOf returns the terms of a pod's job, or nil.
func (k *kube) termsOf(v sim.View, pod int32) *terms {
	if k.terms == nil {
		return nil
	}
	return k.terms[v.JobOf(pod)]
}

// count counts the bound pods of a job per domain of the levels its terms name.
func (k *kube) count(v sim.View, j int32, t *terms) {
	clear(k.counts)
	k.placed = 0
	first, last := v.PodsOf(j)
	for p := first; p < last; p++ {
		if s := v.PodState(p); s != sim.PodStarting && s != sim.PodReady {
			continue
		}
		k.placed++
		for _, level := range t.levels {
			k.counts[v.Cluster().DomainOf(v.NodeOf(p), level)]++
		}
	}
	k.fewest = k.fewest[:0]
	for _, level := range t.over {
		first, last := v.Cluster().DomainsAt(level)
		k.fewest = append(k.fewest, slices.Min(k.counts[first:last]))
	}
}

// allows reports whether the terms that are required let a pod onto a node. The first pod
// of a job may go anywhere: otherwise affinity to each other would keep all away.
func (k *kube) allows(v sim.View, pod, node int32, t *terms) bool {
	at := func(level int32) int32 { return k.counts[v.Cluster().DomainOf(node, level)] }
	for i, level := range t.near {
		if t.affinity[i].Weight == 0 && k.placed > 0 && at(level) == 0 {
			return false
		}
	}
	for i, level := range t.apart {
		if t.against[i].Weight == 0 && at(level) > 0 {
			return false
		}
	}
	for i, level := range t.over {
		// A pod that is pinned has one domain only, with which none is compared.
		if !t.spread[i].Soft && v.Pin(pod) < 0 && at(level)+1-k.fewest[i] > t.spread[i].MaxSkew {
			return false
		}
	}
	return true
}

// pickByTerms looks at node after node, as sample does, for a pod whose job has terms.
func (k *kube) pickByTerms(v sim.View, pod int32, want *stage.Want, enough int, t *terms) int32 {
	k.window = k.window[:0]
	looked := 0
	for ; looked < len(k.order) && len(k.window) < enough; looked++ {
		node := k.order[(k.start+looked)%len(k.order)]
		if k.fleet.Rate(want, node) != stage.NotFeasible && mayGo(v, pod, node) && k.allows(v, pod, node, t) {
			k.window = append(k.window, node)
		}
	}
	k.start = (k.start + looked) % len(k.order)
	k.totals = k.fleet.Totals(want, k.window, k.totals[:0])
	if k.scorer == "" {
		k.addAffinity(v, t)
		k.addSpread(v, t)
	}
	return k.bestOfWindow(v, pod)
}

// bestOfWindow returns the node of the window with the highest total, or -1.
func (k *kube) bestOfWindow(v sim.View, pod int32) int32 {
	best := int32(-1)
	for i, node := range k.window {
		if best < 0 || k.totals[i] > k.totals[best] || k.totals[i] == k.totals[best] && k.before(v, pod, node, k.window[best]) {
			best = int32(i)
		}
	}
	if best < 0 {
		return -1
	}
	return k.window[best]
}

// before reports whether a node wins over another with the same score.
func (k *kube) before(v sim.View, pod, node, other int32) bool {
	if k.randomTies {
		return k.lot(v, pod, node) < k.lot(v, pod, other)
	}
	return node < other
}

// addAffinity adds the score of InterPodAffinity. What a pod prefers its siblings prefer
// of it, so each preference counts twice; what they require of it counts 1.
func (k *kube) addAffinity(v sim.View, t *terms) {
	if len(t.affinity)+len(t.against) == 0 {
		return
	}
	k.raw = k.raw[:0]
	for _, node := range k.window {
		score := int64(0)
		for i, level := range t.near {
			weight := max(1, 2*int64(t.affinity[i].Weight))
			score += weight * int64(k.counts[v.Cluster().DomainOf(node, level)])
		}
		for i, level := range t.apart {
			score -= 2 * int64(t.against[i].Weight) * int64(k.counts[v.Cluster().DomainOf(node, level)])
		}
		k.raw = append(k.raw, score)
	}
	stage.NormalizeAffinity(k.raw)
	k.add(stage.InterPodAffinity)
}

// addSpread adds the score of PodTopologySpread, which the soft constraints make.
func (k *kube) addSpread(v sim.View, t *terms) {
	k.raw, k.soft = k.raw[:0], k.soft[:0]
	for i, level := range t.over {
		if t.spread[i].Soft {
			k.soft = append(k.soft, stage.SpreadTerm{MaxSkew: int64(t.spread[i].MaxSkew), Domains: k.domains(v, level)})
		}
	}
	if len(k.soft) == 0 {
		return
	}
	for _, node := range k.window {
		at := 0
		for i, level := range t.over {
			if t.spread[i].Soft {
				k.soft[at].Matching = int64(k.counts[v.Cluster().DomainOf(node, level)])
				at++
			}
		}
		k.raw = append(k.raw, stage.SpreadScore(k.soft))
	}
	stage.NormalizeSpread(k.raw)
	k.add(stage.PodTopologySpread)
}

// domains counts the domains of a level that have nodes of the window.
func (k *kube) domains(v sim.View, level int32) int64 {
	k.seen = k.seen[:0]
	for _, node := range k.window {
		k.seen = append(k.seen, v.Cluster().DomainOf(node, level))
	}
	slices.Sort(k.seen)
	return int64(len(slices.Compact(k.seen)))
}

// add adds the raw scores of a plugin to the totals by its weight.
func (k *kube) add(p stage.Plugin) {
	for i, s := range k.raw {
		k.totals[i] += k.profile.Weights[p] * s
	}
}

// wakeSiblings lets the waiting pods of a job with terms be tried again when one of them
// was bound or is gone: that can be what they waited for.
func (k *kube) wakeSiblings(v sim.View, j int32, now int64) {
	if k.terms == nil || k.terms[j] == nil {
		return
	}
	for _, class := range k.terms[j].classes {
		k.waiting.Wake(class)
	}
	if k.queue != nil && len(k.terms[j].classes) > 0 {
		k.queue.Rouse(k.podsOf(v, j), now)
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

// forget takes a class off the list of those that wait.
func (t *terms) forget(class int32) {
	t.classes = slices.DeleteFunc(t.classes, func(c int32) bool { return c == class })
}
