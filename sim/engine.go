package sim

import (
	"github.com/gangplan/gangplan/sim/ledger"
	"github.com/gangplan/gangplan/topology/fabric"
)

// Engine runs one policy over one configuration. It owns time, feasibility, life-cycle,
// barrier, readiness, eviction, termination, accounting and digest; the policy owns the
// decisions. An Engine is used once.
type Engine struct {
	*world
	policy   Policy
	recorder Recorder
	witness  Witness // the recorder, if it is one
	events   eventQueue
	tx       Tx

	admit, bind driver
	active      []int32 // admitted jobs, in no order
	createNow   []turn  // jobs whose pods come into being before the next Binder cycle
	waveNow     []creation
	slots       slots    // terminating pods
	limits      limiters // of calls of the API server

	reconciled int64 // when Kueue's controller for Jobs has done what it has to do

	digest         Digest
	lastTransition int64
	closing        ledger.Ledger // the books at the last transition, if time went on since
	resting        bool          // a livelock within the instant: controllers wait for the next event
	arrived, ended int
	woken          int // wakes of the Admitter since the last transition
	deeds          int // actions that are still to come
	activations    int // of them, those that activate a job

	sinking         bool // a node goes down, and its pods with it
	running         int  // jobs whose barrier holds
	startingPods    int  // pods with a start-up that ends
	holding         int  // jobs that hold GPUs behind an open barrier
	holdingSet      uint64
	finishedAt      int64 // last finish of any job
	safeAt          int64 // last time any job made progress safe
	starving        int   // starvation timers outstanding
	spinning        int   // evictions since anybody got anywhere
	spinMark        int64 // when the last of spinLimit of them began
	spinUntil       int   // evictions when they are over
	starts          startCounter
	waitingLong     [][]int32 // per queue: jobs past their starvation time that are not started
	findings        []Finding
	deadlocks       []uint64
	livelocked      []bool
	reservedIdle    ledger.Uint128 // quota taken beyond what is bound, milli-GPU x ns
	reservedRate    int64
	closingReserved ledger.Uint128
	closingLast     Sample
	wound           bool // the clock was moved back to the last transition
	intervals       []Interval
	fitKnown        map[uint64]bool // per jobShape

	timeline      *ledger.Timeline
	counts        []queueCount
	recounted     []int32                         // queues that changed in this instant
	closingCounts [][NumQueueLanes]ledger.Uint128 // by queue: the sums at the last transition

	sampler    sampler
	scratch    *fabric.Scratch
	load       fabric.Load
	sharing    sharing
	gang       []fabric.Pod
	gpuScratch []int32
	preempting bool // the pod that is removed makes room for another
	perModel   []int64
	lost       []int32
	left       []int64
	parts      []part

	stalls Stalls
	bounds []Bounds // by job; nil without a fabric
}

// driver runs one controller: its pending signals, and the time it is busy until.
type driver struct {
	controller Controller
	cost       int64
	wakeKind   eventKind
	signals    []Signal
	busyUntil  int64
	wakeAt     int64 // time of the wake event that is scheduled, or Never
	again      bool  // its last cycle made progress
}

// New prepares a run. The recorder may be nil.
func New(cfg *Config, policy Policy, recorder Recorder) (*Engine, error) {
	w, err := newWorld(cfg, policy.Blind)
	if err != nil {
		return nil, err
	}
	if err := w.shareGPUs(policy.GPUs); err != nil {
		return nil, err
	}
	e := &Engine{world: w, policy: policy, recorder: recorder, digest: NewDigest,
		finishedAt: -1, safeAt: -1,
		fitKnown: map[uint64]bool{}, perModel: make([]int64, len(cfg.Cluster.Models)),
		livelocked:  make([]bool, len(cfg.Jobs)),
		starts:      newStartCounter(w),
		waitingLong: make([][]int32, len(cfg.Queues)),
		left:        make([]int64, len(cfg.Cluster.Models)),
	}
	e.witness, _ = recorder.(Witness)
	if cfg.Fabric != nil {
		e.scratch = fabric.NewScratch(cfg.Fabric)
		e.sharing = newSharing(cfg)
		e.bounds = make([]Bounds, len(cfg.Jobs))
	}
	e.limits = newLimiters(&cfg.Timing.Clients)
	e.tx.e, e.tx.View.e = e, e
	e.admit = driver{controller: policy.Admitter, cost: cfg.Timing.AdmitterCycle, wakeKind: evAdmitterWake, wakeAt: Never}
	looks := len(cfg.Cluster.Nodes)
	if policy.Looks != nil {
		looks = policy.Looks(looks)
	}
	e.bind = driver{controller: policy.Binder, cost: cfg.Timing.cycle(looks), wakeKind: evBinderWake, wakeAt: Never}
	e.newSampler()
	e.newTimeline()
	policy.Admitter.Reset(e.tx.View)
	policy.Binder.Reset(e.tx.View)
	for i := range cfg.Actions {
		e.events.push(cfg.Actions[i].Time, cfg.Actions[i].kind(), int32(i), 0)
		e.countDeed(&cfg.Actions[i], 1)
	}
	for j := range cfg.Jobs {
		for i := range cfg.Jobs[j].Restarts {
			e.events.push(cfg.Jobs[j].Restarts[i].Time, evPodRestart, int32(j), uint32(i))
		}
	}
	if len(w.jobs) > 0 {
		e.events.push(cfg.Jobs[0].Submit, evArrival, 0, 0)
	}
	return e, nil
}

// Run plays the scenario to its own end.
func (e *Engine) Run() *Result {
	for e.Step() {
	}
	return e.Finish()
}

// Step plays one instant and reports whether there is another.
func (e *Engine) Step() bool {
	t := e.events.peek()
	if t == Never || e.cfg.Until > 0 && t > e.cfg.Until || e.over() {
		return false
	}
	e.advanceTo(t)
	e.resting = false
	for {
		progress := e.runController(&e.admit)
		e.drain()
		e.createPods()
		progress = e.runController(&e.bind) || progress
		if !progress {
			break
		}
	}
	e.shareLinks()
	e.claim()
	e.detectDeadlock()
	e.plan(&e.admit)
	e.plan(&e.bind)
	return true
}

// wakeLimit is how often in a row the Admitter can wake for nothing, as one that samples who
// used how much does while a job hangs, before the run looks whether anything can change.
const wakeLimit = 10_000

// leastSpins, and so many for every job that has not ended, are the evictions in a row, with
// nobody starting for the first time, finishing or making progress safe, that show that a run
// without `until` goes in circles: if nobody runs, or after as many again if nobody ran
// throughout.
const leastSpins, spinsPerJob = 1000, 10

func (e *Engine) spinLimit() int { return max(leastSpins, spinsPerJob*(len(e.jobs)-e.ended)) }

// over reports whether the run has come to its own end although timers are left: every
// job has ended and none can be activated again, or the rest can only wait, or is evicted
// and comes back for ever, whatever else will be done. With `until` the books stay open
// until then.
func (e *Engine) over() bool {
	if e.cfg.Until > 0 || e.arrived < len(e.jobs) {
		return false
	}
	if e.woken >= wakeLimit {
		if e.woken = 0; e.starving == 0 && !e.changePending() {
			return true
		}
	}
	return e.ended == len(e.jobs) && e.activations == 0 || len(e.events.heap) == e.starving ||
		e.deeds == 0 && (e.spinning >= e.spinLimit() && e.running == 0 || e.spinning >= 2*e.spinLimit())
}

// advanceTo brings the books to t. When the present instant had a transition, the books
// at its end are kept: should nothing happen any more, the run ended here.
func (e *Engine) advanceTo(t int64) {
	if t > e.now {
		e.closeCounts()
		e.sampleUntil(t)
		if e.lastTransition == e.now {
			e.closing.CopyFrom(e.books)
			e.closingReserved = e.reservedIdle
			e.noteLast()
		}
		e.turnTimeline(t)
		e.reservedIdle.AddProduct(uint64(e.reservedRate), uint64(t-e.now))
		e.books.Advance(t)
		e.now = t
	}
}

// drain handles every event of the present instant, those that handling causes included.
func (e *Engine) drain() {
	for e.events.peek() == e.now {
		e.handle(e.events.pop())
	}
}

// runController gives one controller cycles until it makes no progress. A controller
// whose cycle costs time applies at the start of the cycle and is busy for the cost.
func (e *Engine) runController(d *driver) (progress bool) {
	for {
		e.drain()
		if e.resting || e.now < d.busyUntil {
			return progress
		}
		if len(d.signals) > 0 {
			d.controller.Signals(d.signals)
			d.signals = d.signals[:0]
		}
		d.again = d.controller.Cycle(&e.tx)
		e.tx.mustBeClean()
		if !d.again {
			return progress
		}
		progress = true
		d.busyUntil = e.now + d.cost
	}
}

// plan schedules the controller's next cycle: when its cost is over if there is more to
// do, or when it asks for one.
func (e *Engine) plan(d *driver) {
	at := d.controller.NextWake()
	if at <= e.now {
		at = Never
	}
	if e.now < d.busyUntil && d.unfinished() {
		at = min(at, d.busyUntil)
	}
	if at < d.wakeAt {
		d.wakeAt = at
		e.events.push(at, d.wakeKind, 0, 0)
	}
}

// unfinished reports whether the controller has more to do now but is busy.
func (d *driver) unfinished() bool { return d.again || len(d.signals) > 0 }

func (d *driver) woken(now int64) {
	if d.wakeAt <= now {
		d.wakeAt = Never
	}
}

// signal tells both controllers.
func (e *Engine) signal(s Signal) {
	s.At = e.now
	e.admit.signals = append(e.admit.signals, s)
	e.bind.signals = append(e.bind.signals, s)
}

func (e *Engine) signalJob(k SignalKind, j int32) {
	e.signal(Signal{Kind: k, Job: j, Pod: -1, Place: -1})
}

func (e *Engine) signalPlace(k SignalKind, place int32) {
	e.signal(Signal{Kind: k, Job: -1, Pod: -1, Place: place})
}

func (e *Engine) signalFreed(j, pod, node int32) {
	e.signal(Signal{Kind: NodeFreed, Job: j, Pod: pod, Place: node})
}

func (e *Engine) signalPod(k SignalKind, p int32) {
	e.signal(Signal{Kind: k, Job: e.pods[p].job, Pod: p, Place: e.pods[p].node})
}

// emit records a transition of which there is nothing to explain.
func (e *Engine) emit(k TransitionKind, j, rank, place, count int32) {
	e.emitFor(0, k, j, rank, place, count)
}

// emitFor records a transition and why it came.
func (e *Engine) emitFor(why Why, k TransitionKind, j, rank, place, count int32) {
	t := Transition{Time: e.now, Kind: k, Job: j, Rank: rank, Place: place, Count: count, Why: why}
	e.digest = e.digest.Add(t)
	e.lastTransition, e.woken = e.now, 0
	if e.recorder != nil {
		e.recorder.Record(t)
	}
}
