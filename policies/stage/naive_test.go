package stage

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gangplan/gangplan/sim/capacity"
	"github.com/gangplan/gangplan/sim/devices"
	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/workloads"
)

// regular builds zones x racks x hosts, with the GPUs of host i given by gpus.
func regular(t testing.TB, zones, racks, hosts int, gpus func(i int) int64) *topology.Cluster {
	t.Helper()
	var nodes []topology.Node
	for z := range zones {
		for r := range racks {
			for h := range hosts {
				g := gpus(len(nodes))
				nodes = append(nodes, topology.Node{Name: fmt.Sprintf("h%05d", len(nodes)), GPUModel: "gpu",
					Path:        []string{fmt.Sprintf("z%d", z), fmt.Sprintf("r%03d", r)},
					Allocatable: topology.Resources{g * topology.Milli, 16 * g * topology.Milli, 128 * g << 30, 110}})
				_ = h
			}
		}
	}
	c, err := topology.Build([]string{"zone", "rack", "host"}, nodes)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// state is a cluster with what is free on it, indexed.
type state struct {
	c      *topology.Cluster
	free   []topology.Resources
	index  *capacity.Index
	pods   []topology.Resources
	shapes []capacity.Shape
}

func newState(c *topology.Cluster, pods ...topology.Resources) *state {
	s := &state{c: c, pods: pods}
	for i := range c.Nodes {
		s.free = append(s.free, c.Nodes[i].Allocatable)
	}
	s.index = capacity.New(c, s.free)
	for _, p := range pods {
		s.shapes = append(s.shapes, s.index.Register(p, 0))
	}
	return s
}

func (s *state) take(node int32, r topology.Resources) {
	s.free[node] = s.free[node].Minus(r)
	s.index.Touch(node)
}

func gpuPod(milli int64) topology.Resources {
	return topology.Resources{milli, 12 * milli, 96 * milli / 1000 << 30, 1}
}

// randomPlain draws an ordinary request.
func randomPlain(rng *rand.Rand, c *topology.Cluster) Request {
	r := Request{Count: 1 + rng.Int32N(40), Mode: workloads.TopologyUnconstrained, Level: c.HostLevel(), Algo: Algorithm(rng.IntN(2))}
	if rng.IntN(3) > 0 {
		r.Mode = workloads.TopologyPreferred + workloads.TopologyMode(rng.IntN(2))
		r.Level = rng.Int32N(c.HostLevel() + 1)
	}
	if rng.IntN(20) == 0 {
		r.Count = 1 + rng.Int32N(4000)
	}
	return r
}

// TestFastIsNaive plays random operations on heterogeneous clusters, placing, releasing,
// undoing, losing and regaining nodes, and wants the index to answer every request as the
// two-phase search over all domains does: fit, slots and failure. It is a million operations
// and more, of which a third are requests. Pods are of seven shapes, two with a part of a GPU;
// in every third run each GPU of a node is counted for itself, as parts are not put together.
func TestFastIsNaive(t *testing.T) {
	runs, steps := 36, 30_000
	if testing.Short() {
		runs, steps = 12, 2_000
	}
	for run := range runs {
		rng := rand.New(rand.NewPCG(7, uint64(run)))
		sizes := []int64{8, 8, 8, 4, 1, 0}
		c := regular(t, 1+rng.IntN(3), 1+rng.IntN(30)*(run%2), 1+rng.IntN(9), func(int) int64 { return sizes[rng.IntN(len(sizes))] })
		p := newPlayer(t, rng, c)
		if run%3 == 0 {
			p.share()
		}
		for range steps {
			p.step()
		}
		if p.placed == 0 || p.failed == 0 {
			t.Errorf("run %d: %d placed, %d failed: the test does not test", run, p.placed, p.failed)
		}
	}
}

// player keeps what the random operations placed.
type player struct {
	t              *testing.T
	rng            *rand.Rand
	s              *state
	fast, naive    *Search
	held           []held
	down           []bool
	kept           []topology.Resources
	gpus           []devices.Set // by node; nil: only their sum counts
	placed, failed int
}

type held struct {
	pod   topology.Resources
	slots []Slot
	gpus  []devices.Mask // of every pod, where GPUs are kept apart
}

// share keeps every GPU of a node apart.
func (p *player) share() {
	for i := range p.s.c.Nodes {
		p.gpus = append(p.gpus, devices.NewSet(int(p.s.c.Nodes[i].Allocatable[topology.GPU]/topology.Milli)))
	}
	p.s.index.ShareGPUs(p.gpus)
}

// bookGPUs gives every pod of a gang the GPUs with the least free that suffice, or takes them
// back.
func (p *player) bookGPUs(h *held, by int64) {
	ask, _ := devices.NewAsk(h.pod[topology.GPU])
	if p.gpus == nil || ask.Count == 0 {
		return
	}
	pod := 0
	for _, slot := range h.slots {
		for range slot.Count {
			if by > 0 {
				h.gpus = append(h.gpus, p.gpus[slot.Leaf].Best(ask))
			}
			p.gpus[slot.Leaf].Take(h.gpus[pod], int32(by)*ask.Milli)
			pod++
		}
	}
	if by < 0 {
		h.gpus = nil
	}
}

// onGPUs lowers what fits on every leaf to what fits on its GPUs one by one.
func (p *player) onGPUs(l *Leaves, pod *topology.Resources) {
	ask, _ := devices.NewAsk(pod[topology.GPU])
	if p.gpus == nil || ask.Count == 0 {
		return
	}
	for n := range l.Pods {
		fit := int32(0)
		for g := range p.gpus[n].Len() {
			fit += int32(p.gpus[n].Free(g)) / ask.Milli
		}
		l.Pods[n] = min(l.Pods[n], fit/ask.Count)
	}
}

// fits reports whether a pod has room on a node.
func (p *player) fits(pod *topology.Resources, node int32) bool {
	ask, _ := devices.NewAsk(pod[topology.GPU])
	return pod.FitsIn(&p.s.free[node]) && (p.gpus == nil || p.gpus[node].Fits(ask))
}

func newPlayer(t *testing.T, rng *rand.Rand, c *topology.Cluster) *player {
	return &player{t: t, rng: rng, fast: NewSearch(c, c.HostLevel()), naive: NewSearch(c, c.HostLevel()),
		s:    newState(c, gpuPod(1000), gpuPod(8000), gpuPod(400), gpuPod(700), gpuPod(2000), topology.Resources{0, 4000, 1 << 30, 1}, topology.Resources{1000, 0, 0, 1}),
		down: make([]bool, len(c.Nodes)), kept: make([]topology.Resources, len(c.Nodes))}
}

func (p *player) step() {
	switch n := p.rng.IntN(12); {
	case n < 5:
		p.place()
	case n < 9 && len(p.held) > 0:
		i := p.rng.IntN(len(p.held))
		p.book(&p.held[i], -1)
		p.held = slices.Delete(p.held, i, i+1)
	case n == 9:
		p.flip(p.rng.Int32N(int32(len(p.down))))
	default: // one pod outside any gang, and half of the time undone at once
		node := p.rng.Int32N(int32(len(p.down)))
		pod := p.s.pods[p.rng.IntN(len(p.s.pods))]
		if p.down[node] || !p.fits(&pod, node) {
			return
		}
		h := held{pod: pod, slots: []Slot{{node, 1}}}
		p.book(&h, 1)
		if p.rng.IntN(2) == 0 {
			p.book(&h, -1)
			return
		}
		p.held = append(p.held, h)
	}
}

// book takes a gang's resources or gives them back; on a node that is down the books are
// kept aside.
func (p *player) book(h *held, by int64) {
	p.bookGPUs(h, by)
	for _, slot := range h.slots {
		r := h.pod.Times(by * int64(slot.Count))
		if p.down[slot.Leaf] {
			p.kept[slot.Leaf] = p.kept[slot.Leaf].Minus(r)
			continue
		}
		p.s.take(slot.Leaf, r)
	}
}

func (p *player) flip(node int32) {
	p.down[node] = !p.down[node]
	p.s.free[node], p.kept[node] = p.kept[node], p.s.free[node]
	p.s.index.Touch(node)
}

// place asks both searches and, if they agree on a place, takes it.
func (p *player) place() {
	i := p.rng.IntN(len(p.s.pods))
	r := randomPlain(p.rng, p.s.c)
	ok := p.fast.PlaceShape(&r, p.s.index, p.s.shapes[i])
	var leaves Leaves
	leaves.Fill(p.s.c, p.s.c.HostLevel(), p.s.free, &p.s.pods[i], nil, nil)
	p.onGPUs(&leaves, &p.s.pods[i])
	want := p.naive.Place(&r, &leaves)
	if ok != want || ok && !slices.Equal(p.fast.Slots, p.naive.Slots) || !ok && p.fast.Failure != p.naive.Failure {
		p.t.Fatalf("request %+v of shape %v:\nfast  %v %v %+v\nnaive %v %v %+v", r, p.s.pods[i],
			ok, p.fast.Slots, p.fast.Failure, want, p.naive.Slots, p.naive.Failure)
	}
	if !ok {
		p.failed++
		return
	}
	p.placed++
	var n int32
	for _, slot := range p.fast.Slots {
		n += slot.Count
	}
	if n != r.Count {
		p.t.Fatalf("request %+v: %d pods in slots", r, n)
	}
	if r.Count > 60 {
		return // looked at only, or the cluster would be full at once
	}
	h := held{pod: p.s.pods[i], slots: slices.Clone(p.fast.Slots)}
	p.book(&h, 1)
	p.held = append(p.held, h)
}
