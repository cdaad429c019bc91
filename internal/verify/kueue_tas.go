package verify

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gangplan/gangplan/policies/stage"
	"github.com/gangplan/gangplan/testdata"
	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/workloads"
)

var kueueTAS = Suite{
	Name: "kueue-tas",
	Doc:  "topology assignments of Kueue 0.17.0: fit or not, the failing PodSet, pods per leaf, the text",
	Run:  runKueueTAS,
}

// tasCase is one line of the table: a cluster and the PodSets of one workload. Where the
// only PodSet is assigned already, a node is replaced: the first of those that are down.
type tasCase struct {
	tasCluster
	Requests []tasRequest `json:"requests"`
	Assigned []tasDomain  `json:"assigned"`
	Expected tasAnswer    `json:"expected"`
}

// tasCluster is the part of a case that describes the cluster.
type tasCluster struct {
	ID      string    `json:"id"`
	Kueue   string    `json:"kueue"` // the version that answered
	Gates   string    `json:"gates"`
	Levels  []string  `json:"levels"`
	PodsCap int64     `json:"pods_cap"`
	Nodes   []tasNode `json:"nodes"`
	Down    []string  `json:"down"`
}

type tasNode struct {
	Name          string   `json:"name"`
	Path          []string `json:"path"`
	GPU           int64    `json:"gpu"`
	CPU           int64    `json:"cpu"`
	Used          int64    `json:"used"`
	UsedPods      int64    `json:"used_pods"`
	Unschedulable bool     `json:"unschedulable"`

	Labels map[string]string `json:"labels"`
	Taints []topology.Taint  `json:"taints"`
}

// tasRequest is a PodSet. Layers is for tables that have more than one.
type tasRequest struct {
	Name       string     `json:"name"`
	Count      int32      `json:"count"`
	GPU        int64      `json:"gpu"`
	CPU        int64      `json:"cpu"`
	Mode       string     `json:"mode"`
	Level      string     `json:"level"`
	SliceLevel string     `json:"slice_level"`
	SliceSize  int32      `json:"slice_size"`
	Layers     []tasLayer `json:"layers"`
	Group      string     `json:"group"`

	Selector    map[string]string     `json:"selector"`
	Affinity    [][]tasExpression     `json:"affinity"`
	Tolerations []topology.Toleration `json:"tolerations"`
}

type tasExpression struct {
	Key      string   `json:"key"`
	Operator string   `json:"operator"`
	Values   []string `json:"values"`
}

type tasLayer struct {
	Level string `json:"level"`
	Size  int32  `json:"size"`
}

// tasAnswer is what Kueue said, and what gangplan says.
type tasAnswer struct {
	Fits    bool        `json:"fits"`
	PodSets []tasPodSet `json:"podsets,omitempty"`
	Fail    string      `json:"fail_podset,omitempty"`
	Reason  string      `json:"reason,omitempty"`
}

type tasPodSet struct {
	Name    string      `json:"name"`
	Levels  []string    `json:"levels"`
	Domains []tasDomain `json:"domains"`
}

type tasDomain struct {
	Values []string `json:"values"`
	Count  int32    `json:"count"`
}

func runKueueTAS(o Options) ([]Outcome, error) {
	var out []Outcome
	err := eachLine(o.Cases, testdata.KueueTAS, func(line []byte) error {
		var c tasCase
		if err := readCase(line, &c); err != nil {
			return err
		}
		w, err := newTASWorld(&c.tasCluster)
		if err != nil {
			return err
		}
		answer := w.place
		if c.Assigned != nil {
			answer = func(requests []tasRequest) (*tasAnswer, error) { return w.repair(requests, c.Assigned, c.Down[0]) }
		}
		got, err := answer(c.Requests)
		if err != nil {
			return err
		}
		out = append(out, compareTAS(c.ID, &c.Expected, got))
		return nil
	})
	return out, err
}

// compareTAS compares everything that a user of Kueue sees.
func compareTAS(id string, want, got *tasAnswer) Outcome {
	o := Outcome{ID: id, Verdict: Equal}
	a, _ := json.Marshal(want)
	b, _ := json.Marshal(got)
	if string(a) != string(b) {
		o.Verdict, o.Want, o.Got = Outside, want, got
		o.Reason = fmt.Sprintf("want %s, got %s", a, b)
	}
	return o
}

// preset is the version of a case, 0.17 unless it says 0.19, with its gates: "default", or a
// list of those that are not as by default.
func (c *tasCluster) preset() stage.Preset {
	p := stage.Kueue017
	if strings.HasPrefix(c.Kueue, "v0.19.") {
		p = stage.Kueue019
	}
	p.MultiLayer = p.MultiLayer || strings.Contains(c.Gates, "TASMultiLayerTopology=true")
	p.Balanced = strings.Contains(c.Gates, "TASBalancedPlacement=true")
	p.Mixed = !strings.Contains(c.Gates, "TASProfileMixed=false")
	return p
}

// hostLabel is the lowest level of topologies that go down to the node.
const hostLabel = "kubernetes.io/hostname"

// tasWorld is the cluster of a case, with what is free on it.
type tasWorld struct {
	cluster *topology.Cluster
	leaf    int32
	free    []topology.Resources
	down    []bool
	search  *stage.Search
	preset  stage.Preset
	leaves  stage.Leaves
}

func newTASWorld(c *tasCluster) (*tasWorld, error) {
	levels, hosts := c.Levels, c.Levels[len(c.Levels)-1] == hostLabel
	if !hosts {
		levels = append(slices.Clone(levels), hostLabel)
	}
	var nodes []topology.Node
	for _, n := range c.Nodes {
		if n.Unschedulable {
			continue
		}
		path := n.Path
		if hosts {
			path = path[:len(path)-1]
		}
		nodes = append(nodes, topology.Node{Name: n.Name, Path: path, Labels: n.Labels, Taints: n.Taints,
			Allocatable: topology.Resources{topology.GPU: n.GPU * topology.Milli, topology.CPU: n.CPU * topology.Milli, topology.Pods: c.PodsCap}})
	}
	cluster, err := topology.Build(levels, nodes)
	if err != nil {
		return nil, err
	}
	w := &tasWorld{cluster: cluster, leaf: int32(len(c.Levels) - 1), free: make([]topology.Resources, len(nodes)), down: make([]bool, len(nodes))}
	for i := range cluster.Nodes {
		if w.down[i] = slices.Contains(c.Down, cluster.Nodes[i].Name); !w.down[i] {
			w.free[i] = cluster.Nodes[i].Allocatable
		}
	}
	w.search, w.preset = stage.NewSearch(cluster, w.leaf), c.preset()
	w.takeUsed(c.Nodes)
	return w, nil
}

// takeUsed takes what admitted workloads use. It is booked on leaves, not on nodes: where
// leaves are above the host, what was used of a node that left still counts against the
// leaf, as long as the leaf has another node.
func (w *tasWorld) takeUsed(nodes []tasNode) {
	for _, n := range nodes {
		if leaf := w.leafOf(n.Path); leaf >= 0 {
			w.take(leaf, topology.Resources{topology.GPU: n.Used * topology.Milli, topology.Pods: n.UsedPods})
		}
	}
}

// take takes pods of a leaf, from its first node: where leaves are above the host only
// their sums count.
func (w *tasWorld) take(leaf int32, r topology.Resources) {
	node := w.cluster.Domains[w.cluster.LevelStart[w.leaf]+leaf].First
	w.free[node] = w.free[node].Minus(r)
}

// place answers for the PodSets of one workload: group by group in the order of their
// first PodSets, each seeing the GPUs the ones before took. The cluster is left as it was.
func (w *tasWorld) place(requests []tasRequest) (*tasAnswer, error) {
	before := slices.Clone(w.free)
	defer func() { w.free = before }()
	answer := &tasAnswer{Fits: true}
	placed := map[string]tasPodSet{}
	for _, g := range groupsOf(requests) {
		reason, err := w.placeGroup(g, placed)
		if err != nil {
			return nil, err
		}
		if reason != "" {
			return &tasAnswer{Fail: g[0].Name, Reason: reason}, nil
		}
	}
	for _, r := range requests {
		answer.PodSets = append(answer.PodSets, placed[r.Name])
	}
	return answer, nil
}

// groupsOf puts the PodSets that are placed together into one list.
func groupsOf(requests []tasRequest) [][]tasRequest {
	var groups [][]tasRequest
	at := map[string]int{}
	for i, r := range requests {
		key := r.Group
		if key == "" {
			key = strconv.Itoa(i)
		}
		if _, known := at[key]; !known {
			at[key] = len(groups)
			groups = append(groups, nil)
		}
		groups[at[key]] = append(groups[at[key]], r)
	}
	return groups
}

// placeGroup places one PodSet, or a leader and its workers, and returns why not.
func (w *tasWorld) placeGroup(g []tasRequest, placed map[string]tasPodSet) (reason string, err error) {
	workers, leader := &g[0], (*tasRequest)(nil)
	if len(g) > 1 {
		leader = &g[1]
		if leader.Count > workers.Count {
			workers, leader = leader, workers
		}
	}
	spec, err := workers.topology()
	if err != nil {
		return "", err
	}
	r, bad := stage.Resolve(&spec, workers.Count, w.cluster, w.leaf, &w.preset)
	if bad != nil {
		return bad.Error(), nil
	}
	pod := podOf(workers)
	var lead *topology.Resources
	if leader != nil {
		p := podOf(leader)
		r.Leader, lead = true, &p
	}
	filter, err := w.filterOf(workers)
	if err != nil {
		return "", err
	}
	if reason := w.search1(&r, &pod, lead, filter); reason != "" {
		return reason, nil
	}
	w.answer(placed, workers, leader)
	return "", nil
}

// search1 makes one search and returns why it found nothing.
func (w *tasWorld) search1(r *stage.Request, pod, lead *topology.Resources, filter *stage.Verdicts) string {
	skip := filter.Skip
	if w.leaf < w.cluster.HostLevel() {
		skip = nil
	}
	w.leaves.Fill(w.cluster, w.leaf, w.free, pod, lead, skip)
	if !w.search.Place(r, &w.leaves) && !w.search.Failure.Contradiction {
		return w.search.Message(&stage.Why{Topology: "default", Free: w.free, Pod: pod, Filter: filter, Down: func(n int32) bool { return w.down[n] }})
	}
	return ""
}

// assume takes pods of a leaf for the PodSets that follow.
func (w *tasWorld) assume(leaf int32, r *tasRequest, count int32) {
	pod := podOf(r)
	if !w.preset.SetsTakePods {
		pod[topology.Pods] = 0
	}
	w.take(leaf, pod.Times(int64(count)))
}

// answer writes the search's answer down and takes its places.
func (w *tasWorld) answer(placed map[string]tasPodSet, workers, leader *tasRequest) {
	pods := tasPodSet{Name: workers.Name, Levels: w.shownLevels(), Domains: []tasDomain{}}
	for _, s := range w.search.Slots {
		pods.Domains = append(pods.Domains, tasDomain{w.values(s.Leaf), s.Count})
		w.assume(s.Leaf, workers, s.Count)
	}
	placed[workers.Name] = pods
	if leader == nil {
		return
	}
	lead := tasPodSet{Name: leader.Name, Levels: w.shownLevels(), Domains: []tasDomain{}}
	if l := w.search.Leader; l >= 0 {
		lead.Domains = append(lead.Domains, tasDomain{w.values(l), 1})
		w.assume(l, leader, 1)
	}
	placed[leader.Name] = lead
}

// shownLevels are the levels an assignment names: the host alone where leaves are hosts.
func (w *tasWorld) shownLevels() []string {
	if w.leaf == w.cluster.HostLevel() {
		return w.cluster.Levels[w.leaf:]
	}
	return w.cluster.Levels[:w.leaf+1]
}

func (w *tasWorld) values(leaf int32) []string {
	d := w.cluster.LevelStart[w.leaf] + leaf
	var values []string
	for ; d >= 0; d = w.cluster.Domains[d].Parent {
		values = append(values, w.cluster.Domains[d].Name)
		if w.leaf == w.cluster.HostLevel() {
			break
		}
	}
	slices.Reverse(values)
	return values
}

// leafOf finds a leaf by its path, or by the host's name alone; -1 if it is not there.
func (w *tasWorld) leafOf(values []string) int32 {
	base := w.cluster.LevelStart[w.leaf]
	if w.leaf == w.cluster.HostLevel() {
		values = values[len(values)-1:]
	}
	for d := base; d < w.cluster.LevelStart[w.leaf+1]; d++ {
		if slices.Equal(w.values(d-base), values) {
			return d - base
		}
	}
	return -1
}

func podOf(r *tasRequest) topology.Resources {
	return topology.Resources{topology.GPU: r.GPU * topology.Milli, topology.CPU: r.CPU * topology.Milli, topology.Pods: 1}
}

var tasModes = map[string]workloads.TopologyMode{
	"required":      workloads.TopologyRequired,
	"preferred":     workloads.TopologyPreferred,
	"unconstrained": workloads.TopologyUnconstrained,
	"implied":       workloads.TopologyUnconstrained,
	"slice-only":    workloads.TopologySliceOnly,
}

func (r *tasRequest) topology() (workloads.TopologyRequest, error) {
	mode, ok := tasModes[r.Mode]
	if !ok {
		return workloads.TopologyRequest{}, fmt.Errorf("podset %s: mode %q is not known", r.Name, r.Mode)
	}
	t := workloads.TopologyRequest{Mode: mode, Level: r.Level}
	if r.SliceLevel != "" {
		t.Slices[0] = workloads.Slice{Level: r.SliceLevel, Size: r.SliceSize}
	}
	if len(r.Layers) > workloads.MaxSliceLayers {
		return t, fmt.Errorf("podset %s: %d layers of slices, expected at most %d", r.Name, len(r.Layers), workloads.MaxSliceLayers)
	}
	for i, l := range r.Layers {
		t.Slices[i] = workloads.Slice{Level: l.Level, Size: l.Size}
	}
	return t, nil
}
