package stage

import (
	"fmt"
	"testing"

	"github.com/gangplan/gangplan/workloads"
)

func TestReplacement(t *testing.T) {
	c := regular(t, 2, 2, 3, func(int) int64 { return 8 }) // nodes 0-2 and 3-5 in z0, 6-8 and 9-11 in z1
	s := NewSearch(c, c.HostLevel())
	in := func(level, node int32) int32 { return 1 + c.DomainOf(node, level) }
	rack4 := Request{Count: 8, Mode: preferred, NLayers: 1, Layers: [3]Layer{{1, 4}}}
	only4 := rack4
	only4.Mode = workloads.TopologySliceOnly
	two := Request{Count: 8, Mode: preferred, Level: 0, NLayers: 2, Layers: [3]Layer{{0, 4}, {1, 2}}}
	for _, e := range []struct {
		name    string
		r       Request
		kept    []Slot
		missing int32
		within  int32
		layer   Layer
	}{
		{"required stays in its domain", Request{Count: 4, Mode: required, Level: 1}, []Slot{{4, 2}}, 2, in(1, 3), Layer{}},
		{"preferred goes anywhere", Request{Count: 4, Mode: preferred, Level: 1}, []Slot{{4, 2}}, 2, 0, Layer{}},
		{"nothing is left to keep to", Request{Count: 4, Mode: required, Level: 1}, nil, 4, 0, Layer{}},
		{"a broken slice is completed in its domain", rack4, []Slot{{0, 4}, {3, 2}}, 2, in(1, 3), Layer{}},
		{"a whole slice goes anywhere", rack4, []Slot{{0, 4}}, 4, 0, Layer{1, 4}},
		{"the inner layer is kept when it is whole", two, []Slot{{0, 2}, {6, 4}}, 2, in(0, 0), Layer{1, 2}},
		{"the innermost broken layer decides", two, []Slot{{0, 2}, {3, 1}, {6, 4}}, 1, in(1, 3), Layer{}},
		{"no domain lacks them", rack4, []Slot{{0, 4}, {3, 4}}, 3, 0, Layer{1, 4}},
	} {
		got, err := s.Replacement(&e.r, e.kept, e.missing)
		if err != nil || got.Count != e.missing || got.Within != e.within || got.Layers[0] != e.layer {
			t.Errorf("%s: %d pods within %d, layer %v, want %d, %d, %v", e.name, got.Count, got.Within, got.Layers[0], e.missing, e.within, e.layer)
		}
	}
}

// A request for slices only has no level left once its slice is broken, and Kueue says so. A
// whole slice is replaced like any other, and so is one of which an inner layer is whole.
func TestReplacementOfSlicesOnly(t *testing.T) {
	c := regular(t, 2, 2, 3, func(int) int64 { return 8 })
	s := NewSearch(c, c.HostLevel())
	one := Request{Count: 8, Mode: workloads.TopologySliceOnly, NLayers: 1, Layers: [3]Layer{{1, 4}}}
	two := Request{Count: 8, Mode: workloads.TopologySliceOnly, NLayers: 2, Layers: [3]Layer{{1, 4}, {2, 2}}}
	for _, e := range []struct {
		r       Request
		missing int32
		want    string
	}{{one, 2, "topology level not specified"}, {one, 4, "<nil>"}, {two, 2, "<nil>"}, {two, 1, "topology level not specified"}} {
		if _, err := s.Replacement(&e.r, []Slot{{0, 8 - e.missing}}, e.missing); fmt.Sprint(err) != e.want {
			t.Errorf("%d layers, %d pods: %v, want %s", e.r.NLayers, e.missing, err, e.want)
		}
	}
}

// A replacement is searched only in its domain, and says so if it finds nothing.
func TestReplacementStaysInside(t *testing.T) {
	c := regular(t, 1, 2, 2, func(int) int64 { return 4 })
	s, st := NewSearch(c, c.HostLevel()), newState(c, gpuPod(1000))
	st.take(0, gpuPod(4000))
	st.take(1, gpuPod(3000))
	var leaves Leaves
	leaves.Fill(c, c.HostLevel(), st.free, &st.pods[0], nil, nil)
	r := Request{Count: 2, Mode: required, Level: 1, Within: 1 + c.DomainOf(0, 1)}
	if s.Place(&r, &leaves) {
		t.Fatalf("placed %v", s.Slots)
	}
	want := `topology "t" allows to fit only 1 out of 2 pod(s). Total nodes: 4; excluded: resource "nvidia.com/gpu": 1, topologyDomain: 2`
	if got := s.Message(&Why{Topology: "t", Free: st.free, Pod: &st.pods[0]}); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	r.Count = 1
	if !s.Place(&r, &leaves) || answer(c, s, true) != "h00001:1" {
		t.Errorf("placed %v", s.Slots)
	}
}
