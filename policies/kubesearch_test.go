package policies

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gangplan/gangplan/internal/rng"
	"github.com/gangplan/gangplan/policies/stage"
	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/sim/devices"
	"github.com/gangplan/gangplan/sim/quota"
	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/workloads"
)

// watched is a kube Binder whose every decision is compared with a scan of all nodes that
// knows neither classes nor what was worked out before.
type watched struct {
	*kube
	t         *testing.T
	decisions int
	refused   int
	images    map[string]bool // "node image", as pods came
}

func (w *watched) Cycle(tx *sim.Tx) bool {
	w.heed(tx.View)
	pod := w.head(tx.Now())
	if pod < 0 {
		return w.kube.Cycle(tx)
	}
	want, start := w.scan(tx.View, pod)
	progress := w.kube.Cycle(tx)
	if got := tx.NodeOf(pod); got != want || w.start != start {
		w.t.Fatalf("pod %d of %+v goes to node %d, want %d; the next search starts at %d, want %d; candidates %+v", pod, tx.Job(tx.JobOf(pod)), got, want, w.start, start, w.list)
	}
	if want >= 0 && tx.Job(tx.JobOf(pod)).ImageBytes > 0 {
		w.images[fmt.Sprint(want, " ", tx.Job(tx.JobOf(pod)).Image)] = true
	}
	w.decisions++
	if want < 0 {
		w.refused++
	}
	return progress
}

// scan is what kube-scheduler does: look at node after node from where it ended until
// enough are feasible, rate them, take the best.
func (w *watched) scan(v sim.View, pod int32) (best int32, start int) {
	n := len(w.order)
	enough := n
	if w.sampling && n >= 100 {
		enough = max(100, n*max(5, 50-n/125)/100)
	}
	var found []int32
	at := w.start
	for range n {
		if len(found) == enough {
			break
		}
		if node := w.order[at]; w.feasible(v, pod, node) {
			found = append(found, node)
		}
		at = (at + 1) % n
	}
	if v.Pin(pod) >= 0 {
		if w.feasible(v, pod, v.Pin(pod)) {
			return v.Pin(pod), w.start
		}
		return -1, w.start
	}
	if enough == n && !w.randomTies {
		at = w.start
	}
	return w.bestOf(v, pod, found), at
}

func (w *watched) feasible(v sim.View, pod, node int32) bool {
	r := v.PodRequest(v.SetOf(pod))
	models, model := v.Models(v.SetOf(pod)), v.Cluster().Nodes[node].Model
	if v.Down(node) || !r.FitsIn(&v.Free(sim.Physical)[node]) || models != 0 && (model < 0 || models>>model&1 == 0) {
		return false
	}
	set, n := podSetOf(v, pod), &v.Cluster().Nodes[node]
	if topology.Untolerated(n.Taints, set.Tolerated()) != nil || !topology.MatchAll(set.NodeSelector, n.Labels) || !set.NodeAffinity.Allows(n.Labels) {
		return false
	}
	if !termsHold(v, pod, node) {
		return false
	}
	ask, _ := devices.NewAsk(r[topology.GPU])
	return v.GPUs() == nil || v.GPUs()[node].Fits(ask)
}

func (w *watched) bestOf(v sim.View, pod int32, found []int32) int32 {
	soft := make([]int64, len(found))
	for i, n := range found {
		soft[i] = stage.SoftTaints(v.Cluster().Nodes[n].Taints, podSetOf(v, pod).Tolerated())
	}
	stage.NormalizeTaints(soft)
	terms := w.termScores(v, pod, found)
	best, highest := int32(-1), int64(-1)
	for i, n := range found {
		score := w.score(v, pod, n) + w.profile.Weights[stage.TaintToleration]*soft[i] + terms[i]
		better := score > highest
		if score == highest {
			better = n < best
			if w.randomTies {
				better = lotOf(v, pod, n) < lotOf(v, pod, best)
			}
		}
		if better {
			best, highest = n, score
		}
	}
	return best
}

func lotOf(v sim.View, pod, node int32) uint64 {
	first, _ := v.PodsOf(v.JobOf(pod))
	id := rng.ID2(v.Stable(v.JobOf(pod)), uint64(pod-first))
	return rng.Hash(v.Seed(), rng.Tie, rng.ID2(id, rng.StableID(v.Cluster().Nodes[node].Name, 0)), uint64(v.Attempt(pod)))
}

// score counts the pods of a node anew.
func (w *watched) score(v sim.View, pod, node int32) int64 {
	l := stage.Load{Offers: v.Cluster().Nodes[node].Allocatable}
	for p := range int32(v.Pods()) {
		if v.NodeOf(p) == node {
			d := stage.NewDemand(*v.PodRequest(v.SetOf(p)))
			l.Add(&d)
		}
	}
	d := stage.NewDemand(*v.PodRequest(v.SetOf(pod)))
	return w.profile.Resources(&d, &l)
}

// mixedCluster has some of everything: sizes, models, taints, zones, nodes without GPUs.
func mixedCluster(t testing.TB, r *rand.Rand, n int) *topology.Cluster {
	t.Helper()
	var nodes []topology.Node
	for i := range n {
		g := []int64{0, 2, 4, 8, 8}[r.IntN(5)]
		node := topology.Node{Name: fmt.Sprintf("n%d", i), Path: []string{fmt.Sprintf("z%d", r.IntN(3))},
			GPUModel: []string{"A", "B"}[r.IntN(2)], Allocatable: topology.DefaultAllocatable(max(1, g))}
		node.Allocatable[topology.GPU] = g * topology.Milli
		switch r.IntN(12) {
		case 0:
			node.Taints = []topology.Taint{{Key: "a", Effect: "PreferNoSchedule"}, {Key: "b", Effect: "PreferNoSchedule"}}
		case 1:
			node.Taints = []topology.Taint{{Key: "a", Effect: "PreferNoSchedule"}}
		case 2:
			node.Taints = []topology.Taint{{Key: "a", Effect: "NoSchedule"}}
		case 3:
			node.Taints = []topology.Taint{{Key: "nvidia.com/gpu", Effect: "NoSchedule"}}
		}
		nodes = append(nodes, node)
	}
	c, err := topology.Build([]string{"zone", "host"}, nodes)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// mixedJobs come and go; some pods ask for no CPU, some for a part of a GPU, some for a
// model or a node.
func mixedJobs(r *rand.Rand, c *topology.Cluster, n int, parts bool) []workloads.Job {
	var jobs []workloads.Job
	for i := range n {
		g := int64([]int{0, 1, 1, 2, 4, 8}[r.IntN(6)])
		j := job(fmt.Sprintf("j%d", i), int64(i), int32(1+r.IntN(4)), g, int64(1+r.IntN(40)))
		s := &j.PodSets[0]
		if g == 0 {
			s.Request = topology.Resources{topology.CPU: int64(r.IntN(3)) * 4000, topology.Memory: int64(r.IntN(3)) << 33}
		} else if parts && g == 1 {
			s.Request[topology.GPU] = 100 * int64(1+r.IntN(9))
		}
		if r.IntN(5) == 0 && g > 0 {
			s.Models = []string{"B"}
		}
		if r.IntN(10) == 0 {
			s.Node = c.Nodes[r.IntN(len(c.Nodes))].Name
		}
		jobs = append(jobs, j)
	}
	return jobs
}

func runWatched(t *testing.T, c *topology.Cluster, jobs []workloads.Job, settings map[string]string) *watched {
	t.Helper()
	d, _ := Lookup("per-pod")
	policy := d.New(settings)
	w := &watched{kube: policy.Binder.(*kube), t: t, images: map[string]bool{}}
	policy.Binder = w
	cfg := &sim.Config{Cluster: c, Jobs: jobs, Queues: []quota.Queue{{Name: "default"}}, Until: 3000 * sec, Seed: 3,
		Actions: []sim.Action{{Time: 20 * sec, Node: 0}, {Time: 60 * sec, Node: 0, Do: sim.DoUp}}}
	e, err := sim.New(cfg, policy, nil)
	if err != nil {
		t.Fatal(err)
	}
	e.Run()
	return w
}

func TestKubeAgainstScan(t *testing.T) {
	refused := 0
	for _, nodes := range []int{2, 7, 40, 130, 1000} {
		for i, settings := range []map[string]string{
			{}, {"profile": "pack"}, {"ties": "random"}, {"profile": "pack", "ties": "random", "balance": "change"},
			{"sampling": "off"}, {"sampling": "off", "ties": "random"}, {"profile": "random"},
		} {
			r := rand.New(rand.NewPCG(uint64(nodes), uint64(i)))
			c := mixedCluster(t, r, nodes)
			w := runWatched(t, c, mixedJobs(r, c, min(60, 8*nodes), i%2 == 0), settings)
			if w.decisions < 4*min(nodes, 3) {
				t.Errorf("%d nodes %v: only %d decisions", nodes, settings, w.decisions)
			}
			refused += w.refused
		}
	}
	if refused == 0 {
		t.Error("no pod was ever refused: the test is too easy")
	}
}

func TestZonesInTurn(t *testing.T) {
	var nodes []topology.Node
	for i, zone := range []string{"a", "a", "a", "b", "c", "c"} {
		nodes = append(nodes, topology.Node{Name: fmt.Sprint(i), Path: []string{zone}, Allocatable: topology.DefaultAllocatable(1)})
	}
	c, err := topology.Build([]string{"zone", "host"}, nodes)
	if err != nil {
		t.Fatal(err)
	}
	if got := zonesInTurn(c); !slices.Equal(got, []int32{0, 3, 4, 1, 5, 2}) {
		t.Errorf("%v", got)
	}
	if got := zonesInTurn(cluster(t, 1, 1)); !slices.Equal(got, []int32{0, 1}) {
		t.Errorf("without zones %v", got)
	}
}

func TestSampleSize(t *testing.T) {
	for _, c := range [][2]int{{1, 1}, {99, 99}, {100, 100}, {150, 100}, {1000, 420}, {5000, 500}, {5625, 281}, {10000, 500}} {
		if got := stage.SampleSize(c[0]); got != c[1] {
			t.Errorf("of %d nodes %d, want %d", c[0], got, c[1])
		}
	}
}

// Three pods of 0.6 GPU: 1.8 of 2 GPUs are free, but the third has no GPU with 0.6.
func TestSharedGPUsAreNotPutTogether(t *testing.T) {
	for _, profile := range []string{"spread", "fgd", "best-fit", "gpu-packing"} {
		j := job("parts", 0, 3, 1, 100)
		j.PodSets[0].Request = topology.Resources{topology.GPU: 600, topology.CPU: 1000}
		single := job("rest", 1, 1, 1, 50)
		single.PodSets[0].Request = topology.Resources{topology.GPU: 400, topology.CPU: 1000}
		w := runWatchedFree(t, cluster(t, 2), []workloads.Job{j, single}, map[string]string{"profile": profile})
		if got := w.Jobs[0].FirstStart; got != -1 {
			t.Errorf("%s: the three start at %d", profile, got)
		}
		if got := w.Jobs[1].FirstStart; got != 1*sec {
			t.Errorf("%s: the rest of a GPU is used at %d", profile, got)
		}
	}
}

func runWatchedFree(t *testing.T, c *topology.Cluster, jobs []workloads.Job, settings map[string]string) *sim.Result {
	t.Helper()
	d, _ := Lookup("per-pod")
	cfg := &sim.Config{Cluster: c, Jobs: jobs, Queues: []quota.Queue{{Name: "default"}}, Until: 1000 * sec}
	e, err := sim.New(cfg, d.New(settings), nil)
	if err != nil {
		t.Fatal(err)
	}
	return e.Run()
}

// The scorers of the study serve in ordinary runs, with departures: every job ends, and
// the run is the same again.
func TestDeterminismOfDeviceScorers(t *testing.T) {
	for _, profile := range []string{"random", "dot-product", "gpu-clustering", "gpu-packing", "best-fit", "fgd"} {
		var digests [2]sim.Digest
		for i := range digests {
			r := rand.New(rand.NewPCG(5, 5))
			c := mixedCluster(t, r, 12)
			jobs := mixedJobs(r, c, 80, true)
			digests[i] = runWatchedFree(t, c, jobs, map[string]string{"profile": profile}).Digest
		}
		if digests[0] != digests[1] {
			t.Errorf("%s: %x and %x", profile, digests[0], digests[1])
		}
	}
}
