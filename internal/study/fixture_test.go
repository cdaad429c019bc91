package study

import (
	"testing"

	"github.com/gangplan/gangplan/policies"
	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/sim/quota"
	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/workloads"
)

const (
	sec  = int64(1e9)
	hour = 3600 * sec
)

// gridlock is two gangs that each need all eight GPUs of two nodes, at once, and then
// some small jobs: per-pod deadlocks, gangs follow each other.
func gridlock(t testing.TB) *sim.Config {
	t.Helper()
	nodes := []topology.Node{
		{Name: "n1", GPUModel: "H100", Allocatable: topology.DefaultAllocatable(4)},
		{Name: "n2", GPUModel: "H100", Allocatable: topology.DefaultAllocatable(4)},
	}
	c, err := topology.Build([]string{"host"}, nodes)
	if err != nil {
		t.Fatal(err)
	}
	cfg := &sim.Config{Cluster: c, Creation: sim.Interleaved, Seed: 7,
		Queues: []quota.Queue{{Name: "default", Nominal: quota.Amounts{8000}, Covers: [4]bool{true}}}}
	for i, pods := range []int32{8, 8, 1, 2, 1} {
		cfg.Jobs = append(cfg.Jobs, workloads.Job{ID: string(rune('A' + i)), Submit: int64(i/2) * 60 * sec, Duration: 600 * sec,
			PodSets: []workloads.PodSet{{Name: "main", Count: pods, Request: topology.Resources{1000, 12_000, 96 << 30, 1}}}})
	}
	return cfg
}

// choose makes choices of registered policies under their own names.
func choose(t testing.TB, names ...string) []Choice {
	t.Helper()
	var choices []Choice
	for _, name := range names {
		d, ok := policies.Lookup(name)
		if !ok {
			t.Fatalf("no policy %s", name)
		}
		choices = append(choices, Choice{Label: name, Name: name, New: func() sim.Policy { return d.New(nil) }})
	}
	return choices
}

var three = []string{"per-pod", "gang", "gang-topology"}

// runAll runs some policies over gridlock.
func runAll(t testing.TB, opts Options, names ...string) []Outcome {
	t.Helper()
	outcomes, err := Run(t.Context(), gridlock(t), choose(t, names...), opts)
	if err != nil {
		t.Fatal(err)
	}
	return outcomes
}

// rogue is a controller that never admits or binds, and does something bad in its nth cycle.
type rogue struct {
	cycles int
	bad    func(tx *sim.Tx)
	at     int
}

func (r *rogue) Reset(sim.View)                     {}
func (r *rogue) Signals([]sim.Signal)               {}
func (r *rogue) NextWake() int64                    { return sim.Never }
func (r *rogue) Undecided() bool                    { return false }
func (r *rogue) Why(sim.View, int32) sim.Reason     { return sim.ReasonQuota }
func (r *rogue) CanEver(v sim.View, job int32) bool { return true }
func (r *rogue) Cycle(tx *sim.Tx) (progressed bool) {
	if r.cycles++; r.cycles == r.at {
		r.bad(tx)
	}
	return false
}

// rogueChoice is a policy whose Admitter does something bad in its nth cycle.
func rogueChoice(label string, at int, bad func(tx *sim.Tx)) Choice {
	return Choice{Label: label, Name: "rogue", New: func() sim.Policy {
		return sim.Policy{Name: "rogue", Admitter: &rogue{at: at, bad: bad}, Binder: &rogue{}}
	}}
}
