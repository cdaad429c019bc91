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
		if got := e.by.tolerates(&taint); got != e.want {
			t.Errorf("%+v: %v, want %v", e.by, got, e.want)
		}
	}
	f := Filter{}
	if f.untolerated([]topology.Taint{{Key: "x", Effect: "PreferNoSchedule"}}) != nil {
		t.Error("a taint that only prefers keeps pods off")
	}
}

func TestRequirements(t *testing.T) {
	labels := map[string]string{"zone": "a", "gen": "9"}
	for _, e := range []struct {
		r    Requirement
		want bool
	}{
		{Requirement{"zone", In, []string{"b", "a"}}, true},
		{Requirement{"zone", In, []string{"b"}}, false},
		{Requirement{"rack", In, []string{"b"}}, false},
		{Requirement{"zone", NotIn, []string{"b"}}, true},
		{Requirement{"rack", NotIn, []string{"b"}}, true},
		{Requirement{"zone", NotIn, []string{"a"}}, false},
		{Requirement{"zone", Exists, nil}, true},
		{Requirement{"rack", Exists, nil}, false},
		{Requirement{"rack", DoesNotExist, nil}, true},
		{Requirement{"zone", DoesNotExist, nil}, false},
		{Requirement{"gen", Gt, []string{"8"}}, true},
		{Requirement{"gen", Gt, []string{"9"}}, false},
		{Requirement{"gen", Lt, []string{"10"}}, true},
		{Requirement{"zone", Lt, []string{"10"}}, false},
		{Requirement{"rack", Gt, []string{"1"}}, false},
		{Requirement{"gen", Gt, []string{"many"}}, false},
	} {
		if got := e.r.matches(labels); got != e.want {
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
	f := Filter{Selector: []Requirement{{"pool", In, []string{"a"}}}, Affinity: [][]Requirement{{}, {{"gen", Gt, []string{"1"}}}}}
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
