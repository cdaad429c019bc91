package kube

import (
	"testing"

	"github.com/gangplan/gangplan/topology"
)

// Quantities are Kubernetes' own; what is larger than anything there is, is the largest that
// a scenario knows, and never wraps.
func TestQuantity(t *testing.T) {
	for _, c := range []struct {
		resource topology.Resource
		text     string
		want     int64
		ok       bool
	}{
		{topology.GPU, "8", 8000, true}, {topology.CPU, "500m", 500, true}, {topology.CPU, "1e1", 10_000, true},
		{topology.Memory, "96Gi", 96 << 30, true}, {topology.Pods, "110", 110, true}, {topology.CPU, "-1", -1000, true},
		{topology.GPU, "9223372036854775807", unlimited, true}, {topology.GPU, "1e30", unlimited, true},
		{topology.Memory, "10E", unlimited, true}, {topology.GPU, "100000000000000000000", unlimited, true},
		{topology.CPU, "lots", 0, false}, {topology.CPU, "", 0, false},
	} {
		if got, ok := Quantity(c.resource, c.text); got != c.want || ok != c.ok {
			t.Errorf("%v %q is %d, %v; want %d, %v", c.resource, c.text, got, ok, c.want, c.ok)
		}
	}
}
