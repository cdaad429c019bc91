package policies

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/gangplan/gangplan/policies/stage"
	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/workloads"
)

func profileOf(given map[string]string) *stage.Profile {
	d, _ := Lookup("per-pod")
	return d.New(given).Binder.(*kube).profile
}

func TestCustomProfile(t *testing.T) {
	if got := profileOf(map[string]string{"profile": "custom"}); got.Fit.Strategy != stage.LeastAllocated ||
		!reflect.DeepEqual(got.Fit.Resources, stage.SpreadProfile().Fit.Resources) || got.Weights != stage.DefaultWeights {
		t.Errorf("custom without parameters is not the default profile: %+v", got)
	}
	pack := profileOf(map[string]string{"profile": "custom", "fit": "MostAllocated", "resources": "gpu=5, cpu=1,memory=1"})
	pack.Fit.Shape = nil // another strategy's
	if !reflect.DeepEqual(pack, stage.PackProfile()) {
		t.Errorf("%+v, want the pack profile", pack)
	}
	got := profileOf(map[string]string{"profile": "custom", "fit": "RequestedToCapacityRatio", "resources": "gpu=1", "shape": "0=0,80=10,100=5",
		"weights": "NodeResourcesBalancedAllocation=0,PodTopologySpread=100"})
	if got.Fit.Strategy != stage.RequestedToCapacityRatio || !reflect.DeepEqual(got.Fit.Shape, stage.Shape{{Utilization: 0, Score: 0}, {Utilization: 80, Score: 10}, {Utilization: 100, Score: 5}}) ||
		got.Weights[stage.BalancedAllocation] != 0 || got.Weights[stage.PodTopologySpread] != 100 || got.Weights[stage.TaintToleration] != 3 {
		t.Errorf("%+v", got)
	}
}

func TestCustomMistakes(t *testing.T) {
	d, _ := Lookup("gang")
	for _, c := range [][3]string{
		{"resources", "", "at least one"},
		{"resources", "gpu=1,gpu=2", "gpu is there twice"},
		{"resources", "gpu=0", "from 1 to 100"},
		{"resources", "gpu", "expected NAME=NUMBER"},
		{"resources", "pods=1", "expected gpu, cpu or memory"},
		{"shape", "", "at least one point"},
		{"shape", "0=11", "from 0 to 10"},
		{"shape", "101=1", "from 0 to 100"},
		{"shape", "x=1", "from 0 to 100"},
		{"shape", "5=1,5=2", "that rise"},
		{"weights", "NodeResourcesFit=-1", "from 0 to 100"},
		{"weights", "Coscheduling=1", "unknown plugin"},
	} {
		if err := d.Check(c[0], c[1]); err == nil || !strings.Contains(err.Error(), c[2]) {
			t.Errorf("%s: %q: %v, want %q", c[0], c[1], err, c[2])
		}
	}
	if err := d.Check("weights", ""); err != nil {
		t.Errorf("no weights: %v", err)
	}
}

func TestUnheeded(t *testing.T) {
	d, _ := Lookup("gang-topology")
	for _, c := range []struct {
		given map[string]string
		want  string
	}{
		{nil, ""},
		{map[string]string{"fit": "MostAllocated"}, "fit"},
		{map[string]string{"fit": "MostAllocated", "profile": "pack"}, "fit"},
		{map[string]string{"fit": "MostAllocated", "profile": "custom"}, ""},
	} {
		if got, _ := d.Unheeded(c.given); got != c.want {
			t.Errorf("%v: %q, want %q", c.given, got, c.want)
		}
	}
}

// A shape that likes half-full nodes best: the third job of two GPUs joins neither the
// empty node nor the full one.
func TestShapeDecides(t *testing.T) {
	jobs := []workloads.Job{job("full", 0, 1, 6, 100), job("half", 1, 1, 2, 100), job("third", 2, 1, 2, 100)}
	c := cluster(t, 8, 8, 8)
	for i := range jobs[:2] {
		jobs[i].PodSets[0].Node = c.Nodes[i].Name
	}
	settings := map[string]string{"profile": "custom", "fit": "RequestedToCapacityRatio", "resources": "gpu=1",
		"shape": "25=0,50=10,75=0,100=5", "weights": "NodeResourcesBalancedAllocation=0"}
	trace, _ := play(t, "per-pod", settings, sim.Config{Cluster: c, Jobs: jobs}, 24)
	if got := nodesOf(trace); !reflect.DeepEqual(got, []int32{0, 1, 1}) {
		t.Errorf("%v", got)
	}
}

func TestCustomAgainstScan(t *testing.T) {
	for i, settings := range []map[string]string{
		{"fit": "RequestedToCapacityRatio", "resources": "gpu=3,memory=1", "shape": "0=3,40=10,100=0"},
		{"fit": "MostAllocated", "resources": "gpu=1", "weights": "NodeResourcesFit=7,TaintToleration=0", "ties": "random"},
	} {
		settings["profile"] = "custom"
		r := rand.New(rand.NewPCG(uint64(i), 77))
		c := mixedCluster(t, r, 40)
		if w := runWatched(t, c, mixedJobs(r, c, 50, false), settings); w.decisions < 50 {
			t.Errorf("%v: only %d decisions", settings, w.decisions)
		}
	}
}
