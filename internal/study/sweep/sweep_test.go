package sweep

import (
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/gangplan/gangplan/internal/columnar"
	"github.com/gangplan/gangplan/internal/scenario"
	"github.com/gangplan/gangplan/internal/study"
	"github.com/gangplan/gangplan/report"
)

const small = `matrix: {policy: [gang, random], cluster.synthetic.racks: [1, 2], seed: 1..3}` + "\n"

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) != "" {
		os.Exit(child())
	}
	flag.Parse()
	_ = flag.Set("rapid.checks", "8") // each writes and reads some hundred files
	code := m.Run()
	if dir200 != "" {
		os.RemoveAll(dir200)
	}
	os.Exit(code)
}

// One worker or many: the same bytes.
func TestDeterminismOfWorkers(t *testing.T) {
	want := finished(t, planOf(t, small), 1)
	if len(files(t, want)) < 12*3 {
		t.Fatalf("only %d files", len(files(t, want)))
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	same(t, want, finished(t, planOf(t, small), 8))
}

// drawStudy draws a matrix of few cells.
func drawStudy(t *rapid.T) string {
	axes := []string{
		"policy: [gang, per-pod]", "cluster.synthetic.racks: [1, 2]", "seed: 1..2", "scale.load: [0.5, 2]", "waitForPodsReady: [null, {timeout: 1m}]",
		"size: {small: {}, large: {cluster.synthetic.hosts: 3, until: 1h}}", "sample: [10m, 1h]",
	}
	some := rapid.Permutation(axes).Draw(t, "axes")[:rapid.IntRange(1, 2).Draw(t, "how many")]
	keep := rapid.SampledFrom(scenario.Keeps).Draw(t, "keep")
	return "matrix: {" + strings.Join(some, ", ") + "}\nkeep: " + keep + "\n"
}

// However many shards there are, in whatever order they are run, each stopped now and then
// and run again, in one folder or in several: the merged bytes are those of one process.
func TestShardsMergeToTheSameBytes(t *testing.T) {
	base := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		matrix := drawStudy(rt)
		root, err := os.MkdirTemp(base, "")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(root)
		whole, merged := filepath.Join(root, "whole"), filepath.Join(root, "merged")
		p := planOf(t, matrix)
		run(t, p, Options{Dir: whole, Parallel: 1})
		finish(t, p, whole)

		n := rapid.IntRange(1, len(p.tasks)).Draw(rt, "shards")
		var order []int
		for i := range n {
			order = append(order, i)
		}
		var sources []string
		for _, i := range rapid.Permutation(order).Draw(rt, "order") {
			dir := merged
			if rapid.Bool().Draw(rt, "elsewhere") {
				dir = filepath.Join(root, "elsewhere", Shard{i, n}.String())
				sources = append(sources, dir)
			}
			o := Options{Dir: dir, Shard: Shard{i, n}, Parallel: rapid.IntRange(1, 2).Draw(rt, "parallel")}
			for range rapid.IntRange(0, 2).Draw(rt, "interruptions") {
				interrupt(t, planOf(t, matrix), o, rapid.IntRange(0, 3).Draw(rt, "after"))
			}
			run(t, planOf(t, matrix), o)
		}
		if _, err := planOf(t, matrix).Merge(context.Background(), merged, sources, 0); err != nil {
			rt.Fatal(err)
		}
		if diff := cmp.Diff(files(t, whole), files(t, merged)); diff != "" {
			rt.Fatal(diff)
		}
	})
}

// interrupt cancels a run after some of its cells.
func interrupt(t *testing.T, p *Plan, o Options, after int) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	o.Progress = func(now Progress) {
		if now.Done >= after {
			cancel()
		}
	}
	now, err := p.Run(ctx, o)
	var stopped *Interrupted
	switch {
	case err == nil && now.Done == now.Runs:
	case !errors.As(err, &stopped) || !errors.Is(err, context.Canceled) || stopped.Progress != now:
		t.Errorf("%+v and %v, expected an interruption", now, err)
	}
}

// A sweep that is run again reuses everything, and a study that was changed what it can.
func TestResume(t *testing.T) {
	dir := t.TempDir()
	matrix := func(timeouts string) string {
		return "matrix: {policy: [gang, random], waitForPodsReady.timeout: [" + timeouts + "]}\n"
	}
	for _, step := range []struct {
		timeouts     string
		runs, reused int
	}{{"1m", 2, 0}, {"1m", 2, 2}, {"1m, 5m, 9m", 6, 2}, {"9m, 5m", 4, 4}} {
		p := planOf(t, matrix(step.timeouts))
		got := run(t, p, Options{Dir: dir})
		if want := (Progress{Runs: step.runs, Done: step.runs, Reused: step.reused}); got != want {
			t.Errorf("timeouts %s: %+v, expected %+v", step.timeouts, got, want)
		}
		finish(t, p, dir)
		s, err := Read(dir)
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Cells) != step.runs {
			t.Errorf("timeouts %s: %d cells", step.timeouts, len(s.Cells))
		}
		fresh := finished(t, p, 0)
		for _, part := range []string{dataDir, runsFile, indexFile} {
			same(t, filepath.Join(fresh, part), filepath.Join(dir, part))
		}
	}
}

// Two that make the same cells in the same folder at the same time lose none, and nothing
// of either is in the way of the other.
func TestTheSameCellsAtTheSameTime(t *testing.T) {
	want, dir := finished(t, planOf(t, small), 0), t.TempDir()
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			for range 3 {
				p, err := tryPlan(tiny+small, "v1.0.0")
				if err == nil {
					_, err = p.Run(context.Background(), Options{Dir: dir})
				}
				if err == nil {
					_, err = p.Finish(dir)
				}
				if err != nil {
					t.Error(err)
				}
				if err := os.RemoveAll(filepath.Join(dir, cellsDir, p.tasks[0].id, sealFile)); err != nil { // damage, to be made again by several
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	p := planOf(t, small)
	run(t, p, Options{Dir: dir})
	finish(t, p, dir)
	same(t, want, dir)
}

// A study that was changed takes its old results away as soon as it is run: until it is
// finished nobody takes them for its own. One that was not changed keeps them.
func TestResultsOfAnotherStudy(t *testing.T) {
	there := func(dir string) (names []string) {
		for _, name := range []string{indexFile, PlotsDir, dataDir, runsFile} {
			if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
				names = append(names, name)
			}
		}
		return names
	}
	base := "matrix: {policy: [gang, random]}\n"
	all := []string{indexFile, PlotsDir, dataDir, runsFile}
	for _, c := range []struct {
		study, version string
		spoil          bool
		left           []string
	}{
		{base, "v1.0.0", false, all},
		{"matrix: {policy: [gang]}\n", "v1.0.0", false, nil},
		{"matrix: {policy: [gang, random], seed: [1, 2]}\n", "v1.0.0", false, nil},
		{"matrix: {policy: [gang, random], until: [1h]}\n", "v1.0.0", false, nil},
		{base + "metrics: [requeues]\n", "v1.0.0", false, nil},
		{base, "v2.0.0", false, nil},
		{base, "v1.0.0", true, nil},
	} {
		dir := finished(t, planOf(t, base), 0)
		if err := os.Mkdir(filepath.Join(dir, PlotsDir), 0o777); err != nil {
			t.Fatal(err)
		}
		if c.spoil {
			spoil(t, filepath.Join(dir, indexFile), func(b []byte) []byte { return b[:len(b)/2] })
		}
		cells := len(files(t, filepath.Join(dir, cellsDir)))
		p, err := tryPlan(tiny+c.study, c.version)
		if err != nil {
			t.Fatal(err)
		}
		interrupt(t, p, Options{Dir: dir}, 0)
		if got := there(dir); !slices.Equal(got, c.left) || len(files(t, filepath.Join(dir, cellsDir))) < cells {
			t.Errorf("%q, version %s: left are %v and %d files of cells", c.study, c.version, got, len(files(t, filepath.Join(dir, cellsDir))))
		}
	}
}

// Whatever is wrong with a cell's folder, it is noticed and made again.
func TestDamage(t *testing.T) {
	matrix := "matrix: {policy: [gang]}\n"
	p := planOf(t, matrix)
	want := finished(t, p, 0)
	cell := func(dir string) string { return filepath.Join(dir, cellsDir, p.tasks[0].id) }
	write := func(name, text string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			if err := os.WriteFile(filepath.Join(cell(dir), name), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	change := func(name string, how func(b []byte) []byte) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) { spoil(t, filepath.Join(cell(dir), name), how) }
	}
	cut := func(b []byte) []byte { return b[:len(b)/2] }
	for name, damage := range map[string]func(t *testing.T, dir string){
		"half a summary":       change("summary.json", cut),
		"a bit of a table":     change("jobs.parquet", func(b []byte) []byte { b[len(b)/2] ^= 1; return b }),
		"an empty table":       change("ledger.parquet", func([]byte) []byte { return nil }),
		"half a seal":          change(sealFile, cut),
		"the seal of another":  change(sealFile, func(b []byte) []byte { return bytesReplace(b, `"seed": 1`, `"seed": 2`) }),
		"a digit of the index": change("manifest.json", func(b []byte) []byte { return bytesReplace(b, `"seed": 1`, `"seed": 2`) }),
		"one file too many":    write("more.txt", "x"),
		"no seal":              func(t *testing.T, dir string) { remove(t, filepath.Join(cell(dir), sealFile)) },
		"no table":             func(t *testing.T, dir string) { remove(t, filepath.Join(cell(dir), "jobs.parquet")) },
		"nothing": func(t *testing.T, dir string) {
			remove(t, cell(dir))
			if err := os.Mkdir(cell(dir), 0o777); err != nil {
				t.Fatal(err)
			}
		},
		"a file in its place": func(t *testing.T, dir string) {
			remove(t, cell(dir))
			if err := os.WriteFile(cell(dir), nil, 0o666); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := finished(t, p, 0)
			damage(t, dir)
			if _, err := p.Merge(context.Background(), dir, nil, 0); err == nil {
				t.Error("a damaged cell was merged")
			}
			if got := run(t, p, Options{Dir: dir}); got.Redone != 1 || got.Done != 1 || got.Reused != 0 {
				t.Errorf("%+v, expected one run made again", got)
			}
			finish(t, p, dir)
			same(t, want, dir)
		})
	}
}

func bytesReplace(b []byte, old, new string) []byte {
	return []byte(strings.Replace(string(b), old, new, 1))
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
}

// Values that make no difference stand for one run.
func TestCellsThatAreTheSameRun(t *testing.T) {
	p := planOf(t, "matrix: {policy: [gang], same: {a: {}, b: {}, c: {until: 720m}}, other: {d: {}, e: {scale.load: 2}}}\n")
	if len(p.cells) != 6 || len(p.tasks) != 2 {
		t.Fatalf("%d cells and %d runs", len(p.cells), len(p.tasks))
	}
	dir := finished(t, p, 0)
	s, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if s.Cells[0].ID != s.Cells[2].ID || s.Cells[0].ID == s.Cells[1].ID {
		t.Errorf("%+v", s.Cells)
	}
	for _, same := range []string{"a", "b", "c"} {
		if _, err := os.Stat(filepath.Join(dir, dataDir, "policy=gang", "same="+same, "other=d", "jobs.parquet")); err != nil {
			t.Error(err)
		}
	}
}

// What the index says of cells that differ in the policy only is what `run` says of these
// policies: kept on to the latest end.
func TestMetricsAreThoseOfAComparison(t *testing.T) {
	text := strings.NewReplacer("  until: 12h\n", "", "jobs: 6, load: 1", "jobs: 40, load: 2").Replace(tiny)
	p, err := tryPlan(text+"matrix: {policy: [gang, per-pod]}\n", "v1")
	if err != nil {
		t.Fatal(err)
	}
	s, err := Read(finished(t, p, 0))
	if err != nil {
		t.Fatal(err)
	}
	r, _, err := p.settings[0].resolve()
	if err != nil {
		t.Fatal(err)
	}
	outcomes, err := study.Run(context.Background(), r.Config, study.Choices(r), study.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := study.Compare(report.Document{}, outcomes)
	if want.Runs[0].EndSeconds == want.Runs[1].EndSeconds {
		t.Fatal("the runs end together: nothing is kept on")
	}
	for i := range want.Runs {
		if diff := cmp.Diff(want.Runs[i].Metrics, s.Cells[i].Metrics); diff != "" || s.Cells[i].Digest != want.Runs[i].Digest || s.Cells[i].EndSeconds != want.Runs[i].EndSeconds {
			t.Errorf("%s: %s", want.Runs[i].Policy, diff)
		}
	}
}

// The table of runs has the numbers of the index, and the data set all jobs under their
// values.
func TestTables(t *testing.T) {
	dir := finished(t, planOf(t, small), 0)
	s, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	runs, _, err := columnar.OpenParquet(filepath.Join(dir, runsFile))
	if err != nil {
		t.Skip(err)
	}
	if runs.Rows() != len(s.Cells) {
		t.Fatalf("%d rows for %d cells", runs.Rows(), len(s.Cells))
	}
	for i := range s.Cells {
		c := &s.Cells[i]
		if got := runs.Float64s(runs.Index("racks"))[i]; got != s.Axes[1].Numbers[c.At[1]] || runs.Strings(runs.Index("policy"))[i] != c.Values[0] {
			t.Errorf("row %d: racks %v", i, got)
		}
		for _, m := range report.Metrics() {
			column := runs.Index(m.Name)
			v, ok := c.Metrics.Get(m.Name)
			if runs.IsNull(column, i) == ok || runs.Float64s(column)[i] != v {
				t.Errorf("row %d: %s is %v, expected %v", i, m.Name, runs.Float64s(column)[i], v)
			}
		}
		jobs := filepath.Join(dir, dataDir, "policy="+c.Values[0], "racks="+c.Values[1], "seed="+c.Values[2], "jobs.parquet")
		table, _, err := columnar.OpenParquet(jobs)
		if err != nil {
			t.Fatal(err)
		}
		if submitted, _ := c.Metrics.Get("jobs.submitted"); float64(table.Rows()) < submitted || table.Rows() == 0 {
			t.Errorf("%s has %d jobs of %v", jobs, table.Rows(), submitted)
		}
	}
}

// A cell's folder is a run directory like any other.
func TestCellsAreRunDirectories(t *testing.T) {
	for keep, decisions := range map[string]bool{"tables": false, "decisions": true} {
		p := planOf(t, "matrix: {policy: [random], seed: [7]}\nkeep: "+keep+"\n")
		s, err := Read(finished(t, p, 0))
		if err != nil {
			t.Fatal(err)
		}
		run, err := report.OpenRun(s.Cells[0].Dir)
		if err != nil {
			t.Fatal(err)
		}
		m := run.Manifest
		if m.Label != "random" || m.Policy != "gang" || m.Seed != 7 || m.Parameters["ties"] != "random" || m.Scenario.Name != "two-racks" {
			t.Errorf("%+v", m)
		}
		if _, err := run.Decisions(); (err == nil) != decisions && !errors.Is(err, columnar.ErrUnsupported) {
			t.Errorf("keep %s: %v", keep, err)
		}
	}
}

func TestRefusedStudies(t *testing.T) {
	for matrix, want := range map[string]string{
		"matrix: {cluster.synthetic.rakcs: [1]}":               "rakcs",
		"matrix: {policy: [gang, gnag]}":                       "study.yaml:12:25: policy: unknown policy \"gnag\"",
		"matrix: {waitForPodsReady.timeout: [1m, 0]}":          "study.yaml:12:41: waitForPodsReady.timeout: \"0\": expected more than 0",
		"matrix: {workload: [{trace: absent.csv}]}":            "study.yaml:12:29: workload.trace",
		"matrix: {seed: [1, 2], policies: [[gang], [random]]}": "study.yaml:12:24: matrix.policies: the list of policies does not say which of them plays in a cell",
		"matrix: {}": "study.yaml:12:9: matrix: the mapping is empty",
	} {
		_, err := tryPlan(tiny+matrix+"\n", "v1")
		wantError(t, err, want)
	}
}

// A run that fails names its cell, and what was done before it stays done.
func TestFailure(t *testing.T) {
	text := strings.Replace(tiny, "  until: 12h\n", "", 1)
	// Four jobs of a hundred years, one after the other, end after the end of time.
	p, err := tryPlan(text+`matrix:
  policy: [gang]
  jobs:
    one: {workload: {jobs: [{id: a, count: 9, gpus: 32, duration: 1m}]}}
    long: {workload: {jobs: [{id: a, count: 4, gpus: 32, duration: 36500d}]}}
`, "v1")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	run(t, p, Options{Dir: dir, Shard: Shard{1, 2}})
	_, err = p.Run(context.Background(), Options{Dir: dir, Parallel: 1})
	wantError(t, err, "policy gang, jobs long: gang: something is due after 292 years")
	if whole := allWhole(t, p, dir); whole != 1 {
		t.Errorf("%d runs done", whole)
	}
	if _, err := p.Finish(dir); err == nil || Is(dir) {
		t.Error("there are results all the same")
	}
}

// The trace that many cells share is read once: it may be gone after the plan.
func TestTraceIsReadOnce(t *testing.T) {
	dir := t.TempDir()
	trace := "id,submit_seconds,duration_seconds,gpus\n1,0,600,8\n2,60,600,16\n"
	if err := os.WriteFile(filepath.Join(dir, "jobs.csv"), []byte(trace), 0o666); err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(tiny, "{synthetic: {mix: llm, jobs: 6, load: 1}}", "{trace: jobs.csv}", 1)
	s, err := scenario.ParseStudy("study.yaml", []byte(text+"matrix: {policy: [gang], scale.load: [1, 2, 4], seed: 1..2}\n"), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewPlan(context.Background(), s, "v1", 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "jobs.csv")); err != nil {
		t.Fatal(err)
	}
	run(t, p, Options{Dir: filepath.Join(dir, "out")})
}

// A file that changes between plan and run is no longer what the ids stand for.
func TestInputThatChanges(t *testing.T) {
	dir := t.TempDir()
	nodes := filepath.Join(dir, "nodes.csv")
	write := func(text string) {
		if err := os.WriteFile(nodes, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("name,gpus\na,8\nb,8\n")
	text := strings.Replace(tiny, "{synthetic: {racks: 2, hosts: 2, gpus: 8}}", "{from: {file: nodes.csv}}", 1)
	s, err := scenario.ParseStudy("study.yaml", []byte(text+"matrix: {policy: [gang]}\n"), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewPlan(context.Background(), s, "v1", 0)
	if err != nil {
		t.Fatal(err)
	}
	write("name,gpus\na,8\nb,8\nc,8\n")
	_, err = p.Run(context.Background(), Options{Dir: filepath.Join(dir, "out")})
	wantError(t, err, "changed while it was running")
}

// Progress begins with nothing, goes up by ones and ends with everything.
func TestProgress(t *testing.T) {
	p := planOf(t, small)
	var seen []int
	o := Options{Dir: t.TempDir(), Progress: func(now Progress) { seen = append(seen, now.Done) }}
	run(t, p, o)
	if want := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}; !slices.Equal(seen, want) {
		t.Errorf("progress is %v", seen)
	}
}

// Builds without a version of their own are told apart by their program.
func TestExactVersion(t *testing.T) {
	for version, exact := range map[string]bool{"v1.2.3": true, "v0.0.0-20260101000000-abcdefabcdef": true, "devel": false, "v1.2.3+dirty": false} {
		got, err := exactVersion(version)
		if err != nil {
			t.Fatal(err)
		}
		if (got == version) != exact || !strings.HasPrefix(got, version) {
			t.Errorf("%s is taken for %s", version, got)
		}
	}
}
