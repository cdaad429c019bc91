package stage

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gangplan/gangplan/topology"
)

// byResourceName lists the resources in the order that decides which one limits a leaf
// when several do.
var byResourceName = [...]topology.Resource{topology.CPU, topology.Memory, topology.GPU, topology.Pods}

// Limiting returns how many pods fit into room and which resource allows no more.
func Limiting(pod, room *topology.Resources) (int32, topology.Resource) {
	count, limit := int64(topology.NoLimit), topology.Pods
	for _, r := range byResourceName {
		if pod[r] > 0 {
			if n := room[r] / pod[r]; n < count {
				count, limit = n, r
			}
		}
	}
	return int32(count), limit
}

// Why is what a message needs beside the failure: the name of the topology, what is free
// on the nodes, what a pod asks for, which nodes its filter excludes, and which are down,
// which is as if they were not there.
type Why struct {
	Topology string
	Free     []topology.Resources
	Pod      *topology.Resources
	Filter   *Verdicts             // nil: no node is excluded
	Down     func(node int32) bool // nil: none is
}

// there reports whether a domain has a node that is up.
func (w *Why) there(d *topology.Domain) bool {
	for n := d.First; n < d.Last; n++ {
		if w.Down == nil || !w.Down(n) {
			return true
		}
	}
	return false
}

// Message puts the failure of the last Place into Kueue's words. It walks over all nodes;
// it is for people, not for the hot path.
func (s *Search) Message(w *Why) string {
	f := &s.Failure
	var b strings.Builder
	switch {
	case !w.there(&topology.Domain{Last: int32(len(s.cluster.Nodes))}):
		return "no topology domains at level: " + s.cluster.Levels[s.r.Level]
	case s.r.NLayers > 1:
		s.layersMessage(&b, w)
	case f.Fit == 0:
		fmt.Fprintf(&b, "topology %q doesn't allow to fit any of %d %s", w.Topology, f.Want, s.unit())
	default:
		fmt.Fprintf(&b, "topology %q allows to fit only %d out of %d %s", w.Topology, f.Fit, f.Want, s.unit())
	}
	if excluded := s.exclusions(w); excluded != "" {
		b.WriteString(excluded)
	}
	return b.String()
}

func (s *Search) unit() string {
	if s.size == 1 {
		return "pod(s)"
	}
	return "slice(s)"
}

// layersMessage tells, layer by layer, how many slices the best domain of the level
// where the search ended would hold.
func (s *Search) layersMessage(b *strings.Builder, w *Why) {
	fmt.Fprintf(b, "topology %q doesn't allow to fit", w.Topology)
	first, last := s.cluster.DomainsAt(s.Failure.Level)
	best := first
	for d := first + 1; d < last; d++ {
		if n, m := s.st[d].slices, s.st[best].slices; n > m || n == m && s.byName(d, best) < 0 {
			best = d
		}
	}
	for i := range s.r.NLayers {
		l := s.r.Layers[i]
		fmt.Fprintf(b, "; %d/%d slice(s) fit on level %s", s.slicesUnder(best, l), s.r.Count/l.Size, s.cluster.Levels[l.Level])
	}
}

// slicesUnder sums the slices of one layer that fit into a domain.
func (s *Search) slicesUnder(d int32, l Layer) int32 {
	dom := &s.cluster.Domains[d]
	last := s.cluster.DomainOf(dom.Last-1, l.Level)
	var n int32
	for c := s.cluster.DomainOf(dom.First, l.Level); c <= last; c++ {
		n += s.st[c].pods / l.Size
	}
	return n
}

// exclusions counts the leaves that hold no pod, by why.
func (s *Search) exclusions(w *Why) string {
	var e exclusions
	total := 0
	for d, last := s.cluster.DomainsAt(s.leaf); d < last; d++ {
		if w.there(&s.cluster.Domains[d]) {
			total++
			s.exclude(&e, w, d)
		}
	}
	if text := e.text(); text != "" {
		return fmt.Sprintf(". Total nodes: %d; excluded: %s", total, text)
	}
	return ""
}

// exclude counts one leaf if it holds no pod. Filters are on nodes, so they exclude
// leaves only where leaves are nodes.
func (s *Search) exclude(e *exclusions, w *Why, d int32) {
	dom := &s.cluster.Domains[d]
	if w.Filter != nil && s.leaf == s.cluster.HostLevel() {
		if v := w.Filter.of[dom.First]; v != Accepted {
			e.filtered(w.Filter, v)
			return
		}
	}
	if in := s.r.Within - 1; in >= 0 && (dom.First < s.cluster.Domains[in].First || dom.Last > s.cluster.Domains[in].Last) {
		e.outside++
		return
	}
	room, _ := roomOf(dom, w.Free, nil)
	if n, limit := Limiting(w.Pod, &room); n <= 0 {
		e.resources[limit]++
	}
}

// exclusions counts leaves by why they hold no pod.
type exclusions struct {
	selector, affinity, outside int
	taints                      []taintCount
	resources                   [topology.NumResources]int
}

type taintCount struct {
	taint string
	nodes int
}

func (e *exclusions) filtered(v *Verdicts, why Verdict) {
	switch why {
	case NotSelected:
		e.selector++
	case NotAffine:
		e.affinity++
	default:
		name := v.taints[why-Tainted]
		for i := range e.taints {
			if e.taints[i].taint == name {
				e.taints[i].nodes++
				return
			}
		}
		e.taints = append(e.taints, taintCount{name, 1})
	}
}

// text lists the reasons in the order of their words.
func (e *exclusions) text() string {
	var list []string
	add := func(what string, n int) {
		if n > 0 {
			list = append(list, fmt.Sprintf("%s: %d", what, n))
		}
	}
	add("nodeSelector", e.selector)
	add("affinity", e.affinity)
	add("topologyDomain", e.outside)
	for _, t := range e.taints {
		add(fmt.Sprintf("taint %q", t.taint), t.nodes)
	}
	for r, n := range e.resources {
		add(fmt.Sprintf("resource %q", topology.Resource(r)), n)
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}
