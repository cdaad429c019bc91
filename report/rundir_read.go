package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gangplan/gangplan/internal/columnar"
)

// StoredRun is a run directory that was read back. Manifest and summary are there at once;
// the tables are read when asked for, each time anew and only the named columns of them, or
// all if none is named. Their columns are documented in docs/results.md.
type StoredRun struct {
	Dir      string
	Manifest Manifest
	Summary  Summary
}

// OpenRun reads a run directory. The error says whether there is none, it is not whole, a
// file of it is damaged, or a file belongs to another run; it is fs.ErrNotExist where nothing
// is at all.
func OpenRun(dir string) (*StoredRun, error) {
	m, err := ReadManifest(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, noRun(dir)
	}
	if err != nil {
		return nil, err
	}
	r := &StoredRun{Dir: dir, Manifest: *m}
	if err := r.readSummary(); err != nil {
		return nil, err
	}
	return r, r.checkWhole()
}

// checkWhole looks for the tables that every run has. A 32-bit build writes none of them.
func (r *StoredRun) checkWhole() error {
	var there, missing []string
	for _, file := range []string{jobsFile, ledgerFile, queuesFile} {
		if _, err := os.Stat(filepath.Join(r.Dir, file)); err == nil {
			there = append(there, file)
		} else {
			missing = append(missing, file)
		}
	}
	if len(there) > 0 && len(missing) > 0 {
		return r.missing(missing[0])
	}
	return nil
}

// OpenRuns opens the runs that a path stands for: the run directory itself, or those directly
// within it, in the order of their names.
func OpenRuns(path string) ([]*StoredRun, error) {
	dirs, err := FindRuns(path)
	if err != nil {
		return nil, err
	}
	runs := make([]*StoredRun, len(dirs))
	for i, dir := range dirs {
		if runs[i], err = OpenRun(dir); err != nil {
			return nil, err
		}
	}
	return runs, nil
}

// noRun is the error of a path that holds no run.
func noRun(path string) error {
	if _, err := os.Stat(path); err != nil {
		return fmt.Errorf("%s: expected a run directory, %w", path, errNothing)
	}
	return fmt.Errorf("%s: holds no run (expected %s in it or in a folder of it)", path, manifestFile)
}

// errNothing says of a path what fs.ErrNotExist says, in other words.
var errNothing error = nothingThere{}

type nothingThere struct{}

func (nothingThere) Error() string        { return "but nothing is there" }
func (nothingThere) Is(target error) bool { return target == fs.ErrNotExist }

func (r *StoredRun) missing(file string) error {
	return fmt.Errorf("%s: is half of a run: it has %s but no %s", r.Dir, manifestFile, file)
}

func (r *StoredRun) readSummary() error {
	path := filepath.Join(r.Dir, summaryFile)
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return r.missing(summaryFile)
	}
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, &r.Summary); err != nil {
		return fmt.Errorf("%s: damaged: %w", path, err)
	}
	s := &r.Summary
	if s.Digest != r.Manifest.Digest || s.Policy != r.Manifest.Label || s.Seed != r.Manifest.Seed {
		return fmt.Errorf("%s: belongs to another run: of %s, digest %s, where %s has %s, digest %s",
			path, s.Policy, s.Digest, manifestFile, r.Manifest.Label, r.Manifest.Digest)
	}
	if len(s.Metrics) == 0 {
		return fmt.Errorf("%s: damaged: expected metrics", path)
	}
	return nil
}

// Jobs reads jobs.parquet, a row per job of the trace.
func (r *StoredRun) Jobs(columns ...string) (*columnar.Table, error) {
	return r.table(jobsFile, columns)
}

// Ledger reads ledger.parquet, the books over time.
func (r *StoredRun) Ledger(columns ...string) (*columnar.Table, error) {
	return r.table(ledgerFile, columns)
}

// Queues reads queues.parquet, the queues over time.
func (r *StoredRun) Queues(columns ...string) (*columnar.Table, error) {
	return r.table(queuesFile, columns)
}

// Series reads series.parquet, the samples of how free GPUs lie. The error is fs.ErrNotExist
// for a run whose scenario asked for none.
func (r *StoredRun) Series(columns ...string) (*columnar.Table, error) {
	return r.table(seriesFile, columns)
}

// Decisions reads decisions.parquet, every transition of the run. The error is fs.ErrNotExist
// for a run that kept none.
func (r *StoredRun) Decisions(columns ...string) (*columnar.Table, error) {
	return r.table(decisionsFile, columns)
}

const noTables = "of the run only the summary was kept (`keep: summary` of a study), or a 32-bit build made it"

// whyMissing says when a file is not written.
var whyMissing = map[string]string{
	jobsFile: noTables, ledgerFile: noTables, queuesFile: noTables,
	seriesFile:    "the scenario asks for no samples (`sample: 10m`)",
	decisionsFile: "the run kept no decisions (run --decisions always keeps them)",
}

// table reads a file and checks that it is of this run.
func (r *StoredRun) table(file string, columns []string) (*columnar.Table, error) {
	path := filepath.Join(r.Dir, file)
	t, meta, err := columnar.OpenParquet(path, columns...)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: expected a table, %w: %s", path, errNothing, whyMissing[file])
	}
	if err != nil {
		return nil, err
	}
	return t, r.owns(path, meta)
}

// owns reports whether the manifest in a file's metadata is that of this run.
func (r *StoredRun) owns(path string, meta [][2]string) error {
	for _, m := range meta {
		if m[0] != manifestKey {
			continue
		}
		var of Manifest
		if err := json.Unmarshal([]byte(m[1]), &of); err != nil {
			return fmt.Errorf("%s: damaged: %s: %w", path, manifestKey, err)
		}
		if of.Digest != r.Manifest.Digest || of.Label != r.Manifest.Label {
			return fmt.Errorf("%s: belongs to another run: of %s, digest %s, where %s has %s, digest %s",
				path, of.Label, of.Digest, manifestFile, r.Manifest.Label, r.Manifest.Digest)
		}
		return nil
	}
	return fmt.Errorf("%s: expected %s in its metadata: the file is not of gangplan", path, manifestKey)
}
