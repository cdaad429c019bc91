package policies

import (
	"testing"

	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/sim/quota"
	"github.com/gangplan/gangplan/topology"
)

// A job that asks for CPU in a queue of GPUs runs, or never fits if what is undeclared blocks;
// unless CPU needs no quota. Of a StrictFIFO queue it is the head for ever.
func TestUndeclaredNeverFits(t *testing.T) {
	for _, c := range []struct {
		check sim.QuotaCheck
		fits  bool
	}{
		{sim.QuotaCheck{}, true},
		{sim.QuotaCheck{BlockUndeclared: true}, false},
		{sim.QuotaCheck{BlockUndeclared: true, Excluded: [4]bool{false, true}}, true},
	} {
		for _, strategy := range []quota.Strategy{quota.BestEffortFIFO, quota.StrictFIFO} {
			for _, policy := range []*Declaration{&gang, &gangTopology} {
				cfg := &sim.Config{Cluster: pool(t, 8), Check: c.check,
					Queues: []quota.Queue{{Name: "q", Strategy: strategy, Nominal: quota.Amounts{8000}, Covers: [4]bool{true}}}}
				cfg.Jobs = append(cfg.Jobs, job("cpu", 0, 2, 1, 1), job("gpu", 0, 2, 1, 1))
				cfg.Jobs[0].PodSets[0].Request = topology.Resources{topology.GPU: 1000, topology.CPU: 1000, topology.Pods: 1}
				cfg.Jobs[1].PodSets[0].Request = topology.Resources{topology.GPU: 1000, topology.Pods: 1}
				cfg.Jobs[1].Row, cfg.Jobs[1].Submit = 1, 1e9
				e, err := sim.New(cfg, policy.New(nil), nil)
				if err != nil {
					t.Fatal(err)
				}
				r := e.Run()
				if r.Jobs[0].NeverFits == c.fits || (r.Jobs[0].State == sim.Finished) != c.fits {
					t.Errorf("%s, %s, %+v: never fits %v, ends %v", policy.Name, strategy, c.check, r.Jobs[0].NeverFits, r.Jobs[0].State)
				}
				if passes := c.fits || strategy == quota.BestEffortFIFO; (r.Jobs[1].State == sim.Finished) != passes {
					t.Errorf("%s, %s, %+v: the job behind it ends %v", policy.Name, strategy, c.check, r.Jobs[1].State)
				}
			}
		}
	}
}

// What needs no quota is not charged, though a queue lists it: two jobs fit in the CPU of one.
func TestExcludedResourcesAreNotCharged(t *testing.T) {
	for _, excluded := range []bool{false, true} {
		cfg := &sim.Config{Cluster: pool(t, 8), Check: sim.QuotaCheck{Excluded: [4]bool{false, excluded}},
			Queues: []quota.Queue{{Name: "q", Nominal: quota.Amounts{8000, 1500}, Covers: [4]bool{true, true}}}}
		for i, id := range []string{"a", "b"} {
			j := job(id, 0, 1, 1, 1)
			j.Row, j.Duration, j.PodSets[0].Request[topology.CPU] = int64(i), 10e9, 1000
			cfg.Jobs = append(cfg.Jobs, j)
		}
		e, err := sim.New(cfg, gang.New(nil), nil)
		if err != nil {
			t.Fatal(err)
		}
		if end := e.Run().End; (end == 10e9) != excluded {
			t.Errorf("excluded %v: both are done at %d", excluded, end)
		}
	}
}
