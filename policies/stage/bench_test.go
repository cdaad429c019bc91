package stage

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/workloads"
)

// benchClusters are the sizes the targets are stated for: 8 GPUs a host, three levels.
var benchClusters = []struct{ zones, racks, hosts int }{{4, 8, 20}, {5, 40, 25}, {10, 50, 25}}

// filled is a cluster whose hosts are used at random up to an occupancy, by whole hosts
// and by pods of one and two GPUs, as a queue of mixed jobs leaves it.
func filled(t testing.TB, zones, racks, hosts, percent int) *state {
	s := newState(regular(t, zones, racks, hosts, func(int) int64 { return 8 }), gpuPod(8000), gpuPod(1000), gpuPod(2000))
	rng := rand.New(rand.NewPCG(1, 2))
	total := int64(len(s.free)) * 8000
	for used := int64(0); used < total*int64(percent)/100; {
		pod := s.pods[[]int{0, 0, 0, 1, 2}[rng.IntN(5)]]
		if n := rng.Int32N(int32(len(s.free))); pod.FitsIn(&s.free[n]) {
			s.take(n, pod)
			used += pod[topology.GPU]
		}
	}
	return s
}

type benchRequest struct {
	name  string
	shape int
	mode  workloads.TopologyMode
	level string
	algo  Algorithm
}

var benchRequests = []benchRequest{
	{"preferred-rack/8gpu", 0, workloads.TopologyPreferred, "rack", BestFit},
	{"preferred-rack/1gpu", 1, workloads.TopologyPreferred, "rack", BestFit},
	{"required-rack/1gpu", 1, workloads.TopologyRequired, "rack", BestFit},
	{"unconstrained/1gpu", 1, workloads.TopologyUnconstrained, "host", LeastFreeCapacity},
	{"unconstrained/8gpu", 0, workloads.TopologyUnconstrained, "host", LeastFreeCapacity},
}

func (b *benchRequest) request(c *topology.Cluster, count int32) Request {
	return Request{Count: count, Mode: b.mode, Level: c.Level(b.level), Algo: b.algo}
}

// BenchmarkPlace is one assignment with the index up to date.
func BenchmarkPlace(b *testing.B) {
	for _, size := range benchClusters {
		for _, percent := range []int{60, 75, 90} {
			s := filled(b, size.zones, size.racks, size.hosts, percent)
			search := NewSearch(s.c, s.c.HostLevel())
			for _, q := range benchRequests {
				for _, count := range []int32{1, 4, 16, 64} {
					r := q.request(s.c, count)
					b.Run(fmt.Sprintf("hosts=%d/used=%d/%s/pods=%d", len(s.free), percent, q.name, count), func(b *testing.B) {
						b.ReportAllocs()
						for b.Loop() {
							search.PlaceShape(&r, s.index, s.shapes[q.shape])
						}
					})
				}
			}
		}
	}
}

// BenchmarkCommit is a gang coming and going with three shapes asked for in between: per
// operation two changes of each of its hosts and six catch-ups.
func BenchmarkCommit(b *testing.B) {
	for _, size := range benchClusters {
		s := filled(b, size.zones, size.racks, size.hosts, 75)
		search := NewSearch(s.c, s.c.HostLevel())
		for _, count := range []int32{4, 16} {
			r := benchRequests[1].request(s.c, count)
			b.Run(fmt.Sprintf("hosts=%d/pods=%d", len(s.free), count), func(b *testing.B) {
				b.ReportAllocs()
				hosts := 0
				for b.Loop() {
					search.PlaceShape(&r, s.index, s.shapes[1])
					hosts = len(search.Slots)
					for by := int64(1); by >= -1; by -= 2 {
						for _, slot := range search.Slots {
							s.take(slot.Leaf, s.pods[1].Times(by*int64(slot.Count)))
						}
						for _, shape := range s.shapes {
							s.index.Total(shape)
						}
					}
				}
				b.ReportMetric(float64(hosts), "hosts/op")
			})
		}
	}
}

// BenchmarkNaive is the same search without the index: phase 1 over all domains, as Kueue
// does it.
func BenchmarkNaive(b *testing.B) {
	for _, size := range benchClusters {
		s := filled(b, size.zones, size.racks, size.hosts, 75)
		search := NewSearch(s.c, s.c.HostLevel())
		r := benchRequests[1].request(s.c, 16)
		leaves := Leaves{Pods: s.index.Counts(s.shapes[1])[s.c.HostDomain(0):]}
		b.Run(fmt.Sprintf("hosts=%d", len(s.free)), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				search.Place(&r, &leaves)
			}
		})
	}
}

// TestPlaceAllocatesNothing holds for every kind of request once buffers have grown.
func TestPlaceAllocatesNothing(t *testing.T) {
	s := filled(t, 4, 8, 20, 75)
	search := NewSearch(s.c, s.c.HostLevel())
	var leaves Leaves
	lead := gpuPod(1000)
	requests := []Request{}
	for _, q := range benchRequests {
		requests = append(requests, q.request(s.c, 16), q.request(s.c, 64))
	}
	sliced := Request{Count: 64, Mode: workloads.TopologyPreferred, Level: 0, NLayers: 1, Layers: [3]Layer{{1, 8}}}
	balanced := Request{Count: 64, Mode: workloads.TopologyPreferred, Level: 1, Balanced: true}
	led := Request{Count: 24, Leader: true, Mode: workloads.TopologyPreferred, Level: 1}
	requests = append(requests, sliced, balanced, led)
	allocs := testing.AllocsPerRun(20, func() {
		for i := range requests {
			for shape := range s.shapes {
				if !requests[i].Leader {
					search.PlaceShape(&requests[i], s.index, s.shapes[shape])
					continue
				}
				leaves.Fill(s.c, s.c.HostLevel(), s.free, &s.pods[shape], &lead, nil)
				search.Place(&requests[i], &leaves)
			}
			s.take(int32(i), s.pods[1])
			s.take(int32(i), s.pods[1].Times(-1))
		}
	})
	if allocs > 0 {
		t.Errorf("%v allocations", allocs)
	}
}
