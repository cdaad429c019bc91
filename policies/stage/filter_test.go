package stage

import (
	"testing"

	"github.com/gangplan/gangplan/topology"
)

func TestTolerations(t *testing.T) {
	taint := topology.Taint{Key: "gpu", Value: "a100", Effect: "NoSchedule"}
	for _, e := range []struct {
		by   Toleration
		want bool
	}{
		{Toleration{Key: "gpu", Value: "a100", Effect: "NoSchedule"}, true},
		{Toleration{Key: "gpu", Value: "a100"}, true},
		{Toleration{Key: "gpu", Exists: true}, true},
		{Toleration{Exists: true}, true},
		{Toleration{Exists: true, Effect: "NoExecute"}, false},
		{Toleration{Key: "gpu", Value: "h100"}, false},
		{Toleration{Key: "cpu", Exists: true}, false},
		{Toleration{}, false},
	} {
		if got := e.by.Tolerates(&taint); got != e.want {
			t.Errorf("%+v: %v, want %v", e.by, got, e.want)
		}
	}
	if topology.Untolerated([]topology.Taint{{Key: "x", Effect: "PreferNoSchedule"}}, nil) != nil {
		t.Error("a taint that only prefers keeps pods off")
	}
}

func TestRequirements(t *testing.T) {
	labels := map[string]string{"zone": "a", "gen": "9"}
	for _, e := range []struct {
		r    Requirement
		want bool
	}{
		{Requirement{Key: "zone", Operator: In, Values: []string{"b", "a"}}, true},
		{Requirement{Key: "zone", Operator: In, Values: []string{"b"}}, false},
		{Requirement{Key: "rack", Operator: In, Values: []string{"b"}}, false},
		{Requirement{Key: "zone", Operator: NotIn, Values: []string{"b"}}, true},
		{Requirement{Key: "rack", Operator: NotIn, Values: []string{"b"}}, true},
		{Requirement{Key: "zone", Operator: NotIn, Values: []string{"a"}}, false},
		{Requirement{Key: "zone", Operator: Exists, Values: nil}, true},
		{Requirement{Key: "rack", Operator: Exists, Values: nil}, false},
		{Requirement{Key: "rack", Operator: DoesNotExist, Values: nil}, true},
		{Requirement{Key: "zone", Operator: DoesNotExist, Values: nil}, false},
		{Requirement{Key: "gen", Operator: Gt, Values: []string{"8"}}, true},
		{Requirement{Key: "gen", Operator: Gt, Values: []string{"9"}}, false},
		{Requirement{Key: "gen", Operator: Lt, Values: []string{"10"}}, true},
		{Requirement{Key: "zone", Operator: Lt, Values: []string{"10"}}, false},
		{Requirement{Key: "rack", Operator: Gt, Values: []string{"1"}}, false},
		{Requirement{Key: "gen", Operator: Gt, Values: []string{"many"}}, false},
	} {
		if got := e.r.Matches(labels); got != e.want {
			t.Errorf("%+v: %v, want %v", e.r, got, e.want)
		}
	}
}

// Nodes that a filter excludes take no pods, and the message counts each under the first
// reason that holds: taint, selector, affinity, room.
func TestFilterAndItsMessage(t *testing.T) {
	var nodes []topology.Node
	add := func(name string, gpus int64, labels map[string]string, taints ...topology.Taint) {
		nodes = append(nodes, topology.Node{Name: name, Labels: labels, Taints: taints, GPUModel: "gpu",
			Allocatable: topology.DefaultAllocatable(gpus)})
	}
	down := topology.Taint{Key: "k", Value: "v", Effect: "NoSchedule"}
	out := topology.Taint{Key: "out", Effect: "NoExecute"}
	ok := map[string]string{"pool": "a", "gen": "2"}
	add("n1", 4, ok)
	add("n2", 4, ok, down)
	add("n3", 4, map[string]string{"pool": "b"}, out, down)
	add("n4", 4, map[string]string{"pool": "b"})
	add("n5", 4, map[string]string{"pool": "a", "gen": "1"})
	add("n6", 0, ok)
	c, err := topology.Build([]string{"host"}, nodes)
	if err != nil {
		t.Fatal(err)
	}
	f := Filter{Selector: []Requirement{{Key: "pool", Operator: In, Values: []string{"a"}}}, Affinity: topology.NodeAffinity{Required: []topology.Term{{}, {{Key: "gen", Operator: Gt, Values: []string{"1"}}}}}}
	s, v := newState(c, gpuPod(1000)), f.Apply(c)
	search := NewSearch(c, 0)
	var leaves Leaves
	leaves.Fill(c, 0, s.free, &s.pods[0], nil, v.Skip)
	r := Request{Count: 5, Mode: preferred}
	if search.Place(&r, &leaves) {
		t.Fatalf("placed %v", search.Slots)
	}
	want := `topology "t" allows to fit only 4 out of 5 pod(s). Total nodes: 6; excluded: affinity: 1, nodeSelector: 1, resource "nvidia.com/gpu": 1, taint "k=v:NoSchedule": 1, taint "out:NoExecute": 1`
	if got := search.Message(&Why{Topology: "t", Free: s.free, Pod: &s.pods[0], Filter: v}); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	f.Tolerations = []Toleration{{Key: "k", Value: "v"}}
	leaves.Fill(c, 0, s.free, &s.pods[0], nil, f.Apply(c).Skip)
	if !search.Place(&r, &leaves) || answer(c, search, true) != "n1:4 n2:1" {
		t.Errorf("with the taint tolerated: %v", search.Slots)
	}
}
