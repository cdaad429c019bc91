package admission

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/gangplan/gangplan/sim/quota"
)

// random draws a kernel: a forest of cohorts, queues with every kind of policy, holders,
// some on their way out, and waiting workloads. Quotas are small, so that everything
// happens.
func random(r *rand.Rand, fair bool) *Kernel {
	flavors := 1 + r.IntN(3)
	cohorts := make([]quota.Cohort, 1+r.IntN(4))
	for c := range cohorts {
		cohorts[c] = quota.Cohort{Name: fmt.Sprintf("c%d", c), Weight: randomWeight(r)}
		if c > 0 {
			cohorts[c].Parent = fmt.Sprintf("c%d", r.IntN(c))
		}
		if r.IntN(3) == 0 {
			cohorts[c].Groups = randomGroups(r, flavors, c > 0)
		}
	}
	queues := make([]quota.Queue, 2+r.IntN(4))
	for q := range queues {
		queues[q] = quota.Queue{Name: fmt.Sprintf("q%d", q), Cohort: fmt.Sprintf("c%d", r.IntN(len(cohorts))), Weight: randomWeight(r),
			Groups:      randomGroups(r, flavors, true),
			Preemption:  quota.Preemption{Within: quota.Policy(r.IntN(3)), Reclaim: []quota.Policy{quota.Never, quota.LowerPriority, quota.Any}[r.IntN(3)]},
			Fungibility: quota.Fungibility{BorrowTriesNext: r.IntN(2) == 0, PreemptStops: r.IntN(2) == 0, LevelFirst: r.IntN(2) == 0}}
		if p := &queues[q].Preemption; p.Reclaim != quota.Never && r.IntN(2) == 0 {
			p.WhileBorrow = true
			if r.IntN(2) == 0 {
				p.Threshold = quota.Max(r.Int64N(3))
			}
		}
	}
	tree := quota.NewTree(queues, cohorts)
	work := make([]Workload, 8+r.IntN(20))
	for w := range work {
		work[w] = Workload{Queue: int32(r.IntN(len(queues))), Priority: int32(r.IntN(4)), Time: int64(r.IntN(9)), Rank: int64(w), Evicted: r.IntN(6) == 0}
		for range 1 + r.IntN(2) {
			work[w].Sets = append(work[w].Sets, randomSet(r, flavors))
		}
	}
	k := New(randomRules(r, fair), tree, work)
	for w := range work[:len(work)*2/3] {
		k.holdRandom(r, int32(w), flavors)
	}
	k.drawLocals(r)
	return k
}

func randomSet(r *rand.Rand, flavors int) PodSet {
	set := PodSet{Count: int32(1 + r.IntN(4)), Request: quota.Amounts{1 + r.Int64N(2), r.Int64N(2), r.Int64N(2)}}
	if r.IntN(2) == 0 {
		set.Min = 1 + r.Int32N(set.Count)
	}
	for f := range flavors + 1 {
		switch r.IntN(12) {
		case 0:
			set.Tainted |= 1 << f
		case 1:
			set.Mismatched |= 1 << f
		}
	}
	return set
}

func randomRules(r *rand.Rand, fair bool) Rules {
	rules, _ := Version([]string{"v0.13.4", "v0.17.0", "v0.19.2"}[r.IntN(3)])
	rules.FairSharing = fair
	rules.BlockUndeclared = r.IntN(8) == 0
	rules.Strategies = [][]Strategy{nil, nil, {FinalShare}, {InitialShare}}[r.IntN(4)]
	return rules
}

func randomWeight(r *rand.Rand) quota.Limit {
	if r.IntN(2) == 0 {
		return quota.Limit{}
	}
	return quota.Max([]int64{0, 500, 1000, 3000}[r.IntN(4)])
}

// randomGroups draws quota of GPUs and CPU in several flavors, and in half of the cases of
// memory in a flavor of its own.
func randomGroups(r *rand.Rand, flavors int, limits bool) []quota.Group {
	groups := []quota.Group{randomGroup(r, 0, flavors, []int{0, 1}, limits)}
	if r.IntN(2) == 0 {
		groups = append(groups, randomGroup(r, flavors, 1, []int{2}, limits))
	}
	return groups
}

func randomGroup(r *rand.Rand, first, flavors int, resources []int, limits bool) (g quota.Group) {
	for f := range flavors {
		fq := quota.FlavorQuota{Flavor: int32(first + f)}
		for _, res := range resources {
			g.Covers[res] = true
			q := quota.Quota{Nominal: r.Int64N(8)}
			if limits && r.IntN(3) == 0 {
				q.Borrowing = quota.Max(r.Int64N(8))
			}
			if limits && r.IntN(3) == 0 {
				q.Lending = quota.Max(r.Int64N(q.Nominal + 1))
			}
			fq.Quota[res] = q
		}
		g.Flavors = append(g.Flavors, fq)
	}
	return g
}

func (k *Kernel) holdRandom(r *rand.Rand, w int32, flavors int) {
	var usage []quota.Item
	flavor := int32(r.IntN(flavors))
	for res := range 2 {
		sum := int64(0)
		for _, s := range k.Work[w].Sets {
			sum += s.Request[res] * int64(s.Count)
		}
		if sum > 0 {
			usage = append(usage, quota.Item{FR: quota.Of(flavor, res), Amount: sum})
		}
	}
	k.Hold(w, int64(r.IntN(5)), usage)
	k.Tree.UseAll(k.Work[w].Queue, usage)
}

// randomLocals tells LocalQueues apart: four of a ClusterQueue that takes turns.
type randomLocals struct {
	of    []int32
	used  []float64
	turns []bool
}

func (l *randomLocals) Turns(queue int32) bool { return l.turns[queue] }
func (l *randomLocals) Of(w int32) int32       { return l.of[w] }

func (l *randomLocals) Used(local int32) float64 {
	if local < 0 {
		return 0
	}
	return l.used[local]
}

// drawLocals lets LocalQueues take turns in half of the kernels.
func (k *Kernel) drawLocals(r *rand.Rand) {
	if r.IntN(2) == 0 {
		return
	}
	l := &randomLocals{of: make([]int32, len(k.Work)), turns: make([]bool, k.Tree.Len())}
	for q := range l.turns {
		l.turns[q] = r.IntN(3) > 0
		for range 4 {
			l.used = append(l.used, []float64{0, 0.5, 1, 1, math.Inf(1)}[r.IntN(5)])
		}
	}
	for w := range l.of {
		l.of[w] = k.Work[w].Queue*4 + r.Int32N(4)
		if r.IntN(6) == 0 {
			l.of[w] = -1
		}
	}
	k.Locals = l
}

// waiting lists the workloads that hold nothing.
func (k *Kernel) waiting() (out []int32) {
	for w := range k.Work {
		if !k.Holds(int32(w)) {
			out = append(out, int32(w))
		}
	}
	return out
}

// usage copies every number of the tree.
func usageOf(t *quota.Tree) []int64 {
	var out []int64
	for node := range int32(t.Nodes()) {
		for fr := range quota.FR(t.FRs()) {
			out = append(out, t.Usage(node, fr))
		}
	}
	return out
}

func sameTargets(a, b []Target) bool { return slices.Equal(a, b) }

// randomFlat draws a kernel of one cohort, in which nobody keeps quota to himself and small
// jobs abound: who wants more than a job or two of its queue holds needs several victims, and
// many queues borrow alike.
func randomFlat(r *rand.Rand, fair bool) *Kernel {
	queues := make([]quota.Queue, 4+r.IntN(40))
	for q := range queues {
		g := quota.Group{Covers: [4]bool{true, r.IntN(3) == 0}, Flavors: []quota.FlavorQuota{{}}}
		g.Flavors[0].Quota[0].Nominal, g.Flavors[0].Quota[1].Nominal = 4+r.Int64N(5), 4+r.Int64N(5)
		if r.IntN(3) == 0 {
			g.Flavors[0].Quota[0].Borrowing = quota.Max(r.Int64N(20))
		}
		queues[q] = quota.Queue{Name: fmt.Sprintf("q%02d", q), Groups: []quota.Group{g}, Cohort: "c",
			Preemption: quota.Preemption{Within: quota.Policy(1 + r.IntN(2)), Reclaim: []quota.Policy{quota.LowerPriority, quota.Any}[r.IntN(2)], WhileBorrow: r.IntN(6) == 0}}
		if r.IntN(8) == 0 {
			queues[q].Cohort = ""
		}
	}
	work := make([]Workload, len(queues)*(6+r.IntN(4)))
	for w := range work {
		work[w] = Workload{Queue: int32(r.IntN(len(queues))), Priority: int32(r.IntN(3)), Time: int64(r.IntN(9)), Rank: int64(w), Evicted: r.IntN(9) == 0,
			Sets: []PodSet{{Count: []int32{1, 1, 1, 3, 5}[r.IntN(5)], Request: quota.Amounts{1, r.Int64N(2)}}}}
	}
	k := New(randomRules(r, fair), quota.NewTree(queues, nil), work)
	for w := range work[:len(work)*2/3] {
		k.holdRandom(r, int32(w), 1)
	}
	k.drawLocals(r)
	return k
}
