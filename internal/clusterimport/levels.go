package clusterimport

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/traces/kube"
	"github.com/gangplan/gangplan/workloads"
)

// The labels of nodes that Kubernetes itself gives.
const (
	hostname = "kubernetes.io/hostname"
	zone     = "topology.kubernetes.io/zone"
)

// LevelLabel is a level of the cluster and the node label whose values are its domains.
type LevelLabel struct{ Name, Label string }

// ParseLevels reads levels as block=example.com/block,rack=example.com/rack, from the
// outermost; the host needs no mention.
func ParseLevels(text string) ([]LevelLabel, error) {
	var levels []LevelLabel
	for _, part := range strings.Split(text, ",") {
		name, label, ok := strings.Cut(strings.TrimSpace(part), "=")
		if !ok || name == "" || label == "" || name == "host" {
			return nil, fmt.Errorf("levels: %q: expected the name of a level above the host, = and the label of its domains, such as rack=example.com/rack", part)
		}
		if slices.ContainsFunc(levels, func(l LevelLabel) bool { return l.Name == name || l.Label == label }) {
			return nil, fmt.Errorf("levels: %q is given twice", part)
		}
		levels = append(levels, LevelLabel{name, label})
	}
	return levels, nil
}

// knownLevels are the labels by which clouds and topology discovery say where a node stands
// in the network, each set from the outermost. The first of which every node with GPUs has
// all is the cluster's, if there is no Topology.
var knownLevels = [][]LevelLabel{
	{{"layer1", "topology.k8s.aws/network-node-layer-1"}, {"layer2", "topology.k8s.aws/network-node-layer-2"}, {"layer3", "topology.k8s.aws/network-node-layer-3"}},
	{{"block", "cloud.google.com/gce-topology-block"}, {"subblock", "cloud.google.com/gce-topology-subblock"}},
	{{"core", "network.topology.nvidia.com/core"}, {"spine", "network.topology.nvidia.com/spine"}, {"leaf", "network.topology.nvidia.com/leaf"}},
	{{"spine", "network.topology.nvidia.com/spine"}, {"leaf", "network.topology.nvidia.com/leaf"}},
	{{"leaf", "network.topology.nvidia.com/leaf"}},
	{{"block", "cloud.provider.com/topology-block"}, {"rack", "cloud.provider.com/topology-rack"}},
	{{"zone", zone}},
}

// foundLevels returns the levels that the labels of the nodes say.
func (im *importer) foundLevels() []LevelLabel {
	for _, set := range knownLevels {
		if im.haveAll(set) {
			return set
		}
	}
	return nil
}

// haveAll reports whether every node with GPUs has all labels of a set; without GPUs anywhere
// every node counts.
func (im *importer) haveAll(set []LevelLabel) bool {
	lacks := func(n kube.Item[kube.Node]) bool {
		return slices.ContainsFunc(set, func(l LevelLabel) bool { return n.T.Metadata.Labels[l.Label] == "" })
	}
	nodes := slices.DeleteFunc(slices.Clone(im.dump.Nodes), func(n kube.Item[kube.Node]) bool { return !im.hasGPUs(&n) })
	if len(nodes) == 0 {
		nodes = im.dump.Nodes
	}
	return !slices.ContainsFunc(nodes, lacks)
}

func (im *importer) hasGPUs(n *kube.Item[kube.Node]) bool {
	return im.dump.Allocatable(n)[topology.GPU] > 0
}

// nameLevels names the levels of the topologies: host for the hostname, and else the last
// part of the label, or all of it where two would be called the same.
func (im *importer) nameLevels() {
	taken := map[string]bool{"host": true}
	im.levels[hostname] = "host"
	for _, l := range im.given {
		taken[l.Name], im.levels[l.Label] = true, l.Name
	}
	for i := range im.dump.Topologies {
		for _, l := range im.dump.Topologies[i].T.Spec.Levels {
			if _, ok := im.levels[l.NodeLabel]; ok {
				continue
			}
			name := nameOf(l.NodeLabel)
			if taken[name] {
				name = l.NodeLabel
			}
			taken[name], im.levels[l.NodeLabel] = true, name
		}
	}
}

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
		im.from(&t.Object, kube.At("spec", "levels"), "cluster.levels")
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

// fitLevels takes away what jobs ask of levels that the cluster is not modelled with: those of
// other topologies.
func (im *importer) fitLevels(j *workloads.Job) {
	has := func(level string) bool { return level == "" || slices.Contains(im.file.Cluster.Levels, level) }
	fits := true
	for i := range j.PodSets {
		t := &j.PodSets[i].Topology
		if !has(t.Level) || !has(t.Slices[0].Level) || !has(t.Slices[1].Level) || !has(t.Slices[2].Level) {
			*t, fits = workloads.TopologyRequest{}, false
		}
	}
	for _, terms := range []*[]workloads.PodTerm{&j.Affinity, &j.AntiAffinity} {
		before := len(*terms)
		*terms = slices.DeleteFunc(slices.Clone(*terms), func(t workloads.PodTerm) bool { return !has(t.Level) })
		fits = fits && len(*terms) == before
	}
	before := len(j.Spread)
	j.Spread = slices.DeleteFunc(slices.Clone(j.Spread), func(s workloads.SpreadConstraint) bool { return !has(s.Level) })
	if !fits || len(j.Spread) < before {
		im.about("Workload asks for levels that the cluster is not modelled with (%s): it is placed without them",
			"Workloads ask for levels that the cluster is not modelled with (%s): they are placed without them", j.ID)
	}
}
