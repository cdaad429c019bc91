package sim_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/gangplan/gangplan/internal/rng"
	"github.com/gangplan/gangplan/policies"
	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/sim/ledger"
	"github.com/gangplan/gangplan/sim/quota"
	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/workloads"
)

// This file has two parts: what a policy can do with each verb of a transaction, played by
// a policy that follows a script; and whole runs against simulators too simple to be wrong,
// and against queueing theory.

// hosts makes a cluster of hosts n0, n1 ... with the given GPUs.
func hosts(gpus ...int64) *topology.Cluster {
	var nodes []topology.Node
	for i, g := range gpus {
		nodes = append(nodes, topology.Node{Name: fmt.Sprint("n", i), GPUModel: "gpu", Allocatable: topology.DefaultAllocatable(g)})
	}
	c, err := topology.Build([]string{"host"}, nodes)
	if err != nil {
		panic(err)
	}
	return c
}

// gang is a job of pods with some GPUs each, submitted at 0.
func gang(id string, pods int32, gpus, work int64) workloads.Job {
	return workloads.Job{ID: id, Duration: work * sec, PodSets: []workloads.PodSet{{Count: pods,
		Request: topology.Resources{gpus * 1000, gpus * 12000, gpus * 96 * topology.GiB, 0}}}}
}

// script is a policy whose Admitter lets every job in at once and whose Binder does what a
// test says, when it says it.
type script struct {
	steps   []step
	charge  bool // admit against quota
	waiting []int32
	seen    []sim.Signal // by the Binder
}

type step struct {
	at int64 // s
	do func(tx *sim.Tx)
}

func (s *script) then(at int64, do func(tx *sim.Tx)) *script {
	s.steps = append(s.steps, step{at, do})
	return s
}

func (s *script) policy() sim.Policy {
	return sim.Policy{Name: "script", Admitter: (*scriptAdmitter)(s), Binder: (*scriptBinder)(s)}
}

type scriptAdmitter script

func (a *scriptAdmitter) Reset(sim.View) {}
func (a *scriptAdmitter) Signals(batch []sim.Signal) {
	for _, s := range batch {
		if s.Kind == sim.JobQueued {
			a.waiting = append(a.waiting, s.Job)
		}
	}
}

func (a *scriptAdmitter) Cycle(tx *sim.Tx) bool {
	if len(a.waiting) == 0 {
		return false
	}
	if a.charge {
		tx.Admit(a.waiting[0])
	} else {
		tx.AdmitFree(a.waiting[0])
	}
	tx.Commit()
	a.waiting = a.waiting[1:]
	return true
}

func (a *scriptAdmitter) NextWake() int64                { return sim.Never }
func (a *scriptAdmitter) Why(sim.View, int32) sim.Reason { return sim.ReasonLatency }
func (a *scriptAdmitter) CanEver(sim.View, int32) bool   { return true }

type scriptBinder script

func (b *scriptBinder) Reset(sim.View)             {}
func (b *scriptBinder) Signals(batch []sim.Signal) { b.seen = append(b.seen, batch...) }
func (b *scriptBinder) Undecided() bool            { return false }
func (b *scriptBinder) Cycle(tx *sim.Tx) bool {
	if len(b.steps) == 0 || b.steps[0].at*sec > tx.Now() {
		return false
	}
	do := b.steps[0].do
	b.steps = b.steps[1:]
	do(tx)
	return true
}

func (b *scriptBinder) NextWake() int64 {
	if len(b.steps) == 0 {
		return sim.Never
	}
	return b.steps[0].at * sec
}

func (b *scriptBinder) Why(v sim.View, j int32) sim.Reason {
	if r := v.Deferred(j); r != sim.ReasonNone {
		return r
	}
	return sim.ReasonShape
}

// stage is a run of a script.
type stage struct {
	cfg   sim.Config
	trace sim.Transitions
	r     *sim.Result
}

// playScript runs a script until 100 s.
func playScript(t *testing.T, cfg sim.Config, s *script) *stage {
	t.Helper()
	if cfg.Queues == nil {
		cfg.Queues = []quota.Queue{{Name: "default", Nominal: quota.Amounts{1 << 40}, Covers: [4]bool{true}}}
	}
	if cfg.Until == 0 {
		cfg.Until = 100 * sec
	}
	st := &stage{cfg: cfg}
	e, err := sim.New(&st.cfg, s.policy(), &st.trace)
	if err != nil {
		t.Fatal(err)
	}
	st.r = e.Run()
	if len(s.steps) > 0 {
		t.Fatalf("%d steps of the script were not played", len(s.steps))
	}
	return st
}

// wantLedger compares the accounts of the first GPU model, in GPU-seconds.
func (st *stage) wantLedger(t *testing.T, want map[ledger.Account]string) {
	t.Helper()
	got := map[ledger.Account]string{}
	for a := range ledger.NumAccounts {
		if sum := st.r.Books.Sum(0, a); !sum.IsZero() {
			got[a] = gpuSeconds(sum)
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("ledger (-want +got):\n%s", d)
	}
}

// wantTrace compares the timeline, from the first bind on.
func (st *stage) wantTrace(t *testing.T, want ...string) {
	t.Helper()
	s := &story{cfg: st.cfg, trace: st.trace}
	var got []string
	for l := range strings.SplitSeq(strings.TrimSpace(s.timeline()), "\n") {
		at, what, _ := strings.Cut(l, " ")
		got = append(got, at+" "+strings.TrimSpace(what))
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("timeline (-want +got):\n%s", d)
	}
}

func same[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

func freeGPUs(tx *sim.Tx, node int32) int64 { return tx.Free(sim.Physical)[node][topology.GPU] }

func TestAssumeRollbackCommit(t *testing.T) {
	s := new(script).then(0, func(tx *sim.Tx) {
		outer := tx.Savepoint()
		tx.Assume(0, 0)
		same(t, "an assumed pod", tx.PodState(0), sim.PodAssumed)
		same(t, "its node", tx.NodeOf(0), 0)
		inner := tx.Savepoint()
		tx.Assume(1, 1)
		same(t, "free on n1", freeGPUs(tx, 1), 2000)
		tx.Rollback(inner)
		same(t, "free on n1 after the rollback", freeGPUs(tx, 1), 4000)
		same(t, "the pod rolled back", tx.PodState(1), sim.PodPending)
		same(t, "the pod before it", tx.PodState(0), sim.PodAssumed)
		tx.Rollback(outer)
		same(t, "free on n0 after the outer rollback", freeGPUs(tx, 0), 4000)
		tx.Assume(0, 1)
		tx.Assume(1, 1)
		tx.Commit()
		same(t, "free on n1 after the commit", freeGPUs(tx, 1), 0)
		same(t, "unallocated GPUs", tx.FreeGPUs(0), 4000)
	})
	st := playScript(t, sim.Config{Cluster: hosts(4, 4), Jobs: []workloads.Job{gang("A", 2, 2, 10)}}, s)
	st.wantTrace(t, "0s submit A; admit A; bind+ready A.0-1@n1; barrier A(2)", "10s finish A")
	st.wantLedger(t, map[ledger.Account]string{ledger.Useful: "40", ledger.NoDemand: "760"})
}

// A hold keeps a node for a pod that does not run: it ends with Bind, with Release, or by
// itself. What is held is reserved, not allocated.
func TestHold(t *testing.T) {
	s := new(script)
	s.then(0, func(tx *sim.Tx) {
		for p := range int32(3) {
			tx.Assume(p, 0)
			tx.HoldUntil(p, 20*sec)
		}
		tx.Commit()
		same(t, "a held pod", tx.PodState(0), sim.PodAssumed)
		same(t, "free on n0", freeGPUs(tx, 0), 1000)
		same(t, "unallocated GPUs", tx.FreeGPUs(0), 4000)
	}).then(5, func(tx *sim.Tx) { tx.Bind(0) }).then(10, func(tx *sim.Tx) {
		tx.Release(1)
		same(t, "a released pod", tx.PodState(1), sim.PodPending)
		same(t, "free on n0", freeGPUs(tx, 0), 2000)
	}).then(20, func(tx *sim.Tx) {
		same(t, "a pod whose hold ran out", tx.PodState(2), sim.PodPending)
		same(t, "free on n0", freeGPUs(tx, 0), 3000)
		tx.Assume(1, 0)
		tx.Assume(2, 0)
		tx.Commit()
	})
	st := playScript(t, sim.Config{Cluster: hosts(4), Jobs: []workloads.Job{gang("A", 3, 1, 10)}}, s)
	st.wantTrace(t, "0s submit A; admit A", "5s bind+ready A.0@n0", "20s bind+ready A.1-2@n0; barrier A(3)", "30s finish A")
	var ended []int32
	for i, x := range s.seen {
		if x.Kind == sim.HoldEnded {
			ended = append(ended, x.Pod)
			if next := s.seen[i+1]; next.Kind != sim.NodeFreed || next.Place != 0 {
				t.Errorf("after the hold of pod %d: signal %v", x.Pod, next)
			}
		}
	}
	if d := cmp.Diff([]int32{1, 2}, ended); d != "" {
		t.Errorf("holds that ended:\n%s", d)
	}
	// Held by the policy: 3 x 5 s, 2 x 5 s, 1 x 10 s. A.0 alone behind the barrier: 15 s.
	for _, a := range []struct {
		account ledger.Account
		want    string
	}{{ledger.BlockedReserved, "35"}, {ledger.Held, "15"}, {ledger.Useful, "30"}} {
		same(t, a.account.String(), gpuSeconds(st.r.Books.Sum(0, a.account)), a.want)
	}
}

// An evicted job loses what was held for it, and the Binder hears that the node is freed.
func TestEvictionEndsHolds(t *testing.T) {
	s := new(script)
	s.then(0, func(tx *sim.Tx) {
		tx.Assume(0, 0)
		tx.HoldUntil(0, sim.Never)
		tx.Commit()
	}).then(5, func(tx *sim.Tx) {
		s.seen = nil
		tx.Evict(0, sim.CausePreempted)
		tx.Commit()
		same(t, "free on n0", freeGPUs(tx, 0), 4000)
	}).then(6, func(tx *sim.Tx) {})
	playScript(t, sim.Config{Cluster: hosts(4), Jobs: []workloads.Job{gang("A", 1, 4, 10)}}, s)
	if !slices.ContainsFunc(s.seen, func(x sim.Signal) bool { return x.Kind == sim.NodeFreed && x.Place == 0 }) {
		t.Errorf("no signal says that n0 was freed: %v", s.seen)
	}
}

func TestNominate(t *testing.T) {
	s := new(script).then(0, func(tx *sim.Tx) {
		tx.Nominate(0, 1)
		same(t, "promised of n1", tx.Nominated(1)[topology.GPU], 2000)
		same(t, "free on n1", freeGPUs(tx, 1), 4000)
		tx.Nominate(1, 1)
		same(t, "promised of n1 to both", tx.Nominated(1)[topology.GPU], 4000)
		tx.Nominate(0, 0)
		same(t, "promised of n1 after a change of mind", tx.Nominated(1)[topology.GPU], 2000)
		same(t, "promised of n0", tx.Nominated(0)[topology.GPU], 2000)
		tx.Nominate(0, -1)
		tx.Nominate(1, -1)
		same(t, "promised of n0 in the end", tx.Nominated(0), topology.Resources{})
		same(t, "promised of n1 in the end", tx.Nominated(1), topology.Resources{})
	})
	playScript(t, sim.Config{Cluster: hosts(4, 4), Jobs: []workloads.Job{gang("A", 2, 2, 10)}}, s)
}

// A promise is one to a pending pod: it ends when the pod is bound, and when it is gone.
func TestPromisesEnd(t *testing.T) {
	s := new(script).then(0, func(tx *sim.Tx) {
		tx.Nominate(0, 0)
		tx.Nominate(1, 1)
		tx.Assume(0, 0)
		tx.Commit()
		same(t, "promised of n0 to a pod that is bound there", tx.Nominated(0), topology.Resources{})
	}).then(5, func(tx *sim.Tx) {
		tx.Evict(0, sim.CausePreempted)
		tx.Commit()
		same(t, "promised of n1 to a pod that is gone", tx.Nominated(1), topology.Resources{})
	})
	playScript(t, sim.Config{Cluster: hosts(4, 4), Jobs: []workloads.Job{gang("A", 2, 2, 10)}}, s)
}

// A placeholder takes the node of a pod and does no work until a pod of the same PodSet
// takes its place, the same or another.
func TestPlaceholderSwap(t *testing.T) {
	s := new(script).then(0, func(tx *sim.Tx) {
		tx.Placeholder(0, 0)
		tx.Placeholder(1, 0)
		same(t, "free on n0", freeGPUs(tx, 0), 0)
		tx.Assume(3, 2) // B runs beside it
		tx.Commit()
	}).then(5, func(tx *sim.Tx) {
		tx.Swap(0, 0)
		same(t, "the pod in its own place", tx.PodState(0), sim.PodReady)
	}).then(10, func(tx *sim.Tx) {
		tx.Swap(1, 2)
		same(t, "the other pod in its place", tx.PodState(2), sim.PodReady)
		same(t, "the placeholder's own pod", tx.PodState(1), sim.PodPending)
		same(t, "free on n0", freeGPUs(tx, 0), 0)
		tx.Assume(1, 1)
		tx.Commit()
	})
	st := playScript(t, sim.Config{Cluster: hosts(2, 1, 1), Jobs: []workloads.Job{gang("A", 3, 1, 10), gang("B", 1, 1, 20)}}, s)
	st.wantTrace(t, "0s submit A B; admit A B; bind+ready B.0@n2; barrier B(1)", "5s bind+ready A.0@n0",
		"10s bind+ready A.2@n0 A.1@n1; barrier A(3)", "20s finish B A")
	same(t, "reserved", gpuSeconds(st.r.Books.Sum(0, ledger.BlockedReserved)), "15")
}

// releasing is a scenario in which A is evicted at 10 s and terminates until 40 s on n0,
// beside B, which ends at 20 s. C and D want two GPUs each, and n1 has two.
func releasing() sim.Config {
	cfg := sim.Config{Cluster: hosts(4, 2), Jobs: []workloads.Job{gang("A", 1, 2, 50), gang("B", 1, 2, 20), gang("C", 1, 2, 10), gang("D", 1, 2, 10)}}
	cfg.Timing = sim.Instant
	cfg.Timing.Termination = 30 * sec
	return cfg
}

// A pod placed on what is releasing is bound when the terminating pod is gone. One that
// finds another way before is forgotten: D is first in line, but goes to n1.
func TestPlaceOnReleasing(t *testing.T) {
	cfg := releasing()
	cfg.Jobs[1].Duration = 60 * sec
	s := new(script).then(0, func(tx *sim.Tx) {
		tx.Assume(0, 0)
		tx.Assume(1, 0)
		tx.Commit()
	}).then(10, func(tx *sim.Tx) {
		tx.Evict(0, sim.CausePreempted)
		tx.Commit()
		same(t, "releasing on n0", tx.Releasing(0)[topology.GPU], 2000)
		tx.PlaceOnReleasing(3, 0)
		tx.PlaceOnReleasing(2, 0)
		same(t, "the pod that waits", tx.PodState(2), sim.PodPending)
		tx.Assume(3, 1)
		tx.Commit()
	})
	st := playScript(t, cfg, s)
	st.wantTrace(t, "0s submit A B C D; admit A B C D; bind+ready A.0@n0; barrier A(1); bind+ready B.0@n0; barrier B(1)",
		"10s evict A; bind+ready D.0@n1; barrier D(1); requeue A; admit A", "20s finish D", "40s bind+ready C.0@n0; barrier C(1)",
		"50s finish C", "60s finish B")
}

// It is bound as soon as it fits, whatever makes the room: B ends before A is gone.
func TestPlaceOnReleasingTakesWhatComesFirst(t *testing.T) {
	cfg := releasing()
	s := new(script).then(0, func(tx *sim.Tx) {
		tx.Assume(0, 0)
		tx.Assume(1, 0)
		tx.Commit()
	}).then(10, func(tx *sim.Tx) {
		tx.Evict(0, sim.CausePreempted)
		tx.Commit()
		tx.PlaceOnReleasing(2, 0)
	})
	st := playScript(t, cfg, s)
	same(t, "start of C", seconds(st.r.Jobs[2].FirstStart), "20s")
}

// The place in line ends with the life of the pod: C is evicted and created again before
// there is room, and nobody has placed the new pod.
func TestPlaceOnReleasingEndsWithThePod(t *testing.T) {
	cfg := releasing()
	cfg.Jobs[1].Duration = 60 * sec
	s := new(script).then(0, func(tx *sim.Tx) {
		tx.Assume(0, 0)
		tx.Assume(1, 0)
		tx.Commit()
	}).then(10, func(tx *sim.Tx) {
		tx.Evict(0, sim.CausePreempted)
		tx.Commit()
		tx.PlaceOnReleasing(2, 0)
	}).then(15, func(tx *sim.Tx) {
		tx.Evict(2, sim.CausePreempted)
		tx.Commit()
	})
	st := playScript(t, cfg, s)
	same(t, "start of C", st.r.Jobs[2].FirstStart, -1)
}

// A running job is expected to end when its work is done, through its checkpoints, or at its
// time limit.
func TestExpectedEnd(t *testing.T) {
	cfg := sim.Config{Cluster: hosts(4), Jobs: []workloads.Job{gang("A", 1, 1, 50), gang("B", 1, 1, 50), gang("C", 1, 1, 50)}}
	cfg.Jobs[1].TimeLimit = 20 * sec
	s := new(script).then(0, func(tx *sim.Tx) {
		same(t, "the end of a job that does not run", tx.ExpectedEnd(0), sim.Never)
		tx.Assume(0, 0)
		tx.Assume(1, 0)
		tx.Commit()
	}).then(5, func(tx *sim.Tx) {
		same(t, "the end of A", seconds(tx.ExpectedEnd(0)), "50s")
		same(t, "the end of B, by its limit", seconds(tx.ExpectedEnd(1)), "20s")
		same(t, "the end of C", tx.ExpectedEnd(2), sim.Never)
	})
	playScript(t, cfg, s)
}

// Moving a pod that its job needs costs the progress since the last safe point; moving one
// that it can do without does not.
func TestMove(t *testing.T) {
	s := new(script).then(0, func(tx *sim.Tx) {
		tx.Assume(0, 0)
		tx.Assume(1, 0)
		tx.Commit()
	}).then(5, func(tx *sim.Tx) {
		tx.Move(1, 1)
		same(t, "the moved pod's node", tx.NodeOf(1), 1)
		same(t, "its attempt", tx.Attempt(1), 1)
		same(t, "free on n0", freeGPUs(tx, 0), 3000)
	})
	cfg := sim.Config{Cluster: hosts(4, 4), Jobs: []workloads.Job{gang("A", 2, 1, 20)}}
	st := playScript(t, cfg, s)
	st.wantTrace(t, "0s submit A; admit A; bind+ready A.0-1@n0; barrier A(2)", "5s bind+ready A.1@n1; barrier A(2)", "25s finish A")
	st.wantLedger(t, map[ledger.Account]string{ledger.Useful: "40", ledger.Lost: "10", ledger.NoDemand: "750"})

	cfg.Jobs = []workloads.Job{gang("A", 2, 1, 20)}
	cfg.Jobs[0].PodSets[0].MinCount = 1
	s = new(script).then(0, func(tx *sim.Tx) {
		tx.Assume(0, 0)
		tx.Assume(1, 0)
		tx.Commit()
	}).then(5, func(tx *sim.Tx) { tx.Move(1, 1) })
	st = playScript(t, cfg, s)
	st.wantTrace(t, "0s submit A; admit A; bind+ready A.0@n0; barrier A(1); bind+ready A.1@n0", "5s bind+ready A.1@n1", "20s finish A")
	st.wantLedger(t, map[ledger.Account]string{ledger.Useful: "40", ledger.NoDemand: "760"})
}

// A reservation takes nothing, but while it is current the free GPUs it covers are the
// policy's: three of n0's four from 10 to 30 s, and again from 40 s until it is dropped at
// 45 s. The pod that waits claims the rest, for the reason it was deferred for.
func TestReserveAndDefer(t *testing.T) {
	nothing := func(*sim.Tx) {}
	s := new(script).then(0, func(tx *sim.Tx) {
		tx.Reserve(sim.Interval{Job: 0, Node: 0, Pods: 3, Set: 0, From: 10 * sec, To: 30 * sec})
		tx.Reserve(sim.Interval{Job: 0, Node: 0, Pods: 3, Set: 0, From: 40 * sec, To: 90 * sec})
		same(t, "intervals", len(tx.Reservations()), 2)
		same(t, "free on n0", freeGPUs(tx, 0), 4000)
		tx.Defer(0, sim.ReasonTopology)
		same(t, "the reason", tx.Deferred(0), sim.ReasonTopology)
	}).then(10, nothing).then(30, nothing).then(40, func(tx *sim.Tx) {
		same(t, "the reason, later", tx.Deferred(0), sim.ReasonTopology)
		tx.Defer(0, sim.ReasonPreemption)
	}).then(45, func(tx *sim.Tx) {
		tx.Unreserve(0)
		same(t, "intervals left", len(tx.Reservations()), 0)
	})
	st := playScript(t, sim.Config{Cluster: hosts(4), Jobs: []workloads.Job{gang("A", 4, 1, 10)}, Until: 50 * sec}, s)
	st.wantLedger(t, map[ledger.Account]string{
		ledger.BlockedReserved:   "75",  // 3 x (20 + 5)
		ledger.BlockedTopology:   "100", // 4 x (10 + 10) + 1 x 20
		ledger.BlockedPreemption: "25",  // 1 x 5 + 4 x 5
	})
}

// A reservation covers only what is free.
func TestReserveWhatIsTaken(t *testing.T) {
	s := new(script).then(0, func(tx *sim.Tx) {
		tx.Assume(0, 0)
		tx.Commit()
		tx.Reserve(sim.Interval{Job: 0, Node: 0, Pods: 1, Set: 0, From: 0, To: 50 * sec})
	}).then(50, func(*sim.Tx) {})
	st := playScript(t, sim.Config{Cluster: hosts(4), Jobs: []workloads.Job{gang("A", 1, 3, 10)}, Until: 50 * sec}, s)
	st.wantLedger(t, map[ledger.Account]string{ledger.Useful: "30", ledger.BlockedReserved: "130", ledger.NoDemand: "40"})
}

// What-if: an eviction frees nodes and quota in the view only, until it is committed; what
// is assumed on them is then bound.
func TestEvictWhatIf(t *testing.T) {
	s := &script{charge: true}
	var before sim.View
	s.then(0, func(tx *sim.Tx) {
		tx.Assume(0, 0)
		tx.Commit()
		before = tx.View
	}).then(5, func(tx *sim.Tx) {
		mark := tx.Savepoint()
		tx.Evict(0, sim.CausePreempted)
		same(t, "free on n0, if", freeGPUs(tx, 0), 4000)
		same(t, "quota used, if", tx.Quota().Used(0)[topology.GPU], 4000)
		same(t, "the victim, if", tx.State(0), sim.Admitted)
		tx.Rollback(mark)
		same(t, "free on n0", freeGPUs(tx, 0), 0)
		same(t, "quota used", tx.Quota().Used(0)[topology.GPU], 8000)
		tx.Evict(0, sim.CausePreempted)
		tx.Assume(1, 0)
		tx.Commit()
		same(t, "the victim", tx.State(0), sim.Backoff)
		same(t, "the winner", before.PodState(1), sim.PodReady)
	})
	st := playScript(t, sim.Config{Cluster: hosts(4), Jobs: []workloads.Job{gang("A", 1, 4, 50), gang("B", 1, 4, 10)}}, s)
	st.wantTrace(t, "0s submit A B; admit A B; bind+ready A.0@n0; barrier A(1)",
		"5s evict A; bind+ready B.0@n0; barrier B(1); requeue A; admit A", "15s finish B")
	same(t, "preemptions", st.r.Jobs[0].Evictions[sim.CausePreempted], 1)
	same(t, "requeues", st.r.Jobs[0].Requeues, 1)
}

// Evictions at the very start count like any other: nobody got anywhere since the first.
func TestLivelockFromZero(t *testing.T) {
	evict := func(tx *sim.Tx) {
		tx.Evict(0, sim.CausePreempted)
		tx.Commit()
	}
	st := playScript(t, sim.Config{Cluster: hosts(4), Jobs: []workloads.Job{gang("A", 1, 4, 50)}}, new(script).then(0, evict).then(10, evict).then(20, evict))
	if len(st.r.Findings) != 1 || st.r.Findings[0].Kind != sim.Livelock || st.r.Findings[0].Time != 20*sec {
		t.Errorf("findings %v, want a livelock at 20 s", st.r.Findings)
	}
}

// broken runs a script whose step must break an invariant.
func broken(t *testing.T, cfg sim.Config, s *script) (what string) {
	t.Helper()
	defer func() {
		b, ok := recover().(*sim.Broken)
		if !ok {
			t.Error("no invariant was broken")
			return
		}
		what = b.Error()
		if b.Policy != "script" || b.Seed != 7 {
			t.Errorf("it is not said what to run again: %+v", b)
		}
	}()
	cfg.Seed = 7
	playScript(t, cfg, s)
	return ""
}

// What a policy must not do is caught where it does it.
func TestMisuseIsCaught(t *testing.T) {
	cases := []struct {
		name string
		do   func(tx *sim.Tx)
	}{
		{"a cycle that leaves verbs open", func(tx *sim.Tx) { tx.Assume(0, 0) }},
		{"more on a node than it has", func(tx *sim.Tx) { tx.Assume(0, 0); tx.Assume(1, 0) }},
		{"a node that is down", func(tx *sim.Tx) { tx.Assume(0, 1) }},
		{"a pod twice", func(tx *sim.Tx) { tx.Assume(0, 0); tx.Commit(); tx.Assume(0, 0) }},
		{"admitting an admitted job", func(tx *sim.Tx) { tx.Admit(0) }},
		{"admitting it for free", func(tx *sim.Tx) { tx.AdmitFree(0) }},
		{"evicting a job that has ended", func(tx *sim.Tx) {
			tx.Assume(2, 0)
			tx.Commit()
			tx.Evict(1, sim.CausePreempted)
			tx.Commit()
			tx.Evict(1, sim.CausePreempted)
		}},
		{"holding a pod that has no node", func(tx *sim.Tx) { tx.HoldUntil(0, sec) }},
		{"binding a pod that is not held", func(tx *sim.Tx) { tx.Bind(0) }},
		{"releasing a pod that is not held", func(tx *sim.Tx) { tx.Release(0) }},
		{"a placeholder for a bound pod", func(tx *sim.Tx) { tx.Assume(0, 0); tx.Commit(); tx.Placeholder(0, 0) }},
		{"swapping with another PodSet", func(tx *sim.Tx) { tx.Placeholder(0, 0); tx.Swap(0, 2) }},
		{"swapping what is no placeholder", func(tx *sim.Tx) { tx.Swap(0, 1) }},
		{"placing a bound pod", func(tx *sim.Tx) { tx.Assume(0, 0); tx.Commit(); tx.PlaceOnReleasing(0, 0) }},
		{"moving a pod that is not bound", func(tx *sim.Tx) { tx.Move(0, 0) }},
		{"moving onto a full node", func(tx *sim.Tx) { tx.Assume(0, 0); tx.Assume(2, 2); tx.Commit(); tx.Move(0, 2) }},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			cfg := sim.Config{Cluster: hosts(5, 4, 1), Jobs: []workloads.Job{gang("A", 2, 3, 10), gang("B", 1, 1, 10)}, Actions: []sim.Action{{Node: 1}}}
			if what := broken(t, cfg, new(script).then(0, c.do)); !strings.HasPrefix(what, "invariant broken: ") {
				t.Errorf("got %q", what)
			}
		})
	}
}

// The view says that an eviction frees a node at once, but with a grace the victim is still
// there: binding somebody on top of it would give the node away twice. That is caught.
func TestBindingOnATerminatingVictimIsCaught(t *testing.T) {
	cfg := releasing()
	s := new(script).then(0, func(tx *sim.Tx) {
		tx.Assume(0, 0)
		tx.Assume(1, 0)
		tx.Commit()
	}).then(10, func(tx *sim.Tx) {
		tx.Evict(0, sim.CausePreempted)
		tx.Assume(2, 0)
		tx.Commit()
		t.Errorf("free on n0 is %d", freeGPUs(tx, 0))
	})
	broken(t, cfg, s)
}

// An error of the scenario is an error, not a panic.
func TestNewRefuses(t *testing.T) {
	jobs := func(change func(j *workloads.Job)) []workloads.Job {
		j := gang("A", 1, 1, 10)
		change(&j)
		return []workloads.Job{j}
	}
	cases := []struct {
		want string
		jobs []workloads.Job
	}{
		{`job "A": queue "x" does not exist`, jobs(func(j *workloads.Job) { j.Queue = "x" })},
		{`job "A": node "x" does not exist`, jobs(func(j *workloads.Job) { j.PodSets[0].Node = "x" })},
	}
	for _, c := range cases {
		_, err := sim.New(&sim.Config{Cluster: hosts(1), Queues: []quota.Queue{{Name: "default"}}, Jobs: c.jobs}, new(script).policy(), nil)
		if err == nil || err.Error() != c.want {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
	var b error = &sim.Broken{What: "x"}
	if !errors.As(b, new(*sim.Broken)) {
		t.Error("a broken invariant is no error")
	}
}

// An oracle: jobs of one-GPU pods in queues whose quota the cluster covers, second by second.
type dumbJob struct {
	submit, work, pods, priority, queue, start, end int
}

func drawDumb(t *rapid.T, queues int) []dumbJob {
	jobs := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) dumbJob {
		draw := func(label string, from, to int) int { return rapid.IntRange(from, to).Draw(t, label) }
		return dumbJob{draw("submit", 0, 20), draw("work", 0, 12), draw("pods", 1, 6), draw("priority", 0, 2), draw("queue", 0, queues-1), -1, -1}
	}), 1, 12).Draw(t, "jobs")
	slices.SortStableFunc(jobs, func(a, b dumbJob) int { return a.submit - b.submit })
	return jobs
}

func toJobs(dumb []dumbJob, queues []quota.Queue) []workloads.Job {
	var jobs []workloads.Job
	for i, d := range dumb {
		j := gang(fmt.Sprint("j", i), int32(d.pods), 1, int64(d.work))
		j.Submit, j.Priority, j.Queue = int64(d.submit)*sec, int32(d.priority), queues[d.queue].Name
		jobs = append(jobs, j)
	}
	return jobs
}

// before is the order of a queue.
func before(jobs []dumbJob, a, b int) bool {
	if jobs[a].priority != jobs[b].priority {
		return jobs[a].priority > jobs[b].priority
	}
	if jobs[a].submit != jobs[b].submit {
		return jobs[a].submit < jobs[b].submit
	}
	return a < b
}

// dumbQueues starts, second by second, whatever the quota of its queue lets start.
func dumbQueues(jobs []dumbJob, queues []quota.Queue) {
	order := make([]int, len(jobs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		if before(jobs, a, b) {
			return -1
		}
		return 1
	})
	for now := range 400 {
		for started := true; started; {
			started = false
			for q := range queues {
				free := int(queues[q].Nominal[topology.GPU] / 1000)
				for _, j := range jobs {
					if j.queue == q && j.start >= 0 && j.end > now {
						free -= j.pods
					}
				}
				for _, i := range order {
					j := &jobs[i]
					if j.queue != q || j.submit > now || j.start >= 0 {
						continue
					}
					if j.pods <= free {
						j.start, j.end = now, now+j.work
						free -= j.pods
						started = true
					} else if queues[q].Strategy == quota.StrictFIFO {
						break
					}
				}
			}
		}
	}
}

func TestQueuesAgainstADumbSimulator(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		queues := []quota.Queue{{Name: "a", Covers: [4]bool{true}}, {Name: "b", Covers: [4]bool{true}}}
		for q := range queues {
			queues[q].Nominal[topology.GPU] = rapid.Int64Range(1, 8).Draw(t, "quota") * 1000
			queues[q].Strategy = quota.Strategy(rapid.IntRange(0, 1).Draw(t, "strategy"))
		}
		want := drawDumb(t, len(queues))
		cfg := sim.Config{Cluster: hosts(8, 8, 8, 8), Queues: queues, Jobs: toJobs(want, queues)}
		dumbQueues(want, queues)
		for _, policy := range []string{"gang", "gang-topology"} {
			s := &scene{cfg: cfg, policy: policy, params: nil}
			if policy == "gang-topology" {
				s.params = map[string]string{"mode": "unconstrained", "gates": "wakeTopology=true"} // the dumb one looks at all queues
			}
			_, r := s.play(t)
			compareDumb(t, policy, want, r)
		}
	})
}

func compareDumb(t tb, policy string, want []dumbJob, r *sim.Result) {
	t.Helper()
	at := func(s int) int64 {
		if s < 0 {
			return -1
		}
		return int64(s) * sec
	}
	for i, w := range want {
		if got := r.Jobs[i]; got.FirstStart != at(w.start) || got.Finish != at(w.end) {
			t.Errorf("%s: job %d %+v: from %s to %s", policy, i, w, seconds(got.FirstStart), seconds(got.Finish))
		}
	}
}

// dumbPods binds pods one by one, in the order of their creation, to the first free of equal
// nodes. It returns who is bound where, when.
func dumbPods(jobs []dumbJob, nodes int, creation sim.Creation) (binds [][4]int, stuck bool) {
	type podOf struct{ job, rank, seq int }
	holder := slices.Repeat([]int{-1}, nodes)
	var waiting []podOf
	bound := make([]int, len(jobs))
	seq := 0
	leave := func(now int) {
		for i := range jobs {
			if jobs[i].start >= 0 && jobs[i].end == now {
				for n := range holder {
					if holder[n] == i {
						holder[n] = -1
					}
				}
			}
		}
	}
	for now := range 400 {
		leave(now)
		var arrived []podOf
		var turns []int
		for i := range jobs {
			if jobs[i].submit == now {
				turns = append(turns, i)
			}
		}
		slices.SortStableFunc(turns, func(a, b int) int { return jobs[b].priority - jobs[a].priority })
		for _, i := range turns {
			for rank := range jobs[i].pods {
				arrived = append(arrived, podOf{i, rank, 0})
			}
		}
		if creation == sim.Interleaved {
			slices.SortStableFunc(arrived, func(a, b podOf) int { return a.rank - b.rank })
		}
		for _, p := range arrived {
			seq++
			p.seq = seq
			waiting = append(waiting, p)
		}
		slices.SortStableFunc(waiting, func(a, b podOf) int {
			if d := jobs[b.job].priority - jobs[a.job].priority; d != 0 {
				return d
			}
			return a.seq - b.seq
		})
		for len(waiting) > 0 && slices.Contains(holder, -1) {
			p := waiting[0]
			waiting = waiting[1:]
			n := slices.Index(holder, -1)
			holder[n] = p.job
			binds = append(binds, [4]int{now, p.job, p.rank, n})
			if bound[p.job]++; bound[p.job] == jobs[p.job].pods {
				jobs[p.job].start, jobs[p.job].end = now, now+jobs[p.job].work
				leave(now)
			}
		}
	}
	return binds, slices.ContainsFunc(holder, func(j int) bool { return j >= 0 })
}

func TestPodsAgainstADumbSimulator(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes := rapid.IntRange(1, 6).Draw(t, "nodes")
		creation := rapid.SampledFrom([]sim.Creation{sim.Burst, sim.Interleaved}).Draw(t, "creation")
		queues := []quota.Queue{{Name: "default"}}
		want := drawDumb(t, 1)
		s := &scene{policy: "per-pod", params: map[string]string{"preemption": "off"}, cfg: sim.Config{Cluster: hosts(slices.Repeat([]int64{1}, nodes)...), Queues: queues, Jobs: toJobs(want, queues), Creation: creation}}
		binds, stuck := dumbPods(want, nodes, creation)
		trace, r := s.play(t)
		var got [][4]int
		for _, x := range trace {
			if x.Kind == sim.Bind {
				got = append(got, [4]int{int(x.Time / sec), int(x.Job), int(x.Rank), int(x.Place)})
			}
		}
		if d := cmp.Diff(binds, got); d != "" {
			t.Fatalf("binds {second, job, rank, node} (-dumb +engine):\n%s", d)
		}
		compareDumb(t, "per-pod", want, r)
		deadlocked := slices.ContainsFunc(r.Findings, func(f sim.Finding) bool { return f.Kind == sim.Deadlock })
		if deadlocked != stuck {
			t.Errorf("deadlock %v, somebody is stuck %v", deadlocked, stuck)
		}
	})
}

// M/M/c: Poisson arrivals, exponential service, c servers. The mean wait is Erlang's.
func TestMeanWaitIsErlangC(t *testing.T) {
	const c, n, seed = 4, 30_000, 5
	const load, service = 0.7, 100.0 // of each server; mean service time in s
	gap := service / (load * c)
	jobs := make([]workloads.Job, n)
	at := int64(0)
	for i := range jobs {
		at += rng.QuantiseMillis(gap * rng.Exp(rng.Hash(seed, rng.Arrival, uint64(i), 0)))
		jobs[i] = gang(fmt.Sprint("j", i), 1, 1, 0)
		jobs[i].Submit = at
		jobs[i].Duration = rng.QuantiseMillis(service * rng.Exp(rng.Hash(seed, rng.Duration, uint64(i), 0)))
	}
	cfg := sim.Config{Cluster: hosts(c), Jobs: jobs, Queues: []quota.Queue{{Name: "default", Strategy: quota.StrictFIFO,
		Nominal: quota.Amounts{c * 1000}, Covers: [4]bool{true}}}}
	want := erlangC(c, load*c) * service / (c * (1 - load))
	for _, name := range policies.Names() {
		d, _ := policies.Lookup(name)
		e, err := sim.New(&cfg, d.New(nil), nil)
		if err != nil {
			t.Fatal(err)
		}
		r := e.Run()
		mean := 0.0
		for _, j := range r.Jobs {
			mean += float64(j.FirstStart-j.Submit) / 1e9 / n
		}
		if math.Abs(mean/want-1) > 0.04 {
			t.Errorf("%s: mean wait %.1f s, Erlang C says %.1f s", name, mean, want)
		}
	}
}

// erlangC is the probability of waiting with a offered load of a on c servers.
func erlangC(c int, a float64) float64 {
	term, sum := 1.0, 0.0
	for k := range c {
		sum += term
		term *= a / float64(k+1)
	}
	last := term / (1 - a/float64(c))
	return last / (sum + last)
}
