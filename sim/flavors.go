package sim

import (
	"fmt"
	"slices"

	"github.com/gangplan/gangplan/sim/capacity"
	"github.com/gangplan/gangplan/sim/quota"
	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/workloads"
)

// Flavors restrict the nodes of the pods that are admitted with them. What a PodSet asks of
// nodes therefore has variants: without a flavor while its job waits, and one for every
// choice of a flavor per resource group of its queue. All are known before the run begins.

// maxVariants bounds the choices of flavors that one queue offers.
const maxVariants = 256

// variant is what a PodSet asks of nodes with a choice of flavors, as a bit set.
type variant struct {
	flavors uint64
	filter  int32
	shape   capacity.Shape
}

// variantKey identifies PodSets that ask for the same of the same queue.
type variantKey struct {
	shape capacity.Shape
	asks  string // of labels and taints, which a shape says the outcome of
	queue int32
}

// buildFlavors checks the flavors and lists, per queue, the choices it offers.
func (w *world) buildFlavors() error {
	if len(w.cfg.Flavors) == 0 {
		return nil
	}
	if len(w.cfg.Flavors) > 64 {
		return fmt.Errorf("there are %d flavors, at most 64 are supported", len(w.cfg.Flavors))
	}
	if n := w.quota.FRs() / quota.Resources; n > len(w.cfg.Flavors) {
		return fmt.Errorf("quota is given for flavor %d of %d", n, len(w.cfg.Flavors))
	}
	w.choices, w.variants = make([][]uint64, w.quota.Len()), map[variantKey][]variant{}
	w.flavored = make([]uint64, len(w.cfg.Cluster.Nodes))
	for n := range w.flavored {
		for f := range w.cfg.Flavors {
			if w.cfg.Flavors[f].Has(&w.cfg.Cluster.Nodes[n]) {
				w.flavored[n] |= 1 << f
			}
		}
	}
	for q := range w.choices {
		w.choices[q] = []uint64{0}
		for _, g := range w.quota.Groups(int32(q)) {
			w.choices[q] = times(w.choices[q], &g)
		}
		if n := len(w.choices[q]); n > maxVariants {
			return fmt.Errorf("queue %q offers %d choices of flavors, at most %d are supported", w.cfg.Queues[q].Name, n, maxVariants)
		}
	}
	return nil
}

// times adds the choice of no flavor of a group, where a PodSet asks for none of its
// resources, or of one of them.
func times(choices []uint64, g *quota.Group) []uint64 {
	out := choices
	for _, f := range g.Flavors {
		for _, c := range choices {
			out = append(out, c|1<<f.Flavor)
		}
	}
	return out
}

// flavorSet prepares a PodSet for all flavors it could be admitted with.
func (w *world) flavorSet(s *set, ps *workloads.PodSet, queue int32) {
	if w.choices == nil {
		return
	}
	key := variantKey{shape: s.shape, asks: w.asksOf(ps), queue: queue}
	if _, ok := w.variants[key]; !ok {
		var list []variant
		for _, c := range w.choices[queue] {
			filter := w.filterOf(ps, c)
			list = append(list, variant{c, filter, w.shapeOf(s.request, s.models, filter)})
		}
		w.variants[key] = list
	}
	s.variants = w.variants[key]
	s.tainted, s.mismatched = w.refusals(ps, queue)
	for i := range s.variants {
		if w.suits(s, queue, s.variants[i].flavors) {
			s.suited = append(s.suited, int32(i))
		}
	}
}

// suits reports whether a PodSet could be admitted with a choice of flavors: one for each
// resource it asks for that its queue has quota for, and none it cannot have.
func (w *world) suits(s *set, queue int32, choice uint64) bool {
	if choice&(s.tainted|s.mismatched) != 0 {
		return false
	}
	for _, g := range w.quota.Groups(queue) {
		asked := false
		for r := range g.Covers {
			asked = asked || g.Covers[r] && s.request[r] > 0 && !w.cfg.Check.Excluded[r]
		}
		given := slices.ContainsFunc(g.Flavors, func(f quota.FlavorQuota) bool { return choice>>f.Flavor&1 == 1 })
		if asked != given {
			return false
		}
	}
	return true
}

// offered reports whether a node is of flavors that a PodSet could be admitted with.
func (e *Engine) offered(st *set, node int32) bool {
	if st.variants == nil || !e.policy.Readiness {
		return true
	}
	return slices.ContainsFunc(st.suited, func(i int32) bool {
		filter := st.variants[i].filter
		return filter == 0 || !e.barred[filter][node]
	})
}

// refusals returns the flavors of a queue that a PodSet cannot have: it does not tolerate
// them, or asks for other labels.
func (w *world) refusals(ps *workloads.PodSet, queue int32) (tainted, mismatched uint64) {
	tolerations := ps.Tolerated()
	for _, g := range w.quota.Groups(queue) {
		known := map[string]bool{}
		for _, f := range g.Flavors {
			//det:ok a set of keys does not depend on the order
			for key := range w.cfg.Flavors[f.Flavor].Labels {
				known[key] = true
			}
		}
		for _, fq := range g.Flavors {
			f := &w.cfg.Flavors[fq.Flavor]
			if !f.Tolerated(tolerations) {
				tainted |= 1 << fq.Flavor
			}
			if !f.Wanted(ps.NodeSelector, &ps.NodeAffinity, known) {
				mismatched |= 1 << fq.Flavor
			}
		}
	}
	return tainted, mismatched
}

// flavorsOf returns the flavors of a bit set.
func (w *world) flavorsOf(choice uint64) []*topology.Flavor {
	var out []*topology.Flavor
	for f := range w.cfg.Flavors {
		if choice>>f&1 == 1 {
			out = append(out, &w.cfg.Flavors[f])
		}
	}
	return out
}

// give restricts the pods of a PodSet to the nodes of some flavors, 0 for all nodes.
func (e *Engine) give(s int32, flavors uint64) {
	st := &e.sets[s]
	st.flavors = flavors
	for i := range st.variants {
		if v := &st.variants[i]; v.flavors == flavors {
			st.filter, st.shape = v.filter, v.shape
			return
		}
	}
	e.must(flavors == 0, "a PodSet is given flavors that its queue does not offer")
}
