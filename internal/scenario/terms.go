package scenario

import (
	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/workloads"
)

// maxWeight is Kubernetes' bound on the weight of a preferred term.
const maxWeight = 100

// terms reads who the pods of a job are to others and what they ask of them. Levels are
// checked here: an unknown one is unknown to every policy.
func (r *resolver) terms(p path, j *Job, to *workloads.Job) {
	to.Namespace, to.Labels = j.Namespace, j.Labels
	to.NoPreempt = word(r, p.to("preemptionPolicy"), j.PreemptionPolicy, []string{"PreemptLowerPriority", "Never"}, false, true)
	to.Affinity = r.podTerms(p.to("podAffinity"), j.PodAffinity)
	to.AntiAffinity = r.podTerms(p.to("podAntiAffinity"), j.PodAntiAffinity)
	for i := range j.Spread {
		to.Spread = append(to.Spread, r.spread(p.to("topologySpreadConstraints", i), &j.Spread[i]))
	}
}

func (r *resolver) spread(p path, s *Spread) workloads.SpreadConstraint {
	r.checkLevel(p.to("level"), s.Level)
	out := workloads.SpreadConstraint{Level: s.Level, MaxSkew: max(1, s.MaxSkew), MinDomains: s.MinDomains,
		Soft:     word(r, p.to("whenUnsatisfiable"), s.WhenUnsatisfiable, []string{"DoNotSchedule", "ScheduleAnyway"}, false, true),
		AllNodes: word(r, p.to("nodeAffinityPolicy"), s.NodeAffinityPolicy, []string{"Honor", "Ignore"}, false, true),
		Taints:   word(r, p.to("nodeTaintsPolicy"), s.NodeTaintsPolicy, []string{"Ignore", "Honor"}, false, true)}
	if s.LabelSelector != nil {
		out.Of = &workloads.PodSelector{Match: r.labelSelector(p.to("labelSelector"), s.LabelSelector)}
	}
	if out.MinDomains > 0 && out.Soft {
		r.fail(p.to("minDomains"), "expected DoNotSchedule beside it")
	}
	return out
}

func (r *resolver) podTerms(p path, given []PodTerm) (terms []workloads.PodTerm) {
	for i, t := range given {
		r.checkLevel(p.to(i, "level"), t.Level)
		if t.Weight > maxWeight {
			r.fail(p.to(i, "weight"), "%d: expected at most %d, or no weight for a term that is required", t.Weight, maxWeight)
		}
		out := workloads.PodTerm{Level: t.Level, Weight: t.Weight}
		switch {
		case t.LabelSelector != nil:
			out.Of = &workloads.PodSelector{Namespaces: t.Namespaces, Match: r.labelSelector(p.to(i, "labelSelector"), t.LabelSelector)}
		case t.Namespaces != nil:
			r.fail(p.to(i, "namespaces"), "expected labelSelector beside it: without one the pods of the job are meant")
		}
		terms = append(terms, out)
	}
	return terms
}

// labelSelector reads which labels pods must have, in the order of their names.
func (r *resolver) labelSelector(p path, s *LabelSelector) []topology.Requirement {
	list := selector(s.MatchLabels)
	for i, e := range s.MatchExpressions {
		at := p.to("matchExpressions", i)
		if e.Operator == "Gt" || e.Operator == "Lt" {
			r.fail(at.to("operator"), "%s: labels of pods are compared with In, NotIn, Exists or DoesNotExist only", e.Operator)
			continue
		}
		if q, ok := r.requirement(at, &e); ok {
			list = append(list, q)
		}
	}
	return list
}

// resolveBudgets reads the pod disruption budgets.
func (r *resolver) resolveBudgets() {
	for i := range r.Budgets {
		b, p := &r.Budgets[i], at("podDisruptionBudgets", i)
		kind, ok := r.oneOf(p, []string{"minAvailable", "maxUnavailable"}, b.MinAvailable != nil, b.MaxUnavailable != nil)
		if !ok {
			continue
		}
		out := workloads.Budget{Name: b.Name, Namespace: b.Namespace, UseMax: kind == "maxUnavailable",
			Of: workloads.PodSelector{Match: r.labelSelector(p.to("selector"), b.Selector)}}
		if n := int32(or(b.MinAvailable, or(b.MaxUnavailable, 0))); n < 0 {
			out.N, out.Percent = -n, true
		} else {
			out.N = n
		}
		r.out.Config.Budgets = append(r.out.Config.Budgets, out)
	}
}
