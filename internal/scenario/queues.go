package scenario

import (
	"slices"

	"github.com/gangplan/gangplan/sim/quota"
	"github.com/gangplan/gangplan/topology"
)

// defaultQueue is the queue of a scenario that names none.
const defaultQueue = "default"

// resolveQueues reads the queues. Without any there is one that covers the cluster.
func (r *resolver) resolveQueues() {
	r.resolveFlavors()
	if r.Queues == nil && len(r.Flavors) > 0 {
		r.fail(at("flavors"), "expected queues that give quota for them")
	}
	if r.Queues == nil {
		r.out.Config.Queues = []quota.Queue{r.wholeCluster(defaultQueue)}
		return
	}
	if len(r.Queues) == 0 {
		r.fail(at("queues"), "the list is empty: expected queues, or leave the field out for one that covers the cluster")
	}
	for i := range r.Queues {
		p := at("queues", i)
		if slices.ContainsFunc(r.Queues[:i], func(q Queue) bool { return q.Name == r.Queues[i].Name }) {
			r.fail(p.to("name"), "%s is the name of another queue too", quote(r.Queues[i].Name))
		}
		r.out.Config.Queues = append(r.out.Config.Queues, r.resolveQueue(p, &r.Queues[i]))
	}
	r.resolveCohorts()
	r.resolveLocalQueues()
}

func (r *resolver) resolveQueue(p path, given *Queue) quota.Queue {
	q := quota.Queue{Name: given.Name}
	switch {
	case given.ResourceGroups != nil:
		r.noShortForm(p, "resourceGroups", given.Quota, given.BorrowingLimit, given.LendingLimit)
		q.Groups = r.resolveGroups(p.to("resourceGroups"), given.ResourceGroups, owner{given.Cohort == "", true})
	case len(r.Flavors) > 0:
		r.fail(p.to("resourceGroups"), "missing: the scenario has flavors, and quota is given for each of them")
	case given.Quota != nil:
		q.Nominal, q.Covers = r.resolveQuota(p.to("quota"), given.Quota)
	case len(r.Queues) == 1:
		q = r.wholeCluster(given.Name)
	default:
		r.fail(p.to("quota"), "missing: of several queues each needs a quota")
	}
	r.resolveSharing(p, given, &q)
	q.UsageBased = word(r, p.to("admissionMode"), given.AdmissionMode, []string{"NoAdmissionFairSharing", usageBased}, false, true)
	if q.UsageBased && r.AdmissionFairSharing == nil {
		r.fail(p.to("admissionMode"), "expected admissionFairSharing in the scenario, which says how usage is counted")
	}
	q.Fungibility = r.fungibility(p.to("flavorFungibility"), given.FlavorFungibility)
	q.Strategy = word(r, p.to("strategy"), given.Strategy, []string{"BestEffortFIFO", "StrictFIFO"}, quota.BestEffortFIFO, quota.StrictFIFO)
	return q
}

// noShortForm refuses the short form of a quota beside the long one.
func (r *resolver) noShortForm(p path, long string, given ...*Quota) {
	for i, name := range []string{"quota", "borrowingLimit", "lendingLimit"} {
		if given[i] != nil {
			r.fail(p.to(name), "expected it in each flavor of %s", long)
		}
	}
}

func (r *resolver) resolveQuota(p path, given *Quota) (nominal quota.Amounts, covers [4]bool) {
	set := func(resource topology.Resource, n *int64) {
		if n != nil {
			nominal[resource], covers[resource] = *n, true
		}
	}
	set(topology.GPU, (*int64)(given.GPU))
	set(topology.CPU, (*int64)(given.CPU))
	set(topology.Memory, (*int64)(given.Memory))
	set(topology.Pods, given.Pods)
	if covers == [4]bool{} {
		r.fail(p, "the quota is empty: expected some of gpu, cpu, memory, pods")
	}
	return nominal, covers
}

// wholeCluster is a queue whose quota is what all nodes offer.
func (r *resolver) wholeCluster(name string) quota.Queue {
	r.assume("queue %s: the quota is all GPUs, CPU and memory of the cluster", name)
	q := quota.Queue{Name: name, Nominal: quota.Amounts(r.cluster.Capacity())}
	q.Nominal[topology.Pods] = 0
	q.Covers = [4]bool{topology.GPU: true, topology.CPU: true, topology.Memory: true}
	return q
}
