package clusterimport

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gangplan/gangplan/internal/scenario"
	"github.com/gangplan/gangplan/sim/quota"
	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/traces"
	"github.com/gangplan/gangplan/traces/kube"
)

// ScenarioFile is the name of the scenario that an import writes.
const ScenarioFile = "scenario.yaml"

// Save writes the scenario and its trace into a folder, which is made if need be, and returns
// their paths. Both are written beside their places before either is moved there: after an
// error they are what they were before.
func (im *Import) Save(dir string) (paths []string, err error) {
	text, err := im.File.Text()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("%s: %w", dir, cause(err))
	}
	files := []savedFile{{filepath.Join(dir, ScenarioFile), text}}
	if len(im.Jobs) > 0 {
		files = append([]savedFile{{filepath.Join(dir, TraceFile), im.trace}}, files...)
	}
	for _, f := range files {
		defer os.Remove(f.beside()) // gone already where all went well
		if err := f.write(); err != nil {
			return nil, err
		}
	}
	for _, f := range files {
		if err := os.Rename(f.beside(), f.path); err != nil {
			return nil, fmt.Errorf("%s: %w", f.path, cause(err))
		}
		paths = append(paths, f.path)
	}
	return paths, nil
}

type savedFile struct {
	path string
	data []byte
}

func (f *savedFile) beside() string { return f.path + ".tmp" }

// write writes a file beside its place, if that can be a file.
func (f *savedFile) write() error {
	if info, err := os.Stat(f.path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is there and is no file", f.path)
	}
	if err := os.WriteFile(f.beside(), f.data, 0o666); err != nil {
		return fmt.Errorf("%s: %w", f.path, cause(err))
	}
	return nil
}

// writeTrace writes the jobs as the file that the scenario names.
func (im *importer) writeTrace() error {
	var b bytes.Buffer
	err := traces.WriteJSONL(&b, im.Jobs)
	im.trace = b.Bytes()
	return err
}

// traceFS is a file system with a trace, and nothing else.
type traceFS []byte

// Open opens the trace.
func (t traceFS) Open(name string) (fs.File, error) {
	if name != TraceFile {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return &traceFile{bytes.NewReader(t)}, nil
}

type traceFile struct{ *bytes.Reader }

func (t *traceFile) Stat() (fs.FileInfo, error) { return nil, fs.ErrInvalid }
func (t *traceFile) Close() error               { return nil }

// Summary says in sentences what was imported.
func (im *Import) Summary() []string {
	c := im.Scenario.Config
	tree := quota.NewTree(c.Queues, c.Cohorts) // with cohorts that only queues name
	lines := []string{fmt.Sprintf("%s with %s GPUs, %s, %s, %s, %s", kube.Count(len(c.Cluster.Nodes), "node", "nodes"), Amount(topology.GPU, c.Cluster.Capacity()[topology.GPU]),
		kube.Count(len(c.Flavors), "flavor", "flavors"), kube.Count(len(c.Queues), "ClusterQueue", "ClusterQueues"),
		kube.Count(tree.Nodes()-tree.Len(), "cohort", "cohorts"), kube.Count(len(c.Locals), "LocalQueue", "LocalQueues"))}
	if len(im.Jobs) > 0 {
		lines = append(lines, fmt.Sprintf("%s over %s", kube.Count(len(im.Jobs), "Workload", "Workloads"), span(im.Jobs[len(im.Jobs)-1].Submit)))
	}
	return lines
}

// span writes a stretch of time in whole seconds.
func span(ns int64) string { return scenario.Duration(ns - ns%1e9).String() }
