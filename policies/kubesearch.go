package policies

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gangplan/gangplan/internal/rng"
	"github.com/gangplan/gangplan/policies/stage"
	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/sim/capacity"
	"github.com/gangplan/gangplan/topology"
)

// This file is the kube Binder's search for a node.

// resetSearch prepares the search for a run.
func (k *kube) resetSearch(v sim.View) {
	nodes := v.Cluster().Nodes
	var scorer stage.DeviceScorer
	if k.scorer != "" {
		scorer = stage.LookupDeviceScorer(k.scorer, largest(nodes), stage.NewFragments(kindsOfPods(v)))
	}
	k.fleet = stage.NewFleet(v, k.profile, scorer, k.resetWants(v))
	k.fleet.Promised = k.promisedTo
	k.order, k.zones = zonesInTurn(v.Cluster()), v.Cluster().Level("zone") >= 0
	k.nodeIDs = make([]uint64, len(nodes))
	for n := range nodes {
		k.nodeIDs[n] = rng.StableID(nodes[n].Name, 0)
	}
	k.view, k.nominees = v, k.nominees[:0]
	k.marks = make([]uint64, (len(nodes)+63)/64)
}

// resetWants works out what pods want of a node and returns their different likings.
func (k *kube) resetWants(v sim.View) (likings []stage.Liking) {
	k.wants, k.likingOf = make([]stage.Want, v.Shapes()), make([]int32, v.PodSets())
	known := map[string]int32{}
	for j := range int32(v.Jobs()) {
		first, last := v.SetsOf(j)
		for set := first; set < last; set++ {
			request := *v.PodRequest(set)
			v.EachShape(set, func(shape capacity.Shape, filter int32) {
				k.wants[shape] = stage.Want{Shape: shape, Filter: filter, Demand: stage.NewDemand(request), Guest: guestOf(v, set)}
			})
			ps := &v.Job(j).PodSets[set-first]
			liking := stage.Liking{Tolerations: ps.Tolerated(), Affinity: topology.NodeAffinity{Preferred: ps.NodeAffinity.Preferred}}
			text := fmt.Sprintf("%+v", liking)
			n, ok := known[text]
			if !ok {
				n = int32(len(likings))
				known[text], likings = n, append(likings, liking)
			}
			k.likingOf[set] = n
		}
	}
	return likings
}

func guestOf(v sim.View, set int32) stage.Guest {
	return stage.Guest{CPU: v.PodRequest(set)[topology.CPU], Ask: v.Ask(set), Models: v.Models(set)}
}

func largest(nodes []topology.Node) stage.Largest {
	l := stage.Largest{CPU: 1, GPU: 1}
	for i := range nodes {
		l.CPU, l.GPU = max(l.CPU, nodes[i].Allocatable[topology.CPU]), max(l.GPU, nodes[i].Allocatable[topology.GPU])
	}
	return l
}

// kindsOfPods counts the pods of the trace by what fragments are measured with.
func kindsOfPods(v sim.View) []stage.Typical {
	type key struct {
		stage.Guest
		spec string
	}
	at := map[key]int{}
	var kinds []stage.Typical
	for j := range int32(v.Jobs()) {
		first, last := v.SetsOf(j)
		for s := first; s < last; s++ {
			k := key{guestOf(v, s), strings.Join(v.Job(j).PodSets[s-first].Models, "|")}
			if _, ok := at[k]; !ok {
				at[k] = len(kinds)
				kinds = append(kinds, stage.Typical{Guest: k.Guest, Spec: k.spec})
			}
			kinds[at[k]].Count += int64(v.Count(s))
		}
	}
	return kinds
}

// zonesInTurn is the order in which kube-scheduler looks at nodes: one of each zone, then
// the next of each. Without a level named zone it is the order of the cluster.
func zonesInTurn(c *topology.Cluster) []int32 {
	order := make([]int32, 0, len(c.Nodes))
	level := c.Level("zone")
	if level < 0 {
		for n := range c.Nodes {
			order = append(order, int32(n))
		}
		return order
	}
	first, last := c.DomainsAt(level)
	for turn := int32(0); len(order) < len(c.Nodes); turn++ {
		for d := first; d < last; d++ {
			if n := c.Domains[d].First + turn; n < c.Domains[d].Last {
				order = append(order, n)
			}
		}
	}
	return order
}

// want returns what a pod wants of a node. It is good until the next call.
func (k *kube) want(v sim.View, pod int32) *stage.Want {
	set := v.SetOf(pod)
	w := &k.wants[v.Shape(set)]
	w.Liking = k.likingOf[set]
	return w
}

// pick returns the best node for a pod, or -1.
func (k *kube) pick(v sim.View, pod int32) int32 {
	a := k.begin(v, pod)
	if node := v.NominatedNode(pod); node >= 0 && k.fits(v, pod, node, a) {
		return node
	}
	if node := v.Pin(pod); node >= 0 {
		if k.fits(v, pod, node, a) {
			return node
		}
		return -1
	}
	enough := len(k.order)
	if k.sampling {
		enough = stage.SampleSize(len(k.order))
	}
	domain := v.Within(pod)
	having := k.having(v, pod)
	inTurn := domain < 0 && (enough < len(k.order) || k.randomTies)
	alone := domain < 0 && a == nil && having == nil && !k.fleet.Compares(k.want(v, pod)) // nodes are not compared
	switch {
	case inTurn && alone:
		return k.sampleAlone(v, pod, enough)
	case inTurn:
		k.sample(v, pod, a, enough)
	case alone:
		return k.fleet.First(k.want(v, pod))
	default:
		k.look(v, pod, a, having)
	}
	k.addImages(v, pod, having)
	return k.best(v, pod, a)
}

// begin brings the search up to date for a pod, and returns what it asks of others.
func (k *kube) begin(v sim.View, pod int32) *ask {
	k.fleet.Sync(v)
	k.hand = pod
	if len(k.nominees) > 0 {
		k.nominees = slices.DeleteFunc(k.nominees, func(p int32) bool { return v.NominatedNode(p) < 0 })
	}
	a := k.askOf(v, pod)
	k.prepare(v, pod, a)
	return a
}

// fits reports whether a node can take a pod.
func (k *kube) fits(v sim.View, pod, node int32, a *ask) bool {
	return k.fleet.Rate(k.want(v, pod), node) != stage.NotFeasible && k.allows(v, pod, node, a)
}

// sample looks at nodes from where the last search ended until enough are feasible.
func (k *kube) sample(v sim.View, pod int32, a *ask, enough int) {
	k.list, k.sampled = k.list[:0], true
	w, at, looked := k.want(v, pod), k.start, 0
	for ; looked < len(k.order) && len(k.list) < enough; looked++ {
		node := k.order[at]
		if at++; at == len(k.order) {
			at = 0
		}
		if c, ok := k.fleet.Candidate(w, node); ok && k.allows(v, pod, node, a) {
			k.list = append(k.list, c)
		}
	}
	k.start = at
	if a != nil {
		k.rateTerms(v, pod, a)
	}
}

// sampleAlone is sample and best in one where each node's rating is all.
func (k *kube) sampleAlone(v sim.View, pod int32, enough int) int32 {
	w := k.want(v, pod)
	if !k.randomTies && !k.zones {
		if node, next, ok := k.fleet.Sample(w, int32(k.start), enough); ok {
			k.start = int(next)
			return node
		}
	}
	best, node, lot := int32(stage.NotFeasible), int32(-1), uint64(0)
	at, found := k.start, 0
	for looked := 0; looked < len(k.order) && found < enough; looked++ {
		n := k.order[at]
		if at++; at == len(k.order) {
			at = 0
		}
		rating := k.fleet.Rate(w, n)
		if rating == stage.NotFeasible {
			continue
		}
		if found++; rating < best {
			continue
		}
		drawn := uint64(n)
		if k.randomTies {
			drawn = k.lot(v, pod, n)
		}
		if rating > best || drawn < lot {
			best, node, lot = rating, n, drawn
		}
	}
	k.start = at
	return node
}

// look looks at all nodes that a pod may go to. They are cut into stretches in which terms
// and images tell no two nodes apart; of each stretch and class of nodes the first is as good
// as any other.
func (k *kube) look(v sim.View, pod int32, a *ask, having []int32) {
	k.cutAt(v, pod, a)
	for _, node := range having {
		k.cut(node, node+1)
	}
	k.sortCuts()
	k.list, k.sampled = k.list[:0], false
	w := k.want(v, pod)
	for i := 1; i < len(k.cuts); i++ {
		first, last := k.cuts[i-1], k.cuts[i]
		if !k.allows(v, pod, first, a) {
			continue
		}
		if last-first == 1 {
			if c, ok := k.fleet.Candidate(w, first); ok {
				k.list = append(k.list, c)
			}
			continue
		}
		k.list = k.fleet.Between(w, first, last, k.list)
	}
	if a != nil {
		k.rateTerms(v, pod, a)
	}
}

// span returns the nodes that a pod may go to by its assignment, most often all.
func span(v sim.View, pod int32) (first, last int32) {
	if domain := domainOf(v, pod); domain >= 0 {
		d := &v.Cluster().Domains[domain]
		return d.First, d.Last
	}
	return 0, int32(len(v.Cluster().Nodes))
}

// cutAt cuts the nodes that a pod may go to where the counts of what it asks change.
func (k *kube) cutAt(v sim.View, pod int32, a *ask) {
	k.from, k.to = span(v, pod)
	k.cuts = append(k.cuts[:0], k.from, k.to)
	if a == nil {
		return
	}
	c := v.Cluster()
	for _, r := range a.reads {
		y := k.tallies.get(v.JobOf(pod), r)
		for _, d := range y.touched {
			at := &c.Domains[c.LevelStart[y.level]+d]
			k.cut(at.First, at.Last)
		}
	}
	k.sortCuts()
}

func (k *kube) cut(first, last int32) {
	for _, at := range [...]int32{first, last} {
		if at > k.from && at < k.to {
			k.cuts = append(k.cuts, at)
		}
	}
}

func (k *kube) sortCuts() {
	slices.Sort(k.cuts)
	k.cuts = slices.Compact(k.cuts)
}

// having returns the nodes that have the image of a pod, if that makes them better.
func (k *kube) having(v sim.View, pod int32) []int32 {
	image, bytes := v.Image(v.JobOf(pod))
	if bytes == 0 || k.scorer != "" || k.profile.Weights[stage.ImageLocality] == 0 {
		return nil
	}
	return v.Having(image)
}

// addImages adds the score of ImageLocality.
func (k *kube) addImages(v sim.View, pod int32, having []int32) {
	if len(having) == 0 {
		return
	}
	_, bytes := v.Image(v.JobOf(pod))
	share := float64(len(having)) / float64(len(k.order))
	score := k.profile.Weights[stage.ImageLocality] * stage.ImageScore(int64(float64(bytes)*share), 1)
	if score == 0 {
		return
	}
	for _, n := range having {
		k.marks[n>>6] |= 1 << (n & 63)
	}
	for i := range k.list {
		if n := k.list[i].Node; k.marks[n>>6]>>(n&63)&1 == 1 {
			k.list[i].Rating += score
		}
	}
	for _, n := range having {
		k.marks[n>>6] = 0
	}
}

// best returns the best of the nodes looked at, or -1: of equals one by lot, or the first in
// the cluster.
func (k *kube) best(v sim.View, pod int32, a *ask) int32 {
	if len(k.list) == 0 {
		return -1
	}
	if k.scorer == "" && (a != nil || k.fleet.Compares(k.want(v, pod))) {
		k.room = k.profile.Compare(k.list, k.room)
	}
	best, lot := &k.list[0], uint64(0)
	if k.randomTies {
		lot = k.lot(v, pod, best.Node)
	}
	for i := 1; i < len(k.list); i++ {
		c := &k.list[i]
		if c.Rating < best.Rating {
			continue
		}
		drawn := uint64(0)
		if k.randomTies {
			drawn = k.lot(v, pod, c.Node)
		}
		if c.Rating > best.Rating || drawn < lot || drawn == lot && c.Node < best.Node {
			best, lot = c, drawn
		}
	}
	return best.Node
}

// lot is that of a node among equals for this pod and attempt: the smallest wins.
func (k *kube) lot(v sim.View, pod, node int32) uint64 {
	first, _ := v.PodsOf(v.JobOf(pod))
	id := rng.ID2(v.Stable(v.JobOf(pod)), uint64(pod-first))
	return rng.Hash(v.Seed(), rng.Tie, rng.ID2(id, k.nodeIDs[node]), uint64(v.Attempt(pod)))
}
