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

// Problem says what is wrong with a requirement by Kubernetes' rules, naming the field: key,
// operator or values. An empty text means nothing.
func (r *Requirement) Problem() (field, problem string) {
	switch {
	case r.Key == "":
		return "key", "missing: expected the name of a label"
	case (r.Operator == In || r.Operator == NotIn) && len(r.Values) == 0:
		return "values", "missing: expected at least one beside In or NotIn"
	case (r.Operator == Exists || r.Operator == DoesNotExist) && len(r.Values) > 0:
		return "values", "expected none beside Exists or DoesNotExist"
	case r.Operator != Gt && r.Operator != Lt:
		return "", ""
	case len(r.Values) != 1:
		return "values", "expected one whole number beside Gt or Lt"
	}
	if _, err := strconv.ParseInt(r.Values[0], 10, 64); err != nil {
		return "values", strconv.Quote(r.Values[0]) + ": expected one whole number beside Gt or Lt"
	}
	return "", ""
}

// Term is a set of requirements, all of which must hold. An empty one never does.
type Term []Requirement

// Matches reports whether a node with the labels meets the term.
func (t Term) Matches(labels map[string]string) bool { return len(t) > 0 && MatchAll(t, labels) }

// PreferredTerm is a term that makes a node better by its weight, 1 to 100.
type PreferredTerm struct {
	Weight int32
	Term   Term
}

// NodeAffinity is what a pod asks of the labels of nodes beyond a selector: that one of the
// required terms holds, if there are any. Preferred terms are for schedulers that score.
type NodeAffinity struct {
	Required  []Term
	Preferred []PreferredTerm
}

// Allows reports whether a node with the labels meets what is required.
func (a *NodeAffinity) Allows(labels map[string]string) bool {
	return len(a.Required) == 0 || slices.ContainsFunc(a.Required, func(t Term) bool { return t.Matches(labels) })
}

// Score is the sum of the weights of the preferred terms that a node with the labels meets.
func (a *NodeAffinity) Score(labels map[string]string) (sum int64) {
	for i := range a.Preferred {
		if a.Preferred[i].Term.Matches(labels) {
			sum += int64(a.Preferred[i].Weight)
		}
	}
	return sum
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
