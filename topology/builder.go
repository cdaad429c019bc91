package topology

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

const (
	// MaxNodes bounds a cluster. It is ten times the largest published GPU cluster, and
	// small enough that a typing error ends in a message instead of a full memory.
	MaxNodes = 1_000_000
	// MaxLevels bounds the depth of the tree. Kueue's Topology allows 16.
	MaxLevels = 16
	// UnnamedModel is the model of GPUs that come without a name.
	UnnamedModel = "gpu"
)

// Build makes the tree of a cluster. Levels are named from the highest to the lowest, and
// the lowest is the host. A node's Path has one name for each level above the host. A
// domain is identified by its whole path: rack r1 under block a is not rack r1 under
// block b.
//
// Nodes are moved only as far as contiguity asks: domains stand in the order of their
// first node, nodes within a domain in the order given. A list that is already contiguous
// keeps its order, so node i of the cluster is entry i of the list.
//
// The list itself is not changed. Paths, labels and taints are shared with the cluster
// and must not change afterwards. An error is a *NodeError or a *FieldError.
func Build(levels []string, nodes []Node) (*Cluster, error) {
	if err := checkLevels(levels); err != nil {
		return nil, err
	}
	if err := checkNodes(levels, nodes); err != nil {
		return nil, err
	}
	c := &Cluster{Levels: slices.Clone(levels)}
	b := newBuilder(c, nodes)
	for l := range levels[:len(levels)-1] {
		b.addLevel(l)
	}
	b.addHosts()
	b.placeNodes()
	c.fillSpans()
	c.fillNameRanks()
	c.fillModels()
	return c, nil
}

// builder holds the nodes in the order they have been brought into so far.
type builder struct {
	c     *Cluster
	in    []Node
	order []int32 // position -> entry of in
	at    []int32 // entry of in * levels + level -> domain
}

func newBuilder(c *Cluster, nodes []Node) *builder {
	b := &builder{c: c, in: nodes}
	b.order = make([]int32, len(nodes))
	for i := range b.order {
		b.order[i] = int32(i)
	}
	b.at = make([]int32, len(nodes)*len(c.Levels))
	return b
}

// domain returns where the domain of a listed node at a level is kept.
func (b *builder) domain(node int32, level int) *int32 {
	return &b.at[int(node)*len(b.c.Levels)+level]
}

// parent returns the domain above level, -1 at the highest.
func (b *builder) parent(node int32, level int) int32 {
	if level == 0 {
		return -1
	}
	return *b.domain(node, level-1)
}

// addLevel makes the domains of a level above the host in the order of their first node
// and brings the nodes of each together. The levels above are contiguous already and stay
// so, because a child's nodes first appear within its parent's interval.
func (b *builder) addLevel(level int) {
	type key struct {
		parent int32
		name   string
	}
	first := b.startLevel()
	ids := map[key]int32{}
	for _, i := range b.order {
		k := key{b.parent(i, level), b.in[i].Path[level]}
		id, known := ids[k]
		if !known {
			id = b.addDomain(k.name, level, k.parent)
			ids[k] = id
		}
		*b.domain(i, level) = id
	}
	b.regroup(level, first)
}

// addHosts makes one domain per node, in the final order.
func (b *builder) addHosts() {
	level := len(b.c.Levels) - 1
	b.startLevel()
	for _, i := range b.order {
		*b.domain(i, level) = b.addDomain(b.in[i].Name, level, b.parent(i, level))
	}
	b.startLevel() // the sentinel that ends the last level
}

func (b *builder) startLevel() (first int32) {
	first = int32(len(b.c.Domains))
	b.c.LevelStart = append(b.c.LevelStart, first)
	return first
}

func (b *builder) addDomain(name string, level int, parent int32) int32 {
	b.c.Domains = append(b.c.Domains, Domain{Name: name, Level: int32(level), Parent: parent})
	return int32(len(b.c.Domains) - 1)
}

// regroup is a stable counting sort of the order by the domain at a level.
func (b *builder) regroup(level int, first int32) {
	next := make([]int32, len(b.c.Domains)-int(first)+1)
	for _, i := range b.order {
		next[*b.domain(i, level)-first+1]++
	}
	for d := 1; d < len(next); d++ {
		next[d] += next[d-1]
	}
	sorted := make([]int32, len(b.order))
	for _, i := range b.order {
		d := *b.domain(i, level) - first
		sorted[next[d]] = i
		next[d]++
	}
	b.order = sorted
}

// placeNodes copies nodes and ancestors into the cluster in their final order.
func (b *builder) placeNodes() {
	levels := len(b.c.Levels)
	b.c.Nodes = make([]Node, 0, len(b.in))
	b.c.ancestors = make([]int32, 0, len(b.at))
	for _, i := range b.order {
		b.c.Nodes = append(b.c.Nodes, b.in[i])
		row := int(i) * levels
		b.c.ancestors = append(b.c.ancestors, b.at[row:row+levels]...)
	}
}

// fillSpans sets the intervals of nodes and children. Both walks meet a domain's members
// in ascending order; an end of 0 means that none was met yet.
func (c *Cluster) fillSpans() {
	for i, id := range c.ancestors {
		node := int32(i / len(c.Levels))
		d := &c.Domains[id]
		if d.Last == 0 {
			d.First = node
		}
		d.Last = node + 1
	}
	for id := c.LevelStart[1]; id < int32(len(c.Domains)); id++ {
		p := &c.Domains[c.Domains[id].Parent]
		if p.LastChild == 0 {
			p.FirstChild = id
		}
		p.LastChild = id + 1
	}
}

// fillNameRanks ranks each level's domains by path, compared component by component and
// byte by byte: parents in rank order, then each one's children by name.
func (c *Cluster) fillNameRanks() {
	ranked := c.appendByName(nil, 0, c.LevelStart[1])
	for level := range c.Levels {
		if level > 0 {
			parents := ranked
			ranked = make([]int32, 0, c.LevelStart[level+1]-c.LevelStart[level])
			for _, p := range parents {
				ranked = c.appendByName(ranked, c.Domains[p].FirstChild, c.Domains[p].LastChild)
			}
		}
		for rank, id := range ranked {
			c.Domains[id].NameRank = int32(rank)
		}
	}
}

// appendByName appends the domains [first, last), siblings, in the order of their names.
func (c *Cluster) appendByName(dst []int32, first, last int32) []int32 {
	start := len(dst)
	for id := first; id < last; id++ {
		dst = append(dst, id)
	}
	slices.SortStableFunc(dst[start:], func(a, b int32) int {
		return strings.Compare(c.Domains[a].Name, c.Domains[b].Name)
	})
	return dst
}

// fillModels numbers the GPU models in the order of their first node.
func (c *Cluster) fillModels() {
	ids := map[string]int32{}
	for i := range c.Nodes {
		n := &c.Nodes[i]
		n.Model = -1
		if n.Allocatable[GPU] == 0 {
			continue
		}
		if n.GPUModel == "" {
			n.GPUModel = UnnamedModel
		}
		id, known := ids[n.GPUModel]
		if !known {
			id = int32(len(c.Models))
			ids[n.GPUModel] = id
			c.Models = append(c.Models, n.GPUModel)
		}
		n.Model = id
	}
}

func checkLevels(levels []string) error {
	if len(levels) == 0 {
		return &FieldError{"levels", "at least one level is needed, the host"}
	}
	if len(levels) > MaxLevels {
		return &FieldError{"levels", fmt.Sprintf("at most %d levels are allowed, got %d", MaxLevels, len(levels))}
	}
	for i, l := range levels {
		if l == "" {
			return &FieldError{"levels", fmt.Sprintf("level %d has no name", i)}
		}
		if slices.Contains(levels[:i], l) {
			return &FieldError{"levels", fmt.Sprintf("%q is named twice", l)}
		}
	}
	return nil
}

func checkNodes(levels []string, nodes []Node) error {
	if len(nodes) == 0 {
		return &FieldError{"nodes", "at least one node is needed"}
	}
	if len(nodes) > MaxNodes {
		return &FieldError{"nodes", fmt.Sprintf("at most %d nodes are allowed, got %d", MaxNodes, len(nodes))}
	}
	var sum Resources
	seen := make(map[string]int, len(nodes))
	for i := range nodes {
		field, problem := checkNode(levels, &nodes[i])
		if j, dup := seen[nodes[i].Name]; problem == "" && dup {
			field, problem = "name", fmt.Sprintf("node %d has the same name", j)
		}
		if problem == "" {
			field, problem = addTo(&sum, &nodes[i].Allocatable)
		}
		if problem != "" {
			return &NodeError{i, nodes[i].Name, field, problem}
		}
		seen[nodes[i].Name] = i
	}
	return nil
}

// checkNode looks at one node alone. An empty problem means that there is none.
func checkNode(levels []string, n *Node) (field, problem string) {
	if n.Name == "" {
		return "name", "a node needs a name"
	}
	above := levels[:len(levels)-1]
	if len(n.Path) != len(above) {
		return "path", fmt.Sprintf("expected a name for each of the %d levels above the host, got %d", len(above), len(n.Path))
	}
	for l, name := range n.Path {
		if name == "" {
			return above[l], "the domain's name is empty"
		}
	}
	return "", ""
}

// addTo adds what a node offers to the sum so far. Totals are int64 everywhere above, so a
// cluster whose total overflows is refused here, once.
func addTo(sum, r *Resources) (field, problem string) {
	for i, q := range r {
		if q < 0 {
			return Resource(i).String(), fmt.Sprintf("expected at least 0, got %d", q)
		}
		if q > math.MaxInt64-sum[i] {
			return Resource(i).String(), "the cluster's total is too large"
		}
		sum[i] += q
	}
	return "", ""
}
