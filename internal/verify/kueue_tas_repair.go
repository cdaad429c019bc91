package verify

import (
	"fmt"
	"maps"
	"slices"

	"github.com/gangplan/gangplan/policies/stage"
	"github.com/gangplan/gangplan/topology"
)

// What tables of topology assignments may have beside requests: what keeps pods off nodes,
// and assignments of which a node fails.

var tasOperators = map[string]topology.Operator{"In": topology.In, "NotIn": topology.NotIn, "Exists": topology.Exists,
	"DoesNotExist": topology.DoesNotExist, "Gt": topology.Gt, "Lt": topology.Lt}

// filterOf judges every node for a PodSet.
func (w *tasWorld) filterOf(r *tasRequest) (*stage.Verdicts, error) {
	f := stage.Filter{Tolerations: r.Tolerations}
	for _, key := range slices.Sorted(maps.Keys(r.Selector)) {
		f.Selector = append(f.Selector, stage.Requirement{Key: key, Operator: stage.In, Values: []string{r.Selector[key]}})
	}
	for _, list := range r.Affinity {
		var term topology.Term
		for _, e := range list {
			op, ok := tasOperators[e.Operator]
			if !ok {
				return nil, fmt.Errorf("podset %s: operator %q is not known", r.Name, e.Operator)
			}
			term = append(term, stage.Requirement{Key: e.Key, Operator: op, Values: e.Values})
		}
		f.Affinity.Required = append(f.Affinity.Required, term)
	}
	return f.Apply(w.cluster), nil
}

// repair answers for the replacement of a failed node in the assignment of the only PodSet.
func (w *tasWorld) repair(requests []tasRequest, assigned []tasDomain, failed string) (*tasAnswer, error) {
	q := &requests[0]
	var kept []stage.Slot
	var missing int32
	for _, d := range assigned {
		leaf := w.leafOf(d.Values)
		switch {
		case d.Values[len(d.Values)-1] == failed:
			missing = d.Count
		case leaf < 0 || w.down[leaf]:
			return &tasAnswer{Fail: q.Name, Reason: "Cannot replace the node, because the existing topologyAssignment is invalid, as it contains the stale domain " + d.Values[0]}, nil
		default:
			kept = append(kept, stage.Slot{Leaf: leaf, Count: d.Count})
			w.take(leaf, podOf(q).Times(int64(d.Count)))
		}
	}
	spec, err := q.topology()
	if err != nil {
		return nil, err
	}
	r, err := stage.Resolve(&spec, q.Count, w.cluster, w.leaf, &w.preset)
	if err != nil {
		return nil, err
	}
	filter, err := w.filterOf(q)
	if err != nil {
		return nil, err
	}
	w.sortByPath(kept)
	n, bad := w.search.Replacement(&r, kept, missing)
	if bad != nil {
		return &tasAnswer{Fail: q.Name, Reason: bad.Error()}, nil
	}
	pod := podOf(q)
	if reason := w.search1(&n, &pod, nil, filter); reason != "" {
		return &tasAnswer{Fail: q.Name, Reason: reason}, nil
	}
	return &tasAnswer{Fits: true, PodSets: []tasPodSet{{Name: q.Name, Levels: w.shownLevels(), Domains: w.merge(kept)}}}, nil
}

// merge adds the slots found to those that were kept.
func (w *tasWorld) merge(kept []stage.Slot) []tasDomain {
	for _, s := range w.search.Slots {
		if i := slices.IndexFunc(kept, func(k stage.Slot) bool { return k.Leaf == s.Leaf }); i >= 0 {
			kept[i].Count += s.Count
		} else {
			kept = append(kept, s)
		}
	}
	w.sortByPath(kept)
	var out []tasDomain
	for _, s := range kept {
		out = append(out, tasDomain{w.values(s.Leaf), s.Count})
	}
	return out
}

func (w *tasWorld) sortByPath(slots []stage.Slot) {
	rank := func(s stage.Slot) int32 { return w.cluster.Domains[w.cluster.LevelStart[w.leaf]+s.Leaf].NameRank }
	slices.SortStableFunc(slots, func(a, b stage.Slot) int { return int(rank(a) - rank(b)) })
}
