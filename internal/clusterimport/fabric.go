package clusterimport

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gangplan/gangplan/internal/scenario"
	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/topology/fabric"
	"github.com/gangplan/gangplan/traces/kube"
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
	have, err := im.dump.Allocatable(n)
	return err == nil && have[topology.GPU] > 0
}

// instanceType is the label with the cloud's name of a machine.
const instanceType = "node.kubernetes.io/instance-type"

// platforms are the profiles of machines, by how their types begin.
var platforms = []struct{ prefix, profile string }{
	{"p4d.", "aws-p4d"}, {"p4de.", "aws-p4d"}, {"p5.", "h100-efa"}, {"p5e.", "h100-efa"}, {"p5en.", "h100-efa"},
	{"p6-b200.", "b200-400g"}, {"p6-b300.", "b300-800g"}, {"p6e-gb200.", "gb200-nvl72"}, {"u-p6e-gb200", "gb200-nvl72"},
	{"a3-megagpu-", "a3-mega"}, {"a3-ultragpu-", "h100-ndr"}, {"a4-highgpu-", "b200-400g"}, {"a4x-highgpu-", "gb200-nvl72"},
	{"Standard_ND96asr_v4", "a100-hdr"}, {"Standard_ND96amsr_A100_v4", "a100-hdr"},
	{"Standard_ND96isr_H100_v5", "h100-ndr"}, {"Standard_ND96isr_H200_v5", "h100-ndr"}, {"Standard_ND128isr_NDR_GB200_v6", "gb200-nvl72"},
}

// readFabric gives the scenario the fabric of its machines, if they are all of one platform.
func (im *importer) readFabric() {
	found := ""
	for i := range im.dump.Nodes {
		n := &im.dump.Nodes[i]
		if !im.hasGPUs(n) {
			continue
		}
		k := slices.IndexFunc(platforms, func(p struct{ prefix, profile string }) bool {
			return strings.HasPrefix(n.T.Metadata.Labels[instanceType], p.prefix)
		})
		if k < 0 || found != "" && found != platforms[k].profile {
			return
		}
		found = platforms[k].profile
	}
	if _, ok := fabric.Lookup(found); ok {
		im.file.Fabric = &scenario.Fabric{Profile: found}
		im.note("the fabric is %s by the type of the machines; jobs communicate once workload.models says what they train", found)
	}
}

// dropFabric takes the fabric away where the cluster's tree cannot have it, and reports
// whether that was what is wrong.
func (im *importer) dropFabric(err error) bool {
	list, ok := errors.AsType[scenario.Errors](err)
	if !ok || im.file.Fabric == nil || !strings.HasPrefix(list[0].Field, "fabric") {
		return false
	}
	im.file.Fabric = nil
	im.Notes = slices.DeleteFunc(im.Notes, func(s string) bool { return strings.HasPrefix(s, "the fabric is ") })
	im.note("no fabric: %s", list[0].Msg)
	return true
}
