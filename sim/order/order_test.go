package order

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func keyCompare(a *Arena) func(x, y int32) int {
	return func(x, y int32) int {
		kx, ky := a.Key(x), a.Key(y)
		switch {
		case kx.Less(ky):
			return -1
		case ky.Less(kx):
			return 1
		}
		return 0
	}
}

func walk(l *List) []int32 {
	var items []int32
	for i := l.First(); i != None; i = l.Next(i) {
		items = append(items, i)
	}
	return items
}

func TestKeyLess(t *testing.T) {
	ordered := []Key{{2, 5, 1}, {2, 5, 2}, {2, 6, 0}, {1, 0, 9}, {1, 1, 0}, {0, -1, 0}, {-1, -9, 0}}
	for i, a := range ordered {
		for j, b := range ordered {
			if a.Less(b) != (i < j) {
				t.Errorf("%v before %v: %v", a, b, a.Less(b))
			}
		}
	}
}

// Random operations on three lists of one arena against sorted slices.
func TestListsAgainstSortedSlices(t *testing.T) {
	for seed := range uint64(5) {
		r := rand.New(rand.NewPCG(seed, 3))
		const items = 400
		a := NewArena(items)
		lists := []List{NewList(a), NewList(a), NewList(a)}
		want := make([][]int32, len(lists))
		where := make([]int, items)
		for i := range where {
			where[i] = -1
		}
		for step := range 3000 {
			item := r.Int32N(items)
			if k := where[item]; k >= 0 {
				lists[k].Remove(item)
				at := slices.Index(want[k], item)
				want[k] = slices.Delete(want[k], at, at+1)
				where[item] = -1
			} else {
				k := r.IntN(len(lists))
				lists[k].Insert(item, Key{Priority: r.Int32N(3), Time: r.Int64N(20), Seq: int64(item)})
				want[k] = append(want[k], item)
				slices.SortStableFunc(want[k], keyCompare(a))
				where[item] = k
			}
			if a.Contains(item) != (where[item] >= 0) {
				t.Fatalf("seed %d, step %d: Contains(%d) is %v", seed, step, item, a.Contains(item))
			}
			for k := range lists {
				if lists[k].Len() != len(want[k]) {
					t.Fatalf("seed %d, step %d: list %d has %d items, want %d", seed, step, k, lists[k].Len(), len(want[k]))
				}
			}
			if step%20 == 0 {
				for k := range lists {
					if got := walk(&lists[k]); !slices.Equal(got, want[k]) {
						t.Fatalf("seed %d, step %d: list %d is %v, want %v", seed, step, k, got, want[k])
					}
				}
			}
		}
	}
}

func TestEmptyList(t *testing.T) {
	l := NewList(NewArena(1))
	if l.First() != None || l.Len() != 0 {
		t.Error("not empty")
	}
	l.Insert(0, Key{})
	l.Remove(0)
	if l.First() != None || l.Len() != 0 {
		t.Error("not empty again")
	}
}

func TestMisusePanics(t *testing.T) {
	a := NewArena(2)
	l, other := NewList(a), NewList(a)
	l.Insert(0, Key{Seq: 1})
	for name, f := range map[string]func(){
		"insert twice":              func() { l.Insert(0, Key{Seq: 2}) },
		"insert into a second list": func() { other.Insert(0, Key{Seq: 2}) },
		"remove what is in no list": func() { l.Remove(1) },
	} {
		if !panics(f) {
			t.Errorf("%s does not panic", name)
		}
	}
}

// Remove finds an item by its key, so a tie would leave the wrong one in the list, and so
// would a list that does not have the item.
func TestTiesAndForeignItemsPanic(t *testing.T) {
	a := NewArena(3)
	l, other := NewList(a), NewList(a)
	l.Insert(0, Key{Seq: 1})
	if !panics(func() { l.Insert(1, Key{Seq: 1}) }) {
		t.Error("a second item with an equal key does not panic")
	}
	if !panics(func() { other.Remove(0) }) {
		t.Error("removing an item of another list does not panic")
	}
}

func panics(f func()) (yes bool) {
	defer func() { yes = recover() != nil }()
	f()
	return false
}

// Logarithmic time needs towers of all heights: each level has about a quarter of the
// items of the one below.
func TestHeightsAreGeometric(t *testing.T) {
	const n = 1 << 16
	var atLeast [levels + 1]int
	for i := range int32(n) {
		for h := 1; h <= height(i); h++ {
			atLeast[h]++
		}
	}
	for h, want := 2, n/4; h <= levels && want >= 64; h, want = h+1, want/4 {
		if got := atLeast[h]; got < want*3/4 || got > want*5/4 {
			t.Errorf("%d of %d items reach height %d, want about %d", got, n, h, want)
		}
	}
}

func TestInsertAndRemoveDoNotAllocate(t *testing.T) {
	a := NewArena(100)
	l := NewList(a)
	if n := testing.AllocsPerRun(10, func() {
		for i := range int32(100) {
			l.Insert(i, Key{Time: int64(i * 37 % 101)})
		}
		for i := range int32(100) {
			l.Remove(i)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
