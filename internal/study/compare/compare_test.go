package compare

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gangplan/gangplan/internal/stats"
)

// Lookahead lets the last jobs go before the large one, which waits the longer for it. On
// paper: strict runs first from 0, large from 60m, small and last from 120m to 150m; lookahead
// runs small at once, last from 32m, both beside first, and large from 62m to 122m.
func TestOneSeed(t *testing.T) {
	dir := write(t, t.TempDir(), queue, "v1.0.0", []uint64{1})
	c := compared(t, filepath.Join(dir, "1", "strict"), filepath.Join(dir, "1", "lookahead"), Options{})
	const want = `A: strict · B: lookahead · seed 1

                        B is             A        B  difference          95% interval        p
jobs.finished ↑         =                4        4
makespan_seconds ↓      better       2h30m     2h2m        −28m  −18.7%                  exact
wait.mean_seconds ↓     one seed     1h14m   22m30s        −51m  −69.4%
wait.p50_seconds ↓      one seed       59m       0s        −59m  −100.0%
wait.p95_seconds ↓      one seed     1h58m     1h1m        −57m  −48.3%
`
	got := rendered(t, c, "table")
	for line := range strings.Lines(want) {
		if squeeze(line) != "" && !strings.Contains(squeeze(got), squeeze(line)) {
			t.Errorf("no line %q in\n%s", line, got)
		}
	}
	if r := c.rowOfMetric(t, "wait.by_job_seconds"); r.Pairs != 4 || r.Lower != 2 || r.Higher != 1 || *r.Difference != -44*60 {
		t.Errorf("by job: %+v", r)
	}
	if c.Groups[0].Jobs.Paired != 4 || c.codes() != "one-seed dependent-jobs" || c.Worsened() {
		t.Errorf("%+v; warnings %q; worsened %v", c.Groups[0].Jobs, c.codes(), c.Worsened())
	}
}

func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }

// Ten seeds: every row is what the tests of package stats say of the runs' own summaries.
func TestSeeds(t *testing.T) {
	dir := write(t, t.TempDir(), crowd, "v1.0.0", upTo(10))
	a, b := load(t, dir+"/policy=gang"), load(t, dir+"/policy=gang-topology")
	c, err := Compare(a, b, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var ds, ps []float64
	for i := range a.runs {
		x, _ := a.runs[i].Summary.Metrics.Get("wait.mean_seconds")
		y, _ := b.runs[i].Summary.Metrics.Get("wait.mean_seconds")
		ds = append(ds, y-x)
	}
	r := c.rowOfMetric(t, "wait.mean_seconds")
	if *r.P != stats.SignedRank(ds).P || *r.Difference != stats.Median(ds) || r.Pairs != 10 || r.Test != signedRank {
		t.Errorf("%+v, differences %v", r, ds)
	}
	for i := range c.Groups[0].Rows {
		if p := c.Groups[0].Rows[i].P; p != nil {
			ps = append(ps, *p)
		}
	}
	adjusted := stats.Holm(ps)
	for i := range c.Groups[0].Rows {
		if row := &c.Groups[0].Rows[i]; row.P != nil {
			if *row.Adjusted != adjusted[0] {
				t.Errorf("%s: Holm %v, want %v", row.Metric, *row.Adjusted, adjusted[0])
			}
			adjusted = adjusted[1:]
		}
	}
	if c.A.Name != "gang" || c.B.Name != "gang-topology" || c.A.Runs != 10 || len(c.Groups) != 1 || c.codes() != "" {
		t.Errorf("%+v, %+v, %d groups, warnings %q", c.A, c.B, len(c.Groups), c.codes())
	}
	checkMirror(t, c, compared(t, dir+"/policy=gang-topology", dir+"/policy=gang", Options{}))
	for line := range strings.Lines(rendered(t, c, "table")) {
		if n := len([]rune(strings.TrimRight(line, "\n"))); n > 100 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

// checkMirror wants B against A to be the reverse of A against B.
func checkMirror(t *testing.T, ab, ba *Comparison) {
	t.Helper()
	reverse := map[Verdict]Verdict{Better: Worse, Worse: Better, Same: Same, Unclear: Unclear, Changed: Changed}
	for i := range ab.Groups[0].Rows {
		x, y := &ab.Groups[0].Rows[i], &ba.Groups[0].Rows[i]
		if x.Metric != y.Metric || x.d != -y.d || x.a != y.b || reverse[x.Verdict] != y.Verdict || x.Lower != y.Higher {
			t.Errorf("%+v\nis not the reverse of\n%+v", x, y)
		}
		if x.P != nil && (*x.P != *y.P || x.interval.Low != -y.interval.High) {
			t.Errorf("%s: p %v and %v, intervals %v and %v", x.Metric, *x.P, *y.P, x.interval, y.interval)
		}
	}
}

// The shorter run of a pair is kept on to the later end: both account for the same capacity.
func TestKeptOn(t *testing.T) {
	dir := write(t, t.TempDir(), queue, "v1.0.0", []uint64{1})
	c := compared(t, dir+"/policy=strict", dir+"/policy=lookahead", Options{Metrics: []string{"gpu_hours."}})
	if r := c.rowOfMetric(t, "gpu_hours.capacity"); r.Verdict != Same || math.Abs(*r.A-40) > 1e-9 { // 16 GPUs, 2.5 h
		t.Errorf("%+v", r)
	}
	if r := c.rowOfMetric(t, "gpu_hours.useful"); r.Verdict != Same || math.Abs(*r.A-32) > 1e-9 {
		t.Errorf("%+v", r)
	}
}

// Runs of different `until` that still run jobs cannot be kept on.
func TestNotKeptOn(t *testing.T) {
	a := write(t, t.TempDir(), queue, "v1.0.0", []uint64{1}, "policies:", "until: 90m\npolicies:")
	b := write(t, t.TempDir(), queue, "v1.0.0", []uint64{1})
	_, err := Compare(load(t, a), load(t, b), Options{})
	if err == nil || !strings.Contains(err.Error(), "give the runs the same `until`") {
		t.Error(err)
	}
}

func TestWarnings(t *testing.T) {
	const only = "policies: [gang, gang-topology]"
	gangs := func(version string, seeds []uint64, changes ...string) string {
		return write(t, t.TempDir(), crowd, version, seeds, append(changes, only, "policies: [gang]")...)
	}
	base := gangs("v1.0.0", upTo(6))
	one := func(seed string) string { return filepath.Join(base, seed, "gang") }
	other := strings.Replace(crowd, only, "until: 60w\npolicies: [gang]", 1)
	for _, c := range []struct{ name, a, b, want string }{
		{"the same", base, base, "identical same-path"},
		{"another version", base, gangs("v1.1.0", upTo(6)), "versions-differ identical"},
		{"other seeds", base, gangs("v1.0.0", []uint64{11, 12, 13, 14}), "unpaired"},
		{"few other seeds", one("1"), gangs("v1.0.0", []uint64{11, 12}), "unpaired few-seeds"},
		{"some seeds more", base, gangs("v1.0.0", upTo(7)), "no-partner identical"},
		{"one seed, another seed", one("1"), one("2"), "seeds-differ one-seed jobs-differ dependent-jobs"},
		{"another load", base, gangs("v1.0.0", upTo(6), "load: 1", "load: 2"), "few-seeds scenarios-differ jobs-differ"},
		{"more jobs", one("1"), filepath.Join(gangs("v1.0.0", upTo(1), "jobs: 24", "jobs: 28"), "1"), "one-seed scenarios-differ jobs-without-partner jobs-differ dependent-jobs"},
		{"an until", one("1"), filepath.Join(write(t, t.TempDir(), other, "v1.0.0", upTo(1)), "1"), "one-seed scenarios-differ until-differs identical"},
	} {
		got := compared(t, c.a, c.b, Options{})
		if got.codes() != c.want {
			t.Errorf("%s: %q, want %q", c.name, got.codes(), c.want)
			for _, w := range got.Warnings {
				t.Log(w.Text)
			}
		}
	}
	if c := compared(t, write(t, t.TempDir(), crowd, "v1.0.0", upTo(1)), one("1"), Options{}); c.codes() != "no-partner one-seed identical" {
		t.Errorf("one policy more: %q", c.codes())
	}
}

// What a run is paired with is said by the dimensions that vary on a side.
func TestGroups(t *testing.T) {
	dir := swept(t, "matrix:\n  cluster.synthetic.hosts: [2, 3]\n  seed: 1..6\n")
	byHosts := compared(t, dir+"/policy=gang", dir+"/policy=gang-topology", Options{})
	if len(byHosts.Groups) != 2 || placeOf(byHosts.Groups[0].Of) != "hosts=2" || placeOf(byHosts.Groups[1].Of) != "hosts=3" || len(byHosts.Groups[0].Seeds) != 6 {
		t.Errorf("%+v", byHosts.Groups)
	}
	byPolicy := compared(t, dir+"/hosts=2", dir+"/hosts=3", Options{})
	if len(byPolicy.Groups) != 2 || placeOf(byPolicy.Groups[0].Of) != "policy=gang" || byPolicy.A.Name != "hosts=2" || byPolicy.B.Name != "hosts=3" {
		t.Errorf("%+v", byPolicy)
	}
	if strings.Contains(byPolicy.codes(), "scenarios-differ") {
		t.Errorf("a sweep over hosts warns of them: %q", byPolicy.codes())
	}
	one := compared(t, dir+"/hosts=2/policy=gang/seed=3", dir+"/seed=3/policy=gang/hosts=3", Options{})
	if len(one.Groups) != 1 || len(one.Groups[0].Of) != 0 || one.Groups[0].Seeds[0] != 3 {
		t.Errorf("%+v", one.Groups)
	}
	if got := rendered(t, byHosts, "table"); !strings.Contains(got, "A: gang · B: gang-topology · hosts=3 · 6 seeds\n") {
		t.Error(got)
	}
}

func TestLoadErrors(t *testing.T) {
	dir := write(t, t.TempDir(), queue, "v1.0.0", []uint64{1})
	if err := os.Mkdir(filepath.Join(dir, "empty"), 0o777); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		dir + "/policy=strikt":         "no run has policy=strikt: expected one of lookahead, strict (did you mean strict?)",
		dir + "/polcy=strict":          `the runs do not differ by "polcy": expected one of policy, seed (did you mean policy?)`,
		dir + "/seed=2":                "no run has seed=2: expected one of 1",
		dir + "/none":                  "expected a run directory, but nothing is there",
		filepath.Join(dir, "empty"):    "holds no run",
		dir + "/policy=strict/seed=10": "no run has seed=10",
	} {
		if _, err := Load(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
	}
	if err := os.Rename(filepath.Join(dir, "1"), filepath.Join(dir, "empty", "1")); err != nil {
		t.Fatal(err)
	}
	twice := t.TempDir()
	write(t, filepath.Join(twice, "x"), queue, "v1.0.0", []uint64{1})
	write(t, twice, queue, "v1.0.0", []uint64{1})
	if err := os.Rename(filepath.Join(twice, "x", "1"), filepath.Join(twice, "2")); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(twice); err == nil || !strings.Contains(err.Error(), "are both of policy=lookahead, seed 1: expected one run of each") {
		t.Error(err)
	}
}

func TestNothingInCommon(t *testing.T) {
	a := write(t, t.TempDir(), queue, "v1.0.0", []uint64{1})
	b := write(t, t.TempDir(), crowd, "v1.0.0", []uint64{1})
	_, err := Compare(load(t, a), load(t, b), Options{})
	if err == nil || !strings.Contains(err.Error(), "they have policy=lookahead; policy=strict and policy=gang; policy=gang-topology") {
		t.Error(err)
	}
}

func TestMetrics(t *testing.T) {
	got, err := chosen([]string{"utilisation", "jct.*", "requeues"})
	if err != nil || len(got) != 8 || got[6].Name != "requeues" || got[7].Name != "utilisation" {
		t.Errorf("%d metrics, %v, not in the order of the registry", len(got), err)
	}
	if _, err := chosen([]string{"utilization"}); err == nil || !strings.Contains(err.Error(), "did you mean utilisation?") {
		t.Error(err)
	}
	for _, name := range Usual {
		metricOf(t, name)
	}
	for name := range phrases {
		if !strings.Contains(name, "by_job") {
			metricOf(t, name)
		}
	}
}

// A run that keeps no tables is compared all the same, but for its jobs.
func TestWithoutTables(t *testing.T) {
	dir := write(t, t.TempDir(), queue, "v1.0.0", []uint64{1})
	for _, policy := range []string{"strict", "lookahead"} {
		tables, err := filepath.Glob(filepath.Join(dir, "1", policy, "*.parquet"))
		if err != nil || len(tables) == 0 {
			t.Fatal(tables, err)
		}
		for _, f := range tables {
			if err := os.Remove(f); err != nil {
				t.Fatal(err)
			}
		}
	}
	c := compared(t, dir+"/policy=strict", dir+"/policy=lookahead", Options{})
	if c.codes() != "no-jobs one-seed" || c.Groups[0].Jobs != nil || len(c.Groups[0].Rows) < 8 {
		t.Errorf("%q, %+v", c.codes(), c.Groups[0].Jobs)
	}
}

func TestFormats(t *testing.T) {
	dir := write(t, t.TempDir(), queue, "v1.0.0", []uint64{1})
	c := compared(t, dir+"/policy=strict", dir+"/policy=lookahead", Options{Metrics: []string{"makespan_seconds", "wait.p50_seconds"}})
	c.A.Path, c.B.Path = "a", "b"
	for format, want := range map[string]string{
		"csv": `group,metric,unit,better,verdict,a,b,difference,relative,low,high,test,pairs,lower,higher,p,p_holm
,makespan_seconds,s,lower,better,9000,7320,-1680,-0.18666666666666668,,,exact,1,1,0,,
,wait.p50_seconds,s,lower,single,3540,0,-3540,-1,,,none,1,1,0,,
`,
		"markdown": `**A: strict · B: lookahead · seed 1**

|  | B is | A | B | difference |  | 95% interval | p |
|:--|:--|--:|--:|--:|--:|--:|--:|
| makespan_seconds ↓ | better | 2h30m | 2h2m | −28m | −18.7% |  | exact |
| wait.p50_seconds ↓ | one seed | 59m | 0s | −59m | −100.0% |  |  |
`,
		"benchfmt": `Unit makespan_seconds better=lower
Unit makespan_seconds assume=exact
Unit wait.p50_seconds better=lower
BenchmarkRun/policy=strict 1 9000 makespan_seconds 3540 wait.p50_seconds
BenchmarkRun/policy=lookahead 1 7320 makespan_seconds 0 wait.p50_seconds
`,
		"table": "lookahead is done 28m sooner than strict (−18.7%), exactly, with one seed.\n",
	} {
		if got := rendered(t, c, format); !strings.HasPrefix(got, want) && format != "table" || !strings.Contains(got, want) {
			t.Errorf("%s:\n%s\nwant\n%s", format, got, want)
		}
	}
	var back map[string]any
	if err := json.Unmarshal([]byte(rendered(t, c, "json")), &back); err != nil || back["confidence"] != 0.95 {
		t.Error(err, back)
	}
	if CheckFormat("tabel") == nil || CheckFormat("benchfmt") != nil {
		t.Error("formats")
	}
}

func TestSentences(t *testing.T) {
	dir := write(t, t.TempDir(), crowd, "v1.0.0", upTo(10))
	c := compared(t, dir+"/policy=gang", dir+"/policy=gang-topology", Options{Metrics: []string{"wait.mean_seconds", "jobs.finished"}})
	r := c.rowOfMetric(t, "wait.mean_seconds")
	text := strings.Join(c.Groups[0].Sentences, "\n")
	want := "gang-topology waits " + strings.TrimPrefix(r.signed(r.d), "−") + " less on average than gang (" + percentText(*r.Relative) +
		"; 95% CI " + r.intervalText() + "), p" + equation(*r.Adjusted) + ", 10 seeds."
	if r.Verdict != Better || !strings.Contains(text, want) {
		t.Errorf("%s: no sentence %q in\n%s", r.Verdict, want, text)
	}
	same := compared(t, dir+"/policy=gang", dir+"/policy=gang", Options{})
	if got := strings.Join(same.Groups[0].Sentences, "\n"); got != "A and B do not differ in any of 12 metrics." {
		t.Error(got)
	}
}
