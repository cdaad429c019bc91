package clusterimport

import (
	"slices"
	"strconv"

	"github.com/gangplan/gangplan/internal/scenario"
	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/traces/kube"
)

// readQueues reads ClusterQueues, Cohorts and LocalQueues.
func (im *importer) readQueues() error {
	for i := range im.dump.Queues {
		if err := im.clusterQueue(&im.dump.Queues[i], i); err != nil {
			return err
		}
	}
	for i := range im.dump.Cohorts {
		c := &im.dump.Cohorts[i]
		groups, err := im.groups(&c.Object, c.T.Spec.ResourceGroups)
		if err != nil {
			return err
		}
		out := scenario.Cohort{Name: c.Name, Parent: c.T.ParentName(), ResourceGroups: groups}
		if out.FairWeight, err = weight(&c.Object, c.T.Spec.FairSharing); err != nil {
			return err
		}
		im.from(&c.Object, "cohorts", i)
		im.file.Cohorts = append(im.file.Cohorts, out)
	}
	return im.localQueues()
}

func (im *importer) localQueues() error {
	for i := range im.dump.LocalQueues {
		l := &im.dump.LocalQueues[i]
		out := scenario.LocalQueue{Name: l.Namespace + "/" + l.Name, ClusterQueue: l.T.Spec.ClusterQueue}
		var err error
		if out.FairWeight, err = weight(&l.Object, l.T.Spec.FairSharing); err != nil {
			return err
		}
		im.stopped(&l.Object, l.T.Spec.StopPolicy)
		im.from(&l.Object, "localQueues", i)
		im.file.LocalQueues = append(im.file.LocalQueues, out)
	}
	return nil
}

func (im *importer) clusterQueue(c *kube.Item[kube.ClusterQueue], i int) error {
	spec := &c.T.Spec
	groups, err := im.groups(&c.Object, spec.ResourceGroups)
	if err != nil {
		return err
	}
	q := scenario.Queue{Name: c.Name, Strategy: spec.QueueingStrategy, Cohort: c.T.CohortName(), ResourceGroups: groups}
	if q.Strategy != "" && !slices.Contains(strategies, q.Strategy) {
		return im.wrong(&c.Object, "spec.queueingStrategy", strconv.Quote(q.Strategy)+": expected BestEffortFIFO or StrictFIFO")
	}
	if q.FairWeight, err = weight(&c.Object, spec.FairSharing); err != nil {
		return err
	}
	p := spec.Preemption
	preemption := scenario.Preemption{WithinClusterQueue: p.WithinClusterQueue, ReclaimWithinCohort: p.ReclaimWithinCohort}
	if b := p.BorrowWithinCohort; b != nil && b.Policy != "" && b.Policy != "Never" {
		preemption.BorrowWithinCohort = &scenario.BorrowWithinCohort{Policy: b.Policy, MaxPriorityThreshold: b.MaxPriorityThreshold}
	}
	if preemption != (scenario.Preemption{}) {
		q.Preemption = &preemption
	}
	q.FlavorFungibility = im.fungibility(c)
	if s := spec.AdmissionScope; s != nil {
		q.AdmissionMode = s.AdmissionMode
	}
	im.stopped(&c.Object, spec.StopPolicy)
	if selector, ok := spec.NamespaceSelector.(map[string]any); ok && len(selector) > 0 {
		im.note("ClusterQueue %s takes only some namespaces: here it takes the jobs of its LocalQueues", c.Name)
	}
	im.from(&c.Object, "queues", i)
	im.file.Queues = append(im.file.Queues, q)
	return nil
}

// fungibility reads flavorFungibility; Borrow and Preempt are older words for MayStopSearch.
func (im *importer) fungibility(c *kube.Item[kube.ClusterQueue]) *scenario.FlavorFungibility {
	f := c.T.Spec.FlavorFungibility
	out := scenario.FlavorFungibility{WhenCanBorrow: f.WhenCanBorrow, WhenCanPreempt: f.WhenCanPreempt, Preference: f.Preference}
	for _, word := range []*string{&out.WhenCanBorrow, &out.WhenCanPreempt} {
		if *word == "Borrow" || *word == "Preempt" {
			*word = "MayStopSearch"
		}
	}
	if out == (scenario.FlavorFungibility{}) {
		return nil
	}
	return &out
}

func (im *importer) stopped(o *kube.Object, policy string) {
	if policy != "" && policy != "None" {
		im.note("%s is stopped (%s): here it admits jobs", o, policy)
	}
}

func (im *importer) wrong(o *kube.Object, field, msg string) error {
	return &kube.Error{File: o.File, Line: o.Line, Column: o.Column, Field: o.String() + " " + field, Msg: msg}
}

func weight(o *kube.Object, given *kube.FairSharing) (*float64, error) {
	if given == nil || given.Weight == "" {
		return nil, nil
	}
	milli, ok := kube.Quantity(topology.CPU, given.Weight)
	if !ok || milli < 0 {
		return nil, &kube.Error{File: o.File, Line: o.Line, Column: o.Column, Field: o.String() + " spec.fairSharing.weight",
			Msg: strconv.Quote(given.Weight) + ": expected a number of at least 0"}
	}
	return new(float64(milli) / 1000), nil
}

// groups reads resource groups. Resources that gangplan does not count are left out, and a
// group of nothing else with them.
func (im *importer) groups(o *kube.Object, given []kube.ResourceGroup) (out []scenario.ResourceGroup, err error) {
	for _, g := range given {
		var group scenario.ResourceGroup
		for _, f := range g.Flavors {
			fq := scenario.FlavorQuota{Name: f.Name}
			for _, r := range f.Resources {
				field := "flavor " + f.Name + " resource " + r.Name
				if !slices.Contains(g.CoveredResources, r.Name) {
					return nil, im.wrong(o, field, "it is not among the group's coveredResources")
				}
				for _, part := range []struct {
					name, text string
					to         **scenario.Quota
				}{{"nominalQuota", r.NominalQuota, &fq.Quota}, {"borrowingLimit", r.BorrowingLimit, &fq.BorrowingLimit}, {"lendingLimit", r.LendingLimit, &fq.LendingLimit}} {
					if err := im.amount(o, field+" "+part.name, r.Name, part.text, part.to); err != nil {
						return nil, err
					}
				}
			}
			if fq.Quota != nil {
				group.Flavors = append(group.Flavors, fq)
			}
		}
		if len(group.Flavors) > 0 {
			out = append(out, group)
		}
	}
	return out, nil
}

// amount puts one quantity of a quota or limit into its place.
func (im *importer) amount(o *kube.Object, field, resource, text string, to **scenario.Quota) error {
	r := kube.ResourceOf(resource)
	if text == "" {
		return nil
	}
	if r == kube.NoUnit {
		im.note("quota for %s is not modelled", resource)
		return nil
	}
	n, ok := kube.Quantity(r, text)
	if !ok || n < 0 {
		return im.wrong(o, field, strconv.Quote(text)+": expected a quantity of at least 0, such as 8 or 96Gi")
	}
	if *to == nil {
		*to = &scenario.Quota{}
	}
	switch r {
	case topology.GPU:
		(*to).GPU = new(scenario.Milli(n))
	case topology.CPU:
		(*to).CPU = new(scenario.Milli(n))
	case topology.Memory:
		(*to).Memory = new(scenario.Bytes(n))
	case topology.Pods:
		(*to).Pods = new(n)
	}
	return nil
}
