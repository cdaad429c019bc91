package sim

import (
	"slices"

	"github.com/gangplan/gangplan/internal/rng"
)

// burstLimit is how often a job may be evicted within one instant.
const burstLimit = 16

// find records a verdict.
func (e *Engine) find(f Finding) {
	e.findings = append(e.findings, f)
	first := int32(-1)
	if len(f.Jobs) > 0 {
		first = f.Jobs[0]
	}
	e.emit(Verdict, first, -1, -1, int32(f.Kind))
}

// detectDeadlock looks, after an instant's last cycle, whether some job holds GPUs while
// nothing runs, starts, terminates or is due that could free them.
func (e *Engine) detectDeadlock() {
	if e.holding == 0 || e.running > 0 || e.startingPods > 0 || e.slots.live > 0 ||
		slices.Contains(e.deadlocks, e.holdingSet) || e.admit.unfinished() || e.bind.unfinished() || e.policy.Binder.Undecided() || e.changePending() {
		return
	}
	e.deadlocks = append(e.deadlocks, e.holdingSet)
	var jobs []int32
	for j := range e.jobs {
		if e.jobs[j].holding {
			jobs = append(jobs, int32(j))
		}
	}
	e.find(Finding{Kind: Deadlock, Time: e.now, Jobs: jobs, Detail: "these jobs hold GPUs, none has all its pods, and nothing is due that could change it"})
}

// changePending reports whether an event that can free a GPU is scheduled and alive.
func (e *Engine) changePending() bool {
	for i := range e.events.heap {
		if ev := &e.events.heap[i]; !ev.kind.passive() && e.alive(ev) {
			return true
		}
	}
	return false
}

// noteEviction looks for the two kinds of livelock: sixteen evictions within an instant,
// or three during which nobody got anywhere.
func (e *Engine) noteEviction(j int32) {
	jb := &e.jobs[j]
	if jb.burstAt != e.now {
		jb.burst, jb.burstAt = 0, e.now
	}
	jb.burst++
	e.spin()
	jb.evictedAt = [3]int64{jb.evictedAt[1], jb.evictedAt[2], e.now}
	switch {
	case jb.burst >= burstLimit:
		e.resting = true
		e.livelock(j, "evicted sixteen times within one instant")
	case jb.evictedAt[0] >= 0 && e.stuckSince(jb.evictedAt[0]):
		e.livelock(j, "evicted three times while no job finished, made progress safe or ran throughout")
	}
}

// spin counts an eviction. A job that runs throughout as many as are allowed is getting
// somewhere.
func (e *Engine) spin() {
	if e.spinning == 0 {
		e.spinMark, e.spinUntil = e.now, e.spinLimit()
	}
	if e.spinning++; e.spinning < e.spinUntil {
		return
	}
	if !e.stuckSince(e.spinMark) {
		e.spinning = 0
	}
	e.spinMark, e.spinUntil = e.now, e.spinning+e.spinLimit()
}

func (e *Engine) livelock(j int32, detail string) {
	if !e.livelocked[j] {
		e.livelocked[j] = true
		e.find(Finding{Kind: Livelock, Time: e.now, Jobs: []int32{j}, Detail: detail})
	}
}

// stuckSince reports whether no job finished or made progress safe since t and none ran
// throughout.
func (e *Engine) stuckSince(t int64) bool {
	if e.finishedAt > t || e.safeAt > t {
		return false
	}
	if e.running == 0 {
		return true
	}
	return !slices.ContainsFunc(e.active, func(j int32) bool {
		return e.jobs[j].running && e.jobs[j].runningSince <= t
	})
}

// startCounter counts, per queue, how many jobs after a given one have started: a
// Fenwick tree over each queue's jobs in the order of the trace.
type startCounter struct {
	local []int32   // job -> position in its queue, from 1
	trees [][]int32 // per queue
	total []int32
}

func newStartCounter(w *world) startCounter {
	c := startCounter{local: make([]int32, len(w.jobs)), trees: make([][]int32, w.quota.Len()), total: make([]int32, w.quota.Len())}
	sizes := make([]int32, w.quota.Len())
	for j := range w.jobs {
		q := w.jobs[j].queue
		sizes[q]++
		c.local[j] = sizes[q]
	}
	for q := range c.trees {
		c.trees[q] = make([]int32, sizes[q]+1)
	}
	return c
}

func (c *startCounter) add(queue, j int32) {
	tree := c.trees[queue]
	for i := c.local[j]; i < int32(len(tree)); i += i & -i {
		tree[i]++
	}
	c.total[queue]++
}

// after returns how many jobs of the queue behind j have started.
func (c *startCounter) after(queue, j int32) int32 {
	tree := c.trees[queue]
	n := c.total[queue]
	for i := c.local[j]; i > 0; i -= i & -i {
		n -= tree[i]
	}
	return n
}

// starvedBehind is how many later jobs must have started for a waiting one to be starved.
const starvedBehind = 100

// countStart notes a first start, and gives the verdict on those it starves.
func (e *Engine) countStart(j int32) {
	q := e.jobs[j].queue
	e.starts.add(q, j)
	e.examine(q)
}

// checkStarvation looks at a job that has waited its time.
func (e *Engine) checkStarvation(j int32) {
	if jb := &e.jobs[j]; jb.firstStart < 0 && !jb.gone() {
		e.waitingLong[jb.queue] = append(e.waitingLong[jb.queue], j)
		e.examine(jb.queue)
	}
}

// examine goes through the jobs of a queue that have waited their time, oldest first. An
// older job has at least as many started ones behind it as a newer, so the first that is
// not starved ends the walk.
func (e *Engine) examine(q int32) {
	list := e.waitingLong[q]
	for len(list) > 0 {
		jb := &e.jobs[list[0]]
		if jb.firstStart < 0 && !jb.gone() && !e.starved(list[0]) {
			break
		}
		list = list[1:]
	}
	e.waitingLong[q] = list
}

func (jb *job) gone() bool { return jb.state >= Finished }

// starved gives the verdict once a hundred later jobs of the queue have started.
func (e *Engine) starved(j int32) bool {
	jb := &e.jobs[j]
	if e.starts.after(jb.queue, j) < starvedBehind {
		return false
	}
	e.find(Finding{Kind: Starvation, Time: e.now, Jobs: []int32{j}, Detail: "not started while a hundred later jobs of its queue were"})
	return true
}

// findStuck gives the verdict, at the end, on jobs behind one that never fits: behind it in
// a queue, or without nodes because it holds some for ever.
func (e *Engine) findStuck() {
	blockers := e.firstNeverFitting()
	stuck := make([][]int32, len(blockers))
	for j := range e.jobs {
		j := int32(j)
		jb := &e.jobs[j]
		if b := blockers[jb.queue]; b >= 0 && !jb.neverFits && jb.firstStart < 0 && e.waitKey(b).Less(e.waitKey(j)) && e.stuckBehind(j, b) {
			stuck[jb.queue] = append(stuck[jb.queue], j)
		}
	}
	for _, jobs := range stuck {
		if len(jobs) > 0 {
			e.find(Finding{Kind: Starvation, Time: e.now, Jobs: jobs, Detail: "waits behind a job that never fits"})
		}
	}
}

func (e *Engine) stuckBehind(j, blocker int32) bool {
	jb := &e.jobs[j]
	if jb.state == Queued {
		return e.jobs[blocker].state == Queued && e.policy.Admitter.Why(e.tx.View, j) == ReasonOrder
	}
	return jb.state == Admitted && jb.bound < jb.pods && e.jobs[blocker].holding
}

// firstNeverFitting returns, per queue, the job that comes first of those that never fit
// and still wait, or -1.
func (e *Engine) firstNeverFitting() []int32 {
	first := make([]int32, e.quota.Len())
	for q := range first {
		first[q] = -1
	}
	for j := range e.jobs {
		jb := &e.jobs[j]
		waits := jb.neverFits && (jb.state == Queued || jb.state == Admitted)
		if at := &first[jb.queue]; waits && (*at < 0 || e.waitKey(int32(j)).Less(e.waitKey(*at))) {
			*at = int32(j)
		}
	}
	return first
}

func mix(x uint64) uint64 { return rng.ID2(x, 0x9e3779b97f4a7c15) }
