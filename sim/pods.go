package sim

import (
	"slices"

	"github.com/gangplan/gangplan/internal/rng"
	"github.com/gangplan/gangplan/sim/devices"
	"github.com/gangplan/gangplan/sim/ledger"
	"github.com/gangplan/gangplan/topology"
)

// startUp draws how long a pod takes from bound to ready. Draws are a function of job,
// rank and attempt, so that every policy sees the same.
func (e *Engine) startUp(p int32) int64 {
	pd := &e.pods[p]
	spec := &e.cfg.Jobs[pd.job]
	t := &e.cfg.Timing
	held := e.limits.scheduler.next(e.now) - e.now // until the scheduler's client lets it bind
	d := t.Bind + e.pull(p) + held
	if spec.Startup >= 0 {
		return spec.Startup + held
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
		e.removePod(p, grace+e.spread(p))
	}
	e.noteHolding(j)
}

// spread is how much later than the first of its job a pod ends that ends together with the
// others: each does so by itself.
func (e *Engine) spread(p int32) int64 {
	pd := &e.pods[p]
	jb := &e.jobs[pd.job]
	if e.cfg.Timing.PodEnd == 0 || jb.pods < 2 {
		return 0
	}
	h := rng.Hash(e.cfg.Seed, rng.Latency, rng.ID2(e.stableID(pd.job), uint64(p-jb.podBase)), uint64(pd.attempt))
	return int64(h % uint64(e.cfg.Timing.PodEnd*int64(jb.pods)))
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
			grace = e.unstarted(pd.job, grace)
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

// unstarted is the grace of a pod that still starts.
func (e *Engine) unstarted(j int32, grace int64) int64 {
	if !e.cfg.Timing.EndStarting {
		return grace
	}
	return max(0, grace-e.termination(j))
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
