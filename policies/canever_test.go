package policies

import (
	"testing"

	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/sim/quota"
	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/workloads"
)

// Three pairs of whole hosts, each pair in one rack, have room one by one on two racks of
// three hosts, but not beside each other; two pairs have.
func TestNeverFitsBesideEachOther(t *testing.T) {
	nodes, err := topology.Synthetic{Levels: []string{"rack", "host"}, Counts: []int{2, 3}, GPUs: 8}.Nodes()
	if err != nil {
		t.Fatal(err)
	}
	c, err := topology.Build([]string{"rack", "host"}, nodes)
	if err != nil {
		t.Fatal(err)
	}
	pair := workloads.PodSet{Count: 2, Request: topology.Resources{topology.GPU: 8000, topology.Pods: 1},
		Topology: workloads.TopologyRequest{Mode: workloads.TopologyRequired, Level: "rack"}}
	jobOf := func(id string, pairs int, submit int64) workloads.Job {
		j := workloads.Job{ID: id, Submit: submit, Duration: 1e9}
		for range pairs {
			j.PodSets = append(j.PodSets, pair)
		}
		return j
	}
	d, _ := Lookup("gang-topology")
	cfg := &sim.Config{Cluster: c, Jobs: []workloads.Job{jobOf("three", 3, 0), jobOf("two", 2, 1)},
		Queues: []quota.Queue{{Name: "q", Nominal: quota.Amounts{48_000}, Covers: [4]bool{true}}}}
	e, err := sim.New(cfg, d.New(nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	r := e.Run()
	if !r.Jobs[0].NeverFits || r.Jobs[1].NeverFits || r.Jobs[1].State != sim.Finished {
		t.Errorf("three pairs: %+v\ntwo pairs: %+v", r.Jobs[0], r.Jobs[1])
	}
}
