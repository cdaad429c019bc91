package stats

import (
	"math"
	"slices"
	"testing"
)

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   float64
	}{
		{[]float64{7}, 7},
		{[]float64{3, 1, 2}, 2},
		{[]float64{4, 1, 3, 2}, 2.5},
		{[]float64{-inf, -1, 5, inf}, 2},
		{[]float64{-inf, inf}, 0},
		{[]float64{-inf, -inf, inf, inf}, 0},
		{[]float64{3, inf}, inf},
		{[]float64{-inf, 3}, -inf},
		{[]float64{inf, inf}, inf},
		{[]float64{math.MaxFloat64, math.MaxFloat64 / 2}, math.MaxFloat64 * 0.75},
	} {
		if got := Median(c.values); got != c.want {
			t.Errorf("Median(%v) = %v, want %v", c.values, got, c.want)
		}
		if got := Median(negated(c.values)); got != -c.want {
			t.Errorf("Median(%v) = %v, want %v", negated(c.values), got, -c.want)
		}
	}
	mustPanic(t, func() { Median(nil) })
	mustPanic(t, func() { Median([]float64{1, math.NaN()}) })
}

func negated(values []float64) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = -v
	}
	return out
}

// Few values have few resamples: every one of n^n, with the quantiles of their medians.
func everyResample(values []float64) []float64 {
	n := len(values)
	var medians []float64
	for code := range int(math.Pow(float64(n), float64(n))) {
		resample := make([]float64, n)
		for i := range resample {
			resample[i] = values[code%n]
			code /= n
		}
		medians = append(medians, Median(resample))
	}
	slices.Sort(medians)
	return medians
}

func TestMedianIntervalAgainstEveryResample(t *testing.T) {
	for _, values := range [][]float64{{1, 2, 4, 8, 16, 32}, {0, 0, 0, 5, 6, 7}, {3, 1, 2, 10, 100}} {
		all := everyResample(values)
		for _, confidence := range []float64{0.5, 0.8, 0.95} {
			got, ok := MedianInterval(values, confidence, 1)
			// 10,000 draws hit an end to about half a percent: it lies between the quantiles there.
			for _, end := range []struct{ got, p float64 }{{got.Low, (1 - confidence) / 2}, {got.High, (1 + confidence) / 2}} {
				from := all[max(0, int((end.p-0.015)*float64(len(all))))]
				to := all[min(len(all)-1, int((end.p+0.015)*float64(len(all))))]
				if !ok || end.got < from || end.got > to {
					t.Errorf("%v at %v: %v, want an end in [%v, %v]", values, confidence, got, from, to)
				}
			}
		}
	}
}

func TestMedianInterval(t *testing.T) {
	values := []float64{5, -3, 8, 1, 1, 9, -2, 4, 7, 12}
	a, _ := MedianInterval(values, 0.95, 3)
	if b, _ := MedianInterval(values, 0.95, 3); a != b {
		t.Errorf("the same seed says %v and %v", a, b)
	}
	if b, _ := MedianInterval(negated(values), 0.95, 3); b != (Interval{-a.High, -a.Low}) {
		t.Errorf("negated, %v becomes %v", a, b)
	}
	if wide, _ := MedianInterval(values, 0.999, 3); wide.Low > a.Low || wide.High < a.High {
		t.Errorf("99.9%% %v is not around 95%% %v", wide, a)
	}
	if m := Median(values); m < a.Low || m > a.High {
		t.Errorf("the median %v is not in %v", m, a)
	}
	if _, ok := MedianInterval([]float64{1}, 0.95, 3); ok {
		t.Error("one value has an interval")
	}
	if all, _ := MedianInterval(repeat(4, 9), 0.95, 3); all != (Interval{4, 4}) {
		t.Errorf("of equal values: %v", all)
	}
	mustPanic(t, func() { MedianInterval(values, 1, 3) })
}

// Infinite differences, of jobs that never start on one side, are ends like others.
func TestMedianIntervalOfInfinities(t *testing.T) {
	got, ok := MedianInterval([]float64{1, 2, 3, inf, inf, inf, inf}, 0.95, 1)
	if !ok || !math.IsInf(got.High, 1) || math.IsInf(got.Low, 0) {
		t.Errorf("%v", got)
	}
}

// How often the interval covers the median of what was drawn: about as often as it says.
func TestMedianIntervalCovers(t *testing.T) {
	x := uint64(99)
	normal := func() float64 { // a sum of twelve uniforms is normal enough, with median 0
		sum := -6.0
		for range 12 {
			x = x*6364136223846793005 + 1442695040888963407
			sum += float64(x>>11) * 0x1p-53
		}
		return sum
	}
	for _, c := range []struct{ n, times int }{{15, 100}, {151, 400}} {
		covered := 0
		for i := range c.times {
			values := make([]float64, c.n)
			for k := range values {
				values[k] = normal()
			}
			if got, _ := MedianInterval(values, 0.9, uint64(i)); got.Low <= 0 && got.High >= 0 {
				covered++
			}
		}
		if share := float64(covered) / float64(c.times); share < 0.82 || share > 0.97 {
			t.Errorf("%d values: 90%% intervals cover %.0f%%", c.n, 100*share)
		}
	}
}

// The order statistics of the sign test: for 200 values and 95 %, the 86th and the 115th,
// 1 less than n/2 - 1.96 sqrt(n)/2 = 86.14 having probability 0.02 on each side.
func TestSignInterval(t *testing.T) {
	values := make([]float64, 200)
	for i := range values {
		values[i] = float64(i + 1)
	}
	if got, _ := MedianInterval(values, 0.95, 1); got != (Interval{87, 114}) {
		t.Errorf("%v", got)
	}
	if outside := 2 * (1 - BinomialTail(200, 87, 0.5)); outside > 0.05*1.2 {
		t.Errorf("the median is outside with probability %v", outside)
	}
}

func TestBinomialTail(t *testing.T) {
	for _, c := range []struct {
		n, k int
		p    float64
		want float64
	}{
		{10, 9, 0.5, 11.0 / 1024}, {10, 10, 0.5, 1.0 / 1024}, {10, 0, 0.5, 1}, {10, 11, 0.5, 0}, {0, 0, 0.3, 1},
		{5, 5, 0.9, 0.59049}, {4, 2, 0.25, 1 - 0.75*0.75*0.75*0.75 - 4*0.25*0.75*0.75*0.75},
		{29, 29, 0.9, math.Pow(0.9, 29)}, // the success run theorem: 29 of 29 for 90 % with confidence 95 %
	} {
		if got := BinomialTail(c.n, c.k, c.p); math.Abs(got-c.want) > 1e-15 {
			t.Errorf("BinomialTail(%d, %d, %v) = %v, want %v", c.n, c.k, c.p, got, c.want)
		}
	}
}

func TestMeanError(t *testing.T) {
	mean, e := MeanError([]float64{2, 4, 4, 4, 5, 5, 7, 9}) // squares of deviations: 32
	if math.Abs(mean-5) > 1e-15 || math.Abs(e-math.Sqrt(32.0/56)) > 1e-15 {
		t.Errorf("%v, %v", mean, e)
	}
	mustPanic(t, func() { MeanError([]float64{1}) })
}
