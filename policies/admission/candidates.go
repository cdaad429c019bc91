package admission

import (
	"github.com/gangplan/gangplan/sim/order"
	"github.com/gangplan/gangplan/sim/quota"
)

// A source yields a queue's holders that a preemptor may take, in the order of victims: of
// its evicted ones, or of its live ones. It walks the queue's sorted list and stops where
// priorities become too high, so that candidates nobody needs are never looked at.
type source struct {
	queue   int32
	ceiling int32 // the node up to which the victim's cohorts must borrow; None in the own queue
	hier    bool  // the preemptor has the hierarchical advantage over it
	list    *order.List
	local   int32   // only of this LocalQueue, or anyLocal
	used    float64 // what that used: of a queue's own, who used more gives first
	first   int32   // first candidate, or order.None
	next    int32
	key     order.Key // of next
}

// anyLocal is the local of a source of all of a queue's holders.
const anyLocal = -2

// stream merges sources into the order of victims.
type stream struct {
	sources []source
	heap    []int32 // of sources that are not exhausted
}

// asks is what a search wants: usage for a queue, by preempting on contested
// flavor-resources.
type asks struct {
	w, queue  int32
	usage     []quota.Item
	contested []quota.FR
}

// allowed reports whether a policy lets the asking workload preempt a holder.
func (k *Kernel) allowed(a *asks, p quota.Policy, victim int32) bool {
	me, other := &k.Work[a.w], &k.Work[victim]
	switch p {
	case quota.Any:
		return true
	case quota.LowerPriority:
		return other.Priority < me.Priority
	case quota.LowerOrNewerEqual:
		return other.Priority < me.Priority || other.Priority == me.Priority && me.Time < other.Time
	}
	return false
}

// eligible returns the first candidate of a list at or behind an item.
func (k *Kernel) eligible(a *asks, p quota.Policy, list *order.List, local, item int32) int32 {
	limit := k.Work[a.w].Priority
	for ; item != order.None; item = list.Next(item) {
		if p != quota.Any && k.Work[item].Priority > limit {
			return order.None
		}
		if (local == anyLocal || k.Locals.Of(item) == local) && k.allowed(a, p, item) && k.uses(item, a.contested) {
			return item
		}
	}
	return order.None
}

// uses reports whether a holder has any of some flavor-resources.
func (k *Kernel) uses(w int32, frs []quota.FR) bool {
	for _, it := range k.Work[w].holds {
		for _, fr := range frs {
			if it.FR == fr {
				return true
			}
		}
	}
	return false
}

// policyFor returns the policy that governs victims of a queue.
func (k *Kernel) policyFor(a *asks, queue int32) quota.Policy {
	p := &k.Tree.Queue(a.queue).Preemption
	if queue == a.queue {
		return p.Within
	}
	return p.Reclaim
}

// addSource adds a queue's list, unless it has no candidate.
func (k *Kernel) addSource(s *stream, a *asks, src source) {
	src.local = anyLocal
	if k.Locals == nil {
		k.addPart(s, a, src)
		return
	}
	for _, src.local = range k.Locals.In(src.queue) {
		src.used = k.Locals.Used(src.local)
		k.addPart(s, a, src)
	}
	if src.local == anyLocal {
		k.addPart(s, a, src)
	}
}

func (k *Kernel) addPart(s *stream, a *asks, src source) {
	src.first = k.eligible(a, k.policyFor(a, src.queue), src.list, src.local, src.list.First())
	if src.first != order.None {
		s.sources = append(s.sources, src)
	}
}

// rewind starts a stream over.
func (k *Kernel) rewind(s *stream) {
	s.heap = s.heap[:0]
	for i := range s.sources {
		s.sources[i].next = s.sources[i].first
		s.sources[i].key = k.arena.Key(s.sources[i].next)
		s.heap = append(s.heap, int32(i))
	}
	for i := len(s.heap)/2 - 1; i >= 0; i-- {
		s.sink(i)
	}
}

// top returns the source of the next candidate of a stream, or nil.
func (s *stream) top() *source {
	if len(s.heap) == 0 {
		return nil
	}
	return &s.sources[s.heap[0]]
}

// advance moves the top source on to its next candidate.
func (k *Kernel) advance(s *stream, a *asks) {
	src := s.top()
	src.next = k.eligible(a, k.policyFor(a, src.queue), src.list, src.local, src.list.Next(src.next))
	if src.next == order.None {
		s.drop()
		return
	}
	src.key = k.arena.Key(src.next)
	s.sink(0)
}

// drop ends the top source.
func (s *stream) drop() {
	last := len(s.heap) - 1
	s.heap[0] = s.heap[last]
	s.heap = s.heap[:last]
	s.sink(0)
}

// before orders sources by their next candidates.
func (s *source) before(o *source) bool {
	if s.queue == o.queue && s.used != o.used {
		return s.used > o.used
	}
	return s.key.Less(o.key)
}

// sink restores the heap below a position.
func (s *stream) sink(at int) {
	for {
		least := at
		for child := 2*at + 1; child <= 2*at+2; child++ {
			if child < len(s.heap) && s.sources[s.heap[child]].before(&s.sources[s.heap[least]]) {
				least = child
			}
		}
		if least == at {
			return
		}
		s.heap[at], s.heap[least] = s.heap[least], s.heap[at]
		at = least
	}
}
