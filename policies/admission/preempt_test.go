package admission

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gangplan/gangplan/sim/quota"
)

// naiveSearch is classical preemption as one would write it down first: all candidates
// collected and sorted, every one looked at again before it is taken.
type naiveSearch struct {
	k         *Kernel
	w, q      int32
	usage     []quota.Item
	contested []quota.FR
}

type naiveCandidate struct {
	w       int32
	class   int // 0 under a hierarchical advantage, 1 others, 2 own queue
	ceiling int32
}

func (n *naiveSearch) candidates() []naiveCandidate {
	var out []naiveCandidate
	p := n.k.Tree.Queue(n.q).Preemption
	a := &asks{w: n.w, queue: n.q, usage: n.usage, contested: n.contested}
	for w := range int32(len(n.k.Work)) {
		if !n.k.Holds(w) || !n.k.uses(w, n.contested) || !n.k.allowed(a, n.k.policyFor(a, n.k.Work[w].Queue), w) {
			continue
		}
		q := n.k.Work[w].Queue
		if q == n.q {
			out = append(out, naiveCandidate{w, 2, quota.None})
		} else if ceiling, ok := n.common(q); ok && p.Reclaim != quota.Never && n.exceedsUpTo(q, ceiling) {
			class := 1
			if n.advantageBelow(ceiling) {
				class = 0
			}
			out = append(out, naiveCandidate{w, class, ceiling})
		}
	}
	return n.inOrder(out)
}

// common returns the lowest cohort above both queues.
func (n *naiveSearch) common(q int32) (int32, bool) {
	for a := n.k.Tree.Parent(n.q); a != quota.None; a = n.k.Tree.Parent(a) {
		for b := n.k.Tree.Parent(q); b != quota.None; b = n.k.Tree.Parent(b) {
			if a == b {
				return a, true
			}
		}
	}
	return quota.None, false
}

func (n *naiveSearch) exceedsUpTo(q, ceiling int32) bool {
	for ; q != ceiling; q = n.k.Tree.Parent(q) {
		if !n.k.Tree.Exceeds(q, n.contested) {
			return false
		}
	}
	return true
}

// advantageBelow reports whether some subtree below a cohort, with the preemptor in it, has
// quota for the request.
func (n *naiveSearch) advantageBelow(ceiling int32) bool {
	rest := slices.Clone(n.usage)
	for node := n.q; node != ceiling; node = n.k.Tree.Parent(node) {
		if n.k.Tree.Covers(node, rest) {
			return true
		}
	}
	return false
}

func (n *naiveSearch) fits(borrow bool) bool {
	for _, it := range n.usage {
		if it.Amount > n.k.Tree.Available(n.q, it.FR) || !borrow && n.k.Tree.BorrowsWith(n.q, it.FR, it.Amount) {
			return false
		}
	}
	return true
}

func (n *naiveSearch) attempt(all []naiveCandidate, borrow bool) (targets []Target) {
	mark := n.k.Tree.Mark()
	defer n.k.Tree.Undo(mark)
	s := &search{k: n.k, asks: asks{w: n.w, queue: n.q, usage: n.usage, contested: n.contested}}
	for _, c := range all {
		cause := s.causeOf(c.w, &source{queue: n.k.Work[c.w].Queue, hier: c.class == 0})
		if c.class != 2 && (!n.exceedsUpTo(n.k.Work[c.w].Queue, c.ceiling) || borrow && c.class == 1 && cause == InCohortReclamation) {
			continue
		}
		targets = append(targets, Target{c.w, cause})
		n.k.Tree.FreeAll(n.k.Work[c.w].Queue, n.k.Work[c.w].holds)
		if !n.fits(borrow) {
			continue
		}
		return n.giveBack(targets, borrow)
	}
	return nil
}

func (n *naiveSearch) run() []Target {
	all := n.candidates()
	has := func(class int) bool {
		return slices.ContainsFunc(all, func(c naiveCandidate) bool { return c.class == class })
	}
	under := true
	for _, fr := range n.contested {
		under = under && n.k.Tree.Usage(n.q, fr) < n.k.Tree.Nominal(n.q, fr)
	}
	order := []bool{true, false}
	switch p := n.k.Tree.Queue(n.q).Preemption; {
	case !has(0) && !has(1), !p.WhileBorrow && !under:
		order = []bool{true}
	case !p.WhileBorrow && !has(0):
		order = []bool{false, true}
	}
	for _, borrow := range order {
		if targets := n.attempt(all, borrow); targets != nil {
			return targets
		}
	}
	return nil
}

// The search that merges sorted lists lazily finds the victims, the order and the causes
// that the one which sorts everything finds.
func TestPreemptionAgainstNaive(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 1))
	found, several := 0, 0
	for round := range 3000 {
		k := random(r, false)
		for _, w := range k.waiting() {
			usage := []quota.Item{{FR: quota.Of(0, 0), Amount: 1 + r.Int64N(9)}, {FR: quota.Of(0, 1), Amount: r.Int64N(5)}}
			contested := []quota.FR{usage[0].FR, usage[1].FR}[:1+r.IntN(2)]
			n := &naiveSearch{k: k, w: w, q: k.Work[w].Queue, usage: usage, contested: contested}
			want := n.run()
			before := usageOf(k.Tree)
			k.search.begin(w, usage, contested, false)
			ok := k.search.run()
			if ok != (want != nil) || !sameTargets(k.search.targets, want) {
				t.Fatalf("round %d, workload %d: %v, want %v", round, w, k.search.targets, want)
			}
			if !slices.Equal(before, usageOf(k.Tree)) {
				t.Fatal("the search changed the tree")
			}
			if found += len(want); len(want) > 1 {
				several++
			}
		}
	}
	if found < 1000 || several < 100 {
		t.Errorf("%d victims, %d searches with several: too few to prove anything", found, several)
	}
}

// One decision among a thousand holders takes microseconds: only the victims are looked at.
func BenchmarkPreemption(b *testing.B) {
	for _, fair := range []bool{false, true} {
		queues := make([]quota.Queue, 10)
		for q := range queues {
			g := quota.Group{Covers: [4]bool{true, true}, Flavors: []quota.FlavorQuota{{}}}
			g.Flavors[0].Quota[0].Nominal, g.Flavors[0].Quota[1].Nominal = 100, 400
			queues[q] = quota.Queue{Name: string(rune('a' + q)), Cohort: "c", Groups: []quota.Group{g},
				Preemption: quota.Preemption{Within: quota.LowerPriority, Reclaim: quota.Any}}
		}
		work := make([]Workload, 1001)
		for w := range work {
			work[w] = Workload{Queue: int32(1 + w%9), Priority: int32(w % 5), Time: int64(w), Rank: int64(w), Sets: []PodSet{{Count: 1, Request: quota.Amounts{1, 4}}}}
		}
		work[1000] = Workload{Queue: 0, Priority: 9, Rank: 1000, Sets: []PodSet{{Count: 10, Request: quota.Amounts{1, 4}}}}
		rules, _ := Version("v0.17.0")
		rules.FairSharing = fair
		k := New(rules, quota.NewTree(queues, nil), work)
		for w := range int32(1000) {
			usage := []quota.Item{{FR: 0, Amount: 1}, {FR: 1, Amount: 4}}
			k.Hold(w, int64(w), usage)
			k.Tree.UseAll(work[w].Queue, usage)
		}
		b.Run(map[bool]string{false: "classical", true: "fair"}[fair], func(b *testing.B) {
			var a Assignment
			for b.Loop() {
				k.Hold(k.replace(999), 999, []quota.Item{{FR: 0, Amount: 1}, {FR: 1, Amount: 4}}) // something always changed
				if k.Nominate(1000, &a); len(a.Targets) != 10 {
					b.Fatalf("%d victims", len(a.Targets))
				}
			}
		})
	}
}

// replace takes a holder's quota and charges it again.
func (k *Kernel) replace(w int32) int32 {
	k.free(w)
	k.Tree.UseAll(k.Work[w].Queue, k.Work[w].holds)
	k.Drop(w)
	return w
}
