package verify

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
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

// A case is played as its repetitions began. What else a file says of them is not read.
func TestConditionsOfRepetitions(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"timelines.jsonl": lineOf(t, "c1"),
		"timeline_runs.jsonl": `{"scenario_id":"c1","t0_ms_into_wall_second":250,"derived":{"a":{"submit_s":0.003,"admitted_s":"early"},"b":{"submit_s":0.04}}}
{"scenario_id":"other","t0_ms_into_wall_second":1}
`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cases, err := readTimelines(Options{Cases: filepath.Join(dir, "timelines.jsonl")})
	if err != nil || len(cases) != 1 {
		t.Fatal(cases, err)
	}
	want := []conditions{{offset: 250, submit: map[string]float64{"a": 0.003, "b": 0.04}}}
	if !reflect.DeepEqual(cases[0].phases, want) {
		t.Errorf("got %v, want %v", cases[0].phases, want)
	}
}
