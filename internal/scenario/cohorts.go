package scenario

import (
	"math"
	"slices"

	"github.com/gangplan/gangplan/sim/quota"
)

// resolveSharing reads what a queue shares with others: cohort, limits, weight and
// preemption. A queue that has none of it keeps the short form of its quota.
func (r *resolver) resolveSharing(p path, given *Queue, q *quota.Queue) {
	q.Cohort, q.Weight = given.Cohort, weightOf(given.FairWeight)
	if given.Cohort == "" {
		r.refuseLimits(p, "a queue without a cohort", given.BorrowingLimit, given.LendingLimit)
	}
	if given.ResourceGroups == nil && (given.BorrowingLimit != nil || given.LendingLimit != nil) {
		if l := given.LendingLimit; l != nil && exceeds(l, given.Quota) {
			r.fail(p.to("lendingLimit"), "it is more than the quota")
		}
		q.Groups = []quota.Group{r.limited(p, q.Nominal, q.Covers, given.BorrowingLimit, given.LendingLimit)}
	}
	if given.Preemption != nil {
		q.Preemption = r.resolvePreemption(p.to("preemption"), given.Preemption)
	}
}

func weightOf(given *float64) quota.Limit {
	if given == nil {
		return quota.Limit{}
	}
	return quota.Max(int64(math.Round(*given * 1000)))
}

func (r *resolver) refuseLimits(p path, whose string, borrowing, lending *Quota) {
	if borrowing != nil {
		r.fail(p.to("borrowingLimit"), "%s has nobody to borrow from", whose)
	}
	if lending != nil {
		r.fail(p.to("lendingLimit"), "%s has nobody to lend to", whose)
	}
}

// limited is the one group of a queue or cohort with limits.
func (r *resolver) limited(p path, nominal quota.Amounts, covers [4]bool, borrowing, lending *Quota) quota.Group {
	g := quota.Group{Covers: covers, Flavors: []quota.FlavorQuota{{}}}
	for i := range nominal {
		g.Flavors[0].Quota[i].Nominal = nominal[i]
	}
	set := func(field string, given *Quota, put func(q *quota.Quota, n int64)) {
		if given == nil {
			return
		}
		amounts, has := r.resolveQuota(p.to(field), given)
		for i := range amounts {
			switch {
			case has[i] && !covers[i]:
				r.fail(p.to(field), "it limits a resource that the quota does not cover")
			case has[i]:
				put(&g.Flavors[0].Quota[i], amounts[i])
			}
		}
	}
	set("borrowingLimit", borrowing, func(q *quota.Quota, n int64) { q.Borrowing = quota.Max(n) })
	set("lendingLimit", lending, func(q *quota.Quota, n int64) { q.Lending = quota.Max(n) })
	return g
}

// exceeds reports whether a limit is above a quota of the same resource.
func exceeds(limit, of *Quota) bool {
	if of == nil {
		return false
	}
	over := func(a, b *int64) bool { return a != nil && b != nil && *a > *b }
	return over((*int64)(limit.GPU), (*int64)(of.GPU)) || over((*int64)(limit.CPU), (*int64)(of.CPU)) ||
		over((*int64)(limit.Memory), (*int64)(of.Memory)) || over(limit.Pods, of.Pods)
}

func (r *resolver) resolvePreemption(p path, given *Preemption) (out quota.Preemption) {
	out.Within = word(r, p.to("withinClusterQueue"), given.WithinClusterQueue,
		[]string{"Never", "LowerPriority", "LowerOrNewerEqualPriority"}, quota.Never, quota.LowerPriority, quota.LowerOrNewerEqual)
	out.Reclaim = word(r, p.to("reclaimWithinCohort"), given.ReclaimWithinCohort,
		[]string{"Never", "LowerPriority", "Any"}, quota.Never, quota.LowerPriority, quota.Any)
	if b := given.BorrowWithinCohort; b != nil {
		at := p.to("borrowWithinCohort")
		out.WhileBorrow = word(r, at.to("policy"), b.Policy, []string{"Never", "LowerPriority"}, false, true)
		if b.MaxPriorityThreshold != nil {
			out.Threshold = quota.Max(*b.MaxPriorityThreshold)
		}
		if out.WhileBorrow && out.Reclaim == quota.Never {
			r.fail(at, "it needs reclaimWithinCohort, which is Never")
		}
	}
	return out
}

// resolveCohorts reads the cohorts. One that is its own ancestor is refused.
func (r *resolver) resolveCohorts() {
	parents := map[string]string{}
	for i := range r.Cohorts {
		c, p := &r.Cohorts[i], at("cohorts", i)
		if slices.ContainsFunc(r.Cohorts[:i], func(o Cohort) bool { return o.Name == c.Name }) {
			r.fail(p.to("name"), "%s is the name of another cohort too", quote(c.Name))
		}
		parents[c.Name] = c.Parent
		r.out.Config.Cohorts = append(r.out.Config.Cohorts, r.resolveCohort(p, c))
	}
	for i := range r.Cohorts {
		at := at("cohorts", i, "parent")
		name := r.Cohorts[i].Parent
		for steps := 0; name != "" && steps <= len(r.Cohorts); steps++ {
			if name == r.Cohorts[i].Name {
				r.fail(at, "cohort %s is above itself", quote(name))
				return
			}
			name = parents[name]
		}
	}
}

func (r *resolver) resolveCohort(p path, given *Cohort) quota.Cohort {
	c := quota.Cohort{Name: given.Name, Parent: given.Parent, Weight: weightOf(given.FairWeight)}
	if given.Parent == "" {
		r.refuseLimits(p, "a cohort without a parent", given.BorrowingLimit, given.LendingLimit)
	}
	if given.ResourceGroups != nil {
		r.noShortForm(p, "resourceGroups", given.Quota, given.BorrowingLimit, given.LendingLimit)
		c.Groups = r.resolveGroups(p.to("resourceGroups"), given.ResourceGroups, owner{given.Parent == "", false})
		return c
	}
	if given.Quota == nil {
		return c
	}
	if len(r.Flavors) > 0 {
		r.fail(p.to("quota"), "expected resourceGroups: the scenario has flavors, and quota is given for each of them")
	}
	nominal, covers := r.resolveQuota(p.to("quota"), given.Quota)
	c.Groups = []quota.Group{r.limited(p, nominal, covers, given.BorrowingLimit, given.LendingLimit)}
	return c
}
