package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gangplan/gangplan/sim"
)

func render(t *testing.T, format string, d *Document) string {
	t.Helper()
	var b strings.Builder
	if err := Render(&b, format, d); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// The JSON is the contract of `run` and `demo`: these keys, metrics in the order of the
// registry, null where there is no number.
func TestJSONShape(t *testing.T) {
	r := handmade(1, 8)
	r.Findings = []sim.Finding{{Kind: sim.NeverFits, Time: 5, Jobs: []int32{0}, Detail: "too <big> & wide"}}
	text := render(t, "json", &Document{Runs: []Run{NewRun("gang/pack", r, nil)}})
	var doc map[string][]map[string]any
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	if len(doc) != 1 {
		t.Errorf("fields that nobody filled in are written: %s", text)
	}
	run := doc["runs"][0]
	if run["policy"] != "gang/pack" || run["seed"] != 1.0 || run["digest"] != "0000000000000abc" {
		t.Errorf("the run is not named: %v", run)
	}
	if v, there := run["metrics"].(map[string]any)["wait.p50_seconds"]; v != nil || !there {
		t.Errorf("wait.p50_seconds is %v, there %v; want null", v, there)
	}
	if !strings.Contains(text, `"too <big> & wide"`) {
		t.Error("text is escaped for HTML")
	}
	verdict := run["verdicts"].([]any)[0].(map[string]any)
	want := map[string]any{"kind": "never_fits", "time_ns": 5.0, "jobs": []any{"job-A"}, "detail": "too <big> & wide"}
	if !reflect.DeepEqual(verdict, want) {
		t.Errorf("verdict %v, want %v", verdict, want)
	}
}

func TestJSONKeepsTheOrderOfTheRegistry(t *testing.T) {
	text := render(t, "json", story())
	at := 0
	for _, m := range Metrics() {
		next := strings.Index(text[at:], `"`+m.Name+`":`)
		if next < 0 {
			t.Fatalf("%s is missing or out of order", m.Name)
		}
		at += next
	}
}

func TestJSONRoundTrip(t *testing.T) {
	d := story()
	var back Document
	if err := json.Unmarshal([]byte(render(t, "json", d)), &back); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(&back, d) {
		t.Error("a document does not read back as it was written")
	}
}

func TestValuesFromStrangers(t *testing.T) {
	var vs Values
	if err := json.Unmarshal([]byte(`{"their.metric": 2, "jobs.finished": 3, "wait.p95_seconds": null}`), &vs); err != nil {
		t.Fatal(err)
	}
	if v, ok := vs.Get("jobs.finished"); v != 3 || !ok {
		t.Error("a metric out of place is not found")
	}
	if v, ok := vs.Get("their.metric"); v != 2 || !ok {
		t.Error("a metric that is not in the registry is not found")
	}
	if _, ok := vs.Get("wait.p95_seconds"); ok {
		t.Error("null has a value")
	}
	if _, ok := vs.Get("requeues"); ok {
		t.Error("what is not there has a value")
	}
	for _, bad := range []string{`[]`, `{"a": "text"}`, `7`} {
		if json.Unmarshal([]byte(bad), &vs) == nil {
			t.Errorf("%s is taken for metrics", bad)
		}
	}
}

func TestCSVHasALinePerRun(t *testing.T) {
	d := story()
	records, err := csv.NewReader(strings.NewReader(render(t, "csv", d))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(records) != 1+len(d.Runs) || len(records[0]) != 4+len(Metrics()) {
		t.Fatalf("%d lines of %d fields", len(records), len(records[0]))
	}
	p95 := slices.Index(records[0], "wait.p95_seconds")
	if records[1][p95] != "" || records[2][p95] != "2803" {
		t.Errorf("wait.p95_seconds is %q and %q", records[1][p95], records[2][p95])
	}
}

// Every kind of value, nested both ways.
func TestYAML(t *testing.T) {
	var b bytes.Buffer
	v := map[string]any{"a": []any{1, "x: y", nil, true}, "b": map[string]any{"c": []any{}}, "d": []any{map[string]any{"e": 1.5, "f": "#"}}, "g": map[string]any{}}
	if err := writeYAML(&b, v); err != nil {
		t.Fatal(err)
	}
	want := "a:\n  - 1\n  - \"x: y\"\n  - null\n  - true\nb:\n  c: []\nd:\n  - e: 1.5\n    f: \"#\"\ng: {}\n"
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}

func TestUnknownFormat(t *testing.T) {
	var b strings.Builder
	err := Render(&b, "xml", story())
	if err == nil || b.Len() > 0 || !strings.Contains(err.Error(), "table, wide, json, yaml, csv, markdown") {
		t.Errorf("error %v, output %q", err, b.String())
	}
}

type brokenPipe struct{ left int }

func (p *brokenPipe) Write(b []byte) (int, error) {
	if p.left -= len(b); p.left < 0 {
		return 0, errPipe
	}
	return len(b), nil
}

var errPipe = &json.UnsupportedValueError{Str: "broken pipe"}

func TestRenderReportsTheWritersError(t *testing.T) {
	for _, format := range Formats() {
		if err := Render(&brokenPipe{left: 10}, format, story()); err == nil {
			t.Errorf("%s: no error", format)
		}
	}
}

func TestMarkdownEscapes(t *testing.T) {
	d := story()
	d.Runs[0].Policy = "a|b<c"
	d.Warnings = []string{"line\nbreak `x`"}
	text := render(t, "markdown", d)
	if !strings.Contains(text, `| a\|b&lt;c |`) || !strings.Contains(text, "- line break \\`x\\`\n") {
		t.Errorf("not escaped:\n%s", text)
	}
}

// Verdicts of one kind and reason are told together, each job named once.
func TestSummarise(t *testing.T) {
	all := summarise([]Verdict{
		{Kind: "never_fits", TimeNanos: 60e9, Jobs: []string{"a"}, Detail: "too big"},
		{Kind: "livelock", TimeNanos: 90e9, Jobs: []string{"a"}},
		{Kind: "never_fits", TimeNanos: 95e9, Jobs: []string{"b", "c"}, Detail: "too big"},
		{Kind: "never_fits", TimeNanos: 96e9, Jobs: []string{"a", "d"}, Detail: "too big"},
	})
	var got []string
	for _, s := range all {
		got = append(got, s.text())
	}
	want := []string{"3 × never fits, first at 1m: a, b, c and 1 more (too big)", "livelock at 1m30s: a"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestSeedsAreShownWhenTheyDiffer(t *testing.T) {
	d := story()
	d.Runs[1].Seed = 2
	text := render(t, "table", d)
	if !strings.Contains(text, "\nseed ") {
		t.Error("runs of different seeds look alike")
	}
}

func TestDecimalsFollowTheCluster(t *testing.T) {
	for capacity, want := range map[float64]int{10: 2, 100: 1, 99_999: 1, 100_000: 0} {
		c := newContext([]Run{{Metrics: Values{{Name: "gpu_hours.capacity", Number: capacity}}}})
		if c.decimals != want {
			t.Errorf("%v GPU-hours with %d decimals, want %d", capacity, c.decimals, want)
		}
	}
}
