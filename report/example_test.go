package report_test

import (
	"fmt"
	"os"

	"github.com/gangplan/gangplan/policies"
	"github.com/gangplan/gangplan/report"
	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/sim/quota"
	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/workloads"
)

// twoGangs plays two jobs of eight one-GPU pods, each ten minutes of work, on one node of
// eight GPUs.
func twoGangs(policy string) *sim.Result {
	cluster, err := topology.Build([]string{"host"}, []topology.Node{{Name: "n1", Allocatable: topology.DefaultAllocatable(8)}})
	if err != nil {
		panic(err)
	}
	cfg := &sim.Config{Cluster: cluster, Creation: sim.Interleaved,
		Queues: []quota.Queue{{Name: "default", Nominal: quota.Amounts{8 * topology.Milli}, Covers: [4]bool{true}}}}
	for _, id := range []string{"A", "B"} {
		job := workloads.NewJob(id, 0)
		job.Startup, job.Duration = 0, 600e9
		job.PodSets = []workloads.PodSet{{Count: 8, Request: topology.Resources{1 * topology.Milli, 1 * topology.Milli, topology.GiB, 1}}}
		cfg.Jobs = append(cfg.Jobs, job)
	}
	declaration, _ := policies.Lookup(policy)
	engine, err := sim.New(cfg, declaration.New(nil), nil)
	if err != nil {
		panic(err)
	}
	return engine.Run()
}

// One metric of one run.
func ExampleMeasure() {
	values := report.Measure(twoGangs("gang"), nil)
	makespan, ok := values.Get("makespan_seconds")
	fmt.Println(makespan, ok)
	// Under per-pod each job gets half the pods, and neither ever starts.
	_, ok = report.Measure(twoGangs("per-pod"), nil).Get("wait.p50_seconds")
	fmt.Println(ok)
	// Output:
	// 1200 true
	// false
}

// A document of two runs; a format that there is not is refused.
func ExampleRender() {
	d := &report.Document{}
	for _, policy := range []string{"per-pod", "gang"} {
		run := report.NewRun(policy, twoGangs(policy), nil)
		fmt.Println(policy, len(run.Verdicts), "verdicts")
		d.Runs = append(d.Runs, run)
	}
	if err := report.Render(os.Stdout, "picture", d); err != nil {
		fmt.Println(err)
	}
	// Output:
	// per-pod 1 verdicts
	// gang 0 verdicts
	// unknown format "picture", expected one of table, wide, json, yaml, csv, markdown
}
