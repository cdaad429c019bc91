package report

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/sim/ledger"
)

// What is in the JSON files of a run directory is what other people's notebooks read. The
// goldens here make any change of it visible; docs/results.md does for the tables.

// decade is a run written down by hand of which every field of summary.json is filled.
func decade() *sim.Result {
	r := handmade(3, 8, 4)
	r.End = 10 * hour
	finished(&r.Jobs[0], 10, 600)
	r.Books.Move(0, ledger.NoDemand, ledger.Held, 3000)
	r.Books.Move(1, ledger.NoDemand, ledger.Running, 2000)
	r.Books.Advance(r.End)
	r.Books.Settle(1, &ledger.Stretch{Milli: 2000, Useful: 9 * hour, Unshared: 10 * hour, Wall: 10 * hour})
	r.AtRisk.AddProduct(2000, uint64(hour))
	r.Reserved.AddProduct(1000, uint64(hour))
	r.Config.Cluster.Levels = []string{"rack", "host"}
	r.Last = sim.Sample{Time: r.End, Free: 7000, Fragment: 500, Largest: []int64{6000, 4000, 7000}, Unusable: []int64{1000, 3000}}
	r.Samples = []sim.Sample{{Free: 12_000, Fragment: 0, Largest: []int64{8000, 8000, 12_000}, Unusable: []int64{0, 0}},
		{Time: 8 * hour, Free: 9000, Fragment: 1001, Largest: []int64{5001, 4000, 7000}, Unusable: []int64{3001, 1000}}}
	r.Findings = []sim.Finding{{Kind: sim.Starvation, Time: 5 * hour, Jobs: []int32{1, 2}, Detail: "waits behind a job that never fits"}}
	r.Config.Until = r.End
	r.Jobs[1].Message, r.Jobs[2].Message = "there is no rack", "there is no rack"
	return r
}

func jsonText(t *testing.T, v any) string {
	t.Helper()
	var b strings.Builder
	if err := WriteJSON(&b, v); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestSummaryGolden(t *testing.T) {
	golden(t, "summary.json", jsonText(t, newSummary("gang/strict", decade())))
}

func TestManifestGolden(t *testing.T) {
	m := Manifest{Version: "v0.1.0", Scenario: Input{"demo.yaml", "sha256:12"}, Inputs: []Input{{"trace.csv", "sha256:34"}},
		Parameters: map[string]string{"ties": "first", "profile": "spread"}, Assumptions: []string{"a pod asks for 12 CPU"}}
	r := decade()
	r.Config.Timing = sim.Kubernetes
	golden(t, "manifest.json", jsonText(t, m.complete("gang/strict", r)))
}

// A manifest must not say who made a run or when: the struct has no room for it.
func TestManifestHasNoClock(t *testing.T) {
	manifest := reflect.TypeFor[Manifest]()
	for i := range manifest.NumField() {
		name := strings.ToLower(manifest.Field(i).Name)
		for _, word := range []string{"date", "created", "host", "user", "path"} {
			if strings.Contains(name, word) {
				t.Errorf("the manifest has a field %s", name)
			}
		}
	}
}

// YAML, read by a YAML reader, is the JSON.
func TestYAMLIsTheJSON(t *testing.T) {
	d := story()
	d.Warnings = append(d.Warnings, "quotes \" ' : # - and\nlines", "", "true", "1e3", "~", "ünï <&>")
	var fromJSON, fromYAML any
	if err := json.Unmarshal([]byte(render(t, "json", d)), &fromJSON); err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal([]byte(render(t, "yaml", d)), &fromYAML); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(floats(fromYAML), fromJSON) {
		t.Error("the YAML says something else than the JSON")
	}
}

// floats makes every number a float64, as JSON has them.
func floats(v any) any {
	switch v := v.(type) {
	case int:
		return float64(v)
	case int64: // where int has 32 bits
		return float64(v)
	case []any:
		for i := range v {
			v[i] = floats(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = floats(v[k])
		}
	}
	return v
}

// The same runs give the same text in every format, run after run.
func TestDeterminismOfRenderings(t *testing.T) {
	document := func() *Document {
		d := &Document{Scenario: "gridlock"}
		for _, policy := range []string{"per-pod", "gang", "gang-topology"} {
			r, _ := play(t, policy, nil, gridlock()...)
			d.Runs = append(d.Runs, NewRun(policy, r, nil))
		}
		return d
	}
	for _, format := range Formats() {
		first, second := render(t, format, document()), render(t, format, document())
		if first != second {
			t.Errorf("%s differs from one run to the next", format)
		}
	}
}

func TestDirections(t *testing.T) {
	for d, want := range map[Direction]string{Neutral: "neutral", Lower: "lower↓", Higher: "higher↑"} {
		if got := d.String() + d.Arrow(); got != want {
			t.Errorf("direction %d is %s, want %s", d, got, want)
		}
	}
}
