package admission

import (
	"cmp"
	"slices"

	"github.com/gangplan/gangplan/sim/quota"
)

// search is the search for victims of either kind.
func (n *naive) search(w int32, usage []quota.Item, contested []quota.FR) []Target {
	if n.k.Rules.FairSharing {
		return newNaiveFair(n.k, w, usage, contested).run()
	}
	s := &naiveSearch{k: n.k, w: w, q: n.k.Work[w].Queue, usage: usage, contested: contested}
	return s.run()
}

// compareVictims is the order of victims.
func (n *naiveSearch) compareVictims(a, b int32) int {
	wa, wb := &n.k.Work[a], &n.k.Work[b]
	number := func(is bool) int {
		if is {
			return 1
		}
		return 0
	}
	used := 0
	if k := n.k; wa.Queue == wb.Queue && k.Locals != nil && k.Locals.Turns(wa.Queue) {
		used = cmp.Compare(k.Locals.Used(k.Locals.Of(b)), k.Locals.Used(k.Locals.Of(a)))
	}
	return cmp.Or(cmp.Compare(number(wb.Evicted), number(wa.Evicted)), cmp.Compare(number(wa.Queue == n.q), number(wb.Queue == n.q)), used,
		cmp.Compare(wa.Priority, wb.Priority), cmp.Compare(wb.reservedAt, wa.reservedAt), cmp.Compare(wa.Rank, wb.Rank))
}

// inOrder sorts candidates: evicted before live, class by class, and within a class the first
// of every queue meet. Where the LocalQueues of a queue take turns there is no order of all
// that agrees with that of every queue: so the queues keep theirs and are merged.
func (n *naiveSearch) inOrder(all []naiveCandidate) (out []naiveCandidate) {
	for len(all) > 0 {
		best := -1
		for i := range all {
			if n.isFirst(all, i) && (best < 0 || n.compareFirsts(all[i], all[best]) < 0) {
				best = i
			}
		}
		out = append(out, all[best])
		all = slices.Delete(all, best, best+1)
	}
	return out
}

// isFirst reports whether nobody of a candidate's queue comes before it.
func (n *naiveSearch) isFirst(all []naiveCandidate, i int) bool {
	return !slices.ContainsFunc(all, func(c naiveCandidate) bool {
		return n.k.Work[c.w].Queue == n.k.Work[all[i].w].Queue && n.compareVictims(c.w, all[i].w) < 0
	})
}

func (n *naiveSearch) compareFirsts(a, b naiveCandidate) int {
	if n.k.Work[a.w].Evicted == n.k.Work[b.w].Evicted && a.class != b.class {
		return cmp.Compare(a.class, b.class)
	}
	return n.compareVictims(a.w, b.w)
}

// naiveFair is preemption under fair sharing: all candidates of every queue in lists, and
// for every victim the whole tree is looked at.
type naiveFair struct {
	naiveSearch
	lists   map[int32][]int32
	refused map[int32][]int32
	pruned  map[int32]bool
	targets []Target
}

func newNaiveFair(k *Kernel, w int32, usage []quota.Item, contested []quota.FR) *naiveFair {
	f := &naiveFair{naiveSearch: naiveSearch{k: k, w: w, q: k.Work[w].Queue, usage: usage, contested: contested},
		lists: map[int32][]int32{}, refused: map[int32][]int32{}}
	a := &asks{w: w, queue: f.q, usage: usage, contested: contested}
	for v := range int32(len(k.Work)) {
		q := k.Work[v].Queue
		if !k.Holds(v) || !k.uses(v, contested) || !k.allowed(a, k.policyFor(a, q), v) {
			continue
		}
		if _, related := f.common(q); q == f.q || related && k.Tree.Exceeds(q, contested) {
			f.lists[q] = append(f.lists[q], v)
		}
	}
	for q := range f.lists {
		slices.SortStableFunc(f.lists[q], f.compareVictims)
	}
	return f
}

func (f *naiveFair) above(node int32) bool {
	for up := f.k.Tree.Parent(f.q); up != quota.None; up = f.k.Tree.Parent(up) {
		if up == node {
			return true
		}
	}
	return false
}

// target returns the queue that the largest shares lead to.
func (f *naiveFair) target() int32 {
	t := f.k.Tree
	if t.Parent(f.q) == quota.None {
		if len(f.lists[f.q]) == 0 {
			return quota.None
		}
		return f.q
	}
	for node := t.Root(f.q); !f.pruned[t.Root(f.q)]; {
		best := int32(quota.None)
		for _, child := range append(slices.Clone(t.Cohorts(node)), t.Leaves(node)...) {
			if f.leads(child) && (best == quota.None || f.larger(child, best)) {
				best = child
			}
		}
		switch {
		case best == quota.None:
			f.pruned[node] = true
			node = t.Root(f.q)
		case best < int32(t.Len()):
			return best
		default:
			node = best
		}
	}
	return quota.None
}

// leads reports whether a node may have candidates.
func (f *naiveFair) leads(node int32) bool {
	share := f.k.Tree.Share(node)
	if node < int32(f.k.Tree.Len()) {
		return !f.pruned[node] && len(f.lists[node]) > 0 && (share.Borrowing || node == f.q)
	}
	return !f.pruned[node] && (share.Borrowing || f.above(node))
}

// larger reports whether it goes to a node rather than to another, which was seen before.
func (f *naiveFair) larger(node, best int32) bool {
	a, b := f.k.Tree.Share(node), f.k.Tree.Share(best)
	if c := a.Compare(&b); c != 0 {
		return c > 0
	}
	queues := int32(f.k.Tree.Len())
	return node < queues && best < queues && f.compareVictims(f.lists[node][0], f.lists[best][0]) < 0
}

func (f *naiveFair) pop(q int32) int32 {
	v := f.lists[q][0]
	f.lists[q] = f.lists[q][1:]
	return v
}

// take removes a victim and reports whether that is enough.
func (f *naiveFair) take(v int32, cause Cause) bool {
	f.targets = append(f.targets, Target{v, cause})
	f.k.free(v)
	f.k.Tree.FreeAll(f.q, f.usage)
	defer f.k.Tree.UseAll(f.q, f.usage)
	return f.fits(true)
}

// sides returns the shares of both sides of the lowest common cohort, with a holder gone.
func (f *naiveFair) sides(q, without int32) (mine, other quota.Share) {
	t := f.k.Tree
	common, _ := f.common(q)
	side := func(node int32) int32 {
		for t.Parent(node) != common {
			node = t.Parent(node)
		}
		return node
	}
	mark := t.Mark()
	defer t.Undo(mark)
	mine = t.Share(side(f.q))
	if without >= 0 {
		f.k.free(without)
	}
	return mine, t.Share(side(q))
}

func (f *naiveFair) first(strategy Strategy, within bool) bool {
	for q := f.target(); q != quota.None; q = f.target() {
		if q == f.q || within {
			cause := InCohortReclamation
			if q == f.q {
				cause = InClusterQueue
			}
			if f.take(f.pop(q), cause) {
				return true
			}
			continue
		}
		for len(f.lists[q]) > 0 {
			v := f.pop(q)
			mine, left := f.sides(q, v)
			_, old := f.sides(q, -1)
			if strategy == FinalShare && mine.Compare(&left) <= 0 || strategy == InitialShare && mine.Compare(&old) < 0 {
				if f.take(v, InCohortFairSharing) {
					return true
				}
				break
			}
			f.refused[q] = append(f.refused[q], v)
		}
	}
	return false
}

func (f *naiveFair) second() bool {
	for q := f.target(); q != quota.None; q = f.target() {
		v := f.pop(q)
		if mine, old := f.sides(q, -1); mine.Compare(&old) < 0 && f.take(v, InCohortFairSharing) {
			return true
		}
		f.pruned[q] = true
	}
	return false
}

func (f *naiveFair) run() []Target {
	t := f.k.Tree
	mark := t.Mark()
	defer t.Undo(mark)
	t.UseAll(f.q, f.usage)
	within := f.k.Rules.PreemptWithinNominal
	for _, fr := range f.contested {
		within = within && t.Usage(f.q, fr) <= t.Nominal(f.q, fr)
	}
	strategies := f.k.Rules.strategies()
	f.pruned = map[int32]bool{}
	found := f.first(strategies[0], within)
	if !found && len(strategies) > 1 {
		f.lists, f.pruned = f.refused, map[int32]bool{}
		found = f.second()
	}
	if !found {
		return nil
	}
	t.FreeAll(f.q, f.usage)
	return f.giveBack(f.targets, true)
}

// giveBack gives back the victims that are not needed.
func (n *naiveSearch) giveBack(targets []Target, borrow bool) []Target {
	for i := len(targets) - 2; i >= 0; i-- {
		v := targets[i].Workload
		n.k.Tree.UseAll(n.k.Work[v].Queue, n.k.Work[v].holds)
		if n.fits(borrow) {
			targets[i] = targets[len(targets)-1]
			targets = targets[:len(targets)-1]
		} else {
			n.k.free(v)
		}
	}
	return targets
}

// next returns the index of the entry that is processed next.
func (n *naive) next(entries []*Entry) int {
	best := 0
	for i := range entries {
		if n.classical(entries[i], entries[best]) < 0 {
			best = i
		}
	}
	if !n.k.Rules.FairSharing || n.k.Tree.Parent(n.k.Work[entries[best].Workload].Queue) == quota.None {
		return best
	}
	winner := n.winner(entries, n.k.Tree.Root(n.k.Work[entries[best].Workload].Queue))
	return slices.Index(entries, winner)
}

func (n *naive) classical(a, b *Entry) int {
	return cmp.Or(cmp.Compare(a.Level, b.Level), n.byPriority(a, b))
}

func (n *naive) byPriority(a, b *Entry) int {
	wa, wb := &n.k.Work[a.Workload], &n.k.Work[b.Workload]
	priority := cmp.Compare(wb.Priority, wa.Priority)
	if n.k.Rules.AgeFirst {
		priority = 0
	}
	return cmp.Or(priority, cmp.Compare(wa.Time, wb.Time), cmp.Compare(n.k.Tree.Name(wa.Queue), n.k.Tree.Name(wb.Queue)), cmp.Compare(wa.Rank, wb.Rank))
}

// winner plays the tournament of a cohort.
func (n *naive) winner(entries []*Entry, cohort int32) (best *Entry) {
	t := n.k.Tree
	var bestChild int32
	for _, child := range append(slices.Clone(t.Cohorts(cohort)), t.Leaves(cohort)...) {
		e := n.entryBelow(entries, child)
		if e != nil && (best == nil || n.beats(e, child, best, bestChild)) {
			best, bestChild = e, child
		}
	}
	return best
}

func (n *naive) entryBelow(entries []*Entry, node int32) *Entry {
	if node >= int32(n.k.Tree.Len()) {
		return n.winner(entries, node)
	}
	for _, e := range entries {
		if n.k.Work[e.Workload].Queue == node {
			return e
		}
	}
	return nil
}

// beats compares two entries by what the children they come from would use with them.
func (n *naive) beats(a *Entry, childA int32, b *Entry, childB int32) bool {
	stand := func(e *Entry, child int32) (quota.Share, bool) {
		mark := n.k.Tree.Mark()
		defer n.k.Tree.Undo(mark)
		n.k.Tree.UseAll(n.k.Work[e.Workload].Queue, e.Usage)
		return n.k.Tree.Share(child), n.k.Tree.BorrowsAny(child, e.Usage)
	}
	shareA, borrowsA := stand(a, childA)
	shareB, borrowsB := stand(b, childB)
	if n.k.Rules.NonBorrowingFirst && borrowsA != borrowsB {
		return borrowsB
	}
	if c := shareA.Compare(&shareB); c != 0 {
		return c < 0
	}
	return n.byPriority(a, b) < 0
}
