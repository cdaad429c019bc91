package sim_test

import (
	"fmt"
	"testing"

	"github.com/gangplan/gangplan/policies"
	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/sim/ledger"
	"github.com/gangplan/gangplan/sim/quota"
	"github.com/gangplan/gangplan/topology"
)

// overTime is what a replay knows of the books and queues over time, bucket by bucket.
type overTime struct {
	timeline *ledger.Timeline
	width    int64
	accounts map[accountKey][]ledger.Uint128
	queues   map[queueKey][]ledger.Uint128
}

type accountKey struct {
	what  auditedAccount
	model int32
}

type queueKey struct {
	lane  sim.QueueLane
	queue int32
}

func newOverTime(l *ledger.Timeline) *overTime {
	from, to := l.Span(0)
	return &overTime{l, to - from, map[accountKey][]ledger.Uint128{}, map[queueKey][]ledger.Uint128{}}
}

// spread adds a rate to the buckets between two times.
func spread[K comparable](o *overTime, to map[K][]ledger.Uint128, key K, from, until, rate int64) {
	if to[key] == nil {
		to[key] = make([]ledger.Uint128, o.timeline.Buckets())
	}
	for b := int(from / max(1, o.width)); b < len(to[key]); b++ {
		first, last := o.timeline.Span(b)
		if until <= first {
			return
		}
		if dt := min(until, last) - max(from, first); dt > 0 {
			to[key][b].AddProduct(uint64(rate), uint64(dt))
		}
	}
}

// integrateQueues counts jobs, and pods with and without a node, from one time to another.
func (a *auditor) integrateQueues(from, until int64) {
	for i := range a.jobs {
		j := &a.jobs[i]
		queue := a.queueOf(int32(i))
		add := func(lane sim.QueueLane, n int64) {
			spread(a.over, a.over.queues, queueKey{lane, queue}, from, until, n)
		}
		switch j.state {
		case "queued", "backing off":
			add(sim.PendingJobs, 1)
		case "admitted":
			add(sim.AdmittedJobs, 1)
			if j.running {
				add(sim.RunningJobs, 1)
			}
		default:
			continue
		}
		var all, bound int64
		for p := range j.pods {
			g := a.request(int32(i), &j.pods[p])[topology.GPU]
			all += g
			if j.pods[p].node >= 0 {
				bound += g
			}
		}
		if j.state == "admitted" {
			all = all * int64(j.granted) / int64(len(j.pods)) // of several PodSets nobody says which has fewer
			a.vague = a.vague || len(a.cfg.Jobs[i].PodSets) > 1 && int(j.granted) < len(j.pods)
		}
		add(sim.BoundGPUs, bound)
		add(sim.WantedGPUs, all-bound)
	}
}

func (a *auditor) queueOf(j int32) int32 {
	for q := range a.cfg.Queues {
		if a.cfg.Queues[q].Name == a.cfg.Jobs[j].Queue {
			return int32(q)
		}
	}
	return 0
}

// compareTimeline checks every bucket, and that the buckets of every account are its sum.
func (a *auditor) compareTimeline(r *sim.Result) {
	a.Helper()
	for m := range a.cfg.Cluster.Models {
		for account := range ledger.NumAccounts {
			var sum ledger.Uint128
			for b := range r.Timeline.Buckets() {
				sum.Add(r.Account(b, m, account))
			}
			a.equal(m, account.String()+" over time", sum, r.Books.Sum(m, account))
		}
		for b := range r.Timeline.Buckets() {
			a.compareBucket(r, b, m)
		}
	}
	for key, want := range a.over.queues {
		if key.lane == sim.WantedGPUs && a.vague {
			continue
		}
		for b := range want {
			if got := r.Queue(b, int(key.queue), key.lane); got != want[b] {
				a.Errorf("bucket %d: lane %d of queue %d is %v, %v in the replay", b, key.lane, key.queue, got, want[b])
			}
		}
	}
}

func (a *auditor) compareBucket(r *sim.Result, b, m int) {
	a.Helper()
	from, to := r.Timeline.Span(b)
	var whole, capacity ledger.Uint128
	sum := func(accounts ...ledger.Account) (u ledger.Uint128) {
		for _, x := range accounts {
			u.Add(r.Account(b, m, x))
		}
		return u
	}
	for x := range ledger.NumAccounts {
		whole.Add(sum(x))
	}
	capacity.AddProduct(uint64(a.cfg.Cluster.GPUsByModel()[m]), uint64(to-from))
	equal := func(name string, got, want ledger.Uint128) {
		a.Helper()
		if got != want {
			a.equal(m, fmt.Sprintf("%s in bucket %d", name, b), got, want)
		}
	}
	equal("everything", whole, capacity)
	compare := func(name string, what auditedAccount, accounts ...ledger.Account) {
		var want ledger.Uint128
		if all := a.over.accounts[accountKey{what, int32(m)}]; all != nil {
			want = all[b]
		}
		equal(name, sum(accounts...), want)
	}
	compare("starting", aStarting, ledger.Starting)
	compare("held", aHeld, ledger.Held)
	compare("terminating", aTerminating, ledger.Terminating)
	compare("down", aDown, ledger.Down)
	compare("running", aRunning, ledger.Useful, ledger.StallLocality, ledger.StallContention, ledger.Lost, ledger.Checkpoint)
	if a.split {
		compare("useful", aUseful, ledger.Useful)
		compare("lost", aLost, ledger.Lost)
	}
}

// playGang plays a configuration under the policy gang.
func playGang(t *testing.T, cfg *sim.Config) *sim.Result {
	t.Helper()
	d, _ := policies.Lookup("gang")
	e, err := sim.New(cfg, d.New(nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	return e.Run()
}

// borrowing is 8 GPUs of which queue a owns six and b two; a job of b takes four for 10 s
// from 0 s, one of a six for 10 s from 5 s.
func borrowing(t *testing.T) *sim.Config {
	t.Helper()
	cluster, err := topology.Build([]string{"host"}, []topology.Node{{Name: "n", GPUModel: "H100", Allocatable: topology.DefaultAllocatable(8)}})
	if err != nil {
		t.Fatal(err)
	}
	cfg := &sim.Config{Cluster: cluster}
	for _, q := range []struct {
		name string
		gpus int64
	}{{"a", 6}, {"b", 2}} {
		cfg.Queues = append(cfg.Queues, quota.Queue{Name: q.name, Nominal: quota.Amounts{q.gpus * 1000}, Covers: [4]bool{true}, Cohort: "both"})
	}
	for _, j := range []struct {
		queue  string
		submit int64
		pods   int32
	}{{"b", 0, 4}, {"a", 5, 6}} {
		job := gang(j.queue, j.pods, 1, 10)
		job.Submit = j.submit * sec
		job.Queue = j.queue
		cfg.Jobs = append(cfg.Jobs, job)
	}
	return cfg
}

// The job of a waits from 5 s to 10 s; b borrows two of its four GPUs.
func TestQueuesOverTime(t *testing.T) {
	r := playGang(t, borrowing(t))
	if n := r.Timeline.Buckets(); n != 20 {
		t.Fatalf("%d buckets, want one per second of 20", n)
	}
	for _, c := range []struct {
		lane           sim.QueueLane
		queue, second  int
		want           int64
		wantNextSecond int64
	}{
		{sim.PendingJobs, 0, 4, 0, 1}, {sim.PendingJobs, 0, 9, 1, 0}, {sim.WantedGPUs, 0, 9, 6000, 0}, {sim.BoundGPUs, 0, 9, 0, 6000},
		{sim.AdmittedJobs, 1, 9, 1, 0}, {sim.RunningJobs, 1, 9, 1, 0}, {sim.BoundGPUs, 1, 9, 4000, 0}, {sim.ChargedGPUs, 1, 9, 4000, 0},
		{sim.BorrowedGPUs, 1, 0, 2000, 2000}, {sim.BorrowedGPUs, 1, 9, 2000, 0}, {sim.BorrowedGPUs, 0, 9, 0, 0}, {sim.ChargedGPUs, 0, 9, 0, 6000},
	} {
		for i, want := range []int64{c.want, c.wantNextSecond} {
			var product ledger.Uint128
			product.AddProduct(uint64(want), uint64(sec))
			if got := r.Queue(c.second+i, c.queue, c.lane); got != product {
				t.Errorf("lane %d of queue %d in second %d: %v, want %d", c.lane, c.queue, c.second+i, got, want)
			}
		}
	}
}

// A row says why a job waited, or still does, though no GPU is free.
func TestRefusal(t *testing.T) {
	full := borrowing(t)
	full.Jobs[0].PodSets[0].Count = 8
	cut := *full
	cut.Until = 7 * sec
	for _, c := range []struct {
		name          string
		cfg           *sim.Config
		first, second sim.Reason
	}{
		{"four were free of six", borrowing(t), sim.ReasonNone, sim.ReasonInsufficient},
		{"none was free, and it started", full, sim.ReasonNone, sim.ReasonNone},
		{"none is free, and it waits", &cut, sim.ReasonNone, sim.ReasonInsufficient},
	} {
		r := playGang(t, c.cfg)
		if got := [2]sim.Reason{r.Jobs[0].Refusal, r.Jobs[1].Refusal}; got != [2]sim.Reason{c.first, c.second} {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// What jobs did adds up to what the books say GPUs did.
func (a *auditor) compareSpent(r *sim.Result) {
	a.Helper()
	var spent ledger.Spent
	for j := range r.Jobs {
		s := &r.Jobs[j].Spent
		spent.Useful.Add(s.Useful)
		spent.StallLocality.Add(s.StallLocality)
		spent.StallContention.Add(s.StallContention)
		spent.Lost.Add(s.Lost)
	}
	total := func(account ledger.Account) (sum ledger.Uint128) {
		for m := range r.Books.Models() {
			sum.Add(r.Books.Sum(m, account))
		}
		return sum
	}
	a.equal(-1, "useful of all jobs", spent.Useful, total(ledger.Useful))
	a.equal(-1, "stall_locality of all jobs", spent.StallLocality, total(ledger.StallLocality))
	a.equal(-1, "stall_contention of all jobs", spent.StallContention, total(ledger.StallContention))
	a.equal(-1, "lost of all jobs", spent.Lost, total(ledger.Lost))
}
