package quota

import (
	"math"
	"slices"
	"strings"
)

// None is the parent of a root.
const None = -1

// Tree holds quota and usage of every ClusterQueue and cohort. Its nodes are dense
// indexes: the queues first, in the order of their spec, then the cohorts. Per node and
// flavor-resource there is one number in each of the arrays, at node x frs + fr.
//
// A node's local quota is what its lending limit keeps from its parent. Usage beyond it
// counts at the parent too: usage(parent) = sum of max(0, usage(child) - local(child)).
type Tree struct {
	queues  []Queue
	cohorts []Cohort
	groups  [][]Group
	frs     int32

	parent, height []int32
	weight         []int64
	kids           [][]int32 // child cohorts of a node, by name
	leaves         [][]int32 // child queues of a node, by name

	nominal, subtree, local, limit, potential []int64
	lendable                                  []int64 // per node and resource, of its parent
	usage                                     []int64

	log  []change
	open int

	touched   []int32 // nodes that changed since EachTouched, each once
	isTouched []bool
}

// change is an entry of the undo log: what a usage was before.
type change struct {
	at  int32
	old int64
}

// unlimited is a borrowing limit that is not set.
const unlimited = math.MaxInt64

// New makes a tree of ClusterQueues without cohorts, in which nothing is used.
func New(queues []Queue) *Tree { return NewTree(queues, nil) }

// NewTree makes a tree in which nothing is used. Cohorts that are named and not described
// exist without quota of their own. The cohorts must not form a cycle.
func NewTree(queues []Queue, cohorts []Cohort) *Tree {
	t := &Tree{queues: queues, cohorts: slices.Clone(cohorts)}
	t.addImplicit()
	t.groups = make([][]Group, len(queues))
	flavors := int32(1)
	for q := range queues {
		t.groups[q] = queues[q].Resolved()
		flavors = max(flavors, flavorsIn(t.groups[q]))
	}
	for c := range t.cohorts {
		flavors = max(flavors, flavorsIn(t.cohorts[c].Groups))
	}
	t.frs = flavors * Resources
	t.link()
	t.allocate()
	t.fill()
	return t
}

func flavorsIn(groups []Group) (n int32) {
	for _, g := range groups {
		for _, f := range g.Flavors {
			n = max(n, f.Flavor+1)
		}
	}
	return n
}

// addImplicit appends the cohorts that are only mentioned.
func (t *Tree) addImplicit() {
	known := map[string]bool{"": true}
	for _, c := range t.cohorts {
		known[c.Name] = true
	}
	mention := func(name string) {
		if !known[name] {
			known[name] = true
			t.cohorts = append(t.cohorts, Cohort{Name: name})
		}
	}
	for i := range t.queues {
		mention(t.queues[i].Cohort)
	}
	for i := 0; i < len(t.cohorts); i++ {
		mention(t.cohorts[i].Parent)
	}
}

// link finds every node's parent, children and height.
func (t *Tree) link() {
	n := len(t.queues) + len(t.cohorts)
	index := map[string]int32{"": None}
	for c := range t.cohorts {
		index[t.cohorts[c].Name] = int32(len(t.queues) + c)
	}
	t.parent, t.height, t.weight = make([]int32, n), make([]int32, n), make([]int64, n)
	t.kids, t.leaves = make([][]int32, n), make([][]int32, n)
	for q := range t.queues {
		t.parent[q], t.weight[q] = index[t.queues[q].Cohort], weightOf(t.queues[q].Weight)
		if p := t.parent[q]; p != None {
			t.leaves[p] = append(t.leaves[p], int32(q))
		}
	}
	for c := range t.cohorts {
		node := index[t.cohorts[c].Name]
		t.parent[node], t.weight[node] = index[t.cohorts[c].Parent], weightOf(t.cohorts[c].Weight)
		if p := t.parent[node]; p != None {
			t.kids[p] = append(t.kids[p], node)
		}
	}
	byName := func(a, b int32) int { return strings.Compare(t.Name(a), t.Name(b)) }
	for node := range t.kids {
		slices.SortStableFunc(t.kids[node], byName)
		slices.SortStableFunc(t.leaves[node], byName)
	}
}

func weightOf(w Limit) int64 {
	if !w.Set {
		return 1000
	}
	return w.N
}

func (t *Tree) allocate() {
	n := len(t.parent) * int(t.frs)
	t.nominal, t.subtree, t.local, t.limit = make([]int64, n), make([]int64, n), make([]int64, n), make([]int64, n)
	t.potential, t.usage = make([]int64, n), make([]int64, n)
	t.lendable = make([]int64, len(t.parent)*Resources)
	t.isTouched = make([]bool, len(t.parent))
	for i := range t.limit {
		t.limit[i] = unlimited
	}
}

// fill computes, from the leaves up and from the roots down, what depends on quota alone.
func (t *Tree) fill() {
	lending := make([]int64, len(t.limit))
	for i := range lending {
		lending[i] = unlimited
	}
	for q := range t.queues {
		t.own(int32(q), t.groups[q], lending)
	}
	for c := range t.cohorts {
		t.own(int32(len(t.queues)+c), t.cohorts[c].Groups, lending)
	}
	for node := range t.parent {
		if t.parent[node] == None {
			t.gather(int32(node), lending)
			t.spread(int32(node))
		}
	}
}

// own writes down a node's own quota.
func (t *Tree) own(node int32, groups []Group, lending []int64) {
	for _, g := range groups {
		for _, f := range g.Flavors {
			for r, covered := range g.Covers {
				if !covered {
					continue
				}
				i, q := t.at(node, Of(f.Flavor, r)), f.Quota[r]
				t.nominal[i] = q.Nominal
				if q.Borrowing.Set {
					t.limit[i] = q.Borrowing.N
				}
				if q.Lending.Set {
					lending[i] = q.Lending.N
				}
			}
		}
	}
}

// gather sums the subtree quota of a node and sets its height.
func (t *Tree) gather(node int32, lending []int64) {
	if len(t.leaves[node]) > 0 {
		t.height[node] = 1
	}
	at := t.at(node, 0)
	copy(t.subtree[at:at+t.frs], t.nominal[at:at+t.frs])
	collect := func(child int32) {
		t.gather(child, lending)
		from := t.at(child, 0)
		for fr := range t.frs {
			t.subtree[at+fr] += t.subtree[from+fr] - t.local[from+fr]
		}
	}
	for _, child := range t.kids[node] {
		collect(child)
		t.height[node] = max(t.height[node], t.height[child]+1)
	}
	for _, child := range t.leaves[node] {
		collect(child)
	}
	for i := at; i < at+t.frs; i++ {
		if lending[i] != unlimited {
			t.local[i] = max(0, t.subtree[i]-lending[i])
		}
	}
}

// spread computes what a node could have if nothing were used, and what its parent could
// lend it.
func (t *Tree) spread(node int32) {
	at, parent := t.at(node, 0), t.parent[node]
	for fr := range t.frs {
		i := at + fr
		if parent == None {
			t.potential[i] = t.subtree[i]
			continue
		}
		above := t.potential[t.at(parent, FR(fr))]
		t.potential[i] = t.local[i] + above
		if t.limit[i] != unlimited {
			t.potential[i] = min(t.potential[i], t.subtree[i]+t.limit[i])
		}
		t.lendable[node*Resources+fr%Resources] += above
	}
	for _, child := range t.kids[node] {
		t.spread(child)
	}
	for _, child := range t.leaves[node] {
		t.spread(child)
	}
}

func (t *Tree) at(node int32, fr FR) int32 { return node*t.frs + int32(fr) }

// Len returns the number of queues, Nodes of queues and cohorts, FRs of
// flavor-resources.
func (t *Tree) Len() int   { return len(t.queues) }
func (t *Tree) Nodes() int { return len(t.parent) }
func (t *Tree) FRs() int   { return int(t.frs) }

// Queue returns the description of a queue.
func (t *Tree) Queue(q int32) *Queue { return &t.queues[q] }

// Groups returns the resource groups of a queue.
func (t *Tree) Groups(q int32) []Group { return t.groups[q] }

// Name returns the name of a queue or cohort.
func (t *Tree) Name(node int32) string {
	if n := int(node) - len(t.queues); n >= 0 {
		return t.cohorts[n].Name
	}
	return t.queues[node].Name
}

// Parent returns the cohort above a node, or None.
func (t *Tree) Parent(node int32) int32 { return t.parent[node] }

// Root returns the node above which there is none.
func (t *Tree) Root(node int32) int32 {
	for t.parent[node] != None {
		node = t.parent[node]
	}
	return node
}

// Cohorts returns the child cohorts of a node, Leaves its child queues, both by name.
func (t *Tree) Cohorts(node int32) []int32 { return t.kids[node] }
func (t *Tree) Leaves(node int32) []int32  { return t.leaves[node] }

// Height returns the distance from a node to its furthest queue; 0 for a queue.
func (t *Tree) Height(node int32) int32 { return t.height[node] }

// Weight returns the fair-sharing weight of a node in thousandths.
func (t *Tree) Weight(node int32) int64 { return t.weight[node] }

// Additive reports whether what counts at a cohort is the sum of what its children use: all
// of them are queues, and none keeps quota from it.
func (t *Tree) Additive(node int32) bool {
	for _, q := range t.leaves[node] {
		at := t.at(q, 0)
		for _, local := range t.local[at : at+t.frs] {
			if local > 0 {
				return false
			}
		}
	}
	return len(t.kids[node]) == 0 && len(t.leaves[node]) > 0
}
