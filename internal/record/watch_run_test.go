package record

import (
	"strings"
	"testing"

	"github.com/gangplan/gangplan/internal/scenario"
	"github.com/gangplan/gangplan/policies"
	"github.com/gangplan/gangplan/sim"
)

const beginning = `apiVersion: gangplan/v1alpha1
kind: Scenario
timing: {preset: kubernetes, start: {median: 1s, p99: 1s, initMin: 0s, initMax: 0s}, termination: 500ms}
`

// worlds are small clusters on which something happens.
var worlds = map[string]string{
	"a gang that is given up": `cluster: {nodes: [{name: n, count: 7, gpus: 8}]}
queues: [{name: q, quota: {gpu: 64}}]
workload: {jobs: [{id: a, duration: 4s, pods: 8, gpusPerPod: 8}]}
waitForPodsReady: {timeout: 4s, requeuingStrategy: {backoffBaseSeconds: 2, backoffLimitCount: 2}}
policies: [gang]
`,
	"seven of eight for ever": `cluster: {nodes: [{name: n, count: 7, gpus: 8}]}
workload: {jobs: [{id: a, duration: 4s, pods: 8, gpusPerPod: 8}]}
until: 30s
policies: [per-pod]
`,
	"a victim of preemption": `cluster: {nodes: [{name: n, count: 4, gpus: 8}]}
queues: [{name: q, quota: {gpu: 32}, preemption: {withinClusterQueue: LowerPriority}}]
workload:
  jobs:
  - {id: low, duration: 10s, pods: 4, gpusPerPod: 8}
  - {id: high, submit: 3300ms, duration: 4s, pods: 2, gpusPerPod: 8, priority: 10}
policies: [gang]
`,
	"topology, one rack after the other": `cluster: {synthetic: {zones: 1, racks: 2, hosts: 4, gpus: 8}}
workload:
  jobs:
  - {id: a, duration: 4s, pods: 4, gpusPerPod: 8, topology: {required: rack}}
  - {id: b, submit: 1200ms, duration: 4s, pods: 3, gpusPerPod: 8, topology: {required: rack}}
  - {id: c, submit: 2400ms, duration: 4s, pods: 4, gpusPerPod: 8, topology: {required: rack}}
policies: [gang-topology]
`,
	"two waves of a job that got less": `cluster: {nodes: [{name: n, count: 8, gpus: 1}]}
queues: [{name: q, quota: {gpu: 8}}]
workload:
  jobs:
  - {id: blk, duration: 6s, pods: 3, gpusPerPod: 1}
  - {id: a, submit: 1200ms, duration: 3s, pods: 8, gpusPerPod: 1, minPods: 2, completions: 8}
policies: [gang]
`,
}

// A run that is printed as a cluster would print it, and read again, is what the run was: the
// comparison of the two finds nothing, with times of receipt and without.
func TestRunsReadBack(t *testing.T) {
	for name, text := range worlds {
		f, err := scenario.Parse(name, []byte(beginning+text))
		if err != nil {
			t.Fatal(err)
		}
		s, err := f.Resolve("")
		if err != nil {
			t.Fatal(err)
		}
		d, _ := policies.Lookup(s.Policies[0].Name)
		run := func(cfg *sim.Config) (*Record, error) { return FromRun(cfg, d.New(s.Policies[0].Params)) }
		cfg := *s.Config
		if cfg.Timing.SecondOffset = 412 * msec; cfg.Until == 0 {
			cfg.Until = 40e9
		}
		want, err := run(&cfg)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range []form{{receipt: true}, {bare: true, pretty: true, beta1: true}} {
			w := read(t, want, all(play(want, noon, f)))
			replay, err := w.Replay(s.Config, DefaultTolerance, run)
			if err != nil {
				t.Fatal(err)
			}
			c := w.Compare(replay, DefaultTolerance)
			if f.receipt && differences(want, w, 2*msec) != "" {
				t.Errorf("%s: %s", name, differences(want, w, 2*msec))
			}
			if c.Outside > 0 || c.Equal == 0 {
				t.Errorf("%s: outside %q", name, strings.Join(c.outside(), ", "))
			}
		}
	}
}
