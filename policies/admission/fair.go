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

	above   []bool // per node: an ancestor of the preemptor
	pruned  []bool // per node: yields no candidate any more
	lists   []candidateList
	touched []int32 // queues with lists in use
	within  bool    // the preemptor stays within its nominal quota
}

// candidateList yields the candidates of one queue in order: those on their way out, then
// the live ones; or those that the first strategy refused.
type candidateList struct {
	policy     quota.Policy
	next       int32
	live, used bool
	refused    []int32
	second     bool
	tried      int // of those refused, in the second round
}

func (f *fairSearch) reset(t *quota.Tree) {
	f.tree = t
	f.above, f.pruned = make([]bool, t.Nodes()), make([]bool, t.Nodes())
	f.lists = make([]candidateList, t.Len())
}

// run searches victims for what s asks.
func (f *fairSearch) run(s *search) bool {
	f.search = s
	if !f.collect() {
		f.forget()
		return false
	}
	mark := f.tree.Mark()
	f.tree.UseAll(s.queue, s.usage)
	f.within = true
	for _, fr := range s.contested {
		f.within = f.within && f.tree.Usage(s.queue, fr) <= f.tree.Nominal(s.queue, fr)
	}
	f.within = f.within && f.k.Rules.PreemptWithinNominal
	strategies := f.k.Rules.strategies()
	f.startRound()
	found := f.first(strategies[0])
	if !found && len(strategies) > 1 {
		f.startSecond()
		found = f.second()
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

// collect finds the queues with candidates: the own one, and those of the tree that exceed
// their quota of something contested.
func (f *fairSearch) collect() (any bool) {
	p := &f.tree.Queue(f.queue).Preemption
	if p.Within != quota.Never {
		any = f.addQueue(f.queue, p.Within)
	}
	for node := f.tree.Parent(f.queue); node != quota.None; node = f.tree.Parent(node) {
		f.above[node] = true
	}
	if p.Reclaim != quota.Never && f.tree.Parent(f.queue) != quota.None {
		any = f.collectBelow(f.tree.Root(f.queue), p.Reclaim) || any
	}
	return any
}

func (f *fairSearch) collectBelow(node int32, p quota.Policy) (any bool) {
	for _, c := range f.tree.Cohorts(node) {
		any = f.collectBelow(c, p) || any
	}
	for _, q := range f.tree.Leaves(node) {
		if q != f.queue && f.tree.Exceeds(q, f.contested) {
			any = f.addQueue(q, p) || any
		}
	}
	return any
}

func (f *fairSearch) addQueue(q int32, p quota.Policy) bool {
	l := &f.lists[q]
	l.policy, l.live, l.second, l.used = p, false, false, true
	l.refused, l.tried = l.refused[:0], 0
	f.touched = append(f.touched, q)
	l.next = f.k.eligible(&f.asks, p, &f.k.gone[q], anyLocal, f.k.gone[q].First())
	f.goLive(q)
	return l.next != order.None
}

// goLive moves a list that has no more evicted holders on to the live ones.
func (f *fairSearch) goLive(q int32) {
	if l := &f.lists[q]; l.next == order.None && !l.live {
		l.live = true
		l.next = f.k.eligible(&f.asks, l.policy, &f.k.live[q], anyLocal, f.k.live[q].First())
	}
}

// peek returns the next candidate of a queue, or order.None.
func (f *fairSearch) peek(q int32) int32 {
	l := &f.lists[q]
	switch {
	case !l.used:
		return order.None
	case !l.second:
		return l.next
	case l.tried == len(l.refused):
		return order.None
	}
	return l.refused[l.tried]
}

func (f *fairSearch) pop(q int32) int32 {
	l := &f.lists[q]
	item := f.peek(q)
	if l.second {
		l.tried++
		return item
	}
	list := &f.k.gone[q]
	if l.live {
		list = &f.k.live[q]
	}
	l.next = f.k.eligible(&f.asks, l.policy, list, anyLocal, list.Next(item))
	f.goLive(q)
	return item
}

func (f *fairSearch) startRound() {
	for i := range f.pruned {
		f.pruned[i] = false
	}
}

func (f *fairSearch) startSecond() {
	f.startRound()
	for _, q := range f.touched {
		f.lists[q].second = true
	}
}

// forget leaves no trace of this search for the next.
func (f *fairSearch) forget() {
	for _, q := range f.touched {
		f.lists[q].used = false
	}
	f.touched = f.touched[:0]
	for node := f.tree.Parent(f.queue); node != quota.None; node = f.tree.Parent(node) {
		f.above[node] = false
	}
}

// target returns the next queue to take from, or quota.None when there is none left.
func (f *fairSearch) target() int32 {
	if f.tree.Parent(f.queue) == quota.None {
		if f.peek(f.queue) == order.None {
			return quota.None
		}
		return f.queue
	}
	root := f.tree.Root(f.queue)
	for !f.pruned[root] {
		if q := f.descend(root); q != quota.None {
			return q
		}
	}
	return quota.None
}

// descend follows the largest share down from a cohort. It returns quota.None if it only
// found that something yields no more.
func (f *fairSearch) descend(node int32) int32 {
	for {
		queue, queueShare := f.largestQueue(node)
		cohort, cohortShare := f.largestCohort(node)
		switch {
		case queue == quota.None && cohort == quota.None:
			f.pruned[node] = true
			return quota.None
		case cohort == quota.None || queue != quota.None && cohortShare.Compare(queueShare) < 0:
			return queue
		}
		node = cohort
	}
}

// largestQueue returns the child queue with the largest share that has candidates and
// borrows, or is the preemptor's own. Ties go to the first candidate in order.
func (f *fairSearch) largestQueue(node int32) (best int32, share quota.Share) {
	best = quota.None
	for _, q := range f.tree.Leaves(node) {
		if f.pruned[q] {
			continue
		}
		if f.peek(q) == order.None {
			f.pruned[q] = true
			continue
		}
		s := f.tree.Share(q)
		if !s.Borrowing && q != f.queue {
			f.pruned[q] = true
			continue
		}
		c := 1
		if best != quota.None {
			c = s.Compare(share)
		}
		if c > 0 || c == 0 && f.earlier(f.peek(q), f.peek(best)) {
			best, share = q, s
		}
	}
	return best, share
}

// earlier is the order of victims across queues.
func (f *fairSearch) earlier(a, b int32) bool {
	wa, wb := &f.k.Work[a], &f.k.Work[b]
	if wa.Evicted != wb.Evicted {
		return wa.Evicted
	}
	if ownA, ownB := wa.Queue == f.queue, wb.Queue == f.queue; ownA != ownB {
		return ownB
	}
	return f.k.arena.Key(a).Less(f.k.arena.Key(b))
}

// largestCohort returns the child cohort with the largest share that borrows, or is above
// the preemptor. Ties go by name.
func (f *fairSearch) largestCohort(node int32) (best int32, share quota.Share) {
	best = quota.None
	for _, c := range f.tree.Cohorts(node) {
		if f.pruned[c] {
			continue
		}
		s := f.tree.Share(c)
		if !s.Borrowing && !f.above[c] {
			f.pruned[c] = true
			continue
		}
		if best == quota.None || s.Compare(share) > 0 {
			best, share = c, s
		}
	}
	return best, share
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
			continue
		}
		mine, other := f.rivals(q)
		if f.takeFair(q, strategy, f.tree.Share(mine), other) {
			return true
		}
	}
	return false
}

// takeFair takes the first candidate of a queue that the strategy allows, and reports
// whether the preemptor fits then.
func (f *fairSearch) takeFair(q int32, strategy Strategy, mine quota.Share, other int32) bool {
	old := f.tree.Share(other)
	for f.peek(q) != order.None {
		item := f.pop(q)
		if f.fair(strategy, mine, old, item, other) {
			return f.take(item, InCohortFairSharing)
		}
		f.lists[q].refused = append(f.lists[q].refused, item)
	}
	return false
}

// fair applies a strategy to a candidate. Removing it can only lower its side's share, so
// that a preemptor above the present one need not try.
func (f *fairSearch) fair(strategy Strategy, mine, old quota.Share, item, other int32) bool {
	if strategy == InitialShare {
		return mine.Compare(old) < 0
	}
	if mine.Compare(old) > 0 {
		return false
	}
	mark := f.tree.Mark()
	f.tree.FreeAll(f.k.Work[item].Queue, f.k.Work[item].holds)
	left := f.tree.Share(other)
	f.tree.Undo(mark)
	return mine.Compare(left) <= 0
}

// second applies the second strategy, once per queue, to what the first refused.
func (f *fairSearch) second() bool {
	for q := f.target(); q != quota.None; q = f.target() {
		mine, other := f.rivals(q)
		item := f.pop(q)
		if f.tree.Share(mine).Compare(f.tree.Share(other)) < 0 && f.take(item, InCohortFairSharing) {
			return true
		}
		f.pruned[q] = true
	}
	return false
}

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
