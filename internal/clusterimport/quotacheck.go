package clusterimport

import (
	"slices"
	"strings"

	"github.com/gangplan/gangplan/internal/scenario"
	"github.com/gangplan/gangplan/sim/quota"
	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/traces/kube"
	"github.com/gangplan/gangplan/workloads"
)

// readQuotaCheck says what becomes of jobs that ask for what their ClusterQueue does not list.
// Kueue blocks them where nothing else is said; but who was admitted shows that something was.
// Jobs that were made up ask for what their maker thought of, and are not blocked.
func (im *importer) readQuotaCheck() {
	if len(im.Jobs) == 0 || len(im.dump.Queues) == 0 {
		return
	}
	im.file.Resources = &scenario.Resources{QuotaCheckStrategy: scenario.BlockUndeclared}
	if c := im.dump.Configuration; c != nil {
		im.readResources(&c.T)
	}
	if im.file.Resources.QuotaCheckStrategy == scenario.IgnoreUndeclared {
		return
	}
	undeclared, admitted := im.undeclared(), im.admitted()
	for _, u := range undeclared {
		if admitted[u.job.ID] {
			im.once("resource was not counted (%s): Workloads were admitted that ask for it, though their ClusterQueue has no quota of it",
				"resources were not counted (%s): Workloads were admitted that ask for them, though their ClusterQueue has no quota of them", u.resource)
			im.file.Resources = &scenario.Resources{QuotaCheckStrategy: scenario.IgnoreUndeclared}
		}
	}
	if im.file.Resources.QuotaCheckStrategy == scenario.BlockUndeclared {
		for _, u := range undeclared {
			im.about("Workload asks for "+u.resource+", of which its ClusterQueue has no quota (%s): it is not admitted",
				"Workloads ask for "+u.resource+", of which their ClusterQueues have no quota (%s): they are not admitted", u.job.ID)
		}
	}
}

// quotaCheckGate is the feature gate without which Kueue blocks whatever the configuration says.
const quotaCheckGate = "QuotaCheckStrategy"

// readResources reads what the configuration says of resources.
func (im *importer) readResources(c *kube.Configuration) {
	if c.Resources == nil {
		return
	}
	out := im.file.Resources
	heeded, said := c.FeatureGates[quotaCheckGate]
	if c.Resources.QuotaCheckStrategy == scenario.IgnoreUndeclared && (heeded || !said) {
		out.QuotaCheckStrategy = scenario.IgnoreUndeclared
	}
	for _, prefix := range c.Resources.ExcludeResourcePrefixes {
		if slices.ContainsFunc(counted, func(r topology.Resource) bool { return strings.HasPrefix(r.String(), prefix) }) {
			out.ExcludeResourcePrefixes = append(out.ExcludeResourcePrefixes, prefix)
		}
	}
}

// counted are the resources that need quota by themselves.
var counted = []topology.Resource{topology.GPU, topology.CPU, topology.Memory}

// want is a job and a resource.
type want struct {
	job      *workloads.Job
	resource string
}

// undeclared returns what jobs ask for and their ClusterQueue does not list.
func (im *importer) undeclared() (list []want) {
	covers := map[string][quota.Resources]bool{}
	for i := range im.file.Queues {
		covers[im.file.Queues[i].Name] = covered(&im.file.Queues[i])
	}
	of := map[string]string{}
	for _, l := range im.file.LocalQueues {
		of[l.Name] = l.ClusterQueue
	}
	for i := range im.Jobs {
		has, known := covers[of[im.Jobs[i].Queue]]
		for _, r := range counted {
			excluded := slices.ContainsFunc(im.file.Resources.ExcludeResourcePrefixes, func(prefix string) bool { return strings.HasPrefix(r.String(), prefix) })
			if known && !has[r] && !excluded && asks(&im.Jobs[i], r) {
				list = append(list, want{&im.Jobs[i], r.String()})
			}
		}
	}
	return list
}

// admitted returns the jobs that have an admission in the cluster.
func (im *importer) admitted() map[string]bool {
	ids := map[string]bool{}
	for i := range im.dump.Workloads {
		if w := &im.dump.Workloads[i]; w.T.Status.Admission != nil {
			ids[w.Namespace+"/"+w.Name] = true
		}
	}
	return ids
}

// covered tells the resources of which a queue has quota.
func covered(q *scenario.Queue) (has [quota.Resources]bool) {
	for _, g := range q.ResourceGroups {
		for _, f := range g.Flavors {
			for r, given := range map[topology.Resource]bool{topology.GPU: f.Quota.GPU != nil, topology.CPU: f.Quota.CPU != nil,
				topology.Memory: f.Quota.Memory != nil, topology.Pods: f.Quota.Pods != nil} {
				has[r] = has[r] || given
			}
		}
	}
	return has
}

func asks(j *workloads.Job, r topology.Resource) bool {
	for i := range j.PodSets {
		if j.PodSets[i].Request[r] > 0 {
			return true
		}
	}
	return false
}
