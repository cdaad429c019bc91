package scenario

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gangplan/gangplan/internal/suggest"
	"github.com/gangplan/gangplan/policies"
	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/workloads"
)

// Scenario is a runnable simulation. Nothing in it is changed by a run.
type Scenario struct {
	Name     string
	Config   *sim.Config
	Policies []PolicyChoice

	Warnings    []string // what a user should know; each is one sentence
	Assumptions []string // what the results rest on that nobody stated
	Inputs      []Input  // the files the scenario names

	// Hash is the SHA-256, in hex, of all that decides a run beside its policy and its
	// seed. It does not depend on how the scenario is written or where its files lie.
	Hash string

	// Demand is the same of the nodes and the jobs alone. Runs of scenarios that have it in
	// common can be compared transition by transition.
	Demand string

	kueue  string                                     // the version of Kueue its policies have; "" leaves it to them
	redraw func(seed uint64) ([]workloads.Job, error) // nil if the jobs do not depend on the seed
}

// Input is a file that a scenario names, as it names it.
type Input struct {
	Name, SHA256 string
}

// PolicyChoice is a policy with its parameters. Label is unique among a scenario's.
type PolicyChoice struct {
	Label, Name string
	Params      map[string]string
	Declaration *policies.Declaration
}

// Select keeps the named policies, in the order given. A name is a label of the scenario,
// else the name of a policy: then it stands for all of the scenario's choices of it, or
// for the policy with its defaults if there is none.
func (s *Scenario) Select(labels []string) error {
	var chosen []PolicyChoice
	for _, label := range labels {
		found, err := s.named(label)
		if err != nil {
			return err
		}
		for _, c := range found {
			if !slices.ContainsFunc(chosen, func(o PolicyChoice) bool { return o.Label == c.Label }) {
				chosen = append(chosen, c)
			}
		}
	}
	if len(chosen) == 0 {
		return fmt.Errorf("no policy: expected some of %s", strings.Join(s.policyNames(), ", "))
	}
	s.Policies = chosen
	return nil
}

// named returns the choices that a label or a name of a policy stands for.
func (s *Scenario) named(label string) ([]PolicyChoice, error) {
	var found []PolicyChoice
	for _, c := range s.Policies {
		if c.Label == label {
			return []PolicyChoice{c}, nil
		}
		if c.Name == label {
			found = append(found, c)
		}
	}
	if found != nil {
		return found, nil
	}
	d, ok := policies.Lookup(label)
	if !ok {
		known := s.policyNames()
		return nil, fmt.Errorf("unknown policy %q: expected some of %s%s", label, strings.Join(known, ", "), suggest.Hint(label, known))
	}
	return []PolicyChoice{{Label: label, Name: label, Params: withVersion(s.kueue, d, nil), Declaration: d}}, nil
}

// policyNames returns the labels, then the policies that are no labels.
func (s *Scenario) policyNames() []string {
	var names []string
	for _, c := range s.Policies {
		names = append(names, c.Label)
	}
	for _, name := range policies.Names() {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// WithSeed returns the scenario with another seed: its synthetic jobs are drawn anew. All
// else is shared with s, which does not change. The error is an Errors.
func (s *Scenario) WithSeed(seed uint64) (*Scenario, error) {
	out, config := *s, *s.Config
	out.Policies = slices.Clone(s.Policies)
	out.Config, config.Seed = &config, seed
	if s.redraw != nil {
		jobs, err := s.redraw(seed)
		if err != nil {
			return nil, err
		}
		config.Jobs, config.Stable = jobs, stableIDs(jobs)
	}
	return &out, nil
}

// stableIDs returns what identifies each job in random draws.
func stableIDs(jobs []workloads.Job) []uint64 {
	ids := make([]uint64, len(jobs))
	for i := range jobs {
		ids[i] = jobs[i].StableID()
	}
	return ids
}
