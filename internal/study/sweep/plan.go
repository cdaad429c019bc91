package sweep

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gangplan/gangplan/internal/scenario"
	"github.com/gangplan/gangplan/internal/study"
	"github.com/gangplan/gangplan/report"
	"github.com/gangplan/gangplan/sim"
)

// The paths whose axes vary nothing of the scenario but who plays it and what is drawn.
const (
	policyPath = "policy"
	seedPath   = "seed"
)

// Plan is a study made ready: what there is to run, and under which id each run is kept.
// It is the same on every machine that has the same files and the same version.
type Plan struct {
	Axes []Axis

	study    *scenario.Study
	version  string
	cells    []planned  // in the order of the study
	tasks    []*task    // distinct runs, the most expensive first
	settings []*setting // what they are runs of

	assumptions, warnings []string
}

// planned is a cell, which stands for a run. Cells whose values make no difference stand
// for the same.
type planned struct {
	at     []int
	values []string
	task   *task
}

// task is one run to be made.
type task struct {
	id      string
	key     json.RawMessage // what the id is the hash of
	of      *setting
	choice  int // of the setting's policies
	seed    uint64
	label   string // of the policy
	cell    string // the first cell that stands for it, for messages
	summary bool   // nothing but the summary is kept
}

// NewPlan resolves every scenario of a study and gives every run its id. version is that
// of gangplan, and parallel bounds how many scenarios are resolved at a time. The error is
// that of the first scenario that is wrong.
func NewPlan(ctx context.Context, s *scenario.Study, version string, parallel int) (*Plan, error) {
	version, err := exactVersion(version)
	if err != nil {
		return nil, err
	}
	p := &Plan{study: s, version: version}
	of := p.group()
	if err := study.Each(ctx, len(p.settings), parallel, func(_ context.Context, i int) error {
		return p.settings[i].describe()
	}); err != nil {
		return nil, err
	}
	p.note()
	if err := p.describeAxes(); err != nil {
		return nil, err
	}
	if err := p.addCells(of); err != nil {
		return nil, err
	}
	slices.SortStableFunc(p.tasks, func(a, b *task) int { return cmp.Compare(b.of.cost, a.of.cost) })
	return p, nil
}

// group makes a setting for every combination of values that differ in more than policy
// and seed, and returns the setting of each cell of the study.
func (p *Plan) group() []*setting {
	traces := &scenario.Traces{}
	known := map[string]*setting{}
	cells := p.study.Cells()
	of := make([]*setting, len(cells))
	for i, at := range cells {
		var set []scenario.Override
		var key strings.Builder
		for a, k := range at {
			if axis := &p.study.Axes[a]; !sets(axis, policyPath) && !sets(axis, seedPath) {
				set = append(set, axis.Points[k].Set...)
				fmt.Fprintf(&key, "%d ", k)
			}
		}
		s := known[key.String()]
		if s == nil {
			s = &setting{study: p.study, set: append(set, p.policies()...), traces: traces}
			known[key.String()] = s
			p.settings = append(p.settings, s)
		}
		of[i] = s
	}
	return of
}

// sets reports whether an axis sets one field and nothing else.
func sets(a *scenario.Axis, path string) bool { return len(a.Paths) == 1 && a.Paths[0] == path }

// policies is the override that keeps the policies of the axis of policies, in its order.
func (p *Plan) policies() []scenario.Override {
	i := slices.IndexFunc(p.study.Axes, func(a scenario.Axis) bool { return sets(&a, policyPath) })
	if i < 0 {
		return nil
	}
	var list []scenario.Override
	for _, point := range p.study.Axes[i].Points {
		list = append(list, point.Set...)
	}
	return []scenario.Override{scenario.Join(list)}
}

// note gathers what the settings assume and warn of, each once.
func (p *Plan) note() {
	add := func(to *[]string, sentences []string) {
		for _, s := range sentences {
			if !slices.Contains(*to, s) {
				*to = append(*to, s)
			}
		}
	}
	p.assumptions, p.warnings = []string{}, []string{}
	for _, s := range p.settings {
		add(&p.assumptions, s.assumptions)
		add(&p.warnings, s.warnings)
	}
}

// describeAxes makes the axes of the sweep: those of the study, behind one of the
// scenario's policies if no axis sets them.
func (p *Plan) describeAxes() error {
	if p.addsPolicies() {
		labels := p.settings[0].labels()
		for _, s := range p.settings {
			if !slices.Equal(s.labels(), labels) {
				return errors.New("the study's scenarios have different policies: expected an axis named policy that says which are to be compared")
			}
		}
		p.Axes = append(p.Axes, Axis{Name: policyPath, Paths: []string{policyPath}, Values: labels})
	}
	for i := range p.study.Axes {
		p.Axes = append(p.Axes, newAxis(&p.study.Axes[i]))
	}
	return nil
}

func (p *Plan) addsPolicies() bool {
	return !slices.ContainsFunc(p.study.Axes, func(a scenario.Axis) bool { return slices.Contains(a.Paths, policyPath) })
}

func newAxis(of *scenario.Axis) Axis {
	a := Axis{Name: of.Name, Paths: of.Paths, Unit: of.Unit}
	for _, p := range of.Points {
		a.Values = append(a.Values, p.Label)
		if p.Numeric {
			a.Numbers = append(a.Numbers, p.Number)
		}
	}
	if len(a.Numbers) < len(a.Values) {
		a.Numbers = nil
	}
	return a
}

// addCells makes the cells and their tasks.
func (p *Plan) addCells(of []*setting) error {
	seeds, err := p.seeds()
	if err != nil {
		return err
	}
	tasks := map[string]*task{}
	at := p.study.Cells()
	if p.addsPolicies() {
		for k := range p.settings[0].policies {
			for i := range at {
				p.addCell(append([]int{k}, at[i]...), of[i], k, seeds, tasks)
			}
		}
		return nil
	}
	axis := slices.IndexFunc(p.Axes, func(a Axis) bool { return slices.Equal(a.Paths, []string{policyPath}) })
	for i := range at {
		choice := 0
		if axis >= 0 {
			choice = at[i][axis]
		}
		p.addCell(at[i], of[i], choice, seeds, tasks)
	}
	return nil
}

func (p *Plan) addCell(at []int, of *setting, choice int, seeds map[int]uint64, tasks map[string]*task) {
	c := planned{at: at, values: make([]string, len(at))}
	t := &task{of: of, choice: choice, seed: of.seed, label: of.policies[choice].Label, summary: p.study.Keep == "summary"}
	var names []string
	for i, k := range at {
		c.values[i] = p.Axes[i].Values[k]
		names = append(names, p.Axes[i].Name+" "+c.values[i])
		if slices.Equal(p.Axes[i].Paths, []string{seedPath}) {
			t.seed = seeds[k]
		}
	}
	t.cell = strings.Join(names, ", ")
	p.identify(t)
	if tasks[t.id] == nil {
		tasks[t.id] = t
		p.tasks = append(p.tasks, t)
	}
	c.task = tasks[t.id]
	p.cells = append(p.cells, c)
}

// seeds reads the values of the axis of seeds, if there is one.
func (p *Plan) seeds() (map[int]uint64, error) {
	seeds := map[int]uint64{}
	for i := range p.study.Axes {
		if !sets(&p.study.Axes[i], seedPath) {
			continue
		}
		for k, point := range p.study.Axes[i].Points {
			f, err := p.study.Base.With(point.Set...)
			if err != nil {
				return nil, err
			}
			if f.Seed != nil {
				seeds[k] = *f.Seed
			} else {
				seeds[k] = sim.DefaultSeed
			}
		}
	}
	return seeds, nil
}

// identity is all that decides the bytes of a cell's folder.
type identity struct {
	Format   int             `json:"format"` // of the folder
	Manifest report.Manifest `json:"manifest"`
	Sample   int64           `json:"sample_ns"`
	Keep     string          `json:"keep"`
}

// folderFormat changes when folders of the same run get other files.
const folderFormat = 1

// identify gives a task its id.
func (p *Plan) identify(t *task) {
	key, err := json.Marshal(identity{folderFormat, p.manifest(t), t.of.sample, p.study.Keep})
	if err != nil {
		panic("sweep: the identity of a cell cannot be written: " + err.Error())
	}
	sum := sha256.Sum256(key)
	t.id, t.key = hex.EncodeToString(sum[:])[:idDigits], key
}

// manifest is that of a task's run, as far as it is known before.
func (p *Plan) manifest(t *task) report.Manifest {
	m := t.of.manifest
	policy := t.of.policies[t.choice]
	m.Version, m.Seed, m.Label, m.Policy = p.version, t.seed, policy.Label, policy.Name
	m.Parameters = policy.Declaration.Complete(policy.Params)
	return m
}

// Size returns how many cells there are, and how many runs they stand for.
func (p *Plan) Size() (cells, runs int) { return len(p.cells), len(p.tasks) }
