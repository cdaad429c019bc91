package fragmentation

import (
	"github.com/gangplan/gangplan/internal/rng"
	"github.com/gangplan/gangplan/policies/stage"
	"github.com/gangplan/gangplan/sim/devices"
)

// Policies are the names of the scorers of the study, in its order.
func Policies() []string {
	return []string{"random", "dot-product", "gpu-clustering", "gpu-packing", "best-fit", "fgd"}
}

// Run plays the workload under a policy and returns what was sampled after every pod.
func (w *Workload) Run(policy string, seed int64, ratio float64) *Samples {
	arrivals, ranks := w.sequence(seed, ratio)
	r := newRun(w, stage.LookupDeviceScorer(policy, w.largest, w.measure), uint64(seed), ranks)
	out := &Samples{capacity: w.capacity, rows: make([]sample, 0, len(arrivals))}
	var arrived, used int64
	for i, k := range arrivals {
		asked := w.kinds[k].Ask.Total()
		arrived += asked
		if n := r.choose(k, i); n >= 0 {
			r.place(n, k, i)
			used += asked
		} else {
			out.Dropped++
		}
		out.rows = append(out.rows, sample{arrived: arrived, used: used, fragments: r.fragments})
	}
	return out
}

// site is what decides about the fit and the score of a kind of pod on a node.
type site struct {
	stage.Site
	memory int64
}

// run is the state of a run. Nodes are numbered by their rank, and filed by their state:
// nodes of equal state share their scores.
type run struct {
	w         *Workload
	scorer    stage.DeviceScorer // nil: any node that fits, at random
	seed      uint64
	nodes     []site
	amounts   []float64 // fragments of each node
	blocks    []float64 // sums of amounts, a block of nodes each
	fragments float64   // of all
	groups    *stage.Groups[site]
	scores    [][]score // by kind, then class
	byName    []int32
}

// score is a score of a class, if age is the class's. -1: does not fit.
type score struct {
	age   uint32
	value int32
}

func newRun(w *Workload, scorer stage.DeviceScorer, seed uint64, ranks []int) *run {
	r := &run{w: w, scorer: scorer, seed: seed, nodes: make([]site, len(w.nodes)), amounts: make([]float64, len(w.nodes)),
		groups: stage.NewGroups[site](len(w.nodes)), scores: make([][]score, len(w.kinds)), byName: make([]int32, len(w.nodes))}
	for i := range w.nodes {
		at := ranks[i]
		r.byName[i] = int32(at)
		r.nodes[at] = site{w.nodes[i].Site, w.nodes[i].memory}
	}
	r.blocks = make([]float64, (len(r.nodes)+block-1)/block)
	for n := range r.nodes {
		r.refresh(int32(n))
	}
	return r
}

// block is the number of nodes whose fragments are summed together: about the square root
// of their number, so that one change costs little.
const block = 32

// refresh files a node whose state has changed and sums the fragments anew: never by
// adding differences, which would drift.
func (r *run) refresh(n int32) {
	r.groups.File(n, r.nodes[n])
	r.amounts[n] = r.w.measure.Amount(&r.nodes[n].Site)
	b := int(n) / block
	r.blocks[b] = sum(r.amounts[b*block : min(len(r.amounts), (b+1)*block)])
	r.fragments = sum(r.blocks)
}

func sum(x []float64) float64 {
	total := 0.0
	for _, v := range x {
		total += v
	}
	return total
}

// choose returns the node for the i-th pod, or -1.
func (r *run) choose(k int32, i int) int32 {
	if r.scorer == nil {
		return r.chooseAny(k, i)
	}
	best, node := int32(-1), int32(-1)
	row := r.row(k)
	for _, class := range r.groups.Live() {
		s := r.score(row, k, class)
		if s < best || s < 0 {
			continue
		}
		if first := r.groups.First(class); s > best || first < node {
			best, node = s, first
		}
	}
	return node
}

// row returns the scores known of a kind, by class.
func (r *run) row(k int32) []score {
	if r.scores[k] == nil {
		r.scores[k] = make([]score, r.groups.Most())
	}
	return r.scores[k]
}

// score returns how a kind rates a class, or -1 if it does not fit there.
func (r *run) score(row []score, k, class int32) int32 {
	if known := row[class]; known.age == r.groups.Age(class) {
		return known.value
	}
	return r.compute(row, k, class)
}

func (r *run) compute(row []score, k, class int32) int32 {
	s := r.groups.Key(class)
	row[class] = score{r.groups.Age(class), r.rate(k, s)}
	return row[class].value
}

func (r *run) rate(k int32, s *site) int32 {
	kd := &r.w.kinds[k]
	switch {
	case kd.memory > s.memory || !kd.Fits(&s.Site):
		return -1
	case r.scorer == nil:
		return 0
	}
	return int32(r.scorer.Score(&kd.Guest, &s.Site))
}

// chooseAny draws one of the nodes that fit, in the order of names.
func (r *run) chooseAny(k int32, i int) int32 {
	row, fitting := r.row(k), int32(0)
	for _, class := range r.groups.Live() {
		if r.score(row, k, class) >= 0 {
			fitting += r.groups.Size(class)
		}
	}
	if fitting == 0 {
		return -1
	}
	left := rng.Below(rng.Hash(r.seed, rng.Tie, uint64(i), 0), uint64(fitting))
	for _, n := range r.byName {
		if r.score(row, k, r.groups.Of(n)) < 0 {
			continue
		}
		if left == 0 {
			return n
		}
		left--
	}
	panic("fragmentation: fewer nodes fit than were counted")
}

// place puts the i-th pod on a node.
func (r *run) place(n, k int32, i int) {
	s, kd := &r.nodes[n], &r.w.kinds[k]
	s.GPUs.Take(r.pick(s, kd, i), kd.Ask.Milli)
	s.CPU -= kd.CPU
	s.memory -= kd.memory
	s.Classes |= kd.Class()
	r.refresh(n)
}

func (r *run) pick(s *site, kd *kind, i int) devices.Mask {
	if r.scorer != nil {
		return r.scorer.Pick(&kd.Guest, &s.Site)
	}
	if kd.Ask.Count == 0 || kd.Ask.Milli == devices.Whole {
		return s.GPUs.Best(kd.Ask)
	}
	fitting := s.GPUs.With(kd.Ask.Milli)
	return fitting.Nth(int(rng.Below(rng.Hash(r.seed, rng.Tie, uint64(i), 1), uint64(fitting.Len()))))
}
