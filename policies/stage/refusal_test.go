package stage

import (
	"slices"
	"testing"

	"github.com/gangplan/gangplan/topology"
)

func TestFilterResources(t *testing.T) {
	offers := topology.Resources{topology.GPU: 8000, topology.CPU: 16000, topology.Memory: 64 << 30, topology.Pods: 2}
	for _, c := range []struct {
		name         string
		demand, used topology.Resources
		want         Refusal
	}{
		{"fits exactly", topology.Resources{8000, 16000, 64 << 30, 1}, topology.Resources{}, 0},
		{"a GPU short", topology.Resources{2000, 0, 0, 1}, topology.Resources{7000, 0, 0, 1}, LacksGPU},
		{"more GPUs than there are", topology.Resources{9000, 0, 0, 1}, topology.Resources{}, LacksGPU | Unresolvable},
		{"everything short", topology.Resources{1000, 1000, 1 << 30, 1}, topology.Resources{8000, 16000, 64 << 30, 2},
			TooManyPods | LacksCPU | LacksMemory | LacksGPU},
		{"asks for nothing of an overfull node", topology.Resources{0, 0, 0, 1}, topology.Resources{9000, 17000, 65 << 30, 1}, 0},
	} {
		d := NewDemand(c.demand)
		if got := FilterResources(&d, load(offers, c.used)); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got.Texts(), c.want.Texts())
		}
	}
}

func TestTaints(t *testing.T) {
	taints := []topology.Taint{{Key: "a", Effect: PreferNoSchedule}, {Key: "b", Effect: NoExecute}, {Key: "c", Effect: PreferNoSchedule}}
	if hard, ok := HardTaint(taints); !ok || hard.Key != "b" {
		t.Errorf("hard taint %v", hard)
	}
	if _, ok := HardTaint(taints[:1]); ok {
		t.Error("a soft taint keeps pods off")
	}
	if n := SoftTaints(taints, nil); n != 2 {
		t.Errorf("%d soft taints", n)
	}
}

func TestExplain(t *testing.T) {
	for _, c := range []struct {
		refusals []Refusal
		want     string
	}{
		{nil, "0/0 nodes are available."},
		{[]Refusal{LacksGPU}, "0/1 nodes are available: 1 Insufficient nvidia.com/gpu."},
		// Parts are ordered as texts: "1" before "12" before "2".
		{append(slices.Repeat([]Refusal{LacksGPU | Unresolvable}, 12), LacksCPU|NodeName, LacksCPU),
			"0/14 nodes are available: 1 node(s) didn't match the requested node name, 12 Insufficient nvidia.com/gpu, 2 Insufficient cpu."},
	} {
		if got := Explain(len(c.refusals), c.refusals); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

func TestRefusalTexts(t *testing.T) {
	for i := range refusalTexts {
		if got := Refusal(1 << i).Texts(); len(got) != 1 || got[0] != refusalTexts[i] {
			t.Errorf("reason %d reads %v", i, got)
		}
	}
	if Unresolvable != 1<<len(refusalTexts) || Unresolvable.Texts() != nil {
		t.Error("texts and reasons have shifted")
	}
	if PodAntiAffinity.Texts()[0] != "node(s) didn't match pod anti-affinity rules" {
		t.Error("texts and reasons have shifted")
	}
}
