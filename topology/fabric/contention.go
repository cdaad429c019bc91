package fabric

import (
	"math/bits"
	"slices"
)

// Contention is what the jobs on a fabric do to each other, on average over time: on every
// uplink a job meets each other job as often as that one is on the network.
//
//	X_j = time of an all-reduce with the bandwidth term
//	      max( private, max over pools of V_j (kappa_j + sum over others of d_k kappa_k) / C )
//	d_k = X_k / step of k
//
// It is solved in integers, X in ns rounded up and d in 2^-32 rounded down, from below to
// the least fixed point. Every step up is monotone, so the result depends neither on the
// order of the updates nor on what happened before: an arrival goes on from where the
// others are, which is below; a departure sends everyone it could have slowed back to the
// idle time. (Real numbers would have one fixed point only: Yates, IEEE JSAC 13(7), 1995.)
//
// A pool that its jobs cannot fill at the speed of their private links is left out: it
// slows nobody. So only jobs that meet on pools that bind are looked at.
type Contention struct {
	fabric  *Fabric
	slotOf  []int32 // by job; -1 is not on the fabric
	members []member
	free    []int32
	pools   []pool

	round   uint32
	dirty   []int32 // pools whose load changed
	turn    []int32 // those of the present round
	touched []int32 // slots that may have another time than was reported
	changed []int32
	stack   []int32
}

// member is a job on the fabric.
type member struct {
	job      int32
	load     Load
	step     Step
	time     int64 // X
	duty     uint64
	level    int8
	reported int64 // what the last Solve said
	round    uint32
	touched  bool
	inStack  bool
}

// pool is the uplink of a domain. The order of its members is of no meaning.
type pool struct {
	members []seat
	kappa   int64  // of all members, in 1/kappaOne
	load    uint64 // sum of kappa x duty
	tight   uint64 // the largest tightness of a member
	binds   bool
	dirty   bool
}

// seat is a member and which of its uses the pool is.
type seat struct {
	slot, use int32
}

// NewContention is an idle fabric for so many jobs.
func NewContention(f *Fabric, jobs int) *Contention {
	c := &Contention{fabric: f, slotOf: make([]int32, jobs), pools: make([]pool, len(f.uplink))}
	for j := range c.slotOf {
		c.slotOf[j] = -1
	}
	return c
}

// Has reports whether a job is on the fabric.
func (c *Contention) Has(job int32) bool { return c.slotOf[job] >= 0 }

// AllReduce is what a job's all-reduce takes, and what binds it, as of the last Solve.
func (c *Contention) AllReduce(job int32) Cost {
	m := &c.members[c.slotOf[job]]
	return Cost{m.time, m.level}
}

// Add puts a job on the fabric. The load is copied.
func (c *Contention) Add(job int32, l *Load, step Step) {
	slot := c.take()
	c.slotOf[job] = slot
	m := &c.members[slot]
	uses := append(m.load.uses[:0], l.uses...)
	*m = member{job: job, load: *l, step: step, reported: -1, round: m.round}
	m.load.uses = uses
	m.rest()
	c.touch(slot)
	for i := range uses {
		u := &uses[i]
		p := &c.pools[u.pool]
		u.at = int32(len(p.members))
		p.members = append(p.members, seat{slot, int32(i)})
		p.kappa += int64(u.kappa)
		p.load += uint64(u.kappa) * m.duty
		p.tight = max(p.tight, u.tightness(l.private))
		if p.binds = p.canBind(); p.binds {
			c.soil(u.pool)
		}
	}
}

// Remove takes a job off the fabric.
func (c *Contention) Remove(job int32) {
	slot := c.slotOf[job]
	c.resetComponent(slot)
	m := &c.members[slot]
	for i := range m.load.uses {
		c.leave(&m.load.uses[i], m)
	}
	c.slotOf[job] = -1
	m.job = -1
	c.free = append(c.free, slot)
}

func (c *Contention) leave(u *use, m *member) {
	p := &c.pools[u.pool]
	last := len(p.members) - 1
	moved := p.members[last]
	p.members[u.at] = moved
	c.members[moved.slot].load.uses[moved.use].at = u.at
	p.members = p.members[:last]
	p.kappa -= int64(u.kappa)
	p.load -= uint64(u.kappa) * m.duty
	if u.tightness(m.load.private) == p.tight {
		p.tight = 0
		for _, o := range p.members {
			other := &c.members[o.slot]
			p.tight = max(p.tight, other.load.uses[o.use].tightness(other.load.private))
		}
	}
	p.binds = p.canBind()
}

// canBind reports whether several members can fill the pool at the speed of their private
// links.
func (p *pool) canBind() bool {
	hi, lo := bits.Mul64(uint64(p.kappa), p.tight)
	return len(p.members) > 1 && (hi > 0 || lo > fullDuty*kappaOne)
}

func (c *Contention) take() int32 {
	if n := len(c.free); n > 0 {
		slot := c.free[n-1]
		c.free = c.free[:n-1]
		return slot
	}
	c.members = append(c.members, member{})
	return int32(len(c.members) - 1)
}

// rest puts a member at its idle time.
func (m *member) rest() {
	m.time, m.level = m.load.Idle.Nanos, m.load.Idle.Level
	m.duty = m.step.duty(m.time)
}

func (c *Contention) touch(slot int32) {
	if m := &c.members[slot]; !m.touched {
		m.touched = true
		c.touched = append(c.touched, slot)
	}
}

// soil notes that the load of a pool changed.
func (c *Contention) soil(pool int32) {
	if p := &c.pools[pool]; !p.dirty {
		p.dirty = true
		c.dirty = append(c.dirty, pool)
	}
}

// resetComponent sends everyone to the idle time whom a member can have slowed: who shares
// a binding pool with it, and so on.
func (c *Contention) resetComponent(slot int32) {
	c.stack = append(c.stack[:0], slot)
	c.members[slot].inStack = true
	for next := 0; next < len(c.stack); next++ {
		m := &c.members[c.stack[next]]
		for i := range m.load.uses {
			if p := &c.pools[m.load.uses[i].pool]; p.binds {
				c.soil(m.load.uses[i].pool)
				c.stackMembers(p)
			}
		}
	}
	for _, s := range c.stack {
		m := &c.members[s]
		m.inStack = false
		c.touch(s)
		before := m.duty
		m.rest()
		c.spread(m, before)
	}
}

func (c *Contention) stackMembers(p *pool) {
	for _, o := range p.members {
		if m := &c.members[o.slot]; !m.inStack {
			m.inStack = true
			c.stack = append(c.stack, o.slot)
		}
	}
}

// spread brings the loads of a member's pools up to its duty.
func (c *Contention) spread(m *member, before uint64) {
	if m.duty == before {
		return
	}
	for i := range m.load.uses {
		u := &m.load.uses[i]
		c.pools[u.pool].load += uint64(u.kappa) * (m.duty - before) // modulo 2^64, also downwards
		if c.pools[u.pool].binds {
			c.soil(u.pool)
		}
	}
}

// Solve goes up to the least fixed point and returns the jobs whose time is another than
// after the Solve before, in ascending order. Jobs that left are not among them. The slice
// is reused.
func (c *Contention) Solve() []int32 {
	for len(c.dirty) > 0 {
		c.turn, c.dirty = c.dirty, c.turn[:0]
		c.round++
		for _, p := range c.turn {
			c.pools[p].dirty = false
		}
		for _, p := range c.turn {
			if c.pools[p].binds {
				c.visit(&c.pools[p])
			}
		}
	}
	return c.report()
}

// visit updates every member of a pool that was not updated in this round.
func (c *Contention) visit(p *pool) {
	for _, o := range p.members {
		m := &c.members[o.slot]
		if m.round == c.round {
			continue
		}
		m.round = c.round
		if t, level := c.timeOf(m); t > m.time {
			before := m.duty
			m.time, m.level = t, level
			m.duty = m.step.duty(t)
			c.touch(o.slot)
			c.spread(m, before)
		}
	}
}

// timeOf is X_j for what the others do now.
func (c *Contention) timeOf(m *member) (int64, int8) {
	bw, level := m.load.private, m.load.Idle.Level
	for i := range m.load.uses {
		u := &m.load.uses[i]
		p := &c.pools[u.pool]
		if !p.binds {
			continue
		}
		if t := u.crossing(p.load - uint64(u.kappa)*m.duty); t > bw {
			bw, level = t, c.fabric.levelOfDomain(u.pool)
		}
	}
	return m.load.timeOf(bw), level
}

// levelOfDomain is the topology level of a domain above the host.
func (f *Fabric) levelOfDomain(domain int32) int8 {
	level := int8(0)
	for f.cluster.LevelStart[level+1] <= domain {
		level++
	}
	return level
}

func (c *Contention) report() []int32 {
	c.changed = c.changed[:0]
	for _, slot := range c.touched {
		m := &c.members[slot]
		m.touched = false
		if m.job >= 0 && m.time != m.reported {
			m.reported = m.time
			c.changed = append(c.changed, m.job)
		}
	}
	c.touched = c.touched[:0]
	slices.Sort(c.changed)
	return c.changed
}
