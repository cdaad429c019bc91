package capacity

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gangplan/gangplan/topology"
)

// lab is an index beside the plain facts it indexes.
type lab struct {
	cluster *topology.Cluster
	free    []topology.Resources
	index   *Index
	shapes  []asked
}

type asked struct {
	request topology.Resources
	models  uint64
}

// newLab makes a cluster of zones, racks and hosts with two GPU models and some nodes
// without GPUs.
func newLab(t testing.TB, r *rand.Rand, nodes int) *lab {
	t.Helper()
	var in []topology.Node
	for i := range nodes {
		gpus := []int64{0, 4, 8, 8}[r.IntN(4)]
		rack := r.IntN(nodes/4 + 1)
		in = append(in, topology.Node{
			Name: fmt.Sprintf("n%d", i), Path: []string{fmt.Sprintf("z%d", rack%3), fmt.Sprintf("r%d", rack)},
			GPUModel: []string{"old", "new"}[r.IntN(2)], Allocatable: topology.DefaultAllocatable(gpus),
		})
	}
	c, err := topology.Build([]string{"zone", "rack", "host"}, in)
	if err != nil {
		t.Fatal(err)
	}
	l := &lab{cluster: c, free: make([]topology.Resources, len(c.Nodes))}
	for i := range c.Nodes {
		l.free[i] = c.Nodes[i].Allocatable
	}
	l.index = New(c, l.free)
	return l
}

func (l *lab) register(request topology.Resources, models uint64) {
	request[topology.Pods] = 1
	l.shapes = append(l.shapes, asked{request, models})
	if s := l.index.Register(request, models); int(s) != len(l.shapes)-1 {
		panic("shapes are not numbered from 0")
	}
}

// recount counts anew, node by node, without the index.
func (l *lab) recount(s int) (counts []int32, total int64) {
	counts = make([]int32, len(l.cluster.Domains))
	for n := range l.cluster.Nodes {
		fit := l.fit(s, n)
		total += fit
		for level := range l.cluster.Levels {
			counts[l.cluster.DomainOf(int32(n), int32(level))] += int32(fit)
		}
	}
	return counts, total
}

func (l *lab) fit(s, node int) int64 {
	sh := l.shapes[s]
	model := l.cluster.Nodes[node].Model
	if sh.models != 0 && (model < 0 || sh.models&(1<<model) == 0) {
		return 0
	}
	free := l.free[node]
	n := int64(0)
	for ; ; n++ {
		for k := range free {
			if free[k] < sh.request[k] {
				return n
			}
			free[k] -= sh.request[k]
		}
	}
}

func (l *lab) compare(t *testing.T, s int, when string) {
	t.Helper()
	counts, total := l.recount(s)
	if got := l.index.Total(Shape(s)); got != total {
		t.Fatalf("%s: shape %d: total %d, want %d", when, s, got, total)
	}
	for d, got := range l.index.Counts(Shape(s)) {
		if got != counts[d] {
			t.Fatalf("%s: shape %d: %d fit in %s, want %d", when, s, got, l.cluster.Domains[d].Name, counts[d])
		}
	}
}

// change makes a node anything from full to empty, or more than full, as a node is that
// shrank under its pods.
func (l *lab) change(r *rand.Rand, node int) {
	all := l.cluster.Nodes[node].Allocatable
	switch r.IntN(6) {
	case 0:
		l.free[node] = topology.Resources{} // down
	case 1:
		l.free[node] = all
	case 2:
		l.free[node] = topology.Resources{}.Minus(all)
	default:
		for k := range all {
			l.free[node][k] = r.Int64N(all[k] + 1)
		}
	}
	l.index.Touch(int32(node))
}

func TestIndexAgainstRecountAtEveryStep(t *testing.T) {
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 1))
		l := newLab(t, r, 4+int(seed)*7)
		for _, gpus := range []int64{0, 500, 1000, 4000, 8000} {
			for _, models := range []uint64{0, 1, 2, 3, 1 << 63} {
				l.register(topology.Resources{gpus, 3000, 20 * topology.GiB}, models)
			}
		}
		for step := range 400 {
			l.change(r, r.IntN(len(l.free)))
			s := r.IntN(len(l.shapes))
			if r.IntN(10) > 0 {
				s %= 3 // few of many shapes are asked often
			}
			l.compare(t, s, fmt.Sprintf("seed %d, step %d", seed, step))
		}
		for s := range l.shapes {
			l.compare(t, s, fmt.Sprintf("seed %d, the end", seed))
		}
	}
}

// A shape may sleep while the log of changes wraps around any number of times.
func TestShapesCatchUpAfterAnySleep(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	l := newLab(t, r, 12)
	l.register(topology.Resources{1000}, 0)
	l.register(topology.Resources{4000}, 1)
	capacity := cap(l.index.log)
	for sleep := range 4 * capacity {
		for range sleep {
			l.change(r, r.IntN(len(l.free)))
		}
		l.compare(t, 0, fmt.Sprintf("after %d changes", sleep))
	}
	l.compare(t, 1, "after sleeping from the start")
	if cap(l.index.log) != capacity {
		t.Errorf("the log grew from %d to %d", capacity, cap(l.index.log))
	}
}

func TestAShapeRegisteredLate(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 9))
	l := newLab(t, r, 20)
	for range 1000 {
		l.change(r, r.IntN(len(l.free)))
	}
	l.register(topology.Resources{1000, 1000}, 2)
	l.compare(t, 0, "at first")
	l.change(r, 3)
	l.compare(t, 0, "after a change")
}

func TestTouchWithoutChangeChangesNothing(t *testing.T) {
	l := newLab(t, rand.New(rand.NewPCG(11, 9)), 10)
	l.register(topology.Resources{1000}, 0)
	l.compare(t, 0, "at first")
	for range 3 {
		l.index.Touch(4)
		l.compare(t, 0, "touched")
	}
}

// A node that goes to zero and comes back takes its pods from every domain above it and
// gives them back.
func TestNodeToZeroAndBack(t *testing.T) {
	l := newLab(t, rand.New(rand.NewPCG(12, 9)), 9)
	l.register(topology.Resources{0, 16_000}, 0)
	before, total := l.recount(0)
	for n := range l.free {
		was, fits := l.free[n], l.fit(0, n)
		l.free[n] = topology.Resources{}
		l.index.Touch(int32(n))
		counts := l.index.Counts(0)
		for level := range l.cluster.Levels {
			d := l.cluster.DomainOf(int32(n), int32(level))
			if int64(before[d]-counts[d]) != fits {
				t.Errorf("%s lost %d pods, want %d", l.cluster.Domains[d].Name, before[d]-counts[d], fits)
			}
		}
		l.free[n] = was
		l.index.Touch(int32(n))
		if got := l.index.Total(0); got != total {
			t.Errorf("node %d is back: total %d, want %d", n, got, total)
		}
	}
}

func TestQuestionsDoNotAllocate(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 9))
	l := newLab(t, r, 50)
	for gpus := range int64(8) {
		l.register(topology.Resources{gpus * 1000}, 0)
	}
	if n := testing.AllocsPerRun(1, func() {
		for step := range 1000 {
			l.change(r, r.IntN(len(l.free)))
			l.index.Counts(Shape(step % 5))
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func benchmarkIndex(b *testing.B, nodes, touches int) {
	r := rand.New(rand.NewPCG(14, 9))
	l := newLab(b, r, nodes)
	l.register(topology.Resources{1000, 12_000, 96 * topology.GiB}, 0)
	l.index.Counts(0)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		for k := range touches {
			n := int(uint64(i*touches+k) * 7919 % uint64(nodes))
			l.free[n][topology.GPU] ^= 1000
			l.index.Touch(int32(n))
		}
		l.index.Counts(0)
	}
}

func BenchmarkUpdateAndQuery(b *testing.B) {
	for _, nodes := range []int{640, 12_500} {
		for _, touches := range []int{1, 16} {
			b.Run(fmt.Sprintf("hosts=%d/touched=%d", nodes, touches), func(b *testing.B) { benchmarkIndex(b, nodes, touches) })
		}
	}
}

func BenchmarkRebuild(b *testing.B) {
	for _, nodes := range []int{640, 12_500} {
		b.Run(fmt.Sprintf("hosts=%d", nodes), func(b *testing.B) {
			l := newLab(b, rand.New(rand.NewPCG(15, 9)), nodes)
			l.register(topology.Resources{1000, 12_000, 96 * topology.GiB}, 0)
			for b.Loop() {
				l.index.shapes[0].seen = -1
				l.index.Counts(0)
			}
		})
	}
}
