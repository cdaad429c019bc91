package size

import (
	"context"
	"strings"
	"sync"

	"github.com/gangplan/gangplan/internal/scenario"
	"github.com/gangplan/gangplan/internal/stats"
	"github.com/gangplan/gangplan/internal/study"
	"github.com/gangplan/gangplan/report"
	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/sim/ledger"
	"github.com/gangplan/gangplan/topology"
)

// Seed is one run of a point.
type Seed struct {
	Seed        uint64        `json:"seed"`
	Digest      string        `json:"digest"`
	Met         bool          `json:"met"`
	OfferedLoad *float64      `json:"offered_load"` // nil if all jobs arrive at one instant, or the cluster has no GPUs
	Split       Split         `json:"share_of_capacity"`
	Metrics     report.Values `json:"metrics"`

	demand demand
	each   []bool // whether each target holds
}

// Split is where the GPU-hours of a run went, each as a share of capacity. What is missing
// to 1 ran without being kept, or was down.
type Split struct {
	Useful   float64 `json:"useful"`
	HeldIdle float64 `json:"held_idle"`
	Unusable float64 `json:"free_unusable"` // for who waits
	Free     float64 `json:"free"`          // nobody waits
}

// demand is what the jobs ask for, whatever they get.
type demand struct {
	jobs        int
	work        stats.Uint128 // milli-GPU x ns
	first, last int64
	instants    int
}

// task is one run to be made.
type task struct {
	of   *shared
	seed int
	to   *Seed
}

// shared is the scenario of a value, kept as long as runs of it are left to be made.
type shared struct {
	mu   sync.Mutex
	make func() (*scenario.Scenario, error)
	made *scenario.Scenario
	err  error
	left int
}

// take returns the scenario for one of the runs.
func (s *shared) take() (*scenario.Scenario, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.made == nil && s.err == nil {
		s.made, s.err = s.make()
	}
	out := s.made
	if s.left--; s.left == 0 {
		s.made = nil
	}
	return out, s.err
}

// evaluate runs a policy with some of the values, each under every seed.
func (s *search) evaluate(values []int) error {
	n := max(1, len(s.q.Seeds))
	var tasks []task
	for _, i := range values {
		s.points[i] = &Point{Values: s.q.Values[i], Seeds: make([]Seed, n)}
		of := &shared{left: n, make: func() (*scenario.Scenario, error) { return s.q.Build(i) }}
		for k := range n {
			tasks = append(tasks, task{of, k, &s.points[i].Seeds[k]})
		}
	}
	s.begun += len(tasks)
	var counting sync.Mutex
	err := study.Each(s.ctx, len(tasks), s.q.Parallel, func(ctx context.Context, i int) error {
		if err := s.play(ctx, &tasks[i]); err != nil {
			return err
		}
		counting.Lock()
		defer counting.Unlock()
		if s.done++; s.q.Progress != nil {
			s.q.Progress(s.done, s.begun)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, i := range values {
		s.points[i].sum(s.need)
	}
	return nil
}

// play makes one run.
func (s *search) play(ctx context.Context, t *task) error {
	sc, err := t.of.take()
	if err != nil {
		return err
	}
	own := *sc // Select must not change what others run
	if err := own.Select([]string{s.label}); err != nil {
		return err
	}
	if s.q.Seeds != nil {
		seeded, err := own.WithSeed(s.q.Seeds[t.seed])
		if err != nil {
			return err
		}
		own = *seeded
	}
	outcomes, err := study.Run(ctx, own.Config, study.Choices(&own), study.Options{Parallel: 1})
	if err != nil {
		return err
	}
	*t.to = s.q.measure(outcomes[0].Result)
	return nil
}

// measure keeps of a run what is told of it.
func (q *Question) measure(r *sim.Result) Seed {
	run := report.NewRun("", r, nil)
	d := demandOf(r)
	out := Seed{Seed: run.Seed, Digest: run.Digest, Met: true, Split: splitOf(run.Metrics),
		Metrics: pick(run.Metrics, q.metrics()), demand: d, OfferedLoad: d.load(r)}
	for _, t := range q.Targets {
		holds := t.Meets(run.Metrics)
		out.Met, out.each = out.Met && holds, append(out.each, holds)
	}
	return out
}

// demandOf adds up what the jobs ask for, carried ones left out.
func demandOf(r *sim.Result) demand {
	d := demand{last: -1}
	for j := range r.Jobs { // in the order of submission
		row := &r.Jobs[j]
		if row.Carried || row.State == sim.Future {
			continue
		}
		if d.jobs == 0 {
			d.first = row.Submit
		}
		if row.Submit != d.last {
			d.instants++
		}
		d.jobs++
		d.last = row.Submit
		d.work = d.work.Plus(stats.Product(uint64(row.GPUs), uint64(row.Work)))
	}
	return d
}

// window is the time that the arrivals stand for: from the first to the last, and the mean
// gap between instants of arrival once more, for what follows the last. False if there is
// one instant only.
func (d *demand) window() (ns float64, ok bool) {
	n := float64(d.instants)
	return float64(d.last-d.first) * n / (n - 1), d.instants > 1
}

// load is the work that arrives in the window over what the cluster can do in it.
func (d *demand) load(r *sim.Result) *float64 {
	window, ok := d.window()
	capacity := float64(r.Config.Cluster.Capacity()[topology.GPU])
	if !ok || capacity == 0 {
		return nil
	}
	return new(d.work.Float64() / float64(capacity*window))
}

func splitOf(vs report.Values) Split {
	var s Split
	add := func(to *float64, accounts ...string) {
		for _, a := range accounts {
			v, _ := vs.Get("gpu_hours." + a)
			*to += v
		}
		if capacity, _ := vs.Get("gpu_hours.capacity"); capacity > 0 {
			*to /= capacity
		}
	}
	add(&s.Useful, "useful")
	add(&s.HeldIdle, "held", "starting", "terminating")
	add(&s.Unusable, blockedAccounts...)
	add(&s.Free, "no_demand")
	return s
}

// blockedAccounts are the accounts of GPUs that are free and of no use to who waits.
var blockedAccounts = func() []string {
	var names []string
	for a := range ledger.NumAccounts {
		if strings.HasPrefix(a.String(), "blocked_") {
			names = append(names, a.String())
		}
	}
	return names
}()
