package flow

import (
	"math/rand/v2"
	"slices"
	"testing"
)

const gb = 1_000_000_000

func TestFinishByHand(t *testing.T) {
	tests := []struct {
		name  string
		links []int64
		flows []Flow
		ends  []int64
	}{
		{"alone", []int64{10 * gb}, []Flow{{Route: []int32{0}, Bytes: gb}}, []int64{100e9}},
		{"two share", []int64{10 * gb}, []Flow{{Route: []int32{0}, Bytes: gb}, {Route: []int32{0}, Bytes: gb}}, []int64{200e9, 200e9}},
		{"three to one", []int64{10 * gb}, []Flow{{Route: []int32{0}, Bytes: 3 * gb, Weight: 3}, {Route: []int32{0}, Bytes: gb}}, []int64{400e9, 400e9}},
		{"a flow that ends leaves its share", []int64{10 * gb},
			[]Flow{{Route: []int32{0}, Bytes: gb}, {Route: []int32{0}, Bytes: 2 * gb}}, []int64{200e9, 300e9}},
		{"a flow that comes takes its share", []int64{10 * gb},
			[]Flow{{Route: []int32{0}, Bytes: 2 * gb}, {Route: []int32{0}, Bytes: gb, Start: 100e9}}, []int64{300e9, 300e9}},
		{"the rest goes to who can use it", []int64{10 * gb, 2 * gb},
			[]Flow{{Route: []int32{0, 1}, Bytes: gb}, {Route: []int32{0}, Bytes: 8 * gb}}, []int64{500e9, 900e9}},
		{"rounded up", []int64{3}, []Flow{{Route: []int32{0}, Bytes: 1}}, []int64{333_333_333_334}},
		{"no links, no time", []int64{1}, []Flow{{Bytes: gb, Start: 7}}, []int64{7}},
		{"no bytes, no time", []int64{1}, []Flow{{Route: []int32{0}, Start: 7}}, []int64{7}},
		{"a dead link", []int64{0}, []Flow{{Route: []int32{0}, Bytes: 1}}, []int64{Never}},
	}
	for _, tt := range tests {
		if got := Finish(tt.links, tt.flows); !slices.Equal(got, tt.ends) {
			t.Errorf("%s: ends at %v, want %v", tt.name, got, tt.ends)
		}
	}
}

// Two jobs whose phases align share the uplink all the time; one alone has it for itself;
// hidden communication costs nothing while the computation lasts.
func TestIterationsByHand(t *testing.T) {
	job := func(start, compute, hidden int64) Job {
		return Job{Start: start, Compute: []int64{compute}, Hidden: hidden, Iterations: 3,
			Edges: []Edge{{Route: []int32{0}, Bytes: gb}}}
	}
	tests := []struct {
		name string
		jobs []Job
		want [][]int64
	}{
		{"alone", []Job{job(5, 50e9, 0)}, [][]int64{{150e9 + 5, 300e9 + 5, 450e9 + 5}}},
		{"aligned", []Job{job(0, 50e9, 0), job(0, 50e9, 0)}, [][]int64{{250e9, 500e9, 750e9}, {250e9, 500e9, 750e9}}},
		{"interleaved", []Job{job(0, 100e9, 0), job(100e9, 100e9, 0)}, [][]int64{{200e9, 400e9, 600e9}, {300e9, 500e9, 700e9}}},
		{"half hidden", []Job{job(0, 60e9, 40e9)}, [][]int64{{120e9, 240e9, 360e9}}},
		{"all hidden", []Job{job(0, 160e9, 140e9)}, [][]int64{{160e9, 320e9, 480e9}}},
	}
	for _, tt := range tests {
		if got := Iterations([]int64{10 * gb}, tt.jobs, Never); !slices.EqualFunc(got, tt.want, slices.Equal) {
			t.Errorf("%s: ends at %v, want %v", tt.name, got, tt.want)
		}
	}
	endless := job(0, 50e9, 0)
	endless.Iterations, endless.Compute = 0, []int64{50e9, 70e9}
	if got := Iterations([]int64{10 * gb}, []Job{endless}, 500e9); !slices.Equal(got[0], []int64{150e9, 320e9, 470e9}) {
		t.Errorf("endless: ends at %v", got)
	}
}

// The certificate of max-min: no link is over its capacity, and every flow has a link
// that is full, but for the rounding, on which nobody gets more per weight.
func TestSharesAreMaxMin(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		capacity, routes, weights := randomNet(r)
		rates := make([]int64, len(routes))
		Shares(capacity, routes, weights, rates)
		load := make([]int64, len(capacity))
		for i, route := range routes {
			for _, l := range route {
				load[l] += rates[i]
			}
		}
		for i, route := range routes {
			if !slices.ContainsFunc(route, func(l int32) bool { return bottleneck(l, i, capacity, load, routes, weights, rates) }) {
				t.Errorf("seed %d: flow %d at %d has no bottleneck", seed, i, rates[i])
			}
		}
		for l := range capacity {
			if load[l] > capacity[l] {
				t.Errorf("seed %d: link %d carries %d of %d", seed, l, load[l], capacity[l])
			}
		}
	}
}

func bottleneck(l int32, i int, capacity, load []int64, routes [][]int32, weights, rates []int64) bool {
	unit := rates[i] / weights[i]
	total := int64(0)
	for k, route := range routes {
		if slices.Contains(route, l) {
			total += weights[k]
			if rates[k]/weights[k] > unit+total {
				return false
			}
		}
	}
	return capacity[l]-load[l] <= 2*total*total
}

func randomNet(r *rand.Rand) (capacity []int64, routes [][]int32, weights []int64) {
	for range 1 + r.IntN(8) {
		capacity = append(capacity, 1e6+r.Int64N(1e9))
	}
	for range 1 + r.IntN(20) {
		var route []int32
		for l := range capacity {
			if r.IntN(3) == 0 {
				route = append(route, int32(l))
			}
		}
		if len(route) == 0 {
			route = []int32{int32(r.IntN(len(capacity)))}
		}
		routes = append(routes, route)
		weights = append(weights, 1+r.Int64N(3))
	}
	return capacity, routes, weights
}

// Bytes are conserved, a flow never ends before it could alone, and the order of equal
// starts does not matter.
func TestFlowInvariants(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 2))
		capacity, routes, weights := randomNet(r)
		flows := make([]Flow, len(routes))
		for i := range flows {
			flows[i] = Flow{Route: routes[i], Bytes: 1 + r.Int64N(1e9), Start: r.Int64N(3) * 1e11, Weight: weights[i]}
		}
		ends := Finish(capacity, flows)
		last, carried := int64(0), make([]int64, len(capacity))
		for i, f := range flows {
			alone := Finish(capacity, []Flow{f})[0]
			if ends[i] < alone || ends[i] == Never {
				t.Errorf("seed %d: flow %d ends at %d, alone at %d", seed, i, ends[i], alone)
			}
			last = max(last, ends[i])
			for _, l := range f.Route {
				carried[l] += f.Bytes
			}
		}
		for l := range capacity {
			if float64(carried[l]) > float64(capacity[l])*float64(last)/1e12*1.000001 {
				t.Errorf("seed %d: link %d carried %d bytes in %d ps at %d a second", seed, l, carried[l], last, capacity[l])
			}
		}
		slices.Reverse(flows)
		back := Finish(capacity, flows)
		slices.Reverse(back)
		if !slices.Equal(back, ends) {
			t.Errorf("seed %d: the order of the flows matters: %v, %v", seed, ends, back)
		}
	}
}

// k times the bandwidth and a k-th of the start times is a k-th of all times.
func TestScale(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	capacity, routes, weights := randomNet(r)
	flows := make([]Flow, len(routes))
	for i := range flows {
		flows[i] = Flow{Route: routes[i], Bytes: 1e8, Start: r.Int64N(5) * 8e10, Weight: weights[i]}
	}
	slow := Finish(capacity, flows)
	for i := range flows {
		flows[i].Start /= 8
	}
	for l := range capacity {
		capacity[l] *= 8
	}
	for i, end := range Finish(capacity, flows) {
		if d := float64(end*8)/float64(slow[i]) - 1; d < -1e-6 || d > 1e-6 {
			t.Errorf("flow %d: %d and %d", i, slow[i], end)
		}
	}
}

func BenchmarkFinish(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	capacity, routes, _ := randomNet(r)
	flows := make([]Flow, 200)
	for i := range flows {
		flows[i] = Flow{Route: routes[i%len(routes)], Bytes: 1 + r.Int64N(1e9)}
	}
	for b.Loop() {
		Finish(capacity, flows)
	}
}
