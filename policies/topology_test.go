package policies

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/sim/quota"
	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/workloads"
)

// rows builds racks of hosts, each given by its GPUs: "8 8" is a rack of two. Rack i is
// ri, its host j is ri-j.
func rows(t testing.TB, racks ...string) *topology.Cluster {
	t.Helper()
	var nodes []topology.Node
	for r, rack := range racks {
		for h, gpus := range strings.Fields(rack) {
			var g int64
			fmt.Sscan(gpus, &g)
			nodes = append(nodes, topology.Node{Name: fmt.Sprintf("r%d-%d", r, h), Path: []string{fmt.Sprintf("r%d", r)},
				GPUModel: "gpu", Allocatable: topology.DefaultAllocatable(g)})
		}
	}
	c, err := topology.Build([]string{"rack", "host"}, nodes)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// story is a run of gang-topology over racks, as much of it as these tests look at.
type story struct {
	c     *topology.Cluster
	r     *sim.Result
	trail sim.Transitions
}

func tell(t testing.TB, c *topology.Cluster, params map[string]string, faults []sim.Action, jobs ...workloads.Job) *story {
	t.Helper()
	cfg := &sim.Config{Cluster: c, Jobs: jobs, Actions: faults, Until: 10_000 * sec,
		Queues: []quota.Queue{{Name: "default", Nominal: quota.Amounts{1_000_000}, Covers: [4]bool{true}, Strategy: quota.BestEffortFIFO}}}
	s := &story{c: c}
	e, err := sim.New(cfg, gangTopology.New(params), &s.trail)
	if err != nil {
		t.Fatal(err)
	}
	s.r = e.Run()
	return s
}

// on lists the nodes a job's pods were bound to at a time, as "node:pods", by node.
func (s *story) on(job int32, at int64) string {
	count := map[string]int{}
	var names []string
	for _, x := range s.trail {
		if x.Kind == sim.Bind && x.Job == job && x.Time == at*sec {
			name := s.c.Nodes[x.Place].Name
			if count[name]++; count[name] == 1 {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	for i, n := range names {
		names[i] = fmt.Sprintf("%s:%d", n, count[n])
	}
	return strings.Join(names, " ")
}

func (s *story) start(job int) int64 { return s.r.Jobs[job].FirstStart / sec }

// asks makes a job ask for a topology.
func asks(j workloads.Job, t workloads.TopologyRequest) workloads.Job {
	j.PodSets[0].Topology = t
	return j
}

func need(mode workloads.TopologyMode, level string) workloads.TopologyRequest {
	return workloads.TopologyRequest{Mode: mode, Level: level}
}

// The best fit takes the only big hole for three small pods; least free capacity keeps it.
func TestBestFitTakesTheBigHole(t *testing.T) {
	c := rows(t, "2 1 1 1")
	a := job("A", 0, 3, 1, 600)
	b := job("B", 1, 1, 2, 600)
	for _, e := range []struct {
		placement, on string
		start         int64
	}{{"BestFit", "r0-0:2 r0-1:1", 600}, {"LeastFreeCapacity", "r0-1:1 r0-2:1 r0-3:1", 1}} {
		s := tell(t, c, map[string]string{"mode": "unconstrained", "placement": e.placement}, nil, a, b)
		if s.on(0, 0) != e.on || s.start(1) != e.start {
			t.Errorf("%s: A is on %s and B starts at %d, want %s and %d", e.placement, s.on(0, 0), s.start(1), e.on, e.start)
		}
	}
}

// Sixteen pods over two racks of fifteen: 15 and 1, or balanced 8 and 8.
func TestBalancedPlacement(t *testing.T) {
	c := rows(t, "15", "15")
	p := asks(job("P", 0, 16, 1, 1), need(workloads.TopologyPreferred, "rack"))
	for _, e := range [][2]string{{"off", "r0-0:15 r1-0:1"}, {"on", "r0-0:8 r1-0:8"}} {
		balanced, want := e[0], e[1]
		if s := tell(t, c, map[string]string{"balanced": balanced}, nil, p); s.on(0, 0) != want {
			t.Errorf("balanced %s: %s, want %s", balanced, s.on(0, 0), want)
		}
	}
}

// Leaf groups of uneven size: eight gangs of eight hosts need 4, 2 or 1 waves by how much
// they ask for, and twelve hosts in one group are never there.
func TestUnevenLeafGroups(t *testing.T) {
	groups := map[string][]int{"A": {1, 1, 2, 2, 2, 3, 3, 3, 5, 5, 6, 8}, "B": {6, 6, 11}}
	var nodes []topology.Node
	for _, pod := range []string{"A", "B"} {
		for g, n := range groups[pod] {
			for range n {
				nodes = append(nodes, topology.Node{Name: fmt.Sprintf("n%02d", len(nodes)), Path: []string{pod, fmt.Sprintf("%s%02d", pod, g)},
					GPUModel: "gpu", Allocatable: topology.DefaultAllocatable(8)})
			}
		}
	}
	c, err := topology.Build([]string{"superpod", "leaf", "host"}, nodes)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []struct {
		ask   workloads.TopologyRequest
		waves int64
	}{
		{need(workloads.TopologyRequired, "leaf"), 4},
		{need(workloads.TopologyRequired, "superpod"), 2},
		{need(workloads.TopologyPreferred, "leaf"), 1},
	} {
		var jobs []workloads.Job
		for k := range 8 {
			jobs = append(jobs, asks(job(fmt.Sprintf("g%d", k), 0, 8, 8, 100), e.ask))
		}
		s := tell(t, c, nil, nil, jobs...)
		var last int64
		for _, j := range s.r.Jobs {
			last = max(last, j.Finish/sec)
		}
		if last != 100*e.waves {
			t.Errorf("%+v: all done at %d, want %d", e.ask, last, 100*e.waves)
		}
	}
	s := tell(t, c, nil, nil, asks(job("big", 0, 12, 8, 100), need(workloads.TopologyRequired, "leaf")))
	if !s.r.Jobs[0].NeverFits {
		t.Error("twelve hosts in a leaf group of at most eleven are thought to fit some day")
	}
}

// A leader and its workers share a rack; the leader is the smaller set, wherever it stands.
func TestLeaderAndWorkers(t *testing.T) {
	c := rows(t, "4 4", "4 5")
	ask := need(workloads.TopologyRequired, "rack")
	ask.Group = "g"
	sets := func(first, second int32) workloads.Job {
		j := job("L", 0, first, 1, 10)
		j.PodSets = append(j.PodSets, job("", 0, second, 1, 10).PodSets...)
		j.PodSets[0].Name, j.PodSets[1].Name = "a", "b"
		j.PodSets[0].Topology, j.PodSets[1].Topology = ask, ask
		return j
	}
	for _, counts := range [][2]int32{{1, 8}, {8, 1}} {
		s := tell(t, c, nil, nil, sets(counts[0], counts[1]))
		if got := s.on(0, 0); got != "r1-0:4 r1-1:5" {
			t.Errorf("%v: %s, want all nine in the rack of nine", counts, got)
		}
	}
	if s := tell(t, c, nil, nil, sets(1, 9)); !s.r.Jobs[0].NeverFits {
		t.Error("ten pods in a rack of nine are thought to fit")
	}
}

// Slices of four pods stay in a rack each, although no rack holds two of them. Within a
// rack the hosts with least room come first.
func TestSlices(t *testing.T) {
	c := rows(t, "3 3", "2 2", "1 4")
	ask := workloads.TopologyRequest{Mode: workloads.TopologySliceOnly, Slices: [3]workloads.Slice{{Level: "rack", Size: 4}}}
	s := tell(t, c, nil, nil, asks(job("S", 0, 12, 1, 10), ask))
	if got := s.on(0, 0); got != "r0-0:3 r0-1:1 r1-0:2 r1-1:2 r2-0:1 r2-1:3" {
		t.Errorf("slices on %s", got)
	}
	if s := tell(t, c, nil, nil, asks(job("S", 0, 16, 1, 10), ask)); !s.r.Jobs[0].NeverFits {
		t.Error("a fourth slice is thought to fit")
	}
}

// What Kueue says of a job that has no place.
func TestExplain(t *testing.T) {
	c := rows(t, "4 4", "4")
	bad := asks(job("bad", 0, 1, 1, 100), need(workloads.TopologyRequired, "pod"))
	odd := asks(job("odd", 0, 3, 1, 100), workloads.TopologyRequest{Mode: workloads.TopologySliceOnly, Slices: [3]workloads.Slice{{Level: "rack", Size: 2}}})
	cfg := &sim.Config{Cluster: c, Until: 50 * sec,
		Queues: []quota.Queue{{Name: "default", Nominal: quota.Amounts{1_000_000}, Covers: [4]bool{true}, Strategy: quota.BestEffortFIFO}},
		Jobs: []workloads.Job{job("A", 0, 1, 4, 100), job("B", 0, 6, 1, 100), bad, odd,
			asks(job("C", 1, 6, 1, 100), need(workloads.TopologyRequired, "rack")), asks(job("D", 1, 3, 4, 100), need(workloads.TopologyPreferred, "rack"))}}
	policy := gangTopology.New(nil)
	watch := &explainer{kueue: policy.Admitter.(*kueue)}
	policy.Admitter = watch
	e, err := sim.New(cfg, policy, nil)
	if err != nil {
		t.Fatal(err)
	}
	e.Run()
	for j, want := range []string{"", "", "no requested topology level: pod", "the number of pods is not a multiple of the slice size",
		`topology "default" allows to fit only 2 out of 6 pod(s). Total nodes: 3; excluded: resource "nvidia.com/gpu": 2`,
		`topology "default" doesn't allow to fit any of 3 pod(s). Total nodes: 3; excluded: resource "cpu": 3`} {
		if watch.said[j] != want {
			t.Errorf("job %d: %q, want %q", j, watch.said[j], want)
		}
	}
}

// explainer is the Admitter with somebody who asks it about every job after every cycle.
type explainer struct {
	*kueue
	said [8]string
}

func (x *explainer) Cycle(tx *sim.Tx) bool {
	again := x.kueue.Cycle(tx)
	var queued []int32
	clear(x.said[:])
	for j := range int32(tx.Jobs()) {
		if tx.State(j) == sim.Queued {
			queued = append(queued, j)
		}
	}
	x.Explain(tx, queued, func(j int32, message string) { x.said[j] = message })
	return again
}

// What is said of the jobs that are still queued at the end of a run: nothing of those that
// lack quota, are not there yet or have a place, and each taint and label that is in the way.
func TestMessagesAtTheEnd(t *testing.T) {
	c := rows(t, "4 4", "4")
	c.Nodes[0].Taints = []topology.Taint{{Key: "spot", Value: "yes", Effect: "NoSchedule"}}
	c.Nodes[1].Labels = map[string]string{"pool": "a"}
	rich := job("rich", 0, 2, 4, 100)
	rich.Queue = "poor"
	picky := job("picky", 0, 2, 4, 100)
	picky.PodSets[0].NodeSelector = []topology.Requirement{{Key: "pool", Operator: topology.In, Values: []string{"a"}}}
	cfg := &sim.Config{Cluster: c, Until: 50 * sec, Jobs: []workloads.Job{rich, job("runs", 0, 1, 4, 100), picky,
		job("large", 1, 2, 4, 100), job("equal", 2, 2, 4, 100), job("late", 99, 2, 4, 100)},
		Queues: []quota.Queue{{Name: "default", Nominal: quota.Amounts{1_000_000}, Covers: [4]bool{true}, Strategy: quota.BestEffortFIFO},
			{Name: "poor", Nominal: quota.Amounts{4000}, Covers: [4]bool{true}}}}
	e, err := sim.New(cfg, gangTopology.New(nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	r := e.Run()
	large := `topology "default" allows to fit only 1 out of 2 pod(s). Total nodes: 3; excluded: resource "cpu": 1, taint "spot=yes:NoSchedule": 1`
	for j, want := range []string{"", "", `topology "default" doesn't allow to fit any of 2 pod(s). Total nodes: 3; excluded: nodeSelector: 1, resource "cpu": 1, taint "spot=yes:NoSchedule": 1`,
		large, large, ""} {
		if got := r.Jobs[j].Message; got != want {
			t.Errorf("%s: %q, want %q", cfg.Jobs[j].ID, got, want)
		}
	}
	plain, err := sim.New(cfg, gang.New(nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	for j, row := range plain.Run().Jobs {
		if row.Message != "" {
			t.Errorf("a policy without topology says %q of job %d", row.Message, j)
		}
	}
}
