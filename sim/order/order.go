// Package order keeps dense integer items sorted by a key, with insertion and removal
// in logarithmic time and no allocation: the waiting lists of the engine and of the
// policies. It is a skip list whose tower heights are a hash of the item, so that the
// structure, like everything else, is the same in every run.
package order

import "math"

// Key orders items: higher Priority first, then earlier Time, then lower Seq. Two items
// of one list must not have equal keys.
type Key struct {
	Priority int32
	Time     int64
	Seq      int64
}

// Less reports whether k comes before o.
func (k Key) Less(o Key) bool {
	if k.Priority != o.Priority {
		return k.Priority > o.Priority
	}
	if k.Time != o.Time {
		return k.Time < o.Time
	}
	return k.Seq < o.Seq
}

// Highest is the highest priority.
const Highest = math.MaxInt32

const levels = 8

// None is the item that is not there.
const None = -1

type tower [levels]int32

// Arena holds the links of items 0..n-1. An item can be in one list of the arena at a
// time.
type Arena struct {
	keys []Key
	next []tower
	in   []bool
}

// NewArena makes room for n items.
func NewArena(n int) *Arena {
	return &Arena{keys: make([]Key, n), next: make([]tower, n), in: make([]bool, n)}
}

// Grow makes room for one item more.
func (a *Arena) Grow() {
	a.keys = append(a.keys, Key{})
	a.next = append(a.next, tower{})
	a.in = append(a.in, false)
}

// Contains reports whether the item is in a list of the arena.
func (a *Arena) Contains(item int32) bool { return a.in[item] }

// Key returns the key an item was last inserted with.
func (a *Arena) Key(item int32) Key { return a.keys[item] }

// List is one sorted list over an arena.
type List struct {
	arena *Arena
	head  tower
	size  int
}

// NewList makes an empty list over the arena.
func NewList(a *Arena) List {
	l := List{arena: a}
	for i := range l.head {
		l.head[i] = None
	}
	return l
}

// Len returns the number of items.
func (l *List) Len() int { return l.size }

// First returns the first item, or None.
func (l *List) First() int32 { return l.head[0] }

// Next returns the item after one of the list, or None.
func (l *List) Next(item int32) int32 { return l.arena.next[item][0] }

// Insert adds an item that is in no list of the arena.
func (l *List) Insert(item int32, k Key) {
	a := l.arena
	if a.in[item] {
		panic("order: item inserted twice")
	}
	a.keys[item], a.in[item] = k, true
	l.size++
	at := int32(None)
	for lev := levels - 1; lev >= 0; lev-- {
		at = l.seek(at, lev, k)
		if n := *l.link(at, lev); n != None && a.keys[n] == k {
			panic("order: two items with one key")
		}
		if lev < height(item) {
			a.next[item][lev] = *l.link(at, lev)
			*l.link(at, lev) = item
		}
	}
}

// Remove takes an item of this list out of it.
func (l *List) Remove(item int32) {
	a := l.arena
	if !a.in[item] {
		panic("order: item is in no list")
	}
	k := a.keys[item]
	at := int32(None)
	for lev := levels - 1; lev >= 0; lev-- {
		at = l.seek(at, lev, k)
		if p := l.link(at, lev); *p == item {
			*p = a.next[item][lev]
		} else if lev == 0 {
			panic("order: item is in another list")
		}
	}
	a.in[item] = false
	l.size--
}

// seek walks a level from an item (None is the head) to the last item before k.
func (l *List) seek(from int32, lev int, k Key) int32 {
	for {
		n := *l.link(from, lev)
		if n == None || !l.arena.keys[n].Less(k) {
			return from
		}
		from = n
	}
}

func (l *List) link(item int32, lev int) *int32 {
	if item == None {
		return &l.head[lev]
	}
	return &l.arena.next[item][lev]
}

// height is geometric with ratio 1/4, from a mix of the item's bits.
func height(item int32) int {
	x := uint64(item+1) * 0x9e3779b97f4a7c15
	x ^= x >> 32
	h := 1
	for h < levels && x&3 == 0 {
		h++
		x >>= 2
	}
	return h
}
