package verify

import (
	"cmp"
	"maps"
	"slices"

	"github.com/gangplan/gangplan/internal/scenario"
	"github.com/gangplan/gangplan/report"
)

// convertKueue writes ClusterQueues, cohorts and flavors of Kueue v0.17.0. A scenario
// without Kueue has the queue that every policy needs.
func (s *timelineScenario) convertKueue(f *scenario.File) error {
	if s.Kueue == nil {
		return nil
	}
	f.Kueue = "v0.17.0"
	for _, flavor := range s.Kueue.Flavors {
		f.Flavors = append(f.Flavors, scenario.Flavor{Name: flavor.Name, NodeLabels: flavor.NodeLabels})
	}
	if len(f.Flavors) == 1 && f.Flavors[0].NodeLabels == nil {
		f.Flavors = nil // all nodes are of it
	}
	for i := range s.Kueue.Queues {
		q, err := s.Kueue.Queues[i].convert(f.Flavors)
		if err != nil {
			return err
		}
		f.Queues = append(f.Queues, *q)
	}
	for i := range s.Kueue.Cohorts {
		c := &s.Kueue.Cohorts[i]
		nominal, borrowing, lending := c.rooms(f.Flavors)
		f.Cohorts = append(f.Cohorts, scenario.Cohort{Name: c.Name, Parent: c.Parent, Quota: nominal,
			BorrowingLimit: borrowing, LendingLimit: lending, FairWeight: weightOf(c.FairWeight, c.FairSharing)})
	}
	return nil
}

func weightOf(weight *float64, sharing *timelineWeight) *float64 {
	if weight == nil && sharing != nil {
		return sharing.Weight
	}
	return weight
}

func (q *timelineQueue) convert(flavors []scenario.Flavor) (*scenario.Queue, error) {
	out := &scenario.Queue{Name: q.Name, Strategy: cmp.Or(q.Strategy, q.QueueingName), Cohort: q.Cohort, FairWeight: weightOf(q.FairWeight, q.FairSharing)}
	if len(q.Quota) != max(1, len(flavors)) {
		return nil, cannot("queue %s: quota of %s, of which there are %d", q.Name, report.Count(len(q.Quota), "flavor"), max(1, len(flavors)))
	}
	if flavors == nil {
		for _, room := range q.Quota {
			out.Quota, out.BorrowingLimit, out.LendingLimit = room.quotas(q.Borrowing, q.Lending)
		}
	} else {
		group := scenario.ResourceGroup{}
		for _, flavor := range flavors {
			room := q.Quota[flavor.Name]
			nominal, borrowing, lending := room.quotas(q.Borrowing, q.Lending)
			group.Flavors = append(group.Flavors, scenario.FlavorQuota{Name: flavor.Name, Quota: nominal, BorrowingLimit: borrowing, LendingLimit: lending})
		}
		out.ResourceGroups = []scenario.ResourceGroup{group}
	}
	if g := q.Fungibility; g != nil {
		out.FlavorFungibility = &scenario.FlavorFungibility{WhenCanBorrow: g.WhenCanBorrow, WhenCanPreempt: g.WhenCanPreempt}
	}
	if p := q.Preemption; p != nil {
		out.Preemption = &scenario.Preemption{WithinClusterQueue: p.Within, ReclaimWithinCohort: p.Reclaim}
		if p.Borrow != nil {
			out.Preemption.BorrowWithinCohort = &scenario.BorrowWithinCohort{Policy: p.Borrow.Policy, MaxPriorityThreshold: p.Borrow.Threshold}
		}
	}
	return out, nil
}

// rooms are the quota of a cohort, where it has some of its own.
func (c *timelineCohort) rooms([]scenario.Flavor) (nominal, borrowing, lending *scenario.Quota) {
	for _, name := range slices.Sorted(maps.Keys(c.Quota)) {
		room := c.Quota[name]
		return room.quotas(nil, nil)
	}
	return nil, nil, nil
}

// quotas returns the quota of GPUs and its limits, which may stand beside it or within.
func (r *timelineRoom) quotas(borrowing, lending *timelineLimit) (*scenario.Quota, *scenario.Quota, *scenario.Quota) {
	var nominal, borrow, lend *float64
	if r.GPU != nil {
		nominal, borrow, lend = r.GPU.nominal, r.GPU.borrowing, r.GPU.lending
	}
	return gpuQuota(nominal), gpuQuota(borrow, r.Borrowing, borrowing), gpuQuota(lend, r.Lending, lending)
}

// gpuQuota is the first number that is given.
func gpuQuota(n *float64, elsewhere ...*timelineLimit) *scenario.Quota {
	for _, l := range elsewhere {
		if n == nil && l != nil {
			n = l.nominal
		}
	}
	if n == nil {
		return nil
	}
	return &scenario.Quota{GPU: milli(*n)}
}
