package verify

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gangplan/gangplan/testdata"
)

// shippedTimelines reads the cases with their scenarios.
func shippedTimelines(t *testing.T) []*timelineCase {
	t.Helper()
	cases, err := readTimelines(Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		if c.scenario, err = readTimeline(c.Scenario); err != nil {
			t.Fatal(c.ID, err)
		}
		c.scenario.ID = c.ID
	}
	return cases
}

func timelineByID(t *testing.T, id string) *timelineCase {
	t.Helper()
	for _, c := range shippedTimelines(t) {
		if c.ID == id {
			return c
		}
	}
	t.Fatalf("no case %s", id)
	return nil
}

// What gangplan calls the order of admissions, the most pods bound and so on is what the
// recorder called so: of every repetition it makes of the recorded steps what the recorder
// made of them.
func TestOutcomesOfRecordedRuns(t *testing.T) {
	cases := map[string]*timelineCase{}
	for _, c := range shippedTimelines(t) {
		cases[c.ID] = c
	}
	n := 0
	err := eachLine("", testdata.TimelineRuns, func(line []byte) error {
		var r recordedRun
		if err := json.Unmarshal(line, &r); err != nil {
			return err
		}
		c := cases[r.Scenario]
		var names []string
		for _, j := range c.scenario.Jobs {
			names = append(names, j.Name)
		}
		rec, err := r.record(names)
		if err != nil {
			return err
		}
		got := fieldsOf(rec.Outcome())
		for _, field := range outcomeFields {
			if problem := c.recorded(field, got[field]); problem != "" && field != decisionOrder {
				t.Errorf("%s: %s: %s", r.ID, field, problem)
			}
		}
		n++
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if n < 150 {
		t.Errorf("only %d repetitions", n)
	}
}

// recorded says how a field differs from what all repetitions had, or each of them.
func (c *timelineCase) recorded(field string, got any) string {
	if want, ok := c.Deterministic[field]; ok {
		if !reflect.DeepEqual(got, want) {
			return "want " + asJSON(want) + ", got " + asJSON(got)
		}
		return ""
	}
	values := c.values(field)
	switch {
	case c.Varies[field] == nil && !isBlank(got):
		return "want none, got " + asJSON(got)
	case len(values) > 0 && !slices.ContainsFunc(values, func(want any) bool { return reflect.DeepEqual(got, want) }):
		return "want one of " + asJSON(values) + ", got " + asJSON(got)
	}
	return ""
}

// A repetition that cannot be read says which, and of which job.
func TestBrokenRuns(t *testing.T) {
	for _, tt := range []struct{ name, derived, want string }{
		{"no such job", `{"b":{}}`, "x#1: nothing is recorded of job a"},
		{"counts", `{"a":{"admitted_s":[1,2],"admitted_counts":[[1]]}}`, "x#1: job a: 2 admissions, counts of 1"},
		{"a pod without a rank", `{"a":{"pods_created":[[1,"pod"]]}}`, "x#1: job a: a pod pod: expected a name that ends with its rank"},
		{"a placement", `{"a":{"placements":[[1,"a-x","n0"]]}}`, "a pod a-x"},
	} {
		var r recordedRun
		if err := json.Unmarshal([]byte(`{"id":"x#1","derived":`+tt.derived+`}`), &r); err != nil {
			t.Fatal(tt.name, err)
		}
		if _, err := r.record([]string{"a"}); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", tt.name, err, tt.want)
		}
	}
}
