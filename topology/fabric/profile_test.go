package fabric

import (
	"math"
	"testing"
)

// The table proves of every shipped profile what BestAllReduce relies on: leaving a domain
// never makes anything faster.
func TestShippedProfiles(t *testing.T) {
	for _, name := range Names() {
		p, ok := Lookup(name)
		if !ok || p.Name != name || p.Source == "" || p.DomainGPUs < 1 {
			t.Errorf("%s: found %v: %+v", name, ok, p)
		}
		if err := p.Validate(); err != nil {
			t.Error(err)
		}
		if p.Inter.A0 < p.Intra.A0 || p.Inter.B0 > p.Intra.B0 || p.Inter.A1 < p.Intra.A1 {
			t.Errorf("%s: latency between domains %+v is below that within one %+v", name, p.Inter, p.Intra)
		}
	}
	if _, ok := Lookup("H100-NDR"); ok {
		t.Error("names are exact")
	}
}

func TestProfileErrors(t *testing.T) {
	tests := []struct {
		name   string
		change func(*Profile)
		want   string
	}{
		{"no domain bandwidth", func(p *Profile) { p.DomainBusBW = 0 }, "domain bus bandwidth: expected a number above 0, got 0"},
		{"no NICs", func(p *Profile) { p.NICs = 0 }, "NICs: expected a number above 0, got 0"},
		{"NaN", func(p *Profile) { p.NICGBps = math.NaN() }, "NIC bandwidth: expected a number above 0, got NaN"},
		{"infinite", func(p *Profile) { p.Inter.B0 = math.Inf(1) }, "inter b0: expected a number above 0, got +Inf"},
		{"negative", func(p *Profile) { p.Intra.B0 = -1 }, "intra b0: expected a number above 0, got -1"},
		{"efficiency", func(p *Profile) { p.NetEfficiency = 1.01 }, "net efficiency: expected at most 1, got 1.01"},
		{"latency", func(p *Profile) { p.Intra.A1 = -69 }, "a latency of -69 microseconds"},
		{"algorithm", func(p *Profile) { p.Algorithm = 9 }, "unknown algorithm 9"},
		{"order", func(p *Profile) { p.Order = 3 }, "unknown rank order 3"},
	}
	c := regular(t, "host", 1)
	for _, tt := range tests {
		p := h100(t)
		tt.change(&p)
		f, err := New(p, c, nil)
		if want := `fabric profile "h100-ndr": ` + tt.want; err == nil || err.Error() != want || f != nil {
			t.Errorf("%s: got %v, want %s", tt.name, err, want)
		}
	}
}

func TestLevelErrors(t *testing.T) {
	nan := math.NaN()
	tests := []struct {
		levels map[string]Level
		want   string
	}{
		{map[string]Level{"zone": full, "pod": full}, `fabric level "pod": the cluster has no such level`},
		{map[string]Level{"rack": {0.5, 1, 0, 0}}, `fabric level "rack": oversubscription: expected a number of at least 1, got 0.5`},
		{map[string]Level{"rack": {nan, 1, 0, 0}}, `fabric level "rack": oversubscription: expected a number of at least 1, got NaN`},
		{map[string]Level{"rack": {math.Inf(1), 1, 0, 0}}, `fabric level "rack": oversubscription: expected a number of at least 1, got +Inf`},
		{map[string]Level{"host": {1, 0, 0, 0}}, `fabric level "host": efficiency: expected a number above 0 and at most 1, got 0`},
		{map[string]Level{"host": {1, 1.5, 0, 0}}, `fabric level "host": efficiency: expected a number above 0 and at most 1, got 1.5`},
		{map[string]Level{"host": {1, 1, nan, 0}}, `fabric level "host": host bandwidth: expected a number of at least 0, got NaN`},
		{map[string]Level{"host": {1, 1, 0, -1}}, `fabric level "host": latency: expected a number of at least 0, got -1`},
		{map[string]Level{"host": {1, nan, 0, 0}}, `fabric level "host": efficiency: expected a number above 0 and at most 1, got NaN`},
	}
	c := regular(t, "rack host", 1, 2)
	for _, tt := range tests {
		if f, err := New(h100(t), c, tt.levels); err == nil || err.Error() != tt.want || f != nil {
			t.Errorf("%v: got %v, want %s", tt.levels, err, tt.want)
		}
	}
}

// C_X is the NICs of a domain's hosts with GPUs over the oversubscription, times both
// efficiencies. Here 4 NICs of 10 GB/s per host at 0.5, and racks of 3:1 at 0.75.
func TestUplink(t *testing.T) {
	p := bare()
	p.NetEfficiency = 0.5
	c := racksOf(t, []int64{8, 8, 8}, []int64{8, 0}, []int64{0})
	f := compile(t, p, c, map[string]Level{"rack": {Oversubscription: 3, Efficiency: 0.75}})
	for rack, want := range []float64{15, 5, 0} {
		if got := f.Uplink(int32(rack)); got != want {
			t.Errorf("uplink of rack %d is %v, want %v", rack, got, want)
		}
	}
	if f.Profile() != p {
		t.Errorf("profile is %+v", f.Profile())
	}
}
