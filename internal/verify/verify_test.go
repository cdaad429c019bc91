package verify

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gangplan/gangplan/testdata"
)

// mustBeExact are the scenarios that gangplan answers, each by the start of the ids of its
// variants and policies. A line is added when a scenario becomes exact, and stays.
const mustBeExact = `
PG-01 PG-02 PG-03 WR-01 WR-02 WR-03 TR-05
WR-04 WR-08 QF-01/StrictFIFO QF-01/BestEffortFIFO QF-02/StrictFIFO QF-02/BestEffortFIFO QF-09 QF-10/FIFO
FR-01 FR-03/pod-default/pack EL-01 WR-10 PQ-01 PQ-02 PQ-03 PQ-04 PQ-05 PQ-11 PQ-13 CP-01
`

// The counts of today: fewer would mean that something is passed over.
const leastCases, leastExact = 94, 57

func TestScenarios(t *testing.T) {
	r, err := scenarios.Check(Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range r.Mismatches {
		t.Errorf("%s: want %v, got %v", m.ID, m.Want, m.Got)
	}
	for _, c := range r.Results {
		if c.Verdict != Equal && c.Reason == "" {
			t.Errorf("%s is %s without a reason", c.ID, c.Verdict)
		}
	}
	// CP-03 alone is of chance.
	within := slices.IndexFunc(r.Results, func(c Outcome) bool { return c.Verdict == Within })
	if r.Cases < leastCases || r.Exact < leastExact || r.Within != 1 || r.Results[within].ID != "CP-03" {
		t.Errorf("%d cases, %d exact, %d within; want at least %d, %d and CP-03", r.Cases, r.Exact, r.Within, leastCases, leastExact)
	}
	for _, id := range strings.Fields(mustBeExact) {
		found := 0
		for _, c := range r.Results {
			if c.ID != id && !strings.HasPrefix(c.ID, id+"/") {
				continue
			}
			if found++; c.Verdict != Equal {
				t.Errorf("%s is %s: %s", c.ID, c.Verdict, c.Reason)
			}
		}
		if found == 0 {
			t.Errorf("%s is not among the cases", id)
		}
	}
}

// remarks are expectations that say something beside the numbers. They hold by themselves.
// a4 says in words what is looked for, whatever the words.
var remarks = map[string]bool{"reported_buggy_outcome": true, "worse_alternative": true, "after": true, "victim": true, "a4": true, "note": true}

// Every expectation but a remark counts: with another value the exact cases are outside.
func TestScenariosCompare(t *testing.T) {
	compared := 0
	for _, c := range allVariants(t) {
		for _, policy := range c.Policy {
			if c.outcome(policy).Verdict != Equal {
				continue
			}
			here := 0
			for key, value := range c.expectOf(policy) {
				if remarks[key] {
					continue
				}
				here++
				changed := *c
				changed.Policy = []string{policy}
				changed.Expect = map[string]any{key: another(value)}
				if got := changed.outcome(policy); got.Verdict == Equal {
					t.Errorf("%s: %s is %v as well as %v", got.ID, key, value, another(value))
				}
			}
			if here == 0 {
				t.Errorf("%s is equal, but nothing is compared", c.ID)
			}
			compared += here
		}
	}
	if compared < 100 {
		t.Errorf("%d expectations compared", compared)
	}
}

func allVariants(t *testing.T) (all []*scenarioCase) {
	t.Helper()
	err := eachLine("", testdata.Scenarios, func(line []byte) error {
		var c scenarioCase
		err := json.Unmarshal(line, &c)
		all = append(all, c.variants()...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// another returns a value of the same form that is not the one given.
func another(v any) any {
	switch v := v.(type) {
	case bool:
		return !v
	case float64:
		return v + 1
	case []any:
		return append([]any{-1.0}, v...)
	case map[string]any:
		changed := map[string]any{}
		for key, value := range v {
			changed[key] = another(value)
		}
		return changed
	case nil:
		return 0.0
	case string:
		if metric, _, isGate := strings.Cut(v, "=="); isGate {
			return metric + "==-1"
		}
	}
	return -1.0
}

func TestLookup(t *testing.T) {
	for _, s := range Suites() {
		if got, ok := Lookup(s.Name); !ok || got.Doc != s.Doc || s.Doc == "" || s.Run == nil {
			t.Errorf("%s is not found by its name, or has no doc", s.Name)
		}
	}
	if _, ok := Lookup("none"); ok {
		t.Error("a suite that does not exist was found")
	}
}

// Check counts every verdict once and keeps what was outside.
func TestCheckCounts(t *testing.T) {
	s := Suite{Name: "made up", Run: func(Options) ([]Outcome, error) {
		return []Outcome{{ID: "a", Verdict: Equal}, {ID: "b", Verdict: Within}, {ID: "c", Verdict: Skipped}, {ID: "d", Verdict: Outside, Want: 1, Got: 2}, {ID: "e", Verdict: "?"}}, nil
	}}
	r, err := s.Check(Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Cases != 5 || r.Exact != 1 || r.Within != 1 || r.Skipped != 1 || r.Outside != 2 {
		t.Errorf("%+v", r)
	}
	if len(r.Mismatches) != 2 || r.Mismatches[0] != (Mismatch{"d", 1, 2}) {
		t.Errorf("mismatches %+v", r.Mismatches)
	}
}

func TestEachLineErrors(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "", "no cases"},
		{"not JSON", "{}\n\nx\n", ":3: expected one JSON object a line"},
		{"cut off gzip", "\x1f\x8b\x08", "unexpected EOF"},
	} {
		path := filepath.Join(t.TempDir(), "cases")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		err := eachLine(path, nil, func([]byte) error { return nil })
		if err == nil || !strings.HasPrefix(err.Error(), path) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if err := eachLine("", bytes.Repeat([]byte("{}\n"), 3), func([]byte) error { return nil }); err != nil {
		t.Error(err)
	}
	if err := eachLine("", []byte("\ufeff{}\n"), func(line []byte) error { return json.Unmarshal(line, &struct{}{}) }); err != nil {
		t.Errorf("with a byte order mark: %v", err)
	}
}

// A case of any suite whose field has a typo is refused with its line: what it says would be
// passed over. Remarks are.
func TestUnknownFields(t *testing.T) {
	shipped := map[string][]byte{"scenarios": testdata.Scenarios, "kube-score": testdata.KubeScore, "fgd": testdata.FGD,
		"kueue-quota": testdata.KueueQuota, "kueue-cycle": testdata.KueueCycle, "kueue-tas": testdata.KueueTAS,
		"kueue-tas-sequences": testdata.KueueTASSequences, "timelines": testdata.Timelines, "maxmin": testdata.SimGrid,
		"ring-jobs": testdata.SimGridJobs, "collectives": testdata.Astra, "nccl": testdata.NCCL, "effects": mustRead("effects/effects.jsonl")}
	for _, s := range Suites() {
		path := filepath.Join(t.TempDir(), "cases.jsonl")
		line := append([]byte("\n"), firstLine(t, shipped[s.Name])...)
		name, _, _ := bytes.Cut(line[bytes.IndexByte(line, '"')+1:], []byte(`"`))
		typo := bytes.Replace(line, name, append(name[:len(name):len(name)], 'q'), 1)
		if err := os.WriteFile(path, typo, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Run(Options{Cases: path}); err == nil || !strings.HasPrefix(err.Error(), fmt.Sprintf(`%s:2: unknown field "%sq" (did you mean %s?)`, path, name, name)) {
			t.Errorf("%s: %v", s.Name, err)
		}
		remark := bytes.Replace(line, []byte("{"), []byte(`{"remarked by": "somebody", `), 1)
		if err := os.WriteFile(path, remark, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Run(Options{Cases: path}); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s with a remark: %v", s.Name, err)
		}
	}
}

func firstLine(t *testing.T, shipped []byte) (first []byte) {
	t.Helper()
	err := eachLine("", shipped, func(line []byte) error {
		if first == nil {
			first = bytes.Clone(line)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return first
}
