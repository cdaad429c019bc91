package stage

import (
	"slices"

	"github.com/gangplan/gangplan/sim/devices"
	"github.com/gangplan/gangplan/topology"
)

// Victim is a pod that a more important one may push off a node.
type Victim struct {
	Pod      int32
	Job      int32
	Node     int32
	Priority int32
	Started  int64
	Leaving  bool // it is on its way out by itself
	Violates bool // a disruption budget would be exceeded if it and those before it went
	Request  topology.Resources
	GPUs     devices.Mask
	Milli    int32 // of each of GPUs
}

// MoreImportant orders victims: higher priority, then longer running.
func MoreImportant(a, b Victim) int {
	switch {
	case a.Priority != b.Priority:
		return sign(int64(b.Priority) - int64(a.Priority))
	case a.Started != b.Started:
		return sign(a.Started - b.Started)
	}
	return int(a.Pod - b.Pod)
}

// Node is a node on which room is sought for a pod: victims are taken off it and put back.
type Node interface {
	Take(v *Victim)
	Return(v *Victim)
	Holds() bool // the pod fits
}

// Space is what is free of a node for a pod. Shared says that GPUs are kept apart.
type Space struct {
	Want   *Want
	Free   topology.Resources
	GPUs   devices.Set
	Shared bool
}

// Take frees what a victim has.
func (s *Space) Take(v *Victim) { s.add(v, 1) }

// Return gives it back.
func (s *Space) Return(v *Victim) { s.add(v, -1) }

func (s *Space) add(v *Victim, by int64) {
	s.Free = s.Free.Plus(v.Request.Times(by))
	s.GPUs.Take(v.GPUs, -v.Milli*int32(by))
}

// Holds reports whether the pod fits.
func (s *Space) Holds() bool {
	return s.Want.Demand.Real.FitsIn(&s.Free) && (!s.Shared || s.GPUs.Fits(s.Want.Guest.Ask))
}

// Sacrifice is who must leave a node for a pod, the most important first.
type Sacrifice struct {
	Node       int32
	Victims    []Victim
	Violations int // of disruption budgets
}

// Reprieve returns which of the less important pods of a node must go for a pod to fit:
// all are taken off, then put back one by one as long as the pod still fits; first those
// whose leaving would violate a budget, each group the most important first. ok is false if
// the pod would not fit without all of them. The slice is reordered; the node is left with
// the victims off it.
func Reprieve(node Node, pods []Victim) (s Sacrifice, ok bool) {
	slices.SortStableFunc(pods, MoreImportant)
	for i := range pods {
		node.Take(&pods[i])
	}
	if !node.Holds() {
		return s, false
	}
	n := 0
	for _, violating := range [...]bool{true, false} {
		for i := n; i < len(pods); i++ {
			if pods[i].Violates != violating {
				continue
			}
			node.Return(&pods[i])
			if node.Holds() {
				continue
			}
			node.Take(&pods[i])
			if violating {
				s.Violations++
			}
			gone := pods[i]
			copy(pods[n+1:i+1], pods[n:i])
			pods[n] = gone
			n++
		}
	}
	s.Victims = pods[:n]
	slices.SortStableFunc(s.Victims, MoreImportant)
	return s, true
}

// Cheaper reports whether one sacrifice hurts less than another: fewer violations of
// budgets, a lower highest priority, a lower sum of priorities (each counted from the lowest
// there is, so that their number matters), fewer pods, or pods of the highest priority that
// started later.
func (s *Sacrifice) Cheaper(than *Sacrifice) bool {
	a, b := s.Victims, than.Victims
	if s.Violations != than.Violations {
		return s.Violations < than.Violations
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
