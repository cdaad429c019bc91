package compare

import (
	"math"

	"github.com/gangplan/gangplan/internal/stats"
	"github.com/gangplan/gangplan/report"
)

// Verdict says how B compares with A in a metric.
type Verdict string

// Same is equal in every pair. Better, Worse and, where neither is the case, Changed are a
// significant difference, or an exact one of a single pair. Unclear is one that may be
// chance; Single one of a single pair in a statistic of a sample, of which nothing can be
// said.
const (
	Same    Verdict = "same"
	Better  Verdict = "better"
	Worse   Verdict = "worse"
	Changed Verdict = "changed"
	Unclear Verdict = "unclear"
	Single  Verdict = "single"
)

// The tests a row may rest on.
const (
	signedRank = "signed-rank"
	rankSum    = "rank-sum"
	exact      = "exact"
	untested   = "none"
)

// Row is one metric compared. Numbers are nil where they are infinite or not defined: a
// quantile that lands on a job that never got there.
type Row struct {
	Metric     string   `json:"metric"`
	Unit       string   `json:"unit"`
	BetterWhen string   `json:"better"` // lower, higher or neutral
	A          *float64 `json:"a"`      // the median over the seeds
	B          *float64 `json:"b"`
	Difference *float64 `json:"difference"` // the median of the differences B - A of the pairs
	Relative   *float64 `json:"relative"`   // to A
	Low        *float64 `json:"low"`        // the confidence interval of the difference
	High       *float64 `json:"high"`
	Test       string   `json:"test"`  // signed-rank, rank-sum, exact or none
	Pairs      int      `json:"pairs"` // of runs, or of jobs where the metric is by job and there is one pair of runs
	Lower      int      `json:"lower"` // pairs in which B is lower than A
	Higher     int      `json:"higher"`
	P          *float64 `json:"p"`
	Adjusted   *float64 `json:"p_holm"` // over all metrics tested of the group
	Verdict    Verdict  `json:"verdict"`

	metric   *report.Metric
	a, b, d  float64         // with infinities, as the interval
	interval *stats.Interval // nil if there is none
}

func finite(x float64) *float64 {
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return nil
	}
	return &x
}

// bootstrapSeed makes intervals the same every time.
const bootstrapSeed = 1

// pairedRow compares a metric of pairs by their differences.
func pairedRow(m *report.Metric, a, b, ds []float64, confidence float64) Row {
	r := rowOf(m, a, b, stats.Median(ds))
	r.Pairs = len(ds)
	for _, d := range ds {
		r.Lower += one(d < 0)
		r.Higher += one(d > 0)
	}
	switch t := stats.SignedRank(ds); {
	case t.Pairs == 0:
		r.Verdict = Same
	case len(ds) == 1 && m.Exact:
		r.Test, r.Verdict = exact, r.direction()
	case len(ds) == 1:
		r.Verdict = Single
	default:
		r.Test, r.P, r.Verdict = signedRank, &t.P, Unclear
		if i, ok := stats.MedianInterval(ds, confidence, bootstrapSeed); ok {
			r.interval, r.Low, r.High = &i, finite(i.Low), finite(i.High)
		}
	}
	return r
}

// samplesRow compares a metric of runs that are not paired.
func samplesRow(m *report.Metric, a, b []float64) Row {
	r := rowOf(m, a, b, minus(stats.Median(b), stats.Median(a)))
	t := stats.RankSum(b, a)
	r.Test, r.P, r.Verdict = rankSum, &t.P, Unclear
	if middle := float64(len(a)*len(b)) / 2; t.U < middle {
		r.Lower = 1
	} else if t.U > middle {
		r.Higher = 1
	} else if t.P == 1 && r.d == 0 {
		r.Test, r.P, r.Verdict = untested, nil, Same
	}
	return r
}

func rowOf(m *report.Metric, a, b []float64, d float64) Row {
	r := Row{Metric: m.Name, Unit: m.Unit, BetterWhen: m.Better.String(), Test: untested, metric: m,
		a: stats.Median(a), b: stats.Median(b), d: d}
	r.A, r.B, r.Difference = finite(r.a), finite(r.b), finite(d)
	if r.A != nil && r.Difference != nil && r.a != 0 && d != 0 {
		r.Relative = finite(d / math.Abs(r.a))
	}
	return r
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// direction says whether B is better or worse: by the median difference, or, where that is
// zero, by the side on which more pairs are.
func (r *Row) direction() Verdict {
	lower := r.d < 0 || r.d == 0 && r.Lower > r.Higher
	higher := r.d > 0 || r.d == 0 && r.Higher > r.Lower
	switch {
	case r.metric.Better == report.Lower && lower, r.metric.Better == report.Higher && higher:
		return Better
	case r.metric.Better == report.Neutral, !lower && !higher:
		return Changed
	}
	return Worse
}

// adjust takes the rows of a group together: Holm's correction over all that were tested. A
// metric that differs in no pair was not.
func adjust(rows []Row, level float64) {
	var ps []float64
	for i := range rows {
		if rows[i].P != nil {
			ps = append(ps, *rows[i].P)
		}
	}
	adjusted := stats.Holm(ps)
	for i, k := 0, 0; i < len(rows); i++ {
		r := &rows[i]
		if r.P == nil {
			continue
		}
		if r.Adjusted = &adjusted[k]; adjusted[k] < level {
			r.Verdict = r.direction()
		}
		k++
	}
}
