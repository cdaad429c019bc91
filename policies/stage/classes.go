// Package stage holds the parts policies are put together from: orders of waiting
// things, node scorers, and the search for a place in the topology.
package stage

import (
	"slices"

	"github.com/gangplan/gangplan/sim/order"
)

// Classes is a waiting list whose items are grouped into classes of equals: when one of
// a class cannot be served, none can, so the class is parked as a whole and the others
// are not tried. Waking it costs one step however many wait.
type Classes struct {
	arena   *order.Arena
	classOf []int32
	lists   []order.List
	parked  []bool
	active  []int32 // classes that are not parked and not empty, in no order
	at      []int32 // class -> position in active, or -1
}

// NewClasses makes room for items 0..items-1.
func NewClasses(items int) *Classes {
	return &Classes{arena: order.NewArena(items), classOf: make([]int32, items)}
}

// NewClassesIn makes classes over an arena and a table of classes by item that several
// share: an item is in one of them at a time.
func NewClassesIn(arena *order.Arena, classOf []int32) *Classes {
	return &Classes{arena: arena, classOf: classOf}
}

// grow makes sure the class exists.
func (c *Classes) grow(class int32) {
	for int32(len(c.lists)) <= class {
		c.lists = append(c.lists, order.NewList(c.arena))
		c.parked = append(c.parked, false)
		c.at = append(c.at, -1)
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
	best := int32(order.None)
	for _, class := range c.active {
		item := c.lists[class].First()
		if best == order.None || c.arena.Key(item).Less(c.arena.Key(best)) {
			best = item
		}
	}
	return best
}

// Park sets a class aside until it is woken.
func (c *Classes) Park(class int32) {
	c.parked[class] = true
	c.refresh(class)
}

// Parked reports whether a class is set aside.
func (c *Classes) Parked(class int32) bool {
	return int(class) < len(c.parked) && c.parked[class]
}

// Wake lets a class be tried again.
func (c *Classes) Wake(class int32) {
	if c.Parked(class) {
		c.parked[class] = false
		c.refresh(class)
	}
}

// WakeAll lets the classes below a limit be tried again.
func (c *Classes) WakeAll(limit int32) {
	for class := range min(limit, int32(len(c.parked))) {
		c.Wake(class)
	}
}

// refresh keeps the set of active classes right after a change of one.
func (c *Classes) refresh(class int32) {
	active := !c.parked[class] && c.lists[class].Len() > 0
	switch at := c.at[class]; {
	case active && at < 0:
		c.at[class] = int32(len(c.active))
		c.active = append(c.active, class)
	case !active && at >= 0:
		last := len(c.active) - 1
		c.active[at] = c.active[last]
		c.at[c.active[at]] = at
		c.active = slices.Delete(c.active, last, last+1)
		c.at[class] = -1
	}
}
