package stage

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gangplan/gangplan/sim/order"
)

// naiveQueue is the scheduling queue as kube-scheduler writes it: three stores of pods, and
// every pod is tried by itself.
type naiveQueue struct {
	pace                        Pace
	active, backoff, unschedule []*naivePod
	room                        []int // per class: how many pods have a place
	deaf                        []bool
	now, free                   int64
	seq                         int
	tried                       []string
}

type naivePod struct {
	pod, class, priority int32
	tries, seq           int
	since                int64
}

func (n *naiveQueue) end(p *naivePod) int64 {
	d := n.pace.Backoff
	for i := 1; i < p.tries; i++ {
		d = min(2*d, n.pace.MaxBackoff)
	}
	if p.tries == 0 {
		return p.since
	}
	return p.since + d
}

// backsOff is kube-scheduler's isPodBackingoff: with windows of a second a pod backs off
// until the window of its end is over.
func (n *naiveQueue) backsOff(p *naivePod) bool {
	if n.pace.Early {
		return n.end(p)/second >= n.now/second
	}
	return n.end(p) > n.now
}

func (n *naiveQueue) before(a, b *naivePod) int {
	switch {
	case a.priority != b.priority:
		return int(b.priority - a.priority)
	case a.since != b.since:
		return int(max(-1, min(1, a.since-b.since)))
	}
	return a.seq - b.seq
}

func (n *naiveQueue) beforeInBackoff(a, b *naivePod) int {
	x, y := n.end(a), n.end(b)
	if n.pace.Early {
		x, y = x/second, y/second
	}
	if x != y {
		return int(max(-1, min(1, x-y)))
	}
	return n.before(a, b)
}

// wake moves unschedulable pods on.
func (n *naiveQueue) wake(which func(*naivePod) bool) {
	n.unschedule = slices.DeleteFunc(n.unschedule, func(p *naivePod) bool {
		if !which(p) {
			return false
		}
		if n.backsOff(p) {
			n.backoff = append(n.backoff, p)
		} else {
			n.active = append(n.active, p)
		}
		return true
	})
}

// tick is what timers do at a whole second.
func (n *naiveQueue) tick() {
	if n.now%30e9 == 0 {
		n.wake(func(p *naivePod) bool { return n.now-p.since > 300e9 })
	}
	n.backoff = slices.DeleteFunc(n.backoff, func(p *naivePod) bool {
		if n.backsOff(p) {
			return false
		}
		n.active = append(n.active, p)
		return true
	})
}

// pop takes the next pod out.
func (n *naiveQueue) pop() *naivePod {
	from, less := &n.active, n.before
	if len(n.active) == 0 && n.pace.Early {
		from, less = &n.backoff, n.beforeInBackoff
	}
	if len(*from) == 0 {
		return nil
	}
	p := slices.MinFunc(*from, less)
	*from = slices.DeleteFunc(*from, func(o *naivePod) bool { return o == p })
	return p
}

// run lets time go on until what happens at another time.
func (n *naiveQueue) run(to int64) {
	for n.now < to {
		if n.attempt() {
			continue
		}
		next := min(to, (n.now/second+1)*second)
		if n.free > n.now {
			next = min(next, n.free)
		}
		if n.now = next; next%second == 0 {
			n.tick()
		}
	}
}

// attempt tries the next pod, if there is one and the scheduler is free.
func (n *naiveQueue) attempt() bool {
	if n.free > n.now {
		return false
	}
	p := n.pop()
	if p == nil {
		return false
	}
	n.tried = append(n.tried, fmt.Sprint(n.now, " ", p.pod))
	n.free = n.now + n.pace.Attempt
	if n.room[p.class] > 0 {
		n.room[p.class]--
		return true
	}
	n.seq++
	p.tries, p.since, p.seq = p.tries+1, n.free, n.seq
	n.unschedule = append(n.unschedule, p)
	return true
}

func (n *naiveQueue) remove(pod int32) (found bool) {
	for _, from := range []*[]*naivePod{&n.active, &n.backoff, &n.unschedule} {
		*from = slices.DeleteFunc(*from, func(p *naivePod) bool {
			found = found || p.pod == pod
			return p.pod == pod
		})
	}
	return found
}

// playedQueue drives a Queue and a naive one through the same events.
type playedQueue struct {
	t     *testing.T
	r     *rand.Rand
	q     *Queue
	n     *naiveQueue
	room  []int
	tried []string
	asked int // attempts that the Queue had made for it
	at    int64
}

const queuePods, queueClasses = 60, 5

func newPlayedQueue(t *testing.T, seed uint64, pace Pace) *playedQueue {
	p := &playedQueue{t: t, r: rand.New(rand.NewPCG(seed, 8)), q: NewQueue(queuePods, pace),
		n: &naiveQueue{pace: pace, deaf: make([]bool, queueClasses)}, room: make([]int, queueClasses)}
	for class := range int32(queueClasses) {
		p.q.grow(class)
		p.n.deaf[class] = p.r.IntN(3) == 0
	}
	p.n.room = make([]int, queueClasses)
	p.q.Trace(func(pod int32, at int64) { p.tried = append(p.tried, fmt.Sprint(at, " ", pod)) })
	return p
}

// attempts makes the attempts of the Queue that are due before a time.
func (p *playedQueue) attempts(before int64) {
	for at := p.q.NextAttempt(); at < before; at = p.q.NextAttempt() {
		pod := p.q.Head(at)
		if pod == order.None {
			continue // it was said too early
		}
		class := p.q.Class(pod)
		p.asked++
		if p.room[class] > 0 {
			p.room[class]--
			p.q.Bound(pod, at)
			continue
		}
		p.q.Park(class)
		p.q.Failed(pod, at, p.n.deaf[class])
	}
}

// happen lets something happen a while later.
func (p *playedQueue) happen() {
	p.at += []int64{0, p.r.Int64N(second / 500), p.r.Int64N(3 * second), p.r.Int64N(40 * second), p.r.Int64N(500) * second}[p.r.IntN(5)]
	p.attempts(p.at)
	p.q.Advance(p.at)
	p.n.run(p.at)
	switch pod, class := p.r.Int32N(queuePods), p.r.Int32N(queueClasses); p.r.IntN(9) {
	case 0, 1, 2:
		if !p.q.Contains(pod) {
			p.create(pod, class, p.r.Int32N(3))
		}
	case 3:
		if got := p.n.remove(pod); got != p.q.Contains(pod) {
			p.t.Fatalf("%d: pod %d waits: %v, want %v", p.at, pod, !got, got)
		} else if got {
			p.q.Remove(pod)
		}
	case 4, 5: // a pod ended: there may be room
		p.change()
		p.q.Ended(2, p.at)
		p.n.wake(func(w *naivePod) bool { return !p.n.deaf[w.class] })
	case 6: // something that concerns one class
		p.change()
		p.q.RouseIf(func(c int32) bool { return c == class }, p.at)
		p.n.wake(func(w *naivePod) bool { return w.class == class })
	case 7: // something that concerns some pods
		p.change()
		some := []int32{pod, (pod + 1) % queuePods, (pod + 2) % queuePods}
		p.q.Rouse(slices.Clone(some), p.at)
		p.n.wake(func(w *naivePod) bool { return slices.Contains(some, w.pod) })
	case 8: // something that wakes nobody
		p.change()
	}
}

func (p *playedQueue) create(pod, class, priority int32) {
	p.q.Push(pod, class, order.Key{Priority: priority, Time: p.at})
	p.n.seq++
	p.n.active = append(p.n.active, &naivePod{pod: pod, class: class, priority: priority, since: p.at, seq: p.n.seq})
}

// change gives classes other room.
func (p *playedQueue) change() {
	for c := range p.room {
		if p.r.IntN(3) == 0 {
			p.room[c] = max(0, p.r.IntN(7)-4)
		}
		p.n.room[c] = p.room[c]
	}
	p.q.WakeIf(nil)
}

func TestQueueAgainstNaiveQueue(t *testing.T) {
	for name, pace := range map[string]Pace{
		"early":            {Attempt: second / 3000, Backoff: second, MaxBackoff: 10 * second, Early: true},
		"late":             {Attempt: second / 3000, Backoff: second, MaxBackoff: 10 * second},
		"slow":             {Attempt: second / 3, Backoff: second, MaxBackoff: 10 * second, Early: true},
		"slow, late":       {Attempt: second / 3, Backoff: second / 2, MaxBackoff: 7 * second},
		"without backoff":  {Attempt: second / 100, Early: true},
		"attempts at once": {Backoff: second, MaxBackoff: 10 * second, Early: true},
	} {
		t.Run(name, func(t *testing.T) {
			asked, tried := 0, 0
			for seed := range uint64(12) {
				p := newPlayedQueue(t, seed, pace)
				for range 400 {
					p.happen()
					if len(p.tried) > len(p.n.tried) || !slices.Equal(p.tried, p.n.tried[:len(p.tried)]) || len(p.tried) < len(p.n.tried) {
						i := 0
						for i < min(len(p.tried), len(p.n.tried)) && p.tried[i] == p.n.tried[i] {
							i++
						}
						t.Fatalf("seed %d, time %d: after %d attempts the next are\n%v, want\n%v", seed, p.at, i,
							p.tried[i:min(len(p.tried), i+5)], p.n.tried[i:min(len(p.n.tried), i+5)])
					}
				}
				asked, tried = asked+p.asked, tried+len(p.tried)
			}
			if asked*2 > tried {
				t.Errorf("%d of %d attempts had to be made: classes save too little", asked, tried)
			}
			t.Logf("%d attempts, %d of them made", tried, asked)
		})
	}
}
