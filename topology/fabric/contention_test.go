package fabric

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gangplan/gangplan/topology/fabric/flow"
)

// system is a number of jobs on a fabric.
type system struct {
	f     *Fabric
	jobs  []systemJob
	loads []Load
}

type systemJob struct {
	pods    []Pod
	traffic Traffic
	step    Step
}

// two jobs of four hosts, two in each of two racks, whose uplinks are as fast as one host.
func pair(t testing.TB) *system {
	p := bare()
	p.Algorithm = Hierarchical
	p.DomainBusBW, p.NICs, p.NICGBps = 400, 1, 50
	s := &system{f: compile(t, p, regular(t, "rack host", 2, 4), oversubscribed("rack", 4))}
	for i := range int32(2) {
		s.add(podsOn(8000, 2*i, 2*i+1, 4+2*i, 5+2*i), Traffic{Bytes: 10e9}, Step{Compute: 1e9})
	}
	return s
}

func (s *system) add(pods []Pod, traffic Traffic, step Step) {
	s.jobs = append(s.jobs, systemJob{pods, traffic, step})
	var l Load
	s.f.Load(NewScratch(s.f), pods, traffic, &l)
	s.loads = append(s.loads, l)
}

// times solves the system with the jobs put on in an order.
func (s *system) times(order []int) []int64 {
	c := NewContention(s.f, len(s.jobs))
	for _, j := range order {
		c.Add(int32(j), &s.loads[j], s.jobs[j].step)
	}
	c.Solve()
	return s.read(c)
}

func (s *system) read(c *Contention) []int64 {
	out := make([]int64, len(s.jobs))
	for j := range out {
		out[j] = -1
		if c.Has(int32(j)) {
			out[j] = c.AllReduce(int32(j)).Nanos
		}
	}
	return out
}

func (s *system) all() []int {
	order := make([]int, len(s.jobs))
	for j := range order {
		order[j] = j
	}
	return order
}

// Alone 0.3 s of 1.3 s. Together X = 0.3 (1 + X / (1 + X)): X^2 + 0.4 X - 0.3 = 0.
func TestContentionByHand(t *testing.T) {
	s := pair(t)
	if got := s.times([]int{0})[0]; got != 300e6 {
		t.Errorf("alone: %d ns, want 0.3 s", got)
	}
	for j, got := range s.times(s.all()) {
		if want := int64(383095189); got < want || got > want+2 {
			t.Errorf("job %d: %d ns, want %d rounded up", j, got, want)
		}
	}
	c := NewContention(s.f, 2)
	c.Add(0, &s.loads[0], s.jobs[0].step)
	c.Add(1, &s.loads[1], s.jobs[1].step)
	if got := c.Solve(); !slices.Equal(got, []int32{0, 1}) || c.AllReduce(0).Level != 0 {
		t.Errorf("changed %v, bound by level %d", got, c.AllReduce(0).Level)
	}
	c.Remove(0)
	if got := c.Solve(); !slices.Equal(got, []int32{1}) || c.AllReduce(1).Nanos != 300e6 || c.Has(0) {
		t.Errorf("after the other left: changed %v, %v", got, c.AllReduce(1))
	}
	if got := c.Solve(); len(got) != 0 {
		t.Errorf("nothing happened, and %v changed", got)
	}
}

// A load knows what the closed form knows.
func TestLoadIsAllReduce(t *testing.T) {
	for seed := range uint64(200) {
		s := randomSystem(t, seed)
		for j, job := range s.jobs {
			want := s.f.Collect(NewScratch(s.f), job.pods, job.traffic)
			if got := s.loads[j].Idle; got != want {
				t.Errorf("seed %d: %v, the closed form %v", seed, got, want)
			}
			bw := s.loads[j].private
			for _, u := range s.loads[j].uses {
				bw = max(bw, u.crossing(0))
			}
			if d := s.loads[j].timeOf(bw) - want.Nanos; want.Level != NoLevel && (d < 0 || d > 2) {
				t.Errorf("seed %d: the integers make %d of %v", seed, s.loads[j].timeOf(bw), want)
			}
		}
	}
}

// randomSystem has gangs on random hosts of a tree of two levels, half of them with ranks
// in the order of the topology, and a third of them with a model that is cut.
func randomSystem(t testing.TB, seed uint64) *system {
	r := rand.New(rand.NewPCG(seed, 7))
	p := h100(t)
	if seed%2 == 0 {
		p = bare()
	}
	p.Algorithm = []Algorithm{Ring, Tree, Hierarchical}[r.IntN(3)]
	if seed%4 == 1 {
		p.Order = Random
	}
	cluster := regular(t, "zone rack host", 2, 3, 4)
	levels := map[string]Level{"rack": {1 + 3*r.Float64(), 1, 0, 0}, "zone": {1 + 4*r.Float64(), 1, 0, 0}}
	s := &system{f: compile(t, p, cluster, levels)}
	free := r.Perm(len(cluster.Nodes))
	for len(free) > 1 {
		n := min(len(free), 1+r.IntN(6))
		hosts := slices.Clone(free[:n])
		free = free[n:]
		if r.IntN(2) == 0 {
			slices.Sort(hosts)
		}
		var pods []Pod
		for _, h := range hosts {
			pods = append(pods, Pod{int32(h), 8000})
		}
		step := Step{Compute: 1e8 + r.Int64N(2e9)}
		step.Hidden = int64(float64(step.Compute) * r.Float64() * 2 / 3)
		traffic := Traffic{Bytes: 1e8 + r.Int64N(4e10)}
		if r.IntN(3) == 0 {
			traffic = Traffic{Collective: FullyShard, Bytes: traffic.Bytes / 16, Tensor: int32(1 << r.IntN(4)), Pipeline: int32(1 + r.IntN(2))}
		}
		s.add(pods, traffic, step)
	}
	return s
}

// Any order of arrivals, with jobs that come and go in between, gives the same bits as the
// plain iteration of all jobs in rounds, over all pools, whether they can bind or not.
func TestDeterminismContention(t *testing.T) {
	for seed := range uint64(120) {
		s := randomSystem(t, seed)
		want := s.slow()
		r := rand.New(rand.NewPCG(seed, 8))
		for range 4 {
			order := r.Perm(len(s.jobs))
			if got := s.times(order); !slices.Equal(got, want) {
				t.Fatalf("seed %d: order %v gives %v, want %v", seed, order, got, want)
			}
		}
		c := NewContention(s.f, len(s.jobs))
		for range 40 {
			if j := int32(r.IntN(len(s.jobs))); c.Has(j) {
				c.Remove(j)
			} else {
				c.Add(j, &s.loads[j], s.jobs[j].step)
			}
			if r.IntN(3) == 0 {
				c.Solve()
			}
		}
		for j := range s.jobs {
			if !c.Has(int32(j)) {
				c.Add(int32(j), &s.loads[j], s.jobs[j].step)
			}
		}
		c.Solve()
		if got := s.read(c); !slices.Equal(got, want) {
			t.Fatalf("seed %d: after a history %v, want %v", seed, got, want)
		}
	}
}

// slow is the fixed point by the book: everyone in turn until nothing changes.
func (s *system) slow() []int64 {
	x := make([]int64, len(s.jobs))
	for j := range x {
		x[j] = s.loads[j].Idle.Nanos
	}
	for again := true; again; {
		again = false
		for j := range x {
			if t := s.next(j, x); t > x[j] {
				x[j], again = t, true
			}
		}
	}
	return x
}

func (s *system) next(j int, x []int64) int64 {
	l := &s.loads[j]
	bw := l.private
	for _, u := range l.uses {
		var others uint64
		for k := range x {
			for _, o := range s.loads[k].uses {
				if k != j && o.pool == u.pool {
					others += uint64(o.kappa) * s.jobs[k].step.duty(x[k])
				}
			}
		}
		if others > 0 {
			bw = max(bw, u.crossing(others))
		}
	}
	return l.timeOf(bw)
}

// Adding a job never speeds another up, no uplink carries more than it can on average, and
// symmetric jobs are equal.
func TestContentionInvariants(t *testing.T) {
	for seed := range uint64(100) {
		s := randomSystem(t, seed)
		last := make([]int64, len(s.jobs))
		for n := 1; n <= len(s.jobs); n++ {
			got := s.times(s.all()[:n])
			for j := range n {
				if got[j] < max(last[j], s.loads[j].Idle.Nanos) {
					t.Errorf("seed %d: job %d takes %d ns, %d before job %d came", seed, j, got[j], last[j], n-1)
				}
			}
			last = got
		}
		for j, most := range s.saturated() {
			if last[j] > most {
				t.Errorf("seed %d: job %d takes %d ns, %d if everyone always sends", seed, j, last[j], most)
			}
		}
		use := make([]float64, len(s.f.uplink))
		for j := range s.jobs {
			for _, u := range s.loads[j].uses {
				use[u.pool] += float64(u.kappa) / kappaOne * s.loads[j].sent / float64(s.jobs[j].step.Nanos(last[j]))
			}
		}
		for d, rate := range use {
			if rate > s.f.uplink[d]*(1+1e-6) {
				t.Errorf("seed %d: %v GB/s on average on an uplink of %v", seed, rate, s.f.uplink[d])
			}
		}
	}
	s := pair(t)
	if got := s.times(s.all()); got[0] != got[1] {
		t.Errorf("equal jobs take %v", got)
	}
}

// saturated is the time of each job if all others were on the network all the time.
func (s *system) saturated() []int64 {
	busy := *s
	busy.jobs = slices.Clone(s.jobs)
	for j := range busy.jobs {
		busy.jobs[j].step = Step{}
	}
	x := make([]int64, len(s.jobs))
	for j := range x {
		x[j] = 1
	}
	out := make([]int64, len(x))
	for j := range x {
		out[j] = busy.next(j, x)
	}
	return out
}

// k times the bandwidths and a k-th of all times is a k-th of the solution; what rounds up
// is off by a few nanoseconds.
func TestContentionScale(t *testing.T) {
	const k = 4
	for seed := uint64(0); seed < 60; seed += 2 { // without latencies
		slow, fast := randomSystem(t, seed), randomSystem(t, seed)
		p := slow.f.profile
		p.DomainBusBW, p.NICGBps = k*p.DomainBusBW, k*p.NICGBps
		f := *slow.f
		f.profile, f.nic = p, k*f.nic
		f.uplink = slices.Clone(f.uplink)
		for d := range f.uplink {
			f.uplink[d] *= k
		}
		fast.f, fast.jobs, fast.loads = &f, nil, nil
		for _, j := range slow.jobs {
			fast.add(j.pods, j.traffic, Step{j.step.Compute / k, j.step.Hidden / k})
		}
		want := slow.times(slow.all())
		for j, got := range fast.times(fast.all()) {
			if d := float64(got*k)/float64(want[j]) - 1; d < -1e-5 || d > 1e-5 {
				t.Errorf("seed %d: job %d takes %d, and %d on a fabric %d times as fast", seed, j, want[j], got, k)
			}
		}
	}
}

// A pool at most as loaded as it is fast is left out, and that changes nothing; one job
// alone binds no pool however often it leaves.
func TestPoolsThatCannotBind(t *testing.T) {
	s := &system{f: compile(t, bare(), regular(t, "rack host", 2, 4), oversubscribed("rack", 2))}
	for i := range int32(2) {
		s.add(podsOn(8000, i, 4+i), Traffic{Bytes: 1e9}, Step{Compute: 1e9})
	}
	c := NewContention(s.f, 2)
	for j := range s.jobs {
		c.Add(int32(j), &s.loads[j], s.jobs[j].step)
	}
	for d := range c.pools {
		if c.pools[d].binds || c.pools[d].kappa != 2*kappaOne {
			t.Errorf("pool %d: %+v", d, c.pools[d])
		}
	}
	alone := &system{f: compile(t, bare(), regular(t, "rack host", 2, 4), oversubscribed("rack", 4))}
	alone.add(podsOn(8000, 0, 4, 1, 5, 2, 6, 3, 7), Traffic{Bytes: 1e9}, Step{Compute: 1e9})
	if got := alone.times(alone.all())[0]; got != alone.loads[0].Idle.Nanos {
		t.Errorf("alone %d, idle %d", got, alone.loads[0].Idle.Nanos)
	}
}

func TestCrossingRoundsUp(t *testing.T) {
	for _, tt := range []struct {
		unit   int64
		kappa  int32
		others uint64
		want   int64
	}{
		{1 << 16, kappaOne, 0, 1}, {1<<16 + 1, kappaOne, 0, 2}, {3 << 16, 2 * kappaOne, fullDuty / 2 * kappaOne, 8},
		{1 << 16, kappaOne, 1, 2}, {2 << 16, kappaOne / 2, 0, 1}, {mostNanos, 1 << 30, 1 << 60, mostNanos},
	} {
		if got := (&use{unit: tt.unit, kappa: tt.kappa}).crossing(tt.others); got != tt.want {
			t.Errorf("%+v: got %d", tt, got)
		}
	}
	if d := (Step{Compute: 3, Hidden: 3}).duty(1); d != fullDuty/3 {
		t.Errorf("a third is %d", d)
	}
	if d := (Step{}).duty(7); d != fullDuty {
		t.Errorf("all communication is %d", d)
	}
}

// Flows with phases aligned, and flows in the long run.
func (s *system) flowTimes(compute func(j int) []int64, until int64) []float64 {
	capacity := s.f.Links()
	jobs := make([]flow.Job, len(s.jobs))
	scratch := NewScratch(s.f)
	for j := range jobs {
		var edges []flow.Edge
		edges, capacity = s.f.Edges(scratch, s.jobs[j].pods, s.jobs[j].traffic, &s.loads[j], capacity)
		jobs[j] = s.loads[j].FlowJob(s.jobs[j].step, edges)
		jobs[j].Compute = compute(j)
		jobs[j].Start = int64(j) * 37e9
	}
	steps := make([]float64, len(jobs))
	for j, ends := range flow.Iterations(capacity, jobs, until) {
		warm := len(ends) / 4
		steps[j] = float64(ends[len(ends)-1]-ends[warm]) / float64(len(ends)-1-warm) / flow.Nano
	}
	return steps
}

// Fluid against flow: the error of the step time over seeded random systems.
func TestFluidAgainstFlow(t *testing.T) {
	var errs []float64
	for seed := range uint64(40) {
		s := randomSystem(t, 2*seed) // bare: no latencies
		r := rand.New(rand.NewPCG(seed, 9))
		fluid := s.times(s.all())
		steps := s.flowTimes(func(j int) []int64 {
			c := make([]int64, 97)
			for i := range c {
				c[i] = int64(float64(s.jobs[j].step.Compute) * (0.9 + 0.2*r.Float64()) * flow.Nano)
			}
			return c
		}, 200e12)
		for j, x := range fluid {
			got := float64(s.jobs[j].step.Nanos(x))
			errs = append(errs, max(got/steps[j], steps[j]/got)-1)
		}
	}
	slices.Sort(errs)
	mean := 0.0
	for _, e := range errs {
		mean += e / float64(len(errs))
	}
	p95 := errs[len(errs)*95/100]
	t.Logf("%d jobs: mean error %.2f %%, p95 %.2f %%, largest %.2f %%", len(errs), 100*mean, 100*p95, 100*errs[len(errs)-1])
	if mean > 0.05 || p95 > 0.15 {
		t.Errorf("mean error %.3f, p95 %.3f", mean, p95)
	}
}
