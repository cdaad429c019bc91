package topology

import (
	"maps"
	"slices"
)

// Flavor is a kind of nodes that quota is given for: a ResourceFlavor of Kueue. A job that
// is admitted with it gets its pods onto nodes that have its labels, with its tolerations
// added to their own.
type Flavor struct {
	Name        string
	Labels      map[string]string // of its nodes
	Models      []string          // GPU models of its nodes; empty is any
	Taints      []Taint           // who does not tolerate these cannot have the flavor
	Tolerations []Toleration
}

// Has reports whether a node is of the flavor.
func (f *Flavor) Has(n *Node) bool {
	for _, key := range slices.Sorted(maps.Keys(f.Labels)) {
		if value, ok := n.Labels[key]; !ok || value != f.Labels[key] {
			return false
		}
	}
	return len(f.Models) == 0 || slices.Contains(f.Models, n.GPUModel)
}

// Tolerated reports whether pods with the tolerations may have the flavor.
func (f *Flavor) Tolerated(by []Toleration) bool {
	return Untolerated(f.Taints, slices.Concat(by, f.Tolerations)) == nil
}

// Wanted reports whether the flavor has what a selector and an affinity ask of the label
// keys that the flavors of its resource group have. Other keys are for the scheduler to
// judge. A term of which no key is known lets every flavor pass.
func (f *Flavor) Wanted(selector []Requirement, affinity *NodeAffinity, known map[string]bool) bool {
	if !MatchAll(restrict(selector, known), f.Labels) {
		return false
	}
	terms := make([]Term, 0, len(affinity.Required))
	for _, t := range affinity.Required {
		if t = restrict(t, known); len(t) == 0 {
			return true
		}
		terms = append(terms, t)
	}
	return (&NodeAffinity{Required: terms}).Allows(f.Labels)
}

func restrict(list []Requirement, known map[string]bool) []Requirement {
	var out []Requirement
	for _, r := range list {
		if known[r.Key] {
			out = append(out, r)
		}
	}
	return out
}
