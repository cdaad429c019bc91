package sweep

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gangplan/gangplan/internal/scenario"
	"github.com/gangplan/gangplan/internal/study"
	"github.com/gangplan/gangplan/report"
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
	id     string
	key    json.RawMessage // what the id is the hash of
	of     *setting
	choice int // of the setting's policies
	seed   uint64
	cell   string // the first cell that stands for it, for messages
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
	for i := range s.Axes {
		p.Axes = append(p.Axes, newAxis(&s.Axes[i]))
	}
	of := p.group()
	if err := study.Each(ctx, len(p.settings), parallel, func(_ context.Context, i int) error {
		return p.settings[i].describe()
	}); err != nil {
		return nil, err
	}
	p.note()
	p.addCells(of)
	p.sort()
	return p, nil
}

// sort puts what takes longest first: then no long run is left for the end, and every n-th
// of them is a fair part.
func (p *Plan) sort() {
	slices.SortStableFunc(p.tasks, func(a, b *task) int { return cmp.Compare(b.of.cost, a.of.cost) })
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

// Sets reports whether an axis sets the field of a path and nothing else.
func (a *Axis) Sets(path string) bool { return len(a.Paths) == 1 && a.Paths[0] == path }

// group makes a setting for every combination of values that differ in more than policy
// and seed, and returns the setting of each cell.
func (p *Plan) group() []*setting {
	traces := &scenario.Traces{}
	known := map[string]*setting{}
	var of []*setting
	for _, at := range p.study.Cells() {
		var set []scenario.Override
		key := ""
		for a, k := range at {
			switch axis := &p.Axes[a]; {
			case axis.Sets(policyPath):
				set = append(set, p.every(a))
			case !axis.Sets(seedPath):
				set = append(set, p.study.Axes[a].Points[k].Set...)
				key += fmt.Sprint(k, " ")
			}
		}
		if known[key] == nil {
			known[key] = &setting{study: p.study, set: set, traces: traces}
			p.settings = append(p.settings, known[key])
		}
		of = append(of, known[key])
	}
	return of
}

// every sets all values of the axis of policies: the runs of a setting share its jobs.
func (p *Plan) every(axis int) scenario.Override {
	var list []scenario.Override
	for _, point := range p.study.Axes[axis].Points {
		list = append(list, point.Set...)
	}
	return scenario.Join(list)
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
		add(&p.assumptions, s.manifest.Assumptions)
		add(&p.warnings, s.warnings)
	}
}

// addCells makes the cells and their tasks.
func (p *Plan) addCells(of []*setting) {
	tasks := map[string]*task{}
	for i, at := range p.study.Cells() {
		c := planned{at: at, values: make([]string, len(at))}
		t := &task{of: of[i], seed: of[i].seed}
		for a, k := range at {
			c.values[a] = p.Axes[a].Values[k]
			switch axis := &p.Axes[a]; {
			case axis.Sets(policyPath):
				t.choice = k
			case axis.Sets(seedPath):
				t.seed = mustSeed(c.values[a])
			}
		}
		t.cell = p.describe(&c)
		p.identify(t)
		if tasks[t.id] == nil {
			tasks[t.id] = t
			p.tasks = append(p.tasks, t)
		}
		c.task = tasks[t.id]
		p.cells = append(p.cells, c)
	}
}

// mustSeed reads a seed, which a study checks.
func mustSeed(s string) uint64 {
	seed, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		panic("sweep: a study let through a seed: " + err.Error())
	}
	return seed
}

// describe names a cell by its values.
func (p *Plan) describe(c *planned) string {
	var names []string
	for a := range p.Axes {
		names = append(names, p.Axes[a].Name+" "+c.values[a])
	}
	return strings.Join(names, ", ")
}

// identity is all that decides the bytes of a cell's folder.
type identity struct {
	Format   int             `json:"format"` // of the folder
	Manifest report.Manifest `json:"manifest"`
	Scenario string          `json:"scenario"` // its fingerprint, beside the hash in the manifest
	Keep     string          `json:"keep"`
}

// folderFormat changes when folders of the same run get other files.
const folderFormat = 1

// identify gives a task its id.
func (p *Plan) identify(t *task) {
	key, err := json.Marshal(identity{folderFormat, p.manifest(t), t.of.said, p.study.Keep})
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

// usualShards is how many shards there are unless somebody says: more than most have
// machines, so that a slow one delays little.
const usualShards = 8

// Shards returns how many shards to cut the sweep into if so many were asked for; 0 asks
// for the usual number.
func (p *Plan) Shards(asked int) (int, error) {
	switch {
	case asked == 0:
		return min(usualShards, len(p.tasks)), nil
	case asked < 1 || asked > len(p.tasks):
		return 0, fmt.Errorf("%d: expected 1 to %d, the number of runs", asked, len(p.tasks))
	}
	return asked, nil
}

// Cells lists the cells with their ids and the shards in which they are run.
func (p *Plan) Cells(shards int) *report.Grid {
	shardOf := map[*task]int{}
	for i, t := range p.tasks {
		shardOf[t] = i % shards
	}
	g := &report.Grid{Title: fmt.Sprintf("%s, %s in %s", report.Count(len(p.cells), "cell"), report.Count(len(p.tasks), "run"), report.Count(shards, "shard")), Words: len(p.Axes) + 1}
	for i := range p.Axes {
		g.Header = append(g.Header, p.Axes[i].Name)
	}
	g.Header = append(g.Header, "cell", "shard")
	for i := range p.cells {
		c := &p.cells[i]
		g.Rows = append(g.Rows, append(slices.Clone(c.values), c.task.id, fmt.Sprintf("%d/%d", shardOf[c.task], shards)))
	}
	return g
}
