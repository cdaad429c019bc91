package verify

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/gangplan/gangplan/internal/record"
	"github.com/gangplan/gangplan/policies"
)

// timelines is what a real control plane did with small gangs, from second to second.
var timelines = Suite{
	Name: "timelines",
	Doc:  "small gangs second by second, as kube-scheduler and kube-controller-manager 1.34.4 and Kueue 0.17.0 treated them",
	Run:  runTimelines,
}

// timelineCase is a recorded scenario with what came of it in its repetitions.
type timelineCase struct {
	ID            string                    `json:"id"`
	Title         string                    `json:"title"`
	Scenario      json.RawMessage           `json:"scenario"`
	Deterministic map[string]any            `json:"deterministic"` // the same in every repetition
	Varies        map[string]any            `json:"varies"`        // a list of values with how many had each; or "random"
	Timings       map[string]map[string]any `json:"timings_min_med_max_s"`

	scenario *timelineScenario
	phases   []conditions
	known    bool // the phases are those of the repetitions
	shapes   shapes
}

func runTimelines(o Options) ([]Outcome, error) {
	cases, err := readTimelines(o)
	if err != nil {
		return nil, err
	}
	var out []Outcome
	for _, c := range cases {
		out = append(out, c.outcome())
	}
	return out, nil
}

// readTimelines reads the cases, and the conditions of their repetitions from a file beside
// them if there is one.
func readTimelines(o Options) ([]*timelineCase, error) {
	var cases []*timelineCase
	byID := map[string]*timelineCase{}
	err := eachLine(o.Cases, nil, func(line []byte) error {
		c := &timelineCase{}
		if err := json.Unmarshal(line, c); err != nil {
			return err
		}
		if c.ID == "" || c.Scenario == nil {
			return fmt.Errorf("expected an id and a scenario")
		}
		cases, byID[c.ID] = append(cases, c), c
		return nil
	})
	if err != nil {
		return nil, err
	}
	runs := runsBeside(o.Cases)
	if runs == "" && o.Cases != "" {
		return cases, nil
	}
	return cases, eachLine(runs, nil, func(line []byte) error {
		r := &recordedRun{}
		if err := json.Unmarshal(line, r); err != nil {
			return err
		}
		if c := byID[r.Scenario]; c != nil {
			c.phases, c.known = append(c.phases, r.conditions()), true
		}
		return nil
	})
}

// runsBeside is the file of the repetitions that belongs to a file of cases, "" if there
// is none.
func runsBeside(cases string) string {
	at := strings.LastIndex(cases, "timelines")
	if at < 0 {
		return ""
	}
	path := cases[:at] + "timeline_runs" + cases[at+len("timelines"):]
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return path
}

// conditions are what the repetition had of its own.
func (r *recordedRun) conditions() conditions {
	of := conditions{offset: r.Offset, submit: map[string]float64{}}
	for name, d := range r.Derived {
		of.submit[name] = d.Submit
	}
	return of
}

// How many seeds are tried: of a race up to most until one gives a recorded outcome, and at
// least some to say how rare it is.
const (
	mostSeeds = 300
	someSeeds = 20
)

// outcome plays a scenario under the conditions of every repetition; where these are not
// known, at ten places of a second, one of which must do.
func (c *timelineCase) outcome() Outcome {
	o := Outcome{ID: c.ID, Verdict: Equal}
	var err error
	if c.scenario, err = readTimeline(c.Scenario); err != nil {
		return Outcome{ID: c.ID, Verdict: Outside, Reason: err.Error()}
	}
	c.scenario.ID = c.ID
	if !c.known {
		for i := range 10 {
			c.phases = append(c.phases, conditions{offset: 100 * float64(i)})
		}
	}
	race := c.races()
	tried, hit, misses := 0, 0, 0
	for _, phase := range c.phases {
		n, fits, first, err := c.play(phase, race)
		if err != nil {
			return Outcome{ID: c.ID, Verdict: Outside, Reason: err.Error()}
		}
		tried, hit = tried+n, hit+fits
		if fits > 0 {
			continue
		}
		if misses++; o.Verdict == Equal {
			o.Verdict, o.Reason, o.Want, o.Got = Outside, fmt.Sprintf("begun %g ms into a second: %s", phase.offset, first.what), first.want, first.got
		}
	}
	if !c.known && misses < len(c.phases) {
		o = Outcome{ID: c.ID, Verdict: Equal}
	}
	if o.Verdict == Equal && race {
		o.Verdict, o.Reason = Within, fmt.Sprintf("a race: %d of %d seeds tried give a recorded outcome", hit, tried)
	}
	return o
}

// difference is the first thing that is not as recorded.
type difference struct {
	what      string
	want, got any
}

// play tries seeds under some conditions and counts those that fit.
func (c *timelineCase) play(phase conditions, race bool) (tried, fits int, first *difference, err error) {
	least, most := 1, 1
	if race {
		least, most = someSeeds, mostSeeds
	}
	for seed := range most {
		if fits > 0 && tried >= least {
			break
		}
		phase.seed = uint64(seed + 1)
		r, err := c.run(phase)
		if err != nil {
			return 0, 0, nil, err
		}
		tried++
		d := c.compare(r)
		if d == nil {
			fits++
		} else if first == nil {
			first = d
		}
	}
	return tried, fits, first, nil
}

func (c *timelineCase) run(of conditions) (*record.Record, error) {
	file, err := c.scenario.convert(of)
	if err != nil {
		return nil, err
	}
	s, err := file.Resolve("")
	if err != nil {
		return nil, fmt.Errorf("not a valid scenario: %w", err)
	}
	d, _ := policies.Lookup(s.Policies[0].Name)
	return record.FromRun(s.Config, d.New(s.Policies[0].Params))
}
