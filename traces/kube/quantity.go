package kube

import (
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/gangplan/gangplan/topology"
)

// Amounts is a list of quantities by resource, as Kubernetes writes it.
type Amounts map[string]string

// NoUnit is a resource that gangplan does not count.
const NoUnit = topology.NumResources

// ResourceOf returns what gangplan counts a resource as, or NoUnit: GPUs of any vendor, CPU,
// memory and pods.
func ResourceOf(name string) topology.Resource {
	switch {
	case strings.HasSuffix(name, "/gpu"):
		return topology.GPU
	case name == "cpu":
		return topology.CPU
	case name == "memory":
		return topology.Memory
	case name == "pods":
		return topology.Pods
	}
	return NoUnit
}

// unlimited is what larger quantities are read as: 8 PiB, or as many thousandths of a GPU.
const unlimited = 1 << 53

// Quantity returns a quantity in gangplan's units: thousandths of GPUs and cores, bytes, pods.
func Quantity(r topology.Resource, text string) (int64, bool) {
	q, err := resource.ParseQuantity(text)
	if err != nil {
		return 0, false
	}
	scale := resource.Scale(0)
	if r == topology.GPU || r == topology.CPU {
		scale = resource.Milli
	}
	// Numbers that nobody has, such as 2^63-1 for no limit, become one that nobody has either,
	// of which the sum over a thousand queues stays in range.
	if most := resource.NewScaledQuantity(unlimited, scale); q.Cmp(*most) > 0 {
		q = *most
	}
	return q.ScaledValue(scale), true
}

// resources sums what a list says of the resources that gangplan counts. The others' names go
// to unknown, unless nobody schedules by them.
func (a Amounts) resources(path string, unknown *fieldSet) (sum topology.Resources) {
	for _, name := range sortedKeys(a) {
		r := ResourceOf(name)
		if n, ok := Quantity(r, a[name]); r != NoUnit && ok {
			sum[r] += n
		} else if r == NoUnit && !strings.HasPrefix(name, "hugepages-") && name != "ephemeral-storage" {
			unknown.add(path + "." + name)
		}
	}
	return sum
}

// Allocatable returns what a node offers to pods.
func (d *Dump) Allocatable(n *Item[Node]) topology.Resources {
	return n.T.Status.Allocatable.resources("Node.allocatable", &d.unknown)
}
