package verify

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/gangplan/gangplan/policies/admission"
	"github.com/gangplan/gangplan/sim/quota"
	"github.com/gangplan/gangplan/testdata"
)

// kueueQuota is how Kueue nominates one workload: flavors, mode, victims, shares.
var kueueQuota = Suite{
	Name: "kueue-quota",
	Doc:  "one workload against admitted ones: flavors, mode, victims and shares as Kueue v0.17.0 decided",
	Run:  runKueueQuota,
}

type quotaCase struct {
	kueueCase
	Incoming kueueWorkload  `json:"incoming"`
	Expected map[string]any `json:"expected"`
}

func runKueueQuota(o Options) ([]Outcome, error) {
	var out []Outcome
	err := eachLine(o.Cases, testdata.KueueQuota, func(line []byte) error {
		var c quotaCase
		if err := readCase(line, &c); err != nil {
			return err
		}
		if c.ID == "" || c.Expected == nil {
			return fmt.Errorf("expected an id and what is expected")
		}
		out = append(out, c.outcome())
		return nil
	})
	return out, err
}

func (c *quotaCase) outcome() Outcome {
	w, err := c.build([]kueueWorkload{c.Incoming})
	if err != nil {
		return Outcome{ID: c.ID, Verdict: Skipped, Reason: err.Error()}
	}
	got := map[string]any{
		"shares":       w.shares(c.Expected["shares"]),
		"availability": w.availability(c.Expected["availability"]),
		"cohort_state": w.cohortState(c.Expected["cohort_state"]),
	}
	var a admission.Assignment
	j := w.index[c.Incoming.Name]
	w.Nominate(j, &a)
	got["mode"], got["borrowing_level"], got["borrows"] = a.Mode.String(), float64(a.Level), a.Level > 0
	got["podsets"], got["usage"] = w.podsets(j, &a), w.usage(a.Usage)
	got["targets"] = w.targets(a.Targets)
	got["messages"] = oneOf(a.Message(w.names(j)), c.Expected["messages"])
	return compareFields(c.ID, c.Expected, got)
}

// compareFields compares two JSON objects field by field, in the form encoding/json reads.
func compareFields(id string, want map[string]any, got map[string]any) Outcome {
	o := Outcome{ID: id, Verdict: Equal}
	wrong, right := map[string]any{}, map[string]any{}
	for _, key := range unionOfKeys(want, got) {
		if !sameJSON(want[key], got[key]) {
			right[key], wrong[key] = want[key], got[key]
			o.Verdict = Outside
		}
	}
	if o.Verdict == Outside {
		o.Want, o.Got = right, wrong
		o.Reason = fmt.Sprintf("differs in %v", unionOfKeys(right, nil))
	}
	return o
}

func unionOfKeys(a, b map[string]any) []string {
	var keys []string
	for _, m := range []map[string]any{a, b} {
		for key := range m {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// sameJSON compares what two values look like as JSON; what is empty may also be absent.
func sameJSON(a, b any) bool {
	ja, errA := json.Marshal(a)
	jb, errB := json.Marshal(b)
	return errA == nil && errB == nil && (string(ja) == string(jb) || isEmpty(ja) && isEmpty(jb))
}

func isEmpty(text []byte) bool { return slices.Contains([]string{"null", "[]", "{}"}, string(text)) }

// oneOf returns the texts that were recorded if ours is among them, else ours.
func oneOf(text string, recorded any) any {
	list, _ := recorded.([]any)
	if slices.Contains(list, any(text)) {
		return recorded
	}
	return []any{text}
}

// rows answers every row of a recorded table; a row names what it is about.
func rows(recorded any, answer func(row map[string]any) map[string]any) any {
	list, _ := recorded.([]any)
	out := make([]any, 0, len(list))
	for _, raw := range list {
		if row, ok := raw.(map[string]any); ok {
			out = append(out, answer(row))
		}
	}
	return out
}

func (w *kueueWorld) frOf(row map[string]any) quota.FR {
	r, _ := resourceOf(text(row["resource"]))
	return quota.Of(w.flavors[text(row["flavor"])], r)
}

func (w *kueueWorld) availability(recorded any) any {
	return rows(recorded, func(row map[string]any) map[string]any {
		q, fr := w.queues[text(row["cluster_queue"])], w.frOf(row)
		return map[string]any{"cluster_queue": row["cluster_queue"], "flavor": row["flavor"], "resource": row["resource"],
			"usage": w.tree.Usage(q, fr), "available": w.tree.Available(q, fr), "potential": w.tree.Potential(q, fr)}
	})
}

func (w *kueueWorld) cohortState(recorded any) any {
	return rows(recorded, func(row map[string]any) map[string]any {
		node, fr := w.nodes[text(row["cohort"])], w.frOf(row)
		return map[string]any{"cohort": row["cohort"], "flavor": row["flavor"], "resource": row["resource"],
			"subtree_quota": w.tree.Subtree(node, fr), "usage": w.tree.Usage(node, fr)}
	})
}

// shares writes shares as Kueue shows them: in thousandths, as floating-point numbers.
func (w *kueueWorld) shares(recorded any) any {
	return rows(recorded, func(row map[string]any) map[string]any {
		s := w.tree.Share(w.nodes[text(row["node"])])
		ratio := float64(s.Borrowed) * 1000 / float64(s.Lendable)
		out := map[string]any{"node": row["node"], "kind": row["kind"], "ratio": ratio, "borrowing": s.Borrowing, "share": 0.0}
		switch {
		case s.Weight == 0 && s.Borrowing:
			out["share"] = -1.0
		case s.Borrowed > 0:
			out["share"] = ratio / (float64(s.Weight) / 1000)
		}
		if s.Dominant >= 0 {
			out["dominant"] = resourceName(int(s.Dominant))
		}
		return out
	})
}

func (w *kueueWorld) podsets(j int32, a *admission.Assignment) []any {
	out := []any{}
	for s := range a.Sets {
		set := &a.Sets[s]
		row := map[string]any{"name": w.workloads[j].PodSets[s].Name, "count": set.Count}
		flavors := map[string]any{}
		for r, f := range set.Flavor {
			if f >= 0 {
				flavors[resourceName(r)] = map[string]any{"flavor": w.case_.Flavors[f].Name, "mode": set.Mode[r].String()}
			}
		}
		if len(flavors) > 0 {
			row["flavors"] = flavors
		}
		out = append(out, row)
	}
	return out
}

func (w *kueueWorld) usage(items []quota.Item) map[string]any {
	out := map[string]any{}
	for _, it := range items {
		out[w.case_.Flavors[it.FR.Flavor()].Name+"/"+resourceName(it.FR.Resource())] = it.Amount
	}
	return out
}

func (w *kueueWorld) targets(targets []admission.Target) []any {
	out := []any{}
	for _, t := range targets {
		given := &w.workloads[t.Workload]
		out = append(out, map[string]any{"name": given.Name, "cluster_queue": given.Queue, "reason": t.Cause.String()})
	}
	return out
}
