package scenario

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/gangplan/gangplan/internal/rng"
	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/workloads"
)

func mustResolve(t *testing.T, text string) *Scenario {
	t.Helper()
	s, err := resolveText(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// What is written differently but means the same has the same hash; so have scenarios
// that differ in their name, policies and seed.
func TestHashSame(t *testing.T) {
	base := "until: 1h\ncluster: {synthetic: {racks: 2, hosts: 2, gpus: 8}}"
	tests := []struct{ name, a, b string }{
		{"order of fields", "until: 1h\nseed: 1", "seed: 1\nuntil: 1h"},
		{"spelling of a duration", "until: 1h", "until: 3600"},
		{"synonym", "until: 1h", "horizon: 60m"},
		{"comments", "until: 1h", "# a day\nuntil: 1h"},
		{"defaults", base, base + "\npodCreation: burst\ntiming: instant\nstarvation: {after: 7d}\nqueues: [{name: default}]"},
		{"levels", base, "until: 1h\ncluster: {levels: [zone, rack, host], synthetic: {zones: 1, racks: 2, hosts: 2, gpus: 8, cpu: 128, memory: 1Ti}}"},
		{"list of nodes", "cluster: {levels: [host], synthetic: {hosts: 2, gpus: 8}}", "cluster: {nodes: [{name: host, gpus: 8, count: 2}]}"},
		{"name", "name: a", "name: b"},
		{"samples", "until: 1h", "until: 1h\nsample: 5m"},
		{"seed", "seed: 1", "seed: 2"},
		{"policies", "policies: [gang]", "policies: [per-pod]"},
		{"order of jobs", "workload: {jobs: [{id: a, count: 2, duration: 1m, gpus: 8}]}",
			"workload: {jobs: [{id: a-0, duration: 60s, pods: 1, gpusPerPod: 8}, {duration: 1m, gpus: 8, id: a-1}]}"},
		{"trace", "workload: {trace: jobs.csv}", "workload: {trace: {file: ./jobs.csv, format: auto, window: {from: 0s, carry: none}}, scale: {load: 1}}"},
		{"checksum of a trace", "workload: {trace: jobs.csv}",
			"workload: {trace: {file: jobs.csv, sha256: d284a95b372576902197699b76ed6cb4328bfaa41c6a06ece5569b8c7811effc}}"},
		{"where the load is said", "scale: {load: 2}\nworkload: {trace: jobs.csv}", "workload: {trace: jobs.csv, scale: {load: 2}}"},
		{"full uplinks", "fabric: h100-ndr", "fabric: {profile: h100-ndr}"},
		{"seed of a synthetic workload", "seed: 1\nworkload: {synthetic: {mix: llm, jobs: 9, load: 0.9}}",
			"seed: 2\nworkload: {synthetic: {mix: llm, jobs: 9, load: 0.9}}"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if a, b := mustResolve(t, tt.a).Hash, mustResolve(t, tt.b).Hash; a != b || len(a) != 64 {
				t.Errorf("hashes differ: %s, %s", a, b)
			}
		})
	}
}

// Everything that a run depends on beside its policy and seed changes the hash.
func TestHashDiffers(t *testing.T) {
	texts := []string{
		"",
		"until: 1h",
		"fabric: h100-ndr",
		"fabric: {profile: h100-ndr, levels: {rack: {oversubscription: 2}}}",
		"timing: kubernetes",
		"timing: {bind: 1ms}",
		"podCreation: slow-start",
		"starvation: {after: 1d}",
		"notice: {after: 2h}",
		"waitForPodsReady: {}",
		"events: [{at: 1m, node: host-0, do: down}]",
		"queues: [{name: other}]",
		"queues: [{name: default, quota: {gpu: 8}}]",
		"scale: {cluster: 2}",
		"workload: {jobs: [{id: a, duration: 2m, gpus: 8}]}",
		"workload: {jobs: [{id: a, duration: 1m, gpus: 8, model: llama-3-8b}]}",
		"workload: {jobs: [{id: a, duration: 1m, gpus: 8, startup: 0}]}",
		"workload: {trace: jobs.csv}",
		"workload: {trace: shaped.csv}",
		"workload: {trace: jobs.csv, gang: {gpusPerPod: 1}}",
		"workload: {trace: {file: jobs.csv, window: {from: 1m}}}",
		"workload: {trace: jobs.csv, scale: {load: 2}}",
		"workload: {trace: jobs.csv, models: llm}",
		"workload: {trace: jobs.csv, models: {byGPUs: [{of: [vgg-16]}]}}",
		"workload: {trace: jobs.csv, models: {byGPUs: [{of: [{name: vgg-16, fsdp: true}]}]}}",
		"workload: {jobs: [{id: a, duration: 1m, gpus: 8, model: {name: llama-3-8b, tensor: 2}}]}",
		"fabric: {profile: h100-ndr, rankOrder: topology}",
		"fabric: {profile: h100-ndr, domainLinks: mesh}",
		"cluster: {synthetic: {racks: 2, hosts: 2, gpus: 8, nvlinkHosts: 2}}",
		"workload: {synthetic: {mix: llm, jobs: 9, load: 0.9}}",
		"workload: {synthetic: {mix: llm, jobs: 9, load: 0.8}}",
	}
	seen := map[string]string{}
	for _, text := range texts {
		h := mustResolve(t, text).Hash
		if other, ok := seen[h]; ok {
			t.Errorf("%q and %q have the same hash", text, other)
		}
		seen[h] = text
	}
}

// What is to be scheduled is the nodes and the jobs, however they are treated.
func TestDemand(t *testing.T) {
	plain := mustResolve(t, "")
	for text, same := range map[string]bool{
		"queues: [{name: other}]": true, "waitForPodsReady: {}": true, "until: 1h": true, "timing: kubernetes": true, "fabric: h100-ndr": true,
		"scale: {cluster: 2}": false, "workload: {jobs: [{id: a, duration: 2m, gpus: 8}]}": false, "workload: {trace: jobs.csv}": false,
	} {
		s := mustResolve(t, text)
		if (s.Demand == plain.Demand) != same || s.Demand == s.Hash || s.Hash == plain.Hash {
			t.Errorf("%q: the same demand: %v, want %v", text, !same, same)
		}
	}
}

func TestWithSeed(t *testing.T) {
	text := "policies: [gang]\nworkload: {synthetic: {mix: llm, jobs: 20, load: 0.9}}"
	one := mustResolve(t, text+"\nseed: 1")
	before := fmt.Sprint(one.Config.Jobs)
	two, err := one.WithSeed(2)
	if err != nil {
		t.Fatal(err)
	}
	want := mustResolve(t, text+"\nseed: 2")
	if !reflect.DeepEqual(two.Config, want.Config) || two.Hash != want.Hash {
		t.Error("a scenario with seed 2 is not the scenario with the seed 2")
	}
	if reflect.DeepEqual(one.Config.Jobs, two.Config.Jobs) {
		t.Error("the jobs of another seed are the same")
	}
	if one.Config.Seed != 1 || fmt.Sprint(one.Config.Jobs) != before {
		t.Error("the scenario itself changed")
	}
	if one.Config.Cluster != two.Config.Cluster {
		t.Error("the cluster was built again")
	}
	if err := two.Select([]string{"per-pod"}); err != nil || one.Policies[0].Label != "gang" {
		t.Error("the selection of one is that of the other")
	}
}

// Listed jobs and traces do not depend on the seed, and are not copied for each.
func TestWithSeedShares(t *testing.T) {
	for _, text := range []string{"", "workload: {trace: jobs.csv}"} {
		one := mustResolve(t, text)
		two, err := one.WithSeed(2)
		if err != nil || two.Config.Seed != 2 || &one.Config.Jobs[0] != &two.Config.Jobs[0] {
			t.Errorf("%q: %v, seed %d", text, err, two.Config.Seed)
		}
	}
}

// Scaling the cluster must not scale the load that is made for it.
func TestClusterScaleLeavesJobs(t *testing.T) {
	for _, w := range []string{"synthetic: {mix: llm, jobs: 50, load: 0.9}", "trace: jobs.csv", "jobs: [{id: a, duration: 1m, gpus: 100}]"} {
		text := "cluster: {nodes: [{name: a, gpus: 8, count: 4}, {name: b, gpus: 4, count: 7}]}\nworkload: {" + w + "}"
		small, large := mustResolve(t, text), mustResolve(t, text+"\nscale: {cluster: 0.3}")
		if !reflect.DeepEqual(small.Config.Jobs, large.Config.Jobs) {
			t.Errorf("%s: the jobs depend on scale.cluster", w)
		}
		if len(large.Config.Cluster.Nodes) != 3 {
			t.Errorf("%s: %d nodes", w, len(large.Config.Cluster.Nodes))
		}
	}
}

func TestStableIDs(t *testing.T) {
	s := mustResolve(t, "workload: {jobs: [{id: b, submit: 5s, duration: 1m, gpus: 1}, {id: a, duration: 1m, gpus: 1}]}")
	want := []uint64{rng.StableID("a", 2), rng.StableID("b", 1)}
	if !reflect.DeepEqual(s.Config.Stable, want) {
		t.Errorf("got %v, want %v", s.Config.Stable, want)
	}
}

func TestInputs(t *testing.T) {
	s := mustResolve(t, "cluster: {from: {file: nodes.csv}}\nworkload: {trace: jobs.csv}")
	if len(s.Inputs) != 2 || s.Inputs[0].Name != "nodes.csv" || s.Inputs[1].Name != "jobs.csv" {
		t.Fatalf("inputs %v", s.Inputs)
	}
	const sum = "d284a95b372576902197699b76ed6cb4328bfaa41c6a06ece5569b8c7811effc"
	if s.Inputs[1].SHA256 != sum {
		t.Errorf("SHA-256 of jobs.csv is %s, want %s", s.Inputs[1].SHA256, sum)
	}
}

// A scenario built in Go is the scenario of the file that says the same.
func TestProgram(t *testing.T) {
	f := &File{
		Cluster: Cluster{Nodes: []Node{{Name: "n1", GPUs: 4}, {Name: "n2", GPUs: 4}}},
		Workload: Workload{Jobs: []Job{
			{ID: "A", Duration: 600e9, Pods: Pods{Pods: 8, GPUsPerPod: new(Milli(1000))}},
			{ID: "B", Duration: 600e9, Pods: Pods{Pods: 8, GPUsPerPod: new(Milli(1000))}},
		}},
		Queues:           []Queue{{Name: "default", Quota: &Quota{GPU: new(Milli(8000))}}},
		Policies:         []Policy{{Name: "gang", As: "strict", Params: map[string]string{"strategy": "StrictFIFO"}}},
		WaitForPodsReady: &WaitForPodsReady{RequeuingStrategy: RequeuingStrategy{BackoffLimitCount: new(int32(3))}},
		Timing:           Timing{Termination: new(Duration(30e9))},
		Until:            3600e9,
	}
	got, err := f.Resolve(".")
	if err != nil {
		t.Fatal(err)
	}
	want := mustResolve(t, `
cluster: {nodes: [{name: n1, gpus: 4}, {name: n2, gpus: 4}]}
workload: {jobs: [{id: A, duration: 10m, pods: 8, gpusPerPod: 1}, {id: B, duration: 10m, pods: 8, gpusPerPod: 1}]}
queues: [{name: default, quota: {gpu: 8}}]
policies: [{name: gang, as: strict, strategy: StrictFIFO}]
waitForPodsReady: {requeuingStrategy: {backoffLimitCount: 3}}
timing: {termination: 30s}
until: 1h`)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// Mistakes of a scenario without a file have no place, but a field.
func TestProgramErrors(t *testing.T) {
	f := &File{
		Cluster:  Cluster{Nodes: []Node{{Name: "n1", GPUs: -1}}},
		Policies: []Policy{{Name: "gnag"}},
	}
	_, err := f.Resolve(".")
	const want = `policies[0].name: unknown policy "gnag": expected one of per-pod, gang, gang-topology (did you mean gang?)
cluster.nodes[0].gpus: -1: expected 0 to 1024`
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return name
	}
	const header = "apiVersion: gangplan/v1alpha1\nkind: Scenario\nname: x\ncluster: {synthetic: {hosts: 1, gpus: 8}}\n"
	good := write("good.yaml", header+"workload: {trace: jobs.csv}\n")
	bad := write("bad.yaml", header+"workload: {trace: nowhere.csv}\n")
	write("jobs.csv", "id,submit_seconds,duration_seconds,gpus\na,0,5,8\n")
	s, err := Load(good)
	if err != nil || s.Name != "x" || len(s.Config.Jobs) != 1 {
		t.Fatalf("%+v, %v", s, err)
	}
	if _, err := Load(bad); err == nil || !strings.HasPrefix(err.Error(), bad+":5:19: workload.trace.file: ") {
		t.Errorf("got %v", err)
	}
	missing := filepath.Join(dir, "missing.yaml")
	if _, err := Load(missing); err == nil || err.Error() != missing+": cannot be read: no such file or directory" {
		t.Errorf("got %v", err)
	}
	if _, err := Load(dir); err == nil || !strings.Contains(err.Error(), "cannot be read") {
		t.Errorf("a folder: got %v", err)
	}
}

func TestResolveFS(t *testing.T) {
	fsys := fstest.MapFS{"demo/jobs.csv": {Data: []byte("id,submit_seconds,duration_seconds,gpus\na,0,5,8\n")}}
	f := &File{Cluster: Cluster{Synthetic: &Synthetic{Counts: map[string]int{"hosts": 1}, GPUs: 8}}, Workload: Workload{Trace: &Trace{File: "jobs.csv"}}}
	s, err := f.ResolveFS(fsys, "demo")
	if err != nil || len(s.Config.Jobs) != 1 {
		t.Fatal(s, err)
	}
	for _, name := range []string{"../../etc/passwd", "nowhere.csv", "/etc/passwd"} {
		f.Workload.Trace.File = name
		if _, err := f.ResolveFS(fsys, "demo"); err == nil {
			t.Errorf("%s was read", name)
		}
	}
}

// The simulation accepts what a scenario resolves to.
func TestRuns(t *testing.T) {
	s := mustResolve(t, "workload: {trace: jobs.csv}\ntiming: kubernetes\nwaitForPodsReady: {}\nfabric: h100-ndr")
	for _, p := range s.Policies {
		if _, err := sim.New(s.Config, p.Declaration.New(p.Params), nil); err != nil {
			t.Errorf("%s: %v", p.Label, err)
		}
	}
}

// Timing has every field of sim.Timing, under the same name.
func TestTimingComplete(t *testing.T) {
	compare := func(have, want reflect.Type) {
		for i := range want.NumField() {
			name := want.Field(i).Name
			f, ok := have.FieldByName(name)
			if name == "Name" {
				continue
			}
			if tag := strings.ToLower(name[:1]) + name[1:]; !ok || f.Tag.Get("yaml") != tag && name != "P99" {
				t.Errorf("%s: field %s is missing or not called %s", have.Name(), name, tag)
			}
		}
	}
	compare(reflect.TypeFor[Timing](), reflect.TypeFor[sim.Timing]())
	compare(reflect.TypeFor[StartUp](), reflect.TypeFor[sim.StartUp]())
}

// Every exported field of the format has a tag: without one it could not be written.
func TestTagsComplete(t *testing.T) {
	seen := map[reflect.Type]bool{}
	var check func(typ reflect.Type)
	check = func(typ reflect.Type) {
		for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice || typ.Kind() == reflect.Map {
			typ = typ.Elem()
		}
		if typ.Kind() != reflect.Struct || seen[typ] {
			return
		}
		seen[typ] = true
		for i := range typ.NumField() {
			if f := typ.Field(i); f.IsExported() {
				if _, ok := f.Tag.Lookup("yaml"); !ok {
					t.Errorf("%s.%s has no tag", typ.Name(), f.Name)
				}
				check(f.Type)
			}
		}
	}
	check(reflect.TypeFor[File]())
	if len(seen) < 20 {
		t.Errorf("only %d types were seen", len(seen))
	}
}

func TestDurationString(t *testing.T) {
	for d, want := range map[Duration]string{
		0: "0s", 1: "1ns", 90e9: "1m30s", 86400e9: "1d", 1_500_000_000: "1s500ms", -60e9: "-1m", -1 << 63: "-106751d23h47m16s854ms775807ns",
	} {
		if got := d.String(); got != want {
			t.Errorf("%d: got %s, want %s", int64(d), got, want)
		}
	}
}

// A quantity that is written out parses back to itself.
func TestDurationRoundTrip(t *testing.T) {
	for i := range 1000 {
		h := rng.Hash(1, rng.Duration, uint64(i), 0)
		want := Duration(h >> (h%50 + 3) & (1<<61 - 1))
		var got Duration
		if err := got.fromText(want.String()); err != nil || got != want {
			t.Errorf("%d: %s parses as %d, %v", int64(want), want, int64(got), err)
		}
	}
}

func TestNodeDefaultsAreTopologys(t *testing.T) {
	s := mustResolve(t, "cluster: {nodes: [{name: a, gpus: 4}]}")
	if got := s.Config.Cluster.Nodes[0].Allocatable; got != topology.DefaultAllocatable(4) {
		t.Errorf("got %v", got)
	}
}

// Manifests become jobs; their topology keys are levels of the cluster, and what
// kube-scheduler adds for a zone that is none falls away.
func TestManifests(t *testing.T) {
	const rest = "cluster: {levels: [rack, host], synthetic: {racks: 2, hosts: 4, gpus: 8}}\nworkload: {trace: {file: manifests.yaml, duration: 2h}}\n"
	s := mustResolve(t, rest+"until: 1d")
	jobs := s.Config.Jobs
	if len(jobs) != 3 || jobs[0].ID != "train" || jobs[0].Duration != 7200e9 || jobs[0].PodSets[0].Topology.Level != "rack" {
		t.Fatalf("%+v", jobs)
	}
	web := jobs[1]
	if web.AntiAffinity[0].Level != "host" || len(web.Spread) != 1 || web.Spread[0].Level != "host" || len(s.Config.Budgets) != 1 {
		t.Errorf("%+v with budgets %+v", web, s.Config.Budgets)
	}
	if _, err := resolveText(rest); err == nil || !strings.Contains(err.Error(), `until: missing: expected a time, since job "web-0" never ends`) {
		t.Errorf("without until: %v", err)
	}
}

// An openb list that is read as arrivals only fills the cluster up.
func TestArrivalsOnly(t *testing.T) {
	const nodes = "cluster: {nodes: [{name: n, gpus: 8}]}\nuntil: 2d\nworkload: {trace: {file: openb.csv"
	all := mustResolve(t, nodes+", arrivalsOnly: true}}")
	if jobs := all.Config.Jobs; len(jobs) != 3 || jobs[2].Duration != workloads.MaxTime {
		t.Errorf("%+v", jobs)
	}
	if ended := mustResolve(t, nodes+"}}"); len(ended.Config.Jobs) != 2 || ended.Hash == all.Hash {
		t.Errorf("with departures: %d jobs; is the hash the same: %v", len(ended.Config.Jobs), ended.Hash == all.Hash)
	}
}
