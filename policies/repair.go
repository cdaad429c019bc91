package policies

import (
	"slices"

	"github.com/gangplan/gangplan/policies/stage"
	"github.com/gangplan/gangplan/sim"
)

// repair replaces nodes that fail under a topology assignment, as Kueue does since 0.14:
// the pods of the failed node get others that keep what the assignment promised, without
// preempting anybody. One node at a time: a second that fails before the first is
// replaced evicts the job. Failing fast means one attempt, and eviction without a backoff
// if it finds nothing; else attempts are repeated after 1, 2, 4, ... 30 s.
type repair struct {
	failFast  bool
	evictOnly bool         // no attempt at all
	lost      []sim.Signal // of nodes that failed since the last cycle
	broken    []breakage   // in the order of breaking
}

// breakage is a job that waits for a replacement.
type breakage struct {
	job, node int32
	tryAt     int64
	wait      int64 // before the attempt after this
	second    bool  // another node failed
}

// Kueue retries its second pass after a second, doubling up to half a minute.
const (
	firstRetry = int64(1e9)
	lastRetry  = int64(30e9)
)

func (f *repair) reset(sim.View) { f.lost, f.broken = f.lost[:0], f.broken[:0] }

// cycle notes which jobs the failed nodes break, and settles one that is due. It reports
// whether it did anything.
func (f *repair) cycle(tx *sim.Tx, p *placer) bool {
	for _, s := range f.lost {
		f.find(tx.View, s.Place, s.Job)
	}
	f.lost = f.lost[:0]
	for i := range f.broken {
		b := f.broken[i]
		switch {
		case tx.State(b.job) != sim.Admitted || !uses(tx.View, b.job, b.node):
			f.broken = slices.Delete(f.broken, i, i+1)
			return true
		case b.second:
			f.evict(tx, i)
			return true
		case b.tryAt <= tx.Now():
			f.try(tx, p, i)
			return true
		}
	}
	return false
}

// find marks the admitted jobs with an assignment to a node, or one of them: whose pods were
// given up, which is what Kueue reacts to at once. That the node is gone it looks at in a
// second pass.
func (f *repair) find(v sim.View, node, job int32) {
	wait := v.Timing().SecondPass
	if job >= 0 {
		wait = 0
	}
	for j := range int32(v.Jobs()) {
		if job >= 0 && j != job || v.State(j) != sim.Admitted || !uses(v, j, node) {
			continue
		}
		i := slices.IndexFunc(f.broken, func(b breakage) bool { return b.job == j })
		if i < 0 {
			f.broken = append(f.broken, breakage{job: j, node: node, tryAt: v.Now() + wait, wait: firstRetry})
		} else if f.broken[i].node != node {
			f.broken[i].second = true
		}
	}
}

// uses reports whether a job has a pod assigned to a node.
func uses(v sim.View, j, node int32) bool {
	first, last := v.PodsOf(j)
	for p := first; p < last; p++ {
		if v.Assigned(p) && v.Pin(p) == node {
			return true
		}
	}
	return false
}

// try looks for a replacement now.
func (f *repair) try(tx *sim.Tx, p *placer, i int) {
	b := &f.broken[i]
	// A node that is back is its own replacement.
	if !tx.Down(b.node) || !f.evictOnly && p.replace(tx, b.job, b.node) {
		f.broken = slices.Delete(f.broken, i, i+1)
		return
	}
	if f.failFast {
		f.evict(tx, i)
		return
	}
	b.tryAt = tx.Now() + b.wait
	b.wait = min(2*b.wait, lastRetry)
}

func (f *repair) evict(tx *sim.Tx, i int) {
	job := f.broken[i].job
	f.broken = slices.Delete(f.broken, i, i+1)
	tx.Evict(job, sim.CauseNode)
	tx.Commit()
}

func (f *repair) nextTry() int64 {
	at := int64(sim.Never)
	for i := range f.broken {
		at = min(at, f.broken[i].tryAt)
	}
	return at
}

// replace moves the pods that were assigned to a failed node, PodSet by PodSet. Sets that
// were moved stay moved when a later one fails, as its job is evicted or tried again.
func (p *placer) replace(tx *sim.Tx, j, node int32) bool {
	first, last := tx.SetsOf(j)
	for s := first; s < last; s++ {
		missing := p.keep(tx.View, s, node)
		if missing == 0 {
			continue
		}
		if tx.PinnedNode(s) >= 0 || p.stale(tx.View) || !p.findReplacement(tx, j, s, missing) {
			return false
		}
		p.moveTo(tx, s, node)
	}
	return true
}

// keep lists the slots of a PodSet that are not on a node, by name, and counts its pods
// that are.
func (p *placer) keep(v sim.View, s, node int32) (missing int32) {
	p.kept = p.kept[:0]
	for pod := v.FirstPod(s); pod < v.FirstPod(s)+v.Count(s); pod++ {
		pin, n := v.Pin(pod), len(p.kept)
		switch {
		case !v.Assigned(pod):
		case pin == node:
			missing++
		case n > 0 && p.kept[n-1].Leaf == pin:
			p.kept[n-1].Count++
		default:
			p.kept = append(p.kept, stage.Slot{Leaf: pin, Count: 1})
		}
	}
	domains, base := v.Cluster().Domains, v.Cluster().HostDomain(0)
	slices.SortStableFunc(p.kept, func(a, b stage.Slot) int {
		return int(domains[base+a.Leaf].NameRank - domains[base+b.Leaf].NameRank)
	})
	return missing
}

// stale reports whether what is kept of an assignment names another node that is gone.
func (p *placer) stale(v sim.View) bool {
	return slices.ContainsFunc(p.kept, func(s stage.Slot) bool { return v.Down(s.Leaf) })
}

func (p *placer) findReplacement(tx *sim.Tx, j, s, missing int32) bool {
	r, err := p.request(tx.View, j, s)
	if err != nil {
		return false
	}
	n, err := p.search.Replacement(&r, p.kept, missing)
	if err != nil {
		return false
	}
	p.leaves.Pods = tx.Counts(sim.Assigned, tx.Shape(s))[tx.Cluster().HostDomain(0):]
	return p.search.Place(&n, &p.leaves)
}

// moveTo gives the pods of a failed node the slots found, in the order of their ranks.
func (p *placer) moveTo(tx *sim.Tx, s, node int32) {
	pod := tx.FirstPod(s)
	for _, slot := range p.search.Slots {
		for range slot.Count {
			for tx.Pin(pod) != node || !tx.Assigned(pod) {
				pod++
			}
			tx.Reassign(pod, slot.Leaf)
		}
	}
}
