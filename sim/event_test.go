package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// The contract's order within one instant, written down a second time.
var contract = []struct {
	rank  int
	what  string
	kinds []eventKind
}{
	{1, "completions of jobs, checkpoints, start-ups, terminations; quota release",
		[]eventKind{evPodReady, evJobFinish, evCheckpointEnd, evPodGone, evQuotaRelease, evReclaim, evPodsReadySeen}},
	{2, "a node comes up", []eventKind{evBringUp, evUntaint}},
	{3, "a node goes down, containers fail", []eventKind{evTakeDown, evPodRestart}},
	{4, "quota, calendar and configuration changes", []eventKind{evConfigure}},
	{5, "arrivals", []eventKind{evArrival}},
	{6, "all other timers", []eventKind{evReadyDeadline, evBackoffEnd, evVisible, evPodWave, evPodCreate, evPodVisible, evPodShow, evReplace, evNodeNoticed,
		evCheckpointStart, evTimeLimit, evBudget, evNotice, evHoldEnd, evStarvation, evAdmitterWake, evBinderWake}},
}

func contractRank(k eventKind) int {
	for _, c := range contract {
		if slices.Contains(c.kinds, k) {
			return c.rank
		}
	}
	return 0
}

func TestEveryKindHasARank(t *testing.T) {
	for k := range numEventKinds {
		if contractRank(k) == 0 {
			t.Errorf("event kind %d has no place in the contract of this test", k)
		}
	}
}

// Every pair of kinds, scheduled in both orders: the contract's rank decides, and the
// order of scheduling within a rank.
func TestOrderWithinAnInstantPairByPair(t *testing.T) {
	for a := range numEventKinds {
		for b := range numEventKinds {
			var q eventQueue
			q.push(5, a, 1, 0)
			q.push(5, b, 2, 0)
			first := q.pop().id
			want := int32(1)
			if contractRank(b) < contractRank(a) {
				want = 2
			}
			if first != want {
				t.Errorf("kinds %d (%d) and %d (%d): event %d comes first", a, contractRank(a), b, contractRank(b), first)
			}
		}
	}
}

func TestTimeComesBeforeRank(t *testing.T) {
	var q eventQueue
	q.push(6, evJobFinish, 1, 0)
	q.push(5, evBinderWake, 2, 0)
	if q.pop().id != 2 {
		t.Error("a later event of a higher rank came first")
	}
}

// Nothing a passive event does can free a GPU: exactly these do not keep a run alive.
func TestPassiveKinds(t *testing.T) {
	passive := []eventKind{evArrival, evVisible, evStarvation, evAdmitterWake, evBinderWake}
	for k := range numEventKinds {
		if k.passive() != slices.Contains(passive, k) {
			t.Errorf("kind %d: passive %v", k, k.passive())
		}
	}
}

type expected struct {
	time      int64
	rank, seq int
	id        int32
	gen       uint32
	kind      eventKind
}

func compareExpected(a, b expected) int {
	switch {
	case a.time != b.time:
		return int(a.time - b.time)
	case a.rank != b.rank:
		return a.rank - b.rank
	}
	return a.seq - b.seq
}

// Random pushes and pops against a list kept in order by a stable sort.
func TestEventQueueAgainstSort(t *testing.T) {
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, 2))
		var q eventQueue
		var want []expected
		now := int64(0)
		for step := range 6000 {
			filling := step < 3000
			if len(want) == 0 || r.IntN(100) < 35 || filling && r.IntN(100) < 50 {
				e := expected{time: now + r.Int64N(12), seq: step, id: r.Int32(), gen: r.Uint32(), kind: eventKind(r.IntN(int(numEventKinds)))}
				e.rank = contractRank(e.kind)
				at, _ := slices.BinarySearchFunc(want, e, compareExpected)
				want = slices.Insert(want, at, e)
				q.push(e.time, e.kind, e.id, e.gen)
				continue
			}
			if q.peek() != want[0].time {
				t.Fatalf("seed %d, step %d: peek is %d, want %d", seed, step, q.peek(), want[0].time)
			}
			got, w := q.pop(), want[0]
			want = want[1:]
			if got.time != w.time || got.kind != w.kind || got.id != w.id || got.gen != w.gen {
				t.Fatalf("seed %d, step %d: got %+v, want %+v", seed, step, got, w)
			}
			now = got.time
		}
		if len(q.heap) != len(want) {
			t.Fatalf("seed %d: %d events left, want %d", seed, len(q.heap), len(want))
		}
	}
}

func TestAnEmptyQueueNeverComes(t *testing.T) {
	var q eventQueue
	if q.peek() != Never {
		t.Error("an empty queue has a time")
	}
	q.push(3, evArrival, 0, 0)
	q.pop()
	if q.peek() != Never {
		t.Error("a queue emptied again has a time")
	}
}

func BenchmarkEventQueue(b *testing.B) {
	for _, size := range []int{100, 10_000, 200_000} {
		b.Run(fmt.Sprintf("pending=%d", size), func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 2))
			var q eventQueue
			delays := make([]int64, 1<<16)
			for i := range delays {
				delays[i] = r.Int64N(1e12)
			}
			for i := range size {
				q.push(delays[i%len(delays)], evJobFinish, int32(i), 0)
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				e := q.pop()
				q.push(e.time+delays[i%len(delays)], evJobFinish, e.id, 0)
			}
		})
	}
}
