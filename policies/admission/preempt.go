package admission

import (
	"github.com/gangplan/gangplan/sim/order"
	"github.com/gangplan/gangplan/sim/quota"
)

// Classical preemption: candidates are taken in a fixed order until the workload fits, and
// those that turn out not to be needed are left alone. The order is: on their way out
// before live; of each, those over whom the preemptor has a hierarchical advantage, then
// others of the cohort, then its own queue's.

// standpoint is where a candidate stands to the preemptor.
type standpoint uint8

const (
	apart        standpoint = iota // in another cohort tree, or it may not be taken at all
	hierarchical                   // the preemptor has the hierarchical advantage over it
	prior                          // elsewhere in the cohort
	own                            // in the preemptor's queue
	standpoints
)

// sequence is the order of the streams.
var sequence = [...]stream{
	{kind: goneRank, class: hierarchical}, {kind: goneRank, class: prior}, {kind: goneRank, class: own},
	{kind: liveRank, class: hierarchical}, {kind: liveRank, class: prior}, {kind: liveRank, class: own},
}

// search is the state of one search for victims.
type search struct {
	k *Kernel
	asks
	streams [len(sequence)]stream
	root    int32
	targets []Target
	rest    []quota.Item // of the request, on the way up

	class    []standpoint      // per node above the queue: of whom it has in common with the preemptor
	hasClass [standpoints]bool // of those nodes

	parades  parades
	several  []quota.FR
	onlyOne  [1]quota.FR
	oneUsage [1]quota.Item
	room     bool // ask the topology too
	forRoom  *Assignment
}

func (s *search) reset(k *Kernel) {
	s.k, s.streams, s.class = k, sequence, make([]standpoint, k.Tree.Nodes())
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
		return k.fair.run()
	}
	return k.search.run()
}

// run makes the attempts that apply, in order, until one succeeds: with borrowing, where
// candidates that may be taken only without are passed over; or without.
func (s *search) run() bool {
	s.lookUp()
	defer s.lookAway()
	switch whileBorrow := s.k.Tree.Queue(s.queue).Preemption.WhileBorrow; {
	case whileBorrow:
		return s.attempt(true) || s.attempt(false)
	case !s.underNominal(), !s.has(hierarchical) && !s.has(prior):
		return s.attempt(true)
	case !s.has(hierarchical):
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

// lookUp finds how the queues below each cohort above the preemptor stand to it. Once a
// subtree on the way has quota for the request, all who are outside it are under a
// hierarchical advantage.
func (s *search) lookUp() {
	t := s.k.Tree
	s.root = t.Root(s.queue)
	s.k.ranks.refresh(s.root)
	s.hasClass = [standpoints]bool{own: true}
	if t.Queue(s.queue).Preemption.Reclaim == quota.Never || t.Parent(s.queue) == quota.None {
		return
	}
	s.rest = append(s.rest[:0], s.usage...)
	class := prior
	for node := s.queue; ; {
		if t.Covers(node, s.rest) {
			class = hierarchical
		}
		if node = t.Parent(node); node == quota.None {
			return
		}
		s.class[node] = class
		s.hasClass[class] = true
	}
}

// lookAway forgets what lookUp found.
func (s *search) lookAway() {
	for node := s.k.Tree.Parent(s.queue); node != quota.None; node = s.k.Tree.Parent(node) {
		s.class[node] = apart
	}
}

// ceiling returns the lowest cohort that a queue has in common with the preemptor, which is
// not its own.
func (s *search) ceiling(q int32) int32 {
	node := s.k.Tree.Parent(q)
	for s.class[node] == apart {
		node = s.k.Tree.Parent(node)
	}
	return node
}

// has reports whether there are candidates of a class, in queues and cohorts that exceed
// their quota of something contested.
func (s *search) has(class standpoint) bool {
	if !s.hasClass[class] {
		return false
	}
	for _, kind := range [...]rank{goneRank, liveRank} {
		for _, q := range s.k.ranks.queues(kind, s.root) {
			if q == s.queue {
				continue
			}
			ceiling := s.ceiling(q)
			if s.class[ceiling] != class || !s.exceeds(q, ceiling) {
				continue
			}
			if c := s.k.start(&s.asks, q, s.k.listOf(kind, q)); c.item != order.None {
				return true
			}
		}
	}
	return false
}

// exceeds reports whether a node, and those above it and below a ceiling, exceed their quota
// of something contested. The preemptor's own queue need not.
func (s *search) exceeds(node, ceiling int32) bool {
	if node == s.queue {
		return true
	}
	for ; node != ceiling; node = s.k.Tree.Parent(node) {
		if !s.k.Tree.Exceeds(node, s.contested) {
			return false
		}
	}
	return true
}

// attempt removes candidates until the request fits, then puts back those it can.
func (s *search) attempt(borrow bool) bool {
	s.targets = s.targets[:0]
	if s.hopeless(borrow) {
		return false
	}
	if !borrow && s.foreseen() {
		if found, sure := s.foresee(); sure {
			return found
		}
	}
	mark := s.k.Tree.Mark()
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
	onlyWithout := borrow && !s.k.Tree.Queue(s.queue).Preemption.WhileBorrow
	for c := range s.streams {
		stream := &s.streams[c]
		if onlyWithout && stream.class == prior {
			continue
		}
		s.rewind(stream)
		for src := s.top(stream); src != nil; src = s.top(stream) {
			item := src.item
			cause := s.causeOf(item, src)
			without := borrow && stream.class == prior && cause == InCohortReclamation
			if !s.exceeds(src.queue, src.ceiling) || without && !src.turns {
				stream.drop() // nobody behind it of its queue may be taken: usage only falls, and priorities only rise
				continue
			}
			if s.k.advance(stream, &s.asks); without {
				continue
			}
			s.remove(item, cause)
			if s.fits(borrow) {
				return true
			}
		}
	}
	return false
}

// hopeless reports a request beyond what the preemptor's queue may have by its own quota and
// limit, even without all of its own candidates: what other queues hold does not count there.
func (s *search) hopeless(borrow bool) bool {
	for _, it := range s.usage {
		limit := quota.Max(0)
		if borrow && s.k.Tree.Parent(s.queue) != quota.None {
			limit = s.k.Tree.BorrowingLimit(s.queue, it.FR)
		}
		if !limit.Set || borrow && it.Amount == 0 {
			continue // nothing fits into what is less than nothing
		}
		most := s.k.Tree.Subtree(s.queue, it.FR) + limit.N
		if over := s.k.Tree.Usage(s.queue, it.FR) + it.Amount - most; it.Amount > most || over > 0 && !s.ownHold(it.FR, over) {
			return true
		}
	}
	return false
}

// ownHold reports whether the candidates in the preemptor's queue hold so much in all.
func (s *search) ownHold(fr quota.FR, v int64) bool {
	for _, kind := range [...]rank{goneRank, liveRank} {
		for c := s.k.start(&s.asks, s.queue, s.k.listOf(kind, s.queue)); c.item != order.None; s.k.step(&s.asks, &c) {
			for _, it := range s.k.Work[c.item].holds {
				if it.FR == fr {
					v -= it.Amount
				}
			}
			if v <= 0 {
				return true
			}
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

// unlist drops a target. The last of the list takes its place.
func (s *search) unlist(i int) {
	last := len(s.targets) - 1
	s.targets[i] = s.targets[last]
	s.targets = s.targets[:last]
}

// fillBack drops targets that are not needed, newest first but for the last. A dropped one
// is replaced by the last of the list, which shows in the order of victims.
func (s *search) fillBack(borrow bool) {
	for i := len(s.targets) - 2; i >= 0; i-- {
		item := s.targets[i].Workload
		s.comeBack(item)
		if s.fits(borrow) {
			s.unlist(i)
		} else {
			s.leave(item)
		}
	}
}
