package quota

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// naive is the quota tree as one would write it down first: pointers, recursion, nothing
// kept that can be computed. The tests compare the arrays with it.
type naive struct {
	parent   *naive
	children []*naive
	cohort   bool
	own      map[FR]Quota
	used     map[FR]int64 // of queues
	weight   int64
}

func (n *naive) subtree(fr FR) int64 {
	sum := n.own[fr].Nominal
	for _, c := range n.children {
		sum += c.subtree(fr) - c.local(fr)
	}
	return sum
}

func (n *naive) local(fr FR) int64 {
	if l := n.own[fr].Lending; l.Set {
		return max(0, n.subtree(fr)-l.N)
	}
	return 0
}

func (n *naive) usage(fr FR) int64 {
	sum := n.used[fr]
	for _, c := range n.children {
		sum += max(0, c.usage(fr)-c.local(fr))
	}
	return sum
}

func (n *naive) available(fr FR) int64 {
	if n.parent == nil {
		return n.subtree(fr) - n.usage(fr)
	}
	above := n.parent.available(fr)
	if b := n.own[fr].Borrowing; b.Set {
		above = min(above, n.subtree(fr)-n.local(fr)-max(0, n.usage(fr)-n.local(fr))+b.N)
	}
	return max(0, n.local(fr)-n.usage(fr)) + above
}

func (n *naive) potential(fr FR) int64 {
	if n.parent == nil {
		return n.subtree(fr)
	}
	p := n.local(fr) + n.parent.potential(fr)
	if b := n.own[fr].Borrowing; b.Set {
		p = min(p, n.subtree(fr)+b.N)
	}
	return p
}

func (n *naive) height() int32 {
	h := int32(0)
	for _, c := range n.children {
		h = max(h, c.height()+1)
	}
	return h
}

func (n *naive) level(fr FR, v int64) int32 {
	if n.parent == nil || n.usage(fr)+v <= n.subtree(fr) {
		return 0
	}
	at := n
	for {
		v -= max(0, at.local(fr)-at.usage(fr))
		at = at.parent
		if at.parent == nil || at.usage(fr)+v <= at.subtree(fr) {
			return at.height()
		}
	}
}

// share returns 1000 x borrowed / lendable of the dominant resource, not weighted.
func (n *naive) share(frs int) (ratio float64, borrows bool) {
	if n.parent == nil {
		return 0, false
	}
	var over, lend [Resources]int64
	for fr := range FR(frs) {
		if d := n.usage(fr) - n.subtree(fr); d > 0 {
			over[fr.Resource()] += d
			borrows = true
		}
		lend[fr.Resource()] += n.parent.potential(fr)
	}
	for r := range over {
		if over[r] > 0 && lend[r] > 0 {
			ratio = max(ratio, 1000*float64(over[r])/float64(lend[r]))
		}
	}
	return ratio, borrows
}

// forest draws cohorts and queues, as specs and as naive nodes in the tree's order.
func forest(r *rand.Rand) (queues []Queue, cohorts []Cohort, nodes []*naive) {
	flavors := 1 + r.IntN(3)
	all := make([]*naive, 1+r.IntN(5))
	for c := range all {
		spec := Cohort{Name: fmt.Sprintf("c%d", c)}
		all[c] = &naive{cohort: true, weight: 1000}
		if c > 0 && r.IntN(4) > 0 {
			p := r.IntN(c)
			spec.Parent, all[c].parent = fmt.Sprintf("c%d", p), all[p]
			all[p].children = append(all[p].children, all[c])
		}
		if r.IntN(2) == 0 {
			spec.Groups, all[c].own = groups(r, flavors, all[c].parent != nil)
		}
		cohorts = append(cohorts, spec)
	}
	for q := range 1 + r.IntN(6) {
		spec := Queue{Name: fmt.Sprintf("q%d", q)}
		n := &naive{used: map[FR]int64{}, weight: 1000}
		if r.IntN(6) > 0 {
			p := r.IntN(len(all))
			spec.Cohort, n.parent = fmt.Sprintf("c%d", p), all[p]
			all[p].children = append(all[p].children, n)
		}
		spec.Groups, n.own = groups(r, flavors, n.parent != nil)
		queues, nodes = append(queues, spec), append(nodes, n)
	}
	return queues, cohorts, append(nodes, all...)
}

func groups(r *rand.Rand, flavors int, limits bool) ([]Group, map[FR]Quota) {
	own := map[FR]Quota{}
	g := Group{Covers: [4]bool{true, true}}
	for f := range int32(flavors) {
		fq := FlavorQuota{Flavor: f}
		for res := range 2 {
			q := Quota{Nominal: r.Int64N(20)}
			if limits && r.IntN(2) == 0 {
				q.Borrowing = Max(r.Int64N(10))
			}
			if limits && r.IntN(2) == 0 {
				q.Lending = Max(r.Int64N(20))
			}
			fq.Quota[res], own[Of(f, res)] = q, q
		}
		g.Flavors = append(g.Flavors, fq)
	}
	return []Group{g}, own
}

func compare(t *testing.T, tree *Tree, nodes []*naive) {
	t.Helper()
	for i, n := range nodes {
		node := int32(i)
		for fr := range FR(tree.FRs()) {
			got := [5]int64{tree.Subtree(node, fr), tree.Usage(node, fr), tree.available(node, fr), tree.Potential(node, fr), tree.LocalAvailable(node, fr)}
			want := [5]int64{n.subtree(fr), n.usage(fr), n.available(fr), n.potential(fr), max(0, n.local(fr)-n.usage(fr))}
			if got != want {
				t.Fatalf("%s flavor-resource %d: subtree, usage, available, potential, local is %v, want %v", tree.Name(node), fr, got, want)
			}
			if v := int64(node) % 7; !n.cohort {
				if level, _ := tree.BorrowLevel(node, fr, v); level != n.level(fr, v) {
					t.Fatalf("%s: borrow level is %d, want %d", tree.Name(node), level, n.level(fr, v))
				}
			}
		}
		s := tree.Share(node)
		ratio, borrows := n.share(tree.FRs())
		if got := 1000 * float64(s.Borrowed) / float64(s.Lendable); got != ratio || s.Borrowing != borrows {
			t.Fatalf("%s: share is %v (%v), want %v (%v)", tree.Name(node), got, s.Borrowing, ratio, borrows)
		}
		if n.height() != tree.Height(node) {
			t.Fatalf("%s: height is %d, want %d", tree.Name(node), tree.Height(node), n.height())
		}
	}
}

// Whatever is used and given back, within quota or not, the arrays say what the naive tree
// says, and undoing restores every number.
func TestTreeAgainstNaive(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for range 300 {
		queues, cohorts, nodes := forest(r)
		tree := NewTree(queues, cohorts)
		for range 12 {
			before := slices.Clone(tree.usage)
			m := tree.Mark()
			churn(r, tree, nil)
			tree.Undo(m)
			if !slices.Equal(before, tree.usage) || len(tree.log) != 0 {
				t.Fatal("undo left something behind")
			}
			churn(r, tree, nodes)
			compare(t, tree, nodes)
		}
	}
}

// churn uses and frees at random, also in the naive nodes if there are any.
func churn(r *rand.Rand, tree *Tree, nodes []*naive) {
	for range 4 {
		q, fr, v := int32(r.IntN(tree.Len())), FR(r.IntN(tree.FRs())), r.Int64N(15)
		if have := tree.Usage(q, fr); r.IntN(2) == 0 {
			v = min(v, have)
			tree.Free(q, fr, v)
			v = -v
		} else {
			tree.Use(q, fr, v)
		}
		if nodes != nil {
			nodes[q].used[fr] += v
		}
	}
}

func TestSimulationsNest(t *testing.T) {
	tree := New([]Queue{{Nominal: Amounts{10}, Covers: [4]bool{true}}})
	outer := tree.Mark()
	tree.Use(0, 0, 3)
	inner := tree.Mark()
	tree.Use(0, 0, 4)
	tree.Rewind(inner)
	tree.Use(0, 0, 5)
	tree.Undo(inner)
	if got := tree.Usage(0, 0); got != 3 {
		t.Errorf("after the inner undo the usage is %d", got)
	}
	tree.Undo(outer)
	if got := tree.Usage(0, 0); got != 0 || tree.open != 0 {
		t.Errorf("after the outer undo the usage is %d", got)
	}
	tree.Use(0, 0, 2)
	if len(tree.log) != 0 {
		t.Error("changes outside a simulation are logged")
	}
}

// A queue may take what it does not lend, what others lend, and no more than it may borrow.
func TestLimitsByExample(t *testing.T) {
	gpu := func(q Quota) []Group {
		return []Group{{Covers: [4]bool{true}, Flavors: []FlavorQuota{{Quota: [4]Quota{q}}}}}
	}
	tree := NewTree([]Queue{
		{Name: "lender", Cohort: "all", Groups: gpu(Quota{Nominal: 10, Lending: Max(4)})},
		{Name: "borrower", Cohort: "all", Groups: gpu(Quota{Nominal: 5, Borrowing: Max(3)})},
		{Name: "free", Cohort: "all", Groups: gpu(Quota{})},
		{Name: "alone", Groups: gpu(Quota{Nominal: 7})},
	}, nil)
	root := tree.Root(0)
	if got := tree.Subtree(root, 0); got != 4+5 {
		t.Errorf("the cohort has %d", got)
	}
	for q, want := range []int64{15, 8, 9, 7} {
		if got := tree.Potential(int32(q), 0); got != want {
			t.Errorf("%s could have %d, want %d", tree.Name(int32(q)), got, want)
		}
	}
	tree.Use(2, 0, 9)
	for q, want := range []int64{6, 0, 0, 7} {
		if got := tree.Available(int32(q), 0); got != want {
			t.Errorf("%s can take %d, want %d", tree.Name(int32(q)), got, want)
		}
	}
	if s := tree.Share(2); s.Borrowed != 9 || s.Lendable != 9 || s.Dominant != 0 {
		t.Errorf("the borrower of everything has the share %+v", s)
	}
	if level, below := tree.BorrowLevel(1, 0, 6); level != 1 || below {
		t.Errorf("borrowing in a flat cohort has level %d, below %v", level, below)
	}
}

// Shares compare as Kueue's floating-point numbers do, roundings and all.
func TestSharesCompareAsInKueue(t *testing.T) {
	share := func(b, l, w int64) Share { return Share{Borrowed: b, Lendable: l, Weight: w, Borrowing: true} }
	for _, c := range []struct {
		a, b Share
		want int
	}{
		{share(1, 3, 1000), share(2, 6, 1000), 0},
		{share(1, 3, 1000), share(333333333, 1000000000, 1000), 1},
		{share(2, 3, 2000), share(1, 3, 1000), 0},
		{share(1, 3, 1500), share(2, 9, 1000), -1},               // equal, but two roundings apart
		{share(30000, 13000, 3000), share(5000, 6500, 1000), -1}, // likewise
		{share(1<<42, 1<<43, 1000), share(1<<42-1, 1<<43, 1000), 1},
		{share(0, 1, 0), share(0, 1, 1000), 0}, // weight 0, but nothing borrowed that could be lent
		{share(1, 1000, 0), share(0, 1, 0), 1},
		{share(0, 1, 0), share(1, 1000, 1000), -1},
		{share(1, 1000, 0), share(1000, 1, 1000), 1},
		{share(1, 1000, 0), share(2, 1000, 0), -1},
	} {
		if got, back := c.a.Compare(&c.b), c.b.Compare(&c.a); got != c.want || back != -c.want {
			t.Errorf("%+v against %+v: %d and %d, want %d", c.a, c.b, got, back, c.want)
		}
	}
}
