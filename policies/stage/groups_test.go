package stage

import (
	"math/rand"
	"slices"
	"testing"
)

// check compares the groups with the keys the nodes were filed under ("" for nowhere).
func checkGroups(t *testing.T, g *Groups[string], filed []string) {
	t.Helper()
	first, size := map[string]int32{}, map[string]int32{}
	for n, key := range filed {
		if key == "" {
			if g.Of(int32(n)) != -1 {
				t.Fatalf("node %d is filed", n)
			}
			continue
		}
		if _, ok := first[key]; !ok {
			first[key] = int32(n)
		}
		size[key]++
		if class := g.Of(int32(n)); class < 0 || *g.Key(class) != key {
			t.Fatalf("node %d is not under %q", n, key)
		}
	}
	if len(g.Live()) != len(first) {
		t.Fatalf("%d classes are alive, want %d", len(g.Live()), len(first))
	}
	for _, c := range g.Live() {
		if key := *g.Key(c); g.First(c) != first[key] || g.Size(c) != size[key] {
			t.Fatalf("class %q: first %d of %d, want %d of %d", key, g.First(c), g.Size(c), first[key], size[key])
		}
	}
}

func TestGroupsAgainstScan(t *testing.T) {
	for _, nodes := range []int{1, 2, 64, 65, 200} {
		r := rand.New(rand.NewSource(int64(nodes)))
		g, filed := NewGroups[string](nodes), make([]string, nodes)
		for step := range 3000 {
			n := r.Intn(nodes)
			if r.Intn(8) == 0 {
				filed[n] = ""
				g.Drop(int32(n))
			} else {
				filed[n] = string(rune('a'+r.Intn(20))) + string(rune('0'+step/100)) // new keys come and go
				g.File(int32(n), filed[n])
			}
			if step%10 == 0 {
				checkGroups(t, g, filed)
			}
		}
		if len(g.classes) > g.Most() || len(g.ids) != len(g.classes) {
			t.Errorf("%d classes and %d keys, at most %d", len(g.classes), len(g.ids), g.Most())
		}
	}
}

// A class that comes back before its number is needed is the same as before.
func TestGroupsRemember(t *testing.T) {
	g := NewGroups[string](1)
	g.File(0, "a")
	class, age := g.Of(0), g.Age(g.Of(0))
	g.File(0, "b")
	g.File(0, "a")
	if g.Of(0) != class || g.Age(class) != age {
		t.Error("a class was forgotten")
	}
	for i := range 2 * g.Most() {
		g.File(0, "x"+string(rune(i)))
	}
	g.File(0, "a")
	if g.Of(0) == class && g.Age(class) == age {
		t.Error("what was computed for another class would be taken for this one")
	}
	if !slices.Equal(g.Live(), []int32{g.Of(0)}) {
		t.Errorf("alive: %v", g.Live())
	}
}

func TestGroupsDoNotAllocate(t *testing.T) {
	g := NewGroups[int](100)
	for n := range int32(100) {
		g.File(n, 0)
	}
	i := int32(0)
	step := func() {
		g.File(i%100, int(i%7))
		i++
	}
	for range 2000 {
		step()
	}
	if n := testing.AllocsPerRun(2000, step); n != 0 {
		t.Errorf("%v allocations a step", n)
	}
}
