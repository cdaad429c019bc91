package verify

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/gangplan/gangplan/internal/scenario"
	"github.com/gangplan/gangplan/policies"
	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/testdata"
)

// scenarios are small hand-derived scenarios with exact expected numbers. One converter
// turns each into a scenario file per policy; what it cannot express is skipped, and it
// says why.
var scenarios = Suite{
	Name: "scenarios",
	Doc:  "hand-derived scenarios with exact numbers, from public reports and documented semantics",
	Run:  runScenarios,
}

// scenarioCase is one line of the file. Raw parts differ from case to case and are read
// by the converter.
type scenarioCase struct {
	ID      string           `json:"id"`
	Policy  []string         `json:"policy"`
	Cluster map[string]any   `json:"cluster"`
	Queues  map[string]any   `json:"queues"`
	Jobs    []map[string]any `json:"jobs"`
	Config  map[string]any   `json:"config"`
	Expect  map[string]any   `json:"expect"`
}

// inexpressible says what a scenario asks for that gangplan has no word for yet.
type inexpressible string

func (e inexpressible) Error() string { return string(e) }

func cannot(format string, args ...any) error { return inexpressible(fmt.Sprintf(format, args...)) }

func runScenarios(o Options) ([]Outcome, error) {
	var out []Outcome
	err := eachLine(o.Cases, testdata.Scenarios, func(line []byte) error {
		var c scenarioCase
		if err := readCase(line, &c); err != nil {
			return err
		}
		if c.ID == "" || len(c.Policy) == 0 {
			return fmt.Errorf("expected an id and a list of policies")
		}
		for _, v := range c.variants() {
			for _, policy := range c.Policy {
				out = append(out, v.outcome(policy))
			}
		}
		for _, v := range c.separateRuns() {
			out = append(out, v.outcome(v.Policy[0]))
		}
		return nil
	})
	return out, err
}

// outcome runs a scenario under one of its policies and compares what came with what is
// expected of it.
func (c *scenarioCase) outcome(policy string) Outcome {
	o := Outcome{ID: c.ID}
	if len(c.Policy) > 1 {
		o.ID += "/" + policy
	}
	got, err := c.answer(policy)
	if err != nil {
		return o.unanswered(err)
	}
	if c.toleratesErrors() {
		return c.compareWithin(o, got)
	}
	o.Verdict = Equal
	var different []string
	want := map[string]any{}
	for key, value := range c.expectOf(policy) {
		if !reflect.DeepEqual(got[key], value) {
			want[key] = value
			different = append(different, key)
		}
	}
	if len(different) > 0 {
		slices.Sort(different)
		for key := range got {
			if !slices.Contains(different, key) {
				delete(got, key)
			}
		}
		o.Verdict, o.Reason, o.Want, o.Got = Outside, "differs in "+strings.Join(different, ", "), want, got
	}
	return o
}

// unanswered is skipped only where gangplan has no word for what is asked; a scenario that
// it refuses, or cannot run, is a case it gets wrong.
func (o Outcome) unanswered(err error) Outcome {
	o.Verdict, o.Reason = Outside, err.Error()
	if _, ok := errors.AsType[inexpressible](err); ok {
		o.Verdict = Skipped
	}
	return o
}

// expectOf returns the expectations of a policy: its own block, by its name or by that of
// its variant, or all when the scenario has one policy.
func (c *scenarioCase) expectOf(policy string) map[string]any {
	if own := c.ownBlock(policy); own != nil {
		return own
	}
	return c.Expect
}

func (c *scenarioCase) ownBlock(policy string) map[string]any {
	_, variant, _ := strings.Cut(policy, "/")
	for _, name := range []string{policy, variant} {
		if own, ok := c.Expect[name].(map[string]any); ok {
			return own
		}
	}
	return nil
}

// answer converts, runs and measures everything the policy's expectations name.
func (c *scenarioCase) answer(policy string) (map[string]any, error) {
	if c.isNetwork() {
		return c.answerNetwork(policy)
	}
	if c.sizes() != nil {
		return c.answerSizing(policy)
	}
	expect := c.expectOf(policy)
	if len(c.Policy) > 1 && c.ownBlock(policy) == nil {
		return nil, cannot("nothing is expected of this policy by name")
	}
	r, err := c.run(policy)
	if err != nil {
		return nil, err
	}
	if c.toleratesErrors() {
		return r.steadyState(expect)
	}
	got := map[string]any{}
	for key, want := range expect {
		value, err := r.measure(key, want)
		if err != nil {
			return nil, err
		}
		got[key] = value
	}
	return got, nil
}

// ran is a scenario that was run: what the expectations are measured on.
type ran struct {
	case_       *scenarioCase
	scenario    *scenario.Scenario
	result      *sim.Result
	transitions sim.Transitions
	index       map[string]int32 // job id -> position in the trace
	again       func() (*sim.Result, error)
	until       func(t int64) (*sim.Result, error) // the same run, cut off
}

func (c *scenarioCase) run(policy string) (*ran, error) {
	file, err := c.convert(policy)
	if err != nil {
		return nil, err
	}
	return c.runFile(file)
}

// runFile runs the only policy of a scenario file.
func (c *scenarioCase) runFile(file *scenario.File) (*ran, error) {
	s, err := file.Resolve("")
	if err != nil {
		return nil, fmt.Errorf("not a valid scenario: %w", err)
	}
	choice := s.Policies[0]
	d, _ := policies.Lookup(choice.Name)
	r := &ran{case_: c, scenario: s, index: map[string]int32{}}
	r.until = func(t int64) (*sim.Result, error) {
		config := *s.Config
		config.Until = t
		e, err := sim.New(&config, d.New(choice.Params), nil)
		if err != nil {
			return nil, err
		}
		return e.Run(), nil
	}
	r.again = func() (*sim.Result, error) { return r.until(s.Config.Until) }
	e, err := sim.New(s.Config, d.New(choice.Params), &r.transitions)
	if err != nil {
		return nil, err
	}
	r.result = e.Run()
	for j := range s.Config.Jobs {
		r.index[s.Config.Jobs[j].ID] = int32(j)
	}
	return r, nil
}
