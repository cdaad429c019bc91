package stage

import (
	"slices"

	"github.com/gangplan/gangplan/sim/capacity"
	"github.com/gangplan/gangplan/workloads"
)

// Placement is a way to choose domains for ordinary requests: those without slices of
// several pods, leader and balancing. All others are placed as Kueue does.
type Placement uint8

// The placements. docs/placement.md says what each is good for.
const (
	ByKueue Placement = iota
	RackAware
	FewestDomains
	SpreadOut
	KeepWhole
)

// PlacementNames are the names of the placements.
var PlacementNames = [...]string{"kueue", "rack-aware", "fewest-domains", "spread", "keep-whole"}

// PlaceBy is PlaceShape with a placement. whole is how many pods of the shape each domain
// takes when it is empty; only KeepWhole reads it.
//
// Kueue's own placement and RackAware cost a look-up. The others walk over the level
// they start from.
func (s *Search) PlaceBy(p Placement, r *Request, x *capacity.Index, shape capacity.Shape, whole []int32) bool {
	if p == ByKueue || !r.plain(s.leaf) {
		return s.PlaceShape(r, x, shape)
	}
	n := *r
	if n.Mode == workloads.TopologyUnconstrained && p != FewestDomains {
		n.Level = max(0, s.leaf-1) // racks first, then hosts
	}
	if p == RackAware {
		n.Algo = LeastFreeCapacity
		return s.placePlain(&n, x, shape)
	}
	n.Algo = BestFit
	s.begin(&n)
	c := chooser{s, p, x.Counts(shape), whole}
	if p == SpreadOut {
		return c.spread()
	}
	level, ok := c.start()
	if !ok {
		return s.fail(level, c.best(level, x, shape))
	}
	for ; level < s.leaf; level++ {
		c.poolBelow()
		c.choose()
	}
	s.readPlain(c.counts)
	return true
}

// chooser is one search with a placement.
type chooser struct {
	*Search
	by            Placement
	counts, whole []int32
}

// best is how many pods would have fit: in one domain if one is required, else in all.
func (c *chooser) best(level int32, x *capacity.Index, shape capacity.Shape) int32 {
	if c.r.Mode != workloads.TopologyRequired {
		return int32(x.Total(shape))
	}
	if d := x.Largest(shape, level); d >= 0 {
		return c.counts[d]
	}
	return 0
}

// start picks the level and the domains, as the ordinary search does: one domain if one
// holds all, a level up if the request only prefers, several at last.
func (c *chooser) start() (level int32, ok bool) {
	for level = c.r.Level; ; level-- {
		c.poolWith(level)
		if d := c.single(c.pool, c.r.Count); d >= 0 {
			c.chosen = append(c.chosen[:0], d)
			return level, true
		}
		if c.r.Mode == workloads.TopologyRequired {
			return level, false
		}
		if level == 0 || c.r.Mode != workloads.TopologyPreferred {
			return level, c.choose()
		}
	}
}

// poolWith makes the domains of a level that have room the pool.
func (c *chooser) poolWith(level int32) {
	c.pool = c.pool[:0]
	first, last := c.cluster.DomainsAt(level)
	for d := first; d < last; d++ {
		if c.counts[d] > 0 {
			c.pool = append(c.pool, d)
		}
	}
}

// poolBelow makes the children of all chosen domains that have room the pool.
func (c *chooser) poolBelow() {
	c.poolChildren()
	kept := c.pool[:0]
	for _, d := range c.pool {
		if c.counts[d] > 0 {
			kept = append(kept, d)
		}
	}
	c.pool = kept
}

// single returns the domain of the list that should hold all of need, or -1: the tightest,
// for KeepWhole the tightest of the broken ones if there is one.
func (c *chooser) single(list []int32, need int32) int32 {
	best := int32(-1)
	for _, d := range list {
		if c.counts[d] >= need && (best < 0 || c.tighter(d, best)) {
			best = d
		}
	}
	return best
}

func (c *chooser) tighter(a, b int32) bool {
	if x, y := c.intact(a), c.intact(b); x != y {
		return y
	}
	if c.counts[a] != c.counts[b] {
		return c.counts[a] < c.counts[b]
	}
	return c.rank[a] < c.rank[b]
}

// intact reports whether KeepWhole would rather leave a domain alone: nothing is on it.
func (c *chooser) intact(d int32) bool { return c.by == KeepWhole && c.counts[d] == c.whole[d] }

// choose takes domains of the pool for the whole count.
func (c *chooser) choose() bool {
	if c.by == FewestDomains {
		return c.chooseFewest()
	}
	return c.chooseBroken()
}

// chooseBroken takes domains in order, most room first, the broken before the intact, and
// ends with the one that should hold the rest.
func (c *chooser) chooseBroken() bool {
	slices.SortStableFunc(c.pool, func(a, b int32) int {
		if x, y := c.intact(a), c.intact(b); x != y {
			if x {
				return 1
			}
			return -1
		}
		if d := c.counts[b] - c.counts[a]; d != 0 {
			return int(d)
		}
		return int(c.rank[a] - c.rank[b])
	})
	c.chosen = c.chosen[:0]
	left := c.r.Count
	for i, d := range c.pool {
		if last := c.single(c.pool[i:], left); last >= 0 {
			c.chosen = append(c.chosen, last)
			return true
		}
		c.chosen = append(c.chosen, d)
		left -= c.counts[d]
	}
	return false
}

// chooseFewest takes as few domains as possible, and of those sets one that leaves the
// least room over. Domains with equal room are interchangeable, so no more of them are
// looked at than can be needed.
func (c *chooser) chooseFewest() bool {
	if d := c.single(c.pool, c.r.Count); d >= 0 {
		c.chosen = append(c.chosen[:0], d)
		return true
	}
	for _, d := range c.pool {
		n := c.counts[d]
		c.st[d] = tally{pods: n, slices: n, podsL: n, slicesL: n}
	}
	e, fits := c.greedy()
	if !fits {
		return false
	}
	c.sortByRoom(c.pool)
	kept, same := c.pool[:0], int32(0)
	for i, d := range c.pool {
		if same++; i == 0 || c.counts[d] != c.counts[kept[len(kept)-1]] {
			same = 1
		}
		if same <= e.domains {
			kept = append(kept, d)
		}
	}
	c.pool = kept
	if !c.cheapestSet(c.pool, false) {
		return false
	}
	c.fillLast()
	return true
}

// fillLast puts the chosen domain with least room last: it is the one that may stay
// partly empty, which breaks as little as possible.
func (c *chooser) fillLast() {
	slices.SortStableFunc(c.chosen, func(a, b int32) int {
		if d := c.counts[b] - c.counts[a]; d != 0 {
			return int(d)
		}
		return int(c.rank[a] - c.rank[b])
	})
}

// spread shares the pods out as evenly as room allows: among the domains of the highest
// level, or inside one domain where the request wants one, then level by level down.
func (c *chooser) spread() bool {
	level, ok := c.spreadFrom()
	if !ok {
		return c.fail(level, c.mostOfPool())
	}
	for ; level < c.leaf; level++ {
		c.next = c.next[:0]
		for _, d := range c.chosen {
			c.pool = c.appendChildren(c.pool[:0], d)
			c.shareEvenly(c.st[d].pods)
		}
		c.swap()
	}
	c.readAnswer()
	return true
}

// spreadFrom gives the level to start from its shares.
func (c *chooser) spreadFrom() (level int32, ok bool) {
	one := c.r.Mode == workloads.TopologyRequired || c.r.Mode == workloads.TopologyPreferred
	for level = c.r.Level; one; level-- {
		c.poolWith(level)
		if d := c.roomiest(); d >= 0 && c.counts[d] >= c.r.Count {
			c.st[d] = tally{pods: c.r.Count}
			c.chosen = append(c.chosen[:0], d)
			return level, true
		}
		if c.r.Mode == workloads.TopologyRequired {
			return level, false
		}
		if level == 0 {
			break
		}
	}
	c.poolWith(0)
	var total int64
	for _, d := range c.pool {
		total += int64(c.counts[d])
	}
	if total < int64(c.r.Count) {
		return 0, false
	}
	c.next = c.next[:0]
	c.shareEvenly(c.r.Count)
	c.swap()
	return 0, true
}

func (c *chooser) roomiest() int32 {
	best := int32(-1)
	for _, d := range c.pool {
		if best < 0 || c.counts[d] > c.counts[best] || c.counts[d] == c.counts[best] && c.rank[d] < c.rank[best] {
			best = d
		}
	}
	return best
}

// mostOfPool is how many pods would have fit.
func (c *chooser) mostOfPool() int32 {
	if c.r.Mode == workloads.TopologyRequired {
		if d := c.roomiest(); d >= 0 {
			return c.counts[d]
		}
		return 0
	}
	var n int32
	for _, d := range c.pool {
		n += c.counts[d]
	}
	return n
}

// shareEvenly gives the domains of the pool, most room first, equal shares of n; what a
// domain has no room for goes to the others, and single pods over go to the first.
func (c *chooser) shareEvenly(n int32) {
	slices.SortStableFunc(c.pool, func(a, b int32) int {
		if d := c.counts[a] - c.counts[b]; d != 0 {
			return int(d)
		}
		return int(c.rank[b] - c.rank[a])
	})
	for i, d := range c.pool { // least room first: whoever cannot take a share is passed on
		share := min(c.counts[d], n/int32(len(c.pool)-i))
		c.st[d] = tally{pods: share}
		n -= share
		if share > 0 {
			c.next = append(c.next, d)
		}
	}
}
