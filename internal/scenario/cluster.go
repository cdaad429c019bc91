package scenario

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gangplan/gangplan/internal/suggest"
	"github.com/gangplan/gangplan/topology"
)

// The names of levels that need no declaration, from the highest, and the levels of a
// synthetic cluster that names none.
var (
	usualLevels     = []string{"zone", "block", "rack", "host"}
	syntheticLevels = []string{"zone", "rack", "host"}
)

const hostLevel = "host"

// nodeList is a cluster before it is built.
type nodeList struct {
	levels []string
	nodes  []topology.Node
	blame  func(node int, field, msg string) // adds a mistake of a node
}

// resolveCluster builds the cluster, and the one before scaling. It reports whether there
// is one.
func (r *resolver) resolveCluster() bool {
	list, ok := r.nodeList()
	if !ok {
		return false
	}
	r.jobNodes = r.build(list)
	r.cluster = r.jobNodes
	if y := r.Scale.Cluster; r.cluster != nil && y != 0 && y != 1 {
		r.scaleCluster(list, y)
	}
	if r.cluster == nil {
		return false
	}
	const mostModels = 63
	if n := len(r.cluster.Models); n > mostModels {
		r.fail(at("cluster"), "%d GPU models: expected at most %d", n, mostModels)
	}
	r.out.Config.Cluster = r.cluster
	return true
}

func (r *resolver) scaleCluster(list nodeList, y float64) {
	var err error
	count := len(list.nodes)
	if list.nodes, err = topology.Multiply(list.nodes, y); err != nil {
		msg := err.Error()
		if e, ok := errors.AsType[*topology.FieldError](err); ok {
			msg = e.Problem
		}
		r.fail(at("scale", "cluster"), "%s", msg)
		return
	}
	blame := list.blame
	list.blame = func(node int, field, msg string) { blame(node%count, field, msg) }
	r.cluster = r.build(list)
}

// build makes the tree, nil if that is impossible.
func (r *resolver) build(list nodeList) *topology.Cluster {
	c, err := topology.Build(list.levels, list.nodes)
	if err == nil {
		c.Name = r.File.Cluster.Topology
		return c
	}
	if e, ok := errors.AsType[*topology.NodeError](err); ok {
		msg := e.Problem
		if e.Field == "name" && e.Name != "" {
			msg = quote(e.Name) + " is the name of another node too"
		}
		list.blame(e.Index, e.Field, msg)
	} else if e, ok := errors.AsType[*topology.FieldError](err); ok {
		r.fail(at("cluster", e.Field), "%s", e.Problem)
	} else {
		r.fail(at("cluster"), "%v", err)
	}
	return nil
}

func (r *resolver) nodeList() (nodeList, bool) {
	c := &r.File.Cluster
	kind, ok := r.oneOf(at("cluster"), []string{"synthetic", "nodes", "from"}, c.Synthetic != nil, c.Nodes != nil, c.From != nil)
	if !ok {
		return nodeList{}, false
	}
	before := len(r.errs.list)
	var list nodeList
	switch kind {
	case "synthetic":
		list = r.syntheticNodes(c.Synthetic)
	case "nodes":
		p := at("cluster", "nodes")
		list = r.listedNodes(c.Nodes, cmpOr(c.Levels, levelsOf(c.Nodes)), func(entry int, field, msg string) {
			r.fail(p.to(entry, field), "%s", msg)
		})
	case "from":
		list = r.nodesFrom(c.From)
	}
	return list, len(r.errs.list) == before
}

// cmpOr returns the first list that is not nil.
func cmpOr[T any](lists ...[]T) []T {
	i := slices.IndexFunc(lists, func(l []T) bool { return l != nil })
	return lists[max(i, 0)]
}

// plural returns the word by which a synthetic cluster counts the domains of a level.
func plural(level string) string {
	for _, end := range []string{"s", "x", "z", "ch", "sh"} {
		if strings.HasSuffix(level, end) {
			return level + "es"
		}
	}
	return level + "s"
}

func (r *resolver) syntheticNodes(given *Synthetic) nodeList {
	levels := cmpOr(r.File.Cluster.Levels, syntheticLevels)
	p := at("cluster", "synthetic")
	words := make([]string, len(levels))
	for i, l := range levels {
		words[i] = plural(l)
	}
	for _, name := range slices.Sorted(maps.Keys(given.Counts)) {
		if !slices.Contains(words, name) {
			known := append(slices.Clone(words), "gpus", "gpuModel", "cpu", "memory", "nvlinkHosts")
			r.fail(p.to(name), "unknown field: expected some of %s%s", strings.Join(known, ", "), suggest.Hint(name, known))
		}
	}
	s := topology.Synthetic{Levels: levels, GPUs: given.GPUs, GPUModel: given.GPUModel, CPU: int64(given.CPU), Memory: int64(given.Memory),
		NVLinkHosts: given.NVLinkHosts}
	for i, name := range words {
		n, ok := given.Counts[name]
		if i == len(words)-1 && !ok {
			r.fail(p.to(name), "missing: expected how many there are in each %s", aboveHost(levels))
		}
		s.Counts = append(s.Counts, cmp.Or(n, 1))
	}
	if given.CPU == 0 || given.Memory == 0 {
		r.assumeNodes()
	}
	nodes, err := s.Nodes()
	if e, ok := errors.AsType[*topology.FieldError](err); ok {
		r.fail(r.syntheticPath(levels, e.Field), "%s", e.Problem)
	}
	return nodeList{levels, nodes, func(_ int, field, msg string) { r.fail(p.to(field), "%s", msg) }}
}

// aboveHost names the domains that hosts are counted in.
func aboveHost(levels []string) string {
	if len(levels) < 2 {
		return "cluster"
	}
	return levels[len(levels)-2]
}

// syntheticPath leads to the field that package topology calls by another name.
func (r *resolver) syntheticPath(levels []string, field string) path {
	switch {
	case field == "levels":
		return at("cluster", "levels")
	case slices.Contains(levels, field):
		return at("cluster", "synthetic", plural(field))
	}
	return at("cluster", "synthetic", field)
}

func (r *resolver) assumeNodes() {
	r.assume("nodes without CPU or memory: %d CPU and %d GiB per GPU",
		topology.DefaultCPUPerGPU/topology.Milli, topology.DefaultMemoryPerGPU/topology.GiB)
}

// levelsOf tells the levels of nodes from what they say: the usual levels that any of
// them names, or as many as the longest path needs.
func levelsOf(nodes []Node) []string {
	named := map[string]bool{hostLevel: true}
	deepest := 0
	for i := range nodes {
		for level := range nodes[i].Domains {
			named[level] = true
		}
		deepest = max(deepest, len(nodes[i].Path))
	}
	switch deepest {
	case 0:
	case 1:
		return []string{"rack", hostLevel}
	case 2:
		return syntheticLevels
	default:
		return usualLevels
	}
	return slices.DeleteFunc(slices.Clone(usualLevels), func(l string) bool { return !named[l] })
}

// listedNodes makes the nodes of a list of entries; blame adds a mistake of an entry.
func (r *resolver) listedNodes(entries []Node, levels []string, blame func(entry int, field, msg string)) nodeList {
	list := nodeList{levels: levels}
	var entryOf []int
	list.blame = func(node int, field, msg string) { blame(entryOf[node], field, msg) }
	if i := overfull(entries); i >= 0 {
		blame(i, "count", fmt.Sprintf("the cluster would have more than %d nodes", topology.MaxNodes))
		return list
	}
	for i := range entries {
		n := &entries[i]
		node, field, problem := nodeOf(n, levels)
		if problem != "" {
			blame(i, field, problem)
			continue
		}
		if n.CPU == 0 || n.Memory == 0 {
			r.assumeNodes()
		}
		for k := range max(1, n.Count) {
			node.Name = numbered(n.Name, k, n.Count)
			list.nodes, entryOf = append(list.nodes, node), append(entryOf, i)
		}
	}
	return list
}

// overfull returns the first entry that makes the cluster too large, or -1.
func overfull(entries []Node) int {
	room := topology.MaxNodes
	for i := range entries {
		if room -= max(1, entries[i].Count); room < 0 {
			return i
		}
	}
	return -1
}

// numbered returns the name of the k-th of count things, padded so that the order of
// names is that of numbers. Count 0 is a single thing without a number.
func numbered(name string, k, count int) string {
	if count == 0 {
		return name
	}
	return fmt.Sprintf("%s-%0*d", name, len(fmt.Sprint(count-1)), k)
}

// nodeOf makes a node of an entry. An empty problem means that there is none.
func nodeOf(n *Node, levels []string) (node topology.Node, field, problem string) {
	if n.GPUs < 0 || n.GPUs > topology.MaxGPUsPerHost {
		return node, "gpus", fmt.Sprintf("%d: expected 0 to %d", n.GPUs, topology.MaxGPUsPerHost)
	}
	node = topology.Node{GPUModel: n.GPUModel, Labels: n.Labels, Allocatable: topology.DefaultAllocatable(int64(n.GPUs))}
	if n.NVLinkDomain != "" {
		node.Labels = maps.Clone(n.Labels)
		if node.Labels == nil {
			node.Labels = map[string]string{}
		}
		node.Labels[topology.NVLinkDomainLabel] = n.NVLinkDomain
	}
	given := topology.Resources{topology.CPU: int64(n.CPU), topology.Memory: int64(n.Memory), topology.Pods: n.Pods}
	for resource := range given {
		node.Allocatable[resource] = cmp.Or(given[resource], node.Allocatable[resource])
	}
	if node.Taints, problem = taintsOf(n.Taints); problem != "" {
		return node, "taints", problem
	}
	node.Path, field, problem = pathOf(n, levels)
	return node, field, problem
}

// pathOf returns the names of a node's domains above the host.
func pathOf(n *Node, levels []string) (names []string, field, problem string) {
	above := levels[:max(0, len(levels)-1)]
	for _, level := range slices.Sorted(maps.Keys(n.Domains)) {
		if !slices.Contains(above, level) {
			known := append(slices.Clone(above), "name", "count", "gpus", "gpuModel", "cpu", "memory", "pods", "path", "labels", "taints", "nvlinkDomain")
			return nil, level, "unknown field, and not among the levels, " + strings.Join(levels, ", ") + ", which cluster.levels can change" + suggest.Hint(level, known)
		}
	}
	switch {
	case n.Path != nil && n.Domains != nil:
		return nil, "path", "expected either the path or the names of the levels, not both"
	case n.Path != nil && len(n.Path) != len(above):
		return nil, "path", fmt.Sprintf("%d names: expected one for each of %s", len(n.Path), strings.Join(above, ", "))
	case n.Path != nil:
		return n.Path, "", ""
	}
	names = make([]string, 0, len(above))
	for _, level := range above {
		if n.Domains[level] == "" {
			return nil, level, "missing: expected the name of the node's " + level
		}
		names = append(names, n.Domains[level])
	}
	return names, "", ""
}

// nodeIndex returns the positions of nodes by name.
func nodeIndex(c *topology.Cluster) map[string]int32 {
	index := make(map[string]int32, len(c.Nodes))
	for i := range c.Nodes {
		index[c.Nodes[i].Name] = int32(i)
	}
	return index
}

// noNode says that a cluster has no such node. A suggestion is not worth its time in a
// cluster that is very large.
func noNode(name string, c *topology.Cluster) string {
	var known []string
	for i := range c.Nodes[:min(len(c.Nodes), 10_000)] {
		known = append(known, c.Nodes[i].Name)
	}
	return quote(name) + ": expected the name of a node" + suggest.Hint(name, known)
}
