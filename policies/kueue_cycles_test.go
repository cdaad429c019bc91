package policies

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gangplan/gangplan/policies/admission"
	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/sim/quota"
	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/workloads"
)

// A cycle case is a state of a cluster and its queues, and what one cycle of Kueue's
// scheduler made of it: which heads it admitted and where, whom it preempted, and which heads
// it left in the running or set aside. Recorded from the schedulers of Kueue 0.17.0 and 0.19.2
// on random states.
type cycleCase struct {
	ID      string      `json:"id"`
	Kueue   string      `json:"kueue"`
	Fair    bool        `json:"fair"`
	Nodes   []cycleNode `json:"nodes"`
	Queues  []cycleQueue
	Held    []cycleWork
	Pending []cycleWork
	Want    cycleAnswer `json:"expected"`
}

type cycleNode struct {
	Path           []string
	GPU, CPU, Pods int64
}

type cycleQueue struct {
	Name, Cohort    string
	GPU, CPU        cycleQuota
	Within, Reclaim string
	Borrow          bool `json:"borrow_within"`
}

type cycleQuota struct {
	Nominal int64
	Borrow  *int64
}

type cycleWork struct {
	Name, Queue       string
	Priority          int32
	Created, Reserved int64
	Evicted           bool // and still charged
	Sets              []cycleSet
}

type cycleSet struct {
	Count       int32
	GPU, CPU    int64
	Mode, Level string
	Domains     []cycleDomain
}

type cycleDomain struct {
	Values []string `json:"values"`
	Count  int32    `json:"count"`
}

type cycleAnswer struct {
	Admitted  map[string][][]cycleDomain
	Preempted []string
	Left      []string
	Aside     []string
}

// level returns the name of a level without its domain.
func level(label string) string {
	if label == "kubernetes.io/hostname" {
		return "host"
	}
	return label
}

func (w *cycleWork) job(submit int64) workloads.Job {
	j := workloads.Job{ID: w.Name, Submit: submit, Duration: 1000 * sec, Queue: w.Queue, Priority: w.Priority}
	modes := map[string]workloads.TopologyMode{"required": workloads.TopologyRequired, "preferred": workloads.TopologyPreferred, "unconstrained": workloads.TopologyUnconstrained, "implied": workloads.TopologyUnconstrained}
	for i, s := range w.Sets {
		j.PodSets = append(j.PodSets, workloads.PodSet{Name: string(rune('a' + i)), Count: s.Count, Request: topology.Resources{s.GPU * 1000, s.CPU * 1000, 0, 1},
			Topology: workloads.TopologyRequest{Mode: modes[s.Mode], Level: level(s.Level)}})
	}
	return j
}

var cyclePolicies = map[string]quota.Policy{"LowerPriority": quota.LowerPriority, "LowerOrNewerEqualPriority": quota.LowerOrNewerEqual, "Any": quota.Any}

func (q *cycleQueue) spec() quota.Queue {
	var g quota.FlavorQuota
	for r, given := range map[topology.Resource]cycleQuota{topology.GPU: q.GPU, topology.CPU: q.CPU} {
		g.Quota[r].Nominal = given.Nominal * 1000
		if given.Borrow != nil {
			g.Quota[r].Borrowing = quota.Max(*given.Borrow * 1000)
		}
	}
	return quota.Queue{Name: q.Name, Cohort: q.Cohort, Groups: []quota.Group{{Covers: [4]bool{true, true}, Flavors: []quota.FlavorQuota{g}}},
		Preemption: quota.Preemption{Within: cyclePolicies[q.Within], Reclaim: cyclePolicies[q.Reclaim], WhileBorrow: q.Borrow}}
}

// config makes a run of the case: what is held comes at 0, what is pending at 1 s.
func (c *cycleCase) config(t *testing.T) *sim.Config {
	cfg := &sim.Config{Until: 2 * sec}
	var nodes []topology.Node
	for _, n := range c.Nodes {
		nodes = append(nodes, topology.Node{Name: n.Path[1], Path: n.Path[:1], GPUModel: "gpu", Allocatable: topology.Resources{n.GPU * 1000, n.CPU * 1000, 1 << 40, n.Pods}})
	}
	var err error
	if cfg.Cluster, err = topology.Build([]string{"rack", "host"}, nodes); err != nil {
		t.Fatal(err)
	}
	cohorts := map[string]bool{}
	for i := range c.Queues {
		cfg.Queues = append(cfg.Queues, c.Queues[i].spec())
		cohorts[c.Queues[i].Cohort] = true
	}
	if cohorts["c"] {
		cfg.Cohorts = []quota.Cohort{{Name: "c"}}
	}
	for i := range c.Held {
		cfg.Jobs = append(cfg.Jobs, c.Held[i].job(0))
	}
	for i := range c.Pending {
		cfg.Jobs = append(cfg.Jobs, c.Pending[i].job(sec))
	}
	for i := range cfg.Jobs {
		cfg.Jobs[i].Row = int64(i)
	}
	return cfg
}

// oneCycle is the Admitter of a case: at 0 it admits what is held to where it is, at 1 s it
// makes the one cycle and notes what came of it.
type oneCycle struct {
	*kueue
	c    *cycleCase
	got  cycleAnswer
	done bool
}

func (o *oneCycle) Cycle(tx *sim.Tx) bool {
	o.takeIn(tx.View)
	switch {
	case tx.Now() == 0:
		for i := range o.c.Held {
			o.hold(tx, int32(i))
		}
		o.c.Held = nil
	case tx.Now() == sec && !o.done:
		o.done = true
		for i := range o.c.Pending {
			j := int32(tx.Jobs() - len(o.c.Pending) + i)
			o.kernel.Work[j].Time = o.c.Pending[i].Created * sec
		}
		o.play(tx)
	}
	return false
}

func (o *oneCycle) hold(tx *sim.Tx, j int32) {
	w := &o.c.Held[j]
	var usage []quota.Item
	for s, set := range w.Sets {
		first, _ := tx.SetsOf(j)
		pod := tx.FirstPod(first + int32(s))
		for r, n := range []int64{set.GPU, set.CPU} {
			if n > 0 {
				usage = append(usage, quota.Item{FR: quota.Of(0, r), Amount: n * 1000 * int64(set.Count)})
			}
		}
		for _, d := range set.Domains {
			node := slices.IndexFunc(tx.Cluster().Nodes, func(n topology.Node) bool { return n.Name == d.Values[0] })
			for range d.Count {
				tx.Assign(pod, int32(node))
				pod++
			}
		}
	}
	o.queues[tx.Queue(j)].waiting.Remove(j)
	o.kernel.Work[j].Time = w.Created * sec
	o.kernel.Hold(j, w.Reserved*sec, usage)
	tx.AdmitUsing(j, o.kernel.Holding(j))
	tx.Commit()
	if w.Evicted {
		o.kernel.Evict(j)
	}
}

func (o *oneCycle) play(tx *sim.Tx) {
	for i := range o.trees {
		o.trees[i].dirty = true
	}
	o.collectHeads(tx.View)
	o.room.tx = tx
	o.got = cycleAnswer{Admitted: map[string][][]cycleDomain{}, Preempted: []string{}, Left: []string{}, Aside: []string{}}
	for _, e := range o.kernel.Cycle(o.heads) {
		id := tx.Job(e.Workload).ID
		switch {
		case e.Status == admission.Assumed:
			o.got.Admitted[id] = o.places(tx, e.Workload)
			continue
		case e.Requeue == admission.Generic && !o.kernel.Pending(e.Workload):
			o.got.Aside = append(o.got.Aside, id)
		default:
			o.got.Left = append(o.got.Left, id)
		}
		for _, victim := range e.Targets {
			if e.Requeue == admission.PendingPreemption && !o.kernel.Work[victim.Workload].Evicted {
				o.got.Preempted = append(o.got.Preempted, tx.Job(victim.Workload).ID)
			}
		}
	}
	slices.Sort(o.got.Preempted)
	slices.Sort(o.got.Left)
	slices.Sort(o.got.Aside)
}

func (o *oneCycle) places(tx *sim.Tx, j int32) [][]cycleDomain {
	first, last := tx.SetsOf(j)
	out := make([][]cycleDomain, last-first)
	host := tx.Cluster().HostDomain(0)
	for _, p := range o.room.found[tx.Queue(j)] {
		out[p.set-first] = append(out[p.set-first], cycleDomain{[]string{tx.Cluster().Nodes[p.domain-host].Name}, p.count})
	}
	return out
}

func (c *cycleCase) play(t *testing.T) cycleAnswer {
	cfg := c.config(t)
	params := map[string]string{"version": "0.17", "mode": "unconstrained"}
	if c.Kueue == "v0.19.2" {
		params["version"] = "0.19"
	}
	if c.Fair {
		params["fairSharing"] = "on"
	}
	policy := gangTopology.New(params)
	o := &oneCycle{kueue: policy.Admitter.(*kueue), c: c}
	policy.Admitter = o
	e, err := sim.New(cfg, policy, nil)
	if err != nil {
		t.Fatal(err)
	}
	e.Run()
	return o.got
}

// TestCyclesAreKueues wants of every recorded cycle what the real scheduler did: classical and
// fair preemption of both versions, some of the holders being on their way out.
// GANGPLAN_CYCLES names another table.
func TestCyclesAreKueues(t *testing.T) {
	path := "../testdata/conformance/kueue_tas_cycles.jsonl.gz"
	if p := os.Getenv("GANGPLAN_CYCLES"); p != "" {
		path = p
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	lines, cases, wrong := bufio.NewScanner(z), 0, 0
	for lines.Buffer(nil, 1<<20); lines.Scan(); cases++ {
		var c cycleCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		want := c.Want
		if d := cmp.Diff(want, c.play(t)); d != "" {
			if wrong++; wrong < 8 {
				t.Errorf("%s (-Kueue +gangplan):\n%s", c.ID, d)
			}
		}
	}
	if lines.Err() != nil || wrong > 0 {
		t.Errorf("%d of %d differ; %v", wrong, cases, lines.Err())
	}
}
