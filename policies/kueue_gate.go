package policies

import (
	"github.com/gangplan/gangplan/policies/admission"
	"github.com/gangplan/gangplan/sim"
)

// gate is waitForPodsReady's blockAdmission: the scheduler admits nobody while a gang that
// it admitted is not ready. It is the scheduler's only loop that waits, in the middle of a
// cycle: until the gate opens nobody is looked at, nor preempted, and then the cycle goes on
// with whom it had, whoever came in between.
type gate struct {
	on      bool
	unready []bool // per job: admitted and not ready yet
	waits   int
	held    []*admission.Entry // of the cycle that waits: whom it would admit, and those behind
}

func (g *gate) reset(v sim.View) {
	g.on = v.PodsReady().Enabled && v.PodsReady().BlockAdmission
	g.unready, g.waits, g.held = make([]bool, v.Jobs()), 0, nil
}

func (g *gate) closed() bool { return g.on && g.waits > 0 }

func (g *gate) admitted(j int32) {
	g.unready[j] = true
	g.waits++
}

// opens notes that a job is ready or gone, and reports whether that opened the gate.
func (g *gate) opens(j int32) bool {
	if !g.unready[j] {
		return false
	}
	g.unready[j] = false
	g.waits--
	return g.on && g.waits == 0
}

// applyAll makes the outcome of a cycle real, up to the gate.
func (k *kueue) applyAll(tx *sim.Tx, entries []*admission.Entry) {
	for i, e := range entries {
		if e.Status == admission.Assumed && k.gate.closed() {
			k.gate.held = entries[i:]
			tx.Defer(e.Workload, sim.ReasonGate)
			return
		}
		k.apply(tx, e)
	}
}

// goOn goes on with a cycle that waited. Who left the queue in the meantime is left out, and
// who lost its places has to be nominated again.
func (k *kueue) goOn(tx *sim.Tx) bool {
	if k.gate.closed() {
		return false
	}
	k.room.tx = tx
	rest := k.gate.held[:0]
	for _, e := range k.gate.held {
		q := &k.queues[tx.Queue(e.Workload)]
		switch {
		case !q.waiting.Contains(e.Workload):
			k.trees[q.tree].dirty = true
		case e.Status == admission.Assumed && k.placer != nil && !k.room.StillFits(e.Workload):
			k.stay(tx, q, e.Workload, sim.ReasonTopology)
			k.trees[q.tree].dirty = true
		default:
			rest = append(rest, e)
		}
	}
	k.gate.held = nil
	k.applyAll(tx, rest)
	return true
}
