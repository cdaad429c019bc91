package fabric

import "testing"

// What leaves a domain, per byte: n = 8m ranks. Times are phi x 25 ms for 1e9 bytes over
// 40 GB/s, unless the domain's own 100 GB/s are slower.
func TestPhi(t *testing.T) {
	tests := []struct {
		alg       Algorithm
		op        Collective
		two, four float64
	}{
		{Ring, AllReduce, 1, 2. * 31 / 32},
		{Tree, AllReduce, 1, 2},
		{Hierarchical, AllReduce, 1, 1.5},
		{InNetwork, AllReduce, 1, 1},
		{HalvingDoubling, AllReduce, 1, 1.5},
		{Direct, AllReduce, 8, 12},
		{Ring, ReduceScatter, 15. / 16, 31. / 32},
		{Tree, AllGather, 15. / 16, 31. / 32},
		{Hierarchical, ReduceScatter, 0.5, 0.75},
		{InNetwork, AllGather, 1, 1},
		{HalvingDoubling, AllGather, 0.5, 0.75},
		{Direct, ReduceScatter, 4, 6},
	}
	c := regular(t, "host", 4)
	for _, tt := range tests {
		p := bare()
		p.Algorithm = tt.alg
		p.DomainBusBW = 1e6
		f := compile(t, p, c, nil)
		s := NewScratch(f)
		two, four := f.Collect(s, podsOn(8000, 0, 1), Traffic{Collective: tt.op, Bytes: 1e9}), f.Collect(s, podsOn(8000, 0, 1, 2, 3), Traffic{Collective: tt.op, Bytes: 1e9})
		if two.Nanos != int64(tt.two*25e6) || four.Nanos != int64(tt.four*25e6) {
			t.Errorf("%v %s: %v and %v", tt.alg, Collectives[tt.op], two, four)
		}
	}
}

// A reduce-scatter and an all-gather take half the time of a ring's all-reduce each, in a
// domain and over many.
func TestHalves(t *testing.T) {
	f := compile(t, bare(), regular(t, "rack host", 2, 4), oversubscribed("rack", 4))
	s := NewScratch(f)
	for _, pods := range [][]Pod{podsOn(4000, 0, 0), podsOn(8000, 0, 4, 1, 5), podsOn(2000, 1, 2, 3)} {
		whole := f.Collect(s, pods, Traffic{Collective: AllReduce, Bytes: 1e9})
		for _, op := range []Collective{ReduceScatter, AllGather} {
			half := f.Collect(s, pods, Traffic{Collective: op, Bytes: 1e9})
			if d := 2*half.Nanos - whole.Nanos; d < 0 || d > 1 || half.Level != whole.Level {
				t.Errorf("%v: %s takes %v, the all-reduce %v", pods, Collectives[op], half, whole)
			}
		}
	}
}

// Steps of the algorithms over eight domains, each 7 us: both ways of an all-reduce, one
// of an all-gather.
func TestHopsOfCollectives(t *testing.T) {
	for alg, steps := range []int64{14, 6, 14, 2, 6, 2} {
		p := bare()
		p.Algorithm, p.HopMicros = Algorithm(alg), 7
		f := compile(t, p, regular(t, "host", 8), nil)
		if both, one := f.hops(AllReduce, 8), f.hops(AllGather, 8); both != float64(steps*7000) || one*2 != both {
			t.Errorf("%s: %v and %v ns, want %d steps", Algorithms[alg], both, one, steps)
		}
	}
}

// By hand: four ranks, 4000 bytes at 10 bytes/ns, 100 ns a link, 10 ns an endpoint.
func TestMultiDimByHand(t *testing.T) {
	dim := func(n, hops int64, alg Algorithm) Dim {
		return Dim{Ranks: n, Rate: 10, Latency: 100, Hops: hops, Algorithm: alg}
	}
	stored := dim(4, 2, Ring)
	stored.StoreForward = true
	tests := []struct {
		name     string
		dims     []Dim
		schedule Schedule
		want     int64
		op       Collective
	}{
		{"ring", []Dim{dim(4, 1, Ring)}, Nested, 6*(200+10) + 10, AllReduce},
		{"over a switch", []Dim{dim(4, 2, Ring)}, Nested, 6*(300+10) + 10, AllReduce},
		{"store and forward", []Dim{stored}, Nested, 6*(400+10) + 10, AllReduce},
		{"direct", []Dim{dim(4, 1, Direct)}, Nested, 2*(200+10) + 10, AllReduce},
		{"halving and doubling", []Dim{dim(4, 1, HalvingDoubling)}, Nested, 2*(300+10) + 2*(200+10) + 10, AllReduce},
		{"nested", []Dim{dim(4, 1, Ring), dim(2, 1, Ring)}, Nested, 2*(3*(200+10)+10) + 2*(150+10) + 10, AllReduce},
		{"one after the other", []Dim{dim(4, 1, Ring), dim(2, 1, Ring)}, PerDim, 6*(200+10) + 10 + 2*(300+10) + 10, AllReduce},
		{"scattered", []Dim{dim(4, 1, Ring), dim(2, 1, Ring)}, Nested, 3*(200+10) + 10 + (150 + 10) + 10, ReduceScatter},
		{"gathered", []Dim{dim(4, 1, Ring), dim(2, 1, Ring)}, Nested, 3*(200+10) + 10 + (150 + 10) + 10, AllGather},
	}
	for _, tt := range tests {
		if got, ok := MultiDim(tt.op, tt.dims, 4000, 10, tt.schedule); got != tt.want || !ok {
			t.Errorf("%s: got %d %v, want %d", tt.name, got, ok, tt.want)
		}
	}
	for _, d := range []Dim{dim(4, 1, Tree), dim(6, 1, HalvingDoubling)} {
		if _, ok := MultiDim(AllReduce, []Dim{d}, 4000, 10, Nested); ok {
			t.Errorf("%v among %d has no such form", d.Algorithm, d.Ranks)
		}
	}
}

// Chunks keep both links busy only if there are enough of them.
func TestPipelined(t *testing.T) {
	d := Dim{Ranks: 4, Rate: 10, Latency: 100, Hops: 2, StoreForward: true}
	if got, ok := d.Pipelined(160_000, 10, 4); got != 6*4*1000+1000+200+20 || !ok {
		t.Errorf("got %d, %v", got, ok)
	}
	if _, ok := d.Pipelined(4000, 10, 2); ok {
		t.Error("two chunks of 50 ns do not fill a lap of 310 ns")
	}
}
