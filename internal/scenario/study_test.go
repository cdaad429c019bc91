package scenario

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/gangplan/gangplan/testdata"
)

var someScorers = []string{"random", "best-fit", "fgd", "dot-product", "gpu-clustering", "gpu-packing"}

func TestShippedFragmentationStudy(t *testing.T) {
	f, err := ParseFragmentation("shipped", testdata.Fragmentation, someScorers)
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Workloads) != 5 || len(f.Scorers) != 6 || f.Seeds != (Seeds{42, 10}) || f.Load != 1.3 {
		t.Errorf("%+v", f)
	}
	if got := f.Title(); got != "fragmentation · seeds 42 to 51" {
		t.Errorf("title %q", got)
	}
	f.Name, f.Seeds.Count = "", 1
	if got := f.Title(); got != "seed 42" {
		t.Errorf("title %q", got)
	}
}

func TestLoadFragmentation(t *testing.T) {
	name := filepath.Join(t.TempDir(), "study.yaml")
	if _, err := LoadFragmentation(name, someScorers); err == nil || !strings.Contains(err.Error(), "cannot be read") {
		t.Errorf("no file: %v", err)
	}
	if err := os.WriteFile(name, testdata.Fragmentation, 0o600); err != nil {
		t.Fatal(err)
	}
	a, err := LoadFragmentation(name, someScorers)
	b, _ := ParseFragmentation(name, testdata.Fragmentation, someScorers)
	if err != nil || !reflect.DeepEqual(a, b) {
		t.Errorf("%+v, %v", a, err)
	}
}

func TestFragmentationMistakes(t *testing.T) {
	const head = "apiVersion: gangplan/v1alpha1\nkind: FragmentationStudy\n"
	const rest = "workloads: [default]\nscorers: [fgd]\nseeds: {count: 1}\n"
	for _, c := range []struct{ name, text, want string }{
		{"fine", head + rest, ""},
		{"empty", "", "study.yaml: the file is empty: expected a fragmentation study with"},
		{"a list", "- a", "expected a fragmentation study with apiVersion, kind, workloads and scorers"},
		{"a scenario", "apiVersion: gangplan/v1alpha1\nkind: Scenario\n", `study.yaml:2:7: kind: "Scenario": expected FragmentationStudy`},
		{"missing", head, "scorers: missing"},
		{"unknown field", head + rest + "lode: 1.3", `study.yaml:6:1: lode: unknown field (did you mean load?)`},
		{"unknown scorer", head + "workloads: [a]\nscorers: [fdg]\nseeds: {count: 1}", `study.yaml:4:11: scorers[0]: unknown scorer "fdg"`},
		{"twice", head + "workloads: [a, b, a]\nscorers: [fgd]\nseeds: {count: 1}", `study.yaml:3:19: workloads[2]: "a" is listed twice`},
		{"no workloads", head + "workloads: []\nscorers: [fgd]\nseeds: {count: 1}", "workloads: the list is empty"},
		{"a path", head + "workloads: [../x]\nscorers: [fgd]\nseeds: {count: 1}", "expected the NAME of a file"},
		{"no seeds", head + "workloads: [a]\nscorers: [fgd]\nseeds: {count: 0}", "expected more than 0"},
		{"many seeds", head + "workloads: [a]\nscorers: [fgd]\nseeds: {count: 1000000}", "expected at most 10000"},
		{"load", head + rest + "load: -1", "expected 0 or more"},
		{"huge load", head + rest + "load: 130", "expected at most 10"},
	} {
		_, err := ParseFragmentation("study.yaml", []byte(c.text), someScorers)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}
