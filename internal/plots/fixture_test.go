package plots

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/gangplan/gangplan/internal/columnar"
	"github.com/gangplan/gangplan/report"
	"github.com/gangplan/gangplan/report/figure"
	"github.com/gangplan/gangplan/sim"
)

// stored are tables as a run directory has them.
type stored struct{ jobs, ledger, queues, series *columnar.Table }

// cut returns the named columns of a table.
func cut(t *columnar.Table, names []string) (*columnar.Table, error) {
	if t == nil {
		return nil, fmt.Errorf("no table: %w", fs.ErrNotExist)
	}
	for i, name := range names {
		if at := t.Index(name); at != i {
			return nil, fmt.Errorf("column %q is at %d, expected at %d", name, at, i)
		}
	}
	return t, nil
}

func (s stored) Jobs(names ...string) (*columnar.Table, error)   { return cut(s.jobs, names) }
func (s stored) Ledger(names ...string) (*columnar.Table, error) { return cut(s.ledger, names) }
func (s stored) Queues(names ...string) (*columnar.Table, error) { return cut(s.queues, names) }
func (s stored) Series(names ...string) (*columnar.Table, error) { return cut(s.series, names) }

// lasting is a job with a wait in s, or -1 for one that never started.
func lasting(wait float64) job { return job{counted: true, wait: wait, gpus: 8, queue: "default"} }

// jobsOf is jobs.parquet of some jobs; those that are not counted were carried.
func jobsOf(jobs ...job) *columnar.Table {
	var columns []columnar.Column
	for i, name := range jobColumns {
		kind := columnar.Int64
		switch {
		case i == 1:
			kind = columnar.Bool
		case i == 0 || i == 4:
			kind = columnar.String
		case i >= 7 && i <= 9:
			kind = columnar.Float64
		}
		columns = append(columns, columnar.Column{Name: name, Kind: kind})
	}
	t := columnar.NewTable(columns...)
	for _, j := range jobs {
		t.AppendString(0, "finished")
		t.AppendBool(1, !j.counted)
		if j.wait < 0 {
			t.AppendNull(2)
		} else {
			t.AppendInt64(2, int64(j.wait*1e9))
		}
		t.AppendInt64(3, int64(j.gpus*1000))
		t.AppendString(4, j.queue)
		t.AppendInt64(5, j.requeues)
		t.AppendInt64(6, int64(j.run*1e9))
		for k, v := range []float64{j.allReduce, j.locality, j.contention} {
			if v == 0 {
				t.AppendNull(7 + k)
			} else {
				t.AppendFloat64(7+k, v)
			}
		}
		for c := range sim.NumCauses {
			t.AppendInt64(10+int(c), j.evictions[c])
		}
	}
	return t
}

// ran is a run of some jobs.
func ran(label string, jobs ...job) Run {
	return Run{Label: label, Summary: &report.Summary{}, Tables: stored{jobs: jobsOf(jobs...)}}
}

// metrics are some metrics by name.
func metrics(pairs ...any) (out report.Values) {
	for i := 0; i < len(pairs); i += 2 {
		v, ok := pairs[i+1].(float64)
		out = append(out, report.Value{Name: pairs[i].(string), Number: v, Null: !ok})
	}
	return out
}

// drawn is a chart that must be drawn, and that figure takes.
func drawn(t *testing.T, kind string, in *Input, o Options) *figure.Chart {
	t.Helper()
	c, err := try(kind, in, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Write(&strings.Builder{}, "svg"); err != nil {
		t.Fatal(err)
	}
	return c
}

func try(kind string, in *Input, o Options) (*figure.Chart, error) {
	k, err := Find(kind)
	if err != nil {
		return nil, err
	}
	return k.Draw(in, o)
}

// points are those of a line of a panel, as text.
func points(p *figure.Panel, name string) string {
	i := slices.IndexFunc(p.Lines, func(l figure.Line) bool { return l.Name == name })
	if i < 0 {
		return "no line " + name
	}
	var parts []string
	for _, at := range p.Lines[i].Points {
		parts = append(parts, fmt.Sprintf("%g:%.4g", at.X, at.Y))
	}
	return strings.Join(parts, " ")
}

func names(p *figure.Panel) (out []string) {
	for _, l := range p.Lines {
		out = append(out, l.Name)
	}
	return out
}

// wants compares texts.
func wants(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\n%s\nwant\n%s", what, got, want)
	}
}

// fails wants an error that says something.
func fails(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %q", err, want)
	}
}

// say writes things with blanks between them.
func say(things ...any) string { return strings.TrimSpace(fmt.Sprintln(things...)) }
