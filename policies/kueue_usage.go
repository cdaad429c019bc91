package policies

import (
	"math"

	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/sim/order"
	"github.com/gangplan/gangplan/sim/quota"
)

// Admission fair sharing: in a ClusterQueue that asks for it, the job of the LocalQueue that
// used least goes first. What a LocalQueue consumed is a decaying average of what its
// admitted jobs hold, brought up to date every sampling interval and at each of its
// admissions, which also cost it a sample's worth of what they ask for, at once.

// usages is what every LocalQueue consumed.
type usages struct {
	rules  *sim.UsageFairness
	locals []localUsage
	entry  float64 // share of a sample in the average

	held    []quota.Amounts // per job, where LocalQueues take turns
	members [][]int32       // per ClusterQueue, its LocalQueues, and -1 for jobs without one
}

type localUsage struct {
	queue    int32 // its ClusterQueue
	slot     int32 // its place among the LocalQueues of that; 0 are jobs without one
	weight   float64
	holds    quota.Amounts
	consumed [quota.Resources]float64
	since    int64
}

func (u *usages) reset(v sim.View) {
	*u = usages{rules: v.UsageFairness()}
	u.entry = 1 - half(u.rules.Interval, u.rules.HalfLife)
	u.members = make([][]int32, v.Quota().Len())
	if u.rules.Interval > 0 {
		u.held = make([]quota.Amounts, v.Jobs())
	}
	slots := make([]int32, v.Quota().Len())
	for q := range u.members {
		u.members[q] = []int32{-1}
	}
	for i := range v.LocalQueues() {
		spec := &v.LocalQueues()[i]
		for q := range slots {
			if name := v.Quota().Name(int32(q)); name == spec.ClusterQueue {
				slots[q]++
				u.members[q] = append(u.members[q], int32(i))
				u.locals = append(u.locals, localUsage{queue: int32(q), slot: slots[q], weight: weightOf(spec.Weight)})
			}
		}
	}
}

func weightOf(w quota.Limit) float64 {
	if !w.Set {
		return 1
	}
	return float64(w.N) / 1000
}

// slots returns how many LocalQueues a ClusterQueue tells apart, jobs without one being one
// more; 1 where nobody does.
func (u *usages) slots(v sim.View, q int32) int32 {
	if !v.Quota().Queue(q).UsageBased || u.rules.Interval <= 0 {
		return 1
	}
	return int32(len(u.members[q]))
}

// on reports whether any ClusterQueue lets its LocalQueues take turns.
func (u *usages) on(v sim.View) bool {
	for q := range int32(v.Quota().Len()) {
		if u.slots(v, q) > 1 {
			return true
		}
	}
	return false
}

// turns shows the kernel what LocalQueues used, for the order of victims.
type turns struct {
	*usages
	v sim.View
}

// Turns implements admission.Locals.
func (t *turns) Turns(queue int32) bool { return t.slots(t.v, queue) > 1 }

// Of implements admission.Locals.
func (t *turns) Of(w int32) int32 { return t.v.LocalQueue(w) }

// Used implements admission.Locals.
func (t *turns) Used(local int32) float64 { return t.worth(local) }

// half returns 0.5^(elapsed / halfLife), made of products and square roots alone, so that
// every machine gets the same bits. 0 forgets at once.
func half(elapsed, halfLife int64) float64 {
	if halfLife <= 0 {
		return 0
	}
	x := math.Ldexp(1, -int(min(elapsed/halfLife, 1100)))
	rest, root := elapsed%halfLife, math.Sqrt(0.5)
	for bit := 0; bit < 32 && rest > 0; bit++ {
		if rest *= 2; rest >= halfLife {
			rest -= halfLife
			x *= root
		}
		root = math.Sqrt(root)
	}
	return x
}

// unitOf turns a quantity into the unit it is weighed in: GPUs, cores, bytes, pods.
func unitOf(resource int, n int64) float64 {
	if resource == 0 || resource == 1 {
		return float64(n) / 1000
	}
	return float64(n)
}

// sampleUsage takes the samples that are due. Where jobs wait they may change whose turn it
// is.
func (k *kueue) sampleUsage(v sim.View) {
	for i := range k.usages.locals {
		l := &k.usages.locals[i]
		if q := &k.queues[l.queue]; q.slots > 1 && k.usages.catchUp(l, v.Now()) && q.waiting.Head() != order.None {
			k.trees[q.tree].dirty = true
		}
	}
}

// nextSample returns when the next sample may change whose turn it is.
func (k *kueue) nextSample() int64 {
	at := int64(sim.Never)
	for i := range k.usages.locals {
		l := &k.usages.locals[i]
		if q := &k.queues[l.queue]; q.slots > 1 && q.waiting.Head() != order.None && !l.idle() {
			at = min(at, l.since+k.usages.rules.Interval)
		}
	}
	return at
}

// catchUp takes a LocalQueue's samples up to now and reports whether there were any.
func (u *usages) catchUp(l *localUsage, now int64) (changed bool) {
	for now-l.since >= u.rules.Interval {
		if l.idle() {
			l.since = now - (now-l.since)%u.rules.Interval
			return changed
		}
		u.sample(l, l.since+u.rules.Interval)
		changed = true
	}
	return changed
}

// idle reports whether no sample would change anything.
func (l *localUsage) idle() bool {
	return l.holds == quota.Amounts{} && l.consumed == [quota.Resources]float64{}
}

func (u *usages) sample(l *localUsage, at int64) {
	kept := half(at-l.since, u.rules.HalfLife)
	for r := range l.consumed {
		l.consumed[r] = float64(l.consumed[r]*kept) + float64(unitOf(r, l.holds[r])*(1-kept))
		if u.rules.HalfLife <= 0 || l.holds[r] == 0 && l.consumed[r] < 1e-9 {
			l.consumed[r] = 0
		}
	}
	l.since = at
}

// charge notes what a job of a LocalQueue holds from now on, or with by = -1 no longer.
func (u *usages) charge(v sim.View, j int32, holding []quota.Item, by int64) {
	i := v.LocalQueue(j)
	if i < 0 || u.rules.Interval <= 0 {
		return
	}
	l := &u.locals[i]
	sum := sumOf(holding)
	for r := range sum {
		l.holds[r] += by * sum[r]
	}
	u.held[j] = sum
	if by < 0 || u.rules.HalfLife <= 0 {
		return
	}
	u.sample(l, v.Now())
	for _, it := range holding {
		l.consumed[it.FR.Resource()] += float64(u.entry * unitOf(it.FR.Resource(), it.Amount))
	}
}

// shrink notes that a job holds less than before.
func (u *usages) shrink(v sim.View, j int32, holding []quota.Item) {
	i := v.LocalQueue(j)
	if i < 0 || u.rules.Interval <= 0 {
		return
	}
	now := sumOf(holding)
	for r := range now {
		u.locals[i].holds[r] += now[r] - u.held[j][r]
	}
	u.held[j] = now
}

func sumOf(holding []quota.Item) (sum quota.Amounts) {
	for _, it := range holding {
		sum[it.FR.Resource()] += it.Amount
	}
	return sum
}

// worth is what orders LocalQueues: what one consumed, by its weight.
func (u *usages) worth(i int32) float64 {
	if i < 0 {
		return 0
	}
	l := &u.locals[i]
	if l.weight <= 0 {
		return math.Inf(1)
	}
	sum := 0.0
	for r := range l.consumed {
		sum += float64(u.rules.Weights[r] * l.consumed[r])
	}
	return sum / l.weight
}

// fairHead returns the head of a queue whose LocalQueues take turns: of the one that used
// least, the job that preempted for its turn or the first.
func (k *kueue) fairHead(v sim.View, q *clusterQueue) int32 {
	best, least := int32(order.None), 0.0
	q.waiting.EachHead(func(j int32) {
		x := k.usages.worth(v.LocalQueue(j))
		if best == order.None || x < least || x == least && q.waiting.Before(j, best) {
			best, least = j, x
		}
	})
	if s := q.sticky; s != order.None && !q.waiting.Parked(q.waiting.Class(s)) && k.usages.worth(v.LocalQueue(s)) <= least {
		return s
	}
	return best
}
