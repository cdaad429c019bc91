package record

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/topology"
)

// Replay is a run of the jobs that were seen, submitted when they were: to the end of the
// record, and a tolerance before and after it.
type Replay struct {
	Before, At, Long *Record
	missing          []string // jobs of the scenario that were not seen
	notes            []string
	cfg              *sim.Config
}

// Replay plays a scenario as the cluster was used.
func (w *Watched) Replay(cfg *sim.Config, tolerance Tolerance, play func(*sim.Config) (*Record, error)) (*Replay, error) {
	r := &Replay{cfg: cfg}
	base := w.base(cfg)
	slack := tolerance.of(w.End)
	if w.anyCoarse() {
		slack += int64(time.Second)
	}
	submits := w.submits(cfg, base)
	for _, x := range []struct {
		out **Record
		end int64
	}{{&r.Before, w.End - slack}, {&r.At, w.End}, {&r.Long, w.End + slack}} {
		run := follow(cfg, submits)
		if !w.anyCoarse() {
			run.Timing.SecondOffset = ((w.Offset()-base)%1e9 + 1e9) % 1e9
		}
		run.Until = max(1, base+x.end)
		if cfg.Until > 0 {
			run.Until = min(run.Until, cfg.Until)
		}
		seen, err := play(run)
		if err != nil {
			return nil, err
		}
		*x.out = seen.since(base)
	}
	if len(w.Decisions) == 0 && len(r.Long.Decisions) > 0 {
		r.notes = append(r.notes, "no queue admitted anything in the record: were Workloads watched, and is the policy that of the cluster?")
	}
	r.lookForMissing(w, base)
	r.noteNodes(w)
	return r, nil
}

// base is when the scenario submits the first job that was seen.
func (w *Watched) base(cfg *sim.Config) int64 {
	first := slices.MinFunc(w.Jobs, func(a, b Job) int { return cmp.Compare(a.Submit, b.Submit) })
	for i := range cfg.Jobs {
		if cfg.Jobs[i].ID == first.Name {
			return cfg.Jobs[i].Submit
		}
	}
	return 0
}

// submits are when the jobs come, by their place in the scenario: when they were seen to,
// unless that is known to the second only and the scenario agrees.
func (w *Watched) submits(cfg *sim.Config, base int64) []int64 {
	submits := make([]int64, len(cfg.Jobs))
	seen := map[string]int64{}
	for i := range w.Jobs {
		seen[w.Jobs[i].Name] = base + w.came(&w.Jobs[i], cfg)
	}
	for i := range cfg.Jobs {
		submits[i] = cfg.Jobs[i].Submit
		at, ok := seen[cfg.Jobs[i].ID]
		if d := max(at-submits[i], submits[i]-at); ok && (!w.anyCoarse() || d > int64(time.Second)) {
			submits[i] = at
		}
	}
	return submits
}

// came is when a job is to be submitted. Its Workload, whose age decides in a queue, came a while
// after it, which is chance: that is where the run begins to count.
func (w *Watched) came(j *Job, cfg *sim.Config) int64 {
	if j.WorkloadCreated == Never || w.anyCoarse() {
		return j.Submit
	}
	return max(0, j.WorkloadCreated-cfg.Timing.Workload)
}

// follow returns a configuration whose jobs are submitted at other times. They are in the
// order of these, as a trace is.
func follow(cfg *sim.Config, submits []int64) *sim.Config {
	out := *cfg
	order := make([]int, len(cfg.Jobs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(submits[a], submits[b]) })
	out.Jobs, out.Stable = slices.Clone(cfg.Jobs), slices.Clone(cfg.Stable)
	place := make([]int32, len(order))
	for to, from := range order {
		out.Jobs[to], out.Stable[to], place[from] = cfg.Jobs[from], cfg.Stable[from], int32(to)
		out.Jobs[to].Submit = submits[from]
	}
	out.Actions = slices.Clone(cfg.Actions)
	for i := range out.Actions {
		if a := &out.Actions[i]; a.Job >= 0 {
			a.Job = place[a.Job]
		}
	}
	return &out
}

// lookForMissing lists the jobs that the record should have and has not.
func (r *Replay) lookForMissing(w *Watched, base int64) {
	later, seen := 0, map[string]bool{}
	for i := range w.Jobs {
		seen[w.Jobs[i].Name] = true
	}
	for i := range r.cfg.Jobs {
		switch j := &r.cfg.Jobs[i]; {
		case seen[j.ID]:
		case j.Submit-base > w.End:
			later++
		default:
			r.missing = append(r.missing, j.ID)
		}
	}
	if later > 0 {
		r.notes = append(r.notes, counted(int32(later), "job")+" of the scenario came after the end of the record")
	}
}

// noteNodes compares the clusters.
func (r *Replay) noteNodes(w *Watched) {
	if len(w.Hosts) == 0 {
		return
	}
	have, want := w.GPUs, r.cfg.Cluster.Capacity()[topology.GPU]
	if nodes := len(r.cfg.Cluster.Nodes); have != want || len(w.Hosts) != nodes {
		r.notes = append(r.notes, fmt.Sprintf("the record has %s with %g GPUs, the scenario %d with %g",
			counted(int32(len(w.Hosts)), "node"), float64(have)/topology.Milli, nodes, float64(want)/topology.Milli))
	}
}

// namesOf reports whether the scenario's nodes are called as the cluster's.
func (r *Replay) namesOf(w *Watched) bool {
	known := map[string]bool{}
	for i := range r.cfg.Cluster.Nodes {
		known[r.cfg.Cluster.Nodes[i].Name] = true
	}
	for i := range w.Jobs {
		for _, b := range w.Jobs[i].Bound {
			if !known[b.Node] {
				return false
			}
		}
	}
	return true
}
