package compare

import (
	"math"
	"testing"

	"github.com/gangplan/gangplan/internal/stats"
	"github.com/gangplan/gangplan/report"
)

var inf = math.Inf(1)

func metricOf(t *testing.T, name string) *report.Metric {
	t.Helper()
	m, ok := report.LookupMetric(name)
	if !ok {
		t.Fatalf("no metric %s", name)
	}
	return m
}

// rowOfPairs compares pairs, given as A, B, A, B.
func rowOfPairs(m *report.Metric, pairs ...float64) Row {
	var a, b, ds []float64
	for i := 0; i < len(pairs); i += 2 {
		a, b, ds = append(a, pairs[i]), append(b, pairs[i+1]), append(ds, minus(pairs[i+1], pairs[i]))
	}
	return pairedRow(m, a, b, ds, 0.95)
}

func TestVerdicts(t *testing.T) {
	wait, useful, jobs := metricOf(t, "wait.p95_seconds"), metricOf(t, "utilisation"), metricOf(t, "jobs.submitted")
	requeues := metricOf(t, "requeues")
	six := func(a, b float64) (pairs []float64) {
		for i := range 6 {
			pairs = append(pairs, a+float64(i), b+float64(2*i))
		}
		return pairs
	}
	for _, c := range []struct {
		name  string
		row   Row
		want  Verdict
		test  string
		level float64
	}{
		{"one pair, a count", rowOfPairs(requeues, 3, 5), Worse, exact, 0.05},
		{"one pair, a count that falls", rowOfPairs(requeues, 5, 3), Better, exact, 0.05},
		{"one pair, no direction", rowOfPairs(jobs, 5, 3), Changed, exact, 0.05},
		{"one pair, a quantile", rowOfPairs(wait, 100, 50), Single, untested, 0.05},
		{"one pair, equal", rowOfPairs(wait, 100, 100), Same, untested, 0.05},
		{"equal pairs", rowOfPairs(wait, 1, 1, 2, 2, 3, 3), Same, untested, 0.05},
		{"none ever comes", rowOfPairs(wait, inf, inf, inf, inf), Same, untested, 0.05},
		{"six pairs, lower is better", rowOfPairs(wait, six(100, 50)...), Better, signedRank, 0.05},
		{"six pairs, lower is worse", rowOfPairs(useful, six(100, 50)...), Worse, signedRank, 0.05},
		{"six pairs, no direction", rowOfPairs(jobs, six(100, 50)...), Changed, signedRank, 0.05},
		{"six pairs at a stricter level", rowOfPairs(wait, six(100, 50)...), Unclear, signedRank, 0.01},
		{"five pairs cannot", rowOfPairs(wait, six(100, 50)[:10]...), Unclear, signedRank, 0.05},
		{"both ways", rowOfPairs(wait, 1, 2, 2, 1, 3, 5, 5, 3, 6, 7, 8, 6), Unclear, signedRank, 0.05},
		{"never any more", rowOfPairs(wait, 1, inf, 2, inf, 3, inf, 4, inf, 5, inf, 6, inf), Worse, signedRank, 0.05},
		{"zero at the median, and lower", rowOfPairs(wait, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9, 1, 9, 2, 9, 3, 9, 4, 9, 5, 9, 6), Better, signedRank, 0.05},
	} {
		rows := []Row{c.row}
		adjust(rows, c.level)
		if rows[0].Verdict != c.want || rows[0].Test != c.test {
			t.Errorf("%s: %s by %s, want %s by %s", c.name, rows[0].Verdict, rows[0].Test, c.want, c.test)
		}
	}
}

func TestRowNumbers(t *testing.T) {
	r := rowOfPairs(metricOf(t, "wait.p95_seconds"), 100, 90, 200, 150, 300, 330)
	if *r.A != 200 || *r.B != 150 || *r.Difference != -10 || *r.Relative != -0.05 || r.Lower != 2 || r.Higher != 1 || r.Pairs != 3 {
		t.Errorf("%+v", r)
	}
	if want := stats.SignedRank([]float64{-10, -50, 30}).P; *r.P != want {
		t.Errorf("p %v, want %v", *r.P, want)
	}
	if i, _ := stats.MedianInterval([]float64{-10, -50, 30}, 0.95, bootstrapSeed); *r.Low != i.Low || *r.High != i.High {
		t.Errorf("interval %v to %v, want %v", *r.Low, *r.High, i)
	}
	r = rowOfPairs(metricOf(t, "wait.p95_seconds"), 100, inf)
	if r.B != nil || r.Difference != nil || r.Relative != nil || *r.A != 100 || r.signed(r.d) != "+∞" {
		t.Errorf("%+v", r)
	}
}

// Without pairs the samples are compared as they are.
func TestSamplesRow(t *testing.T) {
	wait := metricOf(t, "wait.p95_seconds")
	low, high := []float64{1, 2, 3, 4}, []float64{11, 12, 13, 14}
	for _, c := range []struct {
		a, b []float64
		want Verdict
	}{{low, high, Worse}, {high, low, Better}, {low, low, Same}, {low, low[:3], Unclear}} {
		rows := []Row{samplesRow(wait, c.a, c.b)}
		if adjust(rows, 0.05); rows[0].Verdict != c.want {
			t.Errorf("%v, %v: %+v, want %s", c.a, c.b, rows[0], c.want)
		}
	}
}

// Holm: of p 0.0312 twice and once nothing, none is below 0.05 together.
func TestAdjustTogether(t *testing.T) {
	wait := metricOf(t, "wait.p95_seconds")
	six := []float64{10, 1, 20, 2, 30, 3, 40, 4, 50, 5, 60, 6}
	rows := []Row{rowOfPairs(wait, six...), rowOfPairs(wait, 1, 1, 2, 2), rowOfPairs(wait, six...), rowOfPairs(wait, six[:2]...)}
	adjust(rows, 0.05)
	if *rows[0].Adjusted != 2*0.03125 || *rows[2].Adjusted != 2*0.03125 || rows[0].Verdict != Unclear || rows[1].Adjusted != nil || rows[3].Adjusted != nil {
		t.Errorf("%+v", rows)
	}
}

func TestTexts(t *testing.T) {
	for p, want := range map[float64]string{0.5: "0.50", 0.0488: "0.049", 0.00195: "0.0019", 0.0000001: "<0.0001", 1: "1.00"} {
		if got := pText(p); got != want {
			t.Errorf("%v: %s, want %s", p, got, want)
		}
	}
	wait := rowOfPairs(metricOf(t, "wait.p95_seconds"), 100, 40)
	for d, want := range map[float64]string{-60: "−1m", 90: "+1m30s", 0: "0s", inf: "+∞", -inf: "−∞"} {
		if got := wait.signed(d); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
	if percentText(-0.1234) != "−12.3%" || percentText(0.5) != "+50.0%" {
		t.Error(percentText(-0.1234), percentText(0.5))
	}
}
