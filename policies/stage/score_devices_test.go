package stage

import (
	"math"
	"testing"

	"github.com/gangplan/gangplan/sim/devices"
)

// site has so many milli-cores, and GPUs with so much free.
func site(cpu int64, free ...int32) *Site {
	s := &Site{CPU: cpu, GPUs: devices.NewSet(len(free))}
	for i, f := range free {
		s.GPUs.Take(1<<i, devices.Whole-f)
	}
	return s
}

func guest(cpu int64, count, milli int32) *Guest {
	return &Guest{CPU: cpu, Ask: devices.Ask{Count: count, Milli: milli}}
}

var machine = Largest{CPU: 128000, GPU: 8000}

func TestDeviceScorersByHand(t *testing.T) {
	clustered := func(classes uint32) *Site {
		s := site(64000, 1000, 1000, 0, 0)
		s.Classes = classes
		return s
	}
	for _, c := range []struct {
		name string
		by   DeviceScorer
		g    *Guest
		s    *Site
		want int64
	}{
		// 100 (1 - (64000/128000 x 32000/128000 + 4/8 x 2/8) / 2) = 100 (1 - 0.125)
		{"dot product", DotProduct{most: machine}, guest(32000, 2, 1000), site(64000, 1000, 1000, 1000, 1000), 87},
		{"dot product without GPUs", DotProduct{most: machine}, guest(32000, 0, 0), site(64000, 1000, 1000), 93},
		// 100 (1 - (0.5 x 32000/128000 + 0.5 x 2000/8000)) = 75
		{"best fit", TightFit{most: machine}, guest(32000, 2, 1000), site(64000, 1000, 1000, 1000, 1000), 75},
		{"clustering, alone", Clustering{most: machine}, guest(0, 1, 500), clustered(1), 75 + 18},
		{"clustering, among others", Clustering{most: machine}, guest(0, 1, 500), clustered(1 | 1<<2), 50 + 18},
		{"clustering, empty", Clustering{most: machine}, guest(0, 1, 500), clustered(0), 25 + 18},
		{"clustering, strangers", Clustering{most: machine}, guest(0, 2, 1000), clustered(1 | 1<<1), 18},
		{"clustering, own number", Clustering{most: machine}, guest(0, 2, 1000), clustered(1 << 2), 75 + 18},
		{"clustering without GPUs", Clustering{most: machine}, guest(1, 0, 0), clustered(1), 0},
		{"packing, an empty node of 8", Packing{}, guest(0, 1, 500), site(1, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000), 25},
		{"packing, an empty node of 1", Packing{}, guest(0, 1, 500), site(1, 1000), 32},
		{"packing, opens one", Packing{}, guest(0, 1, 500), site(1, 1000, 300), 49},
		{"packing, opens four", Packing{}, guest(0, 4, 1000), site(1, 1000, 1000, 1000, 1000, 300), 46},
		{"packing, a used GPU", Packing{}, guest(0, 1, 300), site(1, 1000, 370), 97},
		{"packing without GPUs", Packing{}, guest(1, 0, 0), site(1, 1000), 0},
	} {
		if got := c.by.Score(c.g, c.s); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

func TestTypicalOf(t *testing.T) {
	kinds := []Typical{
		{Guest: *guest(1, 1, 500), Count: 40}, {Guest: *guest(2, 1, 500), Count: 40}, {Guest: *guest(3, 0, 0), Count: 15},
		{Guest: *guest(4, 1, 1000), Count: 5, Spec: "A"}, {Guest: *guest(4, 1, 1000), Count: 5, Spec: "B"},
	}
	got := TypicalOf(kinds) // 100 of 105 are needed: 40, 40, 15, and the later spec of the equals
	if len(got) != 4 || got[0].CPU != 2 || got[1].CPU != 1 || got[2].CPU != 3 || got[3].Spec != "B" {
		t.Errorf("%+v", got)
	}
}

// Half of the pods want 0.6 of a GPU of model 0 with 4 cores, half no GPU with 8 cores.
func TestFragmentsByHand(t *testing.T) {
	part := *guest(4000, 1, 600)
	part.Models = 1
	f := NewFragments([]Typical{{Guest: part, Count: 1}, {Guest: *guest(8000, 0, 0), Count: 1}})
	other := site(9000, 1000, 500)
	other.Model = 1
	for _, c := range []struct {
		name string
		s    *Site
		want float64
	}{
		{"the half GPU is of no use to the one, all to the other", site(9000, 1000, 500), 250 + 750},
		{"no GPU has enough", site(9000, 500, 500), 500 + 500},
		{"no CPU", site(1000, 1000, 500), 750 + 750},
		{"neither", site(1000, 500, 500), 500 + 500},
		{"another model", other, 750 + 750},
		{"nothing free", site(9000, 0, 0), 0},
	} {
		if got := f.Amount(c.s); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestFGD(t *testing.T) {
	f := FGD{NewFragments([]Typical{{Guest: *guest(0, 1, 1000), Count: 9}, {Guest: *guest(0, 1, 300), Count: 1}})}
	used, fresh := site(1, 300, 1000), site(1, 1000, 1000)
	if a, b := f.Score(guest(0, 1, 300), used), f.Score(guest(0, 1, 300), fresh); a <= b {
		t.Errorf("the part that is left over scores %d, a fresh GPU %d", a, b)
	}
	if m := f.Pick(guest(0, 1, 300), used); m != 1 {
		t.Errorf("picks %b, want the part that is left over", m)
	}
	if m := f.Pick(guest(0, 1, 300), site(1, 1000, 1000, 300)); m != 4 {
		t.Errorf("picks %b, want the last", m)
	}
	if m := f.Pick(guest(0, 2, 1000), site(1, 300, 1000, 1000, 1000)); m != 2|4 {
		t.Errorf("picks %b, want the first two free ones", m)
	}
	if s := f.Score(guest(0, 0, 0), used); s != 50 {
		t.Errorf("a pod that changes nothing scores %d", s)
	}
}

// Many widths are measured the slow way; the amount is the same.
func TestFragmentsOfManyWidths(t *testing.T) {
	var kinds []Typical
	for w := range int32(100) {
		kinds = append(kinds, Typical{Guest: *guest(0, 1, w+1), Count: 1})
	}
	f := NewFragments(kinds)
	s, want := site(0, 50, 1000), 0.0
	for i := range f.kinds {
		if f.kinds[i].Ask.Milli > 50 {
			want += 50 * f.kinds[i].share
		}
	}
	if got := f.Amount(s); math.Abs(got-want) > 1e-9 {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestSigmoid(t *testing.T) {
	for i := 1; i < len(sigmoidSteps); i++ {
		if sigmoidSteps[i] <= sigmoidSteps[i-1] {
			t.Fatalf("step %d does not rise", i)
		}
	}
	for x := -9.0; x < 9; x += 0.00037 {
		if got, want := sigmoid100(x), int64(100/(1+math.Exp(-x))); got != want {
			t.Fatalf("%v: %d, want %d", x, got, want)
		}
	}
	// Around 0 e^-x is 1 - x, rounded to multiples of 2^-52; 2 + 2^-52 is a tie that goes to 2.
	for x, want := range map[float64]int64{0: 50, 1e-17: 50, -1e-16: 50, -3.3e-16: 50, -3.4e-16: 49, -1e-12: 49, 1e-12: 50} {
		if got := sigmoid100(x); got != want {
			t.Errorf("%v: %d, want %d", x, got, want)
		}
	}
	if sigmoid100(-1e9) != 0 || sigmoid100(1e9) != 99 {
		t.Error("the ends are not 0 and 99")
	}
}
