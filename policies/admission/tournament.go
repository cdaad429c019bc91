package admission

import "github.com/gangplan/gangplan/sim/quota"

// The order of entries under fair sharing is a tournament that is played again after every
// entry: in each cohort the best entries of its children meet, and are compared by what
// their child's share would be with the entry admitted.
type bracket struct {
	entryOf []int32   // per queue: its entry that is not processed yet, or -1
	waiting []int32   // per node: entries below it that are not processed yet
	path    [][]round // per entry: its standing at each of its ancestors, lowest first
}

// round is an entry's standing in the matches of one cohort.
type round struct {
	share   quota.Share
	borrows bool // of what the entry asks for
}

func (b *bracket) reset(t *quota.Tree) {
	b.entryOf, b.waiting = make([]int32, t.Len()), make([]int32, t.Nodes())
	for q := range b.entryOf {
		b.entryOf[q] = -1
	}
}

// tournament processes every entry; those of queues without cohort as they come. Different
// trees do not meet.
func (k *Kernel) tournament() {
	b := &k.bracket
	for len(b.path) < len(k.entries) {
		b.path = append(b.path, nil)
	}
	for i := range k.entries {
		b.entryOf[k.Work[k.entries[i].Workload].Queue] = int32(i)
		k.count(int32(i), 1)
		k.stand(int32(i))
	}
	for _, i := range k.ordered {
		q := k.Work[k.entries[i].Workload].Queue
		root := k.Tree.Root(q)
		for b.waiting[root] > 0 {
			winner := k.winner(root)
			k.process(&k.entries[winner])
			b.entryOf[k.Work[k.entries[winner].Workload].Queue] = -1
			k.count(winner, -1)
			k.standAgain(winner)
		}
	}
}

// count adds to the number of waiting entries of an entry's nodes.
func (k *Kernel) count(i, by int32) {
	for node := k.Work[k.entries[i].Workload].Queue; node != quota.None; node = k.Tree.Parent(node) {
		k.bracket.waiting[node] += by
	}
}

// stand computes an entry's standing in every cohort above it.
func (k *Kernel) stand(i int32) {
	e := &k.entries[i]
	q := k.Work[e.Workload].Queue
	path := k.bracket.path[i][:0]
	mark := k.Tree.Mark()
	k.Tree.UseAll(q, e.Usage)
	for node := q; k.Tree.Parent(node) != quota.None; node = k.Tree.Parent(node) {
		path = append(path, round{k.Tree.Share(node), k.Tree.BorrowsAny(node, e.Usage)})
	}
	k.Tree.Undo(mark)
	k.bracket.path[i] = path
}

// standAgain renews the standings that processing an entry may have changed: those of
// entries that share a cohort with it below the root.
func (k *Kernel) standAgain(done int32) {
	node := k.Work[k.entries[done].Workload].Queue
	for k.Tree.Parent(node) != quota.None && k.Tree.Parent(k.Tree.Parent(node)) != quota.None {
		node = k.Tree.Parent(node)
	}
	k.standBelow(node)
}

func (k *Kernel) standBelow(node int32) {
	if k.bracket.waiting[node] == 0 {
		return
	}
	for _, c := range k.Tree.Cohorts(node) {
		k.standBelow(c)
	}
	for _, q := range k.Tree.Leaves(node) {
		if i := k.bracket.entryOf[q]; i >= 0 {
			k.stand(i)
		}
	}
}

// winner plays the matches of a node and returns the best entry below it, or -1.
func (k *Kernel) winner(node int32) int32 {
	if int(node) < len(k.bracket.entryOf) {
		return k.bracket.entryOf[node]
	}
	if k.bracket.waiting[node] == 0 {
		return -1
	}
	best := int32(-1)
	for _, c := range k.Tree.Cohorts(node) {
		best = k.match(best, k.winner(c), node)
	}
	for _, q := range k.Tree.Leaves(node) {
		best = k.match(best, k.bracket.entryOf[q], node)
	}
	return best
}

// match returns the better of two entries in a cohort; there may be none.
func (k *Kernel) match(best, i, cohort int32) int32 {
	if i >= 0 && (best < 0 || k.beats(i, best, cohort)) {
		return i
	}
	return best
}

// beats compares two entries in the matches of a cohort.
func (k *Kernel) beats(i, j, cohort int32) bool {
	a, b := k.standing(i, cohort), k.standing(j, cohort)
	if k.Rules.NonBorrowingFirst && a.borrows != b.borrows {
		return !a.borrows
	}
	if c := a.share.Compare(b.share); c != 0 {
		return c < 0
	}
	return k.byPriority(k.entries[i].Workload, k.entries[j].Workload) < 0
}

func (k *Kernel) standing(i, cohort int32) *round {
	depth := 0
	for node := k.Tree.Parent(k.Work[k.entries[i].Workload].Queue); node != cohort; node = k.Tree.Parent(node) {
		depth++
	}
	return &k.bracket.path[i][depth]
}
