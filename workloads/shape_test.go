package workloads

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gangplan/gangplan/topology"
)

// sketch writes PodSets as "workers 2x8 rest 1x3": name, pods, GPUs of each.
func sketch(sets []PodSet) string {
	var parts []string
	for _, p := range sets {
		parts = append(parts, fmt.Sprintf("%s %dx%d", p.Name, p.Count, p.Request[topology.GPU]/topology.Milli))
	}
	return strings.Join(parts, " ")
}

func TestShape(t *testing.T) {
	cases := []struct {
		gpus     int32
		nodeGPUs int64
		want     string
	}{
		{1, 8, "workers 1x1"},
		{7, 8, "workers 1x7"},
		{8, 8, "workers 1x8"},
		{9, 8, "workers 1x8 rest 1x1"},
		{16, 8, "workers 2x8"},
		{19, 8, "workers 2x8 rest 1x3"},
		{19, 4, "workers 4x4 rest 1x3"},
		{3, 1, "workers 3x1"},
		{512, 72, "workers 7x72 rest 1x8"},
		{19, 0, "workers 2x8 rest 1x3"}, // no GPUs in the cluster: nodes of eight
		{19, -1, "workers 2x8 rest 1x3"},
		{0, 8, "workers 1x0"},
	}
	for _, c := range cases {
		if got := sketch(Shape(c.gpus, c.nodeGPUs, PerGPU())); got != c.want {
			t.Errorf("Shape(%d, %d) = %s, want %s", c.gpus, c.nodeGPUs, got, c.want)
		}
	}
}

func TestShapeRequests(t *testing.T) {
	sets := Shape(11, 8, PerGPU())
	want := []topology.Resources{
		{topology.GPU: 8000, topology.CPU: 96_000, topology.Memory: 768 << 30, topology.Pods: 1},
		{topology.GPU: 3000, topology.CPU: 36_000, topology.Memory: 288 << 30, topology.Pods: 1},
	}
	for i := range want {
		if sets[i].Request != want[i] {
			t.Errorf("%s asks for %v, want %v", sets[i].Name, sets[i].Request, want[i])
		}
	}
	cpuOnly := topology.Resources{topology.CPU: 1000, topology.Memory: 8 << 30, topology.Pods: 1}
	if got := Shape(0, 8, PerGPU())[0].Request; got != cpuOnly {
		t.Errorf("a job without GPUs asks for %v", got)
	}
}

// perGPU says what comes with a GPU; how many GPUs that is, is not its business.
func TestShapeTakesCPUAndMemoryFromPerGPU(t *testing.T) {
	got := Shape(2, 8, topology.Resources{topology.CPU: 500, topology.GPU: 7, topology.Pods: 9})[0].Request
	want := topology.Resources{topology.GPU: 2000, topology.CPU: 1000, topology.Pods: 1}
	if got != want {
		t.Errorf("request = %v, want %v", got, want)
	}
}

func TestShapeKeepsEveryGPU(t *testing.T) {
	for gpus := int32(1); gpus < 200; gpus++ {
		for node := int64(1); node < 20; node++ {
			j := Job{PodSets: Shape(gpus, node, PerGPU())}
			if j.TotalGPUs() != int64(gpus)*topology.Milli {
				t.Fatalf("%d GPUs on nodes of %d became %d milli-GPU", gpus, node, j.TotalGPUs())
			}
			for _, p := range j.PodSets {
				if p.Request[topology.GPU] > node*topology.Milli {
					t.Fatalf("%d GPUs on nodes of %d make a pod of %d milli-GPU", gpus, node, p.Request[topology.GPU])
				}
			}
		}
	}
}
