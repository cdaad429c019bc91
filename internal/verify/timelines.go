package verify

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gangplan/gangplan/internal/record"
	"github.com/gangplan/gangplan/internal/scenario"
	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/testdata"
)

// timelines is what a real control plane did with small gangs, from second to second.
var timelines = Suite{
	Name: "timelines",
	Doc:  "small gangs second by second, as kube-scheduler and kube-controller-manager 1.34.4 and Kueue 0.17.0 treated them",
	Run:  runTimelines,

	Write: writeTimelines,
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
	known    bool // the conditions are those of the repetitions
	shapes   shapes
	farthest distance
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

// writeTimelines writes each case as it is played: under the conditions of its first
// repetition where these are known.
func writeTimelines(o Options, dir string) error {
	cases, err := readTimelines(o)
	if err != nil {
		return err
	}
	texts := make([][]byte, len(cases))
	for i, c := range cases {
		if texts[i], err = c.text(); err != nil {
			return fmt.Errorf("%s: %w", c.ID, err)
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for i, c := range cases {
		if err := os.WriteFile(filepath.Join(dir, c.ID+".yaml"), texts[i], 0o644); err != nil {
			return err
		}
	}
	return nil
}

func (c *timelineCase) text() ([]byte, error) {
	if err := c.read(); err != nil {
		return nil, err
	}
	file, err := c.scenario.convert(c.phases[0])
	if err != nil {
		return nil, err
	}
	return file.Text()
}

// read reads the scenario, and thinks of conditions where those of the repetitions are not
// known.
func (c *timelineCase) read() (err error) {
	if c.scenario, err = readTimeline(c.Scenario); err != nil {
		return err
	}
	c.scenario.ID = c.ID // which says the variant
	if c.known = len(c.phases) > 0; !c.known {
		for i := range 10 {
			c.phases = append(c.phases, conditions{offset: 100 * float64(i)})
		}
	}
	return nil
}

// check refuses a case that cannot be read or told from the others, or that does not say what to
// compare, even if that is nothing.
// Its id is also the name of a file.
func (c *timelineCase) check(others map[string]*timelineCase) error {
	switch {
	case c.ID == "" || c.Scenario == nil:
		return fmt.Errorf("expected an id and a scenario")
	case c.ID != filepath.Base(c.ID) || strings.ContainsAny(c.ID, `/\`) || strings.HasPrefix(c.ID, "."):
		return fmt.Errorf("%q: expected an id that can name a file", c.ID)
	case others[c.ID] != nil:
		return fmt.Errorf("%q: there is a case with this id already", c.ID)
	case c.Deterministic == nil && c.Varies == nil:
		return fmt.Errorf("%s: expected deterministic or varies, what came of it", c.ID)
	}
	s, err := readTimeline(c.Scenario)
	if err != nil {
		return fmt.Errorf("%s: %w", c.ID, err)
	}
	for i := range s.Jobs {
		if j := &s.Jobs[i]; j.Pods < 0 || !duration(j.Duration) || !duration(j.Submit) {
			return fmt.Errorf("%s: job %s: expected pods, submit_s and duration_s of at least 0, and times of at most 100 years", c.ID, j.Name)
		}
	}
	return nil
}

// duration reports whether a number of seconds is one that a scenario may have.
func duration(seconds float64) bool { return seconds >= 0 && seconds <= 100*365*24*3600 }

// readTimelines reads the cases, and the conditions of their repetitions from a file beside
// them if there is one.
func readTimelines(o Options) ([]*timelineCase, error) {
	var cases []*timelineCase
	byID := map[string]*timelineCase{}
	err := eachLine(o.Cases, testdata.Timelines, func(line []byte) error {
		c := &timelineCase{}
		if err := readCase(line, c); err != nil {
			return err
		}
		if err := c.check(byID); err != nil {
			return err
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
	return cases, eachLine(runs, testdata.TimelineRuns, func(line []byte) error {
		r := &repetition{}
		if err := json.Unmarshal(line, r); err != nil {
			return err
		}
		if c := byID[r.Scenario]; c != nil {
			c.phases = append(c.phases, r.conditions())
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

// repetition is what the suite needs of one: how it began.
type repetition struct {
	Scenario string  `json:"scenario_id"`
	Offset   float64 `json:"t0_ms_into_wall_second"`
	Derived  map[string]struct {
		Submit float64 `json:"submit_s"`
	} `json:"derived"`
}

func (r *repetition) conditions() conditions {
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
// known, at ten places of a second until one does.
func (c *timelineCase) outcome() Outcome {
	if err := c.read(); err != nil {
		return Outcome{ID: c.ID, Verdict: Outside, Reason: err.Error()}
	}
	var all trial
	for _, phase := range c.phases {
		t, err := c.play(phase)
		if err != nil {
			return Outcome{ID: c.ID, Verdict: Outside, Reason: err.Error()}
		}
		if all.tried, all.fit = all.tried+t.tried, all.fit+t.fit; t.fit == 0 && all.first == nil {
			all.first = t.first
		}
		if t.fit > 0 && !c.known {
			all.first = nil
			break
		}
	}
	return c.verdict(&all)
}

// trial is what came of seeds that were tried: how many of them fit what was recorded, and
// what did not where none did.
type trial struct {
	tried, fit int
	first      *difference
}

// difference is the first thing that is not as recorded.
type difference struct {
	what      string
	want, got any
}

func (c *timelineCase) verdict(t *trial) Outcome {
	switch {
	case t.first != nil:
		return Outcome{ID: c.ID, Verdict: Outside, Reason: t.first.what, Want: t.first.want, Got: t.first.got}
	case c.races():
		return Outcome{ID: c.ID, Verdict: Within, Reason: fmt.Sprintf("a race: %d of %d seeds give a recorded outcome", t.fit, t.tried)}
	}
	return Outcome{ID: c.ID, Verdict: Equal}
}

// play tries seeds under some conditions: one, and of a race more.
func (c *timelineCase) play(of conditions) (t trial, err error) {
	p, err := c.scenario.prepare(of)
	if err != nil {
		return t, err
	}
	least, most := 1, 1
	if c.races() {
		least, most = someSeeds, mostSeeds
	}
	for t.tried < least || t.tried < most && t.fit == 0 {
		t.tried++
		r, err := p.run(uint64(t.tried))
		if err != nil {
			return t, err
		}
		if d := c.compare(r); d == nil {
			t.fit++
		} else if t.first == nil {
			d.what = fmt.Sprintf("begun %g ms into a second: %s", of.offset, d.what)
			t.first = d
		}
	}
	return t, nil
}

// prepared is a scenario that is ready to run with any seed.
type prepared struct {
	config *sim.Config
	policy scenario.PolicyChoice
}

func (s *timelineScenario) prepare(of conditions) (*prepared, error) {
	file, err := s.convert(of)
	if err != nil {
		return nil, err
	}
	ready, err := file.Resolve("")
	if err != nil {
		return nil, fmt.Errorf("not a valid scenario: %w", err)
	}
	return &prepared{ready.Config, ready.Policies[0]}, nil
}

func (p *prepared) run(seed uint64) (*record.Record, error) {
	config := *p.config
	config.Seed = seed
	return record.FromRun(&config, p.policy.Declaration.New(p.policy.Params))
}
