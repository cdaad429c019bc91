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
	flavors := namesOf(im.dump.Flavors)
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

func (im *importer) checkTopologies() {
	known := map[string]bool{}
	names := namesOf(im.dump.Topologies)
	for _, name := range names {
		known[name] = true
	}
	for i := range im.dump.Flavors {
		f := &im.dump.Flavors[i]
		if name := f.T.Spec.TopologyName; name != "" && !known[name] {
			im.noSuch(&f.Object, kube.At("spec", "topologyName"), "Topology", "topologies", name, names)
		}
	}
}

// noSuch is a mistake of a name that no object has.
func (im *importer) noSuch(o *kube.Object, p kube.Path, kind, resource, name string, known []string) {
	if len(known) == 0 {
		im.wrong(o.Fail(p, "%q: there is no %s: expected the output of `kubectl get %s` among the files", name, kind, resource))
		return
	}
	im.wrong(o.Fail(p, "%q: there is no such %s%s", name, kind, suggest.Hint(name, known)))
}

func (im *importer) checkFlavors(o *kube.Object, groups []kube.ResourceGroup, names []string) {
	known := map[string]bool{}
	for _, name := range names {
		known[name] = true
	}
	for i := range groups {
		for k := range groups[i].Flavors {
			if name := groups[i].Flavors[k].Name; !known[name] {
				im.noSuch(o, kube.At("spec", "resourceGroups", i, "flavors", k, "name"), "ResourceFlavor", "resourceflavors", name, names)
			}
		}
	}
}

// checkLocalQueues looks the ClusterQueues up. A cluster may have LocalQueues of one that was
// deleted, which admit nothing.
func (im *importer) checkLocalQueues() {
	names := namesOf(im.dump.Queues)
	known := map[string]bool{}
	for _, name := range names {
		known[name] = true
	}
	var kept []kube.Item[kube.LocalQueue]
	for i := range im.dump.LocalQueues {
		l := &im.dump.LocalQueues[i]
		switch name := l.T.Spec.ClusterQueue; {
		case known[name]:
			kept = append(kept, *l)
		case l.T.Metadata.UID != "":
			im.about("LocalQueue is of a ClusterQueue that is not there (%s): it is left out", "LocalQueues are of ClusterQueues that are not there (%s): they are left out", l.Namespace+"/"+l.Name)
		default:
			im.noSuch(&l.Object, kube.At("spec", "clusterQueue"), "ClusterQueue", "clusterqueues", name, names)
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
	known := map[string]bool{}
	var names []string
	for i := range im.dump.LocalQueues {
		l := &im.dump.LocalQueues[i]
		names = append(names, l.Namespace+"/"+l.Name)
		known[l.Namespace+"/"+l.Name] = true
	}
	served := map[string]*kube.Item[kube.Workload]{}
	for i := range im.dump.Workloads {
		served[im.dump.Workloads[i].Namespace+"/"+im.dump.Workloads[i].Name] = &im.dump.Workloads[i]
	}
	for i := range jobs {
		j := &jobs[i]
		w := served[j.ID]
		switch {
		case known[j.Queue]:
			kept = append(kept, *j)
		case j.Queue == "":
			im.about("Workload names no queue (%s): it is left out", "Workloads name no queue (%s): they are left out", j.ID)
		case w.T.Metadata.UID != "" && len(names) > 0:
			im.about("Workload names a LocalQueue that is not there (%s): it is left out", "Workloads name LocalQueues that are not there (%s): they are left out", j.ID)
		default:
			im.noSuch(&w.Object, kube.At("spec", "queueName"), "LocalQueue", "localqueues -A", j.Queue, names)
		}
	}
	return kept
}
