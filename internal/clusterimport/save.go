package clusterimport

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gangplan/gangplan/internal/scenario"
	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/traces"
)

// ScenarioFile is the name of the scenario that an import writes.
const ScenarioFile = "scenario.yaml"

// Save writes the scenario and its trace into a folder, which is made if need be, and returns
// their paths. Each is written beside its place and moved there: after an error it is what it
// was before.
func (im *Import) Save(dir string) (paths []string, err error) {
	text, err := im.File.Text()
	if err != nil {
		return nil, err
	}
	var trace bytes.Buffer
	if err := traces.WriteJSONL(&trace, im.Jobs); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("%s: %w", dir, cause(err))
	}
	if len(im.Jobs) > 0 {
		if paths, err = put(paths, filepath.Join(dir, TraceFile), trace.Bytes()); err != nil {
			return nil, err
		}
	}
	return put(paths, filepath.Join(dir, ScenarioFile), text)
}

// put writes a file beside its place and moves it there.
func put(paths []string, path string, data []byte) ([]string, error) {
	beside := path + ".tmp"
	if err := os.WriteFile(beside, data, 0o666); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, cause(err)), os.RemoveAll(beside))
	}
	return append(paths, path), os.Rename(beside, path)
}

// Summary says in sentences what was imported.
func (im *Import) Summary() []string {
	c := im.Scenario.Config
	lines := []string{fmt.Sprintf("%d nodes with %s GPUs, %d flavors, %d ClusterQueues, %d cohorts, %d LocalQueues",
		len(c.Cluster.Nodes), Amount(topology.GPU, c.Cluster.Capacity()[topology.GPU]), len(c.Flavors), len(c.Queues), len(c.Cohorts), len(c.Locals))}
	if len(im.Jobs) > 0 {
		lines = append(lines, fmt.Sprintf("%d Workloads over %s", len(im.Jobs), span(im.Jobs[len(im.Jobs)-1].Submit)))
	}
	return lines
}

// span writes a stretch of time in whole seconds.
func span(ns int64) string { return scenario.Duration(ns - ns%1e9).String() }
