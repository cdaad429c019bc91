package study_test

import (
	"fmt"
	"testing"

	"github.com/gangplan/gangplan/internal/scenario"
	"github.com/gangplan/gangplan/policies"
	"github.com/gangplan/gangplan/report"
	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/sim/ledger"
)

// Gangs of language models on racks that are oversubscribed or not: where uplinks are full,
// neighbours cost nothing; where they are not, a policy that places gangs together pays
// least, for placement and for neighbours. All-reduce slowdown is the product of the two.
func TestFabricMix(t *testing.T) {
	slowdowns := map[string]report.Values{}
	for _, fabric := range []string{"full", "oversubscribed"} {
		for _, policy := range []string{"per-pod", "gang", "gang-topology"} {
			r := runMix(t, fabric, policy, "fluid", 7)
			if again := runMix(t, fabric, policy, "fluid", 7); again.Digest != r.Digest {
				t.Errorf("%s %s: two digests", fabric, policy)
			}
			for j := range r.Jobs {
				if row := &r.Jobs[j]; row.AllReduce > 0 && (row.Locality < 1e6 || row.AllReduce < row.Locality) {
					t.Errorf("%s %s: job %d: all-reduce %d ppm, by placement %d", fabric, policy, j, row.AllReduce, row.Locality)
				}
			}
			vs := report.Measure(r, nil)
			slowdowns[fabric+" "+policy] = vs
			t.Logf("%-14s %-13s all-reduce %.3f = placement %.3f x neighbours %.3f; stalls %.1f + %.1f GPU-hours", fabric, policy,
				value(vs, "allreduce_slowdown.mean"), value(vs, "locality_slowdown.mean"), value(vs, "contention_slowdown.mean"),
				value(vs, "gpu_hours.stall_locality"), value(vs, "gpu_hours.stall_contention"))
		}
	}
	for _, policy := range []string{"per-pod", "gang", "gang-topology"} {
		full, over := slowdowns["full "+policy], slowdowns["oversubscribed "+policy]
		if value(full, "allreduce_slowdown.mean") > value(over, "allreduce_slowdown.mean") {
			t.Errorf("%s is slower on full uplinks", policy)
		}
	}
	for _, metric := range []string{"allreduce_slowdown.mean", "contention_slowdown.mean"} {
		if value(slowdowns["oversubscribed gang-topology"], metric) >= value(slowdowns["oversubscribed gang"], metric) {
			t.Errorf("%s: gang-topology is not below gang", metric)
		}
	}
	if none := runMix(t, "oversubscribed", "gang", "none", 7); value(report.Measure(none, nil), "gpu_hours.stall_contention") != 0 {
		t.Error("neighbours cost something although contention is off")
	}
}

// The books balance, or the run would panic, and no account is negative, whatever the seed.
func TestFabricBooks(t *testing.T) {
	for seed := range 25 {
		r := runMix(t, "narrow", "per-pod", "fluid", seed)
		for b := range r.Timeline.Buckets() {
			for a := range ledger.NumAccounts {
				if sum := r.Account(b, 0, a); sum.Hi>>63 == 1 {
					t.Errorf("seed %d: %s is below zero in bucket %d", seed, a, b)
				}
			}
		}
		vs := report.Measure(r, nil)
		stall, capacity := value(vs, "gpu_hours.stall_contention"), value(vs, "gpu_hours.capacity")
		if stall <= 0 || stall > capacity {
			t.Errorf("seed %d: %v GPU-hours of contention in %v", seed, stall, capacity)
		}
	}
}

func value(vs report.Values, name string) float64 {
	v, _ := vs.Get(name)
	return v
}

func mixOf(t testing.TB, fabric, policy, contention string, seed int) *scenario.Scenario {
	t.Helper()
	r := map[string]int{"full": 1, "oversubscribed": 8, "narrow": 32}[fabric]
	f, err := scenario.Parse("mix", fmt.Appendf(nil, `apiVersion: gangplan/v1alpha1
kind: Scenario
name: mix
seed: %d
cluster: {synthetic: {racks: 4, hosts: 8, gpus: 8}}
fabric: {profile: h100-ndr, contention: %s, levels: {rack: {oversubscription: %d}}}
workload: {synthetic: {mix: llm, jobs: 150, load: 0.9}}
waitForPodsReady: {timeout: 5m}
notice: {after: 1h, action: restart}
policies: [%s]
`, seed, contention, r, policy))
	if err != nil {
		t.Fatal(err)
	}
	s, err := f.Resolve("")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func runMix(t testing.TB, fabric, policy, contention string, seed int) *sim.Result {
	t.Helper()
	s := mixOf(t, fabric, policy, contention, seed)
	d, _ := policies.Lookup(policy)
	e, err := sim.New(s.Config, d.New(s.Policies[0].Params), nil)
	if err != nil {
		t.Fatal(err)
	}
	return e.Run()
}

// BenchmarkFabric is a whole run without a fabric, with one on which jobs do not meet, and with
// one that they share. Off must cost what it costs if no job communicates.
func BenchmarkFabric(b *testing.B) {
	d, _ := policies.Lookup("per-pod")
	for _, mode := range []string{"no models", "off", "none", "fluid"} {
		b.Run(mode, func(b *testing.B) {
			contention := "none"
			if mode == "fluid" {
				contention = mode
			}
			s := mixOf(b, "oversubscribed", "per-pod", contention, 7)
			if mode == "no models" || mode == "off" {
				s.Config.Fabric = nil
			}
			if mode == "no models" {
				for j := range s.Config.Jobs {
					s.Config.Jobs[j].Model = nil
				}
			}
			for b.Loop() {
				e, err := sim.New(s.Config, d.New(s.Policies[0].Params), nil)
				if err != nil {
					b.Fatal(err)
				}
				e.Run()
			}
		})
	}
}
