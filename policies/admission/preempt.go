package admission

import (
	"github.com/gangplan/gangplan/sim/quota"
)

// Classical preemption: candidates are taken in a fixed order until the workload fits, and
// those that turn out not to be needed are left alone. The order is: on their way out
// before live; of each, those over whom the preemptor has a hierarchical advantage, then
// others of the cohort, then its own queue's.

// class numbers the streams in that order.
const (
	goneHier = iota
	gonePrio
	goneOwn
	liveHier
	livePrio
	liveOwn
	classes
)

// search is the state of one search for victims.
type search struct {
	k *Kernel
	asks
	streams [classes]stream
	hier    bool // there are candidates under a hierarchical advantage
	others  bool // there are candidates in other queues
	targets []Target
	rest    []quota.Item // of the request, on the way up

	several  []quota.FR
	onlyOne  [1]quota.FR
	oneUsage [1]quota.Item
	room     bool // ask the topology too
	forRoom  *Assignment
}

// simulate says whether preemption could free an amount of one flavor-resource, whom it
// would take, and from how far up the amount would be borrowed then.
func (k *Kernel) simulate(w int32, fr quota.FR, v int64) grade {
	s := &k.search
	q := k.Work[w].Queue
	s.onlyOne[0], s.oneUsage[0] = fr, quota.Item{FR: fr, Amount: v}
	s.begin(w, s.oneUsage[:], s.onlyOne[:], false)
	if !k.find() {
		level, _ := k.Tree.BorrowLevel(q, fr, v)
		return grade{wayNoCandidates, level}
	}
	mark := k.Tree.Mark()
	way := wayReclaim
	for _, t := range s.targets {
		k.Tree.FreeAll(k.Work[t.Workload].Queue, k.Work[t.Workload].holds)
		if k.Work[t.Workload].Queue == q {
			way = wayPreempt
		}
	}
	level, _ := k.Tree.BorrowLevel(q, fr, v)
	k.Tree.Undo(mark)
	return grade{way, level}
}

// findTargets searches the victims of an assignment that needs some. They are in
// a.Targets.
func (k *Kernel) findTargets(w int32, a *Assignment) bool {
	s := &k.search
	if s.answers(w, a) && k.Room == nil {
		a.Targets = append(a.Targets[:0], s.targets...)
		return len(a.Targets) > 0
	}
	s.begin(w, a.Usage, s.several[:0], k.Room != nil)
	s.forRoom = a
	for i := range a.Sets {
		for r, f := range a.Sets[i].Flavor {
			if f >= 0 && a.Sets[i].Mode[r] == Preempt {
				s.contest(quota.Of(int32(f), r))
			}
		}
	}
	if !k.find() {
		return false
	}
	a.Targets = append(a.Targets[:0], s.targets...)
	return true
}

// answers reports whether the last search was the simulation of the only flavor-resource
// of an assignment, whose answer is the assignment's.
func (s *search) answers(w int32, a *Assignment) bool {
	return len(a.Usage) == 1 && len(s.usage) == 1 && s.w == w && s.usage[0] == a.Usage[0] && s.contested[0] == a.Usage[0].FR && len(a.Sets) == 1
}

func (s *search) begin(w int32, usage []quota.Item, contested []quota.FR, room bool) {
	s.w, s.queue, s.usage, s.contested, s.room = w, s.k.Work[w].Queue, usage, contested, room
	s.targets = s.targets[:0]
}

func (s *search) contest(fr quota.FR) {
	for _, have := range s.contested {
		if have == fr {
			return
		}
	}
	s.contested = append(s.contested, fr)
	s.several = s.contested
}

// find runs the search that the rules ask for.
func (k *Kernel) find() bool {
	if k.Rules.FairSharing {
		return k.fair.run(&k.search)
	}
	return k.search.run()
}

// run makes the attempts that apply, in order, until one succeeds: with borrowing, where
// candidates that may be taken only without are passed over; or without.
func (s *search) run() bool {
	s.collect()
	p := &s.k.Tree.Queue(s.queue).Preemption
	switch {
	case !s.others || !p.WhileBorrow && !s.underNominal():
		return s.attempt(true)
	case !p.WhileBorrow && !s.hier:
		return s.attempt(false) || s.attempt(true)
	}
	return s.attempt(true) || s.attempt(false)
}

// underNominal reports whether the queue uses less than its nominal quota of everything
// contested.
func (s *search) underNominal() bool {
	for _, fr := range s.contested {
		if s.k.Tree.Usage(s.queue, fr) >= s.k.Tree.Nominal(s.queue, fr) {
			return false
		}
	}
	return true
}

// collect finds who has candidates: the own queue, and walking up from it the queues of
// each cohort that exceed their quota of something contested. Once a subtree on the way
// has quota for the request, all who are outside it are under a hierarchical advantage.
func (s *search) collect() {
	for c := range s.streams {
		s.streams[c].sources = s.streams[c].sources[:0]
	}
	s.hier, s.others = false, false
	t, p := s.k.Tree, &s.k.Tree.Queue(s.queue).Preemption
	if p.Within != quota.Never {
		s.k.addSource(&s.streams[goneOwn], &s.asks, source{queue: s.queue, ceiling: quota.None, list: &s.k.gone[s.queue]})
		s.k.addSource(&s.streams[liveOwn], &s.asks, source{queue: s.queue, ceiling: quota.None, list: &s.k.live[s.queue]})
	}
	if p.Reclaim == quota.Never || t.Parent(s.queue) == quota.None {
		return
	}
	s.rest = append(s.rest[:0], s.usage...)
	advantage := t.Covers(s.queue, s.rest)
	skip := s.queue
	for node := t.Parent(s.queue); node != quota.None; node = t.Parent(node) {
		s.collectBelow(node, node, skip, advantage)
		fits := t.Covers(node, s.rest)
		advantage = advantage || fits
		skip = node
	}
	s.hier = len(s.streams[goneHier].sources)+len(s.streams[liveHier].sources) > 0
	s.others = s.hier || len(s.streams[gonePrio].sources)+len(s.streams[livePrio].sources) > 0
}

func (s *search) collectBelow(node, ceiling, skip int32, advantage bool) {
	t := s.k.Tree
	for _, c := range t.Cohorts(node) {
		if c != skip && t.Exceeds(c, s.contested) {
			s.collectBelow(c, ceiling, skip, advantage)
		}
	}
	gone, live := gonePrio, livePrio
	if advantage {
		gone, live = goneHier, liveHier
	}
	for _, q := range t.Leaves(node) {
		if q != s.queue && t.Exceeds(q, s.contested) {
			s.k.addSource(&s.streams[gone], &s.asks, source{queue: q, ceiling: ceiling, hier: advantage, list: &s.k.gone[q]})
			s.k.addSource(&s.streams[live], &s.asks, source{queue: q, ceiling: ceiling, hier: advantage, list: &s.k.live[q]})
		}
	}
}

// attempt removes candidates until the request fits, then puts back those it can.
func (s *search) attempt(borrow bool) bool {
	mark := s.k.Tree.Mark()
	s.targets = s.targets[:0]
	found := s.takeUntilFits(borrow)
	if found {
		s.fillBack(borrow)
	}
	s.k.Tree.Undo(mark)
	s.returnAll()
	if !found {
		s.targets = s.targets[:0]
	}
	return found
}

func (s *search) takeUntilFits(borrow bool) bool {
	if !borrow && s.mustBorrow() {
		return false
	}
	onlyWithout := borrow && !s.k.Tree.Queue(s.queue).Preemption.WhileBorrow
	for c := range s.streams {
		stream := &s.streams[c]
		if onlyWithout && (c == gonePrio || c == livePrio) {
			continue
		}
		s.k.rewind(stream)
		for src := stream.top(); src != nil; src = stream.top() {
			item := src.next
			cause := s.causeOf(item, src)
			if !s.valid(src, cause, borrow) {
				stream.drop()
				continue
			}
			s.k.advance(stream, &s.asks)
			s.remove(item, cause)
			if s.fits(borrow) {
				return true
			}
		}
	}
	return false
}

// mustBorrow reports a request beyond the queue's own quota, whoever leaves.
func (s *search) mustBorrow() bool {
	for _, it := range s.usage {
		if it.Amount > s.k.Tree.Subtree(s.queue, it.FR) {
			return true
		}
	}
	return false
}

// causeOf classifies a candidate.
func (s *search) causeOf(item int32, src *source) Cause {
	switch {
	case src.queue == s.queue:
		return InClusterQueue
	case !src.hier && s.whileBorrowing(item):
		return InCohortReclaimWhileBorrowing
	}
	return InCohortReclamation
}

// whileBorrowing reports whether a candidate may be taken although the preemptor borrows.
func (s *search) whileBorrowing(item int32) bool {
	p := &s.k.Tree.Queue(s.queue).Preemption
	prio := s.k.Work[item].Priority
	return p.WhileBorrow && prio < s.k.Work[s.w].Priority && (!p.Threshold.Set || int64(prio) <= p.Threshold.N)
}

// valid reports whether a candidate may still be taken: its queue, and its cohorts below
// the one shared with the preemptor, exceed their quota of something contested. If not,
// none behind it of the same source may: usage only falls, and priorities only rise.
func (s *search) valid(src *source, cause Cause, borrow bool) bool {
	if src.queue == s.queue {
		return true
	}
	if borrow && !src.hier && cause == InCohortReclamation {
		return false
	}
	for node := src.queue; node != src.ceiling; node = s.k.Tree.Parent(node) {
		if !s.k.Tree.Exceeds(node, s.contested) {
			return false
		}
	}
	return true
}

func (s *search) remove(item int32, cause Cause) {
	s.targets = append(s.targets, Target{item, cause})
	s.leave(item)
}

func (s *search) leave(item int32) {
	s.k.Tree.FreeAll(s.k.Work[item].Queue, s.k.Work[item].holds)
	if s.room {
		s.k.Room.Leave(item)
	}
}

func (s *search) comeBack(item int32) {
	s.k.Tree.UseAll(s.k.Work[item].Queue, s.k.Work[item].holds)
	if s.room {
		s.k.Room.Return(item)
	}
}

// returnAll gives the targets their places back; the tree was restored by its log.
func (s *search) returnAll() {
	if !s.room {
		return
	}
	for i := len(s.targets) - 1; i >= 0; i-- {
		s.k.Room.Return(s.targets[i].Workload)
	}
}

// fits reports whether the request fits now, without borrowing if it must.
func (s *search) fits(borrow bool) bool {
	for _, it := range s.usage {
		if !borrow && s.k.Tree.BorrowsWith(s.queue, it.FR, it.Amount) {
			return false
		}
		if it.Amount > s.k.Tree.Available(s.queue, it.FR) {
			return false
		}
	}
	return !s.room || s.k.Room.Fits(s.w, s.forRoom) < 0
}

// fillBack drops targets that are not needed, newest first but for the last. A dropped one
// is replaced by the last of the list, which shows in the order of victims.
func (s *search) fillBack(borrow bool) {
	for i := len(s.targets) - 2; i >= 0; i-- {
		item := s.targets[i].Workload
		s.comeBack(item)
		if s.fits(borrow) {
			last := len(s.targets) - 1
			s.targets[i] = s.targets[last]
			s.targets = s.targets[:last]
		} else {
			s.leave(item)
		}
	}
}
