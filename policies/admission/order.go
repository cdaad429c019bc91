package admission

import (
	"cmp"
	"slices"
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
	slices.SortFunc(k.ordered, k.classical)
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
	if k.Rules.AgeFirst {
		return cmp.Or(cmp.Compare(wa.Time, wb.Time), cmp.Compare(k.Tree.Name(wa.Queue), k.Tree.Name(wb.Queue)), cmp.Compare(wa.Rank, wb.Rank))
	}
	return cmp.Or(cmp.Compare(wb.Priority, wa.Priority), cmp.Compare(wa.Time, wb.Time),
		cmp.Compare(k.Tree.Name(wa.Queue), k.Tree.Name(wb.Queue)), cmp.Compare(wa.Rank, wb.Rank))
}
