package report

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/sim/ledger"
	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/topology/fabric"
	"github.com/gangplan/gangplan/workloads"
)

// neighbours plays two gangs that leave their racks over uplinks half as fast as their NICs,
// one that leaves only its hosts, and one that has nobody to exchange with. All of them would
// fit into a host.
func neighbours(t *testing.T) *sim.Result {
	model := &workloads.ModelProfile{Name: "m", GradientBytes: 10e9, Compute: sec}
	over := func(id string, nodes ...string) workloads.Job {
		j := workloads.Job{ID: id, Duration: 600 * sec, Model: model}
		for _, n := range nodes {
			j.PodSets = append(j.PodSets, workloads.PodSet{Name: n, Count: 1, Node: n, Request: topology.Resources{2000, 1000, 1 << 30, 1}})
		}
		return j
	}
	r, _ := play(t, "per-pod", func(cfg *sim.Config) {
		var nodes []topology.Node
		for _, name := range []string{"a1", "a2", "b1", "b2"} {
			nodes = append(nodes, topology.Node{Name: name, GPUModel: "H100", Path: []string{name[:1]}, Allocatable: topology.DefaultAllocatable(4)})
		}
		c, err := topology.Build([]string{"rack", "host"}, nodes)
		if err != nil {
			t.Fatal(err)
		}
		p := fabric.Profile{Name: "test", DomainGPUs: 4, DomainBusBW: 100, NICs: 1, NICGBps: 10, NetEfficiency: 1,
			Intra: fabric.Latency{B0: 1}, Inter: fabric.Latency{B0: 1}}
		f, err := fabric.New(p, c, map[string]fabric.Level{"rack": {Oversubscription: 4, Efficiency: 1}})
		if err != nil {
			t.Fatal(err)
		}
		cfg.Cluster, cfg.Fabric, cfg.Sharing = c, f, sim.Fluid
	}, over("A", "a1", "b1"), over("B", "a2", "b2"), over("C", "a1", "a2"), gangOf("D", 0, 1, 100))
	return r
}

// What is lost by place is what is lost by cause, in metrics and job by job.
func TestStallsByPlace(t *testing.T) {
	r := neighbours(t)
	vs := Measure(r, nil)
	total := 0.0
	for _, a := range stallAccounts {
		whole, parts := get(t, vs, "gpu_hours."+a.String()), 0.0
		for _, p := range places() {
			v := get(t, vs, "gpu_hours."+a.String()+"."+p.String())
			if parts += v; v > 0 != (p == sim.PlaceTier1 || p == sim.PlaceNIC && a == ledger.StallLocality) {
				t.Errorf("%s at %s is %v", a, p, v)
			}
		}
		if math.Abs(whole-parts) > 1e-9*whole || whole == 0 {
			t.Errorf("%s is %v, by place %v", a, whole, parts)
		}
		total += whole
	}
	jobs := wholeTable(jobsTable, &Record{Result: r})
	sum := 0.0
	names, err := jobs.StringColumn("bottleneck")
	if err != nil {
		t.Fatal(err)
	}
	for column, place := range map[string]string{"stalled_tier1_gpu_hours": "rack", "stalled_nic_gpu_hours": "nic"} {
		lost, err := jobs.Float64Column(column)
		if err != nil {
			t.Fatal(err)
		}
		for j, want := range []string{"rack", "rack", "nic", ""} {
			v, _ := lost.At(j)
			if name, ok := names.At(j); name != want || ok != (want != "") || v > 0 != (want == place) {
				t.Errorf("job %d is bound at %q, lost %v at %s", j, name, v, place)
			}
			sum += v
		}
	}
	if math.Abs(sum-total) > 1e-9*total {
		t.Errorf("the jobs lost %v, the accounts have %v", sum, total)
	}
}

// The table calls a place by the name of the level.
func TestPlacesInTheTable(t *testing.T) {
	var out bytes.Buffer
	doc := &Document{Runs: []Run{NewRun("per-pod", neighbours(t), nil)}}
	if err := Render(&out, "table", doc); err != nil {
		t.Fatal(err)
	}
	if text := out.String(); strings.Count(text, "at rack uplinks") != 2 || strings.Contains(text, "tier") || strings.Count(text, "at nic") != 1 {
		t.Error(text)
	}
	if tiers := doc.Runs[0].Tiers; len(tiers) != 1 || tiers[0] != "rack" {
		t.Errorf("tiers %v", tiers)
	}
}

func TestTierNames(t *testing.T) {
	for _, tt := range []struct{ levels, want string }{
		{"host", ""}, {"rack host", "rack"}, {"zone block rack host", "rack block zone"}, {"region zone block rack host", "rack block zone"},
	} {
		r := handmade(1, 8)
		r.Config.Cluster.Levels, r.Config.Fabric = strings.Fields(tt.levels), &fabric.Fabric{}
		if got := strings.Join(tiersOf(r), " "); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.levels, got, tt.want)
		}
	}
}
