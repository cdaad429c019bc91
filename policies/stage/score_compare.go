package stage

import (
	"math"

	"github.com/gangplan/gangplan/internal/rng"
)

// This file holds the score plugins that compare the feasible nodes with each other. Each
// takes the raw scores of all of them, in any order, and replaces them by 0 to MaxScore.

// NormalizeTaints turns the number of soft taints (PreferNoSchedule) that a pod does not
// tolerate on each node into scores: fewest is best. Where there are none all are best.
func NormalizeTaints(scores []int64) { normalize(scores, true) }

// NormalizePreference turns the weights of the preferred node affinity terms that each
// node matches into scores: most is best. Where none matches all score 0.
func NormalizePreference(scores []int64) { normalize(scores, false) }

// normalize scales by the highest raw score; reversed, it subtracts from MaxScore.
func normalize(scores []int64, reverse bool) {
	highest := int64(0)
	for _, s := range scores {
		highest = max(highest, s)
	}
	for i := range scores {
		if highest > 0 {
			scores[i] = MaxScore * scores[i] / highest
		}
		if reverse {
			scores[i] = MaxScore - scores[i]
		}
	}
}

// NormalizeAffinity turns the summed weights of pod affinity terms, which may be negative,
// into scores between the lowest and the highest. Where all are equal all score 0.
func NormalizeAffinity(scores []int64) {
	lowest, highest := int64(math.MaxInt64), int64(math.MinInt64)
	for _, s := range scores {
		lowest, highest = min(lowest, s), max(highest, s)
	}
	for i := range scores {
		if highest == lowest {
			scores[i] = 0
			continue
		}
		scores[i] = int64(MaxScore * (float64(scores[i]-lowest) / float64(highest-lowest)))
	}
}

// SpreadTerm is one soft topology spread constraint as it stands on one node.
type SpreadTerm struct {
	Matching int64 // pods that match, in the node's domain
	MaxSkew  int64
	Domains  int64 // domains among the feasible nodes
}

// NoSpread is the raw score of a node that lacks a label of the constraints. It is rated 0.
const NoSpread = -1

// SpreadScore is the raw score of PodTopologySpread: the matching pods of each constraint,
// weighted by the logarithm of its domains so that small topologies are heard too.
func SpreadScore(terms []SpreadTerm) int64 {
	sum := 0.0
	for _, t := range terms {
		sum += float64(float64(t.Matching)*rng.Log(float64(t.Domains+2))) + float64(t.MaxSkew-1)
	}
	return int64(math.Round(sum))
}

// NormalizeSpread turns raw scores of PodTopologySpread into scores: fewest is best.
func NormalizeSpread(scores []int64) {
	lowest, highest := int64(math.MaxInt64), int64(0)
	for _, s := range scores {
		if s != NoSpread {
			lowest, highest = min(lowest, s), max(highest, s)
		}
	}
	for i, s := range scores {
		switch {
		case s == NoSpread:
			scores[i] = 0
		case highest == 0:
			scores[i] = MaxScore
		default:
			scores[i] = MaxScore * (highest + lowest - s) / highest
		}
	}
}

// ImageScore is the score of ImageLocality: the bytes of a pod's images that a node has,
// each scaled by the share of nodes that have it, between 23 MB and 1000 MB a container.
func ImageScore(bytes, containers int64) int64 {
	const mb = 1024 * 1024
	lowest, highest := int64(23*mb), 1000*mb*containers
	bytes = max(lowest, min(bytes, highest))
	return MaxScore * (bytes - lowest) / (highest - lowest)
}
