package stage

import (
	"testing"

	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/workloads"
)

// fourLevels is a cluster of one of everything, for what only needs names.
func fourLevels(t *testing.T) *topology.Cluster {
	t.Helper()
	c, err := topology.Build([]string{"zone", "block", "rack", "host"}, []topology.Node{{Name: "h", Path: []string{"z", "b", "r"}}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func layers(pairs ...any) (s [MaxLayers]workloads.Slice) {
	for i := 0; i < len(pairs); i += 2 {
		s[i/2] = workloads.Slice{Level: pairs[i].(string), Size: int32(pairs[i+1].(int))}
	}
	return s
}

func TestResolve(t *testing.T) {
	c := fourLevels(t)
	for _, e := range []struct {
		name   string
		ask    workloads.TopologyRequest
		preset Preset
		want   Request
	}{
		{"nothing asked is unconstrained", workloads.TopologyRequest{}, Kueue017,
			Request{Mode: unconstrained, Level: 3, Algo: LeastFreeCapacity}},
		{"before 0.15 BestFit serves all", workloads.TopologyRequest{Mode: unconstrained}, Kueue013,
			Request{Mode: unconstrained, Level: 3, Stops: true}},
		{"required", workloads.TopologyRequest{Mode: required, Level: "rack"}, Kueue017, Request{Mode: required, Level: 2}},
		{"slices only begin at the top", workloads.TopologyRequest{Mode: workloads.TopologySliceOnly, Slices: layers("rack", 4)}, Kueue017,
			Request{Mode: workloads.TopologySliceOnly, Algo: LeastFreeCapacity, NLayers: 1, Layers: [3]Layer{{2, 4}}}},
		{"unconstrained with slices is the same", workloads.TopologyRequest{Mode: unconstrained, Slices: layers("rack", 4)}, Kueue017,
			Request{Mode: unconstrained, Algo: LeastFreeCapacity, NLayers: 1, Layers: [3]Layer{{2, 4}}}},
		{"inner layers are new in 0.19", workloads.TopologyRequest{Mode: preferred, Level: "zone", Slices: layers("block", 8, "host", 2)}, Kueue017,
			Request{Mode: preferred, NLayers: 1, Layers: [3]Layer{{1, 8}}}},
		{"three layers", workloads.TopologyRequest{Mode: preferred, Level: "zone", Slices: layers("block", 8, "rack", 4, "host", 2)}, Kueue019,
			Request{Mode: preferred, NLayers: 3, Layers: [3]Layer{{1, 8}, {2, 4}, {3, 2}}, Hosts: true}},
	} {
		got, err := Resolve(&e.ask, 0, c, 3, &e.preset)
		if err != nil || got != e.want {
			t.Errorf("%s: %+v, %v, want %+v", e.name, got, err, e.want)
		}
	}
}

func TestResolveRefuses(t *testing.T) {
	c := fourLevels(t)
	for _, e := range []struct {
		ask  workloads.TopologyRequest
		leaf int32
		want string
	}{
		{workloads.TopologyRequest{Mode: required, Level: "row"}, 3, "no requested topology level: row"},
		{workloads.TopologyRequest{Mode: required, Level: "host"}, 2, "no requested topology level: host"},
		{workloads.TopologyRequest{Mode: required, Level: "rack", Slices: layers("row", 2)}, 3, "no requested topology level for slices: row"},
		{workloads.TopologyRequest{Mode: required, Level: "rack", Slices: layers("block", 2)}, 3, "podset slice topology block is above the podset topology rack"},
		{workloads.TopologyRequest{Mode: required, Level: "zone", Slices: layers("block", 4, "row", 2)}, 3, "no requested topology level for additional slice layer: row"},
		{workloads.TopologyRequest{Mode: required, Level: "zone", Slices: layers("rack", 4, "rack", 2)}, 3, "additional slice layer topology rack must be at a lower level than rack"},
		{workloads.TopologyRequest{Mode: required, Level: "zone", Slices: layers("rack", 4, "host", 3)}, 3, "additional slice layer size 3 must evenly divide parent layer size 4"},
		{workloads.TopologyRequest{Mode: workloads.TopologySliceOnly}, 3, "slice topology requested, but slice size not provided"},
	} {
		if _, err := Resolve(&e.ask, 4, c, e.leaf, &Kueue019); err == nil || err.Error() != e.want {
			t.Errorf("%+v: %v, want %s", e.ask, err, e.want)
		}
	}
}
