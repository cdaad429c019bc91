package topology

import (
	"slices"
	"strconv"
)

// Toleration lets a pod onto nodes with a taint, as in a pod's spec: an empty Key with
// Exists tolerates all, an empty Effect every effect.
type Toleration struct {
	Key, Value, Effect string
	Exists             bool
}

// Tolerates reports whether the toleration lets a pod onto nodes with the taint.
func (t *Toleration) Tolerates(taint *Taint) bool {
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

// Matches reports whether a node with the labels meets the requirement.
func (r *Requirement) Matches(labels map[string]string) bool {
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

// Untolerated returns the first taint that keeps a pod off a node, or nil. Taints that
// only ask the scheduler to prefer other nodes keep nobody off.
func Untolerated(taints []Taint, tolerations []Toleration) *Taint {
	for i := range taints {
		t := &taints[i]
		if t.Effect != "NoSchedule" && t.Effect != "NoExecute" {
			continue
		}
		if !slices.ContainsFunc(tolerations, func(o Toleration) bool { return o.Tolerates(t) }) {
			return t
		}
	}
	return nil
}

// MatchAll reports whether a node with the labels meets every requirement.
func MatchAll(list []Requirement, labels map[string]string) bool {
	for i := range list {
		if !list[i].Matches(labels) {
			return false
		}
	}
	return true
}
