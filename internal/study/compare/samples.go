package compare

import (
	"fmt"
	"math"

	"github.com/gangplan/gangplan/report"
)

// values are the metrics of the runs of a group: of pairs, side by side, or of each side by
// itself where nothing is paired. Runs that are compared are kept on to a common end: the
// later one of a pair, or the latest of all that are not paired.
type values struct {
	a, b   []report.Values
	paired bool
}

func (g *group) values() (*values, error) {
	v := &values{paired: len(g.pairs) > 0}
	if v.paired {
		for _, p := range g.pairs {
			end := max(p[0].Summary.EndNanos, p[1].Summary.EndNanos)
			if err := v.add(p[0], p[1], end); err != nil {
				return nil, err
			}
		}
		return v, nil
	}
	end := int64(0)
	for _, r := range append(append([]*run{}, g.a...), g.b...) {
		end = max(end, r.Summary.EndNanos)
	}
	for _, r := range g.a {
		if err := v.add(r, nil, end); err != nil {
			return nil, err
		}
	}
	for _, r := range g.b {
		if err := v.add(nil, r, end); err != nil {
			return nil, err
		}
	}
	return v, nil
}

func (v *values) add(a, b *run, end int64) error {
	for _, x := range []struct {
		run *run
		to  *[]report.Values
	}{{a, &v.a}, {b, &v.b}} {
		if x.run == nil {
			continue
		}
		metrics, err := x.run.Summary.KeptOn(end)
		if err != nil {
			return fmt.Errorf("%s: %w: give the runs the same `until`", x.run.Dir, err)
		}
		*x.to = append(*x.to, metrics)
	}
	return nil
}

// numbers are one metric of some runs: infinite where it is null, which is a time that
// never came. known is false if no run has a number.
func numbers(runs []report.Values, metric string) (all []float64, known bool) {
	for _, vs := range runs {
		x, ok := vs.Get(metric)
		if !ok {
			x = math.Inf(1)
		}
		known = known || ok
		all = append(all, x)
	}
	return all, known
}

// minus is the difference of two values; two that never came do not differ.
func minus(b, a float64) float64 {
	if math.IsInf(a, 1) && math.IsInf(b, 1) {
		return 0
	}
	return b - a
}
