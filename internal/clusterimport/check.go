package clusterimport

import (
	"strings"

	"github.com/gangplan/gangplan/internal/suggest"
	"github.com/gangplan/gangplan/traces/kube"
	"github.com/gangplan/gangplan/workloads"
)

// This file checks what objects say of each other.

// checkNames looks up what objects name.
func (im *importer) checkNames() {
	im.checkTopologies()
	flavors := known(namesOf(im.dump.Flavors))
	for i := range im.dump.Queues {
		q := &im.dump.Queues[i]
		im.checkFlavors(&q.Object, q.T.Spec.ResourceGroups, flavors)
	}
	for i := range im.dump.Cohorts {
		c := &im.dump.Cohorts[i]
		im.checkFlavors(&c.Object, c.T.Spec.ResourceGroups, flavors)
	}
	im.checkLocalQueues()
	im.checkCycles()
}

func namesOf[T any](list []kube.Item[T]) []string {
	names := make([]string, len(list))
	for i := range list {
		names[i] = list[i].Name
	}
	return names
}

// names are those that objects of a kind have, to be looked up and to be suggested.
type names struct {
	list []string
	has  map[string]bool
}

func known(list []string) *names {
	n := &names{list, map[string]bool{}}
	for _, name := range list {
		n.has[name] = true
	}
	return n
}

func (im *importer) checkTopologies() {
	topologies := known(namesOf(im.dump.Topologies))
	for i := range im.dump.Flavors {
		f := &im.dump.Flavors[i]
		if name := f.T.Spec.TopologyName; name != "" && !topologies.has[name] {
			im.noSuch(&f.Object, kube.At("spec", "topologyName"), "Topology", "topologies", name, topologies)
		}
	}
}

// noSuch is a mistake of a name that no object has.
func (im *importer) noSuch(o *kube.Object, p kube.Path, kind, resource, name string, among *names) {
	if len(among.list) == 0 {
		im.wrong(o.Fail(p, "%q: there is no %s: expected the output of `kubectl get %s` among the files", name, kind, resource))
		return
	}
	im.wrong(o.Fail(p, "%q: there is no such %s%s", name, kind, suggest.Hint(name, among.list)))
}

func (im *importer) checkFlavors(o *kube.Object, groups []kube.ResourceGroup, flavors *names) {
	for i := range groups {
		for k := range groups[i].Flavors {
			if name := groups[i].Flavors[k].Name; !flavors.has[name] {
				im.noSuch(o, kube.At("spec", "resourceGroups", i, "flavors", k, "name"), "ResourceFlavor", "resourceflavors", name, flavors)
			}
		}
	}
}

// checkLocalQueues looks the ClusterQueues up. A cluster may have LocalQueues of one that was
// deleted, which admit nothing.
func (im *importer) checkLocalQueues() {
	queues := known(namesOf(im.dump.Queues))
	var kept []kube.Item[kube.LocalQueue]
	for i := range im.dump.LocalQueues {
		l := &im.dump.LocalQueues[i]
		switch name := l.T.Spec.ClusterQueue; {
		case queues.has[name]:
			kept = append(kept, *l)
		case l.T.Metadata.UID != "":
			im.about("LocalQueue is of a ClusterQueue that is not there (%s): it is left out", "LocalQueues are of ClusterQueues that are not there (%s): they are left out", l.Namespace+"/"+l.Name)
		default:
			im.noSuch(&l.Object, kube.At("spec", "clusterQueue"), "ClusterQueue", "clusterqueues", name, queues)
		}
	}
	im.dump.LocalQueues = kept
}

// checkCycles refuses cohorts that are above themselves.
func (im *importer) checkCycles() {
	parents := map[string]string{}
	for i := range im.dump.Cohorts {
		parents[im.dump.Cohorts[i].Name] = im.dump.Cohorts[i].T.ParentName()
	}
	for i := range im.dump.Cohorts {
		c := &im.dump.Cohorts[i]
		chain := []string{c.Name}
		for name := parents[c.Name]; name != "" && len(chain) <= len(parents); name = parents[name] {
			chain = append(chain, name)
			if name == c.Name {
				im.wrong(c.Fail(parentOf(c), "the cohort is above itself: %s", strings.Join(chain, " is below ")))
				return
			}
		}
	}
}

func parentOf(c *kube.Item[kube.Cohort]) kube.Path {
	if c.T.Spec.ParentName != "" {
		return kube.At("spec", "parentName")
	}
	return kube.At("spec", "parent")
}

// inQueues returns the jobs that are in a LocalQueue. A Workload whose queue is not there waits
// for good in a cluster; in a file that nobody served it is a mistake.
func (im *importer) inQueues(jobs []workloads.Job) (kept []workloads.Job) {
	var list []string
	for i := range im.dump.LocalQueues {
		list = append(list, im.dump.LocalQueues[i].Namespace+"/"+im.dump.LocalQueues[i].Name)
	}
	queues := known(list)
	served := map[string]*kube.Item[kube.Workload]{}
	for i := range im.dump.Workloads {
		served[im.dump.Workloads[i].Namespace+"/"+im.dump.Workloads[i].Name] = &im.dump.Workloads[i]
	}
	for i := range jobs {
		j := &jobs[i]
		w := served[j.ID]
		switch {
		case queues.has[j.Queue]:
			kept = append(kept, *j)
		case j.Queue == "":
			im.about("Workload names no queue (%s): it is left out", "Workloads name no queue (%s): they are left out", j.ID)
		case w.T.Metadata.UID != "" && len(list) > 0:
			im.about("Workload names a LocalQueue that is not there (%s): it is left out", "Workloads name LocalQueues that are not there (%s): they are left out", j.ID)
		default:
			im.noSuch(&w.Object, kube.At("spec", "queueName"), "LocalQueue", "localqueues -A", j.Queue, queues)
		}
	}
	return kept
}
