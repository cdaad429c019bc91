package sim

import (
	"github.com/gangplan/gangplan/sim/ledger"
)

// JobRow is what became of one job. Times that never came are -1; slowdowns are parts
// per million of the ideal, averaged over the job's running time, 0 for a job that has no
// all-reduce or never ran.
type JobRow struct {
	State      JobState
	Queue      int32
	Pods       int32
	Admitted   int32 // of these, in its last admission; fewer when it was admitted in part
	GPUs       int64 // milli-GPU of all pods
	Submit     int64
	FirstAdmit int64
	FirstStart int64
	Finish     int64 // end of a finished job; -1 for every other
	Work       int64 // ns at ideal speed
	Evictions  [NumCauses]int32
	Requeues   int32
	RunNanos   int64
	AllReduce  int64
	Locality   int64 // the part of AllReduce that the placement alone makes
	Step       int64
	Spent      ledger.Spent // running time by what it was, milli-GPU x ns
	Refusal    Reason       // why it waited when it last claimed GPUs that were free, or waits at the end
	NeverFits  bool
	Carried    bool   // ran before the measured window: outside wait statistics
	Message    string // why a job that is still queued has no place, in the scheduler's words; "" if there is nothing to add
}

// Result is a finished run.
type Result struct {
	Config       *Config
	Policy       string
	Seed         uint64
	Digest       Digest
	End          int64 // the run's own end
	Jobs         []JobRow
	Books        *ledger.Ledger
	AtRisk       ledger.Uint128 // milli-GPU x ns that were at risk at the end and settled as kept
	Reserved     ledger.Uint128 // milli-GPU x ns of quota taken beyond what was bound
	ReservedRate int64          // milli-GPU of quota taken beyond what is bound at the end
	Beyond       bool           // something was due later than int64 nanoseconds can say
	Last         Sample         // how free GPUs lie at the end
	Samples      []Sample       // the same every Config.SampleEvery, from time 0
	Findings     []Finding
	Timeline     *ledger.Timeline // see Account and Queue
	Stalls       Stalls           // the two stalls by what bound
	Bounds       []Bounds         // the same by job; nil without a fabric
}

// Finish ends the run at its own end: settles what is at risk, checks the books and
// collects the rows.
func (e *Engine) Finish() *Result {
	e.windToEnd()
	e.sampleUntil(e.now + 1)
	e.findStuck()
	r := &Result{Config: e.cfg, Policy: e.policy.Name, Seed: e.cfg.Seed, End: e.now, Books: e.books,
		Beyond: e.events.beyond, Reserved: e.reservedIdle, ReservedRate: e.reservedRate}
	r.Last, r.Samples = e.lastSample(), e.samplesTo(r.End)
	for j := range e.jobs {
		if jb := &e.jobs[j]; jb.running {
			jb.advance(e.now)
			before := jb.settled
			e.settle(int32(j))
			r.AtRisk.Add(jb.settled.Kept())
			r.AtRisk.Sub(before.Kept())
		}
	}
	e.closeTimeline()
	r.Timeline = e.timeline
	e.must(e.books.Balanced(), "the accounts do not sum to capacity x time")
	e.must(e.stallsAdd(), "the stalls by place do not add up to the accounts")
	r.Stalls, r.Bounds = e.stalls, e.bounds
	r.Jobs = make([]JobRow, len(e.jobs))
	for j := range e.jobs {
		r.Jobs[j] = e.row(int32(j))
	}
	e.explain(r.Jobs)
	r.Digest, r.Findings = e.digest, e.findings
	return r
}

// noteLast remembers, while a run may be at its own end, how free GPUs lie there. It is not
// while a job will finish or a pod get ready.
func (e *Engine) noteLast() {
	if e.arrived == len(e.jobs) && e.running == 0 && (e.startingPods == 0 || e.spinning >= e.spinLimit()) {
		e.closingLast = e.sample(e.now)
		e.noteCounts()
	}
}

func (e *Engine) lastSample() Sample {
	if e.wound {
		return e.closingLast
	}
	return e.sample(e.now)
}

// windToEnd moves the clock and the books to the run's own end: `until` if it is given,
// else the last transition, which may lie before the last instant that was looked at.
func (e *Engine) windToEnd() {
	switch {
	case e.cfg.Until > 0:
		e.advanceTo(e.cfg.Until)
	case e.now > e.lastTransition:
		e.wound = true
		e.books.CopyFrom(&e.closing)
		e.reservedIdle = e.closingReserved
		e.now = e.lastTransition
	}
}

// explain asks the Admitter about the jobs that are still queued.
func (e *Engine) explain(rows []JobRow) {
	x, ok := e.policy.Admitter.(Explainer)
	if !ok {
		return
	}
	var queued []int32
	for j := range rows {
		if rows[j].State == Queued {
			queued = append(queued, int32(j))
		}
	}
	x.Explain(&e.tx, queued, func(j int32, message string) { rows[j].Message = message })
}

func (e *Engine) row(j int32) JobRow {
	e.refuseWaiting(j)
	jb := &e.jobs[j]
	spec := &e.cfg.Jobs[j]
	r := JobRow{State: jb.state, Queue: jb.queue, Pods: jb.slots, Admitted: jb.granted, GPUs: spec.TotalGPUs(), Submit: spec.Submit,
		FirstAdmit: jb.firstAdmit, FirstStart: jb.firstStart, Finish: -1, Work: spec.Work(),
		Evictions: jb.evictions, Requeues: jb.requeues, RunNanos: jb.runNanos, Spent: jb.settled, Refusal: jb.refusal, NeverFits: jb.neverFits, Carried: spec.Carried}
	if jb.state == Finished {
		r.Finish = jb.finishedAt
	}
	if jb.idealAllReduce > 0 && jb.runNanos > 0 {
		r.AllReduce, _ = jb.allReduceSum.CeilDiv(uint64(jb.runNanos))
		r.Locality, _ = jb.localitySum.CeilDiv(uint64(jb.runNanos))
		r.Step, _ = jb.stepSum.CeilDiv(uint64(jb.runNanos))
	}
	return r
}
