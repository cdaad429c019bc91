package verify

import (
	"encoding/json"
	"os"
	"reflect"
	"testing"
)

func TestOutcomeOfTheRecordedRuns(t *testing.T) {
	type scen struct{ Jobs []struct{ Name string } }
	type cs struct {
		ID            string
		Scenario      scen
		Deterministic map[string]any
		Varies        map[string]any
	}
	cases := map[string]*cs{}
	dir := os.Getenv("GANGPLAN_SHARED") + "/cases/"
	if err := eachLine(dir+"timelines.jsonl.gz", nil, func(l []byte) error {
		c := &cs{}
		if err := json.Unmarshal(l, c); err != nil {
			return err
		}
		cases[c.ID] = c
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := eachLine(dir+"timeline_runs.jsonl.gz", nil, func(l []byte) error {
		r := &recordedRun{}
		if err := json.Unmarshal(l, r); err != nil {
			return err
		}
		c := cases[r.Scenario]
		var names []string
		for _, j := range c.Scenario.Jobs {
			names = append(names, j.Name)
		}
		rec, err := r.record(names)
		if err != nil {
			t.Error(err)
			return nil
		}
		b, _ := json.Marshal(rec.Outcome())
		var got map[string]any
		json.Unmarshal(b, &got)
		for k, w := range c.Deterministic {
			if k == "kueue_decision_order" {
				continue
			}
			if !reflect.DeepEqual(w, got[k]) {
				t.Errorf("%s %s: want %v got %v", r.ID, k, w, got[k])
			}
		}
		for k, v := range c.Varies {
			if k == "kueue_decision_order" || v == "random" {
				continue
			}
			ok := false
			for _, w := range v.([]any) {
				ok = ok || reflect.DeepEqual(w.(map[string]any)["value"], got[k])
			}
			if !ok {
				t.Errorf("%s %s: want one of %v got %v", r.ID, k, v, got[k])
			}
		}
		for k := range got {
			if c.Deterministic[k] == nil && c.Varies[k] == nil && !blank(got[k]) {
				t.Errorf("%s has %s: %v", r.ID, k, got[k])
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

func blank(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case []any:
		return len(v) == 0
	case float64:
		return v == 0
	case map[string]any:
		for _, x := range v {
			if !blank(x) {
				return false
			}
		}
		return true
	}
	return false
}
