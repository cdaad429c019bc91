package verify

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/sim/ledger"
)

// measure answers one expectation of a scenario, in the form the file has it: numbers as
// float64, times in seconds, null for what never came.
func (r *ran) measure(key string, want any) (any, error) {
	if key == "gate" {
		return r.gate(want)
	}
	if m, ok := measures[key]; ok {
		return m(r, want)
	}
	if j, ok := r.index[key]; ok {
		return []any{r.timeOf(j, "start"), r.timeOf(j, "end")}, nil
	}
	if node, ok := strings.CutSuffix(key, "_max"); ok {
		return r.heldBelow(node), nil
	}
	if id, ok := strings.CutPrefix(key, "evictions_of_"); ok {
		return r.countOf(id, sim.Evict)
	}
	if id, at, ok := strings.Cut(key, "_reserved_gpus_after_"); ok {
		return r.reservedAt(id, at)
	}
	if j, ok := r.index[strings.TrimSuffix(key, "_pods")]; ok && strings.HasSuffix(key, "_pods") {
		return float64(r.result.Jobs[j].Admitted), nil
	}
	if j, ok := r.index[strings.TrimSuffix(key, "_evicted")]; ok && strings.HasSuffix(key, "_evicted") {
		return r.firstTimeOf(j, sim.Evict), nil
	}
	if at, ok := strings.CutPrefix(key, "free_gpus_at_"); ok {
		return r.freeGPUsAt(at)
	}
	for _, suffix := range []string{"_start", "_end", "_wait", "_restart", "_admitted", "_running"} {
		if j, ok := r.index[strings.TrimSuffix(key, suffix)]; ok && strings.HasSuffix(key, suffix) {
			return r.timeOf(j, suffix[1:]), nil
		}
	}
	if j, ok := r.index[strings.TrimSuffix(key, "_on")]; ok && strings.HasSuffix(key, "_on") {
		return r.nodesOf(j), nil
	}
	return nil, cannot("the expectation %s is not measured", key)
}

// idleFirstHour is asked of runs that are cut after an hour.
const idleFirstHour = "unallocated_idle_gpu_s_0_3600"

type measureFunc func(r *ran, want any) (any, error)

// measures by the key of the expectation.
var measures = map[string]measureFunc{
	"start": func(r *ran, want any) (any, error) { return r.timesByJob("start", want) },
	"end":   func(r *ran, want any) (any, error) { return r.timesByJob("end", want) },

	"held_idle_gpu_s":        accounts(ledger.Held, ledger.Starting),
	"useful_gpu_s":           accounts(ledger.Useful),
	"lost_gpu_s":             accounts(ledger.Lost),
	"unallocated_idle_gpu_s": unallocated,
	"reserved_unused_gpu_s": func(r *ran, _ any) (any, error) {
		return r.result.Reserved.Float64() / 1e12, nil
	},

	"preemptions":                        preemptions,
	"preempted":                          preempted,
	"evictions":                          evictionsInAll,
	"evictions_total_by_horizon":         evictionsInAll,
	"livelock":                           livelock,
	"a4":                                 neverSatisfiable,
	"admitted":                           lastAdmitted,
	"reported_buggy_outcome":             remark,
	"worse_alternative":                  remark,
	"after":                              remark,
	"identical_event_log_across_repeats": identical,
	"gpus":                               func(r *ran, want any) (any, error) { return r.heldByNode(want) },
	"C1":                                 func(r *ran, _ any) (any, error) { return r.heldBelow("C1"), nil },
	"C2":                                 func(r *ran, _ any) (any, error) { return r.heldBelow("C2"), nil },
	idleFirstHour:                        unallocated,
	"shares":                             sharesAtEnd,
	"idle_units":                         func(r *ran, _ any) (any, error) { return r.freeAt(sim.Never), nil },
	"unallocated_at_10":                  func(r *ran, _ any) (any, error) { return r.freeAt(10e9), nil },
	"victim":                             remark,
	"bound":                              boundFirst,
	"evict_each":                         evictEach,
	"invariant":                          quotaInvariant,

	"makespan":      func(r *ran, _ any) (any, error) { return r.makespan(), nil },
	"jobs_finished": countStates(sim.Finished),
	"finished":      countStates(sim.Finished),
	"requeues":      requeues,

	"admit":          func(r *ran, _ any) (any, error) { return r.timesOfEvicted(sim.Admit), nil },
	"evict":          func(r *ran, _ any) (any, error) { return r.timesOfEvicted(sim.Evict), nil },
	"deactivated_at": func(r *ran, _ any) (any, error) { return r.firstTime(sim.Deactivate), nil },

	"pods_bound_at_0":                 boundAtZero,
	"deadlock_detected_at":            verdictTime(sim.Deadlock),
	"extra_wait_after_space_exists_s": extraWait,
	"identical_report_sha256":         identical,
	"nodes_of_s":                      nodesOfSmall,
	"largest_free_block":              func(r *ran, _ any) (any, error) { return r.largestFreeBlock() },

	"assignment":            assignment,
	"verdict":               verdict,
	"concurrent":            concurrent,
	"hosts_used":            hostsUsed,
	"hosts_idle":            hostsIdle,
	"hosts_idle_first_wave": hostsIdle,
	"running":               settledCount(sim.Admitted),
	"pending":               settledCount(sim.Queued, sim.Backoff),
	"free_gpus":             settledFree,
	"stranded_gpus":         settledStranded,
	"note":                  remark,
}

func sec(ns int64) float64 { return float64(ns) / 1e9 }

// timesByJob answers a map of job names to times. A name may carry a remark in
// parentheses, or stand for a range: s1..s7, all of which must then agree.
func (r *ran) timesByJob(what string, want any) (any, error) {
	asked, ok := want.(map[string]any)
	if !ok {
		return nil, cannot("%s as %v", what, want)
	}
	got := map[string]any{}
	for name := range asked {
		jobs, err := r.jobsNamed(name)
		if err != nil {
			return nil, err
		}
		got[name] = r.timeOf(jobs[0], what)
		for _, j := range jobs[1:] {
			if other := r.timeOf(j, what); other != got[name] {
				got[name] = fmt.Sprintf("%v and %v", got[name], other)
			}
		}
	}
	return got, nil
}

func (r *ran) jobsNamed(name string) ([]int32, error) {
	bare, _, _ := strings.Cut(name, "(")
	first, last, isRange := strings.Cut(bare, "..")
	ids := []string{bare}
	if isRange {
		prefix := strings.TrimRight(first, "0123456789")
		from, err1 := strconv.Atoi(strings.TrimPrefix(first, prefix))
		to, err2 := strconv.Atoi(strings.TrimPrefix(last, prefix))
		if err1 != nil || err2 != nil {
			return nil, cannot("the jobs %q", name)
		}
		ids = ids[:0]
		for k := from; k <= to; k++ {
			ids = append(ids, prefix+strconv.Itoa(k))
		}
	}
	var jobs []int32
	for _, id := range ids {
		j, ok := r.index[id]
		if !ok {
			return nil, cannot("there is no job %q", id)
		}
		jobs = append(jobs, j)
	}
	return jobs, nil
}

func (r *ran) timeOf(j int32, what string) any {
	row := &r.result.Jobs[j]
	t, from := row.FirstStart, int64(0)
	switch what {
	case "end":
		t = row.Finish
	case "wait":
		from = row.Submit
	case "admitted":
		t = row.FirstAdmit
	case "restart":
		t = r.lastBarrier(j)
	}
	if t < 0 {
		return nil
	}
	return sec(t - from)
}

// gpuSeconds is a sum of accounts over all GPU models.
func (r *ran) gpuSeconds(of ...ledger.Account) float64 {
	var sum ledger.Uint128
	for m := range r.result.Books.Models() {
		for _, a := range of {
			sum.Add(r.result.Books.Sum(m, a))
		}
	}
	return sum.Float64() / 1e12
}

func accounts(of ...ledger.Account) measureFunc {
	return func(r *ran, _ any) (any, error) { return r.gpuSeconds(of...), nil }
}

func unallocated(r *ran, _ any) (any, error) {
	var free []ledger.Account
	for a := ledger.Account(0); a < ledger.NumAccounts; a++ {
		if a.Unallocated() {
			free = append(free, a)
		}
	}
	return r.gpuSeconds(free...), nil
}

func countStates(state sim.JobState) measureFunc {
	return func(r *ran, _ any) (any, error) {
		n := 0
		for i := range r.result.Jobs {
			if r.result.Jobs[i].State == state {
				n++
			}
		}
		return float64(n), nil
	}
}

func requeues(r *ran, _ any) (any, error) {
	n := int32(0)
	for i := range r.result.Jobs {
		n += r.result.Jobs[i].Requeues
	}
	return float64(n), nil
}

func (r *ran) makespan() any {
	last := int64(-1)
	for i := range r.result.Jobs {
		last = max(last, r.result.Jobs[i].Finish)
	}
	if last < 0 {
		return nil
	}
	return sec(last)
}

// timesOfEvicted lists the times of a kind of transition of the one job that was evicted
// or deactivated.
func (r *ran) timesOfEvicted(kind sim.TransitionKind) any {
	times := []any{}
	i := slices.IndexFunc(r.transitions, func(t sim.Transition) bool { return t.Kind == sim.Evict || t.Kind == sim.Deactivate })
	if i < 0 {
		return times
	}
	for _, t := range r.transitions {
		if t.Kind == kind && t.Job == r.transitions[i].Job {
			times = append(times, sec(t.Time))
		}
	}
	return times
}

func (r *ran) firstTime(kind sim.TransitionKind) any {
	for _, t := range r.transitions {
		if t.Kind == kind {
			return sec(t.Time)
		}
	}
	return nil
}

func boundAtZero(r *ran, want any) (any, error) {
	asked, ok := want.(map[string]any)
	if !ok {
		return nil, cannot("pods_bound_at_0 as %v", want)
	}
	got := map[string]any{}
	for name := range asked {
		got[name] = 0.0
	}
	for _, t := range r.transitions {
		id := r.scenario.Config.Jobs[t.Job].ID
		if n, ok := got[id].(float64); ok && t.Kind == sim.Bind && t.Time == 0 {
			got[id] = n + 1
		}
	}
	return got, nil
}

func verdictTime(kind sim.VerdictKind) measureFunc {
	return func(r *ran, _ any) (any, error) {
		for _, f := range r.result.Findings {
			if f.Kind == kind {
				return sec(f.Time), nil
			}
		}
		return nil, nil
	}
}

// extraWait is how long the job that was evicted still waited after the last other job
// had made room.
func extraWait(r *ran, _ any) (any, error) {
	admits := r.timesOfEvicted(sim.Admit).([]any)
	if len(admits) == 0 {
		return nil, nil
	}
	start, space := admits[len(admits)-1].(float64), 0.0
	for i := range r.result.Jobs {
		if end := r.result.Jobs[i].Finish; end >= 0 && sec(end) <= start {
			space = max(space, sec(end))
		}
	}
	return start - space, nil
}

// identical runs the scenario again and compares everything that is reported.
func identical(r *ran, _ any) (any, error) {
	again, err := r.again()
	if err != nil {
		return nil, err
	}
	same := again.Digest == r.result.Digest && again.End == r.result.End &&
		reflect.DeepEqual(again.Jobs, r.result.Jobs) && reflect.DeepEqual(again.Books, r.result.Books)
	return same, nil
}

// gate evaluates "metric==value", with a remark behind it that it returns unchanged when
// the gate holds.
func (r *ran) gate(want any) (any, error) {
	metric, rest, ok := strings.Cut(text(want), "==")
	value, _, _ := strings.Cut(rest, " ")
	limit, err := strconv.ParseFloat(value, 64)
	if !ok || err != nil {
		return nil, cannot("the gate %v", want)
	}
	got, err := r.measure(metric, limit)
	if err != nil {
		return nil, err
	}
	if got == limit {
		return want, nil
	}
	return fmt.Sprintf("%s is %v", metric, got), nil
}

// nodesOfSmall lists the nodes of the jobs s0, s1, ... in order.
func nodesOfSmall(r *ran, _ any) (any, error) {
	nodes := []any{}
	for _, t := range r.transitions {
		if t.Kind == sim.Bind && strings.HasPrefix(r.scenario.Config.Jobs[t.Job].ID, "s") {
			nodes = append(nodes, r.scenario.Config.Cluster.Nodes[t.Place].Name)
		}
	}
	return nodes, nil
}
