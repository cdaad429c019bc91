package verify

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/gangplan/gangplan/internal/record"
	"github.com/gangplan/gangplan/policies"
	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/testdata"
)

// watched is a recorded repetition as a user's record of a cluster, times of receipt and all.
func watched(t *testing.T, c *timelineCase, r *recordedRun) *record.Watched {
	t.Helper()
	var names []string
	for i := range c.scenario.Jobs {
		names = append(names, c.scenario.Jobs[i].Name)
	}
	of, err := r.record(names)
	if err != nil {
		t.Fatal(err)
	}
	w := &record.Watched{Record: *of, Second: map[string]int64{}}
	w.Begin = time.Date(2026, 3, 1, 12, 0, 0, int(r.Offset*1e6), time.UTC)
	w.End = nanos(c.scenario.Observe)
	for i := range w.Jobs {
		j := &w.Jobs[i]
		if w.Second[j.Name] = -1; j.WorkloadCreated != record.Never {
			w.Second[j.Name] = w.Begin.Add(time.Duration(j.WorkloadCreated)).Unix()
		}
	}
	w.Decisions = of.Outcome().Admissions
	return w
}

// What a user does with the own cluster, done with the recorded one: a run of the scenario beside
// a single repetition, with one seed. What is outside then is chance, or a machine that was busy.
func TestRecordedRunsAsAUserWouldCheckThem(t *testing.T) {
	cases, err := readTimelines(Options{})
	if err != nil {
		t.Fatal(err)
	}
	byID := map[string]*timelineCase{}
	for _, c := range cases {
		if c.scenario, err = readTimeline(c.Scenario); err != nil {
			t.Fatal(err)
		}
		c.scenario.ID, byID[c.ID] = c.ID, c
	}
	runs, fit := 0, 0
	err = eachLine("", testdata.TimelineRuns, func(line []byte) error {
		r := &recordedRun{}
		if err := json.Unmarshal(line, r); err != nil {
			return err
		}
		c := byID[r.Scenario]
		f, err := c.scenario.convert(conditions{})
		if err != nil {
			return err
		}
		s, err := f.Resolve("")
		if err != nil {
			return err
		}
		d, _ := policies.Lookup(s.Policies[0].Name)
		w := watched(t, c, r)
		run, err := w.Replay(s.Config, record.DefaultTolerance, func(cfg *sim.Config) (*record.Record, error) { return record.FromRun(cfg, d.New(s.Policies[0].Params)) })
		if err != nil {
			return err
		}
		if runs++; w.Compare(run, record.DefaultTolerance).Outside == 0 {
			fit++
		} else {
			t.Logf("%s: something is outside", r.ID)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if t.Logf("%d of %d runs have nothing outside", fit, runs); fit*100 < runs*70 {
		t.Errorf("%d of %d runs have nothing outside, want 7 of 10", fit, runs)
	}
}
