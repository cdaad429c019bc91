package fabric

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gangplan/gangplan/topology"
)

// regular makes a cluster of equal hosts with eight GPUs.
func regular(t testing.TB, levels string, counts ...int) *topology.Cluster {
	t.Helper()
	return regularOf(t, 8, levels, counts...)
}

func regularOf(t testing.TB, gpus int, levels string, counts ...int) *topology.Cluster {
	t.Helper()
	s := topology.Synthetic{Levels: strings.Fields(levels), Counts: counts, GPUs: gpus}
	nodes, err := s.Nodes()
	if err != nil {
		t.Fatal(err)
	}
	return build(t, s.Levels, nodes)
}

func build(t testing.TB, levels []string, nodes []topology.Node) *topology.Cluster {
	t.Helper()
	c, err := topology.Build(levels, nodes)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// racksOf makes racks of the given host sizes (GPUs of each host), in two levels.
func racksOf(t testing.TB, racks ...[]int64) *topology.Cluster {
	t.Helper()
	var nodes []topology.Node
	for r, hosts := range racks {
		for _, gpus := range hosts {
			nodes = append(nodes, topology.Node{
				Name:        fmt.Sprint("h", len(nodes)),
				Path:        []string{fmt.Sprint("r", r)},
				Allocatable: topology.DefaultAllocatable(gpus),
			})
		}
	}
	return build(t, []string{"rack", "host"}, nodes)
}

func compile(t testing.TB, p Profile, c *topology.Cluster, levels map[string]Level) *Fabric {
	t.Helper()
	f, err := New(p, c, levels)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// h100 is the shipped profile; bare is a fabric of round numbers without latency: 100 GB/s
// in the domain, four NICs of 10 GB/s.
func h100(t testing.TB) Profile {
	p, ok := Lookup("h100-ndr")
	if !ok {
		t.Fatal("h100-ndr is not shipped")
	}
	return p
}

func bare() Profile {
	fast := Latency{B0: 1e-9} // the line for small messages never wins
	return Profile{Name: "bare", DomainGPUs: 8, DomainBusBW: 100, NICs: 4, NICGBps: 10, NetEfficiency: 1,
		Intra: fast, Inter: fast}
}

// podsOn puts one pod of the given milli-GPU on each node, in rank order.
func podsOn(gpus int32, nodes ...int32) []Pod {
	pods := make([]Pod, len(nodes))
	for i, n := range nodes {
		pods[i] = Pod{n, gpus}
	}
	return pods
}

func sizesOf(pods []Pod) []int32 {
	sizes := make([]int32, len(pods))
	for i, p := range pods {
		sizes[i] = p.GPUs
	}
	return sizes
}

// oversubscribed is a level of ratio r to 1.
func oversubscribed(level string, r float64) map[string]Level {
	return map[string]Level{level: {Oversubscription: r, Efficiency: 1}}
}

const (
	kib = 1 << 10
	mib = 1 << 20
	gib = 1 << 30
)
