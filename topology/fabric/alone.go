package fabric

import (
	"fmt"

	"github.com/gangplan/gangplan/topology"
)

// Alone compiles a profile for NVLink domains that nobody else uses, under the switches
// that the profile says they have, and puts a gang on them that fills so many GPUs of each:
// what a benchmark of collectives runs on. A domain of several hosts is taken as one host
// with all their NICs. The levels are pod, leaf and host.
func Alone(p Profile, domains, gpus int) (*Fabric, []Pod, error) {
	if domains < 1 || gpus < 1 || gpus > p.DomainGPUs {
		return nil, nil, fmt.Errorf("fabric profile %q: %d domains with %d GPUs each: expected at least one, and at most %d GPUs",
			p.Name, domains, gpus, p.DomainGPUs)
	}
	p.NICs *= max(1, p.DomainHosts)
	under := func(tier int) int { return max(1, p.Tiers[tier].Hosts/max(1, p.DomainHosts)) }
	nodes, pods := make([]topology.Node, domains), make([]Pod, domains)
	for i := range nodes {
		leaf, pod := i/under(0), i/max(under(0), under(1))
		nodes[i] = topology.Node{Name: fmt.Sprintf("host-%06d", i),
			Path:        []string{fmt.Sprintf("pod-%06d", pod), fmt.Sprintf("leaf-%06d", leaf)},
			Allocatable: topology.DefaultAllocatable(int64(p.DomainGPUs))}
		pods[i] = Pod{Node: int32(i), GPUs: int32(gpus) * topology.Milli}
	}
	c, err := topology.Build([]string{"pod", "leaf", "host"}, nodes)
	if err != nil {
		return nil, nil, err
	}
	f, err := New(p, c, nil)
	return f, pods, err
}

// LevelName is the name of the bottleneck of a cost: a level of the cluster, NICs or
// NVLink.
func (f *Fabric) LevelName(level int8) string {
	switch {
	case level == NoLevel:
		return "none"
	case level == InDomain:
		return "nvlink"
	case int32(level) == f.cluster.HostLevel():
		return "nic"
	}
	return f.cluster.Levels[level]
}
