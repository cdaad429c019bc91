package clusterimport

import (
	"errors"
	"slices"
	"strings"

	"github.com/gangplan/gangplan/internal/scenario"
	"github.com/gangplan/gangplan/topology/fabric"
)

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
	im.notes = slices.DeleteFunc(im.notes, func(n *note) bool { return strings.HasPrefix(n.text, "the fabric is ") })
	im.note("no fabric: %s", list[0].Msg)
	return true
}
