package report

import (
	"encoding/json"
	"io/fs"
	"maps"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gangplan/gangplan/internal/columnar"
	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/sim/ledger"
)

// recordOf plays the two gangs of gridlock under a policy.
func recordOf(t *testing.T, label, policy string) Record {
	t.Helper()
	r, tape := play(t, policy, func(cfg *sim.Config) { cfg.Until = hour }, gridlock()...)
	return Record{Label: label, Result: r, Transitions: tape, Manifest: Manifest{Version: "v0.1.0",
		Scenario: Input{"gridlock.yaml", "sha256:00"}, Parameters: map[string]string{"ties": "first", "profile": "spread"}}}
}

func mustWrite(t *testing.T, dir string, records ...Record) {
	t.Helper()
	warnings, err := WriteRuns(dir, records)
	if err != nil {
		t.Fatal(err)
	}
	if len(warnings) > 0 {
		t.Skip(warnings[0]) // nothing of what follows can be read on 32 bits
	}
}

// files returns the content of every file under a folder.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		all[filepath.ToSlash(name)] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestRunDirFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	mustWrite(t, dir, recordOf(t, "per-pod", "per-pod"), recordOf(t, "gang/strict", "gang"))
	var want []string
	for _, run := range []string{"gang_strict", "per-pod"} {
		for _, f := range []string{"decisions.parquet", "jobs.parquet", "ledger.parquet", "manifest.json", "summary.json"} {
			want = append(want, run+"/"+f)
		}
	}
	if got := slices.Sorted(maps.Keys(files(t, dir))); !slices.Equal(got, want) {
		t.Errorf("files %v, want %v", got, want)
	}
}

// The same records give the same bytes, on whatever day and machine.
func TestDeterminismOfRunDirs(t *testing.T) {
	a, b := t.TempDir(), t.TempDir()
	for _, dir := range []string{a, b} {
		if _, err := WriteRuns(dir, []Record{recordOf(t, "per-pod", "per-pod")}); err != nil {
			t.Fatal(err)
		}
	}
	if !maps.Equal(files(t, a), files(t, b)) {
		t.Error("two runs of the same scenario wrote different bytes")
	}
}

func TestManifest(t *testing.T) {
	dir := t.TempDir()
	r := recordOf(t, "gang/strict", "gang")
	if _, err := WriteRuns(dir, []Record{r}); err != nil {
		t.Fatal(err)
	}
	m, err := ReadManifest(filepath.Join(dir, "gang_strict"))
	if err != nil {
		t.Fatal(err)
	}
	if m.Label != "gang/strict" || m.Policy != "gang" || m.Seed != 7 || m.Digest != hexDigest(r.Result.Digest) ||
		m.Timing != "instant" || m.UntilNanos != hour || m.Version != "v0.1.0" || m.Parameters["ties"] != "first" {
		t.Errorf("manifest %+v", m)
	}
	text := files(t, dir)["gang_strict/manifest.json"]
	host, _ := os.Hostname()
	if host != "" && strings.Contains(text, host) {
		t.Error("the host's name is in the manifest")
	}
	for _, list := range []string{`"inputs": []`, `"assumptions": []`} {
		if !strings.Contains(text, list) {
			t.Errorf("no %s in %s", list, text)
		}
	}
}

// summary.json has the run at its own end: metrics, verdicts, exact sums, and what is
// held then, so that the books can be kept on.
func TestSummary(t *testing.T) {
	dir := t.TempDir()
	r, tape := play(t, "per-pod", nil, gridlock()...)
	if _, err := WriteRuns(dir, []Record{{Label: "per-pod", Result: r, Transitions: tape}}); err != nil {
		t.Fatal(err)
	}
	var s Summary
	if err := json.Unmarshal([]byte(files(t, dir)["per-pod/summary.json"]), &s); err != nil {
		t.Fatal(err)
	}
	if s.Policy != "per-pod" || s.EndNanos != r.End || len(s.Metrics) != len(Metrics()) {
		t.Errorf("summary of %s, end %d, %d metrics", s.Policy, s.EndNanos, len(s.Metrics))
	}
	if len(s.Verdicts) != 1 || s.Verdicts[0].Kind != "deadlock" || !slices.Equal(s.Verdicts[0].Jobs, []string{"A", "B"}) {
		t.Errorf("verdicts %v", s.Verdicts)
	}
	held := s.Models[0].Accounts[ledger.Held]
	if s.Models[0].Model != "H100" || held.Account != "held" || held.Held != 8000 || s.Models[0].Running != 0 {
		t.Errorf("a deadlock that holds %+v", s.Models[0])
	}
}

// The exact sums of a model add up to its capacity times the run's length.
func TestSummarySumsAreExact(t *testing.T) {
	r := recordOf(t, "per-pod", "per-pod").Result
	sum := new(big.Int)
	for _, a := range newSummary("per-pod", r).Models[0].Accounts {
		n, ok := new(big.Int).SetString(a.Sum, 10)
		if !ok {
			t.Fatalf("%s is %q", a.Account, a.Sum)
		}
		sum.Add(sum, n)
	}
	if want := new(big.Int).Mul(big.NewInt(8000), big.NewInt(hour)); sum.Cmp(want) != 0 {
		t.Errorf("the accounts sum to %v, want %v", sum, want)
	}
}

func open(t *testing.T, path string) *columnar.Table {
	t.Helper()
	table, meta, err := columnar.OpenParquet(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(meta) != 1 || meta[0][0] != "gangplan.manifest" || !json.Valid([]byte(meta[0][1])) {
		t.Errorf("%s: metadata %v", path, meta)
	}
	for _, c := range table.Columns() {
		if c.Doc == "" {
			t.Errorf("%s: column %s has no doc", path, c.Name)
		}
	}
	return table
}

// Times that never came are null, so that averages over a column are right.
func TestJobsParquet(t *testing.T) {
	dir := t.TempDir()
	jobs := append(gridlock(), gangOf("huge", 5, 9, 60))
	r, tape := play(t, "gang", nil, jobs...)
	mustWrite(t, dir, Record{Label: "gang", Result: r, Transitions: tape})
	table := open(t, filepath.Join(dir, "gang", "jobs.parquet"))
	cell := func(name string, row int) any {
		column := table.Index(name)
		switch {
		case table.IsNull(column, row):
			return nil
		case table.Columns()[column].Kind == columnar.String:
			return table.Strings(column)[row]
		case table.Columns()[column].Kind == columnar.Bool:
			return table.Bools(column)[row]
		}
		return table.Int64s(column)[row]
	}
	for _, c := range []struct {
		column string
		row    int
		want   any
	}{
		{"id", 0, "A"}, {"job", 1, int64(1)}, {"queue", 0, "default"}, {"tenant", 0, "team"}, {"state", 0, "finished"},
		{"wait_ns", 1, 600 * sec}, {"jct_ns", 1, 1200 * sec}, {"run_ns", 1, 600 * sec}, {"gpus_milli", 0, int64(8000)}, {"pods", 0, int64(8)},
		{"state", 2, "queued"}, {"never_fits", 2, true}, {"wait_ns", 2, nil}, {"finish_ns", 2, nil}, {"first_admit_ns", 2, nil},
		{"submit_ns", 2, 5 * sec}, {"evictions_pods_ready", 0, int64(0)},
	} {
		if got := cell(c.column, c.row); got != c.want {
			t.Errorf("%s of job %d is %v, want %v", c.column, c.row, got, c.want)
		}
	}
	if !table.IsNull(table.Index("allreduce_slowdown"), 0) {
		t.Error("a job without an all-reduce has a slowdown")
	}
}

func TestJobsTableHidesWaitsOfCarriedJobs(t *testing.T) {
	r := handmade(1)
	finished(&r.Jobs[0], 10, 20)
	r.Jobs[0].Carried = true
	table := jobsTable(r)
	if !table.IsNull(table.Index("wait_ns"), 0) || table.IsNull(table.Index("start_ns"), 0) {
		t.Error("a carried job has a wait, or has not started")
	}
}

func TestLedgerParquet(t *testing.T) {
	dir := t.TempDir()
	r := recordOf(t, "per-pod", "per-pod")
	mustWrite(t, dir, r)
	table := open(t, filepath.Join(dir, "per-pod", "ledger.parquet"))
	if table.Rows() != int(ledger.NumAccounts) {
		t.Fatalf("%d rows", table.Rows())
	}
	for a := range ledger.NumAccounts {
		sum := r.Result.Books.Sum(0, a)
		if table.Strings(0)[a] != "H100" || table.Strings(1)[a] != a.String() ||
			table.Decimals(2)[a] != (columnar.Int128{Hi: int64(sum.Hi), Lo: sum.Lo}) || table.Float64s(3)[a] != hours(sum) {
			t.Errorf("row %d is not %s with %v", a, a, sum)
		}
	}
}

// decisions.parquet holds all that the digest is made of.
func TestDecisionsParquet(t *testing.T) {
	dir := t.TempDir()
	r := recordOf(t, "gang", "gang")
	mustWrite(t, dir, r)
	path := filepath.Join(dir, "gang", "decisions.parquet")
	open(t, path)
	steps, err := readSteps(path)
	if err != nil {
		t.Fatal(err)
	}
	digest := sim.NewDigest
	for _, s := range steps {
		digest = digest.Add(s.Transition)
	}
	if len(steps) == 0 || digest != r.Result.Digest {
		t.Errorf("the digest of %d decisions is %x, want %x", len(steps), digest, r.Result.Digest)
	}
	first := steps[0]
	if first.Kind != sim.Submit || first.ID != "A" || first.Queue != "default" || first.Node != "" {
		t.Errorf("first decision %+v", first)
	}
	bind := steps[slices.IndexFunc(steps, func(s Step) bool { return s.Kind == sim.Bind })]
	if bind.Node != "n1" || bind.Queue != "" || bind.Rank != 0 {
		t.Errorf("first bind %+v", bind)
	}
}

func TestNoDecisionsWithoutTransitions(t *testing.T) {
	dir := t.TempDir()
	r := recordOf(t, "gang", "gang")
	r.Transitions = nil
	mustWrite(t, dir, r)
	if _, there := files(t, dir)["gang/decisions.parquet"]; there {
		t.Error("decisions were written though none were kept")
	}
}
