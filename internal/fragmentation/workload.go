package fragmentation

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"

	"github.com/gangplan/gangplan/policies/stage"
	"github.com/gangplan/gangplan/sim/devices"
	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/traces"
)

// Workload is a cluster and the kinds of pods that arrive at it, as the trace has them.
type Workload struct {
	nodes    []node
	names    []string // of the nodes, sorted
	pods     []int32  // kind of each pod, in the order of names
	kinds    []kind
	measure  *stage.Fragments
	capacity int64 // milli-GPU of all nodes
	largest  stage.Largest
}

type node struct {
	stage.Site
	memory int64
}

type kind struct {
	stage.Guest
	memory int64
	spec   string
	typ    int32 // kinds that differ in memory only are of one type
}

// NewWorkload prepares a study of pods on nodes. It refuses what the study cannot express.
func NewWorkload(nodes []topology.Node, pods []traces.OpenbPod) (*Workload, error) {
	w := &Workload{}
	models, err := w.addNodes(nodes)
	if err != nil {
		return nil, err
	}
	if err := w.addPods(pods, models); err != nil {
		return nil, err
	}
	w.measure = stage.NewFragments(w.types())
	return w, nil
}

func compareNodes(a, b topology.Node) int  { return strings.Compare(a.Name, b.Name) }
func comparePods(a, b traces.OpenbPod) int { return strings.Compare(a.Name, b.Name) }

// addNodes adds the nodes in the order of their names and numbers the models.
func (w *Workload) addNodes(nodes []topology.Node) (models []string, err error) {
	nodes = slices.Clone(nodes)
	slices.SortStableFunc(nodes, compareNodes)
	for i := range nodes {
		n := &nodes[i]
		gpus := n.Allocatable[topology.GPU] / topology.Milli
		if gpus > devices.Max {
			return nil, fmt.Errorf("node %q has %d GPUs: at most %d are supported", n.Name, gpus, devices.Max)
		}
		model := slices.Index(models, n.GPUModel)
		if model < 0 {
			model = len(models)
			models = append(models, n.GPUModel)
		}
		w.names = append(w.names, n.Name)
		w.largest.CPU = max(w.largest.CPU, n.Allocatable[topology.CPU])
		w.largest.GPU = max(w.largest.GPU, gpus*topology.Milli)
		w.capacity += gpus * topology.Milli
		w.nodes = append(w.nodes, node{memory: n.Allocatable[topology.Memory], Site: stage.Site{
			CPU: n.Allocatable[topology.CPU], Model: int32(model), GPUs: devices.NewSet(int(gpus))}})
	}
	if len(models) > 63 {
		return nil, fmt.Errorf("the nodes have %d GPU models: at most 63 are supported", len(models))
	}
	if w.capacity == 0 {
		return nil, fmt.Errorf("the nodes have no GPUs")
	}
	return models, nil
}

// addPods adds the pods in the order of their names and numbers their kinds.
func (w *Workload) addPods(pods []traces.OpenbPod, models []string) error {
	pods = slices.Clone(pods)
	slices.SortStableFunc(pods, comparePods)
	type typeKey struct {
		cpu         int64
		gpus, milli int32
		spec        string
	}
	type kindKey struct {
		typeKey
		memory int64
	}
	types, kinds := map[typeKey]int32{}, map[kindKey]int32{}
	for i := range pods {
		p := &pods[i]
		spec := strings.Join(slices.DeleteFunc(strings.Split(p.Spec, "|"), func(s string) bool { return s == "" }), "|")
		t := typeKey{p.CPU, p.GPUs, p.Milli, spec}
		if _, ok := types[t]; !ok {
			types[t] = int32(len(types))
		}
		k := kindKey{t, p.Memory}
		at, ok := kinds[k]
		if !ok {
			at = int32(len(w.kinds))
			kinds[k] = at
			w.kinds = append(w.kinds, kind{memory: p.Memory, spec: spec, typ: types[t], Guest: stage.Guest{CPU: p.CPU,
				Ask: devices.Ask{Count: p.GPUs, Milli: p.Milli}, Models: maskOf(p.Models(), models)}})
		}
		w.pods = append(w.pods, at)
	}
	if len(pods) == 0 {
		return fmt.Errorf("there are no pods")
	}
	return nil
}

// maskOf is the bit set of the accepted models; a model that no node has is a bit that no
// node has.
func maskOf(accepted, models []string) (mask uint64) {
	for _, m := range accepted {
		at := slices.Index(models, m)
		if at < 0 {
			at = 63
		}
		mask |= 1 << at
	}
	return mask
}

// types counts the pods of each type: memory does not count in what is typical.
func (w *Workload) types() []stage.Typical {
	var out []stage.Typical
	for _, k := range w.pods {
		kd := &w.kinds[k]
		for int(kd.typ) >= len(out) {
			out = append(out, stage.Typical{})
		}
		t := &out[kd.typ]
		t.Guest, t.Spec = kd.Guest, kd.spec
		t.Count++
	}
	return out
}

// sequence returns the kinds of the pods in the order of arrival, and the rank of each
// node, by name, among equally good ones. Requests add up to about ratio times the GPUs.
//
// The draws and their order are those of the published study, discarded ones included.
// The generator is Go's math/rand, which is frozen.
func (w *Workload) sequence(seed int64, ratio float64) (arrivals []int32, ranks []int) {
	r := rand.New(rand.NewSource(seed))
	r.Int()
	arrivals = slices.Clone(w.pods)
	r.Shuffle(len(arrivals), func(i, j int) { arrivals[i], arrivals[j] = arrivals[j], arrivals[i] })
	if ratio > 0 {
		arrivals = w.tune(r, arrivals, ratio*float64(w.capacity))
	}
	return arrivals, ranksOf(r, len(w.nodes))
}

// ranksOf draws the order of equally good nodes.
func ranksOf(r *rand.Rand, nodes int) []int {
	const informers = 10 // each draws once when it starts
	for range informers {
		r.Float64()
	}
	return r.Perm(nodes)
}

// tune brings what the pods request to a target: it appends pods drawn from the sorted
// list, or takes pods away. The test before appending looks at the milli of one GPU only,
// as published, so that a pod with several may pass the target.
func (w *Workload) tune(r *rand.Rand, pods []int32, target float64) []int32 {
	var requested int64
	for _, k := range w.pods {
		requested += w.kinds[k].Ask.Total()
	}
	if float64(requested) < target {
		for {
			k := w.pods[r.Intn(len(w.pods))]
			if float64(requested+int64(w.kinds[k].Ask.Milli)) > target {
				return pods
			}
			requested += w.kinds[k].Ask.Total()
			pods = append(pods, k)
		}
	}
	for float64(requested) > target {
		at := r.Intn(len(pods))
		requested -= w.kinds[pods[at]].Ask.Total()
		pods = slices.Delete(pods, at, at+1)
	}
	return pods
}
