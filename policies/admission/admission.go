// Package admission is one cycle of Kueue's scheduler as a pure function of a state: which
// of the ClusterQueues' heads are admitted, which preempt whom, which wait and why. The
// policies drive it with the engine's jobs, verification with recorded ones.
//
// A cycle (cycle.go) nominates every head against the same state (flavor.go, partial.go,
// and for victims preempt.go or fair.go), orders the entries (order.go, tournament.go) and
// processes them one by one, each seeing what those before it took. Where a head goes that
// was not admitted is decided in queue.go. docs/admission.md says it in words.
package admission

import (
	"github.com/gangplan/gangplan/sim/order"
	"github.com/gangplan/gangplan/sim/quota"
)

// PodSet is what the admission knows of one: how many pods, what each asks for, and which
// flavors it may not use.
type PodSet struct {
	Count, Min int32 // Min 0: no fewer than Count
	Request    quota.Amounts
	Tainted    uint64 // bit set of flavors with a taint it does not tolerate
	Mismatched uint64 // bit set of flavors whose labels its selector does not match
}

// Workload is a job in Kueue's eyes.
type Workload struct {
	Queue    int32
	Priority int32
	Time     int64 // orders it in its queue
	Rank     int64 // breaks all ties, as Kueue's UID does
	Sets     []PodSet

	Evicted    bool // it holds quota, but is on its way out
	reservedAt int64
	holds      []quota.Item // what it is charged, nil when it holds nothing
	memory     memory
}

// memory is what a workload remembers of its last nomination: per PodSet and resource the
// flavor after which the search goes on.
type memory struct {
	tried      [][quota.Resources]int8
	generation int64 // of the queue, when it was written
	valid      bool
}

// untried marks a resource that has no flavor in the memory.
const untried = -2

// Mode says how a request can be had.
type Mode uint8

// NoFit is not even by preemption. Preempt needs victims, of whom there may be none. Fit
// is unused quota.
const (
	NoFit Mode = iota
	Preempt
	Fit
)

// String returns Kueue's name of the mode.
func (m Mode) String() string { return [...]string{"NoFit", "Preempt", "Fit"}[m] }

// Cause says why a workload is a victim.
type Cause uint8

// Kueue's reasons of preemption.
const (
	InClusterQueue Cause = iota
	InCohortReclamation
	InCohortFairSharing
	InCohortReclaimWhileBorrowing
)

// String returns Kueue's name of the reason.
func (c Cause) String() string {
	return [...]string{"InClusterQueue", "InCohortReclamation", "InCohortFairSharing", "InCohortReclaimWhileBorrowing"}[c]
}

// Target is a workload that must go.
type Target struct {
	Workload int32
	Cause    Cause
}

// SetAssignment is what one PodSet is given. Flavor is -1 where it has none.
type SetAssignment struct {
	Count  int32
	Flavor [quota.Resources]int8
	Mode   [quota.Resources]Mode
	Tried  [quota.Resources]int8
}

// Assigned reports whether the PodSet has a flavor for anything.
func (s *SetAssignment) Assigned() bool {
	for _, f := range s.Flavor {
		if f >= 0 {
			return true
		}
	}
	return false
}

// Assignment is the outcome of a nomination. Sets ends with the first PodSet that got
// nothing. Everything in it is reused by the next cycle.
type Assignment struct {
	Mode    Mode
	Level   int32 // 0, or the height of the cohort that is borrowed from
	Sets    []SetAssignment
	Usage   []quota.Item
	Targets []Target
	Reasons []Reason
}

// Room is what quota does not know: whether the pods of a workload have places in the
// topology. Without one, quota decides alone. The places found for a head are its own until
// places are sought for it again.
type Room interface {
	// Fits seeks places for the assigned pods on what is free, FitsEmpty as if nobody held
	// any. They return the first PodSet that has none, or -1.
	Fits(w int32, a *Assignment) int32
	FitsEmpty(w int32, a *Assignment) int32
	// StillFits reports whether a head's places, those and no others, have room but for pod
	// slots, which Kueue does not look at again.
	StillFits(w int32) bool
	// Leave pretends that a holder's places are free, Return undoes it.
	Leave(w int32)
	Return(w int32)
	// Take takes a head's places, and Clear gives back all that were taken.
	Take(w int32, a *Assignment)
	Clear()
}

// Locals tells the LocalQueues of a ClusterQueue apart under admission fair sharing.
type Locals interface {
	// Turns reports whether the LocalQueues of a queue are told apart.
	Turns(queue int32) bool
	// Of returns the LocalQueue of a workload, or -1.
	Of(w int32) int32
	// Used returns what a LocalQueue used, by its weight.
	Used(local int32) float64
}

// Kernel holds the state of a scheduler: the tree with what is used, the workloads, and who
// holds quota in which queue.
type Kernel struct {
	Rules  Rules
	Tree   *quota.Tree
	Work   []Workload
	Room   Room
	Locals Locals // nil without admission fair sharing

	names      []int32 // per queue: its place in the order of names
	generation []int64 // per queue: grows with every change of its holders
	arena      *order.Arena
	live, gone []order.List // per queue: holders, and evicted holders, in the order of victims

	additive  []bool // per node: its children are queues that keep no quota for themselves
	ranks     rankings
	search    search
	fair      fairSearch
	scratch   [2]Assignment
	counts    []int32
	deltas    []int32
	victims   []int32   // of the cycle so far
	victimsIn [][]int32 // the same by root
	isVictim  []bool    // per workload
	entries   []Entry
	done      []*Entry // processed, in order
	taken     int      // entries that took places so far in the cycle
	shown     bool     // searches see what was taken so far
	again     []SetAssignment
	pinned    []SetAssignment // again, while a second nomination keeps to its flavors; else nil
	ordered   []int32
	bracket   bracket
}

// New makes a kernel over a tree and workloads, of which none holds quota.
func New(rules Rules, tree *quota.Tree, work []Workload) *Kernel {
	k := &Kernel{Rules: rules, Tree: tree, Work: work, names: rankNames(tree), arena: order.NewArena(len(work)),
		generation: make([]int64, tree.Len()), live: make([]order.List, tree.Len()), gone: make([]order.List, tree.Len())}
	for q := range k.live {
		k.live[q], k.gone[q] = order.NewList(k.arena), order.NewList(k.arena)
	}
	k.makeRoom()
	k.victimsIn, k.isVictim = make([][]int32, tree.Nodes()), make([]bool, len(work))
	k.additive = make([]bool, tree.Nodes())
	for node := range k.additive {
		k.additive[node] = tree.Additive(int32(node))
	}
	k.ranks.reset(k)
	k.search.reset(k)
	k.fair.reset(k)
	k.bracket.reset(tree)
	return k
}

// makeRoom gives every workload space for what it will hold and remember, so that cycles
// do not allocate.
func (k *Kernel) makeRoom() {
	items, sets := 0, 0
	for i := range k.Work {
		n := len(k.Work[i].Sets)
		sets += n
		items += min(n*quota.Resources, k.Tree.FRs())
	}
	holds, tried := make([]quota.Item, items), make([][quota.Resources]int8, sets)
	for i := range k.Work {
		wl := &k.Work[i]
		n := min(len(wl.Sets)*quota.Resources, k.Tree.FRs())
		wl.holds, holds = holds[:0:n], holds[n:]
		wl.memory.tried, tried = tried[:0:len(wl.Sets)], tried[len(wl.Sets):]
	}
}

// victimKey sorts the holders of a queue as victims: low priority first, then the newest
// reservation.
func (k *Kernel) victimKey(w int32) order.Key {
	wl := &k.Work[w]
	return order.Key{Priority: ^wl.Priority, Time: -wl.reservedAt, Seq: wl.Rank}
}

// changed notes that the holders of a queue are others, or hold something else.
func (k *Kernel) changed(q int32) {
	k.generation[q]++
	k.ranks.touch(q)
}

// Hold notes that a workload was admitted at a time with a usage. The caller charges the
// tree.
func (k *Kernel) Hold(w int32, at int64, usage []quota.Item) {
	wl := &k.Work[w]
	wl.reservedAt = at
	wl.holds = append(wl.holds[:0], usage...)
	wl.memory.valid = false
	list := &k.live[wl.Queue]
	if wl.Evicted {
		list = &k.gone[wl.Queue]
	}
	list.Insert(w, k.victimKey(w))
	k.changed(wl.Queue)
}

// Evict notes that a holder is on its way out; it stays charged.
func (k *Kernel) Evict(w int32) {
	wl := &k.Work[w]
	if wl.Evicted {
		return
	}
	k.live[wl.Queue].Remove(w)
	wl.Evicted = true
	k.gone[wl.Queue].Insert(w, k.victimKey(w))
	k.changed(wl.Queue)
}

// Drop notes that a holder is gone. The caller takes its usage off the tree.
func (k *Kernel) Drop(w int32) {
	wl := &k.Work[w]
	if wl.Evicted {
		k.gone[wl.Queue].Remove(w)
	} else {
		k.live[wl.Queue].Remove(w)
	}
	wl.Evicted = false
	wl.holds = wl.holds[:0]
	k.changed(wl.Queue)
}

// Shrunk notes that a holder was given up a part of what it holds, which the caller took off
// the list and the tree.
func (k *Kernel) Shrunk(w int32) { k.changed(k.Work[w].Queue) }

// Holds reports whether a workload is charged, Holding what.
func (k *Kernel) Holds(w int32) bool           { return k.arena.Contains(w) }
func (k *Kernel) Holding(w int32) []quota.Item { return k.Work[w].holds }

// Forget drops what a workload remembers of its last nomination.
func (k *Kernel) Forget(w int32) { k.Work[w].memory.valid = false }

// Tried returns what a workload remembers: per PodSet and resource the flavor after which the
// next search goes on. It is good until the next cycle.
func (k *Kernel) Tried(w int32) [][quota.Resources]int8 { return k.Work[w].memory.tried }

// Pending reports whether a workload remembers flavors it has not tried yet.
func (k *Kernel) Pending(w int32) bool {
	m := &k.Work[w].memory
	if !m.valid {
		return false
	}
	for _, set := range m.tried {
		for _, t := range set {
			if t >= 0 {
				return true
			}
		}
	}
	return false
}
