package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/gangplan/gangplan/sim"
)

// The files of a run directory. The Parquet files are missing where a run was written by
// a 32-bit build.
const (
	manifestFile  = "manifest.json"
	summaryFile   = "summary.json"
	jobsFile      = "jobs.parquet"
	ledgerFile    = "ledger.parquet"
	queuesFile    = "queues.parquet"
	decisionsFile = "decisions.parquet"
	seriesFile    = "series.parquet" // where the scenario asks for samples
)

const (
	apiVersion   = "gangplan/v1alpha1"
	manifestKind = "Run"

	// The keys, in the metadata of the Parquet files, of the manifest and of the columns' units
	// and docs, both as JSON in one line. Arrow's readers have units and docs in the schema, too.
	manifestKey = "gangplan.manifest"
	columnsKey  = "gangplan.columns"
)

// Manifest says what a run directory is the result of: everything one needs to make it
// again, and nothing of the machine or the hour it was made.
type Manifest struct {
	APIVersion  string            `json:"apiVersion"`
	Kind        string            `json:"kind"`
	Version     string            `json:"version"` // of gangplan
	Scenario    Input             `json:"scenario"`
	Inputs      []Input           `json:"inputs"` // the files the scenario names
	Label       string            `json:"label"`  // of the policy and its parameters, unique within a comparison
	Policy      string            `json:"policy"`
	Parameters  map[string]string `json:"parameters"` // of the policy, defaults included
	Seed        uint64            `json:"seed"`
	Digest      string            `json:"digest"` // 16 hex digits
	Timing      string            `json:"timing"` // the preset; what a scenario changes of it stands in the scenario
	UntilNanos  int64             `json:"until_ns,omitempty"`
	Assumptions []string          `json:"assumptions"`
}

// Input is a file that a run depends on, by name and by content.
type Input struct {
	Name string `json:"name"`
	Hash string `json:"hash"` // algorithm:hex
}

// complete fills in what the run itself knows.
func (m Manifest) complete(label string, r *sim.Result) Manifest {
	m.APIVersion, m.Kind = apiVersion, manifestKind
	m.Label, m.Policy, m.Seed, m.Digest = label, r.Policy, r.Seed, hexDigest(r.Digest)
	m.Timing, m.UntilNanos = r.Config.Timing.Name, r.Config.Until
	if m.Timing == "" {
		m.Timing = sim.Instant.Name // the zero value is that preset
	}
	if m.Inputs == nil {
		m.Inputs = []Input{}
	}
	if m.Parameters == nil {
		m.Parameters = map[string]string{}
	}
	if m.Assumptions == nil {
		m.Assumptions = []string{}
	}
	return m
}

// errForeign is the error of a manifest.json that is sound and says that it is of something else.
var errForeign = errors.New("is no manifest of a run")

// ReadManifest reads the manifest of a run directory. The error is fs.ErrNotExist where
// there is none, and says what is wrong with a file that is no manifest of a run.
func ReadManifest(dir string) (*Manifest, error) {
	path := filepath.Join(dir, manifestFile)
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	m := &Manifest{}
	err = json.Unmarshal(b, m)
	if !json.Valid(b) || err != nil && m.Kind == manifestKind {
		return nil, fmt.Errorf("%s: damaged: %w", path, err)
	}
	if m.Kind != manifestKind || m.APIVersion != apiVersion {
		return nil, fmt.Errorf("%s: %w: expected apiVersion %s and kind %s, got %q and %q", path, errForeign, apiVersion, manifestKind, m.APIVersion, m.Kind)
	}
	return m, nil
}

// isRun reports whether a directory holds a run. A damaged manifest is an error.
func isRun(dir string) (bool, error) {
	_, err := ReadManifest(dir)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errForeign) || errors.Is(err, syscall.ENOTDIR) {
		return false, nil
	}
	return err == nil, err
}

// FindRuns returns the run directories that a path stands for: itself, or those directly
// within it, in the order of their names.
func FindRuns(path string) ([]string, error) {
	if is, err := isRun(path); is || err != nil {
		return []string{path}, err
	}
	entries, err := os.ReadDir(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, noRun(path)
	}
	if err != nil {
		return nil, err
	}
	var runs []string
	for _, e := range entries {
		if isHidden(e.Name()) {
			continue
		}
		is, err := isRun(filepath.Join(path, e.Name()))
		if err != nil {
			return nil, err
		}
		if is {
			runs = append(runs, filepath.Join(path, e.Name()))
		}
	}
	if len(runs) == 0 {
		return nil, noRun(path)
	}
	return runs, nil
}

func isHidden(name string) bool { return strings.HasPrefix(name, ".") }

// folder turns a label into a name that every file system takes: letters, digits and
// "._=,+-" stay, everything else becomes an underscore.
func folder(label string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._=,+-", r) {
			return r
		}
		return '_'
	}, label)
	if name == "" || isHidden(name) {
		name = "_" + name
	}
	return name
}

// folders names a directory for every label and fails if two would get the same one.
func folders(labels []string) ([]string, error) {
	names := make([]string, len(labels))
	taken := map[string]string{}
	for i, label := range labels {
		names[i] = folder(label)
		folded := strings.ToLower(names[i]) // as some file systems do
		if other, ok := taken[folded]; ok {
			return nil, fmt.Errorf("runs %q and %q would both be written to %s", other, label, names[i])
		}
		taken[folded] = label
	}
	return names, nil
}

// CheckRunDirs reports whether WriteRuns could put runs of these labels into dir: call it
// before the runs, so that a long simulation does not end in a refusal. It writes nothing.
// Runs that lie there and would stay must be of the same scenario, seed and version, so that
// what a folder holds can always be compared; common is what the manifests will say of these.
func CheckRunDirs(dir string, common *Manifest, labels []string) error {
	names, err := folders(labels)
	if err != nil {
		return err
	}
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		return fmt.Errorf("%s: is a file, expected a folder for the runs", dir)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if is, err := isRun(dir); err != nil || is {
		return fmt.Errorf("%s: is a run itself, expected a folder for runs", dir)
	}
	for _, name := range names {
		if err := replaceable(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return checkNeighbours(dir, common, names)
}

// checkNeighbours refuses to put runs beside others that they cannot be compared with.
func checkNeighbours(dir string, common *Manifest, names []string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		m, err := ReadManifest(path)
		if err != nil || isHidden(e.Name()) || slices.Contains(names, e.Name()) {
			continue // no run, or one that will be replaced
		}
		if what := m.differs(common); what != "" {
			return fmt.Errorf("%s: is a run of another %s than those to be written, and would lie beside them: take it away or write to another folder", path, what)
		}
	}
	return nil
}

// differs says what two runs differ in that runs of one comparison have in common, or "".
func (m *Manifest) differs(o *Manifest) string {
	switch {
	case m.Scenario.Hash != o.Scenario.Hash:
		return "scenario"
	case m.Seed != o.Seed:
		return "seed"
	case m.Version != o.Version:
		return "version of gangplan"
	}
	return ""
}

// replaceable allows to write where nothing is, an empty folder, or an earlier run.
func replaceable(path string) error {
	entries, err := os.ReadDir(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case len(entries) == 0:
		return nil
	}
	if is, _ := isRun(path); is {
		return nil
	}
	return fmt.Errorf("%s: exists and is no run of gangplan; not overwritten", path)
}
