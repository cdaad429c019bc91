package sim

import (
	"math/bits"
	"slices"

	"github.com/gangplan/gangplan/internal/rng"
)

// creation is one pod about to be created, with what orders it among the others of the
// instant.
type creation struct {
	first, second int32
	pod           int32
}

// turn is a job that creates pods before the next Binder cycle, in this life of it.
type turn struct {
	job int32
	gen uint32
}

// createPods creates the pods of every job whose turn it is, in the configured order.
func (e *Engine) createPods() {
	if len(e.createNow) == 0 {
		return
	}
	e.waveNow = e.waveNow[:0]
	for turn, c := range e.createNow {
		if e.jobs[c.job].gen == c.gen { // not evicted since
			e.collectWave(c.job, int32(turn))
		}
	}
	e.createNow = e.createNow[:0]
	if e.cfg.Creation != Burst {
		slices.SortStableFunc(e.waveNow, compareCreation)
	}
	for _, c := range e.waveNow {
		e.createPod(c.pod)
	}
}

func compareCreation(a, b creation) int {
	if a.first != b.first {
		return int(a.first - b.first)
	}
	return int(a.second - b.second)
}

// collectWave lists the pods a job creates now: all of them, or the next wave when
// waves take time.
func (e *Engine) collectWave(j, turn int32) {
	jb := &e.jobs[j]
	e.getPods(j)
	end := jb.slots
	slow := e.cfg.Creation == SlowStart
	if slow && e.cfg.Timing.PodWave > 0 {
		length := e.jitter(j, e.cfg.Timing.PodWave, stepWave+uint64(jb.podStep))
		if end = min(end, 2*jb.podStep+1); end < jb.slots {
			e.events.push(e.now+length, evPodWave, j, jb.gen)
		}
		if e.cfg.Timing.Jitter > 1000 && jb.podStep > 0 {
			e.scatterWave(j, end, length)
			return
		}
	}
	for rank := jb.podStep; rank < end; rank++ {
		if !e.granted(jb.podBase + rank) {
			continue
		}
		c := creation{first: turn, second: rank, pod: jb.podBase + rank}
		switch e.cfg.Creation {
		case Interleaved:
			c.first, c.second = rank, turn
		case SlowStart:
			c.first, c.second = int32(bits.Len32(uint32(rank+1))), turn
		}
		e.waveNow = append(e.waveNow, c)
	}
	jb.podStep = end
}

// reconcile is one piece of work of Kueue's controller for Jobs, which does one after
// another. It returns when that is done.
func (e *Engine) reconcile(j int32, median int64, step uint64) int64 {
	e.reconciled = max(e.reconciled, e.now) + e.jitter(j, median, step)
	return e.reconciled
}

// unsuspend lets the Job controller create the pods of a job that was admitted. A job
// without a queue was never suspended.
func (e *Engine) unsuspend(j int32) {
	at := e.now
	if e.policy.Readiness {
		at = e.reconcile(j, e.cfg.Timing.Unsuspend, stepUnsuspend)
		e.seeJob(SawUnsuspended, j, at)
	}
	e.firstWave(j, at-e.now)
}

// firstWave begins the creation of a job's pods after a delay, once its backoff for lost ones
// is over.
func (e *Engine) firstWave(j int32, d int64) {
	d += e.jitter(j, e.cfg.Timing.PodCreate, stepPods)
	if jb := &e.jobs[j]; jb.lossKnown <= e.now {
		d = max(d, jb.noPodsUntil-e.now)
	}
	e.after(d, evPodWave, j)
}

// The steps whose times vary, for draws. Waves count on from the last.
const (
	stepWorkload uint64 = iota
	stepUnsuspend
	stepPods
	stepPod
	stepWave
)

// jitter draws how long a step takes in this life of a job, around its median.
func (e *Engine) jitter(j int32, median int64, step uint64) int64 {
	if e.cfg.Timing.Jitter <= 1000 || median == 0 {
		return median
	}
	m := float64(median) / 1e9
	long := m * float64(e.cfg.Timing.Jitter) / 1e3
	return rng.QuantiseMicros(rng.LogNormal(e.draw(j, step, 0), m, long))
}

// draw is the hash for a step in this life of a job, or of a pod of it.
func (e *Engine) draw(j int32, step uint64, rank int32) uint64 {
	life := rng.ID2(e.stableID(j), uint64(e.jobs[j].gen))
	return rng.Hash(e.cfg.Seed, rng.Latency, rng.ID2(life, step), uint64(rank))
}

// scatterWave creates the next pods of a job, each at a moment of its own within the wave.
func (e *Engine) scatterWave(j, end int32, length int64) {
	jb := &e.jobs[j]
	for rank := jb.podStep; rank < end; rank++ {
		if p := jb.podBase + rank; e.granted(p) {
			at, _ := bits.Mul64(e.draw(j, stepPod, rank), uint64(length))
			e.events.push(e.now+int64(at), evReplace, p, jb.gen)
		}
	}
	jb.podStep = end
}

// createPod lets the Job controller create a pod, when its client lets it.
func (e *Engine) createPod(p int32) {
	at := e.limits.jobs.next(e.now)
	if at > e.now {
		e.events.push(at, evPodCreate, p, e.jobs[e.pods[p].job].gen)
		return
	}
	e.makePod(p)
}

// makePod makes a pod exist. The Binder learns of a pod with a topology assignment when its
// gate is lifted.
func (e *Engine) makePod(p int32) {
	pd := &e.pods[p]
	pd.state, pd.lifted = PodPending, false
	pd.gen++
	e.see(SawCreated, p, -1)
	if pd.assigned && e.cfg.Timing.Ungate > 0 {
		e.events.push(e.now+e.cfg.Timing.Ungate, evPodVisible, pd.job, e.jobs[pd.job].gen)
		return
	}
	e.showPod(p)
}

func (e *Engine) showPod(p int32) {
	e.pods[p].visible = true
	e.signalPod(PodCreated, p)
}

// showPods lifts the gate of every pod of a job that was created long enough ago, as Kueue's
// client lets it.
func (e *Engine) showPods(j int32) {
	jb := &e.jobs[j]
	for p := jb.podBase; p < jb.podBase+jb.podStep; p++ {
		pd := &e.pods[p]
		if pd.state != PodPending || pd.visible || pd.lifted {
			continue
		}
		pd.lifted = true
		if at := e.limits.kueue.next(e.now); at > e.now {
			e.events.push(at, evPodShow, p, jb.gen)
		} else {
			e.showPod(p)
		}
	}
}

// called is a call of the API server whose time has come: it was held up, or scattered over a
// wave.
func (e *Engine) called(kind eventKind, p int32) {
	pd := &e.pods[p]
	switch {
	case kind == evPodCreate && pd.state == PodAbsent:
		e.makePod(p)
	case kind == evPodShow && pd.state == PodPending && !pd.visible:
		e.showPod(p)
	}
}
