package stage

import "math/bits"

// Groups files nodes under classes of equals, so that a decision looks at each class
// once, however many nodes are in it. Nodes are numbered in the order of preference among
// equals: what is asked of a class is its first node.
//
// A class whose last node has left is remembered, with its number, until the number is
// needed for another, so that what was computed for it stays right when nodes come back.
type Groups[K comparable] struct {
	ids     map[K]int32
	classes []group[K]
	ages    []uint32 // per class, grows when its number is given to another
	first   []int32  // per class, its lowest node
	live    []int32  // classes with nodes, in no order
	classOf []int32  // per node; -1: filed nowhere
	words   int
	idle    []int32 // ring of classes without nodes, oldest first
	oldest  int
	waiting int // in the ring
}

type group[K comparable] struct {
	key    K
	size   int32
	at     int32 // position in live
	inRing bool
	nodes  []uint64
}

// NewGroups makes room for so many nodes, filed nowhere.
func NewGroups[K comparable](nodes int) *Groups[K] {
	most := 2*nodes + 64 // nodes classes may be alive, the others remembered
	g := &Groups[K]{ids: make(map[K]int32, most), classOf: make([]int32, nodes), words: (nodes + 63) / 64,
		classes: make([]group[K], 0, most), ages: make([]uint32, most),
		first: make([]int32, most), idle: make([]int32, most)}
	for n := range g.classOf {
		g.classOf[n] = -1
	}
	return g
}

// Live returns the classes that have nodes, in no order. The slice is valid until the next
// change.
func (g *Groups[K]) Live() []int32 { return g.live }

// Most is the number of classes there can ever be; their numbers are below.
func (g *Groups[K]) Most() int { return cap(g.classes) }

// Key returns what the nodes of a class have in common.
func (g *Groups[K]) Key(class int32) *K { return &g.classes[class].key }

// Age tells classes apart that had the same number one after another; it is never 0.
func (g *Groups[K]) Age(class int32) uint32 { return g.ages[class] }

// Nodes returns the nodes of a class as a bit set, until the next change.
func (g *Groups[K]) Nodes(class int32) []uint64 { return g.classes[class].nodes }

// First and Size describe the nodes of a class that is alive; Of is a node's class or -1.
func (g *Groups[K]) First(class int32) int32 { return g.first[class] }
func (g *Groups[K]) Size(class int32) int32  { return g.classes[class].size }
func (g *Groups[K]) Of(node int32) int32     { return g.classOf[node] }

// File puts a node under a class, taking it from where it was.
func (g *Groups[K]) File(node int32, key K) {
	class, known := g.ids[key]
	if known && class == g.classOf[node] {
		return
	}
	g.Drop(node)
	if !known {
		class = g.number(key)
	}
	c := &g.classes[class]
	if c.size == 0 {
		c.at, g.first[class] = int32(len(g.live)), node
		g.live = append(g.live, class)
	}
	c.size++
	g.first[class] = min(g.first[class], node)
	c.nodes[node>>6] |= 1 << (node & 63)
	g.classOf[node] = class
}

// Drop files a node nowhere.
func (g *Groups[K]) Drop(node int32) {
	class := g.classOf[node]
	if class < 0 {
		return
	}
	g.classOf[node] = -1
	c := &g.classes[class]
	c.nodes[node>>6] &^= 1 << (node & 63)
	if c.size--; c.size == 0 {
		g.retire(class)
		return
	}
	if g.first[class] == node {
		g.first[class] = c.after(node)
	}
}

// after returns the class's first node from one on; there must be one.
func (c *group[K]) after(node int32) int32 {
	word := int(node >> 6)
	w := c.nodes[word] &^ (1<<(node&63) - 1)
	for w == 0 {
		word++
		w = c.nodes[word]
	}
	return int32(word<<6 + bits.TrailingZeros64(w))
}

// retire takes a class without nodes off the living ones.
func (g *Groups[K]) retire(class int32) {
	c := &g.classes[class]
	last := g.live[len(g.live)-1]
	g.live[c.at] = last
	g.classes[last].at = c.at
	g.live = g.live[:len(g.live)-1]
	if !c.inRing {
		c.inRing = true
		g.idle[(g.oldest+g.waiting)%len(g.idle)] = class
		g.waiting++
	}
}

// number gives a new class a number: an unused one, or that of the class that has been
// without nodes for longest.
func (g *Groups[K]) number(key K) int32 {
	if len(g.classes) < cap(g.classes) {
		class := int32(len(g.classes))
		g.classes = append(g.classes, group[K]{key: key, nodes: make([]uint64, g.words)})
		g.ids[key], g.ages[class] = class, 1
		return class
	}
	for {
		class := g.idle[g.oldest]
		g.oldest = (g.oldest + 1) % len(g.idle)
		g.waiting--
		c := &g.classes[class]
		c.inRing = false
		if c.size > 0 {
			continue // came back to life meanwhile
		}
		delete(g.ids, c.key)
		c.key = key
		g.ages[class]++
		g.ids[key] = class
		return class
	}
}
