package capacity

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gangplan/gangplan/topology"
)

// world is a cluster whose free resources change at random.
type world struct {
	c    *topology.Cluster
	free []topology.Resources
	x    *Index
}

func newWorld(t testing.TB, racks, hosts int, sizes ...int64) *world {
	t.Helper()
	var nodes []topology.Node
	for r := range racks {
		for h := range hosts {
			g := sizes[len(nodes)%len(sizes)]
			// Names run against the order of the list, so that ranks are not indexes.
			nodes = append(nodes, topology.Node{Name: fmt.Sprintf("h%04d", 9999-len(nodes)), Path: []string{fmt.Sprintf("r%03d", (r*37)%racks)},
				GPUModel: []string{"a", "b"}[(r+h)%2], Allocatable: topology.Resources{g * 1000, g * 16000, g << 37, 110}})
		}
	}
	c, err := topology.Build([]string{"rack", "host"}, nodes)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{c: c}
	for i := range c.Nodes {
		w.free = append(w.free, c.Nodes[i].Allocatable)
	}
	w.x = New(c, w.free)
	return w
}

// scramble changes nodes at random; some changes are undone at once.
func (w *world) scramble(rng *rand.Rand, changes int) {
	for range changes {
		n := rng.Int32N(int32(len(w.free)))
		before := w.free[n]
		all := w.c.Nodes[n].Allocatable
		w.free[n] = topology.Resources{rng.Int64N(all[0] + 1), rng.Int64N(all[1] + 1), all[2], rng.Int64N(111)}
		w.x.Touch(n)
		if rng.IntN(3) == 0 {
			w.free[n] = before
			w.x.Touch(n)
		}
	}
}

// counts is what the index should say, by looking at every node.
func (w *world) counts(request topology.Resources, models uint64) []int32 {
	of := make([]int32, len(w.c.Domains))
	for n := range w.free {
		m := w.c.Nodes[n].Model
		if models != 0 && (m < 0 || models>>m&1 == 0) {
			continue
		}
		for level := range w.c.Levels {
			of[w.c.DomainOf(int32(n), int32(level))] += int32(request.CountIn(&w.free[n]))
		}
	}
	return of
}

// ordered lists the domains of a level with room, by count and then by name.
func (w *world) ordered(of []int32, level int32, up bool) []int32 {
	var list []int32
	first, last := w.c.DomainsAt(level)
	for d := first; d < last; d++ {
		if of[d] > 0 {
			list = append(list, d)
		}
	}
	slices.SortStableFunc(list, func(a, b int32) int {
		if of[a] != of[b] {
			return int(of[a]-of[b]) * map[bool]int{true: 1, false: -1}[up]
		}
		return int(w.c.Domains[a].NameRank - w.c.Domains[b].NameRank)
	})
	return list
}

var testShapes = []struct {
	request topology.Resources
	models  uint64
}{
	{topology.Resources{1000, 0, 0, 1}, 0},
	{topology.Resources{8000, 96000, 0, 1}, 0},
	{topology.Resources{125, 100, 1 << 30, 1}, 0},
	{topology.Resources{2000, 0, 0, 1}, 2},
	{topology.Resources{0, 1000, 1 << 20, 1}, 0},
	{topology.Resources{0, 1, 0, 0}, 0}, // counts beyond the buckets
}

// TestIndexIsScan wants every answer of the index to be that of a scan, on clusters with
// few and many racks, after few and many changes, for shapes asked often and seldom.
func TestIndexIsScan(t *testing.T) {
	rounds := 120
	if testing.Short() {
		rounds = 60
	}
	for _, racks := range []int{1, 7, 130} {
		w := newWorld(t, racks, 1+300/racks, 8, 8, 4, 1, 0)
		rng := rand.New(rand.NewPCG(3, uint64(racks)))
		var shapes []Shape
		for _, s := range testShapes {
			shapes = append(shapes, w.x.Register(s.request, s.models))
		}
		for range rounds {
			w.scramble(rng, rng.IntN(12))
			if rng.IntN(20) == 0 {
				w.scramble(rng, 3*len(w.free))
			}
			i := rng.IntN(len(shapes))
			w.check(t, rng, shapes[i], w.counts(testShapes[i].request, testShapes[i].models))
		}
	}
}

func (w *world) check(t *testing.T, rng *rand.Rand, s Shape, want []int32) {
	t.Helper()
	if got := w.x.Counts(s); !slices.Equal(got, want) {
		t.Fatalf("shape %d: counts %v, want %v", s, got, want)
	}
	for level := range int32(len(w.c.Levels)) {
		var total int64
		for _, d := range w.ordered(want, level, true) {
			total += int64(want[d])
		}
		if got := w.x.Total(s); got != total {
			t.Fatalf("shape %d: total %d, want %d", s, got, total)
		}
		for _, up := range []bool{true, false} {
			w.checkWalk(t, s, level, up, w.ordered(want, level, up), want)
		}
		asc := w.ordered(want, level, true)
		for range 4 {
			need := 1 + rng.Int32N(40)
			expect := int32(-1)
			for _, d := range asc {
				if want[d] >= need {
					expect = d
					break
				}
			}
			if got := w.x.Smallest(s, level, need); got != expect {
				t.Fatalf("shape %d level %d: smallest that holds %d is %d, want %d", s, level, need, got, expect)
			}
		}
	}
}

func (w *world) checkWalk(t *testing.T, s Shape, level int32, up bool, want, counts []int32) {
	t.Helper()
	c := w.x.Descend(s, level)
	if up {
		c = w.x.Ascend(s, level)
	}
	for i, d := range want {
		if got, n := c.Next(); got != d || n != counts[d] {
			t.Fatalf("shape %d level %d up %v: step %d is domain %d with %d, want %d with %d", s, level, up, i, got, n, d, counts[d])
		}
	}
	if got, _ := c.Next(); got != -1 {
		t.Fatalf("shape %d level %d up %v: domain %d after the end", s, level, up, got)
	}
	if !up && len(want) > 0 && w.x.Largest(s, level) != want[0] {
		t.Fatalf("shape %d level %d: largest is %d, want %d", s, level, w.x.Largest(s, level), want[0])
	}
}

// TestShapesAgeOut: a shape nobody asks for gives its memory to the next, and is right
// when it is asked for again.
func TestShapesAgeOut(t *testing.T) {
	w := newWorld(t, 4, 5, 8)
	a := w.x.Register(testShapes[0].request, 0)
	b := w.x.Register(testShapes[1].request, 0)
	w.x.Total(a)
	rng := rand.New(rand.NewPCG(5, 5))
	for range 40 {
		w.scramble(rng, 10)
		w.x.Total(b)
	}
	if w.x.shapes[a].of != nil || len(w.x.spare) != 1 {
		t.Fatalf("the unused shape keeps its memory")
	}
	if w.x.shapes[b].of == nil {
		t.Fatalf("the used shape lost its memory")
	}
	w.check(t, rng, a, w.counts(testShapes[0].request, 0))
	if len(w.x.spare) != 0 {
		t.Errorf("the spare memory was not used")
	}
}

// TestNothingAllocated: questions and changes allocate nothing once every shape was asked.
func TestNothingAllocated(t *testing.T) {
	w := newWorld(t, 70, 5, 8)
	var shapes []Shape
	for _, s := range testShapes[:5] {
		shapes = append(shapes, w.x.Register(s.request, s.models))
	}
	rng := rand.New(rand.NewPCG(9, 9))
	play := func() {
		w.scramble(rng, 20)
		for _, s := range shapes {
			w.x.Smallest(s, 0, 3)
			c := w.x.Descend(s, 1)
			c.Next()
		}
	}
	for range 3000 {
		play()
	}
	if n := testing.AllocsPerRun(100, play); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestCountsStayInRange(t *testing.T) {
	c, err := topology.Build([]string{"host"}, []topology.Node{{Name: "a", Allocatable: topology.Resources{0, 1 << 60, 0, 0}},
		{Name: "b", Allocatable: topology.Resources{0, 1 << 60, 0, 0}}})
	if err != nil {
		t.Fatal(err)
	}
	x := New(c, []topology.Resources{c.Nodes[0].Allocatable, c.Nodes[1].Allocatable})
	s := x.Register(topology.Resources{0, 1, 0, 0}, 0)
	if n := x.Total(s); n < 1<<30 || n > 1<<31 {
		t.Errorf("total %d of a shape without bounds", n)
	}
	if d := x.Smallest(s, 0, 100); d != 0 {
		t.Errorf("smallest is %d, want the first by name", d)
	}
}

// BenchmarkUpdate is what one changed node costs one active shape.
func BenchmarkUpdate(b *testing.B) {
	for _, size := range []struct{ racks, hosts int }{{32, 20}, {200, 25}, {500, 25}} {
		b.Run(fmt.Sprintf("hosts=%d", size.racks*size.hosts), func(b *testing.B) {
			w := newWorld(b, size.racks, size.hosts, 8)
			s := w.x.Register(topology.Resources{1000, 12000, 96 << 30, 1}, 0)
			n, one := int32(0), topology.Resources{1000, 12000, 96 << 30, 1}
			b.ReportAllocs()
			for b.Loop() {
				n = (n + 7919) % int32(len(w.free))
				w.free[n] = w.free[n].Minus(one)
				w.x.Touch(n)
				if w.x.Counts(s); w.free[n][topology.GPU] == 0 {
					w.free[n] = w.c.Nodes[n].Allocatable
				}
			}
		})
	}
}
