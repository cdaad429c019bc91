package sim

import (
	"math/bits"

	"github.com/gangplan/gangplan/sim/ledger"
	"github.com/gangplan/gangplan/topology/fabric"
)

// fullSpeed is the rate of a job that runs at ideal speed: rates are 32-bit binary
// fractions of it.
const fullSpeed = 1 << 32

// progress is how far a job is. Work is kept in 2^-32 ns of ideal time, so that a rate
// change settles it exactly.
type progress struct {
	running       bool
	checkpointing bool
	started       bool   // the barrier has held in this admission
	runGen        uint32 // grows when work starts or stops; checkpoint events carry it
	finishGen     uint32 // grows when a finish is planned anew or not planned any more
	rate          uint64 // r of the contract
	unshared      uint64 // s: the rate without neighbours, never below rate
	settledAt     int64
	stretchFrom   int64 // when the stretch began of which wall is the length
	runningSince  int64
	remaining     ledger.Uint128
	safe          ledger.Uint128 // remaining work at the last safe point

	// At risk since the last safe point: wall ns, and dt x rate, dt x unshared.
	wall      int64
	useful    ledger.Uint128
	unsharedU ledger.Uint128
	parts     []part // of it, what was done on other GPUs than the gang has now

	// What the fabric made of it, weighted by running time. Costs are ppm of the ideal.
	idealAllReduce int64 // ns; 0 until known
	idleAllReduce  int64 // ns where it stands, without neighbours
	allReduce      int64 // ns now
	idleLevel      int8  // what binds it without neighbours, as fabric.Cost has it
	idlePlace      Place // the same as a place, and now
	place          Place
	sharedPlace    Place // where it was the last time that neighbours slowed it
	allReducePPM   int64
	localityPPM    int64
	stepPPM        int64
	runNanos       int64
	allReduceSum   ledger.Uint128
	localitySum    ledger.Uint128
	stepSum        ledger.Uint128

	settled ledger.Spent // what is settled of the running time
}

const ppm = 1_000_000

// run starts or resumes the work of a job whose barrier holds.
func (e *Engine) run(j int32) {
	jb := &e.jobs[j]
	jb.running = true
	jb.settledAt, jb.runningSince, jb.stretchFrom = e.now, e.now, e.now
	e.running++
	e.count(j, RunningJobs, 1)
	e.setRates(j)
	e.moveRunning(j, ledger.Held, ledger.Running)
	e.scheduleWork(j)
}

// scheduleWork plans the end of the remaining work and the next checkpoint.
func (e *Engine) scheduleWork(j int32) {
	jb := &e.jobs[j]
	jb.runGen++
	e.scheduleFinish(j)
	if every := e.cfg.Jobs[j].CheckpointInterval; every > 0 {
		e.events.push(e.now+every, evCheckpointStart, j, jb.runGen)
	}
}

// scheduleFinish plans the end of the remaining work at the present rate.
func (e *Engine) scheduleFinish(j int32) {
	jb := &e.jobs[j]
	jb.finishGen++
	d, ok := jb.remaining.CeilDiv(jb.rate)
	if !ok {
		d = Never - e.now
	}
	e.events.push(e.now+d, evJobFinish, j, jb.finishGen)
}

// finishDue ends a job whose work is done. A job that was slowed down since its finish was
// planned has work left and is planned again: so neighbours that come move no event.
func (e *Engine) finishDue(j int32) {
	jb := &e.jobs[j]
	jb.advance(e.now)
	if !jb.remaining.IsZero() {
		e.scheduleFinish(j)
		return
	}
	e.finish(j)
}

// advance brings a running job's progress up to now.
func (jb *job) advance(now int64) {
	dt := now - jb.settledAt
	jb.settledAt = now
	if !jb.running || jb.checkpointing || dt == 0 {
		return
	}
	jb.wall += dt
	jb.runNanos += dt
	jb.remaining.SubProduct(uint64(dt), jb.rate)
	jb.useful.AddProduct(uint64(dt), jb.rate)
	jb.unsharedU.AddProduct(uint64(dt), jb.unshared)
	jb.allReduceSum.AddProduct(uint64(dt), uint64(jb.allReducePPM))
	jb.localitySum.AddProduct(uint64(dt), uint64(jb.localityPPM))
	jb.stepSum.AddProduct(uint64(dt), uint64(jb.stepPPM))
}

// part is a stretch of running time at risk, on the GPUs of one model that did it, and where
// the fabric bound it.
type part struct {
	model            int32
	idlePlace, place Place
	sharedPlace      Place
	ledger.Stretch
}

// closeParts turns the time at risk into parts, one per GPU model, before the gang's GPUs
// or what binds it change, or before it is booked. The fractions of a nanosecond carry over.
func (e *Engine) closeParts(j int32, parts []part) []part {
	jb := &e.jobs[j]
	useful, uRest := jb.useful.Shr32()
	unshared, sRest := jb.unsharedU.Shr32()
	for m, milli := range e.runningGPUs(j) {
		if milli > 0 {
			parts = append(parts, part{int32(m), jb.idlePlace, jb.place, jb.sharedPlace, ledger.Stretch{From: jb.stretchFrom, Wall: jb.wall, Milli: milli, Useful: useful, Unshared: unshared}})
		}
	}
	jb.useful, jb.unsharedU = ledger.Uint128{Lo: uRest}, ledger.Uint128{Lo: sRest}
	jb.wall, jb.stretchFrom = 0, e.now
	return parts
}

// atRisk returns everything at risk since the last safe point and forgets it. The slice is
// reused.
func (e *Engine) atRisk(j int32) []part {
	jb := &e.jobs[j]
	e.parts = e.closeParts(j, append(e.parts[:0], jb.parts...))
	jb.parts = jb.parts[:0]
	return e.parts
}

// resize prepares a running job for a change of its gang: what it did so far it did on the
// GPUs it had.
func (e *Engine) resize(j int32) {
	jb := &e.jobs[j]
	jb.advance(e.now)
	jb.parts = e.closeParts(j, jb.parts)
	e.resizes(j)
}

// settle books the time at risk as kept.
func (e *Engine) settle(j int32) {
	parts := e.atRisk(j)
	for i := range parts {
		p := &parts[i]
		e.books.Settle(p.model, &p.Stretch)
		e.timeline.Settle(accountLane(p.model), &p.Stretch)
		e.jobs[j].settled.Settle(&p.Stretch)
		e.settlePlaces(j, p, true)
	}
}

// lose books it as lost.
func (e *Engine) lose(j int32) {
	parts := e.atRisk(j)
	for i := range parts {
		p := &parts[i]
		e.books.Lose(p.model, &p.Stretch)
		e.timeline.Lose(accountLane(p.model), &p.Stretch)
		e.jobs[j].settled.Lose(&p.Stretch)
		e.settlePlaces(j, p, false)
	}
}

// interrupt stops a job's work and throws away what was at risk.
func (e *Engine) interrupt(j int32) {
	jb := &e.jobs[j]
	if !jb.running {
		return
	}
	jb.advance(e.now)
	e.lose(j)
	jb.useful, jb.unsharedU = ledger.Uint128{}, ledger.Uint128{}
	jb.remaining = jb.safe
	e.stopRunning(j, ledger.Held)
}

// stopRunning moves the job's running pods into an account and forgets planned ends.
func (e *Engine) stopRunning(j int32, to ledger.Account) {
	jb := &e.jobs[j]
	e.moveRunning(j, jb.runAccount(), to)
	jb.running, jb.checkpointing = false, false
	jb.runGen++
	jb.finishGen++
	e.running--
	e.count(j, RunningJobs, -1)
	e.leaveFabric(j)
}

// runAccount is where the pods of a running job stand.
func (jb *job) runAccount() ledger.Account {
	if jb.checkpointing {
		return ledger.Checkpoint
	}
	return ledger.Running
}

// runningGPUs returns, per model, the milli-GPU of the job's ready pods. The slice is
// reused.
func (e *Engine) runningGPUs(j int32) []int64 {
	clear(e.perModel)
	jb := &e.jobs[j]
	for p := jb.podBase; p < jb.podBase+jb.slots; p++ {
		if e.pods[p].state == PodReady {
			if m := e.cfg.Cluster.Nodes[e.pods[p].node].Model; m >= 0 {
				e.perModel[m] += e.sets[e.pods[p].set].request[0]
			}
		}
	}
	return e.perModel
}

func (e *Engine) startCheckpoint(j int32) {
	jb := &e.jobs[j]
	jb.advance(e.now)
	e.moveRunning(j, ledger.Running, ledger.Checkpoint)
	jb.checkpointing = true
	jb.runGen++
	jb.finishGen++
	e.events.push(e.now+e.cfg.Jobs[j].CheckpointCost, evCheckpointEnd, j, jb.runGen)
}

func (e *Engine) endCheckpoint(j int32) {
	jb := &e.jobs[j]
	jb.settledAt = e.now
	jb.checkpointing = false
	e.moveRunning(j, ledger.Checkpoint, ledger.Running)
	e.settle(j)
	jb.safe = jb.remaining
	e.safeAt = e.now
	e.spinning = 0
	e.scheduleWork(j)
}

// moveRunning moves the ready pods of a job between accounts.
func (e *Engine) moveRunning(j int32, from, to ledger.Account) {
	jb := &e.jobs[j]
	for p := jb.podBase; p < jb.podBase+jb.slots; p++ {
		if e.pods[p].state == PodReady {
			e.account(p, from, to)
		}
	}
}

// setRates asks the fabric how fast the job runs where it stands, and puts it there. The
// floats of the fabric end in whole nanoseconds; everything after is integer.
func (e *Engine) setRates(j int32) {
	jb := &e.jobs[j]
	jb.rate, jb.unshared = fullSpeed, fullSpeed
	jb.allReducePPM, jb.localityPPM, jb.stepPPM = ppm, ppm, ppm
	model := e.cfg.Jobs[j].Model
	if model == nil || e.cfg.Fabric == nil {
		return
	}
	gang := e.gangOf(j)
	if jb.idealAllReduce == 0 {
		jb.idealAllReduce = e.idealAllReduce(j, gang)
	}
	if jb.idealAllReduce <= 0 {
		e.bound(j, PlaceNone, PlaceNone)
		return
	}
	e.cfg.Fabric.Load(e.scratch, gang, TrafficOf(model), &e.load)
	jb.idleAllReduce, jb.idleLevel = max(jb.idealAllReduce, e.load.Idle.Nanos), e.load.Idle.Level
	e.setRate(j, jb.idleAllReduce, jb.idleLevel)
	e.joinFabric(j)
}

// setRate sets the rates of a job whose all-reduce takes so long, and what binds it.
func (e *Engine) setRate(j int32, allReduce int64, level int8) {
	e.bound(j, e.placeOf(e.jobs[j].idleLevel), e.placeOf(level))
	jb, model := &e.jobs[j], e.cfg.Jobs[j].Model
	jb.allReduce = allReduce
	idealStep, step := model.StepNanos(jb.idealAllReduce), model.StepNanos(allReduce)
	jb.rate = ratio32(idealStep, step)
	jb.unshared = ratio32(idealStep, model.StepNanos(jb.idleAllReduce))
	if jb.rate < jb.unshared {
		jb.sharedPlace = jb.place
	}
	jb.allReducePPM = mulDiv(allReduce, ppm, jb.idealAllReduce)
	jb.localityPPM = mulDiv(jb.idleAllReduce, ppm, jb.idealAllReduce)
	jb.stepPPM = mulDiv(step, ppm, idealStep)
}

func (e *Engine) idealAllReduce(j int32, gang []fabric.Pod) int64 {
	e.gpuScratch = e.gpuScratch[:0]
	for i := range gang {
		e.gpuScratch = append(e.gpuScratch, gang[i].GPUs)
	}
	return e.cfg.Fabric.Best(e.scratch, e.gpuScratch, TrafficOf(e.cfg.Jobs[j].Model)).Nanos
}

// gangOf lists the GPU pods of a job that are ready, in rank order. The slice is reused.
func (e *Engine) gangOf(j int32) []fabric.Pod {
	e.gang = e.gang[:0]
	jb := &e.jobs[j]
	for p := jb.podBase; p < jb.podBase+jb.slots; p++ {
		if g := e.sets[e.pods[p].set].request[0]; g > 0 && e.pods[p].state == PodReady {
			e.gang = append(e.gang, fabric.Pod{Node: e.pods[p].node, GPUs: int32(g)})
		}
	}
	return e.gang
}

// ratio32 is max(1, floor(2^32 x a / b)) for 0 < a <= b.
func ratio32(a, b int64) uint64 {
	hi, lo := bits.Mul64(uint64(a), fullSpeed)
	q, _ := bits.Div64(hi, lo, uint64(b))
	return max(1, q)
}

// mulDiv is a x b / c in 128 bits, for results that fit.
func mulDiv(a, b, c int64) int64 {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	if hi >= uint64(c) {
		return Never
	}
	q, _ := bits.Div64(hi, lo, uint64(c))
	return int64(q)
}
