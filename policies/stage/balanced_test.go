package stage

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gangplan/gangplan/workloads"
)

// balancedOver places balanced on racks of hosts.
func balancedOver(t *testing.T, r Request, racks ...string) string {
	t.Helper()
	s := shelf(t, racks...)
	search := NewSearch(s.c, s.c.HostLevel())
	r.Mode, r.Balanced = preferred, true
	return answer(s.c, search, search.PlaceShape(&r, s.index, 0))
}

func TestBalanced(t *testing.T) {
	for _, e := range []struct {
		name  string
		r     Request
		racks []string
		want  string
	}{
		{"two racks of fifteen", Request{Count: 25}, []string{"15/15", "15/15"}, "r0h0:13 r1h0:12"},
		{"sixteen of them", Request{Count: 16}, []string{"15/15", "15/15"}, "r0h0:8 r1h0:8"},
		{"one rack is enough", Request{Count: 12}, []string{"15/15", "12/15"}, "r1h0:12"},
		{"the threshold is what the last one has", Request{Count: 20}, []string{"15/15", "6/15"}, "r0h0:14 r1h0:6"},
		{"hosts too small for it are left out", Request{Count: 12, Level: 1}, []string{"8/8 8/8 1/8"}, "r0h0:6 r0h1:6"},
		{"by hosts in one rack", Request{Count: 9, Level: 1}, []string{"8/8 8/8", "9/9 1/8"}, "r1h0:9"},
		{"slices of hosts", Request{Count: 24, NLayers: 1, Layers: [3]Layer{{1, 4}}}, []string{"16/16", "14/16"}, "r0h0:12 r1h0:12"},
		{"slices of the level itself are not balanced", Request{Count: 24, NLayers: 1, Layers: [3]Layer{{0, 4}}}, []string{"16/16", "14/16"}, "r0h0:16 r1h0:8"},
		{"too much falls back and fails", Request{Count: 31}, []string{"15/15", "15/15"}, ""},
	} {
		if got := balancedOver(t, e.r, e.racks...); got != e.want {
			t.Errorf("%s: %q, want %q", e.name, got, e.want)
		}
	}
}

// TestBalancedIsSound: balanced placement finds a place whenever the ordinary search does,
// whole, in what there is room for, and leaders have one.
func TestBalancedIsSound(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 2))
	steps := 3000
	if testing.Short() {
		steps = 500
	}
	for range steps {
		var racks []string
		for range 1 + rng.IntN(4) {
			var hosts []string
			for range 1 + rng.IntN(4) {
				hosts = append(hosts, []string{"0/8", "1/8", "3/8", "5/8", "8/8"}[rng.IntN(5)])
			}
			racks = append(racks, strings.Join(hosts, " "))
		}
		s := shelf(t, racks...)
		r := Request{Count: 2 * (1 + rng.Int32N(12)), Mode: preferred, Level: rng.Int32N(2), Hosts: true, Leader: rng.IntN(2) == 0}
		if rng.IntN(2) == 0 {
			r.NLayers, r.Layers[0] = 1, Layer{1, 2}
		}
		lead := gpuPod(1000)
		var leaves Leaves
		leaves.Fill(s.c, 1, s.free, &s.pods[0], &lead, nil)
		plain, balanced := NewSearch(s.c, 1), NewSearch(s.c, 1)
		want := plain.Place(&r, &leaves)
		r.Balanced = true
		got := balanced.Place(&r, &leaves)
		if want && !got {
			t.Fatalf("%v %+v: only the ordinary search finds a place", racks, r)
		}
		if got {
			r.Mode = workloads.TopologyPreferred
			checkSlots(t, s, balanced.Slots, 0, &r)
			if r.Leader && balanced.Leader < 0 {
				t.Fatalf("%v %+v: the leader has no place", racks, r)
			}
		}
	}
}

func TestLog2(t *testing.T) {
	for n := int64(1); n < 5000; n += 7 {
		want := math.Log2(float64(n))
		if got := float64(log2(n)) / (1 << 32); math.Abs(got-want) > 1e-9 {
			t.Errorf("log2(%d) is %v, want %v", n, got, want)
		}
	}
}

// Several layers tell how far each would have got.
func TestLayersMessage(t *testing.T) {
	s := shelf(t, "4/4 3/4", "3/4 3/4")
	search := NewSearch(s.c, 1)
	r := Request{Count: 8, Mode: required, NLayers: 2, Layers: [3]Layer{{0, 4}, {1, 2}}}
	if search.PlaceShape(&r, s.index, 0) {
		t.Fatalf("placed %v", search.Slots)
	}
	want := `topology "t" doesn't allow to fit; 1/2 slice(s) fit on level rack; 3/4 slice(s) fit on level host`
	if got := search.Message(&Why{Topology: "t", Free: s.free, Pod: &s.pods[0]}); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
