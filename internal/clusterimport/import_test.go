package clusterimport

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/gangplan/gangplan/internal/scenario"
	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/traces/kube"
)

// The files of testdata say what is made of some objects: the scenario, or what is wrong with
// them. A node and a LocalQueue that every cluster needs are added where there is none.
func TestImport(t *testing.T) {
	datadriven.Walk(t, "testdata/cases", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			dump := &kube.Dump{}
			if err := dump.Add("dump.yaml", strings.NewReader(d.Input)); err != nil {
				return err.Error()
			}
			if len(dump.Nodes) == 0 && !d.HasArg("bare") {
				if err := dump.Add("node.yaml", strings.NewReader(oneNode)); err != nil {
					t.Fatal(err)
				}
			}
			var levels []LevelLabel
			for _, arg := range d.CmdArgs {
				if arg.Key == "levels" {
					var err error
					if levels, err = ParseLevels(strings.Join(arg.Vals, ",")); err != nil {
						return err.Error()
					}
				}
			}
			im, err := New(dump, "", levels...)
			if err != nil {
				return err.Error()
			}
			return show(t, d.Cmd, im)
		})
	})
}

const oneNode = `{apiVersion: v1, kind: Node, metadata: {name: n}, status: {allocatable: {nvidia.com/gpu: 8, cpu: 128, memory: 1Ti, pods: 110}}}`

func show(t *testing.T, what string, im *Import) string {
	var b strings.Builder
	if what == "scenario" {
		text, err := im.File.Text()
		if err != nil {
			t.Fatal(err)
		}
		b.Write(text)
	}
	for i := range im.Jobs {
		if j := &im.Jobs[i]; what == "jobs" {
			fmt.Fprintf(&b, "%s at %v for %v, priority %d:", j.ID, time.Duration(j.Submit), time.Duration(j.Duration), j.Priority)
			for _, s := range j.PodSets {
				fmt.Fprintf(&b, " %d of %v %+v", s.Count, s.Request, s.Topology)
			}
			b.WriteString("\n")
		}
	}
	if what == "problems" {
		for _, p := range Inspect(im.Scenario).Problems {
			b.WriteString(p + "\n")
		}
	}
	for _, list := range [][]string{im.Notes, im.File.NotModelled} {
		for _, line := range list {
			b.WriteString("# " + line + "\n")
		}
	}
	return b.String()
}

// The sample cluster becomes a scenario that runs, whatever way its files are cut.
func TestSampleCluster(t *testing.T) {
	dump, err := Read("../../testdata/cluster")
	if err != nil {
		t.Fatal(err)
	}
	im, err := New(dump, "imported")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	files, err := im.Save(dir)
	if err != nil || len(files) != 2 {
		t.Fatal(files, err)
	}
	s, err := scenario.Load(filepath.Join(dir, ScenarioFile))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(s.Config.Jobs); n != 3 || s.Config.Jobs[1].AdmittedLimit != 7200e9 || s.Config.Jobs[1].PodSets[0].MinCount != 2 {
		t.Errorf("%d jobs: %+v", n, s.Config.Jobs)
	}
	bare := s.Config.Jobs[2].PodSets[0].Request
	if bare != (topology.Resources{topology.GPU: 1000, topology.Pods: 1}) || strings.Contains(strings.Join(s.Assumptions, "\n"), "without CPU") {
		t.Errorf("a pod that asks for a GPU and nothing else asks for %v; assumed %q", bare, s.Assumptions)
	}
	if !scenario.IsScenario(filepath.Join(dir, ScenarioFile)) || scenario.IsScenario("../../testdata/cluster/nodes.yaml") {
		t.Error("a scenario is not told from a dump")
	}
	if len(Inspect(s).Problems) != len(Inspect(im.Scenario).Problems) {
		t.Error("what was written does not add up as what was read")
	}
}

// What cannot be read or written is said, and nothing half is left.
func TestFilesThatCannotBe(t *testing.T) {
	if _, err := Read(filepath.Join(t.TempDir(), "none")); err == nil || !strings.Contains(err.Error(), "cannot be read") {
		t.Error(err)
	}
	if _, err := Read(t.TempDir()); err == nil || !strings.Contains(err.Error(), "no files that end in") {
		t.Error(err)
	}
	im, err := New(mustRead(t, "../../testdata/cluster"), "x")
	if err != nil {
		t.Fatal(err)
	}
	blocked := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(blocked, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := im.Save(filepath.Join(blocked, "out")); err == nil {
		t.Error("a folder inside a file was made")
	}
}

func mustRead(t *testing.T, path string) *kube.Dump {
	t.Helper()
	d, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
