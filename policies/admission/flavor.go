package admission

import "github.com/gangplan/gangplan/sim/quota"

// grade is how good a flavor is for a request: how it can be had, finer than Mode, and from
// how far up it is borrowed.
type grade struct {
	way   way
	level int32
}

// way orders, from worst to best, how a request can be had of a flavor: not, by preemption
// with nobody to preempt, with victims in the own queue, with victims in other queues only,
// from unused quota.
type way uint8

const (
	wayNoFit way = iota
	wayNoCandidates
	wayPreempt
	wayReclaim
	wayFit
)

func (w way) mode() Mode {
	switch w {
	case wayNoFit:
		return NoFit
	case wayFit:
		return Fit
	}
	return Preempt
}

// better reports whether grade a is preferred to b under a queue's preference. With
// LevelFirst a flavor that lacks quota but borrows nothing is better than one that fits by
// borrowing, and so the worst grade of several resources may be a fit although one of them
// lacks quota. That is what Kueue does.
func (k *Kernel) better(a, b grade, levelFirst bool) bool {
	switch {
	case a.way == wayNoFit || b.way == wayNoFit:
		return a.way != wayNoFit
	case k.Rules.CandidatesRequired && (a.way == wayNoCandidates) != (b.way == wayNoCandidates):
		return b.way == wayNoCandidates
	case levelFirst && a.level != b.level:
		return a.level < b.level
	case a.way != b.way:
		return a.way > b.way
	}
	return a.level < b.level
}

// goesOn reports whether the search for a flavor looks at those behind one of this grade.
func goesOn(g grade, f quota.Fungibility) bool {
	switch {
	case g.way <= wayNoCandidates:
		return true
	case g.way < wayFit && !f.PreemptStops:
		return true
	}
	return g.level > 0 && f.BorrowTriesNext
}

// offer is a flavor that was looked at: per resource of the group how it could be had.
type offer struct {
	flavor int32
	grade  grade
	mode   [quota.Resources]Mode
	level  int32
}

// assign gives every PodSet of a workload its flavors, with the given counts or, when nil,
// with all pods. Earlier PodSets' usage counts for later ones; the first that gets nothing
// ends it.
func (k *Kernel) assign(w int32, counts []int32, a *Assignment) {
	a.clear()
	wl := &k.Work[w]
	for s := range wl.Sets {
		count := wl.Sets[s].Count
		if counts != nil {
			count = counts[s]
		}
		if !k.assignSet(w, int32(s), count, a) {
			break
		}
	}
	a.Mode = a.worst()
	k.checkRoom(w, a)
}

func (a *Assignment) clear() {
	a.Mode, a.Level = NoFit, 0
	a.Sets, a.Usage, a.Targets, a.Reasons = a.Sets[:0], a.Usage[:0], a.Targets[:0], a.Reasons[:0]
}

// assignSet finds flavors for the resource groups of one PodSet. If one group has none, the
// PodSet gets nothing.
func (k *Kernel) assignSet(w, s, count int32, a *Assignment) bool {
	wl := &k.Work[w]
	set := SetAssignment{Count: count, Flavor: noFlavors, Tried: noneTried}
	first := len(a.Reasons)
	level := int32(0)
	if r := k.undeclared(w, s); r >= 0 && count > 0 {
		a.Reasons = append(a.Reasons, Reason{Kind: Undeclared, Set: s, FR: quota.Of(0, r)})
		a.Sets = append(a.Sets, set)
		return false
	}
	groups := k.Tree.Groups(wl.Queue)
	for g := range groups {
		start := len(a.Reasons)
		resource := asksFor(&wl.Sets[s], &groups[g])
		if resource < 0 {
			continue
		}
		best, tried, found := k.findFlavor(w, s, count, resource, &groups[g], a)
		if !found {
			a.Reasons = append(a.Reasons[:first], a.Reasons[start:]...)
			a.Sets = append(a.Sets, SetAssignment{Count: count, Flavor: noFlavors, Tried: noneTried})
			return false
		}
		if best.grade.way == wayFit {
			a.Reasons = a.Reasons[:start]
		}
		set.take(&wl.Sets[s], &groups[g], &best, tried)
		level = max(level, best.level)
	}
	a.add(&wl.Sets[s], &set, level)
	return true
}

// undeclared returns the first resource by name that a PodSet asks for and that blocks it,
// because its queue does not list it, or -1. Pods are counted only where they are listed.
func (k *Kernel) undeclared(w, s int32) int {
	if !k.Rules.BlockUndeclared {
		return -1
	}
	for _, r := range [...]int{1, 2, 0} { // cpu, memory, nvidia.com/gpu
		if k.Work[w].Sets[s].Request[r] != 0 && !k.Tree.Lists(k.Work[w].Queue, r) {
			return r
		}
	}
	return -1
}

var (
	noFlavors = [quota.Resources]int8{-1, -1, -1, -1}
	noneTried = [quota.Resources]int8{untried, untried, untried, untried}
)

// asksFor returns the first resource of a group that a PodSet asks for, or -1.
func asksFor(set *PodSet, g *quota.Group) int {
	for r, covered := range g.Covers {
		if covered && set.Request[r] != 0 {
			return r
		}
	}
	return -1
}

// take notes the flavor of a group's resources.
func (s *SetAssignment) take(set *PodSet, g *quota.Group, best *offer, tried int8) {
	for r, covered := range g.Covers {
		if covered && set.Request[r] != 0 {
			s.Flavor[r], s.Mode[r], s.Tried[r] = int8(best.flavor), best.mode[r], tried
		}
	}
}

// add appends an assigned PodSet and its usage.
func (a *Assignment) add(set *PodSet, s *SetAssignment, level int32) {
	a.Sets = append(a.Sets, *s)
	a.Level = max(a.Level, level)
	for r, f := range s.Flavor {
		if f >= 0 {
			a.use(quota.Of(int32(f), r), set.Request[r]*int64(s.Count))
		}
	}
}

func (a *Assignment) use(fr quota.FR, v int64) {
	for i := range a.Usage {
		if a.Usage[i].FR == fr {
			a.Usage[i].Amount += v
			return
		}
	}
	a.Usage = append(a.Usage, quota.Item{FR: fr, Amount: v})
}

// used returns what earlier PodSets take of a flavor-resource.
func (a *Assignment) used(fr quota.FR) int64 {
	for _, it := range a.Usage {
		if it.FR == fr {
			return it.Amount
		}
	}
	return 0
}

// worst returns the mode of the PodSet that is worst off. One without a reason fits,
// whatever its resources say.
func (a *Assignment) worst() Mode {
	mode := Fit
	for s := range a.Sets {
		mode = min(mode, a.modeOf(int32(s)))
	}
	return mode
}

func (a *Assignment) modeOf(s int32) Mode {
	refused := false
	for i := range a.Reasons {
		refused = refused || a.Reasons[i].Set == s
	}
	if !refused {
		return Fit
	}
	set := &a.Sets[s]
	if !set.Assigned() {
		return NoFit
	}
	mode := Fit
	for r, f := range set.Flavor {
		if f >= 0 {
			mode = min(mode, set.Mode[r])
		}
	}
	return mode
}

// findFlavor walks a group's flavors, from behind the one the workload remembers, to the
// first that is good enough, or takes the best it saw. Tried is where the next search goes
// on, or -1 if this one reached the end.
func (k *Kernel) findFlavor(w, s, count int32, resource int, g *quota.Group, a *Assignment) (best offer, tried int8, found bool) {
	wl := &k.Work[w]
	spec := k.Tree.Queue(wl.Queue)
	last := -1
	for i := k.resume(w, s, resource); i < len(g.Flavors); i++ {
		last = i
		f := g.Flavors[i].Flavor
		if k.pinned != nil && int32(k.pinned[s].Flavor[resource]) != f {
			continue
		}
		if refused := wl.Sets[s].refuses(f); refused != nil {
			a.Reasons = append(a.Reasons, Reason{Kind: *refused, Set: s, FR: quota.Of(f, 0)})
			continue
		}
		o := k.look(w, s, count, f, g, a)
		if !goesOn(o.grade, spec.Fungibility) {
			best, found = o, true
			break
		}
		if o.grade.way != wayNoFit && (!found || k.better(o.grade, best.grade, spec.Fungibility.LevelFirst)) {
			best, found = o, true
		}
	}
	if last == len(g.Flavors)-1 {
		last = -1
	}
	return best, int8(last), found
}

// resume returns the index of the first flavor to look at.
func (k *Kernel) resume(w, s int32, resource int) int {
	m := &k.Work[w].memory
	if !m.valid || int(s) >= len(m.tried) || m.tried[s][resource] == untried {
		return 0
	}
	return int(m.tried[s][resource]) + 1
}

var (
	untolerated = new(Untolerated)
	noAffinity  = new(NoAffinity)
)

// refuses returns why a PodSet cannot use a flavor, or nil.
func (s *PodSet) refuses(flavor int32) *Refusal {
	switch bit := uint64(1) << flavor; {
	case s.Tainted&bit != 0:
		return untolerated
	case s.Mismatched&bit != 0:
		return noAffinity
	}
	return nil
}

// look grades a flavor for a PodSet: the worst grade over the resources. The first resource
// that cannot be had ends it.
func (k *Kernel) look(w, s, count, f int32, g *quota.Group, a *Assignment) offer {
	wl := &k.Work[w]
	levelFirst := k.Tree.Queue(wl.Queue).Fungibility.LevelFirst
	o := offer{flavor: f, grade: grade{wayFit, 0}}
	for r, covered := range g.Covers {
		if !covered || wl.Sets[s].Request[r] == 0 {
			continue
		}
		fr := quota.Of(f, r)
		how := k.gradeOf(w, s, fr, a.used(fr), wl.Sets[s].Request[r]*int64(count), a)
		o.level = max(o.level, how.level)
		if k.better(o.grade, how, levelFirst) {
			o.grade = how
		}
		if o.grade.way == wayNoFit {
			break
		}
		o.mode[r] = how.way.mode()
	}
	return o
}

// gradeOf says how an amount of one flavor-resource can be had, on top of what earlier
// PodSets of the workload take of it. Preemption is simulated for this flavor-resource
// alone.
func (k *Kernel) gradeOf(w, s int32, fr quota.FR, prior, amount int64, a *Assignment) grade {
	q := k.Work[w].Queue
	v := prior + amount
	if most := k.Tree.Potential(q, fr); v > most {
		a.Reasons = append(a.Reasons, Reason{OverCapacity, s, fr, prior, amount, most})
		return grade{wayNoFit, 0}
	}
	level, below := k.Tree.BorrowLevel(q, fr, v)
	free := k.Tree.Available(q, fr)
	if v <= free {
		return grade{wayFit, level}
	}
	a.Reasons = append(a.Reasons, Reason{Kind: Lacking, Set: s, FR: fr, Amount: v - free})
	if k.Tree.Nominal(q, fr) >= v || below || k.mayPreemptWhileBorrowing(q) {
		return k.simulate(w, fr, v)
	}
	return grade{wayNoFit, level}
}

func (k *Kernel) mayPreemptWhileBorrowing(q int32) bool {
	p := &k.Tree.Queue(q).Preemption
	return p.WhileBorrow || k.Rules.FairSharing && p.Reclaim != quota.Never
}

// checkRoom asks the topology about what quota allows. A workload without places needs
// victims; one that would have none even if nobody held any is beyond help.
func (k *Kernel) checkRoom(w int32, a *Assignment) {
	if k.Room == nil || a.Mode == NoFit {
		return
	}
	if a.Mode == Fit {
		s := k.Room.Fits(w, a)
		if s < 0 {
			return
		}
		a.Reasons = append(a.Reasons, Reason{Kind: NoPlace, Set: s})
		a.Mode = Preempt
		a.Sets[s].contest()
	}
	if k.Room.FitsEmpty(w, a) >= 0 {
		a.Mode = NoFit
		return
	}
	for s := range a.Sets {
		if k.Rules.ContestAll {
			a.Sets[s].contest()
		}
	}
}

// contest marks everything a PodSet is assigned as in need of victims.
func (s *SetAssignment) contest() {
	for r := range s.Mode {
		s.Mode[r] = Preempt
	}
}
