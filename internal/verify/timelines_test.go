package verify

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gangplan/gangplan/internal/record"
	"github.com/gangplan/gangplan/testdata"
)

// Every recorded scenario is equal or within, and the table of docs/validation.md is what
// the suite says today.
func TestTimelines(t *testing.T) {
	cases, err := readTimelines(Options{})
	if err != nil || len(cases) < 57 {
		t.Fatal(len(cases), err)
	}
	outcomes := make([]Outcome, len(cases))
	for i, c := range cases {
		outcomes[i] = c.outcome()
		if o := &outcomes[i]; o.Verdict != Equal && o.Verdict != Within {
			t.Errorf("%s: %s", o.ID, o.Reason)
		}
	}
	sameSection(t, "timelines", timelinesTable(cases, outcomes))
}

// Every recorded scenario is a scenario file that reads back, and says the same.
func TestTimelinesAsFiles(t *testing.T) {
	for _, c := range shippedTimelines(t) {
		file, err := c.scenario.convert(c.phases[0])
		if err != nil {
			t.Errorf("%s: %v", c.ID, err)
			continue
		}
		sameAsText(t, c.ID, file)
	}
}

// A case that says something else than what was recorded is outside, and the reason names
// what it is.
func TestFalsifiedTimelines(t *testing.T) {
	line := lineOf(t, "c1")
	for _, tt := range []struct{ name, old, new, want string }{
		{"nothing", "", "", ""},
		{"an end", `"end_state": {"a": "finished"`, `"end_state": {"a": "pending"`, "end_state"},
		{"an order", `"admission_order": ["a", "b"]`, `"admission_order": ["b", "a"]`, "admission_order"},
		{"an eviction", `"admission_order"`, `"eviction_order": ["a:Preempted"], "admission_order"`, `eviction_order: want ["a:Preempted"], got []`},
		{"pods bound", `"max_bound": {"a": 8`, `"max_bound": {"a": 7`, `max_bound: want {"a":7,"b":8}, got {"a":8,"b":8}`},
		{"pods created", `"pods_created_total": {"a": 8`, `"pods_created_total": {"a": 9`, "pods_created_total"},
		{"attempts", `"sched_attempts_total": {"a": 8, "b": 8}`, `"sched_attempts_total": {"a": 8, "b": 9}`, "sched_attempts_total"},
		{"a time", `"admitted_s": [[7.292`, `"admitted_s": [[0, 0, 0], [7.292`, "b.admitted_s: want 2 times, got 1"},
		{"a later time", `"admitted_s": [[7.292, 7.363, 7.393]]`, `"admitted_s": [[9.292, 9.363, 9.393]]`, "b.admitted_s: want 8.11 to 10.58 s, got 7."},
		{"a missing field", `"admission_order": ["a", "b"], `, ``, `admission_order: want none, got ["a","b"]`},
	} {
		changed := strings.Replace(line, tt.old, tt.new, 1)
		if changed == line && tt.old != "" {
			t.Errorf("%s: nothing to change", tt.name)
		}
		o := outcomeOf(t, changed)
		if got := o.Reason; (o.Verdict == Outside) != (tt.want != "") || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %s %q, want %q", tt.name, o.Verdict, got, tt.want)
		}
	}
}

// Values that vary have to be among the recorded ones: here the numbers of a race that no
// seed can give.
func TestFalsifiedRace(t *testing.T) {
	line := lineOf(t, "b1")
	if o := outcomeOf(t, line); o.Verdict != Within || !strings.HasPrefix(o.Reason, "a race: ") {
		t.Errorf("as recorded: %s %q", o.Verdict, o.Reason)
	}
	var c map[string]any
	if err := json.Unmarshal([]byte(line), &c); err != nil {
		t.Fatal(err)
	}
	c["varies"].(map[string]any)["max_bound"] = []any{
		map[string]any{"value": map[string]any{"a": 9, "b": 0}, "runs": 1}, map[string]any{"value": map[string]any{"a": 0, "b": 9}, "runs": 1}}
	changed, _ := json.Marshal(c)
	if o := outcomeOf(t, string(changed)); o.Verdict != Outside || !strings.Contains(o.Reason, "max_bound: want one of") {
		t.Errorf("nine of eight: %s %q", o.Verdict, o.Reason)
	}
}

// A case of one's own may say as little as it likes: what it leaves out is not compared.
func TestPartialTimeline(t *testing.T) {
	var c map[string]any
	if err := json.Unmarshal([]byte(lineOf(t, "c1")), &c); err != nil {
		t.Fatal(err)
	}
	c["varies"], c["timings_min_med_max_s"] = nil, nil
	for given, verdict := range map[string]Verdict{`{}`: Equal, `{"end_state":{"a":"finished","b":"finished"}}`: Equal, `{"admission_order":["b","a"]}`: Outside} {
		c["deterministic"] = json.RawMessage(given)
		line, _ := json.Marshal(c)
		if o := outcomeOf(t, string(line)); o.Verdict != verdict {
			t.Errorf("%s: %s %s", given, o.Verdict, o.Reason)
		}
	}
}

// lineOf is the line of a shipped case.
func lineOf(t *testing.T, id string) (found string) {
	t.Helper()
	err := eachLine("", testdata.Timelines, func(line []byte) error {
		if strings.HasPrefix(string(line), `{"id": "`+id+`"`) {
			found = string(line)
		}
		return nil
	})
	if err != nil || found == "" {
		t.Fatalf("no case %s: %v", id, err)
	}
	return found
}

// outcomeOf checks a file with one case and nothing of its repetitions.
func outcomeOf(t *testing.T, line string) Outcome {
	t.Helper()
	path := filepath.Join(t.TempDir(), "timelines.jsonl")
	if err := os.WriteFile(path, []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := timelines.Check(Options{Cases: path})
	if err != nil {
		t.Fatal(err)
	}
	return r.Results[0]
}

// The repetitions are in a file beside the cases that is called alike.
func TestRunsBesideTheCases(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"timeline_runs-7.jsonl.gz", "timelines-7.jsonl.gz", "timelines.jsonl", "other.jsonl"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for cases, want := range map[string]string{"timelines-7.jsonl.gz": "timeline_runs-7.jsonl.gz", "timelines.jsonl": "", "other.jsonl": ""} {
		got := runsBeside(filepath.Join(dir, cases))
		if got != "" {
			got = filepath.Base(got)
		}
		if got != want {
			t.Errorf("beside %s: %q, want %q", cases, got, want)
		}
	}
}

// Orders that vary are the same up to writes that overtake each other.
func TestSameOrder(t *testing.T) {
	list := func(names string) any {
		var out []any
		for _, n := range strings.Fields(names) {
			out = append(out, n)
		}
		return out
	}
	const s = int64(1e9)
	for _, tt := range []struct {
		want, got string
		times     []int64
		same      bool
	}{
		{"a b c", "a b c", []int64{0, 5 * s, 9 * s}, true},
		{"b a c", "a b c", []int64{0, s / 10, 9 * s}, true},
		{"b a c", "a b c", []int64{0, s / 5, 9 * s}, false},
		{"a b a", "a a b", []int64{0, s, s + s/10}, true},
		{"c a b", "a b c", []int64{0, s / 10, s / 5}, false}, // c before a, which is too far
		{"a b", "a b c", []int64{0, s, s}, false},
		{"a b d", "a b c", []int64{0, s, s}, false},
	} {
		if sameOrder(list(tt.want), list(tt.got), tt.times) != tt.same {
			t.Errorf("%s for %s at %v: want same %t", tt.got, tt.want, tt.times, tt.same)
		}
	}
}

// Jobs that are alike may stand for one another: here the third of three equals is admitted
// where the recordings have the second.
func TestAlikeJobsAreInterchangeable(t *testing.T) {
	c := timelineByID(t, "x6")
	values := c.values(decisionOrder)
	if len(values) < 2 {
		t.Fatal("the recorded order does not vary")
	}
	classes := c.alike()
	if len(classes) != 1 || len(classes[0]) != 6 {
		t.Fatalf("classes %q, want one of six", classes)
	}
	r := &record.Record{Decisions: []string{"l0", "l1", "l2", "l3", "l4", "l5"}}
	for i, names := range c.renamings(r) {
		if i >= len(values) {
			break
		}
		if got := asJSON(renamed(r, names).Decisions); got != asJSON(values[i]) {
			t.Errorf("got %s, want %s", got, asJSON(values[i]))
		}
		if n := len(maps.Clone(names)); n != 6 {
			t.Errorf("%d names", n)
		}
	}
	if other := timelineByID(t, "c1").alike(); len(other) != 1 {
		t.Errorf("two equal jobs: %q", other)
	}
	if other := timelineByID(t, "h1").alike(); len(other) != 2 {
		t.Errorf("two jobs that differ: %q", other)
	}
}

func TestTimesWithin(t *testing.T) {
	for _, tt := range []struct {
		recorded string
		times    []int64
		want     string
	}{
		{`[[1, 2, 3]]`, []int64{2e9}, ""},
		{`[[1, 2, 3]]`, []int64{0.66e9}, ""},
		{`[[1, 2, 3]]`, []int64{0.64e9}, "want 0.65 to 3.55 s, got 0.64"},
		{`[[1, 2, 3]]`, []int64{3.56e9}, "got 3.56"},
		{`[[1, 2, 3], [10, 11, 12]]`, []int64{2e9, 20e9}, "got 20.00"},
		{`[[1, 2, 3]]`, nil, "want 1 times, got 0"},
		{`null`, []int64{1}, "want 0 times, got 1"},
		{`null`, nil, ""},
		{`[0.5, 0.7]`, []int64{0.6e9}, ""},
		{`[0.5, 0.7]`, []int64{2e9}, "want 0.20 to 1.02 s, got 2.00"},
		{`{"lengths": [3, 0]}`, nil, ""},
		{`{"lengths": [3, 0]}`, []int64{1, 2}, "want [3 0] times, got 2"},
	} {
		var recorded any
		if err := json.Unmarshal([]byte(tt.recorded), &recorded); err != nil {
			t.Fatal(err)
		}
		d := compareTimesOf("x", recorded, tt.times)
		if got := ""; d != nil {
			got = d.what
			if tt.want == "" || !strings.Contains(got, tt.want) {
				t.Errorf("%v in %s: %q, want %q", tt.times, tt.recorded, got, tt.want)
			}
		} else if tt.want != "" {
			t.Errorf("%v in %s: want %q", tt.times, tt.recorded, tt.want)
		}
	}
}

// One case among good ones that cannot be right is refused with its line, and nothing is
// written: not even what its id would name outside of the folder.
func TestTimelinesRefuse(t *testing.T) {
	good, line := lineOf(t, "a2"), lineOf(t, "c1")
	for _, tt := range []struct{ old, new, want string }{
		{`"id": "c1"`, `"id": "../c1"`, `"../c1": expected an id that can name a file`},
		{`"id": "c1"`, `"id": "a2"`, `"a2": there is a case with this id already`},
		{`"deterministic"`, `"runs"`, "c1: expected deterministic or varies"},
		{`"deterministic"`, `"determinstic"`, `unknown field "determinstic" (did you mean deterministic?)`},
		{`"pods": 8`, `"pods": -8`, "c1: job a: expected pods"},
		{`"duration_s": `, `"duration_s": 1e300, "cpu": `, "c1: job a: expected pods"},
		{`"jobs": `, `"jbos": `, `c1: scenario: json: unknown field "jbos"`},
	} {
		path, out := filepath.Join(t.TempDir(), "cases.jsonl"), filepath.Join(t.TempDir(), "in", "out")
		bad := strings.Replace(line, tt.old, tt.new, 1)
		if tt.new == `"runs"` {
			bad = strings.Replace(bad, `"varies"`, `"runs"`, 1)
		}
		if err := os.WriteFile(path, []byte(good+"\n"+bad+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := runTimelines(Options{Cases: path})
		if err == nil || !strings.Contains(err.Error(), "cases.jsonl:2: "+tt.want) {
			t.Errorf("%s: %v, want line 2 and %s", tt.new, err, tt.want)
		}
		if err := writeTimelines(Options{Cases: path}, out); err == nil {
			t.Errorf("%s: written", tt.new)
		}
		if _, err := os.Stat(filepath.Dir(out)); err == nil {
			t.Errorf("%s: there is a folder", tt.new)
		}
	}
}

// A case with an action that nobody knows is outside, and says which; the others are played.
func TestTimelinesOfUnknownActions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cases.jsonl")
	bad := strings.Replace(lineOf(t, "c1"), `"actions": []`, `"actions": [{"do": "cordon_node", "name": "w1", "at_s": 1}, {"do": "delete_pdo_on"}]`, 1)
	if err := os.WriteFile(path, []byte(bad+"\n"+lineOf(t, "a2")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := runTimelines(Options{Cases: path})
	if err != nil {
		t.Fatal(err)
	}
	if want := `the action "delete_pdo_on" (did you mean delete_pod?)`; len(out) != 2 || out[0].Verdict != Outside || out[0].Reason != want || out[1].Verdict == Outside {
		t.Errorf("%+v", out)
	}
}
