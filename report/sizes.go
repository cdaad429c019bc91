package report

import (
	"fmt"
	"math"
)

// The jobs are told apart by the GPUs they ask for, in the classes of a trade.

const numSizes = 6 // len(sizeClasses) + 1

// sizeName is a class in the name of a metric.
func sizeName(class int) string {
	switch {
	case class == 0:
		return "gpus_1"
	case class == len(sizeClasses):
		return fmt.Sprintf("gpus_%d", sizeClasses[class-1]+1)
	}
	return fmt.Sprintf("gpus_%d_%d", sizeClasses[class-1]+1, sizeClasses[class])
}

// sizeWords is a class in words.
func sizeWords(class int) string {
	if class == 0 {
		return "up to 1 GPU"
	}
	return className(class) + " GPUs"
}

// sizeMetrics declares what is measured of the jobs of each class.
func sizeMetrics() []Metric {
	var ms []Metric
	for k := range numSizes {
		ms = append(ms, count("jobs."+sizeName(k), "jobs", Neutral, "of the submitted jobs, those that ask for "+sizeWords(k),
			func(f *facts) int { return f.waitOfSize[k].Len() }))
	}
	for k := range numSizes {
		for _, q := range quantiles {
			if q.percent >= 95 && q.percent != 99 {
				ms = append(ms, Metric{"wait." + sizeName(k) + "." + q.name + "_seconds", "s", Lower, false,
					"wait of jobs that ask for " + sizeWords(k) + "; " + q.name + " over all of them, null if it lands on one that never got there or if there is none",
					func(f *facts) (float64, bool) {
						v, ok := f.waitOfSize[k].Quantile(q.percent)
						return float64(v) / 1e9, ok
					}})
			}
		}
	}
	return ms
}

// sizeRows are the waits by class, where there is more than one class of jobs.
func sizeRows() []row {
	var rows []row
	for k := range numSizes {
		r := duration("  "+sizeWords(k), "wait."+sizeName(k)+".p95_seconds").onlyIfAny()
		r.amount = func(vs Values) (float64, bool) { return waitOfSize(vs, sizeName(k)) }
		r.write = func(c *context, v float64, _ bool, vs Values) string { return writeWait(c, v, !math.IsInf(v, 1), vs) }
		r.better = Neutral // the row above has the arrow
		rows = append(rows, r)
	}
	return rows
}

// waitOfSize returns the wait of a class: 0 if it is empty or the only one, infinite if it
// never ends.
func waitOfSize(vs Values, class string) (float64, bool) {
	own, _ := vs.Get("jobs." + class)
	all, _ := vs.Get("jobs.submitted")
	if own == 0 || own == all {
		return 0, true
	}
	if v, ok := vs.Get("wait." + class + ".p95_seconds"); ok {
		return v, true
	}
	return math.Inf(1), true
}
