package clusterimport

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gangplan/gangplan/internal/scenario"
	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/traces/kube"
)

// readNodes reads the nodes that take pods.
func (im *importer) readNodes() error {
	for i := range im.dump.Nodes {
		n := &im.dump.Nodes[i]
		if n.T.Spec.Unschedulable {
			im.about("node is cordoned (%s): it is left out", "nodes are cordoned (%s): they are left out", n.Name)
			continue
		}
		if !ready(&n.T) {
			im.about("node is not ready (%s): it is left out", "nodes are not ready (%s): they are left out", n.Name)
			continue
		}
		im.from(&n.Object, nil, "cluster.nodes", len(im.file.Cluster.Nodes))
		im.file.Cluster.Nodes = append(im.file.Cluster.Nodes, im.node(n))
	}
	if len(im.file.Cluster.Nodes) == 0 {
		return fmt.Errorf("no node of %d takes pods: all are cordoned or not ready", len(im.dump.Nodes))
	}
	return nil
}

// takesPods reports whether a node is one of the cluster's.
func (im *importer) takesPods(n *kube.Item[kube.Node]) bool {
	return !n.T.Spec.Unschedulable && ready(&n.T)
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

func (im *importer) node(n *kube.Item[kube.Node]) scenario.Node {
	have := im.dump.Allocatable(n)
	if have[topology.CPU] == 0 || have[topology.Memory] == 0 {
		im.about("node says nothing of its CPU or memory (%s): it is taken to have what is usual", "nodes say nothing of their CPU or memory (%s): they are taken to have what is usual", n.Name)
	}
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
	return out
}

// pathOf returns the domains of a node. One that lacks the label of a level is in a domain of
// its own there: Kueue would not place pods on it by topology.
func (im *importer) pathOf(n *kube.Item[kube.Node]) []string {
	var path []string
	for _, label := range im.labels {
		value := n.T.Metadata.Labels[label]
		if value == "" {
			im.about("node has no label "+label+" (%s): it is alone in its domain of that level", "nodes have no label "+label+" (%s): they are alone in their domains of that level", n.Name)
			value = "without-label-" + n.Name
		}
		path = append(path, value)
	}
	return path
}
