package policies

import (
	"fmt"
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
// equally often. The pods that are decided about have not been placed yet.
func filled(t testing.TB, nodes int, settings map[string]string) *bench {
	t.Helper()
	var in []topology.Node
	for i := range nodes {
		in = append(in, topology.Node{Name: fmt.Sprintf("n%05d", i), GPUModel: "gpu", Allocatable: topology.DefaultAllocatable(8)})
	}
	c, err := topology.Build([]string{"host"}, in)
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
			jobs = append(jobs, j)
		}
	}
	first := len(jobs)
	for g := range int64(8) {
		jobs = append(jobs, job(fmt.Sprintf("new%d", g), 1, 1, g+1, 1))
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
	for _, sampling := range []string{"off", "kube"} {
		b.Run("nodes=5000/sampling="+sampling, func(b *testing.B) {
			k := filled(b, 5000, map[string]string{"sampling": sampling})
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				k.decide(i)
				i++
			}
		})
	}
}

func TestKubeDecisionDoesNotAllocate(t *testing.T) {
	for _, settings := range []map[string]string{{"sampling": "off"}, {"sampling": "kube"}, {"ties": "random"}, {"profile": "fgd"}} {
		k := filled(t, 200, settings)
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
			t.Errorf("%v: %v allocations a decision", settings, n)
		}
	}
}
