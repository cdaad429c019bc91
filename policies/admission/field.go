package admission

import (
	"github.com/gangplan/gangplan/sim/order"
	"github.com/gangplan/gangplan/sim/quota"
)

// field is the child queues of a cohort in a search under fair sharing: those that were
// looked at, in a heap, the largest share first; and the others, in the order of their
// ranking, which are looked at when it is their turn.
type field struct {
	ranked []int32
	at     int // in ranked
	heap   []int32
	used   bool
}

// target returns the next queue to take from, or quota.None when there is none left.
func (f *fairSearch) target() int32 {
	if f.tree.Parent(f.queue) == quota.None {
		if f.second || f.peek(f.queue) == order.None {
			return quota.None
		}
		return f.queue
	}
	root := f.root()
	for f.pruned[root] != f.round {
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
		queue := f.largestQueue(node)
		cohort, share := f.largestCohort(node)
		switch {
		case queue == quota.None && cohort == quota.None:
			f.prune(node)
			return quota.None
		case cohort == quota.None || queue != quota.None && share.Compare(&f.lists[queue].share) < 0:
			return queue
		}
		node = cohort
	}
}

// prune notes that a cohort yields no more candidates in this round: either none are left,
// or the strategies refuse all that are. When the preemptor's side of a cohort has a larger
// share than the largest other, they do, until something leaves the preemptor's side; and
// there nothing is left, or it would have been its turn.
func (f *fairSearch) prune(node int32) { f.pruned[node] = f.round }

// largestQueue returns the child queue with the largest share that has candidates and
// borrows, or is the preemptor's own. Ties go to the first candidate in order.
func (f *fairSearch) largestQueue(node int32) int32 {
	fd := f.field(node)
	for f.skip(node, fd); fd.at < len(fd.ranked); f.skip(node, fd) {
		q := fd.ranked[fd.at]
		if len(fd.heap) > 0 && !f.k.ranks.of[shareRank][q].before(&f.lists[fd.heap[0]].standing) {
			break
		}
		fd.at++
		if f.lists[q].search != f.count && f.tree.Exceeds(q, f.contested) && f.open(q).item != order.None {
			f.enter(q)
		}
	}
	if len(fd.heap) == 0 {
		return quota.None
	}
	return fd.heap[0]
}

// skip passes over queues of whom the first strategy would refuse everybody: without any one
// of their holders, their share would be less than that of the preemptor's side. It is their
// turn before anybody of that side.
func (f *fairSearch) skip(node int32, fd *field) {
	if f.second || f.within || !f.above[node] || fd.at == len(fd.ranked) || f.k.Rules.strategies()[0] != FinalShare {
		return
	}
	mine := f.queue
	for f.tree.Parent(mine) != node {
		mine = f.tree.Parent(mine)
	}
	orEqual := f.spent(mine) && (f.peek(f.queue) == order.None || f.lists[f.queue].live)
	if to := f.unfairTo(leap{node, f.k.ranks.version[f.root()], fd.at, f.tree.Share(mine), orEqual}); to > fd.at {
		fd.at = to
		f.refusals++
	}
}

// leap is a question about queues of a ranking. Many heads ask the same.
type leap struct {
	cohort  int32
	version int64
	from    int
	share   quota.Share
	orEqual bool
}

// unfairTo returns the place of the first queue from which something may be had.
func (f *fairSearch) unfairTo(ask leap) int {
	if f.asked == ask {
		return f.answer
	}
	queues, to := len(f.k.ranks.queues(shareRank, ask.cohort)), ask.from
	for to < queues {
		n := f.k.ranks.unfair(ask.cohort, to, &ask.share, ask.orEqual)
		if n == 0 {
			break
		}
		to += n
	}
	if ask.from == 0 {
		f.asked, f.answer = ask, to
	}
	return to
}

func (f *fairSearch) root() int32 { return f.tree.Root(f.queue) }

// field returns the field of a cohort, with the preemptor's own queue in it.
func (f *fairSearch) field(node int32) *field {
	fd := &f.fields[node]
	if fd.used {
		return fd
	}
	f.inUse = append(f.inUse, node)
	fd.used, fd.heap, fd.ranked, fd.at = true, fd.heap[:0], nil, 0
	if f.tree.Queue(f.queue).Preemption.Reclaim != quota.Never {
		fd.ranked = f.k.ranks.queues(shareRank, node)
	}
	if node == f.tree.Parent(f.queue) && !f.second && f.peek(f.queue) != order.None {
		f.enter(f.queue)
	}
	return fd
}

// largestCohort returns the child cohort with the largest share that borrows, or is above
// the preemptor. Ties go by name.
func (f *fairSearch) largestCohort(node int32) (best int32, share quota.Share) {
	best = quota.None
	for _, c := range f.tree.Cohorts(node) {
		if f.pruned[c] == f.round {
			continue
		}
		s := f.tree.Share(c)
		if !s.Borrowing && !f.above[c] {
			f.prune(c)
			continue
		}
		if best == quota.None || s.Compare(&share) > 0 {
			best, share = c, s
		}
	}
	return best, share
}

// enter puts a queue that has a candidate into the field of its cohort, if it borrows or is
// the preemptor's own.
func (f *fairSearch) enter(q int32) {
	if !f.stand(q) {
		return
	}
	h := &f.fields[f.tree.Parent(q)].heap
	*h = append(*h, q)
	for at := len(*h) - 1; at > 0 && f.ahead((*h)[at], (*h)[(at-1)/2]); at = (at - 1) / 2 {
		(*h)[at], (*h)[(at-1)/2] = (*h)[(at-1)/2], (*h)[at]
	}
}

// stand renews the standing of a queue by its next candidate, and reports whether it stays
// in the running.
func (f *fairSearch) stand(q int32) bool {
	l := &f.lists[q]
	if l.item == order.None {
		return false
	}
	l.live = !f.k.Work[l.item].Evicted
	l.share, l.key = f.tree.Share(q), f.k.arena.Key(l.item)
	return l.share.Borrowing || l.own
}

// settle puts the first queue of a field, of which something was taken or refused, where it
// belongs now.
func (f *fairSearch) settle(q int32) {
	if parent := f.tree.Parent(q); parent == quota.None {
		return
	} else if fd := &f.fields[parent]; f.stand(q) {
		fd.sink(f, 0)
	} else {
		fd.drop(f)
	}
}

func (f *fairSearch) ahead(a, b int32) bool {
	return f.lists[a].standing.before(&f.lists[b].standing)
}

// drop takes the first queue out.
func (fd *field) drop(f *fairSearch) {
	last := len(fd.heap) - 1
	fd.heap[0] = fd.heap[last]
	fd.heap = fd.heap[:last]
	fd.sink(f, 0)
}

// sink restores the heap below a position.
func (fd *field) sink(f *fairSearch, at int) {
	for {
		least := at
		for child := 2*at + 1; child <= 2*at+2; child++ {
			if child < len(fd.heap) && f.ahead(fd.heap[child], fd.heap[least]) {
				least = child
			}
		}
		if least == at {
			return
		}
		fd.heap[at], fd.heap[least] = fd.heap[least], fd.heap[at]
		at = least
	}
}
