package stage

import (
	"math/rand"
	"slices"
	"testing"

	"github.com/gangplan/gangplan/sim/devices"
	"github.com/gangplan/gangplan/topology"
)

func victim(pod, priority int32, started int64, gpus int64) Victim {
	return Victim{Pod: pod, Priority: priority, Started: started, Request: topology.Resources{topology.GPU: gpus * 1000, topology.Pods: 1}}
}

func wantGPUs(gpus int64) *Want {
	r := topology.Resources{topology.GPU: gpus * 1000, topology.Pods: 1}
	ask, _ := devices.NewAsk(r[topology.GPU])
	return &Want{Demand: NewDemand(r), Guest: Guest{Ask: ask}}
}

func protected(v Victim) Victim {
	v.Violates = true
	return v
}

func podsOf(victims []Victim) (pods []int32) {
	for _, v := range victims {
		pods = append(pods, v.Pod)
	}
	return pods
}

func TestReprieve(t *testing.T) {
	for _, c := range []struct {
		name string
		free int64
		want int64
		pods []Victim
		gone []int32
		ok   bool

		violations int
	}{
		{"the least important goes", 0, 2, []Victim{victim(1, 0, 5, 2), victim(2, 3, 5, 2)}, []int32{1}, true, 0},
		{"of equals the one that started last", 0, 2, []Victim{victim(1, 0, 9, 2), victim(2, 0, 5, 2)}, []int32{1}, true, 0},
		{"only as many as needed", 1, 4, []Victim{victim(1, 0, 1, 1), victim(2, 0, 2, 2), victim(3, 0, 3, 3)}, []int32{3}, true, 0},
		// Put back in order: 2 stays; 1 and 3 would leave too little.
		{"a big one that is important makes small ones go", 0, 2, []Victim{victim(1, 1, 1, 1), victim(2, 2, 1, 2), victim(3, 0, 1, 1)}, []int32{1, 3}, true, 0},
		{"not even without all", 1, 4, []Victim{victim(1, 0, 1, 2)}, nil, false, 0},
		{"nobody has to go", 4, 4, []Victim{victim(1, 0, 1, 4)}, nil, true, 0},
		{"the one that no budget protects, although it is more important", 0, 2, []Victim{protected(victim(1, 0, 5, 2)), victim(2, 3, 5, 2)}, []int32{2}, true, 0},
		{"the others come back in their order whoever has to go before", 0, 3,
			[]Victim{victim(1, 3, 5, 1), victim(2, 2, 5, 1), protected(victim(3, 0, 5, 2))}, []int32{2, 3}, true, 1},
		{"a budget is violated if nothing else helps", 0, 3, []Victim{protected(victim(1, 0, 5, 2)), protected(victim(3, 2, 5, 2)), victim(2, 3, 5, 1)}, []int32{2, 1}, true, 1},
	} {
		s := Space{Want: wantGPUs(c.want), Free: topology.Resources{topology.GPU: c.free * 1000, topology.Pods: 1}}
		got, ok := Reprieve(&s, c.pods)
		if ok != c.ok || !slices.Equal(podsOf(got.Victims), c.gone) || got.Violations != c.violations {
			t.Errorf("%s: %v %v with %d violations, want %v %v with %d", c.name, podsOf(got.Victims), ok, got.Violations, c.gone, c.ok, c.violations)
		}
	}
}

// Two pods with half a GPU each on different GPUs: both must go from one GPU, or nobody
// else's parts help.
func TestReprieveOfParts(t *testing.T) {
	gpus := devices.NewSet(2)
	gpus.Take(3, 1000)
	part := func(pod int32, gpu devices.Mask) Victim {
		return Victim{Pod: pod, Request: topology.Resources{topology.GPU: 500}, GPUs: gpu, Milli: 500}
	}
	s := Space{Want: wantGPUs(1), Free: topology.Resources{topology.Pods: 1}, GPUs: gpus, Shared: true}
	got, ok := Reprieve(&s, []Victim{part(1, 1), part(2, 2), part(3, 1), part(4, 2)})
	if gone := podsOf(got.Victims); !ok || !slices.Equal(gone, []int32{2, 4}) && !slices.Equal(gone, []int32{1, 3}) {
		t.Errorf("%v %v", gone, ok)
	}
}

// What is left fits, and no victim could have stayed.
func TestReprieveIsMinimal(t *testing.T) {
	r := rand.New(rand.NewSource(3))
	for range 2000 {
		s := Space{Want: wantGPUs(1 + r.Int63n(8)), Free: topology.Resources{topology.GPU: r.Int63n(3) * 1000, topology.Pods: 1}}
		var pods []Victim
		for p := range r.Int31n(6) {
			pods = append(pods, victim(p, r.Int31n(3), r.Int63n(3), 1+r.Int63n(4)))
			pods[p].Violates = r.Intn(3) == 0
		}
		tried := s
		got, ok := Reprieve(&tried, slices.Clone(pods))
		if !ok {
			continue
		}
		gone := got.Victims
		for i := range gone {
			s.Take(&gone[i])
		}
		if !s.Holds() || tried != s {
			t.Fatalf("%v do not make room", gone)
		}
		for i := range gone {
			if s.Return(&gone[i]); s.Holds() {
				t.Fatalf("%v could stay", gone[i])
			}
			s.Take(&gone[i])
		}
	}
}

func TestCheaper(t *testing.T) {
	order := []Sacrifice{ // each hurts less than the next
		{Victims: []Victim{victim(1, 0, 9, 1)}},
		{Victims: []Victim{victim(1, 0, 5, 1)}},
		{Victims: []Victim{victim(1, 0, 5, 1), victim(2, -5, 5, 1)}},
		{Victims: []Victim{victim(1, 0, 5, 1), victim(2, 0, 9, 1)}},
		{Victims: []Victim{victim(1, 1, 9, 1)}},
		{Victims: []Victim{victim(1, -9, 9, 1)}, Violations: 1},
		{Victims: []Victim{victim(1, -9, 9, 1), victim(2, -9, 9, 1)}, Violations: 2},
	}
	for i := range order {
		for j := range order {
			if got := order[i].Cheaper(&order[j]); got != (i < j) {
				t.Errorf("%d cheaper than %d: %v", i, j, got)
			}
		}
	}
}

func TestPreemptionCandidates(t *testing.T) {
	for _, c := range [][2]int{{5, 5}, {100, 100}, {500, 100}, {5000, 500}} {
		if got := PreemptionCandidates(c[0]); got != c[1] {
			t.Errorf("of %d nodes %d, want %d", c[0], got, c[1])
		}
	}
}
