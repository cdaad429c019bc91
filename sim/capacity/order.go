package capacity

import "math/bits"

// Smallest returns the domain of a level with the least room for the shape that still
// holds need pods, the first by name among equals, or -1.
func (x *Index) Smallest(s Shape, level, need int32) int32 {
	sh := x.sync(s)
	b := &sh.levels[level]
	if b.words == 0 {
		d, _ := x.scan(sh, level, 1, need-1, int32(len(x.rank)))
		return d
	}
	count := b.atLeast(max(1, need))
	if count < 0 {
		return -1
	}
	return x.byRank[x.cluster.LevelStart[level]+b.first(count)]
}

// Largest returns the domain of a level with the most room for the shape, the first by
// name among equals, or -1 if none has any.
func (x *Index) Largest(s Shape, level int32) int32 {
	c := x.Descend(s, level)
	d, _ := c.Next()
	return d
}

// Cursor walks the domains of a level that have room for a shape in the order of their
// counts; of equal ones the first by name comes first. It is right until the next change.
type Cursor struct {
	x     *Index
	sh    *shape
	level int32
	up    bool
	count int32  // of the set the walk is in, or of the domain found last
	rank  int32  // of the domain found last, where the level is scanned
	word  int32  // of that set
	rest  uint64 // members of the word still to come
}

// Ascend walks from the least room to the most.
func (x *Index) Ascend(s Shape, level int32) Cursor {
	c := Cursor{x: x, sh: x.sync(s), level: level, up: true, rank: int32(len(x.rank))}
	c.enter(c.sh.levels[level].atLeast(1))
	return c
}

// Descend walks from the most room to the least.
func (x *Index) Descend(s Shape, level int32) Cursor {
	c := Cursor{x: x, sh: x.sync(s), level: level, rank: -1}
	c.enter(c.sh.levels[level].atMost(mostBuckets))
	if c.sh.levels[level].words == 0 {
		c.count = 1<<31 - 1
	}
	return c
}

// enter begins with the set of a count, -1 being the end.
func (c *Cursor) enter(count int32) {
	b := &c.sh.levels[c.level]
	c.count = count
	if b.words == 0 {
		c.count = 0
		return
	}
	if count >= 0 {
		slot := b.slotOf[count] - 1
		c.word = b.low[slot]
		c.rest = b.sets[slot*b.words+c.word]
	}
}

// Next returns the next domain and its count, or -1 at the end.
func (c *Cursor) Next() (domain, count int32) {
	b := &c.sh.levels[c.level]
	if b.words == 0 {
		return c.nextScanned()
	}
	for c.count >= 0 {
		if c.rest != 0 {
			rank := c.word<<6 + int32(bits.TrailingZeros64(c.rest))
			c.rest &= c.rest - 1
			return c.x.byRank[c.x.cluster.LevelStart[c.level]+rank], c.count
		}
		if c.word++; c.word < b.words {
			c.rest = b.sets[(b.slotOf[c.count]-1)*b.words+c.word]
			continue
		}
		if c.up {
			c.enter(b.atLeast(c.count + 1))
		} else {
			c.enter(b.atMost(c.count - 1))
		}
	}
	return -1, 0
}

func (c *Cursor) nextScanned() (domain, count int32) {
	sign := int32(1)
	if !c.up {
		sign = -1
	}
	d, n := c.x.scan(c.sh, c.level, sign, c.count, c.rank)
	if d >= 0 {
		c.count, c.rank = n, c.x.rank[d]
	}
	return d, n
}

// scan finds, among the domains of a level that have room, the one that follows a count
// and rank in the order of counts, ascending for sign 1 and descending for -1.
func (x *Index) scan(sh *shape, level, sign, count, rank int32) (domain, found int32) {
	first, last := x.cluster.DomainsAt(level)
	domain = -1
	for d := first; d < last; d++ {
		n := sh.of[d]
		if n == 0 || !after(sign, n, x.rank[d], count, rank) {
			continue
		}
		if domain < 0 || after(sign, found, x.rank[domain], n, x.rank[d]) {
			domain, found = d, n
		}
	}
	return domain, found
}

// after reports whether count n at rank r comes later than count m at rank q.
func after(sign, n, r, m, q int32) bool {
	if n != m {
		return (n > m) == (sign > 0)
	}
	return r > q
}
