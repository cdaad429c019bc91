package kube

import (
	"slices"

	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/workloads"
)

// This file reads what pods are to each other: labels, affinity, spreading.

// friends fills in who the pods of a template, which is at a path, are to others and what they
// ask of them. Levels are topology keys as they are written.
func (d *Dump) friends(o *Object, p Path, t *PodTemplate, j *workloads.Job) (err error) {
	if len(t.Metadata.Labels) > 0 {
		j.Labels = t.Metadata.Labels
	}
	p = p.To("spec")
	if j.Affinity, err = podTerms(o, p.To("affinity", "podAffinity"), t.Spec.Affinity.PodAffinity); err != nil {
		return err
	}
	if j.AntiAffinity, err = podTerms(o, p.To("affinity", "podAntiAffinity"), t.Spec.Affinity.PodAntiAffinity); err != nil {
		return err
	}
	for i := range t.Spec.Spread {
		s, err := spread(o, p.To("topologySpreadConstraints", i), &t.Spec.Spread[i])
		if err != nil {
			return err
		}
		j.Spread = append(j.Spread, s)
	}
	return nil
}

func podTerms(o *Object, p Path, a *PodAffinity) (terms []workloads.PodTerm, err error) {
	if a == nil {
		return nil, nil
	}
	add := func(p Path, t *PodTerm, weight int32) error {
		out := workloads.PodTerm{Level: t.TopologyKey, Weight: weight}
		out.Of, err = meant(o, p, t)
		terms = append(terms, out)
		return err
	}
	for i := range a.Required {
		if err := add(p.To("requiredDuringSchedulingIgnoredDuringExecution", i), &a.Required[i], 0); err != nil {
			return nil, err
		}
	}
	for i := range a.Preferred {
		at := p.To("preferredDuringSchedulingIgnoredDuringExecution", i, "podAffinityTerm")
		if err := add(at, &a.Preferred[i].Term, a.Preferred[i].Weight); err != nil {
			return nil, err
		}
	}
	return terms, nil
}

// meant returns the pods that a term means. A selector of namespaces by their labels can only
// be the empty one, which means all: namespaces are not read.
func meant(o *Object, p Path, t *PodTerm) (*workloads.PodSelector, error) {
	out := &workloads.PodSelector{Namespaces: t.Namespaces}
	if s := t.NamespaceSelector; s != nil {
		if len(s.MatchLabels)+len(s.MatchExpressions) > 0 {
			return nil, o.Fail(p.To("namespaceSelector"), "labels of namespaces are not known: expected namespaces, or the empty selector for all")
		}
		out.Namespaces = []string{workloads.AllNamespaces}
	}
	return out, selected(o, p.To("labelSelector"), t.LabelSelector, out)
}

// selected fills in what a selector asks of labels. Without one no pod is meant.
func selected(o *Object, p Path, s *LabelSelector, out *workloads.PodSelector) (err error) {
	if out.None = s == nil; s != nil {
		out.Match, err = requirements(o, p, s)
	}
	return err
}

func requirements(o *Object, p Path, s *LabelSelector) (list []topology.Requirement, err error) {
	for _, key := range sortedKeys(s.MatchLabels) {
		list = append(list, topology.Requirement{Key: key, Operator: topology.In, Values: []string{s.MatchLabels[key]}})
	}
	for i := range s.MatchExpressions {
		q, err := requirement(o, p.To("matchExpressions", i), &s.MatchExpressions[i])
		if err != nil {
			return nil, err
		}
		list = append(list, q)
	}
	return list, nil
}

func requirement(o *Object, p Path, e *Expression) (topology.Requirement, error) {
	q := topology.Requirement{Key: e.Key, Operator: topology.Operator(max(0, slices.Index(operators, e.Operator))), Values: e.Values}
	if wrong, problem := q.Problem(); problem != "" {
		return q, o.Fail(p.To(wrong), "%s", problem)
	}
	return q, nil
}

func spread(o *Object, p Path, s *SpreadConstraint) (out workloads.SpreadConstraint, err error) {
	out = workloads.SpreadConstraint{Level: s.TopologyKey, MaxSkew: s.MaxSkew, Soft: s.WhenUnsatisfiable == "ScheduleAnyway",
		AllNodes: s.NodeAffinityPolicy == "Ignore", Taints: s.NodeTaintsPolicy == "Honor"}
	if s.MinDomains != nil {
		out.MinDomains = *s.MinDomains
	}
	out.Of = &workloads.PodSelector{}
	return out, selected(o, p.To("labelSelector"), s.LabelSelector, out.Of)
}
