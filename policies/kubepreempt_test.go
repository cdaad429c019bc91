package policies

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/sim/quota"
	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/workloads"
)

// boundStory runs jobs per pod and tells binds and evictions as "12s bind A.0@1".
func boundStory(t *testing.T, c *topology.Cluster, jobs []workloads.Job, timing sim.Timing, settings map[string]string) (string, *sim.Result) {
	t.Helper()
	d, _ := Lookup("per-pod")
	cfg := &sim.Config{Cluster: c, Jobs: jobs, Timing: timing, Queues: []quota.Queue{{Name: "default"}}, Until: 10_000 * sec}
	var tr sim.Transitions
	e, err := sim.New(cfg, d.New(settings), &tr)
	if err != nil {
		t.Fatal(err)
	}
	r := e.Run()
	var told []string
	for _, x := range tr {
		if x.Kind == sim.Bind || x.Kind == sim.Evict || x.Kind == sim.Finish {
			told = append(told, strings.TrimSuffix(fmt.Sprintf("%ds %s %s.%d@%d", x.Time/sec, x.Kind, jobs[x.Job].ID, x.Rank, x.Place), ".-1@-1"))
		}
	}
	return strings.Join(told, "; "), r
}

func important(j workloads.Job, priority int32) workloads.Job {
	j.Priority = priority
	return j
}

func modest(j workloads.Job) workloads.Job {
	j.NoPreempt = true
	return j
}

func TestPreemption(t *testing.T) {
	slow := sim.Timing{Termination: 30 * sec}
	for _, c := range []struct {
		name     string
		gpus     []int64
		jobs     []workloads.Job
		timing   sim.Timing
		settings map[string]string
		want     string
	}{
		{"the more important pod pushes the other off, which starts again after it", []int64{4},
			[]workloads.Job{job("low", 0, 1, 4, 100), important(job("high", 10, 1, 4, 50), 5)}, sim.Timing{}, nil,
			"0s bind low.0@0; 10s evict low.0@0; 10s bind high.0@0; 60s finish high; 60s bind low.0@0; 160s finish low"},
		{"it waits until the other has terminated, and nobody takes its place", []int64{4},
			[]workloads.Job{job("low", 0, 1, 4, 100), important(job("high", 10, 1, 4, 50), 5), job("small", 20, 1, 1, 5)}, slow, nil,
			"0s bind low.0@0; 10s evict low.0@0; 40s bind high.0@0; 90s finish high; 90s bind low.0@0; 190s finish low; 190s bind small.0@0; 195s finish small"},
		{"equal priority waits", []int64{4},
			[]workloads.Job{important(job("a", 0, 1, 4, 100), 5), important(job("b", 10, 1, 4, 50), 5)}, sim.Timing{}, nil,
			"0s bind a.0@0; 100s finish a; 100s bind b.0@0; 150s finish b"},
		{"off", []int64{4},
			[]workloads.Job{job("low", 0, 1, 4, 100), important(job("high", 10, 1, 4, 50), 5)}, sim.Timing{}, map[string]string{"preemption": "off"},
			"0s bind low.0@0; 100s finish low; 100s bind high.0@0; 150s finish high"},
		{"Never", []int64{4},
			[]workloads.Job{job("low", 0, 1, 4, 100), modest(important(job("high", 10, 1, 4, 50), 5))}, sim.Timing{}, nil,
			"0s bind low.0@0; 100s finish low; 100s bind high.0@0; 150s finish high"},
		{"equal pods each make room for themselves, at once", []int64{4, 4},
			[]workloads.Job{job("a", 0, 1, 4, 100), job("b", 0, 1, 4, 100), important(job("high", 10, 2, 4, 50), 5)}, slow, nil,
			"0s bind a.0@0; 0s bind b.0@1; 10s evict a.0@0; 10s evict b.0@1; 40s bind high.0@0; 40s bind high.1@1; 90s finish high; 90s bind a.0@0; 90s bind b.0@1; 190s finish a; 190s finish b"},
		{"who is more important yet is promised the room that was made for another", []int64{4},
			[]workloads.Job{job("low", 0, 1, 4, 100), important(job("mid", 10, 1, 4, 50), 5), important(job("top", 20, 1, 4, 5), 9)}, slow, nil,
			"0s bind low.0@0; 10s evict low.0@0; 40s bind top.0@0; 45s finish top; 45s bind mid.0@0; 95s finish mid; 95s bind low.0@0; 195s finish low"},
		{"or takes what of it is free, which others may not", []int64{4},
			[]workloads.Job{job("low", 0, 1, 3, 100), important(job("mid", 10, 1, 4, 50), 5), job("last", 19, 1, 1, 30), important(job("top", 20, 1, 1, 5), 9)}, slow, nil,
			"0s bind low.0@0; 10s evict low.0@0; 20s bind top.0@0; 25s finish top; 40s bind mid.0@0; 90s finish mid; 90s bind low.0@0; 90s bind last.0@0; 120s finish last; 190s finish low"},
		{"the node where it hurts least", []int64{4, 4, 4},
			[]workloads.Job{important(job("a", 0, 1, 4, 100), 3), important(job("b", 1, 1, 4, 100), 1), important(job("c", 2, 1, 4, 100), 2), important(job("high", 10, 1, 4, 5), 5)},
			sim.Timing{}, nil,
			"0s bind a.0@0; 1s bind b.0@1; 2s bind c.0@2; 10s evict b.0@1; 10s bind high.0@1; 15s finish high; 15s bind b.0@1; 100s finish a; 102s finish c; 115s finish b"},
	} {
		got, _ := boundStory(t, cluster(t, c.gpus...), c.jobs, c.timing, c.settings)
		if got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, got, c.want)
		}
	}
}

// preempting is a kube Binder whose every preemption is compared with a search that tries
// all, and counts everything anew every time.
type preempting struct {
	*kube
	t                        *testing.T
	made, violations, nobody int
}

// offer is whom a node could give up.
type offer struct {
	node       int32
	gone       []int32
	violations int
}

func (w *preempting) Cycle(tx *sim.Tx) bool {
	w.heed(tx.View)
	pod := w.head(tx.Now())
	if pod < 0 {
		return w.kube.Cycle(tx)
	}
	want := w.choose(tx.View, pod)
	var bound []int32
	boundPods(tx.View, func(q, _, _ int32) { bound = append(bound, q) })
	progress := w.kube.Cycle(tx)
	if tx.NodeOf(pod) >= 0 {
		return progress // it found a node; whether it should is tested elsewhere
	}
	got := offer{node: tx.NominatedNode(pod)}
	for _, q := range bound {
		if s := tx.PodState(q); s != sim.PodStarting && s != sim.PodReady {
			got.gone = append(got.gone, q)
		}
	}
	w.compare(tx, pod, got, want)
	return progress
}

func (w *preempting) compare(tx *sim.Tx, pod int32, got offer, want *offer) {
	if want == nil {
		if len(got.gone) > 0 {
			w.t.Fatalf("pod %d preempts %v, want nobody", pod, got.gone)
		}
		w.nobody++
		return
	}
	slices.Sort(want.gone)
	if got.node != want.node || !slices.Equal(got.gone, want.gone) {
		w.t.Fatalf("time %d, pod %d of %s preempts %v on node %d, want %+v", tx.Now()/sec, pod, tx.Job(tx.JobOf(pod)).ID, got.gone, got.node, *want)
	}
	w.made++
	w.violations += want.violations
}

// roomOn reports whether a pod fits on a node without those that are imagined gone.
func roomOn(v sim.View, pod, node int32) bool {
	set, n := podSetOf(v, pod), &v.Cluster().Nodes[node]
	free := n.Allocatable
	boundPods(v, func(q, _, at int32) {
		if at == node {
			free = free.Minus(*v.PodRequest(v.SetOf(q)))
		}
	})
	prio := func(p int32) int32 { return v.Job(v.JobOf(p)).Priority }
	for p := range int32(v.Pods()) {
		if p != pod && v.NominatedNode(p) == node && prio(p) >= prio(pod) {
			free = free.Minus(*v.PodRequest(v.SetOf(p)))
		}
	}
	r := v.PodRequest(v.SetOf(pod))
	models := v.Models(v.SetOf(pod))
	return !v.Down(node) && r.FitsIn(&free) && (models == 0 || n.Model >= 0 && models>>n.Model&1 == 1) && (v.Pin(pod) < 0 || v.Pin(pod) == node) &&
		topology.Untolerated(n.Taints, set.Tolerated()) == nil && topology.MatchAll(set.NodeSelector, n.Labels) && set.NodeAffinity.Allows(n.Labels) &&
		termsHold(v, pod, node)
}

// choose returns the best offer of all nodes, nil if the pod has a place or nobody's leaving
// helps.
func (w *preempting) choose(v sim.View, pod int32) (best *offer) {
	clear(imaginedGone)
	for n := range int32(len(v.Cluster().Nodes)) {
		if roomOn(v, pod, n) {
			return nil
		}
	}
	if v.Job(v.JobOf(pod)).NoPreempt {
		return nil
	}
	for n := range int32(len(v.Cluster().Nodes)) {
		if o := w.offerOf(v, pod, n); o != nil && (best == nil || w.hurtsLess(v, o, best)) {
			best = o
		}
	}
	return best
}

// offerOf takes all less important pods off a node and puts them back one by one.
func (w *preempting) offerOf(v sim.View, pod, node int32) *offer {
	var lower []int32
	boundPods(v, func(q, j, at int32) {
		if at == node && v.Job(j).Priority < v.Job(v.JobOf(pod)).Priority {
			lower = append(lower, q)
		}
	})
	slices.SortStableFunc(lower, func(a, b int32) int { return w.importance(v, a, b) })
	violating := w.violating(v, lower)
	for _, q := range lower {
		imaginedGone[q] = true
	}
	defer clear(imaginedGone)
	if !roomOn(v, pod, node) || !nearEnough(v, pod, node) {
		return nil
	}
	o := &offer{node: node}
	for _, first := range []bool{true, false} {
		for _, q := range lower {
			if violating[q] != first {
				continue
			}
			if delete(imaginedGone, q); roomOn(v, pod, node) {
				continue
			}
			imaginedGone[q] = true
			o.gone = append(o.gone, q)
			if first {
				o.violations++
			}
		}
	}
	slices.SortStableFunc(o.gone, func(a, b int32) int { return w.importance(v, a, b) })
	if len(o.gone) == 0 {
		return nil
	}
	return o
}

// nearEnough is what no victim can change: the pods it must be near are there now.
func nearEnough(v sim.View, pod, node int32) bool {
	now := maps.Clone(imaginedGone)
	clear(imaginedGone)
	defer maps.Copy(imaginedGone, now)
	return nearOnly(v, pod, node)
}

// nearOnly judges required affinity alone.
func nearOnly(v sim.View, pod, node int32) bool {
	me := v.JobOf(pod)
	anyMeant := false
	boundPods(v, func(_, q, _ int32) { anyMeant = anyMeant || meansAll(v, me, q) })
	if !anyMeant && meansAll(v, me, me) {
		return true
	}
	for _, t := range v.Job(me).Affinity {
		there := t.Weight > 0
		boundPods(v, func(_, q, at int32) { there = there || meansAll(v, me, q) && sameDomain(v, node, at, t.Level) })
		if !there {
			return false
		}
	}
	return true
}

func (w *preempting) importance(v sim.View, a, b int32) int {
	pa, pb := v.Job(v.JobOf(a)).Priority, v.Job(v.JobOf(b)).Priority
	return cmp.Or(cmp.Compare(pb, pa), cmp.Compare(w.started[a], w.started[b]), cmp.Compare(a, b))
}

// violating tells which of some pods, in this order, would be one too many for a budget.
func (w *preempting) violating(v sim.View, pods []int32) map[int32]bool {
	out := map[int32]bool{}
	for i := range v.Budgets() {
		b := &v.Budgets()[i]
		var all, ready int32
		for p := range int32(v.Pods()) {
			if covered(b, v.Job(v.JobOf(p))) && v.State(v.JobOf(p)) == sim.Admitted {
				all++
				if v.PodState(p) == sim.PodReady {
					ready++
				}
			}
		}
		left := b.Allowed(all, ready)
		for _, p := range pods {
			if covered(b, v.Job(v.JobOf(p))) {
				left--
				out[p] = out[p] || left < 0
			}
		}
	}
	return out
}

func covered(b *workloads.Budget, j *workloads.Job) bool {
	return j.Namespace == b.Namespace && len(b.Of.Match) > 0 && len(j.Labels) > 0 && topology.MatchAll(b.Of.Match, j.Labels)
}

// hurtsLess is the list of the documentation.
func (w *preempting) hurtsLess(v sim.View, a, b *offer) bool {
	highest := func(o *offer) int32 { return v.Job(v.JobOf(o.gone[0])).Priority }
	sum := func(o *offer) (n int64) {
		for _, p := range o.gone {
			n += int64(v.Job(v.JobOf(p)).Priority) + 1<<31
		}
		return n
	}
	earliest := func(o *offer) int64 {
		at := int64(math.MaxInt64)
		for _, p := range o.gone {
			if v.Job(v.JobOf(p)).Priority == highest(o) {
				at = min(at, w.started[p])
			}
		}
		return at
	}
	return cmp.Or(cmp.Compare(a.violations, b.violations), cmp.Compare(highest(a), highest(b)), cmp.Compare(sum(a), sum(b)),
		cmp.Compare(len(a.gone), len(b.gone)), cmp.Compare(earliest(b), earliest(a))) < 0
}

func TestPreemptionAgainstScan(t *testing.T) {
	made, violations, nobody := 0, 0, 0
	for seed := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, 77))
		c := mixedCluster(t, r, 4+r.IntN(14))
		jobs := mixedJobs(r, c, 60, false)
		if seed%3 > 0 {
			jobs = withSelectors(r, jobs)
		}
		for j := range jobs {
			jobs[j].Priority, jobs[j].NoPreempt = int32(r.IntN(4)), r.IntN(8) == 0
			jobs[j].Startup = sec * int64(r.IntN(3))
		}
		d, _ := Lookup("per-pod")
		policy := d.New(map[string]string{"sampling": "off"})
		w := &preempting{kube: policy.Binder.(*kube), t: t}
		policy.Binder = w
		app := func(value string) workloads.PodSelector {
			return workloads.PodSelector{Match: []topology.Requirement{{Key: "app", Operator: topology.In, Values: []string{value}}}}
		}
		cfg := &sim.Config{Cluster: c, Jobs: jobs, Queues: []quota.Queue{{Name: "default"}}, Until: 3000 * sec, Seed: 3,
			Budgets: []workloads.Budget{{Namespace: "a", Of: app("x"), N: 60, Percent: true}, {Namespace: "a", Of: app("y"), N: 2, UseMax: true}, {Namespace: "b"}}}
		e, err := sim.New(cfg, policy, nil)
		if err != nil {
			t.Fatal(err)
		}
		e.Run()
		made, violations, nobody = made+w.made, violations+w.violations, nobody+w.nobody
	}
	if made < 50 || violations < 5 || nobody < 50 {
		t.Errorf("%d preemptions with %d violations, %d times none: the test is too easy", made, violations, nobody)
	}
	t.Logf("%d preemptions with %d violations, %d times none", made, violations, nobody)
}

// Preemption is blind to gangs: one important pod breaks a gang of eight, and the seven
// others hold their GPUs for nothing.
func TestPreemptionBreaksGangs(t *testing.T) {
	_, r := boundStory(t, cluster(t, 4, 4), []workloads.Job{job("gang", 0, 8, 1, 1000), important(job("high", 100, 1, 1, 50), 1)}, sim.Timing{}, nil)
	if r.Jobs[0].Evictions[sim.CausePreempted] != 1 {
		t.Errorf("evictions %v", r.Jobs[0].Evictions)
	}
	if got := r.Jobs[0].Finish; got != 1150*sec {
		t.Errorf("the gang ends at %d s, want 1150: it lost 100 s of work and 50 s of time", got/sec)
	}
}

// Whatever happens: important pods are never pushed off by less important ones, all books
// close, and the run is the same again.
func TestDeterminismOfPreemption(t *testing.T) {
	for seed := range uint64(6) {
		var digests [2]sim.Digest
		for i := range digests {
			r := rand.New(rand.NewPCG(seed, 4))
			c := mixedCluster(t, r, 10)
			jobs := mixedJobs(r, c, 60, seed%2 == 0)
			for j := range jobs {
				jobs[j].Priority = int32(r.IntN(3))
			}
			_, res := boundStory(t, c, jobs, sim.Timing{Termination: int64(seed) * sec}, nil)
			digests[i] = res.Digest
			for j := range jobs {
				if jobs[j].Priority == 2 && res.Jobs[j].Evictions[sim.CausePreempted] > 0 {
					t.Errorf("seed %d: a job of the highest priority was preempted", seed)
				}
			}
		}
		if digests[0] != digests[1] {
			t.Errorf("seed %d: %x and %x", seed, digests[0], digests[1])
		}
	}
}
