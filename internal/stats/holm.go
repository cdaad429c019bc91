package stats

import (
	"cmp"
	"slices"
)

// Holm returns p-values adjusted for being looked at together, in the order given: rejecting
// those below a level rejects a true hypothesis among them no more often than the level,
// however they depend on each other.
//
// source: Holm, A simple sequentially rejective multiple test procedure, Scandinavian
// Journal of Statistics 6, 1979.
func Holm(ps []float64) []float64 {
	order := make([]int, len(ps))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(ps[a], ps[b]) })
	adjusted := make([]float64, len(ps))
	highest := 0.0
	for k, i := range order {
		highest = max(highest, min(1, ps[i]*float64(len(ps)-k)))
		adjusted[i] = highest
	}
	return adjusted
}
