package sim_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/gangplan/gangplan/policies"
	stages "github.com/gangplan/gangplan/policies/stage"
	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/sim/devices"
	"github.com/gangplan/gangplan/sim/quota"
	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/workloads"
)

// sampledConfig is two racks of two hosts with four GPUs each, sampled every ten seconds.
func sampledConfig(t testing.TB, jobs ...workloads.Job) *sim.Config {
	t.Helper()
	c, err := topology.Synthetic{Levels: []string{"rack", "host"}, Counts: []int{2, 2}, GPUs: 4, CPU: 64_000}.Nodes()
	if err != nil {
		t.Fatal(err)
	}
	cluster, err := topology.Build([]string{"rack", "host"}, c)
	if err != nil {
		t.Fatal(err)
	}
	return &sim.Config{Cluster: cluster, Jobs: jobs, SampleEvery: 10 * sec, Seed: 1,
		Queues: []quota.Queue{{Name: "default", Nominal: quota.Amounts{16_000}, Covers: [4]bool{true}}}}
}

// rackJob is a gang of pods that wants one rack; times are in seconds.
func rackJob(id string, submit, duration int64, pods int32, gpus, cpus int64) workloads.Job {
	return workloads.Job{ID: id, Submit: submit * sec, Duration: duration * sec, PodSets: []workloads.PodSet{{Name: "main", Count: pods,
		Request:  topology.Resources{gpus, cpus, 1 << 30, 1},
		Topology: workloads.TopologyRequest{Mode: workloads.TopologyRequired, Level: "rack"}}}}
}

func runPolicy(t testing.TB, cfg *sim.Config, name string) *sim.Result {
	t.Helper()
	d, ok := policies.Lookup(name)
	if !ok {
		t.Fatalf("no policy %s", name)
	}
	e, err := sim.New(cfg, d.New(nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	return e.Run()
}

// One pod of three GPUs for 25 s; from 5 s on a gang of two whole hosts per rack that
// cannot start for the first rack is broken and the second is taken from 0 to 15 s.
func TestSamples(t *testing.T) {
	cfg := sampledConfig(t,
		rackJob("small", 0, 25, 1, 3000, 3000),
		rackJob("large", 0, 15, 2, 4000, 4000),
		rackJob("waits", 5, 10, 2, 4000, 4000))
	r := runPolicy(t, cfg, "gang-topology")
	// Types: two shapes of pods; 4 GPUs on 4 CPU (4 pods of 5) and 3 on 3 (1 of 5).
	want := []sim.Sample{
		// small took a host of the first rack, large the second rack. Of the 1 + 4 GPUs
		// free, the first is lost to both types, and nobody waits.
		{Time: 0, Free: 5000, Fragment: 1000, Largest: []int64{4000, 4000, 4000}, Unusable: []int64{0, 0}},
		// waits finds no rack for its two pods, but a host for one.
		{Time: 10 * sec, Free: 5000, Fragment: 1000, Largest: []int64{4000, 4000, 4000}, Unusable: []int64{5000, 1000}},
		// At 15 s the second rack is free, and taken in the same instant.
		{Time: 20 * sec, Free: 5000, Fragment: 1000, Largest: []int64{4000, 4000, 4000}, Unusable: []int64{0, 0}},
	}
	if d := cmp.Diff(want, r.Samples); d != "" {
		t.Errorf("samples (-want +got):\n%s", d)
	}
	last := sim.Sample{Time: 25 * sec, Free: 16_000, Largest: []int64{8000, 4000, 16_000}, Unusable: []int64{0, 0}}
	if d := cmp.Diff(last, r.Last); d != "" || r.End != 25*sec {
		t.Errorf("at the end, %d (-want +got):\n%s", r.End, d)
	}
}

// A sample at the time of an instant comes after its last cycle, one at the end is taken,
// and none later.
func TestSampleTimes(t *testing.T) {
	cfg := sampledConfig(t, rackJob("a", 10, 20, 1, 1000, 1000))
	r := runPolicy(t, cfg, "gang")
	var got []string
	for _, s := range r.Samples {
		got = append(got, fmt.Sprintf("%d s: %d", s.Time/sec, s.Free))
	}
	want := []string{"0 s: 16000", "10 s: 15000", "20 s: 15000", "30 s: 16000"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	cfg.Until = 55 * sec
	if r := runPolicy(t, cfg, "gang"); len(r.Samples) != 6 || r.Samples[5].Time != 50*sec {
		t.Errorf("until 55 s: %v", r.Samples)
	}
	cfg.SampleEvery = 0
	if r := runPolicy(t, cfg, "gang"); r.Samples != nil || r.Last.Free != 16_000 {
		t.Errorf("without sampling: %v, %v", r.Samples, r.Last)
	}
}

// The measure of fragmentation, on one host of 4 GPUs and 8 CPU with a pod on it, for pods
// of one type that never come.
func TestFragment(t *testing.T) {
	for _, c := range []struct {
		name            string
		gpus, cpus      int64 // of the pod that is there
		wantGPUs, wantC int64 // of the type
		models          []string
		want            int64
	}{
		{"fits", 1000, 1000, 1000, 1000, nil, 0},
		{"fits on every device", 1000, 1000, 3000, 1000, nil, 0},
		{"too few devices", 1000, 1000, 4000, 1000, nil, 3000},
		{"too little CPU", 1000, 7000, 1000, 2000, nil, 3000},
		{"no GPUs asked for", 1000, 1000, 0, 1000, nil, 3000},
		{"another model", 1000, 1000, 1000, 1000, []string{"other"}, 3000},
		{"a broken device", 1500, 1000, 1000, 1000, nil, 500},
		{"a part of a device", 1500, 1000, 500, 1000, nil, 0},
		{"too large a part", 1500, 1000, 700, 1000, nil, 500},
	} {
		t.Run(c.name, func(t *testing.T) {
			cluster, err := topology.Build([]string{"host"}, []topology.Node{{Name: "n", GPUModel: "gpu", Allocatable: topology.Resources{4000, 8000, 1 << 40, 110}}})
			if err != nil {
				t.Fatal(err)
			}
			jobs := []workloads.Job{{ID: "there", Duration: 100 * sec, PodSets: []workloads.PodSet{{Name: "main", Count: 1, Request: topology.Resources{c.gpus, c.cpus, 1, 1}}}},
				{ID: "type", Submit: 50 * sec, Duration: sec, PodSets: []workloads.PodSet{{Name: "main", Count: 99, Models: c.models, Request: topology.Resources{c.wantGPUs, c.wantC, 1, 1}}}}}
			if part := c.gpus % 1000; part > 0 { // beside a whole device
				jobs[0].PodSets[0].Request[topology.GPU] -= part
				jobs[0].PodSets = append(jobs[0].PodSets, workloads.PodSet{Name: "part", Count: 1, Request: topology.Resources{part, 0, 0, 1}})
			}
			cfg := &sim.Config{Cluster: cluster, Jobs: jobs, SampleEvery: 1000 * sec, Until: 10 * sec, Queues: []quota.Queue{{Name: "default"}}}
			if got := runPolicy(t, cfg, "per-pod").Last.Fragment; got != c.want {
				t.Errorf("%d, want %d", got, c.want)
			}
		})
	}
}

// Parts of GPUs are not put together: two pods of 0.6 GPU are on two GPUs of four, and what is
// free of those, 0.4 each, is of no use to pods of 0.7 although it is 0.8 in all.
func TestFragmentOfSharedGPUs(t *testing.T) {
	for _, c := range []struct {
		there, wants []int64 // milli-GPU of pods
		want         int64
	}{
		{[]int64{600, 600}, []int64{700}, 800},
		{[]int64{600, 600}, []int64{400}, 0},
		{[]int64{600, 600}, []int64{2000}, 800},
		{[]int64{600, 600}, []int64{3000}, 2800},
		{[]int64{600, 600, 700}, []int64{400}, 300},
		{[]int64{600, 600, 700, 300}, []int64{400}, 0}, // the last has filled the third
		{[]int64{600, 600}, []int64{700, 400}, 400},    // half of the pods lose 800
		{[]int64{600, 600}, []int64{700, 0}, 1800},     // half lose 800, half 2800
	} {
		var cfg sim.Config
		cfg.Cluster = hosts(4)
		for i, milli := range append(slices.Clone(c.there), c.wants...) {
			j := rackJob(fmt.Sprint("j", i), 0, 100, 1, milli, 0)
			if j.PodSets[0].Topology = (workloads.TopologyRequest{}); i >= len(c.there) {
				j.Submit, j.PodSets[0].Count = 50*sec, 100
			}
			cfg.Jobs = append(cfg.Jobs, j)
		}
		cfg.Until, cfg.Queues = 10*sec, []quota.Queue{{Name: "default"}}
		if got := runPolicy(t, &cfg, "per-pod").Last.Fragment; got != c.want {
			t.Errorf("pods of %v beside %v: %d, want %d", c.wants, c.there, got, c.want)
		}
	}
}

// The measure is that of the study, but for rounding: on the state that a random workload of
// parts of GPUs and whole ones leaves behind.
func TestFragmentIsTheStudys(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		cfg := sampledConfig(t)
		cfg.Until, cfg.SampleEvery = 10*sec, 0
		kinds := map[[2]int64]int64{}
		for i := range rapid.IntRange(1, 20).Draw(rt, "jobs") {
			j := rackJob(fmt.Sprintf("j%02d", i), rapid.Int64Range(0, 2).Draw(rt, "submit")*15, 100, rapid.Int32Range(1, 3).Draw(rt, "pods"),
				rapid.SampledFrom([]int64{0, 250, 400, 700, 1000, 2000}).Draw(rt, "gpus"), rapid.SampledFrom([]int64{1000, 20_000}).Draw(rt, "cpu"))
			kinds[[2]int64{j.PodSets[0].Request[topology.GPU], j.PodSets[0].Request[topology.CPU]}] += int64(j.PodSets[0].Count)
			cfg.Jobs = append(cfg.Jobs, j)
		}
		workloads.Sort(cfg.Jobs)
		var typical []stages.Typical
		for k, n := range kinds { // TypicalOf sorts them
			ask, _ := devices.NewAsk(k[0])
			typical = append(typical, stages.Typical{Guest: stages.Guest{CPU: k[1], Ask: ask}, Count: n})
		}
		d, _ := policies.Lookup("per-pod")
		policy := d.New(map[string]string{"profile": "best-fit"})
		look := &onlooker{Binder: policy.Binder}
		policy.Binder = look
		e, err := sim.New(cfg, policy, nil)
		if err != nil {
			rt.Fatal(err)
		}
		got := e.Run().Last.Fragment
		want, measure := 0.0, stages.NewFragments(typical)
		for n := range cfg.Cluster.Nodes {
			want += measure.Amount(&stages.Site{CPU: look.view.Free(sim.Physical)[n][topology.CPU], GPUs: look.view.GPUs()[n]})
		}
		if float64(got) < want-1e-6 || float64(got) > want+1+1e-6 {
			rt.Fatalf("%d, the study has %g", got, want)
		}
	})
}

// onlooker is a Binder that lets a test see what it sees.
type onlooker struct {
	sim.Binder
	view sim.View
}

func (o *onlooker) Reset(v sim.View) {
	o.view = v
	o.Binder.Reset(v)
}

// Sampling changes nothing of a run, and a sample agrees with what the run says of itself:
// of a random scenario, at a random time.
func TestSamplingChangesNothing(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var jobs []workloads.Job
		for i := range rapid.IntRange(1, 12).Draw(rt, "jobs") {
			job := rackJob(fmt.Sprintf("j%02d", i), int64(i)*rapid.Int64Range(0, 9).Draw(rt, "gap"), rapid.Int64Range(1, 60).Draw(rt, "duration"),
				rapid.Int32Range(1, 4).Draw(rt, "pods"), rapid.SampledFrom([]int64{500, 1000, 2000, 4000}).Draw(rt, "gpus"), 1000)
			jobs = append(jobs, job)
		}
		workloads.Sort(jobs)
		cfg := sampledConfig(t, jobs...)
		policy := rapid.SampledFrom(policies.Names()).Draw(rt, "policy")
		cfg.Until = rapid.Int64Range(1, 120).Draw(rt, "until") * sec
		with := runPolicy(t, cfg, policy)
		cut := with.Samples[rapid.IntRange(0, len(with.Samples)-1).Draw(rt, "sample")]
		cfg.SampleEvery = 0
		without := runPolicy(t, cfg, policy)
		if with.Digest != without.Digest || with.End != without.End {
			rt.Fatalf("sampling changed the run")
		}
		if d := cmp.Diff(without.Last, with.Last); d != "" {
			rt.Fatalf("sampling changed the end: %s", d)
		}
		cfg.Until = cut.Time + 1
		last := runPolicy(t, cfg, policy).Last
		if d := cmp.Diff(cut, last, cmpopts.IgnoreFields(sim.Sample{}, "Time")); d != "" {
			rt.Fatalf("the sample is not the state of the run cut off there: %s", d)
		}
		checkSample(rt, &cut)
	})
}

// checkSample checks what holds of every sample: nothing exceeds what is free, and what
// fits low in the tree fits above.
func checkSample(t tb, s *sim.Sample) {
	levels := len(s.Unusable)
	for l := range levels {
		if s.Largest[l] > s.Free || s.Unusable[l] > s.Free || s.Largest[l] < 0 || s.Unusable[l] < 0 {
			t.Errorf("level %d: largest %d and unusable %d of %d", l, s.Largest[l], s.Unusable[l], s.Free)
		}
		if l > 0 && s.Largest[l] > s.Largest[l-1] {
			t.Errorf("a larger gang fits below: %v", s.Largest)
		}
	}
	if s.Fragment > s.Free || s.Largest[0] > s.Largest[levels] {
		t.Errorf("fragment %d of %d, largest %v", s.Fragment, s.Free, s.Largest)
	}
}
