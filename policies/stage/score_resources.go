package stage

import (
	"math"

	"github.com/gangplan/gangplan/topology"
)

// Strategy is how NodeResourcesFit rates a resource of a node.
type Strategy uint8

// LeastAllocated prefers empty nodes, MostAllocated full ones, and
// RequestedToCapacityRatio what its shape says.
const (
	LeastAllocated Strategy = iota
	MostAllocated
	RequestedToCapacityRatio
)

// Weighted is a resource and its weight in a strategy.
type Weighted struct {
	Resource topology.Resource
	Weight   int64
}

var cpuAndMemory = []Weighted{{topology.CPU, 1}, {topology.Memory, 1}}

// FitScorer is the score of NodeResourcesFit: the mean of its resources' scores by weight,
// rounded down (to the nearest for RequestedToCapacityRatio).
type FitScorer struct {
	Strategy  Strategy
	Resources []Weighted
	Shape     Shape // of RequestedToCapacityRatio
}

// Score rates a node from 0 to MaxScore. A resource the node does not have does not
// count, nor GPUs if the pod asks for none.
func (f *FitScorer) Score(d *Demand, l *Load) int64 {
	var sum, weights int64
	for _, w := range f.Resources {
		offered := l.Offers[w.Resource]
		if offered == 0 || w.Resource == topology.GPU && d.Real[topology.GPU] == 0 {
			continue
		}
		score := f.rate(l.NonZero[w.Resource]+d.NonZero[w.Resource], offered)
		if f.Strategy == RequestedToCapacityRatio && score <= 0 {
			continue
		}
		sum += score * w.Weight
		weights += w.Weight
	}
	switch {
	case weights == 0:
		return 0
	case f.Strategy == RequestedToCapacityRatio:
		return int64(math.Round(float64(sum) / float64(weights)))
	}
	return sum / weights
}

// rate scores one resource of which a node has offered > 0.
func (f *FitScorer) rate(used, offered int64) int64 {
	switch f.Strategy {
	case MostAllocated:
		return percent(min(used, offered), offered)
	case RequestedToCapacityRatio:
		return f.Shape.at(percent(min(used, offered), offered))
	}
	return percent(max(0, offered-used), offered)
}

// percent is floor(100 part / whole) for 0 <= part <= whole; memory in bytes is counted in
// MiB if the product would not fit, which is beyond 80 PiB.
func percent(part, whole int64) int64 {
	if whole > math.MaxInt64/100 {
		part, whole = part>>20, whole>>20
	}
	return part * 100 / whole
}

// Point is a point of a shape: at this utilisation in percent a score from 0 to 10.
type Point struct {
	Utilization, Score int64
}

// Shape is a score by utilisation, straight between its points and flat outside. Points
// are in the order of utilisation, which rises.
type Shape []Point

// at returns the score, 0 to MaxScore, at a utilisation from 0 to 100.
func (s Shape) at(utilization int64) int64 {
	const scale = MaxScore / 10
	for i, p := range s {
		if utilization > p.Utilization {
			continue
		}
		if i == 0 {
			return p.Score * scale
		}
		before := s[i-1]
		rise := (p.Score - before.Score) * scale * (utilization - before.Utilization)
		return before.Score*scale + rise/(p.Utilization-before.Utilization)
	}
	if len(s) == 0 {
		return 0
	}
	return s[len(s)-1].Score * scale
}

// BalancedScorer is the score of NodeResourcesBalancedAllocation: how alike the fractions
// are to which a node's resources are requested. It counts requests as they are written.
//
// The fractions are binary floats, as in kube-scheduler: rounded down to integers their
// last bit shows, so exact fractions would give other scores.
type BalancedScorer struct {
	Resources []topology.Resource
	Compared  bool // rates the change by the pod instead of the outcome, as from 1.36 on
}

// Skips reports whether the plugin has nothing to say about a pod: it asks for none of
// the resources.
func (b *BalancedScorer) Skips(d *Demand) bool {
	for _, r := range b.Resources {
		if d.Real[r] != 0 {
			return false
		}
	}
	return true
}

// Score rates a node from 0 to MaxScore.
func (b *BalancedScorer) Score(d *Demand, l *Load) int64 {
	if b.Skips(d) {
		return 0
	}
	after := b.deviation(d, l, 1)
	if b.Compared {
		return int64((0.75 + (b.deviation(d, l, 0)-after)/2) * MaxScore)
	}
	return int64((1 - after) * MaxScore)
}

// deviation is the standard deviation of the requested fractions with so many of the pod.
// GPUs count only for pods that ask for them.
func (b *BalancedScorer) deviation(d *Demand, l *Load, pods int64) float64 {
	var fractions [topology.NumResources]float64
	n, total := 0, 0.0
	for _, r := range b.Resources {
		if l.Offers[r] == 0 || r == topology.GPU && d.Real[r] == 0 {
			continue
		}
		fractions[n] = min(1, float64(l.Real[r]+pods*d.Real[r])/float64(l.Offers[r]))
		total += fractions[n]
		n++
	}
	switch {
	case n < 2:
		return 0
	case n == 2:
		return math.Abs((fractions[0] - fractions[1]) / 2)
	}
	mean, sum := total/float64(n), 0.0
	for _, f := range fractions[:n] {
		sum += float64((f - mean) * (f - mean))
	}
	return math.Sqrt(sum / float64(n))
}
