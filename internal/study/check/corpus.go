package check

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gangplan/gangplan/internal/scenario"
	"github.com/gangplan/gangplan/internal/study"
	"github.com/gangplan/gangplan/internal/suggest"
	"github.com/gangplan/gangplan/report"
	"github.com/gangplan/gangplan/sim"
)

// corpus is a folder of scenarios with their baselines.
type corpus struct {
	dir     string
	entries []*entry
	orphans []string // names that have a baseline and no scenario
}

// entry is one scenario with what is known and what was measured of it.
type entry struct {
	name, file string
	gate       gate
	scenario   *scenario.Scenario
	configs    []*sim.Config // one for each seed
	seeds      []uint64
	baseline   *baseline // nil if there is none
	record     []tape
	recordErr  error // what is wrong with the record
	policies   []policy
}

// policy is one policy of a scenario and its runs, one for each seed.
type policy struct {
	scenario.PolicyChoice
	runs []played
}

// played is what is kept of a run.
type played struct {
	digest      sim.Digest
	transitions int
	values      report.Values
	tape        sim.Transitions     // for an update
	parting     *report.GateParting // if the digest is not the baseline's, and its record is at hand
}

// open reads a corpus: all of it, or the named scenarios.
func open(dir string, only []string) (*corpus, error) {
	names, orphans, err := list(dir)
	if err != nil {
		return nil, err
	}
	settings, err := configOf(dir, names)
	if err != nil {
		return nil, err
	}
	c := &corpus{dir: dir}
	if len(only) == 0 {
		only, c.orphans = names, orphans
	}
	for _, name := range only {
		if !slices.Contains(names, name) {
			return nil, fmt.Errorf("%s: there is no scenario %s%s: expected some of %s%s", dir, name, scenarioSuffix, strings.Join(names, ", "), suggest.Hint(name, names))
		}
	}
	for _, name := range names {
		if slices.Contains(only, name) {
			c.entries = append(c.entries, &entry{name: name, file: filepath.Join(dir, name+scenarioSuffix), gate: settings.of(name)})
		}
	}
	return c, c.load()
}

// load reads all scenarios with their baselines. The error has what is wrong in any of them.
func (c *corpus) load() error {
	var problems scenario.Errors
	for _, e := range c.entries {
		var some scenario.Errors
		if err := e.load(); errors.As(err, &some) {
			problems = append(problems, some...)
		} else if err != nil {
			return err
		}
	}
	if len(problems) > 0 {
		return problems[:min(len(problems), scenario.MaxErrors)]
	}
	return nil
}

// list names the scenarios of a folder, and the baselines without one, in order.
func list(dir string) (names, orphans []string, err error) {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return nil, nil, fmt.Errorf("%s: is a file, expected a folder with scenarios", dir)
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, nil, err
	}
	var baselines []string
	for _, f := range files {
		name := f.Name()
		if f.IsDir() || strings.HasPrefix(name, ".") || name == configFile {
			continue
		}
		if base, ok := strings.CutSuffix(name, baselineSuffix); ok {
			baselines = append(baselines, base)
		} else if base, ok := strings.CutSuffix(name, scenarioSuffix); ok {
			names = append(names, base)
		}
	}
	if len(names) == 0 {
		return nil, nil, fmt.Errorf("%s: holds no scenario: expected files NAME%s", dir, scenarioSuffix)
	}
	for _, b := range baselines {
		if !slices.Contains(names, b) {
			orphans = append(orphans, b)
		}
	}
	return names, orphans, nil
}

func configOf(dir string, names []string) (*config, error) {
	file := filepath.Join(dir, configFile)
	if _, err := os.Lstat(file); errors.Is(err, fs.ErrNotExist) {
		return &config{}, nil
	}
	return loadConfig(file, names)
}

// beside returns the name of a file beside the scenario.
func (e *entry) beside(suffix string) string {
	return strings.TrimSuffix(e.file, scenarioSuffix) + suffix
}

// load reads the scenario and its baseline. A record that cannot be used is no error: only
// the first difference cannot be told without it.
func (e *entry) load() error {
	s, err := scenario.Load(e.file)
	if err != nil {
		return err
	}
	e.scenario = s
	for i := range e.gate.seeds {
		seed := s.Config.Seed + uint64(i)
		other, err := s.WithSeed(seed)
		if err != nil {
			return err
		}
		e.seeds = append(e.seeds, seed)
		e.configs = append(e.configs, other.Config)
	}
	for _, c := range s.Policies {
		e.policies = append(e.policies, policy{c, make([]played, len(e.seeds))})
	}
	if e.baseline, err = loadBaseline(e.beside(baselineSuffix)); err != nil || e.baseline == nil {
		return err
	}
	e.record, e.recordErr = loadRecord(e.beside(recordSuffix))
	return nil
}

func loadRecord(file string) ([]tape, error) {
	b, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, errors.New("missing")
	case err != nil:
		return nil, err
	}
	return unpackTapes(b)
}

// choice is a policy as a study runs it.
func (p *policy) choice() study.Choice {
	return study.Choice{Label: p.Label, Name: p.Name, Params: p.Params, New: func() sim.Policy { return p.Declaration.New(p.Params) }}
}

// values are the metrics of all runs, by name.
func (p *policy) values() map[string][]value {
	out := map[string][]value{}
	for _, r := range p.runs {
		for _, v := range r.values {
			out[v.Name] = append(out[v.Name], value{v.Number, v.Null})
		}
	}
	return out
}

// base returns the policy of the baseline that goes by a label, or nil.
func (b *baseline) base(label string) *basePolicy {
	if b == nil {
		return nil
	}
	for i := range b.Policies {
		if b.Policies[i].Label == label {
			return &b.Policies[i]
		}
	}
	return nil
}

// has reports whether the policy is one of the scenario still.
func (e *entry) has(label string) bool {
	return slices.ContainsFunc(e.policies, func(p policy) bool { return p.Label == label })
}
