package scenario

import (
	"maps"
	"slices"

	"github.com/gangplan/gangplan/internal/suggest"
	"github.com/gangplan/gangplan/topology"
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
