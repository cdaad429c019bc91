package topology

// Taint keeps pods without a matching toleration off a node.
type Taint struct {
	Key, Value, Effect string
}

// Node is one machine. Path holds its domain's name at every level above the host,
// highest level first; Name is the name of its host domain.
type Node struct {
	Name        string
	Path        []string
	GPUModel    string // what Build reads; empty is UnnamedModel, ignored without GPUs
	Model       int32  // index into Cluster.Models; -1 for a node without GPUs. Build fills it
	Allocatable Resources
	Labels      map[string]string
	Taints      []Taint
}

// Domain is one place of the topology tree: a zone, a rack, a host. It covers the
// nodes [First, Last) and its children are the domains [FirstChild, LastChild).
// A host covers one node and has no children.
type Domain struct {
	Name                  string
	Level                 int32
	Parent                int32 // -1 at the highest level
	First, Last           int32
	FirstChild, LastChild int32
	NameRank              int32 // position among the level's domains ordered by path as strings
}

// Cluster is an immutable tree of domains over a list of nodes. Levels are named from
// the highest to the lowest; the lowest is the host, and host domain i belongs to node i.
// Every domain is a contiguous interval of nodes: the domains of level l are
// Domains[LevelStart[l]:LevelStart[l+1]].
type Cluster struct {
	Name       string // of the topology, for messages
	Levels     []string
	Nodes      []Node
	Models     []string // GPU models, in the order of their first node
	Domains    []Domain
	LevelStart []int32
	ancestors  []int32 // node * len(Levels) + level -> domain
}

// DomainOf returns the domain of a node at a level.
func (c *Cluster) DomainOf(node, level int32) int32 {
	return c.ancestors[int(node)*len(c.Levels)+int(level)]
}

// HostLevel is the index of the lowest level.
func (c *Cluster) HostLevel() int32 { return int32(len(c.Levels) - 1) }

// HostDomain returns the host domain of a node.
func (c *Cluster) HostDomain(node int32) int32 {
	return c.LevelStart[len(c.Levels)-1] + node
}

// Level returns the index of a named level, or -1.
func (c *Cluster) Level(name string) int32 {
	for i, l := range c.Levels {
		if l == name {
			return int32(i)
		}
	}
	return -1
}

// DomainsAt returns the ids [first, last) of a level's domains.
func (c *Cluster) DomainsAt(level int32) (first, last int32) {
	return c.LevelStart[level], c.LevelStart[level+1]
}
