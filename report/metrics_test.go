package report

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/sim/ledger"
	"github.com/gangplan/gangplan/workloads"
)

// The registry is a contract with everybody's gates and dashboards: the golden makes any
// change of it visible.
func TestRegistryGolden(t *testing.T) {
	var b strings.Builder
	for _, m := range Metrics() {
		exact := "sampled"
		if m.Exact {
			exact = "exact"
		}
		fmt.Fprintf(&b, "%s | %s | %s | %s | %s\n", m.Name, m.Unit, m.Better, exact, m.Doc)
	}
	golden(t, "metrics.txt", b.String())
}

func TestRegistryIsSound(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range Metrics() {
		if seen[m.Name] {
			t.Errorf("%s is declared twice", m.Name)
		}
		seen[m.Name] = true
		if m.Unit == "" || m.Doc == "" || m.value == nil {
			t.Errorf("%s lacks unit, doc or value", m.Name)
		}
		if found, ok := LookupMetric(m.Name); !ok || found.Name != m.Name {
			t.Errorf("%s is not found by its name", m.Name)
		}
	}
	for a := range ledger.NumAccounts {
		if !seen["gpu_hours."+a.String()] {
			t.Errorf("the account %s has no metric", a)
		}
	}
	if _, ok := LookupMetric("wait.p42_seconds"); ok {
		t.Error("a metric that there is not was found")
	}
}

// With nothing started and nothing finished, every statistic is null and every count is
// there.
func TestNothingStarted(t *testing.T) {
	vs := Measure(handmade(3, 8), nil)
	for _, v := range vs {
		statistic := slices.ContainsFunc([]string{"wait.", "admission_wait.", "jct.", "bounded_", "allreduce_", "locality_", "contention_", "step_", "makespan", "utilisation", "fragmentation."},
			func(prefix string) bool { return strings.HasPrefix(v.Name, prefix) })
		if v.Null != statistic {
			t.Errorf("%s: null is %v", v.Name, v.Null)
		}
		if v.Null && v.Number != 0 {
			t.Errorf("%s is null and %v", v.Name, v.Number)
		}
	}
	if n := get(t, vs, "jobs.unstarted"); n != 3 {
		t.Errorf("jobs.unstarted is %v", n)
	}
}

func TestNoJobsNoGPUs(t *testing.T) {
	vs := Measure(handmade(0), nil)
	for _, v := range vs {
		if v.Number != 0 {
			t.Errorf("%s is %v", v.Name, v.Number)
		}
	}
}

// Ten jobs wait 0 to 90 s in steps of ten, in shuffled order; the last two never start.
// Nearest rank: p50 is the 5th of ten, p90 the 9th, which never came.
func TestQuantilesCountJobsThatNeverStart(t *testing.T) {
	r := handmade(10)
	for i, wait := range []int64{70, 0, 30, 60, 10, 50, 20, 40} {
		finished(&r.Jobs[i], wait, 100)
	}
	vs := Measure(r, nil)
	for name, want := range map[string]float64{
		"wait.p50_seconds": 40, "wait.mean_seconds": 35, "admission_wait.p50_seconds": 20,
		"jct.p50_seconds": 140, "bounded_slowdown.p50": 1.4,
		"jobs.submitted": 10, "jobs.finished": 8, "jobs.unstarted": 2, "jobs.unfinished": 2,
	} {
		if got := get(t, vs, name); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	for _, name := range []string{"wait.p90_seconds", "wait.max_seconds", "jct.p99_seconds", "bounded_slowdown.max"} {
		if v, ok := vs.Get(name); ok {
			t.Errorf("%s is %v, want null", name, v)
		}
	}
}

func TestJobCounts(t *testing.T) {
	r := handmade(5)
	finished(&r.Jobs[0], 5, 10)
	r.Jobs[1].State = sim.Failed
	r.Jobs[1].FirstStart = r.Jobs[1].Submit
	r.Jobs[2].State = sim.Deactivated
	r.Jobs[3].State = sim.Future // the run ended before it was submitted
	vs := Measure(r, nil)
	for name, want := range map[string]float64{"jobs.submitted": 4, "jobs.finished": 1, "jobs.failed": 1,
		"jobs.deactivated": 1, "jobs.unstarted": 2, "jobs.unfinished": 3} {
		if got := get(t, vs, name); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
}

// A job carried into the window disturbs and is disturbed, but its waits are not measured.
func TestCarriedJobsAreOutsideWaits(t *testing.T) {
	r := handmade(2)
	finished(&r.Jobs[0], 1000, 5000)
	r.Jobs[0].Carried, r.Jobs[0].Requeues, r.Jobs[0].Evictions[sim.CauseNode] = true, 1, 1
	r.Jobs[0].AllReduce, r.Jobs[0].Step = 2_000_000, 1_500_000
	finished(&r.Jobs[1], 30, 60)
	vs := Measure(r, nil)
	for name, want := range map[string]float64{"jobs.submitted": 1, "wait.max_seconds": 30, "jct.max_seconds": 90,
		"requeues": 1, "evictions.node": 1, "allreduce_slowdown.mean": 2, "step_slowdown.p50": 1.5, "makespan_seconds": 6000} {
		if got := get(t, vs, name); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
}

func TestBoundedSlowdown(t *testing.T) {
	for _, c := range []struct {
		jct, work int64 // s
		want      float64
	}{
		{200, 100, 2},
		{100, 100, 1},
		{5, 1, 1},     // short work counts as 10 s, and less than 1 is 1
		{25, 1, 2.5},  // over 10 s, not over 1 s
		{50, 0, 5},    // no work at all
		{90, 100, 1},  // finished faster than its work: a carried remainder
		{360, 10, 36}, // the bound itself
	} {
		row := sim.JobRow{Submit: 7 * sec, Finish: (7 + c.jct) * sec, Work: c.work * sec}
		if got := boundedSlowdown(&row); got != c.want {
			t.Errorf("%d s for %d s of work: %v, want %v", c.jct, c.work, got, c.want)
		}
	}
}

// One job of 8 GPUs for an hour at slowdown 3 outweighs seven of one GPU at 1.
func TestSlowdownsAreWeightedByGPUTime(t *testing.T) {
	r := handmade(8)
	for j := range r.Jobs {
		finished(&r.Jobs[j], 0, 3600)
		r.Jobs[j].AllReduce, r.Jobs[j].Step = 1_000_000, 1_000_000
	}
	r.Jobs[7].GPUs, r.Jobs[7].AllReduce, r.Jobs[7].Step = 8000, 3_000_000, 2_000_000
	r.Jobs[6].AllReduce, r.Jobs[6].Step = 0, 0 // has no all-reduce
	vs := Measure(r, nil)
	for name, want := range map[string]float64{"allreduce_slowdown.p50": 3, "allreduce_slowdown.mean": 30.0 / 14,
		"step_slowdown.p95": 2, "step_slowdown.mean": 22.0 / 14} {
		if got := get(t, vs, name); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
}

// GPU-hours are summed over GPU models, and whole hours come out whole.
func TestGPUHours(t *testing.T) {
	r := handmade(0, 8, 2)
	r.Books.Move(0, ledger.NoDemand, ledger.Held, 3000)
	r.Books.Move(1, ledger.NoDemand, ledger.BlockedQuota, 500)
	r.Books.Move(1, ledger.NoDemand, ledger.Down, 1000)
	r.Books.Move(0, ledger.NoDemand, ledger.Running, 4000)
	r.Books.Advance(10_000 * hour)
	r.Books.Settle(0, &ledger.Stretch{Milli: 4000, Useful: 9_000 * hour, Unshared: 9_500 * hour, Wall: 10_000 * hour})
	r.Last = sim.Sample{Unusable: []int64{0, 1500}}
	r.AtRisk.AddProduct(250, uint64(hour))
	r.Reserved.AddProduct(2000, uint64(hour))
	vs := Measure(r, nil)
	for name, want := range map[string]float64{
		"gpu_hours.capacity": 100_000, "gpu_hours.useful": 36_000, "gpu_hours.stall_locality": 2_000, "gpu_hours.stall_contention": 2_000,
		"gpu_hours.held": 30_000, "gpu_hours.blocked_quota": 5_000, "gpu_hours.down": 10_000, "gpu_hours.no_demand": 15_000,
		"gpu_hours.idle": 50_000, "gpu_hours.at_risk": 0.25, "gpus.stranded": 1.5, "quota_reserved_unused": 2, "utilisation": 0.36,
	} {
		if got := get(t, vs, name); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
}

func TestVerdictsAreCounted(t *testing.T) {
	r := handmade(2)
	r.Findings = []sim.Finding{{Kind: sim.NeverFits}, {Kind: sim.Deadlock}, {Kind: sim.NeverFits}}
	vs := Measure(r, nil)
	for name, want := range map[string]float64{"verdicts.deadlock": 1, "verdicts.livelock": 0, "verdicts.starvation": 0, "verdicts.never_fits": 2} {
		if got := get(t, vs, name); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
}

// In a real run the accounts sum to capacity, and idle to its parts.
func TestMetricsOfARealRun(t *testing.T) {
	for _, policy := range []string{"per-pod", "gang", "gang-topology"} {
		r, _ := play(t, policy, func(cfg *sim.Config) { cfg.Until = hour }, gridlock()...)
		vs := Measure(r, nil)
		sum := 0.0
		for a := range ledger.NumAccounts {
			sum += get(t, vs, "gpu_hours."+a.String())
		}
		if capacity := get(t, vs, "gpu_hours.capacity"); capacity != 8 || sum != capacity {
			t.Errorf("%s: accounts sum to %v of %v GPU-hours", policy, sum, capacity)
		}
	}
}

// Two gangs of eight that start at once: pods one by one each get half and hang, whole
// gangs follow each other.
func TestMetricsTellGangsFromPods(t *testing.T) {
	hung, _ := play(t, "per-pod", nil, gridlock()...)
	vs := Measure(hung, nil)
	if _, ok := vs.Get("wait.p50_seconds"); ok || get(t, vs, "jobs.unstarted") != 2 || get(t, vs, "verdicts.deadlock") != 1 {
		t.Errorf("per-pod does not hang: %v", vs)
	}
	whole, _ := play(t, "gang", nil, gridlock()...)
	vs = Measure(whole, nil)
	for name, want := range map[string]float64{"jobs.finished": 2, "wait.max_seconds": 600, "makespan_seconds": 1200, "utilisation": 1} {
		if got := get(t, vs, name); got != want {
			t.Errorf("gang: %s is %v, want %v", name, got, want)
		}
	}
}

func TestOwnBooksAreACopy(t *testing.T) {
	r, _ := play(t, "gang", nil, gangOf("A", 0, 4, 100))
	b := OwnBooks(r)
	before := r.Books.Sum(0, ledger.Useful)
	b.Sums[0][ledger.Useful].AddProduct(1, 1)
	if r.Books.Sum(0, ledger.Useful) != before {
		t.Error("changing the books changed the result")
	}
	if got, want := get(t, Measure(r, b), "gpu_hours.useful"), get(t, Measure(r, nil), "gpu_hours.useful"); got <= want {
		t.Error("Measure did not take the books it was given")
	}
}

func TestDecimal(t *testing.T) {
	for want, u := range map[string]ledger.Uint128{
		"0":                    {},
		"18446744073709551615": {Lo: 1<<64 - 1},
		"18446744073709551616": {Hi: 1},
		"340282366920938463463374607431768211455": {Hi: 1<<64 - 1, Lo: 1<<64 - 1},
	} {
		if got := decimal(u); got != want {
			t.Errorf("%v is %s, want %s", u, got, want)
		}
	}
}

func BenchmarkMeasure(b *testing.B) {
	r := handmade(0, 8)
	for j := range 200_000 {
		row := sim.JobRow{Pods: 1, GPUs: 1000, Submit: int64(j) * sec, Work: 60 * sec}
		finished(&row, int64(j)*7919%100_000, 60+int64(j)*104_729%5000)
		row.AllReduce, row.Step = 1_000_000+int64(j)*31%900_000, 1_000_000+int64(j)*17%400_000
		r.Jobs = append(r.Jobs, row)
	}
	r.Config.Jobs = make([]workloads.Job, len(r.Jobs))
	for b.Loop() {
		Measure(r, nil)
	}
}
