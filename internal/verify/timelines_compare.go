package verify

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/gangplan/gangplan/internal/record"
)

// outcomeFields are the fields of an outcome, the most telling first.
var outcomeFields = []string{"end_state", decisionOrder, admissionOrder, evictionOrder, completionOrder, "admitted_counts", "requeue_counts",
	"topology", "max_bound", "final_bound", "pods_created_total", placementNodes, placementRanked, attemptsTotal}

const (
	decisionOrder   = "kueue_decision_order"
	admissionOrder  = "admission_order"
	evictionOrder   = "eviction_order"
	completionOrder = "completion_order"
	placementNodes  = "placement_nodes"
	placementRanked = "placement_ranked"
	attemptsTotal   = "sched_attempts_total"
)

// values are the recorded values of a varying field; those that were lost are nil and left
// out. A field whose values are not worth comparing has none.
func (c *timelineCase) values(field string) (values []any) {
	list, _ := c.Varies[field].([]any)
	for _, v := range list {
		if of, _ := v.(map[string]any); of["value"] != nil && !slices.ContainsFunc(values, func(o any) bool { return reflect.DeepEqual(o, of["value"]) }) {
			values = append(values, of["value"])
		}
	}
	return values
}

// races reports whether repetitions differ in more than the nodes that were drawn.
func (c *timelineCase) races() bool {
	for field := range c.Varies {
		if field != placementNodes && field != placementRanked && len(c.values(field)) > 1 {
			return true
		}
	}
	return false
}

// compare returns the first difference to what was recorded, nil without one. Jobs that are
// alike and came at the same time may stand for one another: the names by which equals are
// told apart are drawn.
func (c *timelineCase) compare(r *record.Record) *difference {
	first := c.compareAs(r)
	if first == nil {
		c.note(r)
		return nil
	}
	for _, names := range c.renamings(r) {
		if other := renamed(r, names); c.compareAs(other) == nil {
			c.note(other)
			return nil
		}
	}
	return first
}

func (c *timelineCase) compareAs(r *record.Record) *difference {
	got := fieldsOf(r.Outcome())
	for _, field := range outcomeFields {
		if d := c.compareField(field, got[field], r); d != nil {
			return d
		}
	}
	for i := range r.Jobs {
		if d := c.compareTimes(&r.Jobs[i]); d != nil {
			return d
		}
	}
	return nil
}

// fieldsOf writes an outcome as the recorded cases do.
func fieldsOf(o *record.Outcome) map[string]any {
	b, err := json.Marshal(o)
	var fields map[string]any
	if err == nil {
		err = json.Unmarshal(b, &fields)
	}
	if err != nil {
		return map[string]any{"error": err.Error()}
	}
	return fields
}

func (c *timelineCase) compareField(field string, got any, r *record.Record) *difference {
	if want, ok := c.Deterministic[field]; ok {
		if reflect.DeepEqual(want, got) {
			return nil
		}
		return &difference{fmt.Sprintf("%s: want %s, got %s", field, asJSON(want), asJSON(got)), want, got}
	}
	if c.Varies[field] == nil {
		if isBlank(got) || !c.complete() {
			return nil
		}
		return &difference{fmt.Sprintf("%s: want none, got %s", field, asJSON(got)), nil, got}
	}
	values := c.values(field)
	if len(values) == 0 {
		return nil
	}
	if c.among(field, values, got, r) {
		return nil
	}
	return &difference{fmt.Sprintf("%s: want one of %s, got %s", field, asJSON(values), asJSON(got)), values, got}
}

// complete reports whether a case has all that there is to say of it, as those of the recorder
// do: then what it leaves out was not there.
func (c *timelineCase) complete() bool {
	for _, field := range []string{"end_state", "max_bound", "final_bound"} {
		if c.Deterministic[field] == nil && c.Varies[field] == nil {
			return false
		}
	}
	return true
}

// isBlank reports whether a field says nothing: what no repetition had the cases leave out.
func isBlank(v any) bool {
	switch v := v.(type) {
	case []any:
		return len(v) == 0
	case map[string]any:
		for _, of := range v {
			if !isBlank(of) {
				return false
			}
		}
		return true
	}
	return v == nil || v == 0.0
}

// among reports whether a varying field is as in one repetition.
func (c *timelineCase) among(field string, values []any, got any, r *record.Record) bool {
	switch field {
	case admissionOrder, evictionOrder, completionOrder:
		return slices.ContainsFunc(values, func(want any) bool { return sameOrder(want, got, timesOf(field, r)) })
	case placementNodes:
		return c.sameShape(values, got)
	case attemptsTotal:
		return withinLeastAndMost(values, got)
	}
	return slices.ContainsFunc(values, func(want any) bool { return reflect.DeepEqual(want, got) })
}

// asyncWrites is how far apart two things can be and still reach the API, and its watchers,
// in the other order: Kueue writes each admission and eviction in a thread of its own.
const asyncWrites = 150e6 // ns

// sameOrder reports whether two lists are the same up to entries that are close in time.
func sameOrder(want, got any, times []int64) bool {
	a, _ := want.([]any)
	b, _ := got.([]any)
	if len(a) != len(b) || len(b) != len(times) {
		return false
	}
	taken := make([]bool, len(b))
	place := make([]int64, len(a)) // the times of b in the order of a
	for i, name := range a {
		at := -1
		for k := range b {
			if !taken[k] && b[k] == name {
				at = k
				break
			}
		}
		if at < 0 {
			return false
		}
		taken[at], place[i] = true, times[at]
	}
	latest := int64(0)
	for _, t := range place {
		if latest-t > asyncWrites {
			return false
		}
		latest = max(latest, t)
	}
	return true
}

// timesOf returns the times of the entries of an order.
func timesOf(field string, r *record.Record) (times []int64) {
	for i := range r.Jobs {
		j := &r.Jobs[i]
		switch field {
		case admissionOrder:
			for _, a := range j.Admissions {
				times = append(times, a.At)
			}
		case evictionOrder:
			for _, e := range j.Evictions {
				times = append(times, e.At)
			}
		case completionOrder:
			if len(j.JobComplete) > 0 {
				times = append(times, j.JobComplete[0])
			}
		}
	}
	slices.Sort(times)
	return times
}

// withinLeastAndMost reports whether the numbers of all jobs lie between the least and the
// most that any repetition had.
func withinLeastAndMost(values []any, got any) bool {
	jobs, _ := got.(map[string]any)
	for name, n := range jobs {
		least, most := math.Inf(1), math.Inf(-1)
		for _, v := range values {
			of, _ := v.(map[string]any)
			least, most = min(least, number(of[name])), max(most, number(of[name]))
		}
		if number(n) < least || number(n) > most {
			return false
		}
	}
	return true
}
