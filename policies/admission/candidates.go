package admission

import (
	"math"

	"github.com/gangplan/gangplan/sim/order"
	"github.com/gangplan/gangplan/sim/quota"
)

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

// cursor walks the holders of one list that a preemptor may take, in the order of victims. It
// stops where priorities become too high, so that candidates nobody needs are never looked
// at. Where the LocalQueues of a queue take turns, holders of who used more come first.
type cursor struct {
	list   *order.List
	policy quota.Policy
	turns  bool
	used   float64 // of the LocalQueues whose holders it is at
	item   int32   // order.None at the end
}

// start returns a cursor at the first candidate of a queue's list.
func (k *Kernel) start(a *asks, queue int32, list *order.List) cursor {
	c := cursor{list: list, policy: k.policyFor(a, queue), item: order.None}
	if c.policy == quota.Never || list.First() == order.None {
		return c
	}
	if k.Locals != nil && k.Locals.Turns(queue) {
		c.turns, c.used = true, math.Inf(1)
		k.nextTurn(a, &c, true)
		return c
	}
	c.item = k.eligible(a, &c, list.First())
	return c
}

// step moves a cursor to the next candidate.
func (k *Kernel) step(a *asks, c *cursor) {
	c.item = k.eligible(a, c, c.list.Next(c.item))
	if c.turns && c.item == order.None {
		k.nextTurn(a, c, false)
	}
}

// eligible returns the first candidate of a cursor's list at or behind an item.
func (k *Kernel) eligible(a *asks, c *cursor, item int32) int32 {
	limit := k.ceilingOf(a, c.policy)
	for ; item != order.None; item = c.list.Next(item) {
		if int64(k.Work[item].Priority) > limit {
			return order.None
		}
		if (!c.turns || k.usedBy(item) == c.used) && k.allowed(a, c.policy, item) && k.uses(item, a.contested) {
			return item
		}
	}
	return order.None
}

// ceilingOf returns the highest priority that a policy allows a victim.
func (k *Kernel) ceilingOf(a *asks, p quota.Policy) int64 {
	switch p {
	case quota.Any:
		return math.MaxInt64
	case quota.LowerPriority:
		return int64(k.Work[a.w].Priority) - 1
	}
	return int64(k.Work[a.w].Priority)
}

// usedBy returns what the LocalQueue of a holder used.
func (k *Kernel) usedBy(w int32) float64 { return k.Locals.Used(k.Locals.Of(w)) }

// nextTurn moves a cursor to the first candidate of the LocalQueues that used most, or most
// after those it was at.
func (k *Kernel) nextTurn(a *asks, c *cursor, first bool) {
	for c.item = order.None; c.item == order.None; first = false {
		next, any := 0.0, false
		for w := c.list.First(); w != order.None; w = c.list.Next(w) {
			if used := k.usedBy(w); (first || used < c.used) && (!any || used > next) {
				next, any = used, true
			}
		}
		if !any {
			return
		}
		c.used = next
		c.item = k.eligible(a, c, c.list.First())
	}
}

// source yields a queue's candidates to a stream.
type source struct {
	queue   int32
	ceiling int32 // the node up to which the victim's cohorts must borrow; None in the own queue
	hier    bool  // the preemptor has the hierarchical advantage over it
	cursor
	key order.Key // of the next candidate
}

// stream merges the candidates of several queues. Queues of others are looked at in the
// order of their first holders, and not before it is their turn.
type stream struct {
	kind    rank
	class   standpoint
	ranked  []int32 // queues not looked at yet
	sources []source
	heap    []int32 // of sources that are not exhausted
}

// rewind starts a stream over.
func (s *search) rewind(st *stream) {
	st.sources, st.heap = st.sources[:0], st.heap[:0]
	if st.class == own {
		s.k.addSource(st, &s.asks, source{queue: s.queue, ceiling: quota.None})
		return
	}
	st.ranked = nil
	if s.hasClass[st.class] {
		st.ranked = s.k.ranks.queues(st.kind, s.root)
	}
}

// top returns the source of the next candidate of a stream, or nil.
func (s *search) top(st *stream) *source {
	for len(st.ranked) > 0 {
		q := st.ranked[0]
		key := &s.k.ranks.of[st.kind][q].key
		if len(st.heap) > 0 && !key.Less(st.sources[st.heap[0]].key) {
			break
		}
		if s.tooHigh(key) {
			st.ranked = nil
			break
		}
		st.ranked = st.ranked[1:]
		if q == s.queue {
			continue
		}
		if ceiling := s.ceiling(q); s.class[ceiling] == st.class && s.k.Tree.Exceeds(q, s.contested) {
			s.k.addSource(st, &s.asks, source{queue: q, ceiling: ceiling, hier: st.class == hierarchical})
		}
	}
	if len(st.heap) == 0 {
		return nil
	}
	return &st.sources[st.heap[0]]
}

// tooHigh reports whether a holder's priority, and that of all behind it, is more than the
// policy allows in other queues.
func (s *search) tooHigh(first *order.Key) bool {
	return int64(^first.Priority) > s.k.ceilingOf(&s.asks, s.k.Tree.Queue(s.queue).Preemption.Reclaim)
}

// addSource adds a queue, unless it has no candidate.
func (k *Kernel) addSource(st *stream, a *asks, src source) {
	src.cursor = k.start(a, src.queue, k.listOf(st.kind, src.queue))
	if src.item == order.None {
		return
	}
	src.key = k.arena.Key(src.item)
	st.sources = append(st.sources, src)
	st.heap = append(st.heap, int32(len(st.sources)-1))
	for at := len(st.heap) - 1; at > 0 && st.less(at, (at-1)/2); at = (at - 1) / 2 {
		st.swap(at, (at-1)/2)
	}
}

// advance moves the top source on to its next candidate.
func (k *Kernel) advance(st *stream, a *asks) {
	src := &st.sources[st.heap[0]]
	k.step(a, &src.cursor)
	if src.item == order.None {
		st.drop()
		return
	}
	src.key = k.arena.Key(src.item)
	st.sink(0)
}

// drop ends the top source.
func (st *stream) drop() {
	last := len(st.heap) - 1
	st.heap[0] = st.heap[last]
	st.heap = st.heap[:last]
	st.sink(0)
}

func (st *stream) less(i, j int) bool {
	return st.sources[st.heap[i]].key.Less(st.sources[st.heap[j]].key)
}
func (st *stream) swap(i, j int) { st.heap[i], st.heap[j] = st.heap[j], st.heap[i] }

// sink restores the heap below a position.
func (st *stream) sink(at int) {
	for {
		least := at
		for child := 2*at + 1; child <= 2*at+2; child++ {
			if child < len(st.heap) && st.less(child, least) {
				least = child
			}
		}
		if least == at {
			return
		}
		st.swap(at, least)
		at = least
	}
}
