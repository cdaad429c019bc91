package admission

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"

	"github.com/gangplan/gangplan/sim/quota"
)

// naive is the scheduler as one would write it down first: nothing is kept from search to
// search, whoever might be a victim is collected and sorted anew, the tournament is played
// from the start for every entry. It reads the kernel's state and keeps only what workloads
// remember of their last flavors.
type naive struct {
	k      *Kernel
	memory map[int32]naiveMemory
}

type naiveMemory struct {
	generation int64
	tried      [][quota.Resources]int8
}

// naivePair is how good a flavor is for a request.
type naivePair struct {
	way   way
	level int32
}

// better is the preference of a queue, as B8 and B16 have it.
func (n *naive) better(q int32, a, b naivePair) bool {
	if a.way == wayNoFit || b.way == wayNoFit {
		return a.way > b.way
	}
	if n.k.Rules.CandidatesRequired && (a.way == wayNoCandidates) != (b.way == wayNoCandidates) {
		return a.way > b.way
	}
	byWay, byLevel := cmp.Compare(b.way, a.way), cmp.Compare(a.level, b.level)
	if n.k.Tree.Queue(q).Fungibility.LevelFirst {
		return cmp.Or(byLevel, byWay) < 0
	}
	return cmp.Or(byWay, byLevel) < 0
}

// grade says how an amount of one flavor-resource can be had, and what it lacks.
func (n *naive) grade(w, s int32, fr quota.FR, prior, amount int64) (pair naivePair, lacks []Reason) {
	t, q, v := n.k.Tree, n.k.Work[w].Queue, prior+amount
	p := &t.Queue(q).Preemption
	level, below := t.BorrowLevel(q, fr, v)
	switch {
	case v > t.Potential(q, fr):
		return naivePair{}, []Reason{{OverCapacity, s, fr, prior, amount, t.Potential(q, fr)}}
	case v <= t.Available(q, fr):
		return naivePair{wayFit, level}, nil
	}
	lacks = []Reason{{Kind: Lacking, Set: s, FR: fr, Amount: v - t.Available(q, fr)}}
	if v > t.Nominal(q, fr) && !below && !p.WhileBorrow && !(n.k.Rules.FairSharing && p.Reclaim != quota.Never) {
		return naivePair{wayNoFit, level}, lacks
	}
	targets := n.search(w, []quota.Item{{FR: fr, Amount: v}}, []quota.FR{fr})
	if len(targets) == 0 {
		return naivePair{wayNoCandidates, level}, lacks
	}
	pair = naivePair{way: wayReclaim}
	mark := t.Mark()
	for _, target := range targets {
		n.k.free(target.Workload)
		if n.k.Work[target.Workload].Queue == q {
			pair.way = wayPreempt
		}
	}
	pair.level, _ = t.BorrowLevel(q, fr, v)
	t.Undo(mark)
	return pair, lacks
}

// naiveChoice is a flavor that was looked at for the resources of a group.
type naiveChoice struct {
	naivePair
	flavor  int32
	ways    map[int]way
	highest int32
}

func (n *naive) look(w, s, flavor int32, amounts map[int]int64, used map[quota.FR]int64) (c naiveChoice, lacks []Reason) {
	c = naiveChoice{naivePair: naivePair{way: wayFit}, flavor: flavor, ways: map[int]way{}}
	for r := range quota.Resources {
		if amounts[r] == 0 {
			continue
		}
		fr := quota.Of(flavor, r)
		pair, short := n.grade(w, s, fr, used[fr], amounts[r])
		lacks = append(lacks, short...)
		c.highest = max(c.highest, pair.level)
		if n.better(n.k.Work[w].Queue, c.naivePair, pair) {
			c.naivePair = pair
		}
		if c.way == wayNoFit {
			return c, lacks
		}
		c.ways[r] = pair.way
	}
	return c, lacks
}

// stops reports whether no flavor behind one is looked at.
func (n *naive) stops(q int32, p naivePair) bool {
	f := n.k.Tree.Queue(q).Fungibility
	return p.way == wayFit && (p.level == 0 || !f.BorrowTriesNext) ||
		(p.way == wayPreempt || p.way == wayReclaim) && f.PreemptStops && (p.level == 0 || !f.BorrowTriesNext)
}

// pick walks the flavors of a group.
func (n *naive) pick(w, s int32, g *quota.Group, amounts map[int]int64, used map[quota.FR]int64) (best *naiveChoice, tried int8, reasons []Reason) {
	q, set := n.k.Work[w].Queue, &n.k.Work[w].Sets[s]
	from, last := n.resume(w, s, amounts), -1
	for i := from; i < len(g.Flavors); i++ {
		f := g.Flavors[i].Flavor
		last = i
		if (set.Tainted|set.Mismatched)>>f&1 == 1 {
			kind := NoAffinity
			if set.Tainted>>f&1 == 1 {
				kind = Untolerated
			}
			reasons = append(reasons, Reason{Kind: kind, Set: s, FR: quota.Of(f, 0)})
			continue
		}
		c, lacks := n.look(w, s, f, amounts, used)
		reasons = append(reasons, lacks...)
		if stop := n.stops(q, c.naivePair); stop || c.way != wayNoFit && (best == nil || n.better(q, c.naivePair, best.naivePair)) {
			best = &c
			if stop {
				break
			}
		}
	}
	if last == len(g.Flavors)-1 {
		last = -1
	}
	return best, int8(last), reasons
}

// resume returns the index of the first flavor to look at.
func (n *naive) resume(w, s int32, amounts map[int]int64) int {
	m, ok := n.memory[w]
	if !ok || int(s) >= len(m.tried) {
		return 0
	}
	for r := range quota.Resources {
		if amounts[r] != 0 {
			if m.tried[s][r] == untried {
				return 0
			}
			return int(m.tried[s][r]) + 1
		}
	}
	return 0
}

// assign gives the PodSets their flavors.
func (n *naive) assign(w int32, counts []int32) (e Entry) {
	used := map[quota.FR]int64{}
	for s := range n.k.Work[w].Sets {
		if !n.assignSet(w, int32(s), counts[s], used, &e) {
			break
		}
	}
	e.Mode = Fit
	for s := range e.Sets {
		if !slices.ContainsFunc(e.Reasons, func(r Reason) bool { return r.Set == int32(s) }) {
			continue
		}
		if !e.Sets[s].Assigned() {
			e.Mode = NoFit
		}
		for r, f := range e.Sets[s].Flavor {
			if f >= 0 {
				e.Mode = min(e.Mode, e.Sets[s].Mode[r])
			}
		}
	}
	return e
}

func (n *naive) assignSet(w, s, count int32, used map[quota.FR]int64, e *Entry) bool {
	set := SetAssignment{Count: count, Flavor: noFlavors, Tried: noneTried}
	var reasons []Reason
	level := int32(0)
	for _, r := range []int{1, 2, 0} {
		listed := slices.ContainsFunc(n.k.Tree.Groups(n.k.Work[w].Queue), func(g quota.Group) bool { return g.Covers[r] })
		if n.k.Rules.BlockUndeclared && n.k.Work[w].Sets[s].Request[r] != 0 && !listed {
			e.Sets, e.Reasons = append(e.Sets, set), append(e.Reasons, Reason{Kind: Undeclared, Set: s, FR: quota.Of(0, r)})
			return false
		}
	}
	for _, g := range n.k.Tree.Groups(n.k.Work[w].Queue) {
		amounts := map[int]int64{}
		for r, v := range n.k.Work[w].Sets[s].Request {
			if g.Covers[r] && v != 0 {
				amounts[r] = v * int64(count)
			}
		}
		if len(amounts) == 0 {
			continue
		}
		best, tried, no := n.pick(w, s, &g, amounts, used)
		if best == nil {
			e.Sets, e.Reasons = append(e.Sets, SetAssignment{Count: count, Flavor: noFlavors, Tried: noneTried}), append(e.Reasons, no...)
			return false
		}
		if level = max(level, best.highest); best.way != wayFit {
			reasons = append(reasons, no...)
		}
		for r := range amounts {
			set.Flavor[r], set.Mode[r], set.Tried[r] = int8(best.flavor), best.ways[r].mode(), tried
		}
	}
	for r, f := range set.Flavor {
		if fr := quota.Of(int32(f), r); f >= 0 {
			v := n.k.Work[w].Sets[s].Request[r] * int64(count)
			used[fr] += v
			e.use(fr, v)
		}
	}
	e.Sets, e.Reasons, e.Level = append(e.Sets, set), append(e.Reasons, reasons...), max(e.Level, level)
	return true
}

// try assigns and searches victims.
func (n *naive) try(w int32, counts []int32) (e Entry, ok bool) {
	e = n.assign(w, counts)
	if e.Mode != Preempt {
		return e, e.Mode == Fit
	}
	var contested []quota.FR
	for _, set := range e.Sets {
		for r, f := range set.Flavor {
			if fr := quota.Of(int32(f), r); f >= 0 && set.Mode[r] == Preempt && !slices.Contains(contested, fr) {
				contested = append(contested, fr)
			}
		}
	}
	e.Targets = n.search(w, e.Usage, contested)
	return e, len(e.Targets) > 0
}

// nominate tries all pods, and if need be the fewest fewer.
func (n *naive) nominate(w int32) Entry {
	if m, ok := n.memory[w]; ok && n.k.generation[n.k.Work[w].Queue] > m.generation {
		delete(n.memory, w)
	}
	var full, spare []int32
	sum := 0
	for _, s := range n.k.Work[w].Sets {
		full, spare = append(full, s.Count), append(spare, 0)
		if s.Min > 0 {
			spare[len(spare)-1] = s.Count - s.Min
		}
		sum += int(spare[len(spare)-1])
	}
	whole, ok := n.try(w, full)
	if ok || sum == 0 {
		return whole
	}
	good := map[int]Entry{}
	least := sort.Search(sum+1, func(less int) bool {
		counts := slices.Clone(full)
		for s := range counts {
			counts[s] -= int32(int(spare[s]) * less / sum)
		}
		e, ok := n.try(w, counts)
		if ok {
			good[less] = e
		}
		return ok
	})
	if e, ok := good[least]; ok {
		return e
	}
	return whole
}

// cycle decides about heads.
func (n *naive) cycle(heads []int32) (done []*Entry) {
	var entries []*Entry
	for _, w := range heads {
		e := n.nominate(w)
		e.Workload = w
		m := naiveMemory{generation: n.k.generation[n.k.Work[w].Queue]}
		for _, s := range e.Sets {
			m.tried = append(m.tried, s.Tried)
		}
		n.memory[w] = m
		entries = append(entries, &e)
	}
	mark := n.k.Tree.Mark()
	defer n.k.Tree.Undo(mark)
	var victims []int32
	for len(entries) > 0 {
		i := n.next(entries)
		e := entries[i]
		entries = slices.Delete(entries, i, i+1)
		victims = n.process(e, victims)
		done = append(done, e)
	}
	return done
}

// process decides about one entry.
func (n *naive) process(e *Entry, victims []int32) []int32 {
	t, q := n.k.Tree, n.k.Work[e.Workload].Queue
	switch {
	case e.Mode == NoFit:
		return victims
	case e.Blocked():
		if t.Queue(q).Preemption.Reclaim != quota.Any {
			n.reserve(e, q)
		}
		return victims
	case slices.ContainsFunc(e.Targets, func(x Target) bool { return slices.Contains(victims, x.Workload) }):
		e.Skipped = Overlaps
	case !n.fitsAfter(e, victims):
		e.Skipped = NoLonger
	}
	if e.Skipped != "" {
		e.Status, e.Requeue = Skipped, FailedAfterNomination
		delete(n.memory, e.Workload)
		return victims
	}
	t.UseAll(q, e.Usage)
	for _, x := range e.Targets {
		victims = append(victims, x.Workload)
	}
	if e.Mode == Fit {
		e.Status = Assumed
		return victims
	}
	e.Requeue = PendingPreemption
	delete(n.memory, e.Workload)
	return victims
}

func (n *naive) reserve(e *Entry, q int32) {
	for _, it := range e.Usage {
		used, v := n.k.Tree.Usage(q, it.FR), it.Amount
		if limit := n.k.Tree.BorrowingLimit(q, it.FR); e.Level > 0 && limit.Set {
			v = min(v, n.k.Tree.Nominal(q, it.FR)+limit.N-used)
		} else if e.Level == 0 {
			v = max(0, min(v, n.k.Tree.Nominal(q, it.FR)-used))
		}
		n.k.Tree.Use(q, it.FR, v)
	}
}

func (n *naive) fitsAfter(e *Entry, victims []int32) bool {
	mark := n.k.Tree.Mark()
	defer n.k.Tree.Undo(mark)
	for _, v := range victims {
		n.k.free(v)
	}
	for _, x := range e.Targets {
		n.k.free(x.Workload)
	}
	return !slices.ContainsFunc(e.Usage, func(it quota.Item) bool { return it.Amount > n.k.Tree.Available(n.k.Work[e.Workload].Queue, it.FR) })
}

// The kernel decides as the naive scheduler does, in every word: on random
// trees with several flavors and groups, taints, partial admission and what workloads
// remember of earlier cycles, in sequences of cycles with others admitted, evicted and gone.
func TestCyclesAgainstNaive(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(1600) {
		r := rand.New(rand.NewPCG(seed, 5))
		k := random(r, seed%2 == 0)
		if seed%8 > 5 {
			k = randomFlat(r, seed%2 == 0)
		}
		n := &naive{k: k, memory: map[int32]naiveMemory{}}
		for range 6 {
			list := heads(k)
			want := n.cycle(list)
			before := usageOf(k.Tree)
			got := k.Cycle(list)
			if !slices.Equal(before, usageOf(k.Tree)) {
				t.Fatalf("seed %d: the cycle changed the tree", seed)
			}
			sameEntries(t, k, seed, got, want)
			count(k, seen, got)
			k.proceed(r, got)
		}
	}
	for _, what := range []string{"admitted", "victim", "blocked", "no fit", "skipped", "fewer pods", "second flavor", "two flavors", "pending flavors"} {
		if seen[what] < 100 {
			t.Errorf("%s: %d times, too few to prove anything (%v)", what, seen[what], seen)
		}
	}
}

func sameEntries(t *testing.T, k *Kernel, seed uint64, got []*Entry, want []*Entry) {
	t.Helper()
	root := func(w int32) int32 { return k.Tree.Root(k.Work[w].Queue) }
	got = slices.Clone(got)
	slices.SortStableFunc(got, func(a, b *Entry) int { return cmp.Compare(root(a.Workload), root(b.Workload)) })
	slices.SortStableFunc(want, func(a, b *Entry) int { return cmp.Compare(root(a.Workload), root(b.Workload)) })
	for i, w := range want {
		g := got[i]
		if g.Workload != w.Workload || g.Mode != w.Mode || g.Level != w.Level || g.Status != w.Status || g.Requeue != w.Requeue || g.Skipped != w.Skipped ||
			!slices.Equal(g.Sets, w.Sets) || !slices.Equal(g.Usage, w.Usage) || !slices.Equal(g.Targets, w.Targets) || !slices.Equal(g.Reasons, w.Reasons) {
			t.Fatalf("seed %d, entry %d: workload %d %v level %d %v %v %q\n%v\n%v %v\nwant %d %v level %d %v %v %q\n%v\n%v %v", seed, i,
				g.Workload, g.Mode, g.Level, g.Status, g.Requeue, g.Skipped, g.Sets, g.Usage, g.Targets,
				w.Workload, w.Mode, w.Level, w.Status, w.Requeue, w.Skipped, w.Sets, w.Usage, w.Targets)
		}
	}
}

// count notes what happened.
func count(k *Kernel, seen map[string]int, entries []*Entry) {
	note := func(what string, is bool) {
		if is {
			seen[what]++
		}
	}
	for _, e := range entries {
		note("admitted", e.Status == Assumed)
		note("skipped", e.Status == Skipped)
		note("blocked", e.Blocked())
		note("no fit", e.Mode == NoFit)
		note("pending flavors", k.Pending(e.Workload))
		seen["victim"] += len(e.Targets)
		flavors := map[int8]bool{}
		for s := range e.Sets {
			note("fewer pods", e.Sets[s].Count < k.Work[e.Workload].Sets[s].Count)
			for _, f := range e.Sets[s].Flavor[:2] {
				if f >= 0 {
					flavors[f] = true
				}
			}
		}
		note("second flavor", flavors[1])
		note("two flavors", len(flavors) > 1)
	}
}

// proceed makes a cycle real, and lets some holders go.
func (k *Kernel) proceed(r *rand.Rand, entries []*Entry) {
	for _, e := range entries {
		if e.Status == Assumed && r.IntN(4) > 0 {
			k.Hold(e.Workload, 5+int64(r.IntN(5)), e.Usage)
			k.Tree.UseAll(k.Work[e.Workload].Queue, e.Usage)
		}
		for _, x := range e.Targets {
			if e.Requeue == PendingPreemption {
				k.Evict(x.Workload)
			}
		}
	}
	for w := range int32(len(k.Work)) {
		if wl := &k.Work[w]; k.Holds(w) && (wl.Evicted && r.IntN(3) > 0 || r.IntN(12) == 0) {
			k.free(w)
			k.Drop(w)
		}
	}
}
