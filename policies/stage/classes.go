// Package stage holds the parts policies are put together from: orders of waiting
// things, node scorers, and the search for a place in the topology.
package stage

import "github.com/gangplan/gangplan/sim/order"

// Classes is a waiting list whose items are grouped into classes of equals: when one of
// a class cannot be served, none can, so the class is parked as a whole and the others
// are not tried. Waking it costs one step however many wait.
type Classes struct {
	parking
	arena   *order.Arena
	classOf []int32
	lists   []order.List
	heads   *order.Arena
	active  order.List // classes that are not parked and not empty, by their first item
}

// parking is which classes are set aside until they are woken.
type parking struct {
	parked []bool
	asleep []int32 // classes parked since they were last woken all, each once
	listed []bool  // in asleep
}

func (p *parking) grow() {
	p.parked = append(p.parked, false)
	p.listed = append(p.listed, false)
}

func (p *parking) park(class int32) {
	p.parked[class] = true
	if !p.listed[class] {
		p.listed[class] = true
		p.asleep = append(p.asleep, class)
	}
}

// take takes the parked classes that something may help off the list of those to wake; nil
// helps all. The slice is good until the next class is parked.
func (p *parking) take(helps func(class int32) bool) []int32 {
	kept := 0
	for i, class := range p.asleep {
		if helps != nil && !helps(class) {
			p.asleep[i], p.asleep[kept] = p.asleep[kept], class
			kept++
		} else {
			p.listed[class] = false
		}
	}
	taken := p.asleep[kept:]
	p.asleep = p.asleep[:kept]
	return taken
}

// Parked reports whether a class is set aside.
func (p *parking) Parked(class int32) bool { return int(class) < len(p.parked) && p.parked[class] }

// NewClasses makes room for items 0..items-1.
func NewClasses(items int) *Classes {
	return NewClassesIn(order.NewArena(items), make([]int32, items))
}

// NewClassesIn makes classes over an arena and a table of classes by item that several
// share: an item is in one of them at a time.
func NewClassesIn(arena *order.Arena, classOf []int32) *Classes {
	c := &Classes{arena: arena, classOf: classOf, heads: order.NewArena(0)}
	c.active = order.NewList(c.heads)
	return c
}

// grow makes sure the class exists.
func (c *Classes) grow(class int32) {
	for int32(len(c.lists)) <= class {
		c.lists = append(c.lists, order.NewList(c.arena))
		c.parking.grow()
		c.heads.Grow()
	}
}

// Push adds an item to a class.
func (c *Classes) Push(item, class int32, k order.Key) {
	c.grow(class)
	c.classOf[item] = class
	c.lists[class].Insert(item, k)
	c.refresh(class)
}

// Contains reports whether an item waits, parked or not.
func (c *Classes) Contains(item int32) bool { return c.arena.Contains(item) }

// Remove takes an item out.
func (c *Classes) Remove(item int32) {
	class := c.classOf[item]
	c.lists[class].Remove(item)
	c.refresh(class)
}

// Class returns the class an item was last pushed to.
func (c *Classes) Class(item int32) int32 { return c.classOf[item] }

// First returns the first item of a class, or order.None.
func (c *Classes) First(class int32) int32 {
	if int(class) >= len(c.lists) {
		return order.None
	}
	return c.lists[class].First()
}

// Head returns the first item of all classes that are not parked, or order.None.
func (c *Classes) Head() int32 {
	if class := c.active.First(); class != order.None {
		return c.lists[class].First()
	}
	return order.None
}

// EachHead calls f with the first item of every class that is not parked.
func (c *Classes) EachHead(f func(item int32)) {
	for class := c.active.First(); class != order.None; class = c.active.Next(class) {
		f(c.lists[class].First())
	}
}

// Before reports whether one item comes before another.
func (c *Classes) Before(a, b int32) bool { return c.arena.Key(a).Less(c.arena.Key(b)) }

// Park sets a class aside until it is woken.
func (c *Classes) Park(class int32) {
	c.grow(class)
	c.park(class)
	c.refresh(class)
}

// Wake lets a class be tried again.
func (c *Classes) Wake(class int32) {
	if c.Parked(class) {
		c.parked[class] = false
		c.refresh(class)
	}
}

// WakeIf lets the parked classes that something may help be tried again; nil helps all.
func (c *Classes) WakeIf(helps func(class int32) bool) {
	for _, class := range c.take(helps) {
		c.Wake(class)
	}
}

// Move puts an item that waits into another class, in its place.
func (c *Classes) Move(item, class int32) {
	k := c.arena.Key(item)
	c.Remove(item)
	c.Push(item, class, k)
}

// Size returns how many items of a class wait.
func (c *Classes) Size(class int32) int {
	if int(class) >= len(c.lists) {
		return 0
	}
	return c.lists[class].Len()
}

// refresh keeps the order of active classes right after a change of one.
func (c *Classes) refresh(class int32) {
	first := c.lists[class].First()
	active := first != order.None && !c.parked[class]
	if c.heads.Contains(class) {
		if active && c.heads.Key(class) == c.arena.Key(first) {
			return
		}
		c.active.Remove(class)
	}
	if active {
		c.active.Insert(class, c.arena.Key(first))
	}
}
