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

// imaginedGone are pods that are looked away from, to see what would be without them.
var imaginedGone = map[int32]bool{}

// boundPods calls f with every bound pod, its job and its node.
func boundPods(v sim.View, f func(q, job, node int32)) {
	for q := range int32(v.Pods()) {
		if s := v.PodState(q); (s == sim.PodStarting || s == sim.PodReady) && !imaginedGone[q] {
			f(q, v.JobOf(q), v.NodeOf(q))
		}
	}
}

func sameDomain(v sim.View, a, b int32, level string) bool {
	at := v.Cluster().Level(level)
	return v.Cluster().DomainOf(a, at) == v.Cluster().DomainOf(b, at)
}

// means reports whether a term of job j means the pods of job q.
func means(v sim.View, of *workloads.PodSelector, j, q int32) bool {
	if of == nil {
		return j == q
	}
	return of.Selects(v.Job(q), v.Job(j).Namespace)
}

// meansAll reports whether all required terms of affinity do.
func meansAll(v sim.View, j, q int32) bool {
	for _, t := range v.Job(j).Affinity {
		if t.Weight == 0 && !means(v, t.Of, j, q) {
			return false
		}
	}
	return true
}

// inScope reports whether a constraint is about a node.
func inScope(v sim.View, set *workloads.PodSet, s *workloads.SpreadConstraint, node int32) bool {
	n := &v.Cluster().Nodes[node]
	if !s.AllNodes && (!topology.MatchAll(set.NodeSelector, n.Labels) || !set.NodeAffinity.Allows(n.Labels)) {
		return false
	}
	return !s.Taints || topology.Untolerated(n.Taints, set.Tolerated()) == nil
}

// spreadCount counts the pods that a constraint means in the domain of a node, on the nodes
// that it is about.
func spreadCount(v sim.View, pod, node int32, s *workloads.SpreadConstraint, scoped bool) (n int64) {
	j := v.JobOf(pod)
	boundPods(v, func(_, q, at int32) {
		if sameDomain(v, node, at, s.Level) && means(v, s.Of, j, q) && (!scoped || inScope(v, podSetOf(v, pod), s, at)) {
			n++
		}
	})
	return n
}

func podSetOf(v sim.View, pod int32) *workloads.PodSet {
	first, _ := v.SetsOf(v.JobOf(pod))
	return &v.Job(v.JobOf(pod)).PodSets[v.SetOf(pod)-first]
}

// termsHold judges a node from the words of the documentation.
func termsHold(v sim.View, pod, node int32) bool {
	me := v.JobOf(pod)
	j := v.Job(me)
	anyMeant := false
	boundPods(v, func(_, q, _ int32) { anyMeant = anyMeant || meansAll(v, me, q) })
	first := !anyMeant && meansAll(v, me, me)
	holds := true
	for _, t := range j.Affinity {
		there := false
		boundPods(v, func(_, q, at int32) { there = there || meansAll(v, me, q) && sameDomain(v, node, at, t.Level) })
		holds = holds && (t.Weight > 0 || there || first)
	}
	boundPods(v, func(_, q, at int32) {
		for _, t := range j.AntiAffinity {
			holds = holds && (t.Weight > 0 || !means(v, t.Of, me, q) || !sameDomain(v, node, at, t.Level))
		}
		for _, t := range v.Job(q).AntiAffinity {
			holds = holds && (t.Weight > 0 || !means(v, t.Of, q, me) || !sameDomain(v, node, at, t.Level))
		}
	})
	for i := range j.Spread {
		pinned := v.Pin(pod) >= 0 && !j.Spread[i].AllNodes // the only domain there is compared with nothing
		holds = holds && (j.Spread[i].Soft || pinned || evenEnough(v, pod, node, &j.Spread[i]))
	}
	return holds
}

func evenEnough(v sim.View, pod, node int32, s *workloads.SpreadConstraint) bool {
	fewest, domains := int64(math.MaxInt64), map[int32]bool{}
	for n := range v.Cluster().Nodes {
		if inScope(v, podSetOf(v, pod), s, int32(n)) {
			domains[v.Cluster().DomainOf(int32(n), v.Cluster().Level(s.Level))] = true
			fewest = min(fewest, spreadCount(v, pod, int32(n), s, true))
		}
	}
	if len(domains) < int(s.MinDomains) || len(domains) == 0 {
		fewest = 0
	}
	one := int64(0)
	if means(v, s.Of, v.JobOf(pod), v.JobOf(pod)) {
		one = 1
	}
	return spreadCount(v, pod, node, s, true)+one-fewest <= int64(s.MaxSkew)
}

// nearScore is the raw score of InterPodAffinity.
func nearScore(v sim.View, pod, node int32) (sum int64) {
	me := v.JobOf(pod)
	add := func(t *workloads.PodTerm, from, to, at int32, weight int64) {
		if means(v, t.Of, from, to) && sameDomain(v, node, at, t.Level) {
			sum += weight
		}
	}
	boundPods(v, func(_, q, at int32) {
		mine, its := v.Job(me), v.Job(q)
		for i := range mine.Affinity {
			add(&mine.Affinity[i], me, q, at, int64(mine.Affinity[i].Weight))
		}
		for i := range mine.AntiAffinity {
			add(&mine.AntiAffinity[i], me, q, at, -int64(mine.AntiAffinity[i].Weight))
		}
		for i := range its.Affinity {
			add(&its.Affinity[i], q, me, at, max(1, int64(its.Affinity[i].Weight)))
		}
		for i := range its.AntiAffinity {
			add(&its.AntiAffinity[i], q, me, at, -int64(its.AntiAffinity[i].Weight))
		}
	})
	return sum
}

// termScores are the weighted scores of InterPodAffinity, PodTopologySpread, NodeAffinity and
// ImageLocality on the feasible nodes.
func (w *watched) termScores(v sim.View, pod int32, found []int32) []int64 {
	j := v.Job(v.JobOf(pod))
	total := make([]int64, len(found))
	affinity, spread, prefer := make([]int64, len(found)), make([]int64, len(found)), make([]int64, len(found))
	soft := false
	for i, n := range found {
		affinity[i] = nearScore(v, pod, n)
		prefer[i] = podSetOf(v, pod).NodeAffinity.Score(v.Cluster().Nodes[n].Labels)
		sum := 0.0
		for k := range j.Spread {
			s := &j.Spread[k]
			if !s.Soft {
				continue
			}
			soft = true
			domains := map[int32]bool{}
			for _, f := range found {
				domains[v.Cluster().DomainOf(f, v.Cluster().Level(s.Level))] = true
			}
			there := spreadCount(v, pod, n, s, s.Level != "host")
			sum += float64(float64(there)*rng.Log(float64(len(domains)+2))) + float64(s.MaxSkew-1)
		}
		spread[i] = int64(math.Round(sum))
	}
	stage.NormalizeAffinity(affinity)
	stage.NormalizeSpread(spread)
	stage.NormalizePreference(prefer)
	for i := range total {
		total[i] = w.profile.Weights[stage.InterPodAffinity]*affinity[i] + w.profile.Weights[stage.NodeAffinity]*prefer[i]
		if soft {
			total[i] += w.profile.Weights[stage.PodTopologySpread] * spread[i]
		}
		total[i] += w.profile.Weights[stage.ImageLocality] * w.imageScore(v, pod, found[i])
	}
	return total
}

// imageScore counts the nodes that have had a pod with the image.
func (w *watched) imageScore(v sim.View, pod, node int32) int64 {
	j := v.Job(v.JobOf(pod))
	if j.ImageBytes == 0 {
		return 0
	}
	having, here := 0, false
	for n := range v.Cluster().Nodes {
		has := w.images[fmt.Sprint(n, " ", j.Image)]
		here = here || has && int32(n) == node
		if has {
			having++
		}
	}
	if !here {
		return 0
	}
	return stage.ImageScore(int64(float64(j.ImageBytes)*(float64(having)/float64(len(v.Cluster().Nodes)))), 1)
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

// withSelectors gives all jobs namespaces and labels, and lets some ask things of others.
func withSelectors(r *rand.Rand, jobs []workloads.Job) []workloads.Job {
	one := func(list ...string) string { return list[r.IntN(len(list))] }
	selector := func() *workloads.PodSelector {
		s := &workloads.PodSelector{}
		switch r.IntN(5) {
		case 0:
			return nil
		case 1:
			s.Namespaces = []string{workloads.AllNamespaces}
		case 2:
			s.Namespaces = []string{one("a", "b")}
		}
		if r.IntN(4) > 0 {
			s.Match = []topology.Requirement{{Key: one("app", "tier"), Operator: topology.Operator(r.IntN(2)), Values: []string{one("x", "y")}}}
		}
		return s
	}
	terms := func(n int) (list []workloads.PodTerm) {
		for range r.IntN(n + 1) {
			list = append(list, workloads.PodTerm{Level: one("zone", "host"), Weight: []int32{0, 0, 5, 50}[r.IntN(4)], Of: selector()})
		}
		return list
	}
	for i := range jobs {
		j := &jobs[i]
		j.Namespace, j.Labels = one("a", "a", "b"), map[string]string{"app": one("x", "y"), "tier": one("x", "z")}
		j.Image, j.ImageBytes = one("big", "small", ""), int64(r.IntN(3))<<31
		set := &j.PodSets[0]
		if r.IntN(4) == 0 {
			set.NodeAffinity.Preferred = []topology.PreferredTerm{{Weight: 1 + r.Int32N(9), Term: topology.Term{{Key: "pool", Operator: topology.In, Values: []string{one("p", "q")}}}}}
		}
		if r.IntN(5) == 0 {
			set.NodeAffinity.Required = []topology.Term{{{Key: "pool", Operator: topology.NotIn, Values: []string{one("p", "q")}}}}
		}
		if r.IntN(6) == 0 {
			set.Tolerations = []topology.Toleration{{Key: "a", Exists: true}}
		}
		if r.IntN(3) == 0 {
			continue
		}
		j.Affinity, j.AntiAffinity = terms(2), terms(2)
		for range r.IntN(3) {
			s := workloads.SpreadConstraint{Level: one("zone", "host"), MaxSkew: 1 + r.Int32N(2), Soft: r.IntN(2) == 0, Taints: r.IntN(2) == 0,
				AllNodes: r.IntN(2) == 0, Of: selector()}
			if s.Of != nil {
				s.Of.Namespaces = nil
			}
			if !s.Soft && set.Node == "" {
				s.MinDomains = r.Int32N(5)
			}
			j.Spread = append(j.Spread, s)
		}
	}
	return jobs
}

func TestSelectorsAgainstScan(t *testing.T) {
	refused, decisions := 0, 0
	for _, nodes := range []int{3, 12, 70, 130} {
		for i, settings := range []map[string]string{{}, {"ties": "random"}, {"profile": "pack", "sampling": "off"}, {"profile": "random"}} {
			r := rand.New(rand.NewPCG(uint64(nodes), uint64(200+i)))
			c := mixedCluster(t, r, nodes)
			for n := range c.Nodes {
				if r.IntN(3) > 0 {
					c.Nodes[n].Labels = map[string]string{"pool": []string{"p", "q"}[r.IntN(2)]}
				}
			}
			w := runWatched(t, c, withSelectors(r, mixedJobs(r, c, min(50, 8*nodes), i == 1)), settings)
			refused, decisions = refused+w.refused, decisions+w.decisions
		}
	}
	if refused == 0 || decisions-refused < 300 {
		t.Errorf("%d decisions, %d refusals: the test is too easy", decisions, refused)
	}
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

// A pod that is on its way out still keeps others away, but does not count as spread: it is
// told to end at 10 s and gone at 40.
func TestTermsOfPodsThatLeave(t *testing.T) {
	slow := sim.Timing{Termination: 30 * sec}
	app := &workloads.PodSelector{Match: []topology.Requirement{{Key: "app", Operator: topology.In, Values: []string{"x"}}}}
	labelled := func(j workloads.Job) workloads.Job {
		j.Labels = map[string]string{"app": "x"}
		return j
	}
	low := labelled(job("low", 0, 1, 4, 100))
	low.PodSets[0].Node = "z0-0"
	high := important(job("high", 10, 1, 8, 5), 5)
	high.PodSets[0].Node = "z0-0"
	shy := labelled(job("shy", 12, 1, 1, 5))
	shy.AntiAffinity = []workloads.PodTerm{{Level: "zone", Of: app}}
	even := labelled(job("even", 12, 1, 1, 5))
	even.Spread = []workloads.SpreadConstraint{{Level: "zone", MaxSkew: 1, Of: app, MinDomains: 2}}
	for _, c := range []struct {
		name string
		last workloads.Job
		want string
	}{
		{"anti-affinity", shy, "40s bind shy.0@1"},
		{"spread", even, "12s bind even.0@1"},
	} {
		story, _ := boundStory(t, zoned(t, 2), []workloads.Job{low, high, c.last}, slow, nil)
		if !strings.Contains(story, c.want) {
			t.Errorf("%s: %s, want %s", c.name, story, c.want)
		}
	}
}

// The pods of a job that spreads its own end one after another, but nobody counts any more when
// the last of them was told to: then there is nothing to count them out of when they are gone.
func TestSpreadOfOwnPodsThatLeave(t *testing.T) {
	low := job("low", 0, 2, 4, 49)
	low.Spread = []workloads.SpreadConstraint{{Level: "zone", MaxSkew: 1}}
	story, _ := boundStory(t, zoned(t, 1), []workloads.Job{low, job("next", 1, 1, 8, 5)}, sim.Kubernetes, nil)
	if want := "bind next.0@0"; !strings.Contains(story, want) {
		t.Errorf("%s, want %s", story, want)
	}
}
