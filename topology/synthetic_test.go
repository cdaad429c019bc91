package topology

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

var threeLevels = []string{"zone", "rack", "host"}

func TestSyntheticNames(t *testing.T) {
	tests := []struct {
		levels string
		counts []int
		total  int
		at     map[int]string // node -> path
	}{
		{"host", []int{1}, 1, map[int]string{0: "host-0"}},
		{"host", []int{10}, 10, map[int]string{9: "host-9"}},
		{"host", []int{11}, 11, map[int]string{9: "host-09", 10: "host-10"}},
		{"rack node", []int{2, 3}, 6, map[int]string{2: "rack-0/node-2", 3: "rack-1/node-3"}},
		{"zone rack host", []int{2, 16, 40}, 1280, map[int]string{
			0:    "zone-0/rack-00/host-0000",
			639:  "zone-0/rack-15/host-0639",
			640:  "zone-1/rack-16/host-0640",
			1279: "zone-1/rack-31/host-1279",
		}},
	}
	for _, tt := range tests {
		s := Synthetic{Levels: strings.Fields(tt.levels), Counts: tt.counts, GPUs: 8}
		nodes, err := s.Nodes()
		if err != nil || len(nodes) != tt.total {
			t.Fatalf("%s %v: %d nodes, %v", tt.levels, tt.counts, len(nodes), err)
		}
		paths := mustBuild(t, s.Levels, nodes).pathsOf()
		for i, want := range tt.at {
			if paths[i] != want {
				t.Errorf("%s %v: node %d is %s, want %s", tt.levels, tt.counts, i, paths[i], want)
			}
		}
		if !slices.IsSorted(paths) {
			t.Errorf("%s %v: the order of names is not the order of nodes", tt.levels, tt.counts)
		}
	}
}

func TestSyntheticAllocatable(t *testing.T) {
	tests := []struct {
		name string
		s    Synthetic
		want Resources
	}{
		{"defaults of eight GPUs", Synthetic{GPUs: 8},
			Resources{GPU: 8000, CPU: 128_000, Memory: 1024 * GiB, Pods: 110}},
		{"defaults without GPUs", Synthetic{},
			Resources{GPU: 0, CPU: 16_000, Memory: 128 * GiB, Pods: 110}},
		{"as stated", Synthetic{GPUs: 4, CPU: 96_500, Memory: 7},
			Resources{GPU: 4000, CPU: 96_500, Memory: 7, Pods: 110}},
	}
	for _, tt := range tests {
		tt.s.Levels, tt.s.Counts, tt.s.GPUModel = threeLevels, []int{1, 1, 2}, "H100"
		nodes, err := tt.s.Nodes()
		if err != nil {
			t.Fatal(tt.name, err)
		}
		if got := nodes[1]; got.Allocatable != tt.want || got.GPUModel != "H100" || got.Model != -1 {
			t.Errorf("%s: got %+v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestSyntheticErrors(t *testing.T) {
	const big = math.MaxInt
	tests := []struct {
		name string
		s    Synthetic
		want string
	}{
		{"no levels", Synthetic{}, "levels: at least one level is needed, the host"},
		{"a count is missing", Synthetic{Levels: threeLevels, Counts: []int{1, 2}},
			"counts: expected one for each of the 3 levels, got 2"},
		{"zero", Synthetic{Levels: threeLevels, Counts: []int{1, 0, 3}}, "rack: expected at least 1, got 0"},
		{"negative", Synthetic{Levels: threeLevels, Counts: []int{1, 2, -3}}, "host: expected at least 1, got -3"},
		{"a node too many", Synthetic{Levels: threeLevels, Counts: []int{1, 1, MaxNodes + 1}},
			"host: the cluster would have more than 1000000 nodes"},
		{"product too large", Synthetic{Levels: threeLevels, Counts: []int{1000, 1000, 2}},
			"host: the cluster would have more than 1000000 nodes"},
		{"product overflows", Synthetic{Levels: threeLevels, Counts: []int{big, big, big}},
			"zone: the cluster would have more than 1000000 nodes"},
		{"negative GPUs", Synthetic{Levels: threeLevels, Counts: []int{1, 1, 1}, GPUs: -8},
			"gpus: expected 0 to 1024 per host, got -8"},
		{"absurd GPUs", Synthetic{Levels: threeLevels, Counts: []int{1, 1, 1}, GPUs: big},
			fmt.Sprintf("gpus: expected 0 to 1024 per host, got %d", big)},
		{"negative CPU", Synthetic{Levels: threeLevels, Counts: []int{1, 1, 1}, CPU: -1},
			"cpu: expected at least 0, got -1"},
		{"negative memory", Synthetic{Levels: threeLevels, Counts: []int{1, 1, 1}, Memory: -1},
			"memory: expected at least 0, got -1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			nodes, err := tt.s.Nodes()
			if err == nil || err.Error() != tt.want || nodes != nil {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

func TestMultiply(t *testing.T) {
	tests := []struct {
		name string
		in   string
		y    float64
		want string
	}{
		{"by one", "r1/a r1/b", 1, "r1/a r1/b"},
		{"by two, in racks of their own", "r1/a r2/b", 2, "r1/a r2/b r1-x2/a-x2 r2-x2/b-x2"},
		{"by two, flat", "a b", 2, "a b a-x2 b-x2"},
		{"half", "a b c d", 0.5, "a b"},
		{"half of an odd number is rounded down", "a b c", 0.5, "a"},
		{"two and a half", "z/r/a z/r/b", 2.5, "z/r/a z/r/b z-x2/r-x2/a-x2 z-x2/r-x2/b-x2 z-x3/r-x3/a-x3"},
		{"a hair above one", "a b", 1.001, "a b"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := nodesAt(strings.Fields(tt.in)...)
			out, err := Multiply(in, tt.y)
			if err != nil {
				t.Fatal(err)
			}
			c := mustBuild(t, levelsFor(strings.Fields(tt.in)[0]), out)
			if got := strings.Join(c.pathsOf(), " "); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// Decimal fractions mean what they say, although binary has no exact 0.29.
func TestMultiplyCounts(t *testing.T) {
	nodes, _ := Synthetic{Levels: []string{"host"}, Counts: []int{100}}.Nodes()
	for percent := 1; percent <= 300; percent++ {
		out, err := Multiply(nodes, float64(percent)/100)
		if err != nil || len(out) != percent {
			t.Errorf("%d%% of 100 nodes is %d, %v", percent, len(out), err)
		}
	}
}

func TestMultiplyCopiesNVLinkDomains(t *testing.T) {
	in := nodesAt("a")
	in[0].Labels = map[string]string{NVLinkDomainLabel: "nvl", "pool": "p"}
	out, err := Multiply(in, 2)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"nvl", "nvl-x2"} {
		if got := out[i].Labels; got[NVLinkDomainLabel] != want || got["pool"] != "p" {
			t.Errorf("labels of copy %d: %v", i+1, got)
		}
	}
}

func TestMultiplyErrors(t *testing.T) {
	nodes := nodesAt("a", "b")
	tests := []struct {
		y    float64
		want string
	}{
		{0, "scale: expected a number above 0, got 0"},
		{-1, "scale: expected a number above 0, got -1"},
		{math.NaN(), "scale: expected a number above 0, got NaN"},
		{math.Inf(1), "scale: expected a number above 0, got +Inf"},
		{0.49, "scale: 0.49 of 2 nodes is none"},
		{1e300, "scale: the cluster would have more than 1000000 nodes"},
	}
	for _, tt := range tests {
		if out, err := Multiply(nodes, tt.y); err == nil || err.Error() != tt.want || out != nil {
			t.Errorf("by %v: got %v, want %s", tt.y, err, tt.want)
		}
	}
	if out, err := Multiply(nil, 2); err == nil {
		t.Errorf("no nodes doubled are %v", out)
	}
}
