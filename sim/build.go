package sim

import (
	"fmt"
	"slices"

	"github.com/gangplan/gangplan/sim/capacity"
	"github.com/gangplan/gangplan/sim/ledger"
	"github.com/gangplan/gangplan/sim/order"
	"github.com/gangplan/gangplan/sim/quota"
	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/workloads"
)

func newWorld(cfg *Config, blind bool) (*world, error) {
	if len(cfg.Jobs) > 0 && len(cfg.Queues) == 0 {
		return nil, fmt.Errorf("there are jobs but no queue")
	}
	for j := 1; j < len(cfg.Jobs); j++ {
		if cfg.Jobs[j].Submit < cfg.Jobs[j-1].Submit {
			return nil, fmt.Errorf("job %q is submitted before the one it follows: jobs must be sorted by submission", cfg.Jobs[j].ID)
		}
	}
	w := &world{cfg: cfg, quota: quota.NewTree(cfg.Queues, cfg.Cohorts), shapes: map[shapeKey]capacity.Shape{},
		barredBy: map[string]int32{}, barred: [][]bool{nil}, believed: [][]bool{nil}, blind: blind}
	w.buildNodes()
	if err := w.buildFlavors(); err != nil {
		return nil, err
	}
	if err := w.buildJobs(); err != nil {
		return nil, err
	}
	w.waitArena = order.NewArena(len(w.jobs))
	w.queued, w.unbound = order.NewList(w.waitArena), order.NewList(w.waitArena)
	w.unalloc = cfg.Cluster.GPUsByModel()
	w.reserved = make([]int64, len(w.unalloc))
	w.books = ledger.New(w.unalloc)
	return w, nil
}

func (w *world) buildNodes() {
	c := w.cfg.Cluster
	n := len(c.Nodes)
	w.unasked = make([][2]int32, n)
	w.nodes = nodes{down: make([]bool, n), cordoned: make([]bool, n), cordonGen: make([]uint32, n), releasing: make([]topology.Resources, n), nominated: make([]topology.Resources, n),
		pipelined: make([][]placed, n), images: make([][]int32, n)}
	for p := range w.nodes.planes {
		pl := &w.nodes.planes[p]
		pl.used, pl.free = make([]topology.Resources, n), make([]topology.Resources, n)
		for i := range c.Nodes {
			pl.free[i] = c.Nodes[i].Allocatable
		}
		pl.index = capacity.New(c, pl.free)
	}
}

func (w *world) buildJobs() error {
	queues, err := w.queueNames()
	if err != nil {
		return err
	}
	w.jobs = make([]job, len(w.cfg.Jobs))
	var pods, sets int32
	for i := range w.cfg.Jobs {
		pods += w.cfg.Jobs[i].Pods()
		sets += int32(len(w.cfg.Jobs[i].PodSets))
	}
	images := map[string]int32{}
	w.imageOf = make([]int32, len(w.jobs))
	w.pods, w.sets = make([]pod, 0, pods), make([]set, 0, sets)
	nodeIndex := w.nodeNames()
	for i := range w.cfg.Jobs {
		spec := &w.cfg.Jobs[i]
		at, ok := queues[spec.Queue]
		if !ok && spec.Queue != "" {
			return fmt.Errorf("job %q: queue %q does not exist", spec.ID, spec.Queue)
		}
		if _, ok := images[spec.Image]; !ok {
			images[spec.Image] = int32(len(images))
		}
		w.imageOf[i] = images[spec.Image]
		w.jobs[i] = job{queue: at.queue, local: at.local, podBase: int32(len(w.pods)), setBase: int32(len(w.sets)), sets: int32(len(spec.PodSets)),
			firstAdmit: -1, firstStart: -1, finishedAt: -1, admittedAt: -1, limitAt: Never, evictedAt: [3]int64{-1, -1, -1}}
		if err := w.buildSets(int32(i), nodeIndex); err != nil {
			return err
		}
		w.jobs[i].slots = int32(len(w.pods)) - w.jobs[i].podBase
		w.jobs[i].pods = w.jobs[i].slots
	}
	w.nodes.having = make([]holders, len(images))
	return nil
}

// queueName is what the name of a queue stands for: a ClusterQueue, or a LocalQueue of one.
type queueName struct{ queue, local int32 }

// queueNames indexes the queues by name. The first ClusterQueue is that of jobs that name
// none.
func (w *world) queueNames() (map[string]queueName, error) {
	names := map[string]queueName{}
	for i := range w.cfg.Queues {
		names[w.cfg.Queues[i].Name] = queueName{int32(i), -1}
	}
	for i := range w.cfg.Locals {
		l := &w.cfg.Locals[i]
		at, ok := names[l.ClusterQueue]
		if _, twice := names[l.Name]; twice || !ok || at.local >= 0 {
			return nil, fmt.Errorf("local queue %q: its name is taken, or there is no queue %q", l.Name, l.ClusterQueue)
		}
		names[l.Name] = queueName{at.queue, int32(i)}
	}
	if _, ok := names[""]; !ok {
		names[""] = queueName{0, -1}
	}
	return names, nil
}

// nodeNames indexes the nodes by name if any job is pinned to one.
func (w *world) nodeNames() map[string]int32 {
	names := map[string]int32{}
	for i := range w.cfg.Cluster.Nodes {
		names[w.cfg.Cluster.Nodes[i].Name] = int32(i)
	}
	return names
}

func (w *world) buildSets(j int32, nodeIndex map[string]int32) error {
	spec := &w.cfg.Jobs[j]
	for k := range spec.PodSets {
		ps := &spec.PodSets[k]
		s := set{job: j, first: int32(len(w.pods)) - w.jobs[j].podBase, full: ps.Count, count: ps.Count, min: ps.MinCount,
			request: ps.Request, neverReady: ps.NeverReady, pinned: -1}
		if s.min == 0 {
			s.min = s.count
		}
		s.request[topology.Pods] = 1
		if ps.Node != "" {
			n, ok := nodeIndex[ps.Node]
			if !ok {
				return fmt.Errorf("job %q: node %q does not exist", spec.ID, ps.Node)
			}
			s.pinned = n
		}
		var err error
		if s.models, err = w.modelMask(spec.ID, ps.Models); err != nil {
			return err
		}
		s.maskSlot = w.slotOf(s.models)
		s.filter = w.filterOf(ps, 0)
		s.shape = w.shapeOf(s.request, s.models, s.filter)
		w.flavorSet(&s, ps, w.jobs[j].queue)
		for r := int32(0); r < s.count; r++ {
			w.pods = append(w.pods, pod{job: j, set: int32(len(w.sets)), node: -1, pin: s.pinned, within: -1, nominated: -1})
		}
		if s.min == 0 {
			w.jobs[j].setsReady++ // an empty PodSet keeps nobody waiting
		}
		w.jobs[j].request = w.jobs[j].request.Plus(s.request.Times(int64(s.count)))
		w.sets = append(w.sets, s)
	}
	return nil
}

// modelMask turns GPU model names into a bit set; a model the cluster does not have is
// kept as an impossible bit, so that the job never fits instead of fitting anywhere.
func (w *world) modelMask(id string, models []string) (uint64, error) {
	var mask uint64
	if len(w.cfg.Cluster.Models) > 63 {
		return 0, fmt.Errorf("the cluster has %d GPU models, at most 63 are supported", len(w.cfg.Cluster.Models))
	}
	for _, name := range models {
		bit := uint64(1) << 63
		for i, m := range w.cfg.Cluster.Models {
			if m == name {
				bit = 1 << i
			}
		}
		mask |= bit
	}
	return mask, nil
}

func (w *world) slotOf(mask uint64) int32 {
	for i, m := range w.maskOf {
		if m == mask {
			return int32(i)
		}
	}
	w.maskOf = append(w.maskOf, mask)
	w.waiting = append(w.waiting, 0)
	w.podless.wants = append(w.podless.wants, 0)
	return int32(len(w.maskOf) - 1)
}

// shapeOf registers a pod shape with the index of every plane; the planes number shapes
// alike.
func (w *world) shapeOf(request topology.Resources, models uint64, filter int32) capacity.Shape {
	key := shapeKey{request, models, filter}
	if s, ok := w.shapes[key]; ok {
		return s
	}
	var s capacity.Shape
	for p := range w.nodes.planes {
		barred := w.barred[filter]
		if w.blind && (Plane(p) == Assigned || Plane(p) == Vacant) {
			barred = w.believed[filter]
		}
		s = w.nodes.planes[p].index.RegisterBarred(request, models, barred)
	}
	w.shapes[key] = s
	return s
}

// asksOf writes down what a PodSet asks of nodes beside room.
func (w *world) asksOf(ps *workloads.PodSet) string {
	text := ""
	if ps.NodeSelector != nil || ps.Tolerations != nil || ps.NodeAffinity.Required != nil {
		text = fmt.Sprintf("%#v %#v %#v", ps.NodeSelector, ps.Tolerations, ps.NodeAffinity.Required)
	}
	if ps.Request[topology.GPU] > 0 {
		text += " gpu"
	}
	return text
}

// filterOf numbers what a PodSet asks of nodes beside room, alone or with flavors, and works
// out once which nodes that bars: the wrong labels, or a taint it does not tolerate.
func (w *world) filterOf(ps *workloads.PodSet, choice uint64) int32 {
	text := w.asksOf(ps)
	if choice != 0 {
		text += fmt.Sprintf(" %x", choice)
	}
	if f, ok := w.barredBy[text]; ok {
		return f
	}
	flavors := w.flavorsOf(choice)
	tolerations := ps.Tolerated()
	for _, f := range flavors {
		tolerations = append(slices.Clip(tolerations), f.Tolerations...)
	}
	nodes := w.cfg.Cluster.Nodes
	barred, believed, some := make([]bool, len(nodes)), make([]bool, len(nodes)), false
	for i := range nodes {
		n := &nodes[i]
		believed[i] = !topology.MatchAll(ps.NodeSelector, n.Labels) || topology.Untolerated(n.Taints, tolerations) != nil || !allHave(flavors, n)
		barred[i] = believed[i] || !ps.NodeAffinity.Allows(n.Labels)
		some = some || barred[i]
	}
	f := int32(0)
	if some {
		f = int32(len(w.barred))
		w.barred, w.believed = append(w.barred, barred), append(w.believed, believed)
	}
	w.barredBy[text] = f
	return f
}

func allHave(flavors []*topology.Flavor, n *topology.Node) bool {
	return !slices.ContainsFunc(flavors, func(f *topology.Flavor) bool { return !f.Has(n) })
}
