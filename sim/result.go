package sim

import (
	"github.com/gangplan/gangplan/sim/ledger"
	"github.com/gangplan/gangplan/topology"
)

// JobRow is what became of one job. Times that never came are -1; slowdowns are parts
// per million of the ideal, averaged over the job's running time, 0 for a job that has no
// all-reduce or never ran.
type JobRow struct {
	State      JobState
	Queue      int32
	Pods       int32
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
	NeverFits  bool
	Carried    bool // ran before the measured window: outside wait statistics
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
	Stranded     int64          // free milli-GPU at the end on hosts where no waiting pod fits
	Findings     []Finding
}

// Finish ends the run at its own end: settles what is at risk, checks the books and
// collects the rows.
func (e *Engine) Finish() *Result {
	e.windToEnd()
	e.findStuck()
	r := &Result{Config: e.cfg, Policy: e.policy.Name, Seed: e.cfg.Seed, End: e.now, Books: e.books,
		Beyond: e.events.beyond, Stranded: e.endStranded(),
		Reserved: e.reservedIdle, ReservedRate: e.reservedRate}
	for j := range e.jobs {
		if jb := &e.jobs[j]; jb.running {
			jb.advance(e.now)
			for _, p := range e.atRisk(int32(j)) {
				r.AtRisk.AddProduct(uint64(p.milli), uint64(p.wall))
				e.books.Settle(p.model, p.milli, p.useful, p.unshared, p.wall)
			}
		}
	}
	e.must(e.books.Balanced(), "the accounts do not sum to capacity x time")
	r.Jobs = make([]JobRow, len(e.jobs))
	for j := range e.jobs {
		r.Jobs[j] = e.row(int32(j))
	}
	r.Digest, r.Findings = e.digest, e.findings
	return r
}

// noteStranded remembers, while a run may be at its own end, what is stranded there.
func (e *Engine) noteStranded() {
	if e.arrived == len(e.jobs) && e.running == 0 {
		e.closingStranded = e.stranded()
	}
}

func (e *Engine) endStranded() int64 {
	if e.wound {
		return e.closingStranded
	}
	return e.stranded()
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

func (e *Engine) row(j int32) JobRow {
	jb := &e.jobs[j]
	spec := &e.cfg.Jobs[j]
	r := JobRow{State: jb.state, Queue: jb.queue, Pods: jb.pods, GPUs: e.total(j)[topology.GPU], Submit: spec.Submit,
		FirstAdmit: jb.firstAdmit, FirstStart: jb.firstStart, Finish: -1, Work: spec.Duration,
		Evictions: jb.evictions, Requeues: jb.requeues, RunNanos: jb.runNanos, NeverFits: jb.neverFits, Carried: spec.Carried}
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

// stranded is the free milli-GPU on hosts where none of the waiting pod shapes fits; 0
// when nobody waits.
func (e *Engine) stranded() int64 {
	if e.queued.Len() == 0 && e.unbound.Len() == 0 {
		return 0
	}
	fits := make([]bool, len(e.cfg.Cluster.Nodes))
	mark := func(j int32) {
		jb := &e.jobs[j]
		for s := jb.setBase; s < jb.setBase+jb.sets; s++ {
			e.markFitting(fits, s)
		}
	}
	for j := e.unbound.First(); j >= 0; j = e.unbound.Next(j) {
		mark(j)
	}
	for j := e.queued.First(); j >= 0; j = e.queued.Next(j) {
		mark(j)
	}
	var n int64
	for node := range fits {
		if f := e.nodes.planes[Physical].free[node][topology.GPU]; !fits[node] && f > 0 {
			n += f
		}
	}
	return n
}

func (e *Engine) markFitting(fits []bool, s int32) {
	if e.sets[s].request[topology.GPU] == 0 || e.sets[s].bound == e.sets[s].count {
		return
	}
	counts := e.nodes.planes[Physical].index.Counts(e.sets[s].shape)
	for node := range fits {
		fits[node] = fits[node] || counts[e.cfg.Cluster.HostDomain(int32(node))] > 0
	}
}
