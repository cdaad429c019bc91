package policies

import (
	"math"
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
	k.wants = make([]stage.Want, v.Shapes())
	for set := range int32(v.PodSets()) {
		request := *v.PodRequest(set)
		v.EachShape(set, func(shape capacity.Shape, filter int32) {
			k.wants[shape] = stage.Want{Shape: shape, Filter: filter, Demand: stage.NewDemand(request), Guest: guestOf(v, set)}
		})
	}
	var scorer stage.DeviceScorer
	if k.scorer != "" {
		scorer = stage.LookupDeviceScorer(k.scorer, largest(nodes), stage.NewFragments(kindsOfPods(v)))
	}
	k.fleet = stage.NewFleet(v, k.profile, scorer)
	k.order = zonesInTurn(v.Cluster())
	k.nodeIDs = make([]uint64, len(nodes))
	for n := range nodes {
		k.nodeIDs[n] = rng.StableID(nodes[n].Name, 0)
	}
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

func (k *kube) want(v sim.View, pod int32) *stage.Want { return &k.wants[v.Shape(v.SetOf(pod))] }

// pick returns the best node for a pod, or -1.
func (k *kube) pick(v sim.View, pod int32) int32 {
	k.fleet.Sync(v)
	t := k.termsOf(v, pod)
	if t != nil {
		k.count(v, v.JobOf(pod), t)
	}
	if node := k.nominatedNode(v, pod); node >= 0 {
		return node
	}
	want := k.want(v, pod)
	if node := v.Pin(pod); node >= 0 {
		if k.fleet.Rate(want, node) == stage.NotFeasible || t != nil && !k.allows(v, pod, node, t) {
			return -1
		}
		return node
	}
	enough := len(k.order)
	if k.sampling {
		enough = stage.SampleSize(len(k.order))
	}
	if t != nil {
		return k.pickByTerms(v, pod, want, enough, t)
	}
	if domain := v.Within(pod); domain >= 0 {
		return k.pickWithin(v, pod, want, domain)
	}
	if enough == len(k.order) && !k.randomTies {
		return k.fleet.First(want)
	}
	return k.sample(v, pod, want, enough)
}

// sample looks at nodes from where the last search ended until enough are feasible, and
// takes the best of them: by lot, or the first in the cluster.
func (k *kube) sample(v sim.View, pod int32, want *stage.Want, enough int) int32 {
	best, node, lot := int64(-1), int32(-1), uint64(math.MaxUint64)
	_, looked := k.fleet.Candidates(want, k.order, k.start, enough, func(n int32, score int64) {
		if score < best {
			return
		}
		drawn := uint64(n)
		if k.randomTies {
			drawn = k.lot(v, pod, n)
		}
		if score > best || drawn < lot {
			best, node, lot = score, n, drawn
		}
	})
	k.start = (k.start + looked) % len(k.order)
	return node
}

// pickWithin takes the best node of a domain, all of which it looks at: kube-scheduler
// samples nodes after the node selector that the assignment is.
func (k *kube) pickWithin(v sim.View, pod int32, want *stage.Want, domain int32) int32 {
	k.window = k.window[:0]
	d := &v.Cluster().Domains[domain]
	for n := d.First; n < d.Last; n++ {
		if k.fleet.Rate(want, n) != stage.NotFeasible {
			k.window = append(k.window, n)
		}
	}
	k.totals = k.fleet.Totals(want, k.window, k.totals[:0])
	return k.bestOfWindow(v, pod)
}

// mayGo reports whether a node is in the only domain that a pod may go to, if it has one.
func mayGo(v sim.View, pod, node int32) bool {
	domain := domainOf(v, pod)
	if domain < 0 {
		return true
	}
	d := &v.Cluster().Domains[domain]
	return d.First <= node && node < d.Last
}

// lot is that of a node among equals for this pod and attempt: the smallest wins.
func (k *kube) lot(v sim.View, pod, node int32) uint64 {
	first, _ := v.PodsOf(v.JobOf(pod))
	id := rng.ID2(v.Stable(v.JobOf(pod)), uint64(pod-first))
	return rng.Hash(v.Seed(), rng.Tie, rng.ID2(id, k.nodeIDs[node]), uint64(v.Attempt(pod)))
}
