package verify

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/gangplan/gangplan/policies/admission"
	"github.com/gangplan/gangplan/sim/order"
	"github.com/gangplan/gangplan/testdata"
)

// kueueCycle is how Kueue schedules several queues, cycle by cycle, until nothing changes.
var kueueCycle = Suite{
	Name: "kueue-cycle",
	Doc:  "queues with pending workloads, cycle by cycle: order, admissions, preemptions, who is set aside, as Kueue v0.17.0 did",
	Run:  runKueueCycle,
}

type cycleCase struct {
	kueueCase
	StopCycles   int              `json:"victim_stop_cycles"`
	StatusEvents bool             `json:"status_events"`
	Epoch        int64            `json:"cycle_epoch_s"`
	Pending      []kueueWorkload  `json:"pending"`
	Cycles       []map[string]any `json:"cycles"`
	End          string           `json:"end"`
}

// Limits of a recorded sequence: it ends after so many cycles without a change, or in all.
const (
	quietCycles = 3
	mostCycles  = 40
)

func runKueueCycle(o Options) ([]Outcome, error) {
	var out []Outcome
	err := eachLine(o.Cases, testdata.KueueCycle, func(line []byte) error {
		var c cycleCase
		if err := readCase(line, &c); err != nil {
			return err
		}
		if c.ID == "" || c.StopCycles < 1 {
			return fmt.Errorf("expected an id and when victims stop")
		}
		out = append(out, c.outcome())
		return nil
	})
	return out, err
}

func (c *cycleCase) outcome() Outcome {
	w, err := c.build(c.Pending)
	if err != nil {
		return Outcome{ID: c.ID, Verdict: Skipped, Reason: err.Error()}
	}
	r := &cycleRun{kueueWorld: w, case_: c, texts: make([]string, len(w.Work)), stops: map[int32]int{}, causes: map[int32]admission.Cause{}}
	r.fillQueues()
	end := "limit"
	for n := 1; n <= mostCycles; n++ {
		row := r.cycle(n)
		if n > len(c.Cycles) {
			return Outcome{ID: c.ID, Verdict: Outside, Reason: "it goes on", Want: map[string]any{"end": c.End}, Got: row}
		}
		if o := compareFields(c.ID, r.normal(c.Cycles[n-1]), r.normal(row)); o.Verdict == Outside {
			o.Reason = fmt.Sprintf("cycle %d %s", n, o.Reason)
			return o
		}
		if end = r.ended(); end != "" {
			break
		}
		end = "limit"
	}
	got := map[string]any{"end": end, "cycles": r.n}
	return compareFields(c.ID, map[string]any{"end": c.End, "cycles": len(c.Cycles)}, got)
}

// cycleRun plays a sequence: the scheduler's cycles, and between them what the controllers
// do.
type cycleRun struct {
	*kueueWorld
	case_    *cycleCase
	n        int
	waiting  []admission.Queue
	texts    []string      // the status text each workload was last given
	stops    map[int32]int // victims on their way out, and the cycle after which they are gone
	causes   map[int32]admission.Cause
	quiet    int
	changed  bool
	previous string
}

func (r *cycleRun) fillQueues() {
	arena := order.NewArena(len(r.Work))
	for i := range r.case_.Queues {
		r.waiting = append(r.waiting, admission.NewQueue(arena, r.tree.Queue(int32(i)).Strategy))
	}
	for _, given := range r.case_.Pending {
		j := r.index[given.Name]
		r.Push(&r.waiting[r.Work[j].Queue], j)
	}
	for _, given := range r.case_.Admitted {
		if given.Evicted {
			r.stops[r.index[given.Name]] = r.case_.StopCycles
			r.causes[r.index[given.Name]] = admission.InClusterQueue
		}
	}
}

// cycle plays one and returns it as it is recorded.
func (r *cycleRun) cycle(n int) map[string]any {
	r.n, r.changed = n, false
	var heads []int32
	for q := range r.waiting {
		if j := r.waiting[q].Head(); j != order.None {
			heads = append(heads, j)
		}
	}
	entries := r.Cycle(heads)
	row := map[string]any{"n": n, "order": r.orderOf(entries), "entries": r.entries(entries, n)}
	row["admitted"], row["preempted"] = r.apply(entries, n)
	row["stopped"] = r.stop(n)
	row["after"] = r.after()
	return row
}

// orderOf lists the processed workloads per root.
func (r *cycleRun) orderOf(entries []*admission.Entry) map[string]any {
	out := map[string]any{}
	for _, e := range entries {
		root := r.tree.Name(r.tree.Root(r.Work[e.Workload].Queue))
		list, _ := out[root].([]any)
		out[root] = append(list, r.workloads[e.Workload].Name)
	}
	return out
}

// entries writes the entries down in the order of their queues.
func (r *cycleRun) entries(entries []*admission.Entry, n int) []any {
	out := make([]any, len(r.waiting))
	for _, e := range entries {
		given := &r.workloads[e.Workload]
		row := map[string]any{"workload": given.Name, "cluster_queue": given.Queue, "mode": e.Mode.String(),
			"borrowing_level": e.Level, "status": e.Status.String(), "podsets": r.podsets(e.Workload, &e.Assignment),
			"last_tried_flavor": triedOf(e), "messages": oneOf(r.messageOf(e), r.recordedMessages(n, given.Name))}
		if e.Requeue != admission.Generic {
			row["requeue_reason"] = e.Requeue.String()
		}
		if targets := r.targets(e.Targets); len(targets) > 0 {
			row["targets"] = r.reasons(byName(targets), e.Status == admission.Skipped)
		}
		out[r.Work[e.Workload].Queue] = row
	}
	return slices.DeleteFunc(out, func(row any) bool { return row == nil })
}

// byName sorts victims by name.
func byName(targets []any) []any {
	name := func(t any) string { return text(t.(map[string]any)["name"]) }
	slices.SortStableFunc(targets, func(a, b any) int { return cmp.Compare(name(a), name(b)) })
	return targets
}

// reasons corrects the reasons of victims to those on record: none for a skipped entry's,
// and the first one for who is on its way out already.
func (r *cycleRun) reasons(targets []any, skipped bool) []any {
	for _, t := range targets {
		row := t.(map[string]any)
		if first, leaving := r.causes[r.index[text(row["name"])]]; leaving {
			row["reason"] = first.String()
		}
		if skipped {
			row["reason"] = ""
		}
	}
	return targets
}

func triedOf(e *admission.Entry) []any {
	out := []any{}
	for s := range e.Sets {
		row := map[string]any{}
		for res, f := range e.Sets[s].Flavor {
			if f >= 0 {
				row[resourceName(res)] = e.Sets[s].Tried[res]
			}
		}
		out = append(out, row)
	}
	return out
}

func (r *cycleRun) messageOf(e *admission.Entry) string {
	if e.Status == admission.Skipped {
		return e.Skipped
	}
	message := e.Message(r.names(e.Workload))
	if e.Requeue == admission.PendingPreemption {
		message += admission.Pending(len(e.Targets))
	}
	return message
}

func (r *cycleRun) recordedMessages(n int, name string) any {
	if n > len(r.case_.Cycles) {
		return nil
	}
	list, _ := r.case_.Cycles[n-1]["entries"].([]any)
	for _, raw := range list {
		if row, ok := raw.(map[string]any); ok && row["workload"] == name {
			return row["messages"]
		}
	}
	return nil
}

// apply does what the controllers do after a cycle: admitted workloads hold quota, victims
// are on their way out, the others are back in their queues.
func (r *cycleRun) apply(entries []*admission.Entry, n int) (admitted, preempted []any) {
	for _, e := range entries {
		q := &r.waiting[r.Work[e.Workload].Queue]
		if e.Status == admission.Assumed {
			q.Remove(e.Workload)
			r.tree.UseAll(r.Work[e.Workload].Queue, e.Usage)
			r.Hold(e.Workload, r.case_.Epoch+int64(n), e.Usage)
			admitted = append(admitted, r.workloads[e.Workload].Name)
			continue
		}
		r.Return(q, e)
		r.tell(e)
		if e.Requeue != admission.PendingPreemption {
			continue
		}
		for _, t := range e.Targets {
			if _, leaving := r.stops[t.Workload]; !leaving {
				r.stops[t.Workload] = n + r.case_.StopCycles - 1
				r.causes[t.Workload] = t.Cause
				preempted = append(preempted, r.targets([]admission.Target{t})...)
				r.Evict(t.Workload)
			}
		}
	}
	r.changed = len(admitted)+len(preempted) > 0
	return admitted, byName(preempted)
}

// tell updates a waiting workload's status. Where that is noticed, the queue holds a fresh
// object then, which remembers nothing.
func (r *cycleRun) tell(e *admission.Entry) {
	message := r.messageOf(e)
	if r.case_.StatusEvents && r.texts[e.Workload] != message {
		r.Forget(e.Workload)
	}
	r.texts[e.Workload] = message
}

// stop ends the victims whose time has come: they are back in their queues, and everybody
// in their tree is looked at again.
func (r *cycleRun) stop(n int) []any {
	var out []any
	for _, j := range slices.Sorted(maps.Keys(r.stops)) {
		if r.stops[j] > n {
			continue
		}
		delete(r.stops, j)
		delete(r.causes, j)
		q := r.Work[j].Queue
		r.tree.FreeAll(q, r.Holding(j))
		r.Drop(j)
		r.texts[j] = ""
		r.Push(&r.waiting[q], j)
		r.wake(r.tree.Root(q))
		out = append(out, r.workloads[j].Name)
		r.changed = true
	}
	return out
}

func (r *cycleRun) wake(root int32) {
	for q := range r.waiting {
		if r.tree.Root(int32(q)) == root {
			r.Wake(&r.waiting[q])
		}
	}
}

// after writes down who waits and who holds quota.
func (r *cycleRun) after() []any {
	holding := make([][]any, len(r.waiting))
	for j := range r.Work {
		if r.Holds(int32(j)) {
			holding[r.Work[j].Queue] = append(holding[r.Work[j].Queue], r.workloads[j].Name)
		}
	}
	out := []any{}
	for q := range r.waiting {
		out = append(out, map[string]any{"cluster_queue": r.tree.Name(int32(q)), "heap": r.namesOf(r.waiting[q].Active()),
			"inadmissible": r.namesOf(r.waiting[q].Aside()), "holding": append([]any{}, holding[q]...)})
	}
	return out
}

func (r *cycleRun) namesOf(list []int32) []any {
	out := []any{}
	for _, j := range list {
		out = append(out, r.workloads[j].Name)
	}
	return out
}

// ended says how a sequence ends after the present cycle, or "".
func (r *cycleRun) ended() string {
	state, _ := json.Marshal(r.after())
	if r.changed || string(state) != r.previous {
		r.quiet = 0
	} else {
		r.quiet++
	}
	r.previous = string(state)
	empty := !slices.ContainsFunc(r.waiting, func(q admission.Queue) bool { return q.Head() != order.None })
	switch {
	case empty && len(r.stops) == 0:
		return "empty"
	case r.quiet == quietCycles:
		return "quiet"
	}
	return ""
}

// normal sorts what is compared regardless of the order across trees: the admitted, tree
// by tree.
func (r *cycleRun) normal(row map[string]any) map[string]any {
	list, _ := row["admitted"].([]any)
	list = slices.Clone(list)
	root := func(name any) int32 { return r.tree.Root(r.Work[r.index[text(name)]].Queue) }
	slices.SortStableFunc(list, func(a, b any) int { return int(root(a) - root(b)) })
	out := maps.Clone(row)
	out["admitted"] = list
	return out
}
