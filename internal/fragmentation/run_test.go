package fragmentation

import (
	"fmt"
	"math"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/gangplan/gangplan/policies/stage"
	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/traces"
)

// invented makes a workload that has some of everything: models, shares, whole GPUs, pods
// without, pods that only some nodes take.
func invented(t testing.TB, nodes, pods int, seed int64) *Workload {
	t.Helper()
	r := rand.New(rand.NewSource(seed))
	models := []string{"A", "B", "C"}
	var ns []topology.Node
	for i := range nodes {
		g := int64(1) << r.Intn(4)
		ns = append(ns, topology.Node{Name: fmt.Sprintf("node-%d", i), GPUModel: models[r.Intn(3)], Allocatable: topology.Resources{
			topology.GPU: g * 1000, topology.CPU: g * 12000, topology.Memory: g << 36}})
	}
	var ps []traces.OpenbPod
	for i := range pods {
		p := traces.OpenbPod{Name: fmt.Sprintf("pod-%d", i), CPU: 1000 * int64(r.Intn(12)), Memory: int64(r.Intn(64)) << 30}
		if r.Intn(5) > 0 {
			p.GPUs, p.Milli = 1<<r.Intn(3), 1000
			if r.Intn(2) == 0 {
				p.GPUs, p.Milli = 1, int32(100*(1+r.Intn(9)))
			}
		}
		if r.Intn(3) == 0 && p.GPUs > 0 {
			p.Spec = models[r.Intn(3)] + "|" + models[r.Intn(3)]
		}
		ps = append(ps, p)
	}
	w, err := NewWorkload(ns, ps)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// oracle runs a workload node by node, without classes, sharing or memory of scores.
func oracle(w *Workload, policy string, seed int64, ratio float64) (rows []sample) {
	arrivals, ranks := w.sequence(seed, ratio)
	scorer := stage.LookupDeviceScorer(policy, w.largest, w.measure)
	nodes := make([]node, len(w.nodes))
	for i := range w.nodes {
		nodes[ranks[i]] = w.nodes[i]
	}
	var s sample
	for _, k := range arrivals {
		kd := &w.kinds[k]
		s.arrived += kd.Ask.Total()
		best, at := int64(-1), -1
		for n := range nodes {
			if kd.memory <= nodes[n].memory && kd.Fits(&nodes[n].Site) {
				if score := scorer.Score(&kd.Guest, &nodes[n].Site); score > best {
					best, at = score, n
				}
			}
		}
		if at >= 0 {
			n := &nodes[at]
			n.GPUs.Take(scorer.Pick(&kd.Guest, &n.Site), kd.Ask.Milli)
			n.CPU, n.memory, n.Classes = n.CPU-kd.CPU, n.memory-kd.memory, n.Classes|kd.Class()
			s.used += kd.Ask.Total()
		}
		s.fragments = 0
		for n := range nodes {
			s.fragments += w.measure.Amount(&nodes[n].Site)
		}
		rows = append(rows, s)
	}
	return rows
}

func TestRunAgainstNodeByNode(t *testing.T) {
	for _, policy := range Policies()[1:] {
		for seed := range int64(3) {
			w := invented(t, 40, 120, seed)
			got, want := w.Run(policy, seed, 1.3), oracle(w, policy, seed, 1.3)
			if len(got.rows) != len(want) {
				t.Fatalf("%s: %d samples, want %d", policy, len(got.rows), len(want))
			}
			for i, g := range got.rows {
				if x := want[i]; g.arrived != x.arrived || g.used != x.used || math.Abs(g.fragments-x.fragments) > 1e-6 {
					t.Fatalf("%s seed %d, pod %d: %+v, want %+v", policy, seed, i, g, x)
				}
			}
			if got.Dropped == 0 {
				t.Errorf("%s seed %d: nothing dropped, the test is too easy", policy, seed)
			}
		}
	}
}

func TestRandomIsSeededAndUniform(t *testing.T) {
	w := invented(t, 30, 100, 5)
	a, b, c := w.Run("random", 1, 1.3), w.Run("random", 1, 1.3), w.Run("random", 2, 1.3)
	if fmt.Sprint(a.rows) != fmt.Sprint(b.rows) {
		t.Error("the same seed gives another run")
	}
	if fmt.Sprint(a.rows) == fmt.Sprint(c.rows) {
		t.Error("another seed gives the same run")
	}
	counts := make([]int, len(w.nodes))
	pod := int32(0)
	for k := range w.kinds {
		if w.kinds[k].Ask.Count == 0 {
			pod = int32(k)
		}
	}
	_, ranks := w.sequence(1, 0)
	r := newRun(w, nil, 9, ranks)
	const draws = 6000
	for i := range draws {
		counts[r.choose(pod, i)]++
	}
	for n, c := range counts {
		if mean := float64(draws) / float64(len(counts)); math.Abs(float64(c)-mean) > 5*math.Sqrt(mean) {
			t.Errorf("node %d was drawn %d times, mean %v", n, c, mean)
		}
	}
}

func TestTune(t *testing.T) {
	w := invented(t, 20, 60, 3)
	asked := func(ratio float64) (sum int64, n int) {
		arrivals, _ := w.sequence(1, ratio)
		for _, k := range arrivals {
			sum += w.kinds[k].Ask.Total()
		}
		return sum, len(arrivals)
	}
	as, n := asked(0)
	if n != 60 {
		t.Fatalf("without tuning %d pods", n)
	}
	for _, share := range []float64{0.5, 2} {
		ratio := share * float64(as) / float64(w.capacity)
		got, _ := asked(ratio)
		if target := ratio * float64(w.capacity); math.Abs(float64(got)-target) > 4000 {
			t.Errorf("tuned to %d, target %v", got, target)
		}
	}
}

// The published lists, with the numbers the study's specification states.
func TestPublishedSequence(t *testing.T) {
	w := published(t, "openb_pod_list_default.csv")
	arrivals, _ := w.sequence(42, 1.3)
	if len(w.pods) != 8152 || len(arrivals) != 10866 || len(w.nodes) != 1213 || w.capacity != 6212000 {
		t.Errorf("%d pods, %d arrivals, %d nodes, %d milli-GPU", len(w.pods), len(arrivals), len(w.nodes), w.capacity)
	}
	r := rand.New(rand.NewSource(42)) // the ranks are those of a run that neither shuffles nor tunes
	r.Int()
	ranks := ranksOf(r, len(w.nodes))
	for name, want := range map[string]int{"0315": 0, "0080": 1, "0774": 2, "0860": 3, "0896": 103, "0292": 117} {
		if got := ranks[slices.Index(w.names, "openb-node-"+name)]; got != want {
			t.Errorf("node %s has rank %d, want %d", name, got, want)
		}
	}
	types := w.types()
	if typical := stage.TypicalOf(types); len(types) != 91 || len(typical) != 35 {
		t.Errorf("%d types, %d of them typical, want 91 and 35", len(types), len(typical))
	}
	for policy, want := range map[string]int{"dot-product": 2874, "gpu-clustering": 2797, "gpu-packing": 2794, "best-fit": 2676, "fgd": 2532} {
		if got := w.Run(policy, 42, 1.3).Dropped; got != want {
			t.Errorf("%s drops %d pods, want %d", policy, got, want)
		}
	}
}

func TestWorkloadErrors(t *testing.T) {
	node := topology.Node{Name: "n", GPUModel: "A", Allocatable: topology.Resources{topology.GPU: 8000}}
	big, none := node, node
	big.Allocatable[topology.GPU] = 17000
	none.Allocatable[topology.GPU] = 0
	pod := []traces.OpenbPod{{Name: "p", GPUs: 1, Milli: 500}}
	for _, c := range []struct {
		nodes []topology.Node
		pods  []traces.OpenbPod
		want  string
	}{
		{[]topology.Node{big}, pod, `node "n" has 17 GPUs`},
		{[]topology.Node{none}, pod, "no GPUs"},
		{[]topology.Node{node}, nil, "no pods"},
	} {
		if _, err := NewWorkload(c.nodes, c.pods); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
}
