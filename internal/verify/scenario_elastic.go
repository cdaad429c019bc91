package verify

import (
	"strconv"

	"github.com/gangplan/gangplan/internal/scenario"
	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/sim/ledger"
	"github.com/gangplan/gangplan/topology"
)

// Jobs that can do with fewer pods, and pods that fail by themselves.

// convertElastic reads what a job says of fewer pods and of failures.
func convertElastic(job map[string]any, out *scenario.Job) error {
	if scales := job["scales"]; scales != nil && scales != "work-conserving" {
		return cannot("a job that scales %v", scales)
	}
	out.Pods.MinPods = int32(number(job["min_pods"]))
	failures, _ := job["pod_failure"].([]any)
	for _, raw := range failures {
		failure, _ := raw.(map[string]any)
		if err := onlyKeys("pod_failure", failure, "t", "pod", "restart_all", "ready_after"); err != nil {
			return err
		}
		restart := scenario.Restart{At: seconds(failure["t"]), ReadyAfter: seconds(failure["ready_after"])}
		if failure["restart_all"] != true {
			restart.Pod = whole[int32](failure["pod"])
		}
		out.Restarts = append(out.Restarts, restart)
	}
	return nil
}

// firstTimeOf is when something first happened to a job, or null.
func (r *ran) firstTimeOf(j int32, kind sim.TransitionKind) any {
	for _, t := range r.transitions {
		if t.Kind == kind && t.Job == j && t.Rank < 0 {
			return sec(t.Time)
		}
	}
	return nil
}

// reservedAt is what quota a job holds, in GPUs, after everything of an instant.
func (r *ran) reservedAt(id, at string) (any, error) {
	seconds, err := strconv.ParseFloat(at, 64)
	j, ok := r.index[id]
	if err != nil || !ok {
		return nil, cannot("the quota of %q after %q", id, at)
	}
	held := 0.0
	for _, t := range r.transitions {
		if t.Job != j || t.Rank >= 0 || sec(t.Time) > seconds {
			continue
		}
		switch t.Kind {
		case sim.Admit:
			held = float64(r.result.Jobs[j].GPUs) / topology.Milli
		case sim.Evict, sim.Finish, sim.Fail, sim.Deactivate:
			held = 0
		}
	}
	return held, nil
}

// quotaInvariant checks that the quota that is taken is at every instant that of the jobs
// that are admitted, and returns the sentence that says so. The engine keeps the integral of
// what is taken beyond what pods hold; here it is derived from the transitions.
func quotaInvariant(r *ran, want any) (any, error) {
	if text(want) != "at every instant, reserved quota = sum over workloads that are admitted and not evicted" {
		return nil, cannot("the invariant %q", want)
	}
	var unused ledger.Uint128
	taken, bound, since := int64(0), make([]int64, len(r.result.Jobs)), int64(0)
	sum := func() (n int64) {
		for _, b := range bound {
			n += b
		}
		return taken - n
	}
	for _, t := range r.transitions {
		unused.AddProduct(uint64(t.Time-since), uint64(sum()))
		since = t.Time
		spec := &r.scenario.Config.Jobs[t.Job]
		switch {
		case t.Kind == sim.Bind:
			bound[t.Job] += spec.PodSets[0].Request[topology.GPU]
		case t.Kind == sim.Evict && t.Rank >= 0:
			bound[t.Job] -= spec.PodSets[0].Request[topology.GPU]
		case t.Kind == sim.Admit:
			taken += spec.TotalGPUs()
		case t.Kind == sim.Evict, t.Kind == sim.Finish, t.Kind == sim.Fail, t.Kind == sim.Deactivate:
			taken -= spec.TotalGPUs()
			bound[t.Job] = 0
		}
	}
	if unused != r.result.Reserved {
		return "it does not hold", nil
	}
	return want, nil
}
