package stage

import (
	"slices"
	"strconv"

	"github.com/gangplan/gangplan/topology"
)

// Toleration lets a pod onto nodes with a taint, as in a pod's spec: an empty Key with
// Exists tolerates all, an empty Effect every effect.
type Toleration struct {
	Key, Value, Effect string
	Exists             bool
}

func (t *Toleration) tolerates(taint *topology.Taint) bool {
	switch {
	case t.Effect != "" && t.Effect != taint.Effect:
		return false
	case t.Key != "" && t.Key != taint.Key:
		return false
	case t.Exists:
		return true
	}
	return t.Key != "" && t.Value == taint.Value
}

// Operator compares a node's label with the values of a requirement.
type Operator uint8

// The operators of node affinity.
const (
	In Operator = iota
	NotIn
	Exists
	DoesNotExist
	Gt
	Lt
)

// Requirement is one condition on a label of a node.
type Requirement struct {
	Key      string
	Operator Operator
	Values   []string
}

func (r *Requirement) matches(labels map[string]string) bool {
	value, has := labels[r.Key]
	switch r.Operator {
	case In:
		return has && slices.Contains(r.Values, value)
	case NotIn:
		return !has || !slices.Contains(r.Values, value)
	case Exists:
		return has
	case DoesNotExist:
		return !has
	}
	if !has || len(r.Values) != 1 {
		return false
	}
	have, err := strconv.ParseInt(value, 10, 64)
	want, err2 := strconv.ParseInt(r.Values[0], 10, 64)
	if err != nil || err2 != nil {
		return false
	}
	return r.Operator == Gt && have > want || r.Operator == Lt && have < want
}

// Filter is what a PodSet asks of nodes beside room: every requirement of Selector, one
// of the terms of Affinity with every requirement, and no taint that is not tolerated.
type Filter struct {
	Tolerations []Toleration
	Selector    []Requirement
	Affinity    [][]Requirement // empty: no affinity
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
		switch taint := f.untolerated(n.Taints); {
		case taint != nil:
			v.of[i] = Tainted + v.taint(taint)
		case !matchesAll(f.Selector, n.Labels):
			v.of[i] = NotSelected
		case !f.affine(n.Labels):
			v.of[i] = NotAffine
		}
		v.Skip[i] = v.of[i] != Accepted
	}
	return v
}

// untolerated returns the first taint that keeps the pod off.
func (f *Filter) untolerated(taints []topology.Taint) *topology.Taint {
	for i := range taints {
		t := &taints[i]
		if t.Effect != "NoSchedule" && t.Effect != "NoExecute" {
			continue
		}
		if !slices.ContainsFunc(f.Tolerations, func(o Toleration) bool { return o.tolerates(t) }) {
			return t
		}
	}
	return nil
}

func (f *Filter) affine(labels map[string]string) bool {
	return len(f.Affinity) == 0 || slices.ContainsFunc(f.Affinity, func(term []Requirement) bool {
		return len(term) > 0 && matchesAll(term, labels)
	})
}

func matchesAll(list []Requirement, labels map[string]string) bool {
	for i := range list {
		if !list[i].matches(labels) {
			return false
		}
	}
	return true
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
