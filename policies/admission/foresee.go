package admission

import (
	"slices"
	"sort"

	"github.com/gangplan/gangplan/sim/order"
	"github.com/gangplan/gangplan/sim/quota"
)

// A request that may not borrow, for a queue that has no quota left for it, needs victims
// of the own queue: whoever else leaves, it does not fit. The search takes all others first
// nevertheless, and then gives back, last to first, whom it does not need. With a thousand
// queues that is most of all work, and the same for every head. In a cohort whose usage is
// the sum of its queues' it is done once, and the heads search in its sums.

// parade is who leaves other queues in such a search, in order: from every queue its
// candidates until it exceeds its quota of nothing contested.
type parade struct {
	contested []quota.FR
	asked     []quota.FR // what sums are kept of
	policy    quota.Policy
	limit     int32   // of priorities, where the policy has one
	part      [2]file // the evicted, the live
}

// file is a part of a parade. sums is what the first of it hold: for every number of them,
// by flavor-resource asked for.
type file struct {
	who  []int32
	sums []int64
}

// parades remembers those of a cohort while nothing changes in it, within a cycle: what
// LocalQueues used changes with time.
type parades struct {
	root    int32
	version int64
	list    []parade
	own     []Target // taken of the own queue, in order
}

func (p *parades) forget() { p.list = p.list[:0] }

// foreseen reports whether the attempt without borrowing is of this kind.
func (s *search) foreseen() bool {
	return !s.room && s.k.additive[s.root] && s.class[s.root] != apart && !s.ownFits() && !s.k.Tree.Exceeds(s.queue, s.contested)
}

// ownFits reports whether the own queue has quota for the request, whatever the cohort has.
func (s *search) ownFits() bool {
	for _, it := range s.usage {
		if s.k.Tree.BorrowsWith(s.queue, it.FR, it.Amount) {
			return false
		}
	}
	return true
}

// foresee makes the attempt. It is not sure of the outcome if evicted ones of the own queue
// would be enough for the own queue and not for the cohort.
func (s *search) foresee() (found, sure bool) {
	p := s.parade()
	mark := s.k.Tree.Mark()
	defer s.k.Tree.Undo(mark)
	s.parades.own = s.parades.own[:0]
	s.move(p, &p.part[0], 0, len(p.part[0].who), s.k.Tree.Free)
	if s.takeOwn(goneRank) {
		s.giveBack(p, len(s.parades.own), false)
		return true, true
	}
	if s.ownFits() {
		return false, false
	}
	gone := len(s.parades.own)
	s.move(p, &p.part[1], 0, len(p.part[1].who), s.k.Tree.Free)
	if !s.takeOwn(liveRank) {
		return false, true
	}
	s.giveBack(p, gone, true)
	return true, true
}

// takeOwn takes candidates of the own queue until the request fits.
func (s *search) takeOwn(kind rank) bool {
	c := s.k.start(&s.asks, s.queue, s.k.listOf(kind, s.queue))
	for ; c.item != order.None; s.k.step(&s.asks, &c) {
		s.parades.own = append(s.parades.own, Target{c.item, InClusterQueue})
		if s.leave(c.item); s.fits(false) {
			return true
		}
	}
	return false
}

// giveBack gives back, last to first, who is not needed. The list of targets is, in order:
// evicted others, evicted ones of the own queue, and if it came so far the same of the live.
func (s *search) giveBack(p *parade, gone int, live bool) {
	last := len(s.parades.own) - 1
	s.targets = append(s.targets[:0], s.parades.own[last])
	if live {
		s.giveBackOwn(gone, last)
		s.giveBackOthers(p, &p.part[1])
	}
	s.giveBackOwn(0, min(gone, last))
	s.giveBackOthers(p, &p.part[0])
}

func (s *search) giveBackOwn(from, to int) {
	for i := to - 1; i >= from; i-- {
		t := s.parades.own[i]
		if s.comeBack(t.Workload); s.fits(false) {
			s.dropBefore(1)
		} else {
			s.leave(t.Workload)
			s.keepBefore(t)
		}
	}
}

// giveBackOthers finds by bisection how many in a row can be given back, keeps the next, and
// goes on with those before it.
func (s *search) giveBackOthers(p *parade, f *file) {
	hier := s.class[s.root] == hierarchical
	for to := len(f.who); to > 0; {
		from := sort.Search(to, func(from int) bool { return s.fitsBack(p, f, from, to) })
		s.move(p, f, from, to, s.k.Tree.Use)
		s.dropBefore(to - from)
		if to = from - 1; to >= 0 {
			who := f.who[to]
			s.keepBefore(Target{who, s.causeOf(who, &source{queue: s.k.Work[who].Queue, hier: hier})})
		}
	}
}

func (s *search) fitsBack(p *parade, f *file, from, to int) bool {
	mark := s.k.Tree.Mark()
	s.move(p, f, from, to, s.k.Tree.Use)
	fits := s.fits(false)
	s.k.Tree.Undo(mark)
	return fits
}

// move charges the cohort for a part of a parade, or frees it.
func (s *search) move(p *parade, f *file, from, to int, by func(int32, quota.FR, int64)) {
	n := len(p.asked)
	for i, fr := range p.asked {
		by(s.root, fr, f.sums[to*n+i]-f.sums[from*n+i])
	}
}

// dropBefore does to the targets what dropping n in a row before them does: each time the
// last takes the place of the one that goes.
func (s *search) dropBefore(n int) {
	if n %= len(s.targets); n > 0 {
		slices.Reverse(s.targets)
		slices.Reverse(s.targets[:n])
		slices.Reverse(s.targets[n:])
	}
}

func (s *search) keepBefore(t Target) { s.targets = slices.Insert(s.targets, 0, t) }

// parade returns that of this search.
func (s *search) parade() *parade {
	all := &s.parades
	if now := s.k.ranks.version[s.root]; all.root != s.root || all.version != now {
		all.root, all.version, all.list = s.root, now, all.list[:0]
	}
	for i := range all.list {
		if p := &all.list[i]; s.matches(p) {
			return p
		}
	}
	n := len(all.list)
	all.list = slices.Grow(all.list, 1)[:n+1]
	p := &all.list[n]
	p.contested, p.asked = append(p.contested[:0], s.contested...), p.asked[:0]
	for _, it := range s.usage {
		p.asked = append(p.asked, it.FR)
	}
	p.policy, p.limit = s.k.Tree.Queue(s.queue).Preemption.Reclaim, s.k.Work[s.w].Priority
	s.gather(p)
	return p
}

// matches reports whether a parade is the one of this search.
func (s *search) matches(p *parade) bool {
	policy := s.k.Tree.Queue(s.queue).Preemption.Reclaim
	if policy != p.policy || policy != quota.Any && s.k.Work[s.w].Priority != p.limit || !slices.Equal(s.contested, p.contested) || len(s.usage) != len(p.asked) {
		return false
	}
	for i := range s.usage {
		if s.usage[i].FR != p.asked[i] {
			return false
		}
	}
	return true
}

// gather finds who is in a parade.
func (s *search) gather(p *parade) {
	mark := s.k.Tree.Mark()
	for i, kind := range [...]rank{goneRank, liveRank} {
		f := &p.part[i]
		f.who, f.sums = f.who[:0], f.sums[:0]
		for range p.asked {
			f.sums = append(f.sums, 0)
		}
		st := s.streamOf(kind, s.class[s.root])
		s.rewind(st)
		for src := s.top(st); src != nil; src = s.top(st) {
			item := src.item
			if !s.exceeds(src.queue, src.ceiling) {
				st.drop()
				continue
			}
			s.k.advance(st, &s.asks)
			s.leave(item)
			f.add(item, p.asked, s.k.Work[item].holds)
		}
	}
	s.k.Tree.Undo(mark)
}

func (f *file) add(w int32, asked []quota.FR, holds []quota.Item) {
	f.who = append(f.who, w)
	for _, fr := range asked {
		sum := f.sums[len(f.sums)-len(asked)]
		for _, it := range holds {
			if it.FR == fr {
				sum += it.Amount
			}
		}
		f.sums = append(f.sums, sum)
	}
}

func (s *search) streamOf(kind rank, class standpoint) *stream {
	for i := range s.streams {
		if st := &s.streams[i]; st.kind == kind && st.class == class {
			return st
		}
	}
	return nil
}
