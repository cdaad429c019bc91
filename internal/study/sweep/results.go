package sweep

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"

	"github.com/gangplan/gangplan/internal/columnar"
	"github.com/gangplan/gangplan/internal/staging"
	"github.com/gangplan/gangplan/report"
)

// The results of a sweep, beside its index.
const (
	runsFile = "runs.parquet" // a row per cell
	dataDir  = "data"         // the tables of all cells, by the values of their axes

	PlotsDir = "plots" // drawn of the results, by package plots; old ones go when these change

	stagePrefix = ".results-"
)

// Finish puts together the results of a sweep, all of whose runs must be there, from their
// folders: what comes out depends on nothing else. The index is written last.
func (p *Plan) Finish(dir string) (*Sweep, error) {
	s, err := p.gather(dir)
	if err != nil {
		return nil, err
	}
	if err := staging.SweepAway(dir, stagePrefix); err != nil {
		return nil, err
	}
	stage, err := staging.New(dir, stagePrefix)
	if err != nil {
		return nil, err
	}
	defer stage.Remove()
	if err := s.fill(stage.Path); err != nil {
		return nil, stage.Named(dir, err)
	}
	return s, stage.Named(dir, publish(stage.Path, dir))
}

// fill writes the results into a folder.
func (s *Sweep) fill(dir string) error {
	if err := s.writeRuns(filepath.Join(dir, runsFile)); err != nil {
		return err
	}
	if err := s.layOut(filepath.Join(dir, dataDir)); err != nil {
		return err
	}
	text, err := indented(s)
	if err != nil {
		return err
	}
	return writeDurable(filepath.Join(dir, indexFile), text)
}

// writeDurable writes a file and has it on the disk: an index that is there is whole.
func writeDurable(path string, data []byte) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Sync(), f.Close())
}

// publish moves results into place. While it does there is no index: a sweep without one
// is not finished.
func publish(stage, dir string) error {
	for _, name := range []string{indexFile, PlotsDir} {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	for _, name := range []string{dataDir, runsFile, indexFile} {
		err := staging.Replace(filepath.Join(stage, name), filepath.Join(dir, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // 32-bit builds write no tables
			return err
		}
	}
	return nil
}

// withdraw takes away results that are not those of this study, the index first: from here
// on nobody is to take them for its own. What is being published by another process of the
// same study stays, and so do all cells.
func (p *Plan) withdraw(dir string) error {
	s, err := Read(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && p.made(s) {
		return nil
	}
	for _, name := range []string{indexFile, PlotsDir, dataDir, runsFile} {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}

// made reports whether results are what this plan would make.
func (p *Plan) made(s *Sweep) bool {
	own := p.index()
	for i := range min(len(own.Cells), len(s.Cells)) {
		own.Cells[i] = s.Cells[i] // but for what says which cell it is
		own.Cells[i].ID, own.Cells[i].At, own.Cells[i].Values = p.cells[i].task.id, p.cells[i].at, p.cells[i].values
	}
	return reflect.DeepEqual(own, s)
}

// index is what is known of the results before anything is run.
func (p *Plan) index() *Sweep {
	return &Sweep{APIVersion: apiVersion, Kind: indexKind, Name: p.Name(), Version: p.version, Axes: p.Axes, Shown: p.shown(),
		Assumptions: p.assumptions, Warnings: p.warnings, Cells: make([]Cell, len(p.cells))}
}

// gather makes the index from the cells' folders.
func (p *Plan) gather(dir string) (*Sweep, error) {
	s := p.index()
	stored := map[*task]*report.StoredRun{}
	ends := map[int64]int64{} // the latest, by `until`
	for _, t := range p.tasks {
		run, err := report.OpenRun(filepath.Join(dir, cellsDir, t.id))
		if err != nil {
			return nil, err
		}
		stored[t] = run
		until := run.Manifest.UntilNanos
		ends[until] = max(ends[until], run.Summary.EndNanos)
	}
	for i := range p.cells {
		run := stored[p.cells[i].task]
		metrics, err := run.Summary.KeptOn(ends[run.Manifest.UntilNanos])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", run.Dir, err)
		}
		s.Cells[i] = Cell{ID: p.cells[i].task.id, At: p.cells[i].at, Values: p.cells[i].values,
			Policy: run.Summary.Policy, Seed: run.Summary.Seed, Digest: run.Summary.Digest, EndSeconds: run.Summary.EndSeconds,
			Verdicts: len(run.Summary.Verdicts), Metrics: metrics, Dir: run.Dir}
	}
	return s, nil
}

// usual are the metrics that are shown if a study does not say which.
var usual = []string{"wait.p95_seconds", "gpu_hours.idle", "jobs.unfinished"}

func (p *Plan) shown() []string {
	if len(p.study.Metrics) > 0 {
		return p.study.Metrics
	}
	return usual
}

// Name returns the name of the study, or that of its scenario.
func (p *Plan) Name() string {
	if p.study.Name != "" {
		return p.study.Name
	}
	return p.study.Base.Name
}

// writeRuns writes a table with a row per cell: its values, then its metrics.
func (s *Sweep) writeRuns(path string) error {
	t := s.runsTable()
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	err = errors.Join(columnar.WriteParquet(f, t, [][2]string{{"gangplan.version", s.Version}}), f.Close())
	if errors.Is(err, columnar.ErrUnsupported) {
		return os.Remove(path)
	}
	return err
}

func (s *Sweep) runsTable() *columnar.Table {
	columns := s.axisColumns()
	of := len(columns)
	columns = append(columns,
		columnar.Column{Name: "label", Doc: "of the policy", Kind: columnar.String, Dict: true},
		columnar.Column{Name: "random_seed", Doc: "of the run", Kind: columnar.String},
		columnar.Column{Name: "cell", Doc: "the folder of the run in cells", Kind: columnar.String},
		columnar.Column{Name: "digest", Doc: "of the run", Kind: columnar.String},
		columnar.Column{Name: "end_seconds", Unit: "s", Doc: "the run's own end", Kind: columnar.Float64},
		columnar.Column{Name: "verdicts", Unit: "count", Doc: "verdicts on the run", Kind: columnar.Int64})
	for _, m := range report.Metrics() {
		columns = append(columns, columnar.Column{Name: m.Name, Unit: m.Unit, Doc: m.Doc, Kind: columnar.Float64})
	}
	t := columnar.NewTable(columns...)
	for i := range s.Cells {
		c := &s.Cells[i]
		s.appendValues(t, c)
		t.AppendString(of, c.Policy)
		t.AppendString(of+1, fmt.Sprint(c.Seed))
		t.AppendString(of+2, c.ID)
		t.AppendString(of+3, c.Digest)
		t.AppendFloat64(of+4, c.EndSeconds)
		t.AppendInt64(of+5, int64(c.Verdicts))
		for k, m := range report.Metrics() {
			if v, ok := c.Metrics.Get(m.Name); ok {
				t.AppendFloat64(of+6+k, v)
			} else {
				t.AppendNull(of + 6 + k)
			}
		}
	}
	return t
}

// axisColumns are columns of numbers where all values of an axis are.
func (s *Sweep) axisColumns() []columnar.Column {
	taken := map[string]bool{"label": true, "random_seed": true, "cell": true, "digest": true, "end_seconds": true, "verdicts": true}
	for _, m := range report.Metrics() {
		taken[m.Name] = true
	}
	var columns []columnar.Column
	for i := range s.Axes {
		a := &s.Axes[i]
		c := columnar.Column{Name: a.Name, Unit: a.Unit, Doc: "axis of the study", Kind: columnar.String, Dict: true}
		if taken[c.Name] {
			c.Name = "axis." + c.Name
		}
		if a.Numbers != nil {
			c.Kind, c.Dict = columnar.Float64, false
		}
		columns = append(columns, c)
	}
	return columns
}

func (s *Sweep) appendValues(t *columnar.Table, c *Cell) {
	for a, k := range c.At {
		if s.Axes[a].Numbers != nil {
			t.AppendFloat64(a, s.Axes[a].Numbers[k])
		} else {
			t.AppendString(a, c.Values[a])
		}
	}
}
