package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gangplan/gangplan/sim"
)

func number64(v float64) *float64 { return &v }

// gateMetric is a metric that is not better than it was, by its rule.
func gateMetric(name, better, rule string, baseline, value *float64, v GateVerdict) GateMetric {
	m := GateMetric{Name: name, Unit: "s", Better: better, Rule: rule, Baseline: baseline, Value: value, Verdict: v}
	switch {
	case baseline == nil:
	case rule == "exact":
		m.Limit = GateLimit{baseline, baseline}
	case better == "lower":
		m.Limit.High = number64(*baseline * 1.02)
	case better == "higher":
		m.Limit.Low = number64(*baseline * 0.98)
	}
	return m
}

// someGate has everything that there is to be said.
func someGate() *Gate {
	cfg := handmade(2, 4).Config
	late := sim.Transition{Time: 300 * sec, Kind: sim.Admit, Job: 1, Rank: -1, Place: 0, Count: 1, Why: sim.Why(sim.ReasonShape)}
	early := late
	early.Time, early.Why = 60*sec, 0
	worse := GatePolicy{Label: "gang", Notes: []string{"parameters: strategy was queue and is StrictFIFO"},
		Digests: []GateDigest{{1, "0000000000000abc", "0000000000000def", GateChanged}},
		Metrics: []GateMetric{
			gateMetric("jobs.finished", "higher", "exact", number64(10), number64(9), GateFailed),
			gateMetric("requeues", "lower", "exact", number64(0), number64(3), GateFailed),
			gateMetric("wait.p50_seconds", "lower", "2%", number64(100), number64(101), GateChanged),
			gateMetric("wait.p95_seconds", "lower", "2%", number64(4800), nil, GateFailed),
			gateMetric("wait.max_seconds", "lower", "2%", number64(1e6), number64(1e5), GateBetter),
			gateMetric("jct.mean_seconds", "lower", "2%", number64(1.0000001), number64(1.0000002), GateChanged),
			gateMetric("jct.p50_seconds", "lower", "any", number64(7), number64(7), GateOK),
			gateMetric("gpu_hours.useful", "higher", "exact", number64(10), number64(20), GateFailed),
			{Name: "utilisation", Better: "higher", Rule: "exact", Value: number64(0.5), Verdict: GateNew},
			{Name: "wait.p42_seconds", Better: "neutral", Rule: "exact", Baseline: number64(5), Verdict: GateMissing},
		},
		Parting: NewGateParting(cfg, 1, with(early), with(late)),
	}
	seeds := GatePolicy{Label: "gang|topology", Digests: []GateDigest{{1, "01", "02", GateChanged}, {2, "03", "03", GateOK}},
		Metrics: []GateMetric{
			{Name: "wait.p95_seconds", Unit: "s", Better: "lower", Rule: "1%", Baseline: number64(10), Limit: GateLimit{nil, number64(10.1)}, Value: number64(12),
				Change: &GateChange{2, -1, math.Inf(1)}, Differ: 1, Verdict: GateChanged},
			{Name: "wait.p99_seconds", Unit: "s", Better: "lower", Rule: "1%", Baseline: number64(10), Limit: GateLimit{nil, number64(10.1)}, Value: number64(5),
				Change: &GateChange{-5, -6, -4}, Differ: 2, Verdict: GateBetter},
		}}
	g := &Gate{Version: "v0.2.0", Corpus: "corpus", Scenarios: []GateScenario{
		{Name: "equal", File: "corpus/equal.yaml", Policies: []GatePolicy{{Label: "gang", Digests: []GateDigest{{1, "01", "01", GateOK}},
			Metrics: []GateMetric{gateMetric("requeues", "lower", "exact", number64(2), number64(2), GateOK)}}}},
		{Name: "worse", File: "corpus/worse.yaml", Notes: []string{"the baseline is of gangplan v0.1.0, this is v0.2.0"}, Policies: []GatePolicy{worse,
			{Label: "gone", Problem: "the baseline has this policy, the scenario does not"}}},
		{Name: "seeds", File: "corpus/seeds.yaml", Policies: []GatePolicy{seeds}},
		{Name: "fresh", File: "corpus/fresh.yaml", Problem: "there is no baseline; gangplan check corpus --update takes it as it is now"},
	}}
	g.Finish()
	return g
}

func written(t *testing.T, write func(w io.Writer) error) string {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestGateRenderings(t *testing.T) {
	g := someGate()
	if g.Passed {
		t.Error("passed")
	}
	for _, format := range GateFormats() {
		text := written(t, func(w io.Writer) error { return g.Write(w, format, GateOptions{}) })
		golden(t, "gate."+format, text)
		for line := range strings.Lines(text) {
			if n := len([]rune(line)); format == "table" && n > terminal+1 && !strings.HasPrefix(line, "failed: ") {
				t.Errorf("%d columns: %s", n, line)
			}
		}
	}
	golden(t, "gate.verbose", written(t, func(w io.Writer) error { return g.Write(w, "table", GateOptions{Verbose: true}) }))
	golden(t, "gate.github", written(t, g.WriteGitHub))
	golden(t, "gate.xml", written(t, g.WriteJUnit))
	if err := g.Write(io.Discard, "jsn", GateOptions{}); err == nil || !strings.Contains(err.Error(), "table, json, markdown") {
		t.Errorf("error %v", err)
	}
}

// Numbers that differ are never written the same.
func TestApart(t *testing.T) {
	for _, c := range []struct {
		a, b float64
		want string
	}{{0.46866138888888886, 0.4686623888888889, "0.468661 0.468662"}, {1, math.Nextafter(1, 2), "1 1.0000000000000002"},
		{1234567.25, 1234567.5, "1234567 1234568"}, {1e300, math.Nextafter(1e300, 1e301), ""}} {
		if x, y := apart(c.a, c.b); x == y || c.want != "" && x+" "+y != c.want {
			t.Errorf("%s and %s, want %s", x, y, c.want)
		}
	}
}

// After an update everything that changed is listed, and nothing fails.
func TestGateUpdated(t *testing.T) {
	g := someGate()
	g.Updated = true
	for i, what := range []string{"unchanged", "rewritten", "rewritten", "new"} {
		g.Scenarios[i].Problem, g.Scenarios[i].Baseline = "", what
	}
	g.Scenarios = append(g.Scenarios, GateScenario{Name: "old", Baseline: "removed"})
	g.Finish()
	if !g.Passed {
		t.Error("an update is not passed")
	}
	golden(t, "gate.updated", written(t, func(w io.Writer) error { return g.Write(w, "table", GateOptions{}) }))
}

// A gate of which nothing is to be said says so in two lines; what is better is said too.
func TestGatePassed(t *testing.T) {
	g := someGate()
	for _, c := range []struct {
		keep []GateScenario
		want string
	}{
		{g.Scenarios[:1], "corpus · 1 scenario, 1 run, 1 metric · gangplan v0.2.0\n\n✓ 1 scenario: equal to the baseline\npassed\n"},
		{g.Scenarios[2:3], "passed; the baselines can be brought up to date by gangplan check corpus --update\n"},
	} {
		passed := &Gate{Version: g.Version, Corpus: g.Corpus, Scenarios: c.keep}
		passed.Finish()
		text := written(t, func(w io.Writer) error { return passed.Write(w, "table", GateOptions{}) })
		if !passed.Passed || !strings.HasSuffix(text, c.want) {
			t.Errorf("passed %v:\n%s", passed.Passed, text)
		}
	}
}

// many is a gate of which n policies fail, each a little worse than the one before.
func many(n int) *Gate {
	g := &Gate{Corpus: "corpus"}
	for i := range n {
		p := GatePolicy{Label: "gang", Metrics: []GateMetric{gateMetric("requeues", "lower", "exact", number64(100), number64(101+float64(i)), GateFailed)}}
		if i%2 == 1 {
			p.Metrics[0].Verdict = GateBetter
		}
		g.Scenarios = append(g.Scenarios, GateScenario{Name: fmt.Sprintf("s%03d", i), File: fmt.Sprintf("corpus/s%03d.yaml", i), Policies: []GatePolicy{p}})
	}
	g.Finish()
	return g
}

// GitHub shows ten annotations of a kind: the worst come first, and one says how many more.
func TestAnnotationsAreCapped(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(written(t, many(60).WriteGitHub)), "\n")
	if len(lines) != 21 {
		t.Fatalf("%d lines", len(lines))
	}
	for i, begin := range map[int]string{0: "::error file=corpus/s058.yaml,", 9: "::error file=corpus/s040.yaml,", 10: "::warning file=corpus/s059.yaml,",
		20: "::notice title=gangplan check::40 more are not shown. "} {
		if !strings.HasPrefix(lines[i], begin) {
			t.Errorf("line %d is %s, want %s", i, lines[i], begin)
		}
	}
	if text := written(t, many(20).WriteGitHub); strings.Count(text, "\n") != 20 || strings.Contains(text, "notice") {
		t.Errorf("of twenty, ten of a kind, not all are shown:\n%s", text)
	}
}

// What stands in an annotation cannot end it or begin another property.
func TestAnnotationsAreEscaped(t *testing.T) {
	g := &Gate{Corpus: "corpus", Scenarios: []GateScenario{{Name: "a,b:c", File: "x,y:z%.yaml", Problem: "100%\r\n::error::no"}}}
	want := "::error file=x%2Cy%3Az%25.yaml,line=1,title=a%2Cb%3Ac::100%25%0D%0A::error::no\n"
	if got := written(t, g.WriteGitHub); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A summary ends with whole sections and says what is left out, whatever the limit.
func TestSummaryIsCapped(t *testing.T) {
	g := many(400)
	whole := g.Summary(math.MaxInt)
	for _, limit := range []int{0, 10, 300, 500, 2000, 20_000, len(whole) + cutRoom} {
		text := g.Summary(limit)
		if limit > 400 && len(text) > limit {
			t.Errorf("%d bytes, limit %d", len(text), limit)
		}
		if cut := strings.Contains(text, "are left out"); limit > 400 && cut == (text == whole) {
			t.Errorf("limit %d: cut %v", limit, cut)
		}
		if strings.Count(text, "|")%7 != 0 {
			t.Errorf("limit %d: a row is cut", limit)
		}
	}
}

// The file of a summary is appended to, and stays one that GitHub shows.
func TestAppendSummary(t *testing.T) {
	path := filepath.Join(t.TempDir(), "summary.md")
	before := strings.Repeat("x", SummaryLimit-3000)
	if err := os.WriteFile(path, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := many(300).AppendSummary(path); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil || len(got) >= SummaryLimit || len(got) <= len(before)+1000 || !strings.Contains(string(got[len(before):]), "are left out") {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	for range 3 { // there is no room any more
		if err := many(300).AppendSummary(path); err != nil {
			t.Fatal(err)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Size() >= SummaryLimit {
		t.Errorf("%v, %v", info, err)
	}
	if err := many(1).AppendSummary(filepath.Join(path, "below")); err == nil {
		t.Error("written below a file")
	}
}

// A JUnit report is well-formed whatever names there are, and is written whole or not at all.
func TestSaveJUnit(t *testing.T) {
	g := someGate()
	g.Scenarios[0].Name = "a<b>&\"\x00\x1b"
	g.Scenarios[1].Policies[0].Notes = []string{"]]> \x00\x1b \uFFFF"}
	path := filepath.Join(t.TempDir(), "junit.xml")
	if err := g.SaveJUnit(path); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var got junitSuites
	if err := xml.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	failures, cases := 0, 0
	for _, s := range got.Suites {
		for _, c := range s.Cases {
			if cases++; c.Failure != nil {
				failures++
			}
		}
	}
	if got.Failures != failures || got.Tests != cases || failures != 7 {
		t.Errorf("%d failures of %d tests, %d and %d counted", got.Failures, got.Tests, failures, cases)
	}
	nowhere := filepath.Join(filepath.Dir(path), "no", "junit.xml")
	if err := g.SaveJUnit(nowhere); err == nil {
		t.Error("written into a folder that is not there")
	}
	if err := os.MkdirAll(filepath.Join(filepath.Dir(nowhere), "junit.xml", "full"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := g.SaveJUnit(nowhere); err == nil || !strings.Contains(err.Error(), "junit.xml") {
		t.Errorf("error %v", err)
	}
	if left, err := os.ReadDir(filepath.Dir(nowhere)); err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// A writer that fails is reported by every rendering.
func TestGateFailedWrites(t *testing.T) {
	g := someGate()
	full := errors.New("no space")
	for name, write := range map[string]func(w io.Writer) error{"junit": g.WriteJUnit, "github": g.WriteGitHub,
		"table":    func(w io.Writer) error { return g.Write(w, "table", GateOptions{}) },
		"json":     func(w io.Writer) error { return g.Write(w, "json", GateOptions{}) },
		"markdown": func(w io.Writer) error { return g.Write(w, "markdown", GateOptions{}) }} {
		if err := write(failingWriter{full}); !errors.Is(err, full) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }

// JSON has null for what is infinite, and says of every metric what it is held to.
func TestGateJSON(t *testing.T) {
	var got struct {
		Passed    bool
		Scenarios []struct {
			Policies []struct {
				Metrics []struct {
					Name, Rule, Verdict string
					Limit               struct{ Low, High *float64 }
					Change              *struct{ Median, Low, High *float64 }
				}
				First *struct {
					Common          int
					Baseline, Value struct {
						Time int64 `json:"time_ns"`
						Job  string
						Why  string
					}
				} `json:"first_difference"`
			}
		}
	}
	if err := json.Unmarshal([]byte(written(t, func(w io.Writer) error { return someGate().Write(w, "json", GateOptions{}) })), &got); err != nil {
		t.Fatal(err)
	}
	m := got.Scenarios[2].Policies[0].Metrics[0]
	if got.Passed || m.Verdict != "changed" || m.Limit.Low != nil || *m.Limit.High != 10.1 || m.Change.High != nil || *m.Change.Low != -1 {
		t.Errorf("%+v", m)
	}
	if f := got.Scenarios[1].Policies[0].First; f.Common != 5 || f.Baseline.Time != 60*sec || f.Value.Time != 300*sec || f.Value.Job != "job-B" || f.Value.Why != "shape" {
		t.Errorf("%+v", f)
	}
}
