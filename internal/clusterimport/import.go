// Package clusterimport turns what kubectl prints of a cluster, nodes, Kueue's objects and
// Workloads, into a scenario, and says what does not add up in it.
package clusterimport

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/gangplan/gangplan/internal/scenario"
	"github.com/gangplan/gangplan/sim/quota"
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
	Import
}

// place is where a part of the file comes from.
type place struct {
	field string
	from  *kube.Object
}

// New imports a dump. Without levels they are those of a Topology, or what the labels of the
// nodes say. The error is a *kube.Error, or a scenario.Errors whose places are those of the
// objects.
func New(d *kube.Dump, name string, levels ...LevelLabel) (*Import, error) {
	im := &importer{dump: d, levels: map[string]string{}, keys: map[string]bool{}, given: levels}
	im.file = scenario.File{APIVersion: scenario.APIVersion, Kind: scenario.Kind, Name: name}
	if len(d.Nodes) == 0 {
		return nil, fmt.Errorf("no nodes: expected the output of `kubectl get nodes -o json` among the files")
	}
	if err := im.readJobs(); err != nil {
		return nil, err
	}
	im.readLevels()
	im.readFlavors()
	if err := im.readQueues(); err != nil {
		return nil, err
	}
	if err := im.readNodes(); err != nil {
		return nil, err
	}
	im.readConfiguration()
	im.readPolicies()
	im.readFabric()
	return im.finish()
}

// note adds a sentence about what is not as in the cluster.
func (im *importer) note(format string, args ...any) {
	if s := fmt.Sprintf(format, args...); !slices.Contains(im.Notes, s) {
		im.Notes = append(im.Notes, s)
	}
}

// from notes where a part of the file comes from.
func (im *importer) from(o *kube.Object, field string, i int) {
	im.places = append(im.places, place{field + "[" + strconv.Itoa(i) + "]", o})
}

// finish checks that the file is a scenario.
func (im *importer) finish() (*Import, error) {
	im.file.NotModelled = im.dump.NotModelled()
	check := im.file
	if len(im.Jobs) > 0 {
		check.Workload = scenario.Workload{Jobs: []scenario.Job{{ID: "none", Duration: 1, Pods: scenario.Pods{GPUsPerPod: new(scenario.Milli)}}}}
	}
	s, err := check.Resolve("")
	if err != nil && im.dropFabric(err) {
		check.Fabric = nil
		s, err = check.Resolve("")
	}
	if err != nil {
		return nil, im.locate(err)
	}
	if err := im.checkJobs(s); err != nil {
		return nil, err
	}
	im.File, im.Scenario = &im.file, s
	return &im.Import, nil
}

// locate gives the mistakes of a scenario the places of the objects they come from.
func (im *importer) locate(err error) error {
	list, ok := errors.AsType[scenario.Errors](err)
	if !ok {
		return err
	}
	for _, e := range list {
		for _, p := range im.places {
			if rest, ok := strings.CutPrefix(e.Field, p.field); ok {
				e.File, e.Line, e.Column = p.from.File, p.from.Line, p.from.Column
				e.Field = strings.TrimSpace(p.from.String() + " " + strings.TrimPrefix(rest, "."))
				break
			}
		}
	}
	return list
}

// readJobs turns the Workloads into jobs, and notes which labels they ask for.
func (im *importer) readJobs() error {
	im.nameLevels()
	jobs, warnings, err := im.dump.Jobs(im.levels)
	if err != nil {
		return err
	}
	im.Jobs, im.Notes = jobs, append(im.Notes, warnings...)
	if len(jobs) == 0 {
		im.note("there are no Workloads: the workload is a synthetic mix")
		im.file.Workload.Synthetic = &scenario.SyntheticJobs{Mix: "deep-learning", Jobs: 1000, Load: 0.8}
		return nil
	}
	im.file.Workload.Trace = &scenario.Trace{File: TraceFile}
	bare := 0
	for i := range jobs {
		for s := range jobs[i].PodSets {
			im.want(&jobs[i].PodSets[s])
			if r := &jobs[i].PodSets[s].Request; r[topology.CPU] == 0 || r[topology.Memory] == 0 {
				bare++
			}
		}
	}
	if bare > 0 {
		im.note("%d PodSets ask for no CPU or no memory: they are taken to need what is usual beside their GPUs", bare)
	}
	return nil
}

func (im *importer) want(set *workloads.PodSet) {
	for _, r := range set.NodeSelector {
		im.keys[r.Key] = true
	}
	for _, t := range set.NodeAffinity.Required {
		for _, r := range t {
			im.keys[r.Key] = true
		}
	}
	for _, t := range set.NodeAffinity.Preferred {
		for _, r := range t.Term {
			im.keys[r.Key] = true
		}
	}
}

// checkJobs refuses jobs of queues that are not among the objects.
func (im *importer) checkJobs(s *scenario.Scenario) error {
	known := map[string]bool{}
	for _, q := range s.Config.Locals {
		known[q.Name] = true
	}
	for i := range im.Jobs {
		if queue := im.Jobs[i].Queue; !known[queue] {
			for k := range im.dump.Workloads {
				if o := &im.dump.Workloads[k].Object; o.Namespace+"/"+o.Name == im.Jobs[i].ID {
					return &kube.Error{File: o.File, Line: o.Line, Column: o.Column, Field: o.String() + " spec.queueName",
						Msg: "LocalQueue " + strconv.Quote(queue) + " is not among the objects"}
				}
			}
		}
	}
	return nil
}

// nameLevels names the levels of the topologies: host for the hostname, and else the last
// part of the label, or all of it where two would be called the same.
func (im *importer) nameLevels() {
	taken := map[string]bool{}
	for _, l := range im.given {
		taken[l.Name], im.levels[l.Label] = true, l.Name
	}
	for i := range im.dump.Topologies {
		for _, l := range im.dump.Topologies[i].T.Spec.Levels {
			if _, ok := im.levels[l.NodeLabel]; ok {
				continue
			}
			name := l.NodeLabel[strings.LastIndexByte(l.NodeLabel, '/')+1:]
			if l.NodeLabel == hostname {
				name = "host"
			}
			if taken[name] {
				name = l.NodeLabel
			}
			taken[name], im.levels[l.NodeLabel] = true, name
		}
	}
}

const (
	hostname = "kubernetes.io/hostname"
	zone     = "topology.kubernetes.io/zone"
)

// readLevels chooses the levels of the cluster: those that are given, else those of the
// topology that most flavors name, else those that the labels of the nodes say.
func (im *importer) readLevels() {
	levels := im.given
	if t := im.mainTopology(); len(levels) == 0 && t != nil {
		for _, l := range t.T.Spec.Levels {
			if l.NodeLabel != hostname {
				levels = append(levels, LevelLabel{im.levels[l.NodeLabel], l.NodeLabel})
			}
		}
		im.file.Cluster.Topology = t.Name
		if len(im.dump.Topologies) > 1 {
			im.note("of %d topologies the cluster has the levels of %s", len(im.dump.Topologies), t.Name)
		}
	} else if len(levels) == 0 {
		levels = im.foundLevels()
	}
	for _, l := range levels {
		im.labels, im.levels[l.Label] = append(im.labels, l.Label), l.Name
		im.file.Cluster.Levels = append(im.file.Cluster.Levels, l.Name)
	}
	im.file.Cluster.Levels = append(im.file.Cluster.Levels, "host")
}

func (im *importer) mainTopology() *kube.Item[kube.Topology] {
	named := func(t *kube.Item[kube.Topology]) (n int) {
		for i := range im.dump.Flavors {
			if im.dump.Flavors[i].T.Spec.TopologyName == t.Name {
				n++
			}
		}
		return n
	}
	var best *kube.Item[kube.Topology]
	for i := range im.dump.Topologies {
		if t := &im.dump.Topologies[i]; best == nil || named(t) > named(best) {
			best = t
		}
	}
	return best
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
		im.from(&f.Object, "flavors", i)
		im.file.Flavors = append(im.file.Flavors, out)
	}
}

// readNodes reads the nodes that take pods.
func (im *importer) readNodes() error {
	for i := range im.dump.Nodes {
		n := &im.dump.Nodes[i]
		if n.T.Spec.Unschedulable {
			im.note("node %s is cordoned: it is left out", n.Name)
			continue
		}
		if !ready(&n.T) {
			im.note("node %s is not ready: it is left out", n.Name)
			continue
		}
		node, err := im.node(n)
		if err != nil {
			return err
		}
		im.from(&n.Object, "cluster.nodes", len(im.file.Cluster.Nodes))
		im.file.Cluster.Nodes = append(im.file.Cluster.Nodes, node)
	}
	if len(im.file.Cluster.Nodes) == 0 {
		return fmt.Errorf("no node of %d takes pods: all are cordoned or not ready", len(im.dump.Nodes))
	}
	return nil
}

// ready reports whether a node says that it is, or says nothing.
func ready(n *kube.Node) bool {
	for _, c := range n.Status.Conditions {
		if c.Type == "Ready" {
			return c.Status == "True"
		}
	}
	return true
}

// gpuLabels are where vendors and clouds write the model of a node's GPUs.
var gpuLabels = []string{"nvidia.com/gpu.product", "cloud.google.com/gke-accelerator", "amd.com/gpu.product-name", "gpu.intel.com/product"}

func (im *importer) node(n *kube.Item[kube.Node]) (scenario.Node, error) {
	have, err := im.dump.Allocatable(n)
	out := scenario.Node{Name: n.Name, GPUs: int(have[topology.GPU] / topology.Milli), CPU: scenario.Milli(have[topology.CPU]),
		Memory: scenario.Bytes(have[topology.Memory]), Pods: have[topology.Pods], NVLinkDomain: n.T.Metadata.Labels["nvidia.com/gpu.clique"]}
	labels := n.T.Metadata.Labels
	for _, key := range gpuLabels {
		out.GPUModel = cmp.Or(out.GPUModel, labels[key])
	}
	if len(im.labels) > 0 {
		out.Path = im.pathOf(n)
	}
	for _, key := range slices.Sorted(maps.Keys(im.keys)) {
		if value, ok := labels[key]; ok {
			if out.Labels == nil {
				out.Labels = map[string]string{}
			}
			out.Labels[key] = value
		}
	}
	for _, t := range n.T.Spec.Taints {
		if !strings.HasPrefix(t.Key, "node.kubernetes.io/") {
			out.Taints = append(out.Taints, scenario.Taint{Key: t.Key, Value: t.Value, Effect: t.Effect})
		}
	}
	return out, err
}

// pathOf returns the domains of a node. One that lacks the label of a level is in a domain of
// its own there: Kueue would not place pods on it by topology.
func (im *importer) pathOf(n *kube.Item[kube.Node]) []string {
	var path []string
	for _, label := range im.labels {
		value := n.T.Metadata.Labels[label]
		if value == "" {
			im.note("node %s has no label %s: it is alone in its domain of that level", n.Name, label)
			value = "without-label-" + n.Name
		}
		path = append(path, value)
	}
	return path
}

// readPolicies compares what the cluster has with plain Kubernetes.
func (im *importer) readPolicies() {
	params := map[string]string{}
	if c := im.dump.Configuration; c != nil {
		im.fairSharing(&c.T, params)
		im.gates(&c.T, params)
	}
	im.file.Policies = []scenario.Policy{{Name: "per-pod"}, {Name: "gang", Params: params}}
	if len(im.dump.Topologies) > 0 {
		im.file.Policies = append(im.file.Policies, scenario.Policy{Name: "gang-topology", Params: maps.Clone(params)})
	}
}

// strategies are Kueue's names of the queueing strategies.
var strategies = []string{quota.BestEffortFIFO.String(), quota.StrictFIFO.String()}
