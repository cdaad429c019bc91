package fabric

import "testing"

// Domains of a benchmark are packed under the profile's switches: a ring that leaves one
// of them is as fast as its uplink lets it be.
func TestAlone(t *testing.T) {
	p := bare()
	p.Tiers = [MaxTiers]Tier{{Hosts: 4, Oversubscription: 1}, {Hosts: 8, Oversubscription: 32}}
	tests := []struct {
		domains int
		level   string
		ms      float64 // c phi S over 40 GB/s, or over 8 x 40 / 32 = 10 GB/s
	}{
		{1, "nvlink", 17.5}, {2, "nic", 25}, {4, "nic", 48.4375}, {8, "nic", 2 * 63. / 64 * 25}, {16, "pod", 2 * 127. / 128 * 100},
	}
	for _, tt := range tests {
		f, pods, err := Alone(p, tt.domains, 8)
		if err != nil {
			t.Fatal(err)
		}
		cost := f.AllReduce(NewScratch(f), pods, 1e9)
		if cost.Nanos != int64(tt.ms*1e6) || f.LevelName(cost.Level) != tt.level {
			t.Errorf("%d domains: %d ns at %s, want %v ms at %s", tt.domains, cost.Nanos, f.LevelName(cost.Level), tt.ms, tt.level)
		}
	}
	f, pods, err := Alone(p, 1, 1)
	if err != nil || f.LevelName(f.AllReduce(NewScratch(f), pods, 1).Level) != "none" {
		t.Errorf("one rank: %v", err)
	}
	for _, bad := range [][2]int{{0, 8}, {1, 0}, {1, 9}} {
		if _, _, err := Alone(p, bad[0], bad[1]); err == nil {
			t.Errorf("%v domains and GPUs were taken", bad)
		}
	}
}

// A bound per host counts where the ring leaves a domain of the level, and only there.
func TestHostBound(t *testing.T) {
	f := compile(t, bare(), regular(t, "rack host", 2, 4), map[string]Level{"rack": {Oversubscription: 1, Efficiency: 1, HostGBps: 12.5}})
	s := NewScratch(f)
	if got := f.AllReduce(s, podsOn(8000, 0, 1), 1e9); got != (Cost{25e6, 1}) {
		t.Errorf("in a rack: %v", got)
	}
	if got := f.AllReduce(s, podsOn(8000, 0, 4), 1e9); got != (Cost{80e6, 0}) {
		t.Errorf("over racks: %v", got)
	}
	sizes := make([]int32, 5)
	for i := range sizes {
		sizes[i] = 8000
	}
	best, placed := f.BestAllReduce(s, sizes, 1e9), f.AllReduce(s, podsOn(8000, 0, 1, 2, 3, 4), 1e9)
	if best != placed || best.Level != 0 {
		t.Errorf("at best %v, as placed %v", best, placed)
	}
	var l Load
	if f.Load(s, podsOn(8000, 0, 4), Traffic{Bytes: 1e9}, &l); l.Idle != (Cost{80e6, 0}) || l.private != 80e6 {
		t.Errorf("the load is %+v", l)
	}
}

// A level's latency is paid by the steps of a ring that crosses it: an all-reduce over m
// domains goes log2 m there and back, by small messages as by large ones, and at the best
// place where that crosses it too.
func TestLevelLatency(t *testing.T) {
	p := bare()
	p.Inter.A0, p.Inter.B0 = 10, 1
	plain := regular(t, "zone rack host", 2, 2, 2)
	with := compile(t, p, plain, map[string]Level{"zone": {1, 1, 0, 500}, "rack": {1, 1, 0, 3}})
	none := compile(t, p, plain, nil)
	tests := []struct {
		pods   []Pod
		op     Collective
		micros int64
	}{
		{podsOn(8000, 0, 1), AllReduce, 0}, {podsOn(8000, 0, 2), AllReduce, 2 * 3}, {podsOn(8000, 0, 1, 2, 3), AllReduce, 4 * 3},
		{podsOn(8000, 0, 4), AllReduce, 2 * 500}, {podsOn(8000, 0, 1, 4), AllReduce, 4 * 500}, {podsOn(8000, 0, 1, 4), AllGather, 2 * 500},
		{podsOn(8000, 0, 1, 4), FullyShard, 6 * 500},
	}
	for _, tt := range tests {
		for _, bytes := range []int64{1, gib} {
			traffic := Traffic{Collective: tt.op, Bytes: bytes}
			slow, fast := with.Collect(NewScratch(with), tt.pods, traffic), none.Collect(NewScratch(none), tt.pods, traffic)
			if d := slow.Nanos - fast.Nanos - tt.micros*1000; d < -1 || d > 1 {
				t.Errorf("%v, %d bytes: %d ns more, want %d us", tt.pods, bytes, slow.Nanos-fast.Nanos, tt.micros)
			}
			var l Load
			if with.Load(NewScratch(with), tt.pods, traffic, &l); l.Idle != slow {
				t.Errorf("the load says %v, not %v", l.Idle, slow)
			}
		}
	}
	five := podsOn(8000, 0, 1, 2, 3, 4)
	if best, placed := with.BestAllReduce(NewScratch(with), sizesOf(five), gib), with.AllReduce(NewScratch(with), five, gib); best != placed {
		t.Errorf("at best %v, as placed %v", best, placed)
	}
}
