package scenario

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gangplan/gangplan/internal/suggest"
	"github.com/gangplan/gangplan/workloads"
)

// maxWeight is Kubernetes' bound on the weight of a preferred term.
const maxWeight = 100

// terms reads what the pods of a job ask of each other. Levels are checked here: an
// unknown one is unknown to every policy.
func (r *resolver) terms(p path, j *Job, to *workloads.Job) {
	to.Affinity = r.podTerms(p.to("podAffinity"), j.PodAffinity)
	to.AntiAffinity = r.podTerms(p.to("podAntiAffinity"), j.PodAntiAffinity)
	kinds := []string{"DoNotSchedule", "ScheduleAnyway"}
	for i, s := range j.Spread {
		at := p.to("topologySpreadConstraints", i)
		r.checkLevel(at.to("level"), s.Level)
		kind := cmp.Or(s.WhenUnsatisfiable, kinds[0])
		if !slices.Contains(kinds, kind) {
			r.fail(at.to("whenUnsatisfiable"), "%s: expected %s%s", quote(kind), strings.Join(kinds, " or "), suggest.Hint(kind, kinds))
		}
		to.Spread = append(to.Spread, workloads.SpreadConstraint{Level: s.Level, MaxSkew: max(1, s.MaxSkew), Soft: kind == kinds[1]})
	}
}

func (r *resolver) podTerms(p path, given []PodTerm) (terms []workloads.PodTerm) {
	for i, t := range given {
		r.checkLevel(p.to(i, "level"), t.Level)
		if t.Weight > maxWeight {
			r.fail(p.to(i, "weight"), "%d: expected at most %d, or no weight for a term that is required", t.Weight, maxWeight)
		}
		terms = append(terms, workloads.PodTerm{Level: t.Level, Weight: t.Weight})
	}
	return terms
}
