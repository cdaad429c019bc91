package sim

import (
	"math/bits"
	"slices"

	"github.com/gangplan/gangplan/internal/rng"
	"github.com/gangplan/gangplan/sim/devices"
	"github.com/gangplan/gangplan/sim/ledger"
	"github.com/gangplan/gangplan/topology"
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
	end := jb.slots
	slow := e.cfg.Creation == SlowStart
	if slow && e.cfg.Timing.PodWave > 0 {
		if end = min(end, 2*jb.podStep+1); end < jb.slots {
			e.events.push(e.now+e.jitter(j, e.cfg.Timing.PodWave), evPodWave, j, jb.gen)
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

// firstWave begins the creation of a job's pods, once its backoff for lost ones is over.
func (e *Engine) firstWave(j int32) {
	jb := &e.jobs[j]
	d := max(e.jitter(j, e.cfg.Timing.PodCreate), jb.noPodsUntil-e.now)
	e.after(d, evPodWave, j)
}

// jitter makes a step of creating pods longer or shorter, by a draw for this step of this
// life of the job.
func (e *Engine) jitter(j int32, d int64) int64 {
	if e.cfg.Timing.Jitter == 0 || d == 0 {
		return d
	}
	jb := &e.jobs[j]
	h := rng.Hash(e.cfg.Seed, rng.Latency, rng.ID2(e.stableID(j), uint64(jb.gen)), uint64(jb.podStep))
	by := int64(h>>32)%(2*e.cfg.Timing.Jitter+1) - e.cfg.Timing.Jitter
	return d + d*by/1000
}

// createPod makes a pod exist. The Binder learns of a pod with a topology assignment
// when its gate is lifted.
func (e *Engine) createPod(p int32) {
	pd := &e.pods[p]
	pd.state = PodPending
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

// showPods lifts the gate of every pod of a job that was created long enough ago.
func (e *Engine) showPods(j int32) {
	jb := &e.jobs[j]
	for p := jb.podBase; p < jb.podBase+jb.podStep; p++ {
		if pd := &e.pods[p]; pd.state == PodPending && !pd.visible {
			e.showPod(p)
		}
	}
}

// startUp draws how long a pod takes from bound to ready. Draws are a function of job,
// rank and attempt, so that every policy sees the same.
func (e *Engine) startUp(p int32) int64 {
	pd := &e.pods[p]
	spec := &e.cfg.Jobs[pd.job]
	t := &e.cfg.Timing
	d := t.Bind + e.pull(p)
	if spec.Startup >= 0 {
		return spec.Startup
	}
	if s := &t.Start; s.Median > 0 {
		id, attempt := e.stableID(pd.job), uint64(pd.attempt)
		rank := uint64(p - e.jobs[pd.job].podBase)
		pod := rng.Hash(e.cfg.Seed, rng.StartUp, rng.ID2(id, rank), attempt)
		d += rng.QuantiseMillis(rng.LogNormal(pod, float64(s.Median)/1e9, float64(s.P99)/1e9))
		init := rng.Uniform(rng.Hash(e.cfg.Seed, rng.StartUp, id, attempt))
		d += s.InitMin + rng.QuantiseMillis(init*float64(s.InitMax-s.InitMin)/1e9)
	}
	return d
}

// pull is the time to fetch the job's image unless the node has it; it has it from then
// on.
func (e *Engine) pull(p int32) int64 {
	spec := &e.cfg.Jobs[e.pods[p].job]
	if spec.ImageBytes == 0 {
		return 0
	}
	image, node := e.imageOf[e.pods[p].job], e.pods[p].node
	if slices.Contains(e.nodes.images[node], image) {
		return 0
	}
	e.nodes.images[node] = append(e.nodes.images[node], image)
	took := int64(0)
	if e.cfg.Timing.PullBytesSec > 0 {
		took = mulDiv(spec.ImageBytes, 1e9, e.cfg.Timing.PullBytesSec)
	}
	e.nodes.having[image].add(node, e.now+e.cfg.Timing.Bind+took)
	return took
}

// holders are the nodes that have an image, or will when they have pulled it.
type holders struct {
	nodes []int32
	from  []int64 // sorted
}

func (h *holders) add(node int32, from int64) {
	i := len(h.from)
	for i > 0 && h.from[i-1] > from {
		i--
	}
	h.nodes, h.from = slices.Insert(h.nodes, i, node), slices.Insert(h.from, i, from)
}

// at returns the nodes that have the image at a time.
func (h *holders) at(now int64) []int32 {
	n := len(h.from)
	for n > 0 && h.from[n-1] > now {
		n--
	}
	return h.nodes[:n]
}

// slots are the terminating pods: they outlive the pod they come from, whose rank may be
// created again meanwhile.
type slots struct {
	all  []slot
	free []int32
	live int
}

type slot struct {
	job     int32
	pod     int32 // as which it ran; it may be another's by now
	preempt bool  // to make room for a more important one
	node    int32 // -1 once the pod is gone
	gpus    devices.Mask
	milli   int32 // of each
	request topology.Resources
}

// removePods takes every pod of a job away. Bound ones terminate for the grace.
func (e *Engine) removePods(j int32, grace int64) {
	jb := &e.jobs[j]
	for p := jb.podBase; p < jb.podBase+jb.slots; p++ {
		e.removePod(p, grace)
	}
	e.noteHolding(j)
}

// removePod deletes one pod, whatever its state. A running job was interrupted before.
func (e *Engine) removePod(p int32, grace int64) {
	pd := &e.pods[p]
	switch pd.state {
	case PodAbsent:
		return
	case PodPending:
		e.signalPod(PodDeleted, p)
	case PodAssumed:
		node := pd.node
		e.unassume(p)
		e.signalPod(PodDeleted, p)
		e.signalFreed(-1, -1, node)
	case PodStarting, PodReady:
		e.unbind(p, grace)
	}
	e.nominate(p, -1)
	pd.state, pd.node, pd.visible = PodAbsent, -1, false
	pd.gen++
	pd.attempt++
}

// unbind takes a bound pod off its node: at once, or through a terminating slot.
func (e *Engine) unbind(p int32, grace int64) {
	pd := &e.pods[p]
	jb := &e.jobs[pd.job]
	st := &e.sets[pd.set]
	from := ledger.Held
	if pd.state == PodStarting {
		from = ledger.Starting
		if p-jb.podBase-st.first < st.count-st.neverReady {
			e.startingPods--
		}
	} else {
		e.unready(p)
	}
	jb.bound--
	st.bound--
	gpus := st.request[topology.GPU]
	e.count(pd.job, WantedGPUs, gpus)
	e.count(pd.job, BoundGPUs, -gpus)
	if jb.charged {
		e.reservedRate += gpus
	}
	if grace == 0 {
		e.see(SawGone, p, pd.node)
		e.allocate(pd.node, -gpus, from)
		e.returnGPUs(pd.node, pd.gpus, st.ask.Milli)
		e.freeNode(pd.job, p, pd.node, st.request)
		return
	}
	e.signalPod(PodLeaving, p)
	e.transfer(pd.node, gpus, from, ledger.Terminating)
	e.terminate(slot{job: pd.job, pod: p, preempt: e.preempting, node: pd.node, gpus: pd.gpus, milli: st.ask.Milli, request: st.request}, grace)
}

func (e *Engine) terminate(s slot, grace int64) {
	id := int32(len(e.slots.all))
	if n := len(e.slots.free); n > 0 {
		id = e.slots.free[n-1]
		e.slots.free = e.slots.free[:n-1]
		e.slots.all[id] = s
	} else {
		e.slots.all = append(e.slots.all, s)
	}
	e.slots.live++
	e.nodes.releasing[s.node] = e.nodes.releasing[s.node].Plus(s.request)
	e.events.push(e.now+grace, evPodGone, id, 0)
}

// podGone ends a terminating pod, unless its node took it down before.
func (e *Engine) podGone(id int32) {
	if e.slots.all[id].node >= 0 {
		e.endTerminating(id)
	}
	e.slots.free = append(e.slots.free, id)
}

// endTerminating gives the resources of a terminating pod back.
func (e *Engine) endTerminating(id int32) {
	s := e.slots.all[id]
	e.see(SawGone, s.pod, s.node)
	e.slots.all[id].node = -1
	e.slots.live--
	e.nodes.releasing[s.node] = e.nodes.releasing[s.node].Minus(s.request)
	e.allocate(s.node, -s.request[topology.GPU], ledger.Terminating)
	e.returnGPUs(s.node, s.gpus, s.milli)
	e.freeNode(s.job, -1, s.node, s.request)
}

// freeNode returns what a pod of a job had of a node and says so; pods in line for it come
// first.
func (e *Engine) freeNode(j, pod, node int32, r topology.Resources) {
	e.take(Physical, node, topology.Resources{}.Minus(r))
	e.bindPipelined(node)
	e.signalFreed(j, pod, node)
}
