package stage

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/workloads"
)

// shelf is a cluster given rack by rack as what is free of what a host has, in GPUs:
// "4/4 2/4" is a rack of two hosts.
func shelf(t testing.TB, racks ...string) *state {
	t.Helper()
	var nodes []topology.Node
	var used []topology.Resources
	for r, rack := range racks {
		for h, host := range strings.Fields(rack) {
			var free, all int64
			if _, err := fmt.Sscanf(host, "%d/%d", &free, &all); err != nil {
				t.Fatal(err)
			}
			nodes = append(nodes, topology.Node{Name: fmt.Sprintf("r%dh%d", r, h), Path: []string{fmt.Sprintf("r%d", r)},
				GPUModel: "gpu", Allocatable: topology.DefaultAllocatable(all)})
			used = append(used, gpuPod(1000).Times(all-free))
		}
	}
	c, err := topology.Build([]string{"rack", "host"}, nodes)
	if err != nil {
		t.Fatal(err)
	}
	s := newState(c, gpuPod(1000))
	for n := range used {
		s.take(int32(n), used[n])
	}
	return s
}

func (s *state) placeBy(p Placement, count int32, mode workloads.TopologyMode, level int32) string {
	search := NewSearch(s.c, s.c.HostLevel())
	empty := newState(s.c, s.pods...)
	r := Request{Count: count, Mode: mode, Level: level}
	if mode == workloads.TopologyUnconstrained {
		r.Level, r.Algo = s.c.HostLevel(), LeastFreeCapacity
	}
	ok := search.PlaceBy(p, &r, s.index, s.shapes[0], empty.index.Counts(0))
	if !ok {
		return fmt.Sprintf("%d of %d", search.Failure.Fit, search.Failure.Want)
	}
	return answer(s.c, search, ok)
}

func TestPlacements(t *testing.T) {
	for _, e := range []struct {
		name  string
		by    Placement
		racks []string
		count int32
		mode  workloads.TopologyMode
		level int32
		want  string
	}{
		{"Kueue takes the emptiest host of all", ByKueue, []string{"4/4 4/4", "3/4 4/4"}, 2, unconstrained, 1, "r1h0:2"},
		{"Kueue breaks a rack for an exact host", ByKueue, []string{"2/2 2/2", "3/4 4/4"}, 2, unconstrained, 1, "r0h0:2"},
		{"rack-aware takes the emptiest rack, then its emptiest host", RackAware, []string{"2/2 2/2 2/2 2/2", "3/4 4/4"}, 2, unconstrained, 1, "r1h0:2"},
		{"rack-aware goes on to the next rack", RackAware, []string{"4/4 4/4", "1/4 1/4"}, 4, unconstrained, 1, "r0h0:4"},
		{"rack-aware fills what is left of racks", RackAware, []string{"3/4 3/4", "1/4 2/4"}, 8, unconstrained, 1, "r0h0:3 r0h1:2 r1h0:1 r1h1:2"},
		{"best fit is greedy", ByKueue, []string{"19/19", "10/10", "10/10"}, 20, preferred, 0, "r0h0:19 r1h0:1"},
		{"fewest-domains is not", FewestDomains, []string{"19/19", "10/10", "10/10"}, 20, preferred, 0, "r1h0:10 r2h0:10"},
		{"fewest-domains takes the fullest set of the size", FewestDomains, []string{"9/9 6/9 5/9 5/9"}, 11, required, 0, "r0h1:6 r0h2:5"},
		{"fewest-domains, three needed", FewestDomains, []string{"4/4 4/4 3/4 1/4"}, 10, required, 0, "r0h0:4 r0h1:4 r0h2:2"},
		{"fewest-domains fails as all do", FewestDomains, []string{"4/4", "4/4"}, 5, required, 0, "4 of 5"},
		{"spread shares a rack out", SpreadOut, []string{"4/4 4/4 1/4"}, 6, required, 0, "r0h0:3 r0h1:2 r0h2:1"},
		{"spread shares racks out", SpreadOut, []string{"4/4 4/4", "4/4 4/4"}, 6, unconstrained, 1, "r0h0:2 r0h1:1 r1h0:2 r1h1:1"},
		{"spread takes the roomiest rack", SpreadOut, []string{"4/4", "4/4 4/4"}, 4, preferred, 0, "r1h0:2 r1h1:2"},
		{"spread over racks where none holds all", SpreadOut, []string{"4/4", "4/4 1/4"}, 7, preferred, 0, "r0h0:3 r1h0:3 r1h1:1"},
		{"spread fails", SpreadOut, []string{"4/4", "3/4"}, 8, unconstrained, 1, "7 of 8"},
		{"best fit breaks the small rack", ByKueue, []string{"4/4", "4/4 3/4"}, 3, preferred, 0, "r0h0:3"},
		{"keep-whole breaks the broken one further", KeepWhole, []string{"4/4", "4/4 3/4"}, 3, preferred, 0, "r1h1:3"},
		{"keep-whole starts a rack when it must", KeepWhole, []string{"4/4 4/4", "1/4 0/4"}, 3, preferred, 0, "r0h0:3"},
		{"keep-whole over several broken racks", KeepWhole, []string{"4/4", "2/4", "3/4", "4/4"}, 5, unconstrained, 1, "r1h0:2 r2h0:3"},
		{"keep-whole breaks a whole one at the end", KeepWhole, []string{"4/4", "2/4", "3/4", "4/4"}, 9, unconstrained, 1, "r0h0:4 r1h0:2 r2h0:3"},
		{"keep-whole fails", KeepWhole, []string{"4/4", "2/4"}, 7, unconstrained, 1, "6 of 7"},
		{"keep-whole fails on a level", KeepWhole, []string{"4/4", "2/4"}, 7, required, 0, "4 of 7"},
	} {
		if got := shelf(t, e.racks...).placeBy(e.by, e.count, e.mode, e.level); got != e.want {
			t.Errorf("%s: %q, want %q", e.name, got, e.want)
		}
	}
}

// TestPlacementsAreSound plays random requests: what is placed fits, is whole, is inside
// one domain where that is required, and is refused only where Kueue refuses it too.
func TestPlacementsAreSound(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 4))
	steps := 6000
	if testing.Short() {
		steps = 1000
	}
	c := regular(t, 3, 5, 6, func(i int) int64 { return []int64{8, 4, 8, 2}[i%4] })
	s := newState(c, gpuPod(1000), gpuPod(2000), gpuPod(8000))
	empty := newState(c, s.pods...)
	search, kueue := NewSearch(c, c.HostLevel()), NewSearch(c, c.HostLevel())
	var gangs []held
	for range steps {
		if len(gangs) > 0 && rng.IntN(2) == 0 {
			i := rng.IntN(len(gangs))
			for _, slot := range gangs[i].slots {
				s.take(slot.Leaf, gangs[i].pod.Times(-int64(slot.Count)))
			}
			gangs = slices.Delete(gangs, i, i+1)
			continue
		}
		i, r := rng.IntN(len(s.pods)), randomPlain(rng, c)
		by := Placement(rng.IntN(len(PlacementNames)))
		ok := search.PlaceBy(by, &r, s.index, s.shapes[i], empty.index.Counts(empty.shapes[i]))
		if want := kueue.PlaceShape(&r, s.index, s.shapes[i]); ok != want {
			t.Fatalf("%s: %+v placed %v, by Kueue %v", PlacementNames[by], r, ok, want)
		}
		if !ok {
			continue
		}
		checkSlots(t, s, search.Slots, i, &r)
		for _, slot := range search.Slots {
			s.take(slot.Leaf, s.pods[i].Times(int64(slot.Count)))
		}
		gangs = append(gangs, held{pod: s.pods[i], slots: slices.Clone(search.Slots)})
	}
}

func checkSlots(t *testing.T, s *state, slots []Slot, shape int, r *Request) {
	t.Helper()
	var n int32
	for i, slot := range slots {
		n += slot.Count
		if all := s.pods[shape].Times(int64(slot.Count)); slot.Count < 1 || !all.FitsIn(&s.free[slot.Leaf]) {
			t.Fatalf("%+v: %d pods on leaf %d, which has %v", r, slot.Count, slot.Leaf, s.free[slot.Leaf])
		}
		if i > 0 && s.c.Nodes[slots[i-1].Leaf].Name >= s.c.Nodes[slot.Leaf].Name {
			t.Fatalf("%+v: slots %v are not by name", r, slots)
		}
		if r.Mode == required && s.c.DomainOf(slots[0].Leaf, r.Level) != s.c.DomainOf(slot.Leaf, r.Level) {
			t.Fatalf("%+v: slots %v are in several domains", r, slots)
		}
	}
	if n != r.Count {
		t.Fatalf("%+v: slots %v", r, slots)
	}
}
