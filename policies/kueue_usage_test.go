package policies

import (
	"math"
	"strings"
	"testing"

	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/sim/quota"
	"github.com/gangplan/gangplan/workloads"
)

// A power of a half from products and square roots is the real one.
func TestHalf(t *testing.T) {
	for _, c := range []struct{ elapsed, life int64 }{{0, 10}, {10, 10}, {35, 10}, {1, 3}, {299, 604_800}, {1, 1 << 40}, {1 << 50, 7}} {
		want := math.Exp2(-float64(c.elapsed) / float64(c.life))
		if got := half(c.elapsed, c.life); math.Abs(got-want) > 1e-9*want {
			t.Errorf("half(%d, %d) is %g, want %g", c.elapsed, c.life, got, want)
		}
	}
	if half(5, 0) != 0 {
		t.Error("without a half-life something is remembered")
	}
}

// turnsConfig is a queue of one GPU for two LocalQueues, a and b, whose jobs take 100 s each.
// a sends its jobs at once, b a moment later.
func turnsConfig(t fataler, weightA int64, halfLife int64) *sim.Config {
	g := quota.Group{Covers: [4]bool{true}, Flavors: []quota.FlavorQuota{{}}}
	g.Flavors[0].Quota[0].Nominal = 1000
	cfg := &sim.Config{Cluster: pool(t, 8), Seed: 1,
		Queues: []quota.Queue{{Name: "q", Groups: []quota.Group{g}, UsageBased: true}},
		Locals: []quota.LocalQueue{{Name: "a", ClusterQueue: "q", Weight: quota.Max(weightA)}, {Name: "b", ClusterQueue: "q"}},
		Usage:  sim.UsageFairness{HalfLife: halfLife * 1e9, Interval: 10e9, Weights: [4]float64{1, 0, 0, 0}}}
	for i := range 12 {
		j := job(strings.Repeat("a", i+1), 0, 1, 1, 1)
		j.Duration, j.Queue, j.Row = 100e9, "a", int64(i)
		if i >= 6 {
			j.ID, j.Queue, j.Submit = strings.Repeat("b", i-5), "b", 1e9
		}
		cfg.Jobs = append(cfg.Jobs, j)
	}
	return cfg
}

func startsOf(t *testing.T, cfg *sim.Config, p sim.Policy) string {
	t.Helper()
	var tape sim.Transitions
	e, err := sim.New(cfg, p, &tape)
	if err != nil {
		t.Fatal(err)
	}
	e.Run()
	order := ""
	for _, x := range tape {
		if x.Kind == sim.Barrier {
			order += cfg.Jobs[x.Job].Queue
		}
	}
	return order
}

// Who used less goes first: two teams alternate, one of double weight gets two turns of
// three, and without memory, or without asking for it, the older jobs are first.
func TestLocalQueuesTakeTurns(t *testing.T) {
	for _, strategy := range []string{"BestEffortFIFO", "StrictFIFO"} {
		for _, c := range []struct {
			weight, halfLife int64
			want             string
		}{
			{1000, 100_000, "abababababab"},
			{2000, 100_000, "ababaabaabbb"}, // at equal numbers per weight, what is spread out decayed less
			{1000, 0, "aaaaaabbbbbb"},
			{0, 100_000, "abbbbbbaaaaa"},
		} {
			cfg := turnsConfig(t, c.weight, c.halfLife)
			if got := startsOf(t, cfg, gang.New(map[string]string{"strategy": strategy})); got != c.want {
				t.Errorf("%s, weight %d, half-life %d s: %s, want %s", strategy, c.weight, c.halfLife, got, c.want)
			}
		}
	}
	cfg := turnsConfig(t, 1000, 100_000)
	cfg.Queues[0].UsageBased = false
	if got := startsOf(t, cfg, gang.New(nil)); got != "aaaaaabbbbbb" {
		t.Errorf("a queue that does not ask for it: %s", got)
	}
}

// Of two victims of a queue the one whose LocalQueue used more goes, though it is the older
// one: in the preemptor's own queue, and in one that borrows from it; whatever the kind of
// preemption.
func TestVictimsOfWhoUsedMore(t *testing.T) {
	for _, fair := range []string{"off", "on"} {
		for _, own := range []bool{true, false} {
			for _, usageBased := range []bool{true, false} {
				cfg := turnsConfig(t, 1000, 100_000)
				cfg.Queues[0].UsageBased = usageBased
				cfg.Queues[0].Groups[0].Flavors[0].Quota[0].Nominal = 2000
				cfg.Queues[0].Preemption.Within = quota.LowerPriority
				cfg.Jobs = []workloads.Job{cfg.Jobs[0], cfg.Jobs[6], cfg.Jobs[7]}
				for i := range cfg.Jobs {
					cfg.Jobs[i].Row, cfg.Jobs[i].Submit = int64(i), int64(i)*20e9
				}
				cfg.Jobs[2].Priority, cfg.Jobs[2].Queue = 1, "b"
				if !own {
					lender := cfg.Queues[0]
					lender.Name, lender.UsageBased, lender.Preemption.Reclaim = "lender", false, quota.Any
					lender.Groups = []quota.Group{{Covers: [4]bool{true}, Flavors: []quota.FlavorQuota{{}}}}
					lender.Groups[0].Flavors[0].Quota[0].Nominal = 2000
					cfg.Queues[0].Groups[0].Flavors[0].Quota[0].Nominal = 0
					cfg.Queues[0].Cohort, lender.Cohort = "c", "c"
					cfg.Queues = append(cfg.Queues, lender)
					cfg.Jobs[2].Queue = "lender"
				}
				var tape sim.Transitions
				e, err := sim.New(cfg, gang.New(map[string]string{"fairSharing": fair}), &tape)
				if err != nil {
					t.Fatal(err)
				}
				e.Run()
				want := "b" // the newer
				if usageBased {
					want = "a"
				}
				if got := firstEvicted(cfg, tape); got != want {
					t.Errorf("fair sharing %s, own queue %v, usage-based %v: a job of %q went, want %q", fair, own, usageBased, got, want)
				}
			}
		}
	}
}

// firstEvicted returns the queue of the first job that is evicted.
func firstEvicted(cfg *sim.Config, tape sim.Transitions) string {
	for _, x := range tape {
		if x.Kind == sim.Evict {
			return cfg.Jobs[x.Job].Queue
		}
	}
	return ""
}
