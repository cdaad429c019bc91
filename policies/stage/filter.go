package stage

import (
	"slices"

	"github.com/gangplan/gangplan/topology"
)

// Tolerations and requirements are those of package topology.
type (
	Toleration  = topology.Toleration
	Operator    = topology.Operator
	Requirement = topology.Requirement
)

// The operators of node affinity.
const (
	In           = topology.In
	NotIn        = topology.NotIn
	Exists       = topology.Exists
	DoesNotExist = topology.DoesNotExist
	Gt           = topology.Gt
	Lt           = topology.Lt
)

// Filter is what a PodSet asks of nodes beside room: every requirement of Selector, what
// Affinity requires, and no taint that is not tolerated.
type Filter struct {
	Tolerations []Toleration
	Selector    []Requirement
	Affinity    topology.NodeAffinity
}

// Verdict is what a filter says of a node.
type Verdict uint16

// A node is accepted, not selected, outside the affinity, or, from Tainted on, has the
// taint of that number.
const (
	Accepted Verdict = iota
	NotSelected
	NotAffine
	Tainted
)

// Verdicts is what a filter says of every node.
type Verdicts struct {
	of     []Verdict
	Skip   []bool // the same as yes or no, for Leaves.Fill
	taints []string
}

// Apply judges every node, taints first, then the selector, then the affinity.
func (f *Filter) Apply(c *topology.Cluster) *Verdicts {
	v := &Verdicts{of: make([]Verdict, len(c.Nodes)), Skip: make([]bool, len(c.Nodes))}
	for i := range c.Nodes {
		n := &c.Nodes[i]
		switch taint := topology.Untolerated(n.Taints, f.Tolerations); {
		case taint != nil:
			v.of[i] = Tainted + v.taint(taint)
		case !topology.MatchAll(f.Selector, n.Labels):
			v.of[i] = NotSelected
		case !f.Affinity.Allows(n.Labels):
			v.of[i] = NotAffine
		}
		v.Skip[i] = v.of[i] != Accepted
	}
	return v
}

// taint numbers a taint by its text.
func (v *Verdicts) taint(t *topology.Taint) Verdict {
	text := t.Key
	if t.Value != "" {
		text += "=" + t.Value
	}
	text += ":" + t.Effect
	i := slices.Index(v.taints, text)
	if i < 0 {
		i = len(v.taints)
		v.taints = append(v.taints, text)
	}
	return Verdict(i)
}
