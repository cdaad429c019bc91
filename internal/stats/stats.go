// Package stats summarises samples the way every result of gangplan is summarised:
// nearest-rank quantiles computed in integers, and values that never came to be (a job
// that never started) counted as +infinity instead of being left out.
//
// A quantile of p percent over N values is the value of rank ceil(p N / 100) in
// ascending order; no two values are ever averaged. Results do not depend on the order
// in which values were given.
package stats

import "fmt"

// checkPercent panics on a quantile that nearest rank does not define.
func checkPercent(p int) {
	if p < 1 || p > 100 {
		panic(fmt.Sprintf("stats: quantile of %d percent; expected 1 to 100", p))
	}
}
