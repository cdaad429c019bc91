package workloads

import (
	"math"
	"testing"
)

func TestHourWeightsAreASineWithTheMeanKept(t *testing.T) {
	var sum uint64
	for h, w := range hourWeights {
		sum += w
		want := math.Round(1000 * (1 + math.Sin(2*math.Pi*(float64(h)+0.5-10)/24)/2))
		if float64(w) != want {
			t.Errorf("hour %d weighs %d, want %v", h, w, want)
		}
	}
	if sum != 24_000 || dayWeight != sum*hourMillis {
		t.Errorf("the hours weigh %d together", sum)
	}
}

func TestCumulative(t *testing.T) {
	cases := []struct {
		startHour int
		ms, want  uint64
	}{
		{0, 0, 0},
		{0, 1, 696},
		{0, hourMillis, 696 * hourMillis},
		{0, hourMillis + 2, 696*hourMillis + 2*603},
		{23, hourMillis + 2, 809*hourMillis + 2*696}, // around midnight
		{0, dayMillis, dayWeight},
		{17, dayMillis, dayWeight},
		{17, 3 * dayMillis, 3 * dayWeight},
	}
	for _, c := range cases {
		if got := (rhythm{c.startHour}).cumulative(c.ms); got != c.want {
			t.Errorf("from %d:00, after %d ms: %d, want %d", c.startHour, c.ms, got, c.want)
		}
	}
}

// inverse(rate) is the last millisecond whose cumulative rate is at most rate.
func TestInverseInvertsCumulative(t *testing.T) {
	for startHour := range 24 {
		r := rhythm{startHour}
		for ms := uint64(0); ms < 3*dayMillis; ms += 1_234_567 {
			at := r.cumulative(ms)
			if got := r.inverse(at); got != ms {
				t.Fatalf("from %d:00: inverse(cumulative(%d)) = %d", startHour, ms, got)
			}
			if next := r.cumulative(ms + 1); r.inverse(next-1) != ms {
				t.Fatalf("from %d:00: inverse just before %d ms = %d", startHour, ms+1, r.inverse(next-1))
			}
		}
	}
}
