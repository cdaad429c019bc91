package study

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/gangplan/gangplan/report"
)

// The table is extended to the common end; the run directory is at each run's own.
func TestCompareAndSave(t *testing.T) {
	outcomes := runAll(t, Options{Record: true}, three...)
	d := Compare(report.Document{Scenario: "gridlock", Warnings: []string{"w"}}, outcomes)
	if d.Scenario != "gridlock" || len(d.Runs) != 3 || len(d.Warnings) != 1 {
		t.Fatalf("%+v", d)
	}
	for i, r := range d.Runs {
		capacity, _ := r.Metrics.Get("gpu_hours.capacity")
		if capacity != 8*d.EndSeconds/3600 || r.Policy != three[i] || r.EndSeconds != float64(outcomes[i].Result.End)/1e9 {
			t.Errorf("%s: capacity %v to %v s", r.Policy, capacity, d.EndSeconds)
		}
	}
	dir := t.TempDir()
	outcomes[0].Params = map[string]string{"profile": "pack"}
	if _, err := Save(dir, report.Manifest{Version: "v1"}, outcomes); err != nil {
		t.Fatal(err)
	}
	m, err := report.ReadManifest(filepath.Join(dir, "per-pod"))
	if err != nil || m.Version != "v1" || m.Parameters["profile"] != "pack" {
		t.Errorf("%+v, %v", m, err)
	}
	if m, err := report.ReadManifest(filepath.Join(dir, "gang")); err != nil || len(m.Parameters) != 0 {
		t.Errorf("parameters of another policy: %+v, %v", m, err)
	}
}

func TestCompareOfNothing(t *testing.T) {
	if d := Compare(report.Document{}, nil); d.Runs == nil || len(d.Runs) != 0 {
		t.Errorf("runs %v", d.Runs)
	}
}

func TestLabels(t *testing.T) {
	if got := Labels(choose(t, three...)); !slices.Equal(got, three) {
		t.Errorf("%v", got)
	}
}
