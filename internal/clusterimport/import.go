// Package clusterimport turns what kubectl prints of a cluster, nodes, Kueue's objects and
// Workloads, into a scenario, and says what does not add up in it.
package clusterimport

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gangplan/gangplan/internal/scenario"
	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/traces/kube"
	"github.com/gangplan/gangplan/workloads"
)

// TraceFile is the file of jobs that an imported scenario names.
const TraceFile = "workloads.jsonl"

// Import is what came of a dump.
type Import struct {
	File     *scenario.File
	Jobs     []workloads.Job // of the Workloads, for TraceFile; none: the scenario has a synthetic workload
	Scenario *scenario.Scenario

	Notes []string // what was left out or assumed; each is one sentence

	trace []byte // what TraceFile has
}

// importer is the state of one Import.
type importer struct {
	dump   *kube.Dump
	file   scenario.File
	levels map[string]string // name of a level by its node label
	labels []string          // of the levels, from the outermost
	given  []LevelLabel      // levels that the user says, in place of a Topology's
	keys   map[string]bool   // labels of nodes that somebody asks for
	places []place           // of what the file has, for errors
	notes  []*note
	errs   kube.Errors
	Import
}

// New imports a dump. Without levels they are those of a Topology, or what the labels of the
// nodes say. The error is a kube.Errors, or a scenario.Errors whose places are those of the
// objects.
func New(d *kube.Dump, name string, levels ...LevelLabel) (*Import, error) {
	im := &importer{dump: d, levels: map[string]string{}, keys: map[string]bool{}, given: levels}
	im.file = scenario.File{APIVersion: scenario.APIVersion, Kind: scenario.Kind, Name: name}
	if len(d.Nodes) == 0 {
		return nil, fmt.Errorf("no nodes: expected the output of `kubectl get nodes -o json` among the files%s", insteadOf(d))
	}
	im.checkNames()
	im.nameLevels()
	im.readLevels()
	im.readJobs()
	if len(im.errs) > 0 {
		return nil, im.errs[:min(len(im.errs), kube.MaxErrors)]
	}
	im.readFlavors()
	im.readQueues()
	im.needQueues()
	if err := im.readNodes(); err != nil {
		return nil, err
	}
	im.readConfiguration()
	im.readQuotaCheck()
	im.readPolicies()
	im.readFabric()
	im.noteObjects()
	return im.finish()
}

// insteadOf says what a dump has that has no nodes.
func insteadOf(d *kube.Dump) string {
	var have []string
	for _, list := range []struct {
		kind  string
		count int
	}{
		{"ClusterQueue", len(d.Queues)}, {"Cohort", len(d.Cohorts)}, {"LocalQueue", len(d.LocalQueues)}, {"ResourceFlavor", len(d.Flavors)},
		{"Topology", len(d.Topologies)}, {"Workload", len(d.Workloads)},
	} {
		if list.count > 0 {
			have = append(have, fmt.Sprintf("%d %s", list.count, list.kind))
		}
	}
	for _, k := range d.Ignored {
		have = append(have, fmt.Sprintf("%d %s", k.Count, k.Name))
	}
	if len(have) == 0 {
		return ", which have no objects"
	}
	return ", which have " + kube.Few(have)
}

func (im *importer) wrong(e *kube.Error) { im.errs = append(im.errs, e) }

// finish checks that the file and its trace are a scenario.
func (im *importer) finish() (*Import, error) {
	im.file.NotModelled = im.dump.NotModelled()
	if err := im.writeTrace(); err != nil {
		return nil, err
	}
	s, err := im.file.ResolveFS(traceFS(im.trace), ".")
	if err != nil && im.dropFabric(err) {
		s, err = im.file.ResolveFS(traceFS(im.trace), ".")
	}
	if err != nil {
		return nil, im.locate(err)
	}
	im.File, im.Scenario, im.Notes = &im.file, s, im.sentences()
	return &im.Import, nil
}

// readJobs turns the Workloads into jobs, and notes which labels they ask for.
func (im *importer) readJobs() {
	jobs, notes, err := im.dump.Jobs(im.levels)
	if list, ok := err.(kube.Errors); ok {
		im.errs = append(im.errs, list...)
		return
	}
	for _, text := range notes {
		im.note("%s", text)
	}
	im.Jobs = im.inQueues(jobs)
	if len(im.Jobs) == 0 {
		im.inventJobs()
		return
	}
	im.file.Workload.Trace = &scenario.Trace{File: TraceFile}
	for i := range im.Jobs {
		im.fitLevels(&im.Jobs[i])
		for s := range im.Jobs[i].PodSets {
			im.want(&im.Jobs[i].PodSets[s])
		}
	}
}

// inventJobs gives a cluster without Workloads something to do.
func (im *importer) inventJobs() {
	if slices.ContainsFunc(im.dump.Nodes, func(n kube.Item[kube.Node]) bool { return im.takesPods(&n) && im.hasGPUs(&n) }) {
		im.note("there are no Workloads: the workload is a synthetic mix")
		im.file.Workload.Synthetic = &scenario.SyntheticJobs{Mix: "deep-learning", Jobs: 1000, Load: 0.8}
		return
	}
	im.note("there are no Workloads, and no GPUs of which a mix could be drawn: the workload is one job, for you to change")
	im.file.Workload.Jobs = []scenario.Job{{ID: "example", Duration: scenario.Duration(time.Hour), Pods: scenario.Pods{Pods: 1, GPUsPerPod: new(scenario.Milli)}}}
}

func (im *importer) want(set *workloads.PodSet) {
	terms := append([]topology.Term{set.NodeSelector}, set.NodeAffinity.Required...)
	for _, t := range set.NodeAffinity.Preferred {
		terms = append(terms, t.Term)
	}
	for _, t := range terms {
		for _, r := range t {
			im.keys[r.Key] = true
		}
	}
}

// readFlavors reads the ResourceFlavors.
func (im *importer) readFlavors() {
	for i := range im.dump.Flavors {
		f := &im.dump.Flavors[i]
		out := scenario.Flavor{Name: f.Name, NodeLabels: f.T.Spec.NodeLabels}
		for key := range maps.Keys(f.T.Spec.NodeLabels) {
			im.keys[key] = true
		}
		for _, t := range f.T.Spec.NodeTaints {
			out.NodeTaints = append(out.NodeTaints, scenario.Taint{Key: t.Key, Value: t.Value, Effect: t.Effect})
		}
		for _, t := range f.T.Spec.Tolerations {
			out.Tolerations = append(out.Tolerations, scenario.Toleration{Key: t.Key, Operator: t.Operator, Value: t.Value, Effect: t.Effect})
		}
		im.from(&f.Object, nil, "flavors", i)
		im.file.Flavors = append(im.file.Flavors, out)
	}
}

// readPolicies compares what the cluster has with plain Kubernetes.
func (im *importer) readPolicies() {
	params := map[string]string{}
	if c := im.dump.Configuration; c != nil {
		im.fairSharing(c, params)
		im.gates(&c.T, params)
	}
	im.file.Policies = []scenario.Policy{{Name: "per-pod"}, {Name: "gang", Params: params}}
	if len(im.dump.Topologies) > 0 {
		im.file.Policies = append(im.file.Policies, scenario.Policy{Name: "gang-topology", Params: maps.Clone(params)})
	}
}

// needQueues leaves out what means nothing without ClusterQueues.
func (im *importer) needQueues() {
	if len(im.dump.Queues) > 0 {
		return
	}
	if len(im.file.Flavors)+len(im.file.Cohorts) > 0 {
		im.note("there are no ClusterQueues: one queue has all of the cluster, and flavors and cohorts are left out")
	}
	im.file.Flavors, im.file.Cohorts = nil, nil
}

// noteObjects says which objects were left out, and which were there again.
func (im *importer) noteObjects() {
	for _, k := range im.dump.Ignored {
		im.about("kind of objects says nothing that is modelled: %s", "kinds of objects say nothing that is modelled: %s", fmt.Sprintf("%d %s", k.Count, k.Name))
	}
	for i := range im.dump.Copies {
		im.about("object is there again, alike (%s): it counts once", "objects are there again, alike (%s): they count once", im.dump.Copies[i].String())
	}
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// nameOf is the last part of a label, after the domain.
func nameOf(label string) string { return label[strings.LastIndexByte(label, '/')+1:] }
