package policies

import (
	"testing"

	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/topology"
)

// A run in a steady state allocates nothing, whatever the policy: the promise behind its
// speed. The workload repeats itself and leaves room, so that after the warm-up every
// buffer has been as full as it ever gets. One job in sixteen has a pod that never gets
// ready: it is evicted, comes back, and is given up, or found by a human.
func TestStepsDoNotAllocate(t *testing.T) {
	const jobs, warm, measured = 9600, 14_000, 1500
	for _, timing := range []sim.Timing{sim.Instant, sim.Kubernetes} {
		cfg := steady(t, 64, jobs, 50, nil)
		cfg.Timing = timing
		cfg.PodsReady.BackoffLimit = 2
		cfg.Notice = sim.Notice{After: 3600 * sec, Action: sim.Kill}
		for i := range cfg.Jobs {
			set := &cfg.Jobs[i].PodSets[0]
			if set.Request[topology.GPU] == 8000 { // two halves, so that spreading leaves room for all
				set.Request = topology.Resources{4000, 48_000, 384 * topology.GiB}
				set.Count *= 2
			}
			if i%len(mix) == 0 {
				set.NeverReady = 1
			}
		}
		for _, d := range All() {
			t.Run(timing.Name+"/"+d.Name, func(t *testing.T) { stepsDoNotAllocate(t, d, cfg, warm, measured) })
		}
	}
}

func stepsDoNotAllocate(t *testing.T, d *Declaration, cfg *sim.Config, warm, measured int) {
	var done tally
	e := engine(t, d, cfg, &done)
	steps := func(n int) {
		for range n {
			if !e.Step() {
				t.Fatal("the run ended before the measurement did")
			}
		}
	}
	steps(warm)
	done = tally{}
	if n := testing.AllocsPerRun(1, func() { steps(measured) }); n != 0 {
		t.Errorf("%v allocations in %d steps", n, measured)
	}
	if done[sim.Finish] < 100 || done[sim.Evict]+done[sim.Fail] < 10 {
		t.Errorf("too little happened to prove anything: %v", done)
	}
}
