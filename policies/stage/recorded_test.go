package stage

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gangplan/gangplan/sim/capacity"
	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/workloads"
)

// recorded calls f for every line of a table of recorded answers, or skips the test where
// the tables are not there.
func recorded(t *testing.T, name string, f func(line []byte)) {
	t.Helper()
	shared := os.Getenv("GANGPLAN_SHARED")
	if shared == "" {
		t.Skip("GANGPLAN_SHARED is not set")
	}
	file, err := os.Open(filepath.Join(shared, "cases", name))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unzip, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(unzip)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		f(lines.Bytes())
	}
	if lines.Err() != nil {
		t.Fatal(lines.Err())
	}
}

// kueueCase is one placement by Kueue itself.
type kueueCase struct {
	ID       string
	Tags     []string
	Levels   []string
	PodsCap  int64 `json:"pods_cap"`
	Nodes    []kueueNode
	Requests []struct {
		Count int32
		GPU   int64
		Mode  string
		Level string
	}
	Expected struct {
		Fits    bool
		Reason  string
		PodSets []struct {
			Domains []struct {
				Values []string
				Count  int32
			}
		}
	}
}

type kueueNode struct {
	Name          string
	Path          []string
	GPU, Used     int64
	UsedPods      int64 `json:"used_pods"`
	Unschedulable bool
}

// simple reports whether a case is a single PodSet without slices down to the host.
func (c *kueueCase) simple() bool {
	kinds := []string{"required", "preferred", "unconstrained", "implied"}
	return !slices.ContainsFunc(c.Tags, func(tag string) bool { return !slices.Contains(kinds, tag) })
}

func (c *kueueCase) cluster(t *testing.T) (*topology.Cluster, []topology.Resources) {
	var nodes []topology.Node
	used := map[string]topology.Resources{}
	for _, n := range c.Nodes {
		if n.Unschedulable {
			continue
		}
		nodes = append(nodes, topology.Node{Name: n.Name, Path: n.Path[:len(n.Path)-1],
			Allocatable: topology.Resources{n.GPU * topology.Milli, 0, 0, c.PodsCap}})
		used[n.Name] = topology.Resources{n.Used * topology.Milli, 0, 0, n.UsedPods}
	}
	cluster, err := topology.Build(c.Levels, nodes)
	if err != nil {
		t.Fatalf("%s: %v", c.ID, err)
	}
	free := make([]topology.Resources, len(cluster.Nodes))
	for i := range free {
		free[i] = cluster.Nodes[i].Allocatable.Minus(used[cluster.Nodes[i].Name])
	}
	return cluster, free
}

func (c *kueueCase) place(t *testing.T) string {
	cluster, free := c.cluster(t)
	index := capacity.New(cluster, free)
	want := c.Requests[0]
	counts := index.Counts(index.Register(topology.Resources{want.GPU * topology.Milli, 0, 0, 1}, 0))
	mode, level, algo := workloads.TopologyUnconstrained, cluster.HostLevel(), LeastFreeCapacity
	switch want.Mode {
	case "required":
		mode, level, algo = workloads.TopologyRequired, cluster.Level(want.Level), BestFit
	case "preferred":
		mode, level, algo = workloads.TopologyPreferred, cluster.Level(want.Level), BestFit
	}
	s := NewSearch(cluster)
	return answer(cluster, s, s.Place(counts, want.Count, mode, level, algo))
}

func (c *kueueCase) want() string {
	if !c.Expected.Fits {
		return ""
	}
	var parts []string
	for _, d := range c.Expected.PodSets[0].Domains {
		parts = append(parts, fmt.Sprintf("%s:%d", d.Values[len(d.Values)-1], d.Count))
	}
	return strings.Join(parts, " ")
}

func TestPlacementsRecordedFromKueue(t *testing.T) {
	exact, differ, other := 0, 0, 0
	byMode := map[string]int{}
	recorded(t, "kueue_tas_cases.jsonl.gz", func(line []byte) {
		var c kueueCase
		if err := json.Unmarshal(line, &c); err != nil {
			t.Fatal(err)
		}
		if !c.simple() {
			other++
			return
		}
		if got, want := c.place(t), c.want(); got != want {
			differ++
			t.Errorf("%s (%v): %q, want %q %s", c.ID, c.Tags, got, want, c.Expected.Reason)
			return
		}
		exact++
		byMode[c.Requests[0].Mode]++
	})
	t.Logf("%d exact %v, %d differ, %d of other kinds", exact, byMode, differ, other)
	if exact == 0 {
		t.Error("no case was exact")
	}
}

// kubeCase is the scoring of one pod by kube-scheduler itself.
type kubeCase struct {
	ID      string
	Profile string
	Nodes   []struct {
		Name     string
		Alloc    kubeAmounts
		Existing []kubeAmounts
	}
	Pod      kubeAmounts
	Expected struct {
		Scores map[string]struct{ Plugins map[string]int64 }
	}
}

type kubeAmounts struct {
	CPU int64 `json:"cpu_m"`
	Mem int64 `json:"mem_mi"`
	GPU int64 `json:"gpu"`
}

func (a kubeAmounts) resources() topology.Resources {
	return topology.Resources{a.GPU * topology.Milli, a.CPU, a.Mem << 20, 1}
}

// kind names what about a node's scoring is out of the ordinary, if anything.
func (c *kubeCase) kind(existing []kubeAmounts) string {
	partial := func(a kubeAmounts) bool { return a.CPU == 0 || a.Mem == 0 }
	switch {
	case c.Pod.CPU == 0 && c.Pod.Mem == 0:
		return "pod asks for neither CPU nor memory" // BalancedAllocation is skipped
	case c.Profile != "default" && c.Pod.GPU == 0:
		return "packing a pod without GPUs" // GPUs are not rated
	case partial(c.Pod) || slices.ContainsFunc(existing, partial):
		return "some pod asks for no CPU or no memory" // BalancedAllocation counts real requests
	}
	return "ordinary"
}

// TestScoresRecordedFromKubeScheduler compares the sum of the two resource plugins, the
// part of a score that differs between nodes without taints, affinity and images.
func TestScoresRecordedFromKubeScheduler(t *testing.T) {
	exact, differ := map[string]int{}, map[string]int{}
	recorded(t, "kube_score_cases.jsonl.gz", func(line []byte) {
		var c kubeCase
		if err := json.Unmarshal(line, &c); err != nil {
			t.Fatal(err)
		}
		score := Scorer(Spread)
		if c.Profile != "default" {
			score = Pack
		}
		for _, n := range c.Nodes {
			want, feasible := c.Expected.Scores[n.Name]
			if !feasible {
				continue
			}
			used := NonZero(c.Pod.resources())
			for _, p := range n.Existing {
				used = used.Plus(NonZero(p.resources()))
			}
			alloc, kind := n.Alloc.resources(), c.kind(n.Existing)
			sum := want.Plugins["NodeResourcesFit"] + want.Plugins["NodeResourcesBalancedAllocation"]
			got := score(&used, &alloc, c.Pod.resources()[topology.GPU] > 0)
			if got == sum {
				exact[kind]++
				continue
			}
			differ[kind]++
			if kind == "ordinary" {
				t.Errorf("%s %s: pod %v, used %v of %v: %d, want %d %v", c.ID, n.Name, c.Pod, used, alloc, got, sum, want.Plugins)
			}
		}
	})
	t.Logf("exact: %v", exact)
	t.Logf("differ: %v", differ)
	if exact["ordinary"] == 0 {
		t.Error("no ordinary score was exact")
	}
}
