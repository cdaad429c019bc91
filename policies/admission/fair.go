package admission

import (
	"github.com/gangplan/gangplan/sim/order"
	"github.com/gangplan/gangplan/sim/quota"
)

// Preemption under fair sharing: victims are taken from whoever has the largest share, as
// long as that is fair by the strategies. The usage of the preemptor counts throughout.
type fairSearch struct {
	k *Kernel
	*search
	tree *quota.Tree

	above    []bool  // per node: an ancestor of the preemptor
	pruned   []int64 // per node: the last round in which it yielded no more candidates
	round    int64
	count    int64 // of searches
	second   bool  // the second strategy is tried, on what the first refused
	refusals int   // of the first strategy, but where all of a cohort were refused for its share
	fields   []field
	asked    leap // last, from the start of a ranking, and the answer
	answer   int
	inUse    []int32 // cohorts with fields in use
	lists    []candidateList
	touched  []int32 // queues with lists in use, each once
	within   bool    // the preemptor stays within its nominal quota
}

// candidateList yields the candidates of one queue in order: those on their way out, then
// the live ones.
type candidateList struct {
	standing // of the next one
	cursor
	refused int32 // the first that the first strategy refused, or order.None
	search  int64 // the last that looked at it
}

func (f *fairSearch) reset(k *Kernel) {
	t := k.Tree
	*f = fairSearch{k: k, search: &k.search, tree: t, above: make([]bool, t.Nodes()), pruned: make([]int64, t.Nodes()),
		fields: make([]field, t.Nodes()), lists: make([]candidateList, t.Len())}
}

// run searches victims for what the kernel's search asks.
func (f *fairSearch) run() bool {
	s := f.search
	f.begin()
	mark := f.tree.Mark()
	f.tree.UseAll(s.queue, s.usage)
	f.within = f.k.Rules.PreemptWithinNominal && f.staysWithin()
	strategies := f.k.Rules.strategies()
	f.open(s.queue)
	found := f.first(strategies[0])
	if !found && f.refusals > 0 && len(strategies) > 1 {
		f.startSecond()
		found = f.trySecond()
	}
	if found {
		f.tree.FreeAll(s.queue, s.usage)
		s.fillBack(true)
	}
	f.tree.Undo(mark)
	s.returnAll()
	f.forget()
	if !found {
		s.targets = s.targets[:0]
	}
	return found
}

// begin prepares for a search.
func (f *fairSearch) begin() {
	f.k.ranks.refresh(f.root())
	for node := f.tree.Parent(f.queue); node != quota.None; node = f.tree.Parent(node) {
		f.above[node] = true
	}
	f.round++
	f.count++
	f.second, f.refusals = false, 0
}

// staysWithin reports whether the preemptor's queue, with it, uses no more than its nominal
// quota of everything contested.
func (f *fairSearch) staysWithin() bool {
	for _, fr := range f.contested {
		if f.tree.Usage(f.queue, fr) > f.tree.Nominal(f.queue, fr) {
			return false
		}
	}
	return true
}

// open starts on the candidates of a queue.
func (f *fairSearch) open(q int32) *candidateList {
	l := &f.lists[q]
	l.search, l.refused, l.live, l.own = f.count, order.None, false, q == f.queue
	f.touched = append(f.touched, q)
	l.cursor = f.k.start(&f.asks, q, &f.k.gone[q])
	f.goLive(q)
	return l
}

// goLive moves a list that has no more evicted holders on to the live ones.
func (f *fairSearch) goLive(q int32) {
	if l := &f.lists[q]; l.item == order.None && !l.live {
		l.live = true
		l.cursor = f.k.start(&f.asks, q, &f.k.live[q])
	}
}

// peek returns the next candidate of a queue that was looked at, or order.None.
func (f *fairSearch) peek(q int32) int32 { return f.lists[q].item }

func (f *fairSearch) pop(q int32) int32 {
	l := &f.lists[q]
	item := l.item
	f.k.step(&f.asks, &l.cursor)
	f.goLive(q)
	return item
}

// refuse notes that the first strategy does not take a candidate.
func (f *fairSearch) refuse(q, item int32) {
	f.refusals++
	if l := &f.lists[q]; l.refused == order.None {
		l.refused = item
	}
}

// forget leaves no trace of this search for the next.
func (f *fairSearch) forget() {
	for _, node := range f.inUse {
		f.fields[node].used = false
	}
	f.touched, f.inUse = f.touched[:0], f.inUse[:0]
	for node := f.tree.Parent(f.queue); node != quota.None; node = f.tree.Parent(node) {
		f.above[node] = false
	}
}

// first runs the first strategy. Candidates it refuses are kept for the second.
func (f *fairSearch) first(strategy Strategy) bool {
	for q := f.target(); q != quota.None; q = f.target() {
		if q == f.queue || f.within {
			cause := InCohortReclamation
			if q == f.queue {
				cause = InClusterQueue
			}
			if f.take(f.pop(q), cause) {
				return true
			}
		} else if f.takeFair(q, strategy) {
			return true
		}
		f.settle(q)
	}
	return false
}

// takeFair takes the first candidate of a queue that the strategy allows, and reports
// whether the preemptor fits then.
func (f *fairSearch) takeFair(q int32, strategy Strategy) bool {
	mine, other := f.rivals(q)
	share, old := f.tree.Share(mine), f.tree.Share(other)
	if share.Compare(&old) > 0 {
		f.prune(f.tree.Parent(other))
		return false
	}
	for f.peek(q) != order.None {
		item := f.pop(q)
		if f.fair(strategy, &share, &old, item, other) {
			return f.take(item, InCohortFairSharing)
		}
		f.refuse(q, item)
	}
	return false
}

// fair applies a strategy to a candidate.
func (f *fairSearch) fair(strategy Strategy, mine, old *quota.Share, item, other int32) bool {
	if strategy == InitialShare {
		return mine.Compare(old) < 0
	}
	queue, holds := f.k.Work[item].Queue, f.k.Work[item].holds
	if other == queue {
		left := f.tree.ShareWithout(queue, holds)
		return mine.Compare(&left) <= 0
	}
	mark := f.tree.Mark()
	f.tree.FreeAll(queue, holds)
	left := f.tree.Share(other)
	f.tree.Undo(mark)
	return mine.Compare(&left) <= 0
}

// startSecond begins the second round: over the first candidate that was refused of every
// queue. Where nobody was asked because shares forbade it, that is the next one.
func (f *fairSearch) startSecond() {
	f.round++
	f.second = true
	for _, node := range f.inUse {
		f.fields[node].heap, f.fields[node].at = f.fields[node].heap[:0], 0
	}
	for _, q := range f.touched {
		l := &f.lists[q]
		if l.refused != order.None {
			l.item = l.refused
		}
		if l.item != order.None && q != f.queue {
			f.enter(q)
		}
	}
}

// trySecond applies the second strategy, once per queue, to what the first refused.
func (f *fairSearch) trySecond() bool {
	for q := f.target(); q != quota.None; q = f.target() {
		mine, other := f.rivals(q)
		share, theirs := f.tree.Share(mine), f.tree.Share(other)
		if share.Compare(&theirs) < 0 {
			if f.take(f.peek(q), InCohortFairSharing) {
				return true
			}
		} else if f.spent(mine) {
			f.prune(f.tree.Parent(other))
		}
		f.fields[f.tree.Parent(q)].drop(f)
	}
	return false
}

// spent reports whether a side of the preemptor has no more candidates in this round.
func (f *fairSearch) spent(mine int32) bool { return mine == f.queue || f.pruned[mine] == f.round }

// rivals returns the two nodes, just below the lowest common ancestor of the preemptor and
// another queue, that they belong to.
func (f *fairSearch) rivals(q int32) (mine, other int32) {
	other = q
	for !f.above[f.tree.Parent(other)] {
		other = f.tree.Parent(other)
	}
	common := f.tree.Parent(other)
	mine = f.queue
	for f.tree.Parent(mine) != common {
		mine = f.tree.Parent(mine)
	}
	return mine, other
}

// take removes a victim and reports whether the preemptor fits then.
func (f *fairSearch) take(item int32, cause Cause) bool {
	f.remove(item, cause)
	f.tree.FreeAll(f.queue, f.usage)
	fits := f.fits(true)
	f.tree.UseAll(f.queue, f.usage)
	return fits
}
