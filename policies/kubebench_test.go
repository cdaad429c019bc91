package policies

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/sim/quota"
	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/workloads"
)

// bench is a kube Binder that, once the cluster is filled, decides over and over: takes in
// the change of one node, searches, assumes and takes it back.
type bench struct {
	*kube
	tx   *sim.Tx
	pods []int32
}

func (b *bench) Cycle(tx *sim.Tx) bool {
	b.tx = tx
	b.heed(tx.View)
	return tx.Now() == 0 && b.kube.Cycle(tx) // later pods stay pending
}

func (b *bench) decide(i int) int32 {
	pod := b.pods[i%len(b.pods)]
	mark := b.tx.Savepoint()
	node := b.pick(b.tx.View, pod)
	if node >= 0 {
		b.tx.AssumeGPUs(pod, node, 0)
		b.tx.Rollback(mark)
	}
	return node
}

// filled is a cluster in which 16 shapes of nodes, by what is used of them, come up
// equally often. The pods that are decided about have not been placed yet; ask says what
// their jobs ask.
func filled(t testing.TB, nodes int, settings map[string]string, asks func(*workloads.Job)) *bench {
	t.Helper()
	var in []topology.Node
	for i := range nodes {
		in = append(in, topology.Node{Name: fmt.Sprintf("n%05d", i), Path: []string{fmt.Sprintf("r%03d", i/32)}, GPUModel: "gpu",
			Allocatable: topology.DefaultAllocatable(8), Labels: map[string]string{"half": fmt.Sprint(i / 64 % 2)}})
	}
	c, err := topology.Build([]string{"rack", "host"}, in)
	if err != nil {
		t.Fatal(err)
	}
	var jobs []workloads.Job
	for n := range nodes {
		if g := int64(n % 8); g > 0 {
			j := job(fmt.Sprintf("j%d", n), 0, 1, g, 1e6)
			j.PodSets[0].Node = in[n].Name
			if n%16 > 8 {
				j.PodSets[0].Request[topology.CPU] /= 2
			}
			if n%100 < 3 {
				j.Labels = map[string]string{"app": "db"}
			}
			jobs = append(jobs, j)
		}
	}
	first := len(jobs)
	for g := range int64(8) {
		j := job(fmt.Sprintf("new%d", g), 1, 1, g+1, 1)
		if asks != nil {
			asks(&j)
		}
		jobs = append(jobs, j)
	}
	d, _ := Lookup("per-pod")
	policy := d.New(settings)
	b := &bench{kube: policy.Binder.(*kube)}
	policy.Binder = b
	e, err := sim.New(&sim.Config{Cluster: c, Jobs: jobs, Queues: []quota.Queue{{Name: "default"}}}, policy, nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the fill, then the new jobs
		e.Step()
	}
	for j := first; j < len(jobs); j++ {
		p, _ := b.tx.PodsOf(int32(j))
		b.pods = append(b.pods, p)
	}
	return b
}

func BenchmarkKubeDecision(b *testing.B) {
	run := func(name string, settings map[string]string, asks func(*workloads.Job)) {
		b.Run("nodes=5000/"+name, func(b *testing.B) {
			k := filled(b, 5000, settings, asks)
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				k.decide(i)
				i++
			}
		})
	}
	off := map[string]string{"sampling": "off"}
	run("sampling=off", off, nil)
	run("sampling=kube", nil, nil)
	for _, name := range slices.Sorted(maps.Keys(asking)) {
		run("sampling=off/"+name, off, asking[name])
	}
}

// db means the pods of 150 jobs on 5,000 nodes.
var db = &workloads.PodSelector{Match: []topology.Requirement{{Key: "app", Operator: topology.In, Values: []string{"db"}}}}

// asking are things that jobs ask of others or of nodes.
var asking = map[string]func(*workloads.Job){
	"apart from each other": func(j *workloads.Job) { j.AntiAffinity = []workloads.PodTerm{{Level: "host"}} },
	"in racks of others": func(j *workloads.Job) {
		j.Affinity = []workloads.PodTerm{{Level: "rack", Of: db}}
		j.AntiAffinity = []workloads.PodTerm{{Level: "host", Weight: 5, Of: db}}
	},
	"evenly over racks": func(j *workloads.Job) {
		j.Spread = []workloads.SpreadConstraint{{Level: "rack", MaxSkew: 2, Of: db}, {Level: "host", MaxSkew: 1, Soft: true, Of: db}}
	},
	"a preferred half": func(j *workloads.Job) {
		j.PodSets[0].NodeAffinity.Preferred = []topology.PreferredTerm{{Weight: 9, Term: topology.Term{{Key: "half", Operator: topology.In, Values: []string{"1"}}}}}
	},
}

func TestKubeDecisionDoesNotAllocate(t *testing.T) {
	off := map[string]string{"sampling": "off"}
	check := func(name string, settings map[string]string, asks func(*workloads.Job)) {
		k := filled(t, 200, settings, asks)
		i := 0
		step := func() {
			if k.decide(i) < 0 {
				t.Fatal("no node")
			}
			i++
		}
		for range 1000 {
			step()
		}
		if n := testing.AllocsPerRun(1000, step); n != 0 {
			t.Errorf("%s %v: %v allocations a decision", name, settings, n)
		}
	}
	for _, settings := range []map[string]string{off, {"sampling": "kube"}, {"ties": "random"}, {"profile": "fgd"}} {
		check("plain", settings, nil)
	}
	for name, asks := range asking {
		check(name, off, asks)
		check(name, nil, asks)
	}
}
