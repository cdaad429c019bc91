package policies

import (
	"testing"

	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/sim/ledger"
	"github.com/gangplan/gangplan/sim/quota"
	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/workloads"
)

const sec = int64(1e9)

func cluster(t testing.TB, gpus ...int64) *topology.Cluster {
	var nodes []topology.Node
	for i, g := range gpus {
		nodes = append(nodes, topology.Node{Name: "n" + string(rune('1'+i)), GPUModel: "gpu",
			Allocatable: topology.DefaultAllocatable(g)})
	}
	c, err := topology.Build([]string{"host"}, nodes)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func job(id string, submit int64, pods int32, gpus int64, duration int64) workloads.Job {
	return workloads.Job{ID: id, Submit: submit * sec, Duration: duration * sec, PodSets: []workloads.PodSet{{Count: pods,
		Request: topology.Resources{gpus * 1000, gpus * 12000, gpus * 96 << 30, 1}}}}
}

func TestSmoke(t *testing.T) {
	c := cluster(t, 4, 4)
	quotaOf := func(n int64) []quota.Queue {
		return []quota.Queue{{Name: "default", Nominal: quota.Amounts{n * 1000}, Covers: [4]bool{true}}}
	}
	for _, p := range []string{"per-pod", "gang", "gang-topology"} {
		d, _ := Lookup(p)
		cfg := &sim.Config{Cluster: c, Queues: quotaOf(8), Creation: sim.Interleaved, Until: 3600 * sec,
			Jobs: []workloads.Job{job("A", 0, 8, 1, 600), job("B", 0, 8, 1, 600)}}
		var tr sim.Transitions
		e, err := sim.New(cfg, d.New(nil), &tr)
		if err != nil {
			t.Fatal(err)
		}
		r := e.Run()
		t.Log(p, r.End/sec, r.Findings, r.Digest)
		for a := ledger.Account(0); a < ledger.NumAccounts; a++ {
			if s := r.Books.Sum(0, a); !s.IsZero() {
				t.Log(a, s.Float64()/1e12)
			}
		}
		for _, x := range r.Jobs {
			t.Logf("%+v", x)
		}
	}
	l1, l2 := job("L1", 0, 3, 1, 10000), job("L2", 0, 3, 1, 10000)
	l1.PodSets[0].Node, l2.PodSets[0].Node = "n1", "n2"
	cfg := &sim.Config{Cluster: c, Queues: quotaOf(8), Jobs: []workloads.Job{l1, l2, job("D", 0, 1, 2, 600)},
		PodsReady: sim.PodsReady{Enabled: true, Timeout: 300 * sec, BackoffBase: 60 * sec, BackoffMax: 3600 * sec, BackoffLimit: -1}}
	for _, p := range []string{"gang", "gang-topology"} {
		d, _ := Lookup(p)
		var tr sim.Transitions
		e, err := sim.New(cfg, d.New(nil), &tr)
		if err != nil {
			t.Fatal(err)
		}
		r := e.Run()
		for _, x := range tr {
			if x.Kind == sim.Admit || x.Kind == sim.Evict {
				t.Log(x.Time/sec, x.Kind, x.Job)
			}
		}
		t.Log(r.Reserved.Float64()/1e12, r.Findings, r.End/sec)
		for a := ledger.Account(0); a < ledger.NumAccounts; a++ {
			if s := r.Books.Sum(0, a); !s.IsZero() {
				t.Log(a, s.Float64()/1e12)
			}
		}
	}
}
