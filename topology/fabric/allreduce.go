package fabric

import "math"

// Pod is one pod of a gang. The pods of a gang are listed in rank order.
type Pod struct {
	Node int32
	GPUs int32 // milli-GPU
}

// What Cost.Level says when it is not the index of a topology level.
const (
	NoLevel  = -1 // nothing is sent
	InDomain = -2 // the NVLink domain
)

// Cost is what the traffic of one step costs.
type Cost struct {
	Nanos int64 // rounded up
	// Level is the bottleneck: the topology level whose uplink binds (the host level stands
	// for the NICs), InDomain, or NoLevel. Of equals it is the one closest to the GPU. It
	// speaks of the bandwidth term even where latency is the larger part.
	Level int8
}

// AllReduce returns the cost of reducing bytes among the pods where they stand, with no
// other traffic. It takes O(pods x levels) and allocates only to grow the scratch.
func (f *Fabric) AllReduce(s *Scratch, pods []Pod, bytes int64) Cost {
	return f.Collect(s, pods, Traffic{Bytes: bytes})
}

// Collect is AllReduce for any traffic.
func (f *Fabric) Collect(s *Scratch, pods []Pod, t Traffic) Cost {
	sh := f.shapeOf(s, pods, &t)
	return f.cost(&t, &sh)
}

// ceilNanos rounds up, and holds what does not fit at the largest time there is.
func ceilNanos(ns float64) int64 {
	if ns = math.Ceil(ns); ns < math.MaxInt64 {
		return int64(ns)
	}
	return math.MaxInt64
}
