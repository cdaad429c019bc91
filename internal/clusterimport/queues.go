package clusterimport

import (
	"strings"

	"github.com/gangplan/gangplan/internal/scenario"
	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/traces/kube"
)

// readQueues reads ClusterQueues, Cohorts and LocalQueues.
func (im *importer) readQueues() {
	for i := range im.dump.Queues {
		im.clusterQueue(&im.dump.Queues[i], i)
	}
	for i := range im.dump.Cohorts {
		c := &im.dump.Cohorts[i]
		out := scenario.Cohort{Name: c.Name, Parent: c.T.ParentName(), FairWeight: weight(c.T.Spec.FairSharing)}
		out.ResourceGroups = im.groups(&c.Object, "cohorts", i, c.T.Spec.ResourceGroups)
		im.from(&c.Object, nil, "cohorts", i)
		im.file.Cohorts = append(im.file.Cohorts, out)
	}
	for i := range im.dump.LocalQueues {
		l := &im.dump.LocalQueues[i]
		im.stopped(&l.Object, l.T.Spec.StopPolicy)
		im.from(&l.Object, nil, "localQueues", i)
		im.file.LocalQueues = append(im.file.LocalQueues, scenario.LocalQueue{Name: l.Namespace + "/" + l.Name,
			ClusterQueue: l.T.Spec.ClusterQueue, FairWeight: weight(l.T.Spec.FairSharing)})
	}
}

func (im *importer) clusterQueue(c *kube.Item[kube.ClusterQueue], i int) {
	spec := &c.T.Spec
	q := scenario.Queue{Name: c.Name, Strategy: spec.QueueingStrategy, Cohort: c.T.CohortName(), FairWeight: weight(spec.FairSharing)}
	if q.ResourceGroups = im.groups(&c.Object, "queues", i, spec.ResourceGroups); q.ResourceGroups == nil {
		im.without(c, &q)
	}
	q.Preemption = preemption(&spec.Preemption)
	q.FlavorFungibility = fungibility(&spec.FlavorFungibility)
	if s := spec.AdmissionScope; s != nil {
		q.AdmissionMode = s.AdmissionMode
	}
	if !im.hasUsageFairness() && q.AdmissionMode == "UsageBasedAdmissionFairSharing" {
		im.about("ClusterQueue has an admissionScope (%s): it does nothing without admissionFairSharing in the Configuration",
			"ClusterQueues have an admissionScope (%s): it does nothing without admissionFairSharing in the Configuration", c.Name)
		q.AdmissionMode = ""
	}
	im.stopped(&c.Object, spec.StopPolicy)
	switch s := spec.NamespaceSelector; {
	case s == nil:
		im.about("ClusterQueue has no namespaceSelector (%s): Kueue admits nothing in it, here it takes the jobs of its LocalQueues",
			"ClusterQueues have no namespaceSelector (%s): Kueue admits nothing in them, here they take the jobs of their LocalQueues", c.Name)
	case len(s.MatchLabels)+len(s.MatchExpressions) > 0:
		im.about("ClusterQueue takes only some namespaces (%s): here it takes the jobs of its LocalQueues",
			"ClusterQueues take only some namespaces (%s): here they take the jobs of their LocalQueues", c.Name)
	}
	im.from(&c.Object, nil, "queues", i)
	im.file.Queues = append(im.file.Queues, q)
}

// without gives a queue that has quota of nothing that is counted a quota of nothing: it admits
// no jobs.
func (im *importer) without(c *kube.Item[kube.ClusterQueue], q *scenario.Queue) {
	im.about("ClusterQueue has no quota of GPUs, CPU, memory or pods (%s): it admits nothing", "ClusterQueues have no quota of GPUs, CPU, memory or pods (%s): they admit nothing", c.Name)
	nothing := &scenario.Quota{GPU: new(scenario.Milli), CPU: new(scenario.Milli), Memory: new(scenario.Bytes)}
	if len(im.file.Flavors) == 0 {
		q.Quota = nothing
		return
	}
	q.ResourceGroups = []scenario.ResourceGroup{{Flavors: []scenario.FlavorQuota{{Name: im.file.Flavors[0].Name, Quota: nothing}}}}
}

func preemption(p *kube.QueuePreemption) *scenario.Preemption {
	out := scenario.Preemption{WithinClusterQueue: p.WithinClusterQueue, ReclaimWithinCohort: p.ReclaimWithinCohort}
	if b := p.BorrowWithinCohort; b != nil && b.Policy != "" && b.Policy != "Never" {
		out.BorrowWithinCohort = &scenario.BorrowWithinCohort{Policy: b.Policy}
		if b.MaxPriorityThreshold != nil {
			out.BorrowWithinCohort.MaxPriorityThreshold = new(int64(*b.MaxPriorityThreshold))
		}
	}
	if out == (scenario.Preemption{}) {
		return nil
	}
	return &out
}

// fungibility reads flavorFungibility; Borrow and Preempt are older words for MayStopSearch.
func fungibility(f *kube.FlavorFungibility) *scenario.FlavorFungibility {
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
		im.about(o.Kind+" is stopped (%s): here it admits jobs", o.Kind+"s are stopped (%s): here they admit jobs", strings.TrimPrefix(o.String(), o.Kind+"/")+": "+policy)
	}
}

func weight(given *kube.FairSharing) *float64 {
	if given == nil || given.Weight == "" {
		return nil
	}
	milli, _ := kube.Quantity(topology.CPU, given.Weight)
	return new(float64(milli) / 1000)
}

// groups reads resource groups. Resources that gangplan does not count are left out, and a
// group of nothing else with them.
func (im *importer) groups(o *kube.Object, field string, index int, given []kube.ResourceGroup) (out []scenario.ResourceGroup) {
	for i, g := range given {
		var group scenario.ResourceGroup
		for k, f := range g.Flavors {
			fq := scenario.FlavorQuota{Name: f.Name}
			for _, r := range f.Resources {
				im.amount(r.Name, r.NominalQuota, &fq.Quota)
				im.amount(r.Name, r.BorrowingLimit, &fq.BorrowingLimit)
				im.amount(r.Name, r.LendingLimit, &fq.LendingLimit)
			}
			if fq.Quota != nil {
				im.from(o, kube.At("spec", "resourceGroups", i, "flavors", k), field, index, "resourceGroups", len(out), "flavors", len(group.Flavors))
				group.Flavors = append(group.Flavors, fq)
			}
		}
		if len(group.Flavors) > 0 {
			im.from(o, kube.At("spec", "resourceGroups", i), field, index, "resourceGroups", len(out))
			out = append(out, group)
		}
	}
	return out
}

// amount adds one quantity of a quota or limit to what is counted as the same resource.
func (im *importer) amount(name, text string, to **scenario.Quota) {
	r := kube.ResourceOf(name)
	if text == "" {
		return
	}
	if r == kube.NoUnit {
		im.once("resource with quota is not modelled: %s", "resources with quota are not modelled: %s", name)
		return
	}
	n, _ := kube.Quantity(r, text)
	if *to == nil {
		*to = &scenario.Quota{}
	}
	switch q := *to; r {
	case topology.GPU:
		q.GPU = plus(q.GPU, scenario.Milli(n))
	case topology.CPU:
		q.CPU = plus(q.CPU, scenario.Milli(n))
	case topology.Memory:
		q.Memory = plus(q.Memory, scenario.Bytes(n))
	case topology.Pods:
		q.Pods = plus(q.Pods, n)
	}
}

// plus adds to a number that may not be there.
func plus[T ~int64](to *T, n T) *T {
	if to != nil {
		n += *to
	}
	return &n
}
