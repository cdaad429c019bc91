package kube

import (
	"slices"

	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/workloads"
)

// This file reads what pods are to each other: labels, affinity, spreading.

// friends fills in who the pods of a template are to others and what they ask of them. Levels
// are topology keys as they are written.
func (d *Dump) friends(o *Object, t *PodTemplate, j *workloads.Job) (err error) {
	if len(t.Metadata.Labels) > 0 {
		j.Labels = t.Metadata.Labels
	}
	if j.Affinity, err = podTerms(o, t.Spec.Affinity.PodAffinity); err != nil {
		return err
	}
	if j.AntiAffinity, err = podTerms(o, t.Spec.Affinity.PodAntiAffinity); err != nil {
		return err
	}
	for i := range t.Spec.Spread {
		s, err := spread(o, &t.Spec.Spread[i])
		if err != nil {
			return err
		}
		j.Spread = append(j.Spread, s)
	}
	return nil
}

func podTerms(o *Object, a *PodAffinity) (terms []workloads.PodTerm, err error) {
	if a == nil {
		return nil, nil
	}
	add := func(t *PodTerm, weight int32) error {
		out := workloads.PodTerm{Level: t.TopologyKey, Weight: weight}
		if t.TopologyKey == "" {
			return o.fail(nil, "affinity", "topologyKey is missing in a term")
		}
		if out.Of, err = meant(o, t); err != nil {
			return err
		}
		terms = append(terms, out)
		return nil
	}
	for i := range a.Required {
		if err := add(&a.Required[i], 0); err != nil {
			return nil, err
		}
	}
	for i := range a.Preferred {
		if w := a.Preferred[i].Weight; w < 1 || w > 100 {
			return nil, o.fail(nil, "affinity", "weight %d: expected 1 to 100", w)
		}
		if err := add(&a.Preferred[i].Term, a.Preferred[i].Weight); err != nil {
			return nil, err
		}
	}
	return terms, nil
}

// meant returns the pods that a term means. A selector of namespaces by their labels can only
// be the empty one, which means all: namespaces are not read.
func meant(o *Object, t *PodTerm) (*workloads.PodSelector, error) {
	out := &workloads.PodSelector{Namespaces: t.Namespaces}
	if s := t.NamespaceSelector; s != nil {
		if len(s.MatchLabels)+len(s.MatchExpressions) > 0 {
			return nil, o.fail(nil, "affinity.namespaceSelector", "labels of namespaces are not known: expected namespaces, or the empty selector for all")
		}
		out.Namespaces = []string{workloads.AllNamespaces}
	}
	return out, selected(o, t.LabelSelector, out)
}

// selected fills in what a selector asks of labels. Without one no pod is meant.
func selected(o *Object, s *LabelSelector, out *workloads.PodSelector) (err error) {
	if out.None = s == nil; s != nil {
		out.Match, err = requirements(o, s)
	}
	return err
}

func requirements(o *Object, s *LabelSelector) (list []topology.Requirement, err error) {
	for _, key := range sortedKeys(s.MatchLabels) {
		list = append(list, topology.Requirement{Key: key, Operator: topology.In, Values: []string{s.MatchLabels[key]}})
	}
	for i := range s.MatchExpressions {
		q, err := requirement(o, "labelSelector", &s.MatchExpressions[i])
		if err != nil {
			return nil, err
		}
		list = append(list, q)
	}
	return list, nil
}

func requirement(o *Object, field string, e *Expression) (q topology.Requirement, err error) {
	op := slices.Index(operators, e.Operator)
	if op < 0 {
		return q, o.fail(nil, field, "operator %q: expected one of In, NotIn, Exists, DoesNotExist, Gt, Lt", e.Operator)
	}
	q = topology.Requirement{Key: e.Key, Operator: topology.Operator(op), Values: e.Values}
	if wrong, problem := q.Problem(); problem != "" {
		return q, o.fail(nil, field, "%s: %s", wrong, problem)
	}
	return q, nil
}

func spread(o *Object, s *SpreadConstraint) (out workloads.SpreadConstraint, err error) {
	out = workloads.SpreadConstraint{Level: s.TopologyKey, MaxSkew: s.MaxSkew, Soft: s.WhenUnsatisfiable == "ScheduleAnyway",
		AllNodes: s.NodeAffinityPolicy == "Ignore", Taints: s.NodeTaintsPolicy == "Honor"}
	if s.MinDomains != nil {
		out.MinDomains = *s.MinDomains
	}
	if s.TopologyKey == "" || s.MaxSkew < 1 {
		return out, o.fail(nil, "topologySpreadConstraints", "expected a topologyKey and a maxSkew of at least 1")
	}
	out.Of = &workloads.PodSelector{}
	return out, selected(o, s.LabelSelector, out.Of)
}
