package stage

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gangplan/gangplan/sim/capacity"
	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/workloads"
)

// host is a node of a test: where it is, its own name last, and how many pods it takes.
type host struct {
	path []string
	pods int32
}

// over is a search over hosts that asks for pods of one GPU.
type over struct {
	*Search
	c      *topology.Cluster
	index  *capacity.Index
	leaves Leaves
}

// place asks the index and the search over all domains, which must agree.
func (o *over) place(t testing.TB, r Request) string {
	t.Helper()
	slow := answer(o.c, o.Search, o.Place(&r, &o.leaves))
	fast := answer(o.c, o.Search, o.PlaceShape(&r, o.index, 0))
	if slow != fast {
		t.Fatalf("%+v: %q over all domains, %q from the index", r, slow, fast)
	}
	return slow
}

// searchOver builds a cluster of the hosts.
func searchOver(t testing.TB, levels []string, hosts []host) *over {
	t.Helper()
	var nodes []topology.Node
	for _, h := range hosts {
		last := len(h.path) - 1
		nodes = append(nodes, topology.Node{Name: h.path[last], Path: h.path[:last],
			Allocatable: topology.Resources{int64(h.pods) * topology.Milli, 0, 0, 110}})
	}
	c, err := topology.Build(levels, nodes)
	if err != nil {
		t.Fatal(err)
	}
	free := make([]topology.Resources, len(c.Nodes))
	for i := range free {
		free[i] = c.Nodes[i].Allocatable
	}
	o := &over{Search: NewSearch(c, c.HostLevel()), c: c, index: capacity.New(c, free)}
	pod := topology.Resources{topology.Milli, 0, 0, 1}
	o.index.Register(pod, 0)
	o.leaves.Fill(c, c.HostLevel(), free, &pod, nil, nil)
	return o
}

// answer writes the slots of a search as "name:count" in their order, or "" for a refusal.
func answer(c *topology.Cluster, s *Search, ok bool) string {
	if !ok {
		return ""
	}
	parts := make([]string, len(s.Slots))
	for i, slot := range s.Slots {
		parts[i] = fmt.Sprintf("%s:%d", c.Nodes[slot.Leaf].Name, slot.Count)
	}
	return strings.Join(parts, " ")
}

const (
	unconstrained = workloads.TopologyUnconstrained
	preferred     = workloads.TopologyPreferred
	required      = workloads.TopologyRequired
)

// Two blocks, three racks, six hosts: the examples of Kueue's documentation and issues.
func TestWorkedExamples(t *testing.T) {
	levels := []string{"block", "rack", "host"}
	hosts := []host{
		{[]string{"b1", "r1", "a1"}, 8}, {[]string{"b1", "r1", "a2"}, 8},
		{[]string{"b1", "r2", "b1"}, 4}, {[]string{"b1", "r2", "b2"}, 8},
		{[]string{"b2", "r3", "c1"}, 8}, {[]string{"b2", "r3", "c2"}, 6},
	}
	for _, e := range []struct {
		name  string
		count int32
		mode  workloads.TopologyMode
		level int32
		algo  Algorithm
		want  string
	}{
		{"12 is the smallest rack with room for 8", 8, required, 1, BestFit, "b2:8"},
		{"a rack filled exactly", 12, required, 1, BestFit, "b1:4 b2:8"},
		{"the rack of 14", 14, required, 1, BestFit, "c1:8 c2:6"},
		{"the rack of 16", 16, required, 1, BestFit, "a1:8 a2:8"},
		{"no rack has 20", 20, required, 1, BestFit, ""},
		{"20 in one block, greedy by rack", 20, preferred, 1, BestFit, "a1:8 a2:8 b1:4"},
		{"30 need both blocks", 30, preferred, 1, BestFit, "a1:8 a2:8 c1:8 c2:6"},
		{"all of it", 42, preferred, 1, BestFit, "a1:8 a2:8 b1:4 b2:8 c1:8 c2:6"},
		{"more than all of it", 43, preferred, 1, BestFit, ""},
		{"the emptiest hosts first", 12, unconstrained, 2, LeastFreeCapacity, "a1:2 b1:4 c2:6"},
		{"the same with two hosts", 12, unconstrained, 2, BestFit, "a1:8 b1:4"},
		{"one host of 6 fits 5", 5, unconstrained, 2, LeastFreeCapacity, "c2:5"},
		{"a required host", 8, required, 2, BestFit, "a1:8"},
		{"no host has 9", 9, required, 2, BestFit, ""},
	} {
		o := searchOver(t, levels, hosts)
		if got := o.place(t, Request{Count: e.count, Mode: e.mode, Level: e.level, Algo: e.algo}); got != e.want {
			t.Errorf("%s: %q, want %q", e.name, got, e.want)
		}
	}
}

func TestWorkedExamplesOnOneLevel(t *testing.T) {
	for _, e := range []struct {
		name  string
		caps  []int32
		count int32
		mode  workloads.TopologyMode
		algo  Algorithm
		want  string
	}{
		{"the emptiest first, the last one partly", []int32{3, 3, 2, 1}, 7, unconstrained, LeastFreeCapacity, "h0:3 h1:1 h2:2 h3:1"},
		{"the fullest first, the last one tight", []int32{3, 3, 2, 1}, 7, unconstrained, BestFit, "h0:3 h1:3 h3:1"},
		{"greedy, not minimal fragmentation", []int32{19, 10, 10}, 20, unconstrained, BestFit, "h0:19 h1:1"},
		{"hosts without room do not end the search", []int32{0, 0, 2, 2}, 4, unconstrained, LeastFreeCapacity, "h2:2 h3:2"},
		{"nothing anywhere", []int32{0, 0}, 1, unconstrained, LeastFreeCapacity, ""},
		{"preferred host spreads when it must", []int32{1, 2, 5}, 6, preferred, BestFit, "h0:1 h2:5"},
		{"a rack of hosts 1, 2, 5 without slices", []int32{1, 2, 5}, 5, required, BestFit, "h2:5"},
	} {
		var hosts []host
		for i, n := range e.caps {
			hosts = append(hosts, host{[]string{fmt.Sprintf("h%d", i)}, n})
		}
		o := searchOver(t, []string{"host"}, hosts)
		if got := o.place(t, Request{Count: e.count, Mode: e.mode, Algo: e.algo}); got != e.want {
			t.Errorf("%s: %q, want %q", e.name, got, e.want)
		}
	}
}

// naive is the same search written from the specification over a tree of values: no
// indexes, no ranks, every list built and sorted anew.
type naive struct {
	hosts []host
	algo  Algorithm
}

// place is a domain by its values, with the pods that fit below it.
type place struct {
	values []string
	pods   int32
}

// domainsBelow lists the domains of a level under one of the given, in no special order.
func (n *naive) domainsBelow(level int, under []place) []place {
	var list []place
	for _, h := range n.hosts {
		inside := slices.ContainsFunc(under, func(p place) bool { return slices.Equal(p.values, h.path[:len(p.values)]) })
		if !inside {
			continue
		}
		values := h.path[:level+1]
		at := slices.IndexFunc(list, func(p place) bool { return slices.Equal(p.values, values) })
		if at < 0 {
			list = append(list, place{values: values})
			at = len(list) - 1
		}
		list[at].pods += h.pods
	}
	return list
}

// sorted: pods descending (ascending for LeastFreeCapacity), then level values ascending.
func (n *naive) sorted(list []place) []place {
	slices.SortFunc(list, func(a, b place) int {
		d := int(b.pods - a.pods)
		if n.algo == LeastFreeCapacity {
			d = -d
		}
		if d == 0 {
			d = slices.Compare(a.values, b.values)
		}
		return d
	})
	return list
}

// consume takes whole domains until one holds the remainder; BestFit then switches to the
// smallest of the remaining that does. It returns what each was given.
func (n *naive) consume(list []place, count int32) ([]place, bool) {
	var taken []place
	for i, d := range n.sorted(list) {
		if d.pods >= count {
			if n.algo == BestFit {
				for _, other := range list[i+1:] {
					if other.pods >= count && other.pods < d.pods {
						d = other
					}
				}
			}
			return append(taken, place{d.values, count}), true
		}
		if d.pods > 0 {
			taken = append(taken, d)
			count -= d.pods
		}
	}
	return nil, false
}

// start picks the level and the domains: one that holds all, the tightest, or several.
func (n *naive) start(count int32, mode workloads.TopologyMode, level int) ([]place, int, bool) {
	for {
		list := n.sorted(n.domainsBelow(level, []place{{}}))
		fitting := slices.DeleteFunc(slices.Clone(list), func(p place) bool { return p.pods < count })
		if len(fitting) > 0 {
			least := slices.MinFunc(fitting, func(a, b place) int { return int(a.pods - b.pods) })
			return []place{least}, level, true
		}
		switch {
		case mode == required:
			return nil, level, false
		case mode == preferred && level > 0:
			level--
			continue
		}
		taken, ok := n.consume(list, count)
		return taken, level, ok
	}
}

func (n *naive) place(count int32, mode workloads.TopologyMode, level int) string {
	chosen, level, ok := n.start(count, mode, level)
	if !ok {
		return ""
	}
	last := len(n.hosts[0].path) - 1
	for level < last {
		level++
		chosen, _ = n.consume(n.domainsBelow(level, chosen), count)
	}
	slices.SortFunc(chosen, func(a, b place) int { return slices.Compare(a.values, b.values) })
	parts := make([]string, len(chosen))
	for i, p := range chosen {
		parts[i] = fmt.Sprintf("%s:%d", p.values[last], min(p.pods, count))
		count -= p.pods
	}
	return strings.Join(parts, " ")
}

// randomHosts draws a tree of some depth in random order, with names whose order is not
// the order of the list, and which are prefixes of one another.
func randomHosts(r *rand.Rand, depth int) []host {
	names := []string{"a", "a-1", "a0", "b", "B", "10", "9"}
	hosts := make([]host, 2+r.IntN(24))
	for i := range hosts {
		for range depth - 1 {
			hosts[i].path = append(hosts[i].path, names[r.IntN(1+r.IntN(len(names)))])
		}
		hosts[i].path = append(hosts[i].path, fmt.Sprintf("%s%d", names[r.IntN(len(names))], i))
		hosts[i].pods = r.Int32N(9)
	}
	return hosts
}

func TestSearchAgainstNaive(t *testing.T) {
	levels := []string{"zone", "block", "rack", "host"}
	placed, refused := 0, 0
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 8))
		depth := 1 + r.IntN(len(levels))
		hosts := randomHosts(r, depth)
		o := searchOver(t, levels[len(levels)-depth:], hosts)
		for range 30 {
			count := 1 + r.Int32N(1+r.Int32N(60))
			mode := []workloads.TopologyMode{required, preferred, unconstrained}[r.IntN(3)]
			level := r.IntN(depth)
			if mode == unconstrained {
				level = depth - 1
			}
			algo := Algorithm(r.IntN(2))
			got := o.place(t, Request{Count: count, Mode: mode, Level: int32(level), Algo: algo})
			want := (&naive{hosts, algo}).place(count, mode, level)
			if got != want {
				t.Fatalf("seed %d: %d pods, mode %d, level %d, algorithm %d over %v:\n got %q\nwant %q", seed, count, mode, level, algo, hosts, got, want)
			}
			if want == "" {
				refused++
			} else {
				placed++
			}
		}
	}
	if placed < 2000 || refused < 2000 {
		t.Errorf("%d placed and %d refused: too one-sided to prove much", placed, refused)
	}
}
