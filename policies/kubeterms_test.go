package policies

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gangplan/gangplan/internal/rng"
	"github.com/gangplan/gangplan/policies/stage"
	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/workloads"
)

// siblings counts the bound pods of a pod's job in the domain of a node, the slow way.
func siblings(v sim.View, pod, node int32, level string) (n int64) {
	at := v.Cluster().Level(level)
	first, last := v.PodsOf(v.JobOf(pod))
	for p := first; p < last; p++ {
		if s := v.PodState(p); s == sim.PodStarting || s == sim.PodReady {
			if v.Cluster().DomainOf(v.NodeOf(p), at) == v.Cluster().DomainOf(node, at) {
				n++
			}
		}
	}
	return n
}

// termsHold is allows from the words of the documentation.
func termsHold(v sim.View, pod, node int32) bool {
	j := v.Job(v.JobOf(pod))
	all := int64(0)
	first, last := v.PodsOf(v.JobOf(pod))
	for p := first; p < last; p++ {
		if s := v.PodState(p); s == sim.PodStarting || s == sim.PodReady {
			all++
		}
	}
	for _, t := range j.Affinity {
		if t.Weight == 0 && all > 0 && siblings(v, pod, node, t.Level) == 0 {
			return false
		}
	}
	for _, t := range j.AntiAffinity {
		if t.Weight == 0 && siblings(v, pod, node, t.Level) > 0 {
			return false
		}
	}
	for _, s := range j.Spread {
		fewest := int64(math.MaxInt64)
		for n := range v.Cluster().Nodes {
			fewest = min(fewest, siblings(v, pod, int32(n), s.Level))
		}
		if !s.Soft && v.Pin(pod) < 0 && siblings(v, pod, node, s.Level)+1-fewest > int64(s.MaxSkew) {
			return false
		}
	}
	return true
}

// termScores are the weighted scores of InterPodAffinity and PodTopologySpread on the
// feasible nodes.
func (w *watched) termScores(v sim.View, pod int32, found []int32) []int64 {
	j := v.Job(v.JobOf(pod))
	total := make([]int64, len(found))
	affinity, spread := make([]int64, len(found)), make([]int64, len(found))
	soft := false
	for i, n := range found {
		for _, t := range j.Affinity {
			affinity[i] += max(1, 2*int64(t.Weight)) * siblings(v, pod, n, t.Level)
		}
		for _, t := range j.AntiAffinity {
			affinity[i] -= 2 * int64(t.Weight) * siblings(v, pod, n, t.Level)
		}
		sum := 0.0
		for _, s := range j.Spread {
			if !s.Soft {
				continue
			}
			soft = true
			domains := map[int32]bool{}
			for _, f := range found {
				domains[v.Cluster().DomainOf(f, v.Cluster().Level(s.Level))] = true
			}
			sum += float64(float64(siblings(v, pod, n, s.Level))*rng.Log(float64(len(domains)+2))) + float64(s.MaxSkew-1)
		}
		spread[i] = int64(math.Round(sum))
	}
	stage.NormalizeAffinity(affinity)
	stage.NormalizeSpread(spread)
	for i := range total {
		total[i] = w.profile.Weights[stage.InterPodAffinity] * affinity[i]
		if soft {
			total[i] += w.profile.Weights[stage.PodTopologySpread] * spread[i]
		}
	}
	return total
}

// withTerms gives some jobs something to ask of their pods.
func withTerms(r *rand.Rand, jobs []workloads.Job) []workloads.Job {
	level := func() string { return []string{"zone", "host"}[r.IntN(2)] }
	weight := func() int32 { return []int32{0, 1, 10, 100}[r.IntN(4)] }
	for i := range jobs {
		j := &jobs[i]
		switch r.IntN(5) {
		case 0:
			j.Affinity = []workloads.PodTerm{{Level: "zone", Weight: weight()}}
		case 1:
			j.AntiAffinity = []workloads.PodTerm{{Level: level(), Weight: weight()}}
		case 2:
			j.Spread = []workloads.SpreadConstraint{{Level: level(), MaxSkew: int32(1 + r.IntN(2)), Soft: r.IntN(2) == 0}}
		case 3:
			j.Affinity = []workloads.PodTerm{{Level: "zone", Weight: 1 + weight()/2}, {Level: "host", Weight: 1}}
			j.AntiAffinity = []workloads.PodTerm{{Level: "host"}}
			j.Spread = []workloads.SpreadConstraint{{Level: "zone", MaxSkew: 2, Soft: true}, {Level: "host", MaxSkew: 1, Soft: true}}
		}
	}
	return jobs
}

func TestTermsAgainstScan(t *testing.T) {
	refused := 0
	for _, nodes := range []int{3, 12, 130} {
		for i, settings := range []map[string]string{{}, {"ties": "random"}, {"profile": "pack", "sampling": "off"}, {"profile": "random"}} {
			r := rand.New(rand.NewPCG(uint64(nodes), uint64(100+i)))
			c := mixedCluster(t, r, nodes)
			w := runWatched(t, c, withTerms(r, mixedJobs(r, c, min(50, 8*nodes), false)), settings)
			refused += w.refused
		}
	}
	if refused == 0 {
		t.Error("no pod was ever refused: the test is too easy")
	}
}

// zoned is a cluster of zones with so many nodes each, of 8 GPUs.
func zoned(t *testing.T, zones ...int) *topology.Cluster {
	t.Helper()
	var nodes []topology.Node
	for z, n := range zones {
		for i := range n {
			nodes = append(nodes, topology.Node{Name: fmt.Sprintf("z%d-%d", z, i), Path: []string{fmt.Sprint("z", z)}, GPUModel: "gpu",
				Allocatable: topology.DefaultAllocatable(8)})
		}
	}
	c, err := topology.Build([]string{"zone", "host"}, nodes)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// nodesByRank runs one job and returns where its pods are bound, by rank, 0 to n-1.
func nodesByRank(t *testing.T, c *topology.Cluster, j workloads.Job) string {
	t.Helper()
	story, _ := boundStory(t, c, []workloads.Job{j}, sim.Timing{}, nil)
	var nodes []string
	for _, event := range strings.Split(story, "; ") {
		if _, node, ok := strings.Cut(event, "@"); ok && strings.Contains(event, " bind ") {
			nodes = append(nodes, node)
		}
	}
	return strings.Join(nodes, " ")
}

func TestTerms(t *testing.T) {
	three := func(change func(*workloads.Job)) workloads.Job {
		j := job("A", 0, 3, 8, 100)
		change(&j)
		return j
	}
	for _, c := range []struct {
		name   string
		zones  []int
		change func(*workloads.Job)
		want   string
	}{
		{"nothing asked", []int{1, 1, 1}, func(*workloads.Job) {}, "0 1 2"},
		{"affinity goes where the first pod is", []int{2, 3}, func(j *workloads.Job) { j.Affinity = []workloads.PodTerm{{Level: "zone"}} }, "0 1"},
		{"preferred affinity spills over", []int{2, 3}, func(j *workloads.Job) { j.Affinity = []workloads.PodTerm{{Level: "zone", Weight: 1}} }, "0 1 2"},
		{"anti-affinity", []int{2, 2}, func(j *workloads.Job) { j.AntiAffinity = []workloads.PodTerm{{Level: "zone"}} }, "0 2"},
		{"preferred anti-affinity", []int{2, 2}, func(j *workloads.Job) { j.AntiAffinity = []workloads.PodTerm{{Level: "zone", Weight: 5}} }, "0 2 1"},
		{"hard spread", []int{3, 1}, func(j *workloads.Job) { j.Spread = []workloads.SpreadConstraint{{Level: "zone", MaxSkew: 1}} }, "0 3 1"},
		{"hard spread stops", []int{3, 0, 3}, func(j *workloads.Job) { j.Spread = []workloads.SpreadConstraint{{Level: "host", MaxSkew: 1}} }, "0 1 2"},
		{"soft spread", []int{3, 3}, func(j *workloads.Job) {
			j.Spread = []workloads.SpreadConstraint{{Level: "zone", MaxSkew: 1, Soft: true}}
		}, "0 3 1"},
	} {
		if got := nodesByRank(t, zoned(t, c.zones...), three(c.change)); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// A pod that waits because of its siblings is tried again when one of them is bound, and
// its class does not hold back the equal pods of other jobs.
func TestTermsWakeAndDoNotBlockOthers(t *testing.T) {
	picky := job("A", 0, 2, 8, 100)
	picky.Affinity = []workloads.PodTerm{{Level: "zone"}}
	other := job("B", 0, 2, 8, 50)
	// A's second pod has no place beside the first; B's equal pods take the other zone.
	story, r := boundStory(t, zoned(t, 1, 2), []workloads.Job{picky, other}, sim.Timing{}, nil)
	want := "0s bind A.0@0; 0s bind B.0@1; 0s bind B.1@2; 50s finish B"
	if story != want {
		t.Errorf("%s, want %s", story, want)
	}
	if !slices.ContainsFunc(r.Findings, func(f sim.Finding) bool { return f.Kind == sim.Deadlock }) {
		t.Error("A holds a node for ever, and nobody calls it a deadlock")
	}
	mixed := workloads.Job{ID: "M", Duration: 10 * sec, Spread: []workloads.SpreadConstraint{{Level: "zone", MaxSkew: 1}}, PodSets: []workloads.PodSet{
		{Name: "big", Count: 2, Request: topology.Resources{8000, 8000, 1 << 30, 1}, Models: []string{"gpu"}},
		{Name: "small", Count: 2, Request: topology.Resources{0, 1000, 1 << 30, 1}}}}
	// The second big pod has a place only where one is already: it waits until a small
	// one has been put into the other zone.
	c := zoned(t, 3, 1)
	full := job("F", 0, 1, 8, 100)
	full.PodSets[0].Node = "z1-0"
	full.PodSets[0].Request[topology.CPU], full.PodSets[0].Request[topology.Memory] = 1000, 1<<30
	story, _ = boundStory(t, c, []workloads.Job{full, mixed}, sim.Timing{}, nil)
	if !strings.Contains(story, "0s bind M.0@0; 0s bind M.2@3; 0s bind M.1@1") || !strings.Contains(story, "10s finish M") {
		t.Errorf("%s", story)
	}
}
