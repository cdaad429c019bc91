package sim_test

import (
	"encoding/binary"
	"flag"
	"fmt"
	"hash/fnv"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/gangplan/gangplan/policies"
	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/sim/ledger"
	"github.com/gangplan/gangplan/sim/quota"
	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/workloads"
)

const sec = int64(1e9)

// TestMain makes the random tests the same in every run, unless -rapid.seed or
// -rapid.checks says otherwise.
func TestMain(m *testing.M) {
	flag.Parse()
	defaults := map[string]string{"rapid.seed": "1", "rapid.checks": "200", "rapid.nofailfile": "true"}
	flag.Visit(func(f *flag.Flag) { delete(defaults, f.Name) })
	for name, value := range defaults {
		if err := flag.Set(name, value); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// tb is what *testing.T and *rapid.T have in common.
type tb interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// audit checks a run by its transitions alone: it replays them, with the faults of the
// scenario, against a second and much simpler model of the cluster. It checks that
//
//   - the digest is that of the transitions, and they come in the order of time;
//   - jobs and pods go through their states in order, a pod is bound at most once a life
//     and to a node that is up, and no node ever holds more than it has;
//   - work starts only behind a barrier, and a job finishes exactly when its remaining
//     work and its checkpoints are done;
//   - the books say what the replay says: starting, held, terminating and down to the
//     nanosecond, and useful, lost and checkpoint where a job's size does not change;
//   - the rows and findings of the result agree with the transitions.
//
// It knows nothing of queues, scores or policies.
func audit(t tb, cfg *sim.Config, trace sim.Transitions, r *sim.Result) {
	t.Helper()
	a := newAuditor(t, cfg)
	a.over = newOverTime(r.Timeline)
	for i := range trace {
		a.at = trace[i]
		a.advance(a.at.Time)
		a.take(a.at)
	}
	a.advance(r.End)
	a.stopAll()
	a.compareBooks(r)
	a.compareRows(r)
	a.compareTimeline(r)
	a.compareSpent(r)
	if d := digestOf(trace); d != r.Digest {
		t.Errorf("the digest is %016x, that of the transitions is %016x", uint64(r.Digest), uint64(d))
	}
}

func digestOf(trace sim.Transitions) sim.Digest {
	h := fnv.New64a()
	for _, x := range trace {
		for _, w := range []int64{x.Time, int64(x.Kind), int64(x.Job), int64(x.Rank), int64(x.Place), int64(x.Count)} {
			h.Write(binary.LittleEndian.AppendUint64(nil, uint64(w)))
		}
	}
	return sim.Digest(h.Sum64())
}

type auditor struct {
	tb
	cfg    *sim.Config
	now    int64
	at     sim.Transition // being replayed
	jobs   []auditedJob
	down   []bool
	cordon []bool
	used   []topology.Resources // by bound and by terminating pods
	ending []topology.Resources // by terminating pods
	gone   []departure
	faults []sim.Action
	counts [8][]ledger.Uint128 // milli-GPU x ns by auditedAccount and model
	split  bool                // useful, lost and checkpoint can be told apart
	events int                 // verdicts
	over   *overTime
	vague  bool // how many GPUs admitted jobs were granted is not known
}

// auditedAccount is a coarser account than the ledger's: running is useful, stalls, lost
// and checkpoint together.
type auditedAccount int

const (
	aStarting auditedAccount = iota
	aRunning
	aHeld
	aTerminating
	aDown
	aCheckpoint // part of aRunning, as are the next
	aUseful
	aLost
)

type departure struct {
	time    int64
	node    int32
	request topology.Resources
}

type auditedJob struct {
	state      string
	paused     bool // deactivated by a user
	pods       []auditedPod
	running    bool
	since      int64 // of running
	remaining  int64
	granted    int32
	completed  int32
	waved      int64 // when a wave last ended
	stretched  bool  // it was admitted with fewer pods than all,
	reduced    bool  // and nobody knows how much is left
	startedAt  int64 // first barrier of this admission
	useful     int64 // milli-GPU x ns; small enough in every scenario here
	lost       int64
	admit      int64
	start      int64
	finish     int64
	requeues   int32
	evicted    int32
	failed     int32
	deactivate int32
}

type auditedPod struct {
	set   int
	node  int32 // -1: none
	ready bool
}

func newAuditor(t tb, cfg *sim.Config) *auditor {
	a := &auditor{tb: t, cfg: cfg, jobs: make([]auditedJob, len(cfg.Jobs)), down: make([]bool, len(cfg.Cluster.Nodes)), cordon: make([]bool, len(cfg.Cluster.Nodes)),
		used: make([]topology.Resources, len(cfg.Cluster.Nodes)), ending: make([]topology.Resources, len(cfg.Cluster.Nodes)), split: cfg.Fabric == nil}
	for i := range a.counts {
		a.counts[i] = make([]ledger.Uint128, len(cfg.Cluster.Models))
	}
	for j := range a.jobs {
		a.jobs[j] = auditedJob{state: "future", waved: -1, remaining: cfg.Jobs[j].Duration, admit: -1, start: -1, finish: -1}
		for s, ps := range cfg.Jobs[j].PodSets {
			a.split = a.split && (ps.MinCount == 0 || ps.MinCount == ps.Count)
			for range ps.Count {
				a.jobs[j].pods = append(a.jobs[j].pods, auditedPod{set: s, node: -1})
			}
		}
	}
	a.faults = slices.Clone(cfg.Actions)
	slices.SortStableFunc(a.faults, func(x, y sim.Action) int {
		if byTime := compareTimes(x, y); byTime != 0 || x.Do == y.Do {
			return byTime
		}
		if x.Do == sim.DoUp {
			return -1
		}
		return 1
	})
	return a
}

func compareTimes(a, b sim.Action) int {
	switch {
	case a.Time < b.Time:
		return -1
	case a.Time > b.Time:
		return 1
	}
	return 0
}

func (a *auditor) wrong(format string, args ...any) {
	a.Helper()
	a.Fatalf("%s %v of job %d, rank %d: %s", seconds(a.at.Time), a.at.Kind, a.at.Job, a.at.Rank, fmt.Sprintf(format, args...))
}

func (a *auditor) check(ok bool, format string, args ...any) {
	a.Helper()
	if !ok {
		a.wrong(format, args...)
	}
}

// advance moves the clock to t through the departures of pods and the faults of nodes.
func (a *auditor) advance(t int64) {
	a.check(t >= a.now, "time runs backwards")
	for {
		next := t
		for _, g := range a.gone {
			next = min(next, g.time)
		}
		if len(a.faults) > 0 {
			next = min(next, a.faults[0].Time)
		}
		a.integrate(next)
		a.depart()
		for len(a.faults) > 0 && a.faults[0].Time <= a.now {
			a.fault(a.faults[0])
			a.faults = a.faults[1:]
		}
		if next == t {
			return
		}
	}
}

// fault takes a node down, with the pods that terminate on it, or brings it up, or closes or
// opens it. A job that a user took out of its queue may come back.
func (a *auditor) fault(f sim.Action) {
	node := f.Node
	if node < 0 && f.Job >= 0 && f.Rank >= 0 {
		node = a.jobs[f.Job].pods[f.Rank].node
	}
	switch f.Do {
	case sim.DoDown, sim.DoUnreachable, sim.DoDelete:
		if node >= 0 && !a.down[node] {
			a.sink(node)
		}
	case sim.DoUp:
		a.down[node] = false
	case sim.DoCordon, sim.DoUncordon:
		a.cordon[node] = f.Do == sim.DoCordon
	case sim.DoActivate:
		if j := &a.jobs[f.Job]; j.paused {
			j.paused, j.state = false, "backing off"
		}
	case sim.DoDeleteJob:
		a.jobs[f.Job].paused = false
	}
}

func (a *auditor) sink(node int32) {
	for i := range a.gone {
		if a.gone[i].node == node {
			a.gone[i].time = a.now
		}
	}
	a.depart()
	a.down[node] = true
}

// done reports whether something is done to a job now, or to a pod of it.
func (a *auditor) done(do sim.Deed, job, rank, node int32) bool {
	return slices.ContainsFunc(a.cfg.Actions, func(x sim.Action) bool {
		return x.Time == a.now && x.Do == do && x.Job == job && (rank < 0 || x.Rank == rank || x.Rank == workloads.AllPods && x.Node == node)
	})
}

func (a *auditor) depart() {
	kept := a.gone[:0]
	for _, g := range a.gone {
		if g.time > a.now {
			kept = append(kept, g)
			continue
		}
		a.used[g.node] = a.used[g.node].Minus(g.request)
		a.ending[g.node] = a.ending[g.node].Minus(g.request)
	}
	a.gone = kept
}

func (a *auditor) integrate(t int64) {
	from := a.now
	dt := uint64(t - a.now)
	a.now = t
	if dt == 0 {
		return
	}
	a.integrateQueues(from, t)
	for n := range a.down {
		if a.down[n] {
			a.count(aDown, int32(n), a.cfg.Cluster.Nodes[n].Allocatable[topology.GPU], dt)
		} else {
			a.count(aTerminating, int32(n), a.ending[n][topology.GPU], dt)
		}
	}
	for j := range a.jobs {
		for p := range a.jobs[j].pods {
			pod := &a.jobs[j].pods[p]
			if pod.node < 0 {
				continue
			}
			what := aHeld
			switch {
			case !pod.ready:
				what = aStarting
			case a.jobs[j].running:
				what = aRunning
			}
			a.count(what, pod.node, a.request(int32(j), pod)[topology.GPU], dt)
		}
	}
}

func (a *auditor) count(what auditedAccount, node int32, milli int64, dt uint64) {
	if m := a.cfg.Cluster.Nodes[node].Model; m >= 0 && milli > 0 {
		a.counts[what][m].AddProduct(uint64(milli), dt)
		a.book(what, node, milli, a.now-int64(dt), a.now)
	}
}

// book notes GPUs of a node over time only.
func (a *auditor) book(what auditedAccount, node int32, milli, from, until int64) {
	if m := a.cfg.Cluster.Nodes[node].Model; m >= 0 && milli > 0 {
		spread(a.over, a.over.accounts, accountKey{what, m}, from, until, milli)
	}
}

func (a *auditor) request(j int32, pod *auditedPod) topology.Resources {
	r := a.cfg.Jobs[j].PodSets[pod.set].Request
	r[topology.Pods] = 1
	return r
}

// take replays one transition.
func (a *auditor) take(x sim.Transition) {
	if x.Kind == sim.Verdict {
		a.events++
		return
	}
	j := &a.jobs[x.Job]
	switch x.Kind {
	case sim.Submit:
		a.move(j, "future", "queued")
		a.check(x.Time == a.cfg.Jobs[x.Job].Submit, "submitted at another time")
	case sim.Admit:
		a.move(j, "queued", "admitted")
		j.startedAt = -1
		j.granted = x.Count
		a.stretch(x.Job, x.Count)
		a.check(a.mayHave(x.Job, x.Count), "admitted with %d pods", x.Count)
		if j.admit < 0 {
			j.admit = x.Time
		}
	case sim.Bind:
		a.bind(x.Job, x.Rank, x.Place)
	case sim.Ready:
		a.ready(x.Job, x.Rank)
	case sim.Barrier:
		a.barrier(x.Job, x.Count)
	case sim.Requeue:
		a.move(j, "backing off", "queued")
		j.requeues++
	case sim.Finish:
		a.finish(x.Job)
	case sim.Evict:
		if x.Rank >= 0 {
			a.lose(x.Job, x.Rank, x.Place)
			return
		}
		a.move(j, "admitted", "backing off")
		j.evicted++
		a.dismiss(x.Job, a.grace(x.Job, a.cfg.Timing.EvictStop))
	case sim.Deactivate:
		j.paused = a.done(sim.DoDeactivate, x.Job, -1, -1)
		if a.leaves(j, "deactivated") {
			return
		}
		j.deactivate++
		a.dismiss(x.Job, a.grace(x.Job, a.cfg.Timing.EvictStop))
	case sim.Fail:
		deleted := x.Why == 0 && a.done(sim.DoDeleteJob, x.Job, -1, -1)
		switch {
		case deleted && a.leaves(j, "failed"):
		case deleted:
			a.dismiss(x.Job, a.grace(x.Job, a.cfg.Timing.EvictStop))
		default:
			a.move(j, "admitted", "failed")
			j.failed++
			a.dismiss(x.Job, a.grace(x.Job, 0))
		}
	}
}

// leaves takes a job out of its queue for good or for now, and reports whether it waited
// there. One that is admitted is left to the caller.
func (a *auditor) leaves(j *auditedJob, to string) bool {
	waited := j.state == "queued" || j.state == "backing off"
	a.check(waited || j.state == "admitted", "the job is %s", j.state)
	j.state = to
	return waited
}

// grace is how long evicted pods stay.
func (a *auditor) grace(job int32, stop int64) int64 {
	own := a.cfg.Jobs[job].Termination.Or(a.cfg.Timing.Termination)
	if own == 0 && stop == 0 {
		return 0
	}
	return own + stop
}

// graceOf is how much of a grace a pod needs: none of the termination if it still starts.
func (a *auditor) graceOf(job int32, rank int, grace int64) int64 {
	pod := &a.jobs[job].pods[rank]
	ps := &a.cfg.Jobs[job].PodSets[pod.set]
	first := slices.IndexFunc(a.jobs[job].pods, func(p auditedPod) bool { return p.set == pod.set })
	if a.cfg.Timing.EndStarting && !pod.ready && int32(rank-first) < ps.Count-ps.NeverReady {
		return max(0, grace-a.cfg.Jobs[job].Termination.Or(a.cfg.Timing.Termination))
	}
	return grace
}

func (a *auditor) move(j *auditedJob, from, to string) {
	a.Helper()
	a.check(j.state == from, "the job is %s, not %s", j.state, from)
	j.state = to
}

func (a *auditor) bind(job, rank, node int32) {
	j := &a.jobs[job]
	pod := &j.pods[rank]
	a.check(j.state == "admitted", "the job is %s", j.state)
	a.check(pod.node < 0, "bound twice in one life")
	a.check(!a.down[node] && (!a.cordon[node] || a.restarts(job, rank)), "node %d is closed", node)
	ps := &a.cfg.Jobs[job].PodSets[pod.set]
	n := &a.cfg.Cluster.Nodes[node]
	a.check(ps.Node == "" || ps.Node == n.Name, "pinned to %s, bound to %s", ps.Node, n.Name)
	a.check(len(ps.Models) == 0 || n.Model >= 0 && slices.Contains(ps.Models, a.cfg.Cluster.Models[n.Model]), "model not accepted")
	pod.node, pod.ready = node, false
	a.used[node] = a.used[node].Plus(a.request(job, pod))
	for r, u := range a.used[node] {
		a.check(u <= n.Allocatable[r], "node %s holds %d %v of %d", n.Name, u, topology.Resource(r), n.Allocatable[r])
	}
}

func (a *auditor) ready(job, rank int32) {
	j := &a.jobs[job]
	pod := &j.pods[rank]
	a.check(pod.node >= 0 && !pod.ready, "not starting")
	ps := &a.cfg.Jobs[job].PodSets[pod.set]
	first := slices.IndexFunc(j.pods, func(p auditedPod) bool { return p.set == pod.set })
	a.check(rank-int32(first) < ps.Count-ps.NeverReady, "a pod that never gets ready is")
	pod.ready = true
}

// holds reports whether a job's barrier holds, and how many pods are ready.
func (a *auditor) holds(job int32) (bool, int32) {
	ready := make([]int32, len(a.cfg.Jobs[job].PodSets))
	var all int32
	for _, p := range a.jobs[job].pods {
		if p.ready {
			ready[p.set]++
			all++
		}
	}
	for s, ps := range a.cfg.Jobs[job].PodSets {
		least := ps.MinCount
		if least == 0 {
			least = ps.Count
		}
		if j := &a.jobs[job]; len(a.cfg.Jobs[job].PodSets) == 1 && j.granted < ps.Count {
			least = j.granted // admitted with fewer pods, it wants them all
		}
		if n := a.cfg.Jobs[job].Completions; n > 0 {
			least = min(least, n-a.jobs[job].completed)
		}
		if ready[s] < least {
			return false, all
		}
	}
	return true, all
}

func (a *auditor) barrier(job, count int32) {
	j := &a.jobs[job]
	holds, ready := a.holds(job)
	a.check(j.state == "admitted" && !j.running && holds, "the barrier does not hold")
	a.check(ready == count, "%d pods are ready, not %d", ready, count)
	j.running, j.since = true, a.now
	if j.start < 0 {
		j.start = a.now
	}
	if j.startedAt < 0 {
		j.startedAt = a.now
	}
}

// mayHave reports whether a job may be admitted with so many pods.
func (a *auditor) mayHave(job, count int32) bool {
	least, all := int32(0), int32(0)
	for _, ps := range a.cfg.Jobs[job].PodSets {
		all += ps.Count
		least += ps.MinCount
		if ps.MinCount == 0 {
			least += ps.Count
		}
	}
	if a.cfg.Jobs[job].Completions > 0 {
		least = 1
	}
	return least <= count && count <= all
}

// stretch restates the work that is left for an admission with fewer pods: it takes longer
// by what is missing. Of several PodSets nobody says which has fewer: those are not checked,
// nor is what was done before an eviction, in parts of a nanosecond.
func (a *auditor) stretch(job, count int32) {
	j, spec := &a.jobs[job], &a.cfg.Jobs[job]
	j.reduced = j.reduced || j.stretched
	if all := int64(len(j.pods)); int64(count) < all && spec.Completions == 0 {
		j.reduced, j.stretched = j.reduced || j.evicted > 0 || len(spec.PodSets) > 1, true
		j.remaining = (j.remaining*all + int64(count) - 1) / int64(count)
	}
}

// finish checks that a job ends exactly when its work is done. Without a fabric work goes
// at full speed, with a checkpoint after every interval but not at the end.
func (a *auditor) finish(job int32) {
	j := &a.jobs[job]
	a.check(j.running, "not running")
	a.move(j, "admitted", "finished")
	if a.cfg.Fabric == nil {
		took := a.took(job)
		a.check(j.reduced || a.now-j.since == took, "ran %s, its work takes %s", seconds(a.now-j.since), seconds(took))
	}
	a.stop(job, true)
	j.finish = a.now
	a.dismiss(job, 0)
}

// stop ends the running of a job, and splits the time since its barrier into what is
// safe, the checkpoints, and what was at risk.
func (a *auditor) stop(job int32, kept bool) {
	j := &a.jobs[job]
	if !j.running {
		return
	}
	j.running = false
	spec := &a.cfg.Jobs[job]
	ran := a.now - j.since
	var safe, saving, done int64
	i, c := spec.CheckpointInterval, spec.CheckpointCost
	if i > 0 && ran > 0 {
		done = min(ran/(i+c), max(0, (j.remaining-1)/i))
		safe, saving = done*i, done*c
		ran -= done * (i + c)
		saving += max(0, ran-i)
		ran = min(ran, i)
	}
	j.remaining -= safe
	if kept {
		j.remaining -= ran
	}
	for p := range j.pods {
		if pod := &j.pods[p]; pod.ready {
			g := a.request(job, pod)[topology.GPU]
			j.useful += g * safe
			if kept {
				j.useful += g * ran
			} else {
				j.lost += g * ran
			}
			a.count(aCheckpoint, pod.node, g, uint64(saving))
			at := j.since
			for range done {
				a.book(aUseful, pod.node, g, at, at+i)
				at += i + c
			}
			what := aLost
			if kept {
				what = aUseful
			}
			a.book(what, pod.node, g, at, at+ran)
		}
	}
}

func (a *auditor) stopAll() {
	for j := range a.jobs {
		a.stop(int32(j), true)
	}
}

// lose takes one pod away: at once with its node, gracefully for a more important one.
func (a *auditor) lose(job, rank, node int32) {
	j := &a.jobs[job]
	pod := &j.pods[rank]
	a.check(pod.node == node, "was on node %d, not %d", pod.node, node)
	wasReady := pod.ready
	pod.ready = false
	pod.ready = wasReady
	a.wave(job)
	pod.ready = false
	if holds, _ := a.holds(job); !holds {
		pod.ready = wasReady
		a.stop(job, false)
		pod.ready = false
	}
	pod.node = -1
	r := a.request(job, pod)
	if a.down[node] || a.at.Why == 0 && (a.restarts(job, rank) || j.waved == a.now) {
		a.used[node] = a.used[node].Minus(r)
		return
	}
	pod.ready = wasReady
	grace := a.graceOf(job, int(rank), a.grace(job, 0))
	pod.ready = false
	switch {
	case a.done(sim.DoFailPod, job, rank, node):
		grace = 0
	case !a.done(sim.DoDeletePod, job, rank, node):
		a.check(a.lessImportant(job), "node %d is up and nobody is more important", node)
		j.evicted++ // preempted by kube-scheduler, pod by pod
	}
	a.ending[node] = a.ending[node].Plus(r)
	a.gone = append(a.gone, departure{a.now + grace, node, r})
	a.depart()
}

// took is how long a job's remaining work takes, with a checkpoint after every interval but not
// at the end.
func (a *auditor) took(job int32) int64 {
	left, spec := a.jobs[job].remaining, &a.cfg.Jobs[job]
	if spec.CheckpointInterval > 0 {
		return left + max(0, (left-1)/spec.CheckpointInterval)*spec.CheckpointCost
	}
	return left
}

// wave reports whether a job with completions has just done the work of a wave, and prepares
// it for the next.
func (a *auditor) wave(job int32) bool {
	j, spec := &a.jobs[job], &a.cfg.Jobs[job]
	if spec.Completions == 0 || !j.running || a.at.Why != 0 || a.cfg.Fabric == nil && a.now-j.since != a.took(job) {
		return false
	}
	for p := range j.pods {
		if j.pods[p].ready {
			j.completed++
		}
	}
	a.check(j.completed < spec.Completions, "all pods ran to their end")
	a.stop(job, true)
	j.granted = min(j.granted, spec.Completions-j.completed)
	j.remaining, j.waved = spec.Duration, a.now
	return true
}

// restarts reports whether a pod's containers fail now: it is bound again at once.
func (a *auditor) restarts(job, rank int32) bool {
	for _, r := range a.cfg.Jobs[job].Restarts {
		if r.Time == a.now && (r.Rank == workloads.AllPods || r.Rank == rank) {
			return true
		}
	}
	return false
}

func (a *auditor) lessImportant(job int32) bool {
	for i := range a.jobs {
		if a.cfg.Jobs[i].Priority > a.cfg.Jobs[job].Priority {
			return true
		}
	}
	return false
}

// dismiss takes all pods of a job away, gracefully.
func (a *auditor) dismiss(job int32, grace int64) {
	a.stop(job, false)
	for p := range a.jobs[job].pods {
		pod := &a.jobs[job].pods[p]
		if pod.node < 0 {
			continue
		}
		r := a.request(job, pod)
		a.ending[pod.node] = a.ending[pod.node].Plus(r)
		a.gone = append(a.gone, departure{a.now + a.graceOf(job, p, grace), pod.node, r})
		pod.node, pod.ready = -1, false
	}
	a.depart()
}

func (a *auditor) compareBooks(r *sim.Result) {
	a.Helper()
	var useful, lost ledger.Uint128
	for j := range a.jobs {
		useful.AddProduct(uint64(a.jobs[j].useful), 1)
		lost.AddProduct(uint64(a.jobs[j].lost), 1)
	}
	var booksUseful, booksLost ledger.Uint128
	for m := range a.cfg.Cluster.Models {
		sum := func(accounts ...ledger.Account) (u ledger.Uint128) {
			for _, x := range accounts {
				u.Add(r.Books.Sum(m, x))
			}
			return u
		}
		a.equal(m, "starting", sum(ledger.Starting), a.counts[aStarting][m])
		a.equal(m, "held", sum(ledger.Held), a.counts[aHeld][m])
		a.equal(m, "terminating", sum(ledger.Terminating), a.counts[aTerminating][m])
		a.equal(m, "down", sum(ledger.Down), a.counts[aDown][m])
		a.equal(m, "running", sum(ledger.Useful, ledger.StallLocality, ledger.StallContention, ledger.Lost, ledger.Checkpoint), a.counts[aRunning][m])
		if a.split {
			a.equal(m, "checkpoint", sum(ledger.Checkpoint), a.counts[aCheckpoint][m])
		}
		booksUseful.Add(sum(ledger.Useful))
		booksLost.Add(sum(ledger.Lost))
	}
	if a.split {
		a.equal(-1, "useful", booksUseful, useful)
		a.equal(-1, "lost", booksLost, lost)
	}
}

func (a *auditor) equal(model int, what string, got, want ledger.Uint128) {
	a.Helper()
	if got != want {
		a.Errorf("model %d: %s is %s GPU-s in the books, %s in the replay", model, what, gpuSeconds(got), gpuSeconds(want))
	}
}

func (a *auditor) compareRows(r *sim.Result) {
	a.Helper()
	if a.events != len(r.Findings) {
		a.Errorf("%d verdicts among the transitions, %d findings", a.events, len(r.Findings))
	}
	states := map[sim.JobState]string{sim.Future: "future", sim.Queued: "queued", sim.Backoff: "backing off", sim.Admitted: "admitted",
		sim.Finished: "finished", sim.Failed: "failed", sim.Deactivated: "deactivated"}
	for i, row := range r.Jobs {
		j := &a.jobs[i]
		var evictions int32
		for _, n := range row.Evictions {
			evictions += n // those for good included
		}
		got := []any{states[row.State], row.FirstAdmit, row.FirstStart, row.Finish, row.Requeues, evictions}
		want := []any{j.state, j.admit, j.start, j.finish, j.requeues, j.evicted + j.failed + j.deactivate}
		if d := cmp.Diff(want, got); d != "" {
			a.Errorf("job %d: state, admission, start, finish, requeues, evictions differ from the replay:\n%s", i, d)
		}
	}
}

// drawActions adds what is done to nodes, pods and jobs. Each has a moment of its own, so that
// what comes of it can be told from what else happens.
func (s *scene) drawActions(t *rapid.T) {
	node := rapid.IntRange(0, len(s.cfg.Cluster.Nodes)-1)
	for i := range rapid.SampledFrom([]int{0, 1, 2, 4, 12}).Draw(t, "actions") {
		a := sim.Action{Time: drawTime(t, "action", 0, 150) + int64(i+1)*7, Node: -1, Job: -1, Rank: workloads.AllPods,
			Do: rapid.SampledFrom([]sim.Deed{sim.DoUnreachable, sim.DoDelete, sim.DoCordon, sim.DoUncordon, sim.DoDeletePod, sim.DoFailPod,
				sim.DoDeleteJob, sim.DoDeactivate, sim.DoActivate}).Draw(t, "do")}
		if a.Do < sim.DoDeleteJob {
			a.Node = int32(node.Draw(t, "node"))
		}
		if a.Do >= sim.DoDeletePod {
			a.Job = int32(rapid.IntRange(0, len(s.cfg.Jobs)-1).Draw(t, "job"))
		}
		s.cfg.Actions = append(s.cfg.Actions, a)
	}
}

// A scene is a random small scenario and a policy to play it under.
type scene struct {
	cfg    sim.Config
	policy string
	params map[string]string
}

func (s *scene) newPolicy() sim.Policy {
	d, _ := policies.Lookup(s.policy)
	return d.New(s.params)
}

// play runs the scene and audits it.
func (s *scene) play(t tb) (sim.Transitions, *sim.Result) { return s.playWith(t, s.newPolicy()) }

func (s *scene) playWith(t tb, p sim.Policy) (sim.Transitions, *sim.Result) {
	t.Helper()
	var trace sim.Transitions
	e, err := sim.New(&s.cfg, p, &trace)
	if err != nil {
		t.Fatalf("%v", err)
	}
	for steps := 0; e.Step(); steps++ {
		if steps > 50_000 {
			t.Fatalf("no end after %d instants", steps)
		}
	}
	r := e.Finish()
	audit(t, &s.cfg, trace, r)
	return trace, r
}

// options narrow a random scene to what a property is about.
type options struct {
	deterministic bool // no random draws
	instant       bool // timing instant
	fullModels    bool // every PodSet names the models it accepts
}

func drawScene(t *rapid.T, o options) *scene {
	s := &scene{policy: rapid.SampledFrom(policies.Names()).Draw(t, "policy")}
	if s.policy == "gang-topology" {
		s.params = map[string]string{"mode": rapid.SampledFrom([]string{"preferred", "required", "unconstrained"}).Draw(t, "mode")}
	}
	s.cfg = sim.Config{Timing: sim.Instant, Cluster: drawCluster(t), Seed: rapid.Uint64Range(0, 3).Draw(t, "seed"),
		Creation: sim.Creation(rapid.IntRange(0, 2).Draw(t, "creation")), StarvationAfter: 100 * sec}
	if !o.instant {
		s.cfg.Timing = drawTiming(t, o)
	}
	s.cfg.Queues = drawQueues(t, s.cfg.Cluster)
	s.cfg.Jobs = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) workloads.Job { return drawJob(t, &s.cfg, o) }), 1, 12).Draw(t, "jobs")
	for i := range s.cfg.Jobs {
		s.cfg.Jobs[i].ID, s.cfg.Jobs[i].Row = fmt.Sprintf("j%02d", i), int64(i)
	}
	workloads.Sort(s.cfg.Jobs)
	s.cfg.Actions = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) sim.Action {
		return sim.Action{Time: drawTime(t, "fault", 0, 150), Node: int32(rapid.IntRange(0, len(s.cfg.Cluster.Nodes)-1).Draw(t, "node")), Do: rapid.SampledFrom([]sim.Deed{sim.DoDown, sim.DoUp}).Draw(t, "do")}
	}), 0, 4).Draw(t, "faults")
	s.drawActions(t)
	slices.SortStableFunc(s.cfg.Actions, compareTimes)
	drawPatience(t, &s.cfg)
	return s
}

func drawTime(t *rapid.T, label string, from, to int64) int64 {
	return rapid.Int64Range(from, to).Draw(t, label) * sec
}

func maybe(t *rapid.T, label string, percent int) bool {
	return rapid.IntRange(0, 99).Draw(t, label) >= 100-percent
}

func drawCluster(t *rapid.T) *topology.Cluster {
	levels := []string{"host"}
	racks := maybe(t, "racks", 50)
	if racks {
		levels = []string{"rack", "host"}
	}
	var nodes []topology.Node
	for i := range rapid.IntRange(1, 6).Draw(t, "nodes") {
		n := topology.Node{Name: fmt.Sprintf("n%d", i), GPUModel: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "model"),
			Allocatable: topology.DefaultAllocatable(rapid.SampledFrom([]int64{1, 2, 4, 8}).Draw(t, "gpus"))}
		if racks {
			n.Path = []string{fmt.Sprintf("r%d", i/2)}
		}
		nodes = append(nodes, n)
	}
	c, err := topology.Build(levels, nodes)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return c
}

func drawQueues(t *rapid.T, c *topology.Cluster) []quota.Queue {
	var total int64
	for _, g := range c.GPUsByModel() {
		total += g
	}
	var qs []quota.Queue
	for i := range rapid.IntRange(1, 2).Draw(t, "queues") {
		q := quota.Queue{Name: fmt.Sprintf("q%d", i), Strategy: quota.Strategy(rapid.IntRange(0, 1).Draw(t, "strategy"))}
		if maybe(t, "limited", 70) {
			q.Covers[topology.GPU], q.Nominal[topology.GPU] = true, rapid.Int64Range(1, 2*total/topology.Milli).Draw(t, "quota")*topology.Milli
		}
		qs = append(qs, q)
	}
	return qs
}

func drawTiming(t *rapid.T, o options) sim.Timing {
	tm := sim.Instant
	switch rapid.IntRange(0, 3).Draw(t, "timing") {
	case 1: // pods that terminate, quota that comes back before or after they are gone
		tm.Termination, tm.EvictRelease, tm.EvictStop = drawTime(t, "termination", 1, 20), drawTime(t, "release", 0, 30), drawTime(t, "stop", 0, 3)
	case 2: // a slow control plane
		tm.JobVisible, tm.PodCreate, tm.PodWave, tm.Ungate = drawTime(t, "visible", 0, 3), drawTime(t, "create", 0, 3), drawTime(t, "wave", 0, 3), drawTime(t, "ungate", 0, 3)
		tm.ReadyLag, tm.FinishLag, tm.Flush, tm.StrictWake = drawTime(t, "ready", 0, 3), drawTime(t, "finish", 0, 3), drawTime(t, "flush", 0, 3), drawTime(t, "wake", 0, 3)
		tm.Replace, tm.ReplaceMax, tm.AdmitterCycle, tm.BinderCycle = drawTime(t, "replace", 0, 9), 20*sec, drawTime(t, "admitter", 0, 1), drawTime(t, "binder", 0, 1)
	case 3:
		tm = sim.Kubernetes
		tm.PodEnd = 0 // the replay does not know when each pod ends
		if o.deterministic {
			tm.Start, tm.Jitter, tm.WholeSeconds = sim.StartUp{}, 0, false
		}
	}
	return tm
}

func drawJob(t *rapid.T, cfg *sim.Config, o options) workloads.Job {
	j := workloads.Job{Submit: drawTime(t, "submit", 0, 60), Duration: drawTime(t, "work", 0, 60), Priority: int32(rapid.IntRange(0, 2).Draw(t, "priority")),
		Queue: cfg.Queues[rapid.IntRange(0, len(cfg.Queues)-1).Draw(t, "queue")].Name}
	switch rapid.IntRange(0, 2).Draw(t, "startup") {
	case 1:
		j.Startup = drawTime(t, "startup", 1, 20)
	case 2:
		j.Startup = workloads.StartupFromTiming
	}
	if maybe(t, "checkpoints", 30) {
		j.CheckpointInterval, j.CheckpointCost = drawTime(t, "interval", 3, 30), drawTime(t, "cost", 1, 4)
	}
	if maybe(t, "limited", 10) {
		j.TimeLimit = drawTime(t, "limit", 1, 60)
	}
	for i := range rapid.SampledFrom([]int{1, 1, 1, 2}).Draw(t, "podsets") {
		ps := drawPodSet(t, cfg, o)
		ps.Name = fmt.Sprintf("s%d", i)
		j.PodSets = append(j.PodSets, ps)
	}
	if n := j.Pods(); len(j.PodSets) == 1 && maybe(t, "completions", 10) {
		j.Completions = n + int32(rapid.IntRange(0, 9).Draw(t, "more"))
	}
	if maybe(t, "restarts", 10) {
		j.Restarts = []workloads.Restart{{Time: drawTime(t, "fails", 1, 60), Rank: int32(rapid.IntRange(-1, int(j.Pods())-1).Draw(t, "rank")), Ready: drawTime(t, "back", 0, 30)}}
	}
	return j
}

func drawPodSet(t *rapid.T, cfg *sim.Config, o options) workloads.PodSet {
	gpus := rapid.SampledFrom([]int64{0, 500, 1000, 1000, 1000, 2000, 4000}).Draw(t, "milli")
	ps := workloads.PodSet{Count: int32(rapid.IntRange(1, 6).Draw(t, "pods")), Request: topology.Resources{gpus, gpus * 12, gpus * 96 * topology.GiB / 1000, 0}}
	if gpus == 0 {
		ps.Request[topology.CPU], ps.Request[topology.Memory] = workloads.CPUPodCPU, workloads.CPUPodMemory
	}
	if maybe(t, "partial", 15) {
		ps.MinCount = int32(rapid.IntRange(1, int(ps.Count)).Draw(t, "min"))
	}
	if maybe(t, "broken", 10) {
		ps.NeverReady = int32(rapid.IntRange(1, int(ps.Count)).Draw(t, "never ready"))
	}
	if maybe(t, "pinned", 10) {
		ps.Node = cfg.Cluster.Nodes[rapid.IntRange(0, len(cfg.Cluster.Nodes)-1).Draw(t, "pin")].Name
	}
	if maybe(t, "choosy", 20) {
		ps.Models = []string{rapid.SampledFrom([]string{"a", "b"}).Draw(t, "accepts")}
	} else if o.fullModels {
		ps.Models = cfg.Cluster.Models
	}
	if maybe(t, "asks for a topology", 20) {
		ps.Topology.Mode = workloads.TopologyMode(rapid.IntRange(1, 3).Draw(t, "mode"))
		if ps.Topology.Mode != workloads.TopologyUnconstrained {
			ps.Topology.Level = rapid.SampledFrom(cfg.Cluster.Levels).Draw(t, "level")
		}
	}
	return ps
}

// drawPatience draws readiness, notice and an end that every such scenario comes to.
func drawPatience(t *rapid.T, cfg *sim.Config) {
	cfg.Until = rapid.SampledFrom([]int64{0, 300 * sec, 1000 * sec}).Draw(t, "until")
	if maybe(t, "readiness", 50) {
		cfg.PodsReady = sim.PodsReady{Enabled: true, Timeout: drawTime(t, "timeout", 3, 60), RecoveryTimeout: drawTime(t, "recovery", 0, 30),
			FromCreation: rapid.Bool().Draw(t, "creation timestamp"), BackoffBase: drawTime(t, "base", 0, 20), BackoffMax: drawTime(t, "max", 0, 100),
			BackoffLimit: int32(rapid.IntRange(-1, 3).Draw(t, "backoff limit"))}
	}
	if maybe(t, "notice", 20) {
		cfg.Notice = sim.Notice{After: drawTime(t, "after", 3, 60), Action: sim.NoticeAction(rapid.IntRange(0, 1).Draw(t, "action"))}
	}
	forever := cfg.PodsReady.Enabled && cfg.PodsReady.BackoffLimit < 0 || cfg.Notice.After > 0 && cfg.Notice.Action == sim.Restart
	if forever && cfg.Until == 0 {
		cfg.Until = 700 * sec
	}
}

// Every random scenario ends, balances its books and passes the audit; the same run twice
// is the same run.
func TestDeterminismAndSoundness(t *testing.T) {
	seen := map[string]int{}
	defer func() { wantVariety(t, seen) }()
	rapid.Check(t, func(t *rapid.T) {
		s := drawScene(t, options{})
		first, a := s.play(t)
		for _, x := range first {
			seen[verb(x)]++
		}
		second, b := s.play(t)
		if d := cmp.Diff(first, second); d != "" || a.Digest != b.Digest {
			t.Fatalf("the second run differs:\n%s", d)
		}
	})
}

// wantVariety guards against scenarios in which too little happens to prove anything.
func wantVariety(t *testing.T, seen map[string]int) {
	for _, what := range []string{"submit", "admit", "bind", "ready", "barrier", "lose", "evict", "requeue", "deactivate", "finish", "fail",
		"deadlock:", "livelock:", "never_fits:"} {
		if seen[what] < 3 {
			t.Errorf("the random scenarios had %q %d times", what, seen[what])
		}
	}
}

// Equal jobs are parked together, and only the first of them is tried. That must not show:
// when something without effect makes every job different from all others, each is tried by
// itself, and the run is the same. It would show where Kueue does not wake who waits for places
// that another cohort gives back: a newcomer would find them, an equal of who waits does not.
func TestParkingEqualsDoesNotShow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawScene(t, options{instant: true})
		if s.policy == "gang-topology" {
			s.params["gates"] = "wakeTopology=true"
		}
		before, _ := s.play(t)
		for i := range s.cfg.Jobs {
			for k := range s.cfg.Jobs[i].PodSets {
				if r := &s.cfg.Jobs[i].PodSets[k].Topology; r.Mode == workloads.TopologyNone {
					r.Level = fmt.Sprint("of no meaning ", i)
				}
			}
		}
		after, _ := s.play(t)
		if d := cmp.Diff(before, after); d != "" {
			t.Fatalf("parking equal jobs together shows:\n%s", d)
		}
	})
}

// Names carry no meaning beyond their order, unless something is drawn by them.
func TestRelabellingChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawScene(t, options{deterministic: true})
		before, _ := s.play(t)
		s.relabel(t)
		after, _ := s.play(t)
		if d := cmp.Diff(before, after); d != "" {
			t.Fatalf("names matter:\n%s", d)
		}
	})
}

func (s *scene) relabel(t tb) {
	nodes := slices.Clone(s.cfg.Cluster.Nodes)
	for i := range nodes {
		nodes[i].Name = "host-" + nodes[i].Name
		nodes[i].Path = slices.Clone(nodes[i].Path)
		for l := range nodes[i].Path {
			nodes[i].Path[l] = "in-" + nodes[i].Path[l]
		}
	}
	c, err := topology.Build(s.cfg.Cluster.Levels, nodes)
	if err != nil {
		t.Fatalf("%v", err)
	}
	s.cfg.Cluster = c
	s.cfg.Queues = slices.Clone(s.cfg.Queues)
	for i := range s.cfg.Queues {
		s.cfg.Queues[i].Name = "team-" + s.cfg.Queues[i].Name
	}
	for i := range s.cfg.Jobs {
		j := &s.cfg.Jobs[i]
		j.ID, j.Queue = "train-"+j.ID, "team-"+j.Queue
		for k := range j.PodSets {
			j.PodSets[k].Name = "set-" + j.PodSets[k].Name
			if j.PodSets[k].Node != "" {
				j.PodSets[k].Node = "host-" + j.PodSets[k].Node
			}
		}
	}
}

// Under exact clocks time has no natural unit: a scenario k times as slow is the same
// scenario, but for the rounding of work.
func TestScalingTimeScalesTheRun(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawScene(t, options{instant: true})
		for i := range s.cfg.Jobs { // whole nanoseconds with any number of up to twelve pods
			s.cfg.Jobs[i].Duration = s.cfg.Jobs[i].Duration / 500 * (9 * 7 * 11)
			s.cfg.Jobs[i].CheckpointInterval = s.cfg.Jobs[i].CheckpointInterval / 500 * (9 * 7 * 11)
		}
		before, a := s.play(t)
		k := rapid.Int64Range(2, 7).Draw(t, "k")
		s.scale(k)
		after, b := s.play(t)
		for i := range before { // but for work in parts of a nanosecond
			if before[i].Time *= k; i < len(after) && max(before[i].Time-after[i].Time, after[i].Time-before[i].Time) < 3*k {
				before[i].Time = after[i].Time
			}
		}
		if d := cmp.Diff(before, after); d != "" || max(a.End*k-b.End, b.End-a.End*k) >= 3*k {
			t.Fatalf("%d times slower is different; ends %s and %s:\n%s", k, seconds(a.End), seconds(b.End), d)
		}
	})
}

func (s *scene) scale(k int64) {
	times := []*int64{&s.cfg.Until, &s.cfg.StarvationAfter, &s.cfg.Notice.After, &s.cfg.PodsReady.Timeout, &s.cfg.PodsReady.RecoveryTimeout,
		&s.cfg.PodsReady.BackoffBase, &s.cfg.PodsReady.BackoffMax}
	for i := range s.cfg.Jobs {
		j := &s.cfg.Jobs[i]
		times = append(times, &j.Submit, &j.Duration, &j.TimeLimit, &j.AdmittedLimit, &j.CheckpointInterval, &j.CheckpointCost)
		for r := range j.Restarts {
			times = append(times, &j.Restarts[r].Time, &j.Restarts[r].Ready)
		}
		if j.Startup > 0 {
			times = append(times, &j.Startup)
		}
	}
	for i := range s.cfg.Actions {
		times = append(times, &s.cfg.Actions[i].Time)
	}
	for _, x := range times {
		*x *= k
	}
}

// A node of a model that no job accepts and a queue that no job uses, both behind all
// others, change no transition and no account of the other models. Its one GPU is not enough
// for everybody who waits, so jobs without pods claim one by one, and not all at once.
func TestUnusedNodesAndQueuesChangeNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawScene(t, options{fullModels: true})
		before, a := s.play(t)
		nodes := slices.Clone(s.cfg.Cluster.Nodes)
		extra := topology.Node{Name: "zz", GPUModel: "zz", Allocatable: topology.DefaultAllocatable(1)}
		if len(s.cfg.Cluster.Levels) > 1 {
			extra.Path = []string{"zz"}
		}
		c, err := topology.Build(s.cfg.Cluster.Levels, append(nodes, extra))
		if err != nil {
			t.Fatalf("%v", err)
		}
		s.cfg.Cluster, s.cfg.Queues = c, append(slices.Clone(s.cfg.Queues), quota.Queue{Name: "zz"})
		after, b := s.play(t)
		if d := cmp.Diff(before, after); d != "" {
			t.Fatalf("an unused node and queue matter:\n%s", d)
		}
		for m := range a.Books.Models() {
			for x := range ledger.NumAccounts {
				if p, q := a.Books.Sum(m, x), b.Books.Sum(m, x); p != q {
					t.Errorf("model %d: %v was %s GPU-s, is %s", m, x, gpuSeconds(p), gpuSeconds(q))
				}
			}
		}
	})
}

// A policy may try anything in a transaction: after a rollback the view is what it was,
// and the run goes on as if nothing had been tried.
func TestRollbackRestoresTheView(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawScene(t, options{})
		before, _ := s.play(t)
		p := s.newPolicy()
		try := &tryer{t: t, seed: rapid.Uint64().Draw(t, "tries")}
		p.Admitter = &tryingAdmitter{Admitter: p.Admitter, try: try}
		p.Binder = &tryingBinder{Binder: p.Binder, try: try}
		after, _ := s.playWith(t, p)
		if d := cmp.Diff(before, after); d != "" {
			t.Fatalf("what was rolled back changed the run:\n%s", d)
		}
	})
}

type tryingAdmitter struct {
	sim.Admitter
	try *tryer
}

func (a *tryingAdmitter) Cycle(tx *sim.Tx) bool {
	a.try.attempt(tx)
	return a.Admitter.Cycle(tx)
}

type tryingBinder struct {
	sim.Binder
	try *tryer
}

func (b *tryingBinder) Cycle(tx *sim.Tx) bool {
	b.try.attempt(tx)
	return b.Binder.Cycle(tx)
}

// tryer does random verbs and takes them back.
type tryer struct {
	t    tb
	seed uint64
	busy []bool // jobs touched in this attempt
}

func (y *tryer) next(n int) int {
	y.seed = y.seed*6364136223846793005 + 1442695040888963407
	return int(y.seed>>33) % n
}

func (y *tryer) attempt(tx *sim.Tx) {
	if y.next(4) > 0 {
		return
	}
	y.busy = make([]bool, tx.Jobs())
	before := look(tx.View)
	outer := tx.Savepoint()
	y.verbs(tx)
	middle := look(tx.View)
	inner := tx.Savepoint()
	y.verbs(tx)
	tx.Rollback(inner)
	y.same(middle, look(tx.View))
	tx.Rollback(outer)
	y.same(before, look(tx.View))
}

func (y *tryer) same(before, after *looked) {
	y.t.Helper()
	for i := range before.names {
		a, b := before.part(i), after.part(i)
		if !slices.Equal(a, b) {
			y.t.Fatalf("rolled back, but %s was %d and is %d", before.names[i], a, b)
		}
	}
}

func (y *tryer) verbs(tx *sim.Tx) {
	for range 4 {
		j := int32(y.next(tx.Jobs()))
		if y.busy[j] {
			continue
		}
		switch tx.State(j) {
		case sim.Queued:
			y.busy[j] = true
			y.admit(tx, j)
		case sim.Admitted:
			if y.next(2) == 0 {
				y.busy[j] = true
				tx.Evict(j, sim.CausePreempted)
				continue
			}
			y.assume(tx, j)
		}
	}
}

func (y *tryer) admit(tx *sim.Tx, j int32) {
	first, last := tx.PodsOf(j)
	for p := first; p < last && y.next(3) > 0; p++ {
		tx.Assign(p, int32(y.next(len(tx.Cluster().Nodes))))
	}
	if y.next(2) == 0 {
		tx.Admit(j)
	} else {
		tx.AdmitFree(j)
	}
}

func (y *tryer) assume(tx *sim.Tx, j int32) {
	first, last := tx.PodsOf(j)
	for p := first; p < last; p++ {
		node := int32(y.next(len(tx.Cluster().Nodes)))
		if tx.PodState(p) != sim.PodPending || tx.Down(node) || !tx.PodRequest(tx.SetOf(p)).FitsIn(&tx.Free(sim.Physical)[node]) {
			continue
		}
		if gpus := tx.GPUs(); gpus != nil && !gpus[node].Fits(tx.Ask(tx.SetOf(p))) {
			continue
		}
		tx.Assume(p, node)
		if y.next(2) == 0 {
			tx.HoldUntil(p, tx.Now()+sec)
		}
	}
}

// looked is everything a policy can see that verbs can change, as named runs of numbers.
type looked struct {
	names  []string
	starts []int
	values []int64
}

func (l *looked) note(name string, values ...int64) {
	l.names, l.starts = append(l.names, name), append(l.starts, len(l.values))
	l.values = append(l.values, values...)
}

func (l *looked) resources(name string, rs ...topology.Resources) {
	l.note(name)
	for i := range rs {
		l.values = append(l.values, rs[i][:]...)
	}
}

func (l *looked) part(i int) []int64 {
	if i+1 < len(l.starts) {
		return l.values[l.starts[i]:l.starts[i+1]]
	}
	return l.values[l.starts[i]:]
}

func look(v sim.View) *looked {
	l := &looked{}
	l.note("free GPUs", v.FreeGPUs(0), v.FreeGPUs(1))
	for _, plane := range []sim.Plane{sim.Physical, sim.Assigned, sim.Empty} {
		l.resources("free", v.Free(plane)...)
		l.resources("used", v.Used(plane)...)
		for s := range int32(v.PodSets()) {
			l.note("counts")
			for _, n := range v.Counts(plane, v.Shape(s)) {
				l.values = append(l.values, int64(n))
			}
		}
	}
	for q := range int32(v.Quota().Len()) {
		l.resources("quota", v.Quota().Used(q))
	}
	for j := range int32(v.Jobs()) {
		l.note("job", int64(v.State(j)), v.QueueTime(j), int64(v.Deferred(j)), v.ExpectedEnd(j))
	}
	for p := range int32(v.Pods()) {
		l.note("pod", int64(v.PodState(p)), int64(v.NodeOf(p)), int64(v.Pin(p)), int64(v.Attempt(p)))
	}
	for n := range int32(len(v.Cluster().Nodes)) {
		l.resources("node", v.Releasing(n), v.Nominated(n))
	}
	return l
}
