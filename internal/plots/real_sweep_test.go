package plots

import (
	"encoding/xml"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gangplan/gangplan/internal/scenario"
	"github.com/gangplan/gangplan/internal/stats"
	"github.com/gangplan/gangplan/internal/study"
	"github.com/gangplan/gangplan/internal/study/sweep"
	"github.com/gangplan/gangplan/report"
)

// sizesAndTimeouts is a study of two axes, two policies and three seeds.
const sizesAndTimeouts = `apiVersion: gangplan/v1alpha1
kind: Study
name: sizes and timeouts
scenario:
  cluster: {nodes: [{name: n, count: 4, gpus: 8}]}
  workload: {synthetic: {mix: llm, jobs: 12, load: 1.5}}
  timing: kubernetes
  until: 12h
matrix:
  scale.cluster: [1, 2, 4]
  waitForPodsReady.timeout: [1m, 5m]
  policy: [gang, per-pod]
  seed: 1..3
metrics: [wait.p95_seconds, requeues, jobs.finished]
`

// finish runs a study into a folder.
func finish(dir, text string) error {
	s, err := scenario.ParseStudy("study.yaml", []byte(text), "", study.MetricNames())
	if err != nil {
		return err
	}
	p, err := sweep.NewPlan(testContext, s, "v1.0.0", 0)
	if err != nil {
		return err
	}
	if _, err := p.Run(testContext, sweep.Options{Dir: dir}); err != nil {
		return err
	}
	_, err = p.Finish(dir)
	return err
}

var sweptFolder = sync.OnceValues(func() (string, error) {
	dir := filepath.Join(testFolder, "sweep")
	return dir, finish(dir, sizesAndTimeouts)
})

// realSweep is the sweep, opened as the command opens it.
func realSweep(t *testing.T) (*Input, string) {
	t.Helper()
	dir, err := sweptFolder()
	if err != nil {
		t.Fatal(err)
	}
	in, err := Open([]string{dir})
	if err != nil || in.Sweep == nil {
		t.Fatalf("%v, %v", in, err)
	}
	return in, dir
}

// medianOf is the median of a metric of the cells that have some values, +Inf where null.
func medianOf(s *sweep.Sweep, metric string, values map[string]string) float64 {
	var all []float64
	for i := range s.Cells {
		there := true
		for axis, v := range values {
			there = there && s.Cells[i].Values[s.Axis(axis)] == v
		}
		if !there {
			continue
		}
		v, ok := s.Cells[i].Metrics.Get(metric)
		if !ok {
			v = math.Inf(1)
		}
		all = append(all, v)
	}
	return stats.Median(all)
}

// The points of curves are medians over the seeds, with each value of the axis at its number.
func TestRealCurve(t *testing.T) {
	in, _ := realSweep(t)
	for _, metric := range in.Sweep.Shown {
		c := drawn(t, "sweep-curve", in, Options{Metric: metric, X: "cluster", Where: []string{"timeout=5m"}})
		if len(c.Panels[0].Lines) != 2 {
			t.Fatalf("lines %v", names(&c.Panels[0]))
		}
		for _, l := range c.Panels[0].Lines {
			for k, at := range l.Points {
				want := medianOf(in.Sweep, metric, map[string]string{"cluster": []string{"1", "2", "4"}[k], "timeout": "5m", "policy": l.Name})
				if at.X != []float64{1, 2, 4}[k] || at.Y != want {
					t.Errorf("%s under %s: at %v it is %v, expected %v", metric, l.Name, at.X, at.Y, want)
				}
				if b := l.Band[k]; !math.IsInf(want, 1) && (b.Low > want || b.High < want) {
					t.Errorf("%s under %s: %v is not within its interval %v", metric, l.Name, want, b)
				}
			}
		}
	}
}

// A heat map has the same medians, rows from the bottom up, and the best of them in its title.
func TestRealHeat(t *testing.T) {
	in, _ := realSweep(t)
	c := drawn(t, "sweep-heat", in, Options{Metric: "jobs.finished", X: "cluster", Y: "timeout"})
	most := 0.0
	for _, p := range c.Panels {
		wants(t, "rows and columns", say(p.Heat.Rows, p.Heat.Columns), "[5m 1m] [1 2 4]")
		for r, row := range p.Heat.Values {
			for k, got := range row {
				want := medianOf(in.Sweep, "jobs.finished", map[string]string{"cluster": p.Heat.Columns[k], "timeout": p.Heat.Rows[r], "policy": p.Title})
				if got != want || p.Heat.Texts[r][k] != number(want) {
					t.Errorf("%s: %v (%s) at %s, %s, expected %v", p.Title, got, p.Heat.Texts[r][k], p.Heat.Rows[r], p.Heat.Columns[k], want)
				}
				most = max(most, got)
			}
		}
	}
	if !strings.HasPrefix(c.Title, "Most jobs finished: "+number(most)+" at ") {
		t.Errorf("the title is %q, and the most is %v", c.Title, most)
	}
}

// The sizes of clusters are read from the cells themselves.
func TestRealFrontier(t *testing.T) {
	in, _ := realSweep(t)
	c := drawn(t, "frontier", in, Options{Where: []string{"timeout=5m"}})
	for _, l := range c.Panels[0].Lines {
		for k, at := range l.Points {
			want := medianOf(in.Sweep, "wait.p95_seconds", map[string]string{"cluster": []string{"1", "2", "4"}[k], "timeout": "5m", "policy": l.Name})
			if at.X != []float64{32, 64, 128}[k] || at.Y != want {
				t.Errorf("%s: %v GPUs at %v, expected %v", l.Name, at.X, at.Y, want)
			}
		}
	}
	priced := drawn(t, "frontier", in, Options{Where: []string{"timeout=5m"}, Cost: 2})
	if got := priced.Panels[0].Lines[0].Points[0].X; got != 32*2*24*30 {
		t.Errorf("32 GPUs cost %v in a month", got)
	}
}

// The kinds of runs draw chosen cells of a sweep, called by what tells them apart.
func TestRealCells(t *testing.T) {
	in, _ := realSweep(t)
	where := []string{"cluster=2", "timeout=1m", "seed=1", "seed=2"}
	c, err := try("wait-cdf", in, Options{Where: where})
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("no tables here: ", err)
	} else if err != nil {
		t.Fatal(err)
	}
	wants(t, "lines", strings.Join(names(&c.Panels[0]), "; "), "gang, seed 1; gang, seed 2; per-pod, seed 1; per-pod, seed 2")
	c = drawn(t, "ledger", in, Options{Where: append(where[:2:2], "seed=3", "policy=gang")})
	wants(t, "the only one", strings.Join(c.Panels[0].Bars.Categories, ", "), "gang")
	_, err = try("requeues", in, Options{})
	fails(t, err, "requeues: the sweep has 36 runs; choose at most 12 with --where axis=value")
}

// wellFormed reads all of an SVG.
func wellFormed(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for d := xml.NewDecoder(strings.NewReader(string(text))); ; {
		if _, err := d.Token(); err == io.EOF {
			return
		} else if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
	}
}

// The folder of a real sweep has a curve and a map of every metric that it shows, the same
// bytes each time, and the same picture that the command draws.
func TestUsualPlotsOfARealSweep(t *testing.T) {
	in, dir := realSweep(t)
	var before map[string]string
	for range 2 {
		if err := WriteUsual(dir, in.Sweep); err != nil {
			t.Fatal(err)
		}
		now := map[string]string{}
		for _, metric := range in.Sweep.Shown {
			for kind, file := range map[string]string{"sweep-curve": metric + "-curve.svg", "sweep-heat": metric + "-heat.svg"} {
				path := filepath.Join(dir, sweep.PlotsDir, file)
				if kind == "sweep-curve" { // two timeouts under two policies
					wellFormed(t, path)
				}
				text, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				var b strings.Builder
				if err := drawn(t, kind, in, Options{Metric: metric}).Write(&b, "svg"); err != nil || b.String() != string(text) {
					t.Errorf("%s is another picture than the command draws, %v", file, err)
				}
				now[file] = string(text)
			}
		}
		for file, text := range before {
			if now[file] != text {
				t.Errorf("%s is another the second time", file)
			}
		}
		before = now
	}
	if got := strings.Fields(listing(t, filepath.Join(dir, sweep.PlotsDir))); len(got) != 2*len(in.Sweep.Shown) {
		t.Errorf("the folder has %v", got)
	}
}

// Several that draw the same sweep at the same time leave one whole folder and nothing else.
func TestUsualPlotsAtTheSameTime(t *testing.T) {
	dir, in := t.TempDir(), falling()
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			for range 4 {
				if err := WriteUsual(dir, in.Sweep); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	wants(t, "the folder", listing(t, dir), sweep.PlotsDir)
	wants(t, "the plots", listing(t, filepath.Join(dir, sweep.PlotsDir)), "wait.p95_seconds-curve.svg")
	wellFormed(t, filepath.Join(dir, sweep.PlotsDir, "wait.p95_seconds-curve.svg"))
}

// What another process is drawing is left alone, and the plots of before stay until the new
// ones are whole.
func TestUsualPlotsThatCannotBeWritten(t *testing.T) {
	dir, in := t.TempDir(), falling()
	if err := WriteUsual(dir, in.Sweep); err != nil {
		t.Fatal(err)
	}
	plots := filepath.Join(dir, sweep.PlotsDir)
	before := listing(t, plots)
	broken := *in.Sweep
	broken.Shown = []string{"wait.p95_seconds", strings.Repeat("x", 300)}
	if err := WriteUsual(dir, &broken); err != nil || listing(t, plots) != before {
		t.Errorf("a metric that there is not: %v, %s", err, listing(t, plots))
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := WriteUsual(file, in.Sweep); err == nil || strings.Contains(err.Error(), folderStage) {
		t.Errorf("into a file: %v", err)
	}
}

// A sweep that cannot be told apart has no plots of the kinds that would show it.
func TestUsualPlotsOfTooMuch(t *testing.T) {
	dir := t.TempDir()
	many := make([]float64, mostLines+1)
	for i := range many {
		many[i] = float64(i + 1)
	}
	in := swept("requeues", func(at []int) float64 { return float64(at[0]) }, numbers("racks", "", 1, 2), numbers("load", "", many...))
	if err := WriteUsual(dir, in.Sweep); err != nil {
		t.Fatal(err)
	}
	wants(t, "the plots", listing(t, filepath.Join(dir, sweep.PlotsDir)), "requeues-heat.svg")
}

// Open tells runs, folders of runs and sweeps from each other.
func TestOpen(t *testing.T) {
	runs, _ := realRuns(t)
	_, dir := realSweep(t)
	var labels []string
	for _, r := range runs.Runs {
		labels = append(labels, r.Label)
	}
	wants(t, "a folder of runs", strings.Join(labels, " "), "gang gang-topology per-pod")
	one, err := Open([]string{filepath.Join(testFolder, "gang"), filepath.Join(testFolder, "per-pod")})
	if err != nil || len(one.Runs) != 2 || one.Runs[1].Label != "per-pod" {
		t.Errorf("two runs: %+v, %v", one, err)
	}
	twice, err := Open([]string{filepath.Join(testFolder, "gang"), testFolder})
	if err != nil || !slices.ContainsFunc(twice.Runs, func(r Run) bool { return r.Label == "gang-topology" }) {
		t.Errorf("a run and the folder it is in: %v", err)
	}
	_, err = Open([]string{dir, testFolder})
	fails(t, err, "sweep: is a sweep, which is drawn alone")
	_, err = Open([]string{filepath.Join(testFolder, "absent")})
	fails(t, err, "absent")
	damaged := t.TempDir()
	if err := os.WriteFile(filepath.Join(damaged, "sweep.json"), []byte("{"), 0o666); err != nil {
		t.Fatal(err)
	}
	_, err = Open([]string{damaged})
	fails(t, err, "damaged")
}

// Every metric of a real sweep can be drawn, and says what it is.
func TestEveryMetricOfASweep(t *testing.T) {
	in, _ := realSweep(t)
	for _, m := range report.Metrics() {
		c := drawn(t, "sweep-curve", in, Options{Metric: m.Name, X: "cluster", Where: []string{"timeout=5m"}})
		if c.Title == "" || c.Caption == "" || c.Panels[0].Y.Label == "" {
			t.Errorf("%s: title %q, caption %q, axis %q", m.Name, c.Title, c.Caption, c.Panels[0].Y.Label)
		}
		for _, bad := range []string{"NaN", "Inf", "%!", "  "} {
			if strings.Contains(c.Title+c.Caption, bad) {
				t.Errorf("%s: %q in %q, %q", m.Name, bad, c.Title, c.Caption)
			}
		}
		if m.Better == report.Higher && strings.HasPrefix(c.Title, "Least") || m.Better == report.Lower && strings.HasPrefix(c.Title, "Most") {
			t.Errorf("%s: the best is %q", m.Name, c.Title)
		}
	}
}
