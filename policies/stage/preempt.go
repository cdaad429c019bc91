package stage

import (
	"slices"

	"github.com/gangplan/gangplan/sim/devices"
	"github.com/gangplan/gangplan/topology"
)

// Victim is a pod that a more important one may push off a node.
type Victim struct {
	Pod      int32
	Node     int32
	Priority int32
	Started  int64
	Request  topology.Resources
	GPUs     devices.Mask
	Milli    int32 // of each of GPUs
}

// moreImportant orders victims: higher priority, then longer running.
func moreImportant(a, b Victim) int {
	switch {
	case a.Priority != b.Priority:
		return sign(int64(b.Priority) - int64(a.Priority))
	case a.Started != b.Started:
		return sign(a.Started - b.Started)
	}
	return int(a.Pod - b.Pod)
}

// Space is what is free of a node. Shared says that GPUs are kept apart.
type Space struct {
	Free   topology.Resources
	GPUs   devices.Set
	Shared bool
}

// add frees what a victim has, or with by = -1 gives it back.
func (s *Space) add(v *Victim, by int64) {
	s.Free = s.Free.Plus(v.Request.Times(by))
	s.GPUs.Take(v.GPUs, -v.Milli*int32(by))
}

// Holds reports whether a pod fits.
func (s *Space) Holds(w *Want) bool {
	return w.Demand.Real.FitsIn(&s.Free) && (!s.Shared || s.GPUs.Fits(w.Guest.Ask))
}

// Reprieve returns which of the less important pods of a node must go for a pod to fit:
// all are taken off, then put back one by one, the most important first, as long as the
// pod still fits. ok is false if it would not fit without all of them. The victims are the
// first of pods, the most important first; the slice is reordered.
func Reprieve(s Space, w *Want, pods []Victim) (victims []Victim, ok bool) {
	slices.SortStableFunc(pods, moreImportant)
	for i := range pods {
		s.add(&pods[i], 1)
	}
	if !s.Holds(w) {
		return nil, false
	}
	n := 0
	for i := range pods {
		s.add(&pods[i], -1)
		if s.Holds(w) {
			continue
		}
		s.add(&pods[i], 1)
		pods[n], pods[i] = pods[i], pods[n]
		n++
	}
	return pods[:n], true
}

// CheaperVictims reports whether preempting a hurts less than preempting b, both from
// Reprieve: a lower highest priority, a lower sum of priorities (each counted from the
// lowest there is, so that their number matters), fewer pods, or pods of the highest
// priority that started later. Nobody is cheapest.
func CheaperVictims(a, b []Victim) bool {
	if len(a) == 0 || len(b) == 0 {
		return len(a) == 0 && len(b) > 0
	}
	if a[0].Priority != b[0].Priority {
		return a[0].Priority < b[0].Priority
	}
	if x, y := sumOfPriorities(a), sumOfPriorities(b); x != y {
		return x < y
	}
	if len(a) != len(b) {
		return len(a) < len(b)
	}
	return a[0].Started > b[0].Started // the first of a priority is the one that started first
}

func sumOfPriorities(victims []Victim) (sum int64) {
	for i := range victims {
		sum += int64(victims[i].Priority) + 1<<31
	}
	return sum
}

// PreemptionCandidates is how many nodes are tried before one is chosen among those found.
func PreemptionCandidates(nodes int) int { return min(nodes, max(100, nodes/10)) }
