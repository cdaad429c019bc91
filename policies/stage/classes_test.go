package stage

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gangplan/gangplan/sim/order"
)

// naiveClasses is the same waiting list as a plain slice that is searched from end to end.
type naiveClasses struct {
	items  []naiveItem
	parked map[int32]bool
}

type naiveItem struct {
	item, class int32
	key         order.Key
}

func (n *naiveClasses) first(in func(naiveItem) bool) int32 {
	best := naiveItem{item: order.None}
	for _, x := range n.items {
		if in(x) && (best.item == order.None || x.key.Less(best.key)) {
			best = x
		}
	}
	return best.item
}

func (n *naiveClasses) head() int32 {
	return n.first(func(x naiveItem) bool { return !n.parked[x.class] })
}

func (n *naiveClasses) firstOf(class int32) int32 {
	return n.first(func(x naiveItem) bool { return x.class == class })
}

func (n *naiveClasses) remove(item int32) {
	n.items = slices.DeleteFunc(n.items, func(x naiveItem) bool { return x.item == item })
}

func TestClassesAgainstNaiveList(t *testing.T) {
	const items, classes = 60, 7
	for seed := range uint64(5) {
		r := rand.New(rand.NewPCG(seed, 4))
		c := NewClasses(items)
		want := naiveClasses{parked: map[int32]bool{}}
		for step := range 4000 {
			item, class := r.Int32N(items), r.Int32N(classes)
			switch op := r.IntN(20); {
			case op < 3:
				c.grow(class) // parking asks for a class that exists
				c.Park(class)
				want.parked[class] = true
			case op < 6:
				c.Wake(class)
				want.parked[class] = false
			case op == 6:
				limit := r.Int32N(classes + 5)
				c.WakeIf(func(k int32) bool { return k < limit })
				for k := range limit {
					want.parked[k] = false
				}
			case c.Contains(item):
				c.Remove(item)
				want.remove(item)
			default:
				k := order.Key{Priority: r.Int32N(2), Time: r.Int64N(9), Seq: int64(item)}
				c.Push(item, class, k)
				want.items = append(want.items, naiveItem{item, class, k})
			}
			if got := c.Head(); got != want.head() {
				t.Fatalf("seed %d, step %d: head %d, want %d", seed, step, got, want.head())
			}
			if got := c.First(class); got != want.firstOf(class) {
				t.Fatalf("seed %d, step %d: first of class %d is %d, want %d", seed, step, class, got, want.firstOf(class))
			}
			if c.Parked(class) != want.parked[class] {
				t.Fatalf("seed %d, step %d: class %d parked: %v", seed, step, class, c.Parked(class))
			}
		}
		for _, x := range want.items {
			if !c.Contains(x.item) || c.Class(x.item) != x.class {
				t.Fatalf("seed %d: item %d is not where it was pushed", seed, x.item)
			}
		}
	}
}

func TestAnUnknownClassIsEmptyAndNotParked(t *testing.T) {
	c := NewClasses(2)
	if c.Head() != order.None || c.First(9) != order.None || c.Parked(9) {
		t.Error("a class nobody was pushed to is there")
	}
	c.Wake(9)
	c.WakeIf(nil)
}

// A class that empties while parked stays parked for whoever comes next.
func TestParkingOutlivesItsItems(t *testing.T) {
	c := NewClasses(2)
	c.Push(0, 3, order.Key{})
	c.Park(3)
	c.Remove(0)
	c.Push(1, 3, order.Key{Seq: 1})
	if c.Head() != order.None {
		t.Error("the newcomer of a parked class is tried")
	}
	c.Wake(3)
	if c.Head() != 1 {
		t.Error("the class does not wake")
	}
}

func TestClassesDoNotAllocateOnceTheyExist(t *testing.T) {
	c := NewClasses(50)
	round := func() {
		for i := range int32(50) {
			c.Push(i, i%5, order.Key{Seq: int64(i)})
		}
		for class := range int32(5) {
			c.Park(class)
		}
		c.WakeIf(nil)
		for c.Head() != order.None {
			c.Remove(c.Head())
		}
	}
	if n := testing.AllocsPerRun(5, round); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
