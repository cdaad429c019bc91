package fabric

import (
	"fmt"

	"github.com/gangplan/gangplan/topology"
)

// Alone compiles a profile for hosts that nobody else uses, packed in the platform's NVLink
// domains and under the switches that the profile says they have, and puts a gang on them
// that fills so many GPUs of each: what a benchmark of collectives runs on. The levels are
// pod, leaf and host.
func Alone(p Profile, hosts, gpus int) (*Fabric, []Pod, error) {
	together, most := max(1, p.DomainHosts), p.HostGPUs()
	if hosts < 1 || gpus < 1 || gpus > most {
		return nil, nil, fmt.Errorf("fabric profile %q: %d nodes with %d GPUs each: expected at least one, and at most %d GPUs",
			p.Name, hosts, gpus, most)
	}
	nodes, pods := make([]topology.Node, hosts), make([]Pod, hosts)
	for i := range nodes {
		leaf, pod := i/max(1, p.Tiers[0].Hosts), i/max(1, p.Tiers[0].Hosts, p.Tiers[1].Hosts)
		nodes[i] = topology.Node{Name: fmt.Sprintf("host-%06d", i),
			Path:        []string{fmt.Sprintf("pod-%06d", pod), fmt.Sprintf("leaf-%06d", leaf)},
			Labels:      map[string]string{topology.NVLinkDomainLabel: fmt.Sprintf("nvlink-%06d", i/together)},
			Allocatable: topology.DefaultAllocatable(int64(most))}
		pods[i] = Pod{Node: int32(i), GPUs: int32(gpus) * topology.Milli}
	}
	c, err := topology.Build([]string{"pod", "leaf", "host"}, nodes)
	if err != nil {
		return nil, nil, err
	}
	f, err := New(p, c, nil)
	return f, pods, err
}

// Point is a collective of one size, as nccl-tests reports it: AlgBW is the size over the
// time, BusBW that times BusFactor. Both are 0 where there is nothing to send.
type Point struct {
	Bytes int64   `json:"size_bytes"`
	Nanos int64   `json:"time_ns"`
	AlgBW float64 `json:"algbw_GBps"`
	BusBW float64 `json:"busbw_GBps"`
	Level string  `json:"bottleneck"` // see LevelName
}

// SweepSizes are the sizes of a sweep: the powers of two from 8 bytes to 16 GiB.
func SweepSizes() []int64 {
	var sizes []int64
	for size := int64(8); size <= 16<<30; size *= 2 {
		sizes = append(sizes, size)
	}
	return sizes
}

// Measure is a benchmark of a collective on hosts of their own; see Alone.
func Measure(p Profile, op Collective, hosts, gpus int, sizes []int64) ([]Point, error) {
	f, pods, err := Alone(p, hosts, gpus)
	if err != nil {
		return nil, err
	}
	s, points := NewScratch(f), make([]Point, len(sizes))
	for i, size := range sizes {
		cost := f.Collect(s, pods, Traffic{Collective: op, Bytes: size})
		points[i] = Point{Bytes: size, Nanos: cost.Nanos, Level: f.LevelName(cost.Level)}
		if cost.Nanos > 0 {
			points[i].AlgBW = float64(size) / float64(cost.Nanos)
			points[i].BusBW = points[i].AlgBW * BusFactor(op, int64(hosts)*int64(gpus))
		}
	}
	return points, nil
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
