package admission

import (
	"cmp"
	"slices"

	"github.com/gangplan/gangplan/sim/quota"
)

// inOrder processes every entry, in order.
func (k *Kernel) inOrder() {
	if k.Rules.FairSharing {
		k.tournament()
		return
	}
	k.ordered = k.ordered[:0]
	for i := range k.entries {
		k.ordered = append(k.ordered, int32(i))
	}
	slices.SortStableFunc(k.ordered, k.classical)
	for _, i := range k.ordered {
		k.process(&k.entries[i])
	}
}

// classical compares two entries: who borrows from less far up, higher priority, earlier,
// queue by name. No two entries are equal, as each is of another queue.
func (k *Kernel) classical(i, j int32) int {
	a, b := &k.entries[i], &k.entries[j]
	if c := cmp.Compare(a.Level, b.Level); c != 0 {
		return c
	}
	return k.byPriority(a.Workload, b.Workload)
}

func (k *Kernel) byPriority(a, b int32) int {
	wa, wb := &k.Work[a], &k.Work[b]
	if wa.Priority != wb.Priority && !k.Rules.AgeFirst {
		return cmp.Compare(wb.Priority, wa.Priority)
	}
	if wa.Time != wb.Time {
		return cmp.Compare(wa.Time, wb.Time)
	}
	if wa.Queue != wb.Queue {
		return cmp.Compare(k.names[wa.Queue], k.names[wb.Queue])
	}
	return cmp.Compare(wa.Rank, wb.Rank)
}

// rankNames returns the place of every queue in the order of names.
func rankNames(t *quota.Tree) []int32 {
	queues := make([]int32, t.Len())
	for q := range queues {
		queues[q] = int32(q)
	}
	slices.SortStableFunc(queues, func(a, b int32) int { return cmp.Compare(t.Name(a), t.Name(b)) })
	ranks := make([]int32, t.Len())
	for i, q := range queues {
		ranks[q] = int32(i)
	}
	return ranks
}
