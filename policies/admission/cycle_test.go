package admission

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gangplan/gangplan/sim/order"
	"github.com/gangplan/gangplan/sim/quota"
)

// heads draws one waiting workload per queue.
func heads(k *Kernel) (out []int32) {
	seen := make([]bool, k.Tree.Len())
	for _, w := range k.waiting() {
		if q := k.Work[w].Queue; !seen[q] {
			seen[q] = true
			out = append(out, w)
		}
	}
	return out
}

// Whatever the tree and the rules: a cycle decides about every head once, leaves the tree
// as it was, takes no victim twice and none that holds nothing, and admits nothing that
// would not fit if the earlier admissions were there and the cycle's victims were gone. The
// order of the heads does not matter.
func TestCyclesAreSound(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	admitted, preempted, skipped := 0, 0, 0
	for round := range 4000 {
		k := random(r, round%2 == 0)
		list := heads(k)
		before := usageOf(k.Tree)
		entries := k.Cycle(list)
		if len(entries) != len(list) || !slices.Equal(before, usageOf(k.Tree)) {
			t.Fatalf("round %d: %d of %d entries, or the tree changed", round, len(entries), len(list))
		}
		first := summary(entries)
		for _, e := range entries {
			k.Forget(e.Workload)
			preempted += len(e.Targets)
			if e.Status == Skipped {
				skipped++
			}
		}
		admitted += soundEntries(t, k, entries)
		r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		if again := summary(k.Cycle(list)); !sameByTree(k, first, again) {
			t.Fatalf("round %d: another order of the heads gives %v, not %v", round, again, first)
		}
	}
	if admitted < 500 || preempted < 500 || skipped < 50 {
		t.Errorf("%d admitted, %d preempted, %d skipped: too few to prove anything", admitted, preempted, skipped)
	}
}

type row struct {
	w      int32
	status Status
	mode   Mode
	n      int
}

func summary(entries []*Entry) (out []row) {
	for _, e := range entries {
		out = append(out, row{e.Workload, e.Status, e.Mode, len(e.Targets)})
	}
	return out
}

// sameByTree compares summaries tree by tree: across trees there is no order.
func sameByTree(k *Kernel, a, b []row) bool {
	by := func(x, y row) int {
		return int(k.Tree.Root(k.Work[x.w].Queue) - k.Tree.Root(k.Work[y.w].Queue))
	}
	a, b = slices.Clone(a), slices.Clone(b)
	slices.SortStableFunc(a, by)
	slices.SortStableFunc(b, by)
	return slices.Equal(a, b)
}

// soundEntries replays a cycle's decisions and returns how many were admitted.
func soundEntries(t *testing.T, k *Kernel, entries []*Entry) (admitted int) {
	t.Helper()
	mark := k.Tree.Mark()
	defer k.Tree.Undo(mark)
	gone := map[int32]bool{}
	for _, e := range entries {
		if e.Status != Assumed && e.Requeue != PendingPreemption {
			continue
		}
		for _, target := range e.Targets {
			if gone[target.Workload] || !k.Holds(target.Workload) {
				t.Fatalf("victim %d twice, or it holds nothing", target.Workload)
			}
			gone[target.Workload] = true
			k.Tree.FreeAll(k.Work[target.Workload].Queue, k.Work[target.Workload].holds)
		}
		for _, it := range e.Usage {
			if it.Amount > k.Tree.Available(k.Work[e.Workload].Queue, it.FR) && !reserved(entries) {
				t.Fatalf("workload %d takes %d of %d available", e.Workload, it.Amount, k.Tree.Available(k.Work[e.Workload].Queue, it.FR))
			}
		}
		k.Tree.UseAll(k.Work[e.Workload].Queue, e.Usage)
		if e.Status == Assumed {
			admitted++
		}
	}
	return admitted
}

// reserved reports whether a blocked head kept capacity, which the replay does not.
func reserved(entries []*Entry) bool {
	return slices.ContainsFunc(entries, func(e *Entry) bool { return e.Blocked() })
}

func one(queue quota.Queue, work ...Workload) *Kernel {
	rules, _ := Version("")
	return New(rules, quota.NewTree([]quota.Queue{queue}, nil), work)
}

func gpus(n int64) quota.Queue {
	return quota.Queue{Name: "q", Nominal: quota.Amounts{n}, Covers: [4]bool{true}}
}

func wants(count int32, min int32) Workload {
	return Workload{Sets: []PodSet{{Count: count, Min: min, Request: quota.Amounts{1}}}}
}

// Partial admission takes the largest number of pods that fits.
func TestPartialAdmission(t *testing.T) {
	for count := int32(1); count <= 12; count++ {
		for least := int32(1); least <= count; least++ {
			k := one(gpus(8), wants(count, least))
			var a Assignment
			k.Nominate(0, &a)
			switch want := min(count, 8); {
			case least > 8:
				if a.Mode != NoFit {
					t.Errorf("%d pods, at least %d: %v", count, least, a.Mode)
				}
			case a.Mode != Fit || a.Sets[0].Count != want:
				t.Errorf("%d pods, at least %d: %v with %d, want %d", count, least, a.Mode, a.Sets[0].Count, want)
			}
		}
	}
}

// The head of a BestEffortFIFO queue that cannot be admitted is set aside until a wake-up;
// that of a StrictFIFO queue stays.
func TestReturn(t *testing.T) {
	for _, s := range []quota.Strategy{quota.BestEffortFIFO, quota.StrictFIFO} {
		k := one(gpus(4), wants(9, 0), wants(1, 0))
		k.Work[1].Rank = 1
		q := NewQueue(order.NewArena(2), s)
		k.Push(&q, 0)
		k.Push(&q, 1)
		k.Return(&q, k.Cycle([]int32{q.Head()})[0])
		if strict := s == quota.StrictFIFO; (q.Head() == 0) != strict || (len(q.Aside()) == 0) != strict {
			t.Errorf("%s: the head is %d, %v set aside", s, q.Head(), q.Aside())
		}
		if k.Wake(&q); q.Head() != 0 || len(q.Active()) != 2 {
			t.Errorf("%s: after the wake-up %v", s, q.Active())
		}
	}
}

// A preemptor keeps the head of its queue, also when it was set aside in between.
func TestSticky(t *testing.T) {
	k := one(gpus(4), wants(1, 0), wants(1, 0))
	k.Work[0].Priority, k.Work[1].Rank = 5, 1
	q := NewQueue(order.NewArena(2), quota.BestEffortFIFO)
	k.Push(&q, 0)
	k.Push(&q, 1)
	k.Return(&q, &Entry{Workload: 1, Requeue: PendingPreemption})
	if q.Head() != 1 {
		t.Error("the preemptor lost its turn")
	}
	k.Return(&q, &Entry{Workload: 1})
	if q.Head() != 0 {
		t.Error("a preemptor that was set aside is still head")
	}
	if k.Wake(&q); q.Head() != 1 {
		t.Error("the preemptor is forgotten")
	}
	if q.Remove(1); q.Head() != 0 {
		t.Error("an admitted preemptor is still head")
	}
}

// After a warm-up a cycle allocates nothing.
func TestCyclesDoNotAllocate(t *testing.T) {
	for _, fair := range []bool{false, true} {
		k := random(rand.New(rand.NewPCG(9, 9)), fair)
		list := heads(k)
		if n := testing.AllocsPerRun(20, func() { k.Cycle(list) }); n != 0 {
			t.Errorf("fair sharing %v: %v allocations", fair, n)
		}
	}
}
