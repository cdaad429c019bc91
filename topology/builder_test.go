package topology

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// nodesAt makes a node of eight GPUs for each path, as in "zone/rack/host".
func nodesAt(paths ...string) []Node {
	nodes := make([]Node, len(paths))
	for i, p := range paths {
		parts := strings.Split(p, "/")
		host := len(parts) - 1
		nodes[i] = Node{Name: parts[host], Path: parts[:host], Allocatable: DefaultAllocatable(8)}
	}
	return nodes
}

// levelsFor returns as many levels as the path has parts.
func levelsFor(path string) []string {
	all := []string{"zone", "block", "rack", "host"}
	return all[len(all)-1-strings.Count(path, "/"):]
}

func mustBuild(t testing.TB, levels []string, nodes []Node) *Cluster {
	t.Helper()
	c, err := Build(levels, nodes)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// pathOf names a domain by its whole path.
func (c *Cluster) pathOf(d int32) string {
	if p := c.Domains[d].Parent; p >= 0 {
		return c.pathOf(p) + "/" + c.Domains[d].Name
	}
	return c.Domains[d].Name
}

// pathsOf names the nodes by their whole paths.
func (c *Cluster) pathsOf() []string {
	var paths []string
	for i := range c.Nodes {
		paths = append(paths, c.pathOf(c.HostDomain(int32(i))))
	}
	return paths
}

func TestBuildOrder(t *testing.T) {
	tests := []struct {
		name     string
		in, want string // nodes by path
	}{
		{"one node", "h", "h"},
		{"hosts alone keep their order", "c b a", "c b a"},
		{"contiguous nodes keep their order", "r2/b r2/a r1/d r1/c", "r2/b r2/a r1/d r1/c"},
		{"racks stand by first node", "r2/a r1/b r2/c r1/d", "r2/a r2/c r1/b r1/d"},
		{"a late node joins its rack", "r1/a r2/b r3/c r1/d", "r1/a r1/d r2/b r3/c"},
		{"blocks first, then racks", "b1/r1/a b2/r1/b b1/r2/c b2/r2/d b1/r1/e",
			"b1/r1/a b1/r1/e b1/r2/c b2/r1/b b2/r2/d"},
		{"one rack name under two blocks", "x/r/a y/r/b x/r/c", "x/r/a x/r/c y/r/b"},
		{"a zone within a zone of the same name", "z/z/z/a z/y/z/b z/z/z/c", "z/z/z/a z/z/z/c z/y/z/b"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := strings.Fields(tt.in)
			c := mustBuild(t, levelsFor(in[0]), nodesAt(in...))
			if got := strings.Join(c.pathsOf(), " "); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			checkTree(t, c)
		})
	}
}

// checkTree proves the invariants that the types promise.
func checkTree(t *testing.T, c *Cluster) {
	t.Helper()
	if len(c.LevelStart) != len(c.Levels)+1 || c.LevelStart[len(c.Levels)] != int32(len(c.Domains)) {
		t.Fatalf("LevelStart %v of %d domains", c.LevelStart, len(c.Domains))
	}
	for l := range c.Levels {
		checkLevel(t, c, int32(l))
	}
	for i := range c.Nodes {
		h := c.HostDomain(int32(i))
		if d := c.Domains[h]; d.First != int32(i) || d.Last != int32(i)+1 || d.LastChild != 0 || d.Name != c.Nodes[i].Name {
			t.Errorf("host domain of node %d is %+v", i, d)
		}
	}
}

// checkLevel proves that a level's domains tile the nodes, and their children the next level.
func checkLevel(t *testing.T, c *Cluster, level int32) {
	t.Helper()
	first, last := c.DomainsAt(level)
	node, child := int32(0), last
	ranks := make([]bool, last-first)
	for id := first; id < last; id++ {
		d := c.Domains[id]
		if d.First != node || d.Last <= d.First || d.Level != level {
			t.Errorf("domain %d %+v does not start at node %d of level %d", id, d, node, level)
		}
		for n := d.First; n < d.Last; n++ {
			if c.DomainOf(n, level) != id {
				t.Errorf("node %d is in domain %d, want %d", n, c.DomainOf(n, level), id)
			}
		}
		if level < c.HostLevel() {
			checkChildren(t, c, id, child)
			child = d.LastChild
		}
		node, ranks[d.NameRank] = d.Last, true
	}
	if node != int32(len(c.Nodes)) || slices.Contains(ranks, false) {
		t.Errorf("level %d ends at node %d; ranks %v", level, node, ranks)
	}
}

func checkChildren(t *testing.T, c *Cluster, id, first int32) {
	t.Helper()
	d := c.Domains[id]
	if d.FirstChild != first || d.LastChild <= first {
		t.Fatalf("domain %d has children [%d, %d), want from %d", id, d.FirstChild, d.LastChild, first)
	}
	for k := d.FirstChild; k < d.LastChild; k++ {
		if c.Domains[k].Parent != id {
			t.Errorf("child %d of %d has parent %d", k, id, c.Domains[k].Parent)
		}
	}
}

// Whatever the list, the tree holds, and every domain's nodes keep the order given.
func TestBuildRandom(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var in []string
		for i := range 1 + rng.IntN(30) {
			in = append(in, fmt.Sprintf("z%d/b%d/r%d/h%d", rng.IntN(2), rng.IntN(3), rng.IntN(3), i))
		}
		c := mustBuild(t, levelsFor(in[0]), nodesAt(in...))
		checkTree(t, c)
		at := map[string]int{}
		for i, p := range in {
			at[p] = i
		}
		for d := range c.Domains[:c.LevelStart[3]] {
			nodes := c.pathsOf()[c.Domains[d].First:c.Domains[d].Last]
			if c.Domains[d].Level == 2 && !slices.IsSortedFunc(nodes, func(a, b string) int { return at[a] - at[b] }) {
				t.Fatalf("rack %s reordered its nodes: %v", c.pathOf(int32(d)), nodes)
			}
		}
	}
}

func TestBuildLeavesInputAlone(t *testing.T) {
	in := nodesAt("r1/a", "r2/b", "r1/c")
	mustBuild(t, levelsFor("r/h"), in)
	for i, name := range []string{"a", "b", "c"} {
		if in[i].Name != name || in[i].GPUModel != "" || in[i].Model != 0 {
			t.Errorf("entry %d became %+v", i, in[i])
		}
	}
}

// Ranks compare paths component by component: "a/z" is before "a-b/a", although the byte
// '-' is before '/'. Digits compare as bytes.
func TestNameRank(t *testing.T) {
	c := mustBuild(t, levelsFor("r/h"), nodesAt("b/h10", "a-b/n1", "a/z", "b/h9", "b/H1"))
	tests := []struct {
		level int32
		want  string
	}{
		{0, "a a-b b"},
		{1, "a/z a-b/n1 b/H1 b/h10 b/h9"},
	}
	for _, tt := range tests {
		first, last := c.DomainsAt(tt.level)
		got := make([]string, last-first)
		for d := first; d < last; d++ {
			got[c.Domains[d].NameRank] = c.pathOf(d)
		}
		if s := strings.Join(got, " "); s != tt.want {
			t.Errorf("level %d: got %s, want %s", tt.level, s, tt.want)
		}
	}
}

func TestModels(t *testing.T) {
	nodes := nodesAt("r1/a", "r2/b", "r1/c", "r2/d", "r2/e")
	nodes[0].GPUModel = "A100"
	nodes[1].GPUModel = "H100"
	nodes[2].GPUModel = "V100" // moves before b, and so does its model
	nodes[3].GPUModel = "H100"
	nodes[3].Allocatable = DefaultAllocatable(0) // the model of no GPUs is ignored
	c := mustBuild(t, levelsFor("r/h"), nodes)
	if want := []string{"A100", "V100", "H100", UnnamedModel}; !slices.Equal(c.Models, want) {
		t.Errorf("models %v, want %v", c.Models, want)
	}
	var got []int32
	for i := range c.Nodes {
		got = append(got, c.Nodes[i].Model)
	}
	if want := []int32{0, 1, 2, -1, 3}; !slices.Equal(got, want) {
		t.Errorf("models of nodes %v, want %v", got, want)
	}
	if got, want := c.GPUsByModel(), []int64{8000, 8000, 8000, 8000}; !slices.Equal(got, want) {
		t.Errorf("GPUs by model %v, want %v", got, want)
	}
}

func TestBuildErrors(t *testing.T) {
	rack := []string{"rack", "host"}
	with := func(change func(*Node)) []Node {
		nodes := nodesAt("r/a", "r/b", "r/c")
		change(&nodes[1])
		return nodes
	}
	tests := []struct {
		name   string
		levels []string
		nodes  []Node
		want   string
	}{
		{"no levels", nil, nodesAt("a"), "levels: at least one level is needed, the host"},
		{"level without name", []string{"", "host"}, nodesAt("r/a"), "levels: level 0 has no name"},
		{"level twice", []string{"host", "host"}, nodesAt("r/a"), `levels: "host" is named twice`},
		{"too many levels", make([]string, 17), nodesAt("a"), "levels: at most 16 levels are allowed, got 17"},
		{"no nodes", rack, nil, "nodes: at least one node is needed"},
		{"too many nodes", rack, make([]Node, MaxNodes+1), "nodes: at most 1000000 nodes are allowed, got 1000001"},
		{"no name", rack, with(func(n *Node) { n.Name = "" }), `node 1 (""): name: a node needs a name`},
		{"same name", rack, with(func(n *Node) { n.Name = "a" }), `node 1 ("a"): name: node 0 has the same name`},
		{"short path", rack, with(func(n *Node) { n.Path = nil }),
			`node 1 ("b"): path: expected a name for each of the 1 levels above the host, got 0`},
		{"long path", rack, with(func(n *Node) { n.Path = []string{"z", "r"} }),
			`node 1 ("b"): path: expected a name for each of the 1 levels above the host, got 2`},
		{"empty rack", rack, with(func(n *Node) { n.Path = []string{""} }), `node 1 ("b"): rack: the domain's name is empty`},
		{"negative GPUs", rack, with(func(n *Node) { n.Allocatable[GPU] = -1 }),
			`node 1 ("b"): nvidia.com/gpu: expected at least 0, got -1`},
		{"total overflows", rack, with(func(n *Node) { n.Allocatable[Memory] = math.MaxInt64 }),
			`node 1 ("b"): memory: the cluster's total is too large`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, err := Build(tt.levels, tt.nodes)
			if err == nil || err.Error() != tt.want || c != nil {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

// Callers find the place in their file by the node's index.
func TestNodeErrorIsAValue(t *testing.T) {
	_, err := Build([]string{"host"}, nodesAt("a", "b", "a"))
	var node *NodeError
	if !errors.As(err, &node) || node.Index != 2 || node.Name != "a" || node.Field != "name" {
		t.Errorf("got %#v", err)
	}
}

func TestCapacity(t *testing.T) {
	nodes := nodesAt("a", "b")
	nodes[1].Allocatable = Resources{GPU: 500, CPU: 1, Memory: 2, Pods: 3}
	got := mustBuild(t, []string{"host"}, nodes).Capacity()
	want := Resources{GPU: 8500, CPU: 8*16000 + 1, Memory: 8*128*GiB + 2, Pods: 113}
	if got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestDominantNodeGPUs(t *testing.T) {
	tests := []struct {
		name string
		gpus []int64 // milli-GPU of each node
		want int64
	}{
		{"no GPUs", []int64{0, 0}, 0},
		{"one size", []int64{8000, 8000}, 8},
		{"most GPUs, not most nodes", []int64{1000, 1000, 1000, 8000}, 8},
		{"many small ones hold more", []int64{2000, 2000, 2000, 2000, 2000, 8000}, 2},
		{"equal: the larger", []int64{4000, 8000, 4000}, 8},
		{"nodes without GPUs are ignored", []int64{0, 0, 4000}, 4},
		{"less than a whole GPU is none", []int64{500, 500, 500, 1000}, 1},
	}
	for _, tt := range tests {
		nodes := make([]Node, len(tt.gpus))
		for i, g := range tt.gpus {
			nodes[i] = Node{Name: fmt.Sprint("n", i), Allocatable: Resources{GPU: g}}
		}
		if got := mustBuild(t, []string{"host"}, nodes).DominantNodeGPUs(); got != tt.want {
			t.Errorf("%s: got %d, want %d", tt.name, got, tt.want)
		}
	}
}

func TestLevel(t *testing.T) {
	c := mustBuild(t, []string{"rack", "host"}, nodesAt("r/a"))
	for name, want := range map[string]int32{"rack": 0, "host": 1, "zone": -1} {
		if got := c.Level(name); got != want {
			t.Errorf("Level(%q) = %d, want %d", name, got, want)
		}
	}
}

// A cluster of 100,000 GPUs in 25 blocks.
func BenchmarkBuild(b *testing.B) {
	s := Synthetic{Levels: []string{"zone", "block", "rack", "host"}, Counts: []int{1, 25, 20, 25}, GPUs: 8}
	nodes, err := s.Nodes()
	if err != nil || len(nodes) != 12_500 {
		b.Fatal(len(nodes), err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Build(s.Levels, nodes); err != nil {
			b.Fatal(err)
		}
	}
}
