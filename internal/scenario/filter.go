package scenario

import (
	"maps"
	"slices"
	"strings"

	"github.com/gangplan/gangplan/internal/suggest"
	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/workloads"
)

// effects are those of taints; the last only asks to prefer other nodes.
var effects = []string{"NoSchedule", "NoExecute", "PreferNoSchedule"}

// taintsOf reads the taints of a node. An empty problem means that there is none.
func taintsOf(given []Taint) (taints []topology.Taint, problem string) {
	for _, t := range given {
		if !slices.Contains(effects, t.Effect) {
			return nil, quote(t.Effect) + ": expected the effect NoSchedule, NoExecute or PreferNoSchedule" + suggest.Hint(t.Effect, effects)
		}
		taints = append(taints, topology.Taint(t))
	}
	return taints, ""
}

// selector reads labels that a node must have, in the order of their names.
func selector(given map[string]string) (list []topology.Requirement) {
	for _, key := range slices.Sorted(maps.Keys(given)) {
		list = append(list, topology.Requirement{Key: key, Operator: topology.In, Values: []string{given[key]}})
	}
	return list
}

func (r *resolver) tolerations(p path, given []Toleration) (list []topology.Toleration) {
	for i, t := range given {
		at := p.to(i)
		exists := word(r, at.to("operator"), t.Operator, []string{"Equal", "Exists"}, false, true)
		switch {
		case t.Effect != "" && !slices.Contains(effects, t.Effect):
			r.fail(at.to("effect"), "%s: expected NoSchedule, NoExecute or PreferNoSchedule%s", quote(t.Effect), suggest.Hint(t.Effect, effects))
		case exists && t.Value != "":
			r.fail(at.to("value"), "expected none where the operator is Exists")
		case !exists && t.Key == "":
			r.fail(at.to("key"), "missing: expected the key of a taint, or the operator Exists to tolerate all")
		}
		list = append(list, topology.Toleration{Key: t.Key, Value: t.Value, Effect: t.Effect, Exists: exists})
	}
	return list
}

// operators are those of node affinity, in the order of topology.Operator.
var operators = []string{"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"}

// nodeAffinity reads what pods ask of the labels of nodes beyond a selector.
func (r *resolver) nodeAffinity(p path, given *NodeAffinity) (a topology.NodeAffinity) {
	if given == nil {
		return a
	}
	if len(given.Required)+len(given.Preferred) == 0 {
		r.fail(p, "expected terms that are required or preferred")
	}
	for i := range given.Required {
		t := &given.Required[i]
		if t.Weight != 0 {
			r.fail(p.to("required", i, "weight"), "expected none: only preferred terms have a weight")
		}
		a.Required = append(a.Required, r.nodeTerm(p.to("required", i, "matchExpressions"), t))
	}
	for i := range given.Preferred {
		t := &given.Preferred[i]
		if t.Weight < 1 || t.Weight > maxWeight {
			r.fail(p.to("preferred", i, "weight"), "expected a weight from 1 to %d", maxWeight)
		}
		a.Preferred = append(a.Preferred, topology.PreferredTerm{Weight: t.Weight, Term: r.nodeTerm(p.to("preferred", i, "matchExpressions"), t)})
	}
	return a
}

func (r *resolver) nodeTerm(p path, t *NodeTerm) (term topology.Term) {
	if len(t.MatchExpressions) == 0 {
		r.fail(p, "the list is empty: expected at least one")
	}
	for i, e := range t.MatchExpressions {
		if q, ok := r.requirement(p.to(i), &e); ok {
			term = append(term, q)
		}
	}
	return term
}

// requirement reads one condition on a label.
func (r *resolver) requirement(p path, e *Expression) (q topology.Requirement, ok bool) {
	op := slices.Index(operators, e.Operator)
	if op < 0 {
		r.fail(p.to("operator"), "%s: expected one of %s%s", quote(e.Operator), strings.Join(operators, ", "), suggest.Hint(e.Operator, operators))
		return q, false
	}
	q = topology.Requirement{Key: e.Key, Operator: topology.Operator(op), Values: e.Values}
	if field, problem := q.Problem(); problem != "" {
		r.fail(p.to(field), "%s", problem)
	}
	return q, true
}

// lost is the taint that the node controller puts on nodes it lost.
var lost = topology.Taint{Key: "node.kubernetes.io/unreachable", Effect: "NoExecute"}

// tolerate returns how long all pods of a job stay on a node that is lost: the least that
// one of its tolerations of the taint says, the timing's where none speaks of it.
func tolerate(j *Job) workloads.Delay {
	lists := [][]Toleration{j.Pods.Tolerations}
	for i := range j.PodSets {
		lists = append(lists, j.PodSets[i].Pods.Tolerations)
	}
	least := workloads.Delay(0)
	for _, list := range lists {
		for _, t := range list {
			mine := topology.Toleration{Key: t.Key, Value: t.Value, Effect: t.Effect, Exists: t.Operator == "Exists"}
			if !mine.Tolerates(&lost) {
				continue
			}
			d := workloads.DelayOf(workloads.MaxTime)
			if t.TolerationSeconds != nil {
				d = workloads.DelayOf(max(0, min(*t.TolerationSeconds, workloads.MaxTime/1e9)) * 1e9)
			}
			if least == 0 || d < least {
				least = d
			}
		}
	}
	return least
}
