package admission

import (
	"slices"

	"github.com/gangplan/gangplan/sim/quota"
)

// The order of entries under fair sharing is a tournament that is played again after every
// entry: in each cohort the best entries of its children meet, and are compared by what
// their child's share would be with the entry admitted. Processing an entry changes the
// shares of its queue and of the cohorts above alone, so only their matches are played again.
type bracket struct {
	seeds  []seeding   // per cohort: the entries of its queues
	in     []bool      // per node: there are entries below it
	seeded []int32     // nodes that are in
	best   []contender // per cohort
	leads  []int32     // per root: where the first entry of its tree is ordered, from 1
}

// seeding is the entries of a cohort's own queues, best first. Their order does not change:
// the share of a queue is its own affair.
type seeding struct {
	entries []contender
	next    int
}

// contender is the best entry below a node, or -1, and its standing in the cohort above.
type contender struct {
	entry int32
	round
}

// round is an entry's standing in the matches of one cohort.
type round struct {
	share   quota.Share
	borrows bool // of what the entry asks for
}

func (b *bracket) reset(t *quota.Tree) {
	*b = bracket{seeds: make([]seeding, t.Nodes()), in: make([]bool, t.Nodes()), best: make([]contender, t.Nodes()), leads: make([]int32, t.Nodes())}
}

// tournament processes every entry. Different trees do not meet: they come in the order of
// their first entries.
func (k *Kernel) tournament() {
	b := &k.bracket
	b.seeded, k.ordered = b.seeded[:0], k.ordered[:0]
	for i := range k.entries {
		k.enroll(int32(i))
		k.lead(int32(i))
	}
	for _, node := range b.seeded {
		k.seed(node)
	}
	slices.SortStableFunc(k.ordered, k.classical)
	for _, i := range k.ordered {
		q := k.Work[k.entries[i].Workload].Queue
		root := k.Tree.Root(q)
		b.leads[root] = 0
		if root == q {
			k.process(&k.entries[i])
			continue
		}
		k.playAll(root)
		k.finish(root)
	}
}

// enroll adds an entry to the cohort of its queue.
func (k *Kernel) enroll(i int32) {
	b, q := &k.bracket, k.Work[k.entries[i].Workload].Queue
	if cohort := k.Tree.Parent(q); cohort != quota.None {
		b.seeds[cohort].entries = append(b.seeds[cohort].entries, contender{i, k.firstRound(&k.entries[i])})
	}
	for node := k.Tree.Parent(q); node != quota.None && !b.in[node]; node = k.Tree.Parent(node) {
		b.in[node] = true
		b.seeded = append(b.seeded, node)
	}
}

// lead keeps the first entry of every tree.
func (k *Kernel) lead(i int32) {
	switch at := &k.bracket.leads[k.Tree.Root(k.Work[k.entries[i].Workload].Queue)]; {
	case *at == 0:
		k.ordered = append(k.ordered, i)
		*at = int32(len(k.ordered))
	case k.classical(i, k.ordered[*at-1]) < 0:
		k.ordered[*at-1] = i
	}
}

// seed sorts the entries of a cohort's queues.
func (k *Kernel) seed(cohort int32) {
	b := &k.bracket
	slices.SortStableFunc(b.seeds[cohort].entries, func(x, y contender) int { return k.compare(&x, &y) })
}

// playAll processes the entries of a tree, winner by winner.
func (k *Kernel) playAll(root int32) {
	k.playBelow(root)
	for winner := k.bracket.best[root].entry; winner >= 0; winner = k.bracket.best[root].entry {
		k.process(&k.entries[winner])
		node := k.Tree.Parent(k.Work[k.entries[winner].Workload].Queue)
		k.bracket.seeds[node].next++
		for ; node != quota.None; node = k.Tree.Parent(node) {
			k.play(node)
		}
	}
}

// playBelow plays the matches of a cohort and of all below it.
func (k *Kernel) playBelow(cohort int32) {
	for _, c := range k.Tree.Cohorts(cohort) {
		if k.bracket.in[c] {
			k.playBelow(c)
		}
	}
	k.play(cohort)
}

// play finds the best entry below a cohort, and how it stands in the cohort above.
func (k *Kernel) play(cohort int32) {
	b := &k.bracket
	best := contender{entry: -1}
	if s := &b.seeds[cohort]; s.next < len(s.entries) {
		best = s.entries[s.next]
	}
	for _, c := range k.Tree.Cohorts(cohort) {
		if other := &b.best[c]; b.in[c] && other.entry >= 0 && (best.entry < 0 || k.compare(other, &best) < 0) {
			best = *other
		}
	}
	if best.entry >= 0 {
		best.round = k.standing(&k.entries[best.entry], cohort)
	}
	b.best[cohort] = best
}

// firstRound is standing in the cohort of the entry's own queue.
func (k *Kernel) firstRound(e *Entry) (r round) {
	q := k.Work[e.Workload].Queue
	for _, it := range e.Usage {
		r.borrows = r.borrows || it.Amount > 0 && k.Tree.BorrowsWith(q, it.FR, it.Amount)
	}
	r.share = k.Tree.ShareWith(q, e.Usage)
	return r
}

// standing returns how an entry stands in the cohort above a node that it is below.
func (k *Kernel) standing(e *Entry, node int32) round {
	if k.Tree.Parent(node) == quota.None {
		return round{}
	}
	mark := k.Tree.Mark()
	k.Tree.UseAll(k.Work[e.Workload].Queue, e.Usage)
	r := round{k.Tree.Share(node), k.Tree.BorrowsAny(node, e.Usage)}
	k.Tree.Undo(mark)
	return r
}

// compare orders two entries in the matches of a cohort.
func (k *Kernel) compare(a, b *contender) int {
	if k.Rules.NonBorrowingFirst && a.borrows != b.borrows {
		if a.borrows {
			return 1
		}
		return -1
	}
	if c := a.share.Compare(&b.share); c != 0 {
		return c
	}
	return k.byPriority(k.entries[a.entry].Workload, k.entries[b.entry].Workload)
}

// finish clears the bracket of a tree whose entries are all processed.
func (k *Kernel) finish(node int32) {
	b := &k.bracket
	b.seeds[node].entries, b.seeds[node].next, b.in[node] = b.seeds[node].entries[:0], 0, false
	for _, c := range k.Tree.Cohorts(node) {
		if b.in[c] {
			k.finish(c)
		}
	}
}
