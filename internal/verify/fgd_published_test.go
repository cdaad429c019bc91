package verify

import (
	"math"
	"testing"

	"github.com/gangplan/gangplan/internal/fragmentation"
)

// The means that the paper's authors publish, at two percentages.
func TestPublishedFGD(t *testing.T) {
	s := &fragmentation.Study{Workloads: []string{"default", "nobody"}, Policies: []string{"dot-product", "fgd"}, Ratio: 1.3}
	for seed := range int64(10) {
		s.Seeds = append(s.Seeds, 42+seed)
	}
	curves, err := PublishedFGD(s)
	if err != nil {
		t.Fatal(err)
	}
	if len(curves) != 4 || len(curves[2].Points)+len(curves[3].Points) != 0 {
		t.Fatalf("%d curves, some of a workload that nobody published: %+v", len(curves), curves)
	}
	for i, want := range [][2]float64{{90.62, 90.85}, {95.23, 95.39}} {
		at100, _ := curves[i].At(100)
		at130, ok := curves[i].At(130)
		if !ok || math.Abs(at100.Allocated-want[0]) > 0.005 || math.Abs(at130.Allocated-want[1]) > 0.005 {
			t.Errorf("%s: %v and %v, want %v", curves[i].Policy, at100, at130, want)
		}
	}
	for _, other := range []fragmentation.Study{
		{Workloads: s.Workloads, Policies: s.Policies, Seeds: append([]int64{7}, s.Seeds...), Ratio: 1.3},
		{Workloads: s.Workloads, Policies: s.Policies, Seeds: s.Seeds, Ratio: 1.2},
	} {
		if curves, err := PublishedFGD(&other); err != nil || len(curves[0].Points) != 0 {
			t.Errorf("seeds %v, load %v: %v, %v", other.Seeds, other.Ratio, curves[0].Points, err)
		}
	}
}
