package report

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gangplan/gangplan/internal/columnar"
)

// What is read back is what was written.
func TestOpenRun(t *testing.T) {
	dir := t.TempDir()
	written := recordOf(t, "gang/strict", "gang")
	mustWrite(t, dir, written)
	run := mustOpen(t, filepath.Join(dir, "gang_strict"))
	if run.Manifest.Label != "gang/strict" || run.Manifest.Digest != hexDigest(written.Result.Digest) {
		t.Errorf("manifest %+v", run.Manifest)
	}
	want := Measure(written.Result, nil)
	if len(run.Summary.Metrics) != len(want) || run.Summary.EndNanos != written.Result.End {
		t.Fatalf("%d metrics, end %d", len(run.Summary.Metrics), run.Summary.EndNanos)
	}
	for i, v := range run.Summary.Metrics {
		if v != want[i] {
			t.Errorf("metric %v, want %v", v, want[i])
		}
	}
	checkTables(t, run, len(written.Result.Jobs), len(written.Transitions))
}

func mustOpen(t *testing.T, dir string) *StoredRun {
	t.Helper()
	run, err := OpenRun(dir)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func checkTables(t *testing.T, run *StoredRun, jobs, transitions int) {
	t.Helper()
	table, err := run.Jobs("id", "wait_ns")
	if err != nil || table.Rows() != jobs || len(table.Columns()) != 2 {
		t.Fatalf("jobs: %v", err)
	}
	waits, err := table.Int64Column("wait_ns")
	if v, ok := waits.At(1); err != nil || v != 600*sec || !ok {
		t.Errorf("job B waited %d, %v, %v", v, ok, err)
	}
	if table, err = run.Decisions(); err != nil || table.Rows() != transitions {
		t.Errorf("decisions: %v", err)
	}
	if _, err = run.Ledger(); err != nil {
		t.Error(err)
	}
	if _, err = run.Series(); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "asks for no samples") {
		t.Errorf("series: %v", err)
	}
}

func TestOpenRuns(t *testing.T) {
	dir := t.TempDir()
	mustWrite(t, dir, recordOf(t, "per-pod", "per-pod"), recordOf(t, "gang", "gang"))
	write(t, filepath.Join(dir, "notes.txt"), "not a run")
	write(t, filepath.Join(dir, "study", manifestFile), `{"kind": "Study"}`)
	for _, c := range []struct{ path, want string }{{dir, "gang per-pod"}, {filepath.Join(dir, "gang"), "gang"}} {
		runs, err := OpenRuns(c.path)
		if err != nil {
			t.Fatal(err)
		}
		var labels []string
		for _, r := range runs {
			labels = append(labels, r.Manifest.Label)
		}
		if got := strings.Join(labels, " "); got != c.want {
			t.Errorf("%s holds %s, want %s", c.path, got, c.want)
		}
	}
}

// A directory that is not, not whole, damaged or put together from two runs says what it is.
func TestOpenRunSaysWhatIsWrong(t *testing.T) {
	remove := func(file string) func(t *testing.T, run, other string) {
		return func(t *testing.T, run, _ string) {
			if err := os.Remove(filepath.Join(run, file)); err != nil {
				t.Fatal(err)
			}
		}
	}
	replace := func(file, text string) func(t *testing.T, run, other string) {
		return func(t *testing.T, run, _ string) { write(t, filepath.Join(run, file), text) }
	}
	swap := func(file string) func(t *testing.T, run, other string) {
		return func(t *testing.T, run, other string) {
			if err := os.Rename(filepath.Join(other, file), filepath.Join(run, file)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, c := range []struct {
		name  string
		spoil func(t *testing.T, run, other string)
		want  string
	}{
		{"no manifest", remove(manifestFile), "holds no run (expected manifest.json"},
		{"no summary", remove(summaryFile), "half of a run: it has manifest.json but no summary.json"},
		{"no jobs", remove(jobsFile), "no jobs.parquet"},
		{"no ledger", remove(ledgerFile), "no ledger.parquet"},
		{"cut manifest", replace(manifestFile, `{"kind":`), "manifest.json: damaged"},
		{"manifest of something else", replace(manifestFile, `{"apiVersion": "gangplan/v1alpha1", "kind": "Study"}`), "is no manifest of a run"},
		{"cut summary", replace(summaryFile, `{"metrics": {`), "summary.json: damaged"},
		{"empty summary", replace(summaryFile, `{}`), "summary.json: belongs to another run"},
		{"another summary", swap(summaryFile), "summary.json: belongs to another run: of per-pod"},
		{"another table", swap(jobsFile), "jobs.parquet: belongs to another run: of per-pod"},
		{"cut table", replace(jobsFile, "PAR1"), "jobs.parquet: not a sound Parquet file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			mustWrite(t, dir, recordOf(t, "gang", "gang"), recordOf(t, "per-pod", "per-pod"))
			path := filepath.Join(dir, "gang")
			c.spoil(t, path, filepath.Join(dir, "per-pod"))
			run, err := OpenRun(path)
			if err == nil {
				_, err = run.Jobs()
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

func TestOpenRunOfNothing(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{filepath.Join(dir, "nowhere"), dir} {
		for _, open := range []func() error{
			func() error { _, err := OpenRun(path); return err },
			func() error { _, err := OpenRuns(path); return err },
		} {
			if err := open(); err == nil || !strings.HasPrefix(err.Error(), path+": ") || !strings.Contains(err.Error(), "run") {
				t.Errorf("%s: %v", path, err)
			}
		}
	}
	if _, err := OpenRun(filepath.Join(dir, "nowhere")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nowhere: %v", err)
	}
}

// A table that gangplan did not write has no manifest in it.
func TestForeignTable(t *testing.T) {
	dir := t.TempDir()
	mustWrite(t, dir, recordOf(t, "gang", "gang"))
	run := mustOpen(t, filepath.Join(dir, "gang"))
	f, err := os.Create(filepath.Join(run.Dir, jobsFile))
	if err != nil {
		t.Fatal(err)
	}
	table := columnar.NewTable(columnar.Column{Name: "id", Kind: columnar.String})
	if err := errors.Join(columnar.WriteParquet(f, table, nil), f.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := run.Jobs("id"); err == nil || !strings.Contains(err.Error(), "expected gangplan.manifest in its metadata") {
		t.Errorf("%v", err)
	}
}
