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
	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/workloads"
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
		for _, f := range []string{"decisions.parquet", "jobs.parquet", "ledger.parquet", "manifest.json", "queues.parquet", "summary.json"} {
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
	if len(meta) != 2 || meta[0][0] != "gangplan.manifest" || !json.Valid([]byte(meta[0][1])) || meta[1][0] != "gangplan.columns" {
		t.Errorf("%s: metadata %v", path, meta)
	}
	var columns map[string]struct{ Unit, Doc string }
	if err := json.Unmarshal([]byte(meta[1][1]), &columns); err != nil {
		t.Fatal(err)
	}
	for _, c := range table.Columns() {
		if in := columns[c.Name]; c.Doc == "" || c.Unit == "" || in.Doc != c.Doc || in.Unit != c.Unit {
			t.Errorf("%s: column %s has unit %q and doc %q, in JSON %v", path, c.Name, c.Unit, c.Doc, in)
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

// What a job was, what it spent, and what was said of it.
func TestJobsTableOfAJob(t *testing.T) {
	r := handmade(3, 8)
	r.Config.Jobs[0].Model = &workloads.ModelProfile{Name: "bert-large"}
	r.Config.Jobs[1].Queue = "vision" // a LocalQueue
	r.Config.Jobs[1].PodSets = []workloads.PodSet{{Name: "launcher"}, {Name: "workers", Models: []string{"h100", "a100"}}}
	finished(&r.Jobs[0], 10, 600)
	r.Jobs[0].Spent.Settle(&ledger.Stretch{Milli: 8000, Wall: 2 * hour, Useful: hour, Unshared: hour * 3 / 2})
	r.Jobs[0].Spent.Lose(&ledger.Stretch{Milli: 4000, Wall: hour})
	r.Jobs[1].Refusal = sim.ReasonShape
	r.Findings = []sim.Finding{{Kind: sim.Deadlock, Jobs: []int32{1, 2}}, {Kind: sim.Deadlock, Jobs: []int32{2}}, {Kind: sim.Starvation, Jobs: []int32{2}}}
	table := wholeTable(jobsTable, &Record{Result: r})
	for _, c := range []struct {
		column string
		want   [3]string
	}{
		{"profile", [3]string{"bert-large"}}, {"local_queue", [3]string{1: "vision"}}, {"gpu_models", [3]string{1: "h100,a100"}},
		{"refusal", [3]string{1: "shape"}}, {"verdicts", [3]string{1: "deadlock", 2: "deadlock,starvation"}}, {"queue", [3]string{"default", "default", "default"}},
	} {
		values, err := table.StringColumn(c.column)
		if err != nil || [3]string(values.All) != c.want {
			t.Errorf("%s is %q, want %q, %v", c.column, values.All, c.want, err)
		}
	}
	for column, want := range map[string]float64{"useful_gpu_hours": 8, "stall_locality_gpu_hours": 4, "stall_contention_gpu_hours": 4, "lost_gpu_hours": 4, "bounded_slowdown": 6.1} {
		if values, err := table.Float64Column(column); err != nil || values.All[0] != want {
			t.Errorf("%s is %v, want %v, %v", column, values.All[0], want, err)
		}
	}
	stable, err := table.Int64Column("stable_id")
	if err != nil || uint64(stable.All[0]) != r.Config.Jobs[0].StableID() {
		t.Errorf("stable id %x, %v", stable.All[0], err)
	}
}

func TestJobsTableHidesWaitsOfCarriedJobs(t *testing.T) {
	r := handmade(1)
	finished(&r.Jobs[0], 10, 20)
	r.Jobs[0].Carried = true
	table := wholeTable(jobsTable, &Record{Result: r})
	if !table.IsNull(table.Index("wait_ns"), 0) || table.IsNull(table.Index("start_ns"), 0) {
		t.Error("a carried job has a wait, or has not started")
	}
}

// The buckets of the books sum to them, and a bucket to capacity x time.
func TestLedgerParquet(t *testing.T) {
	dir := t.TempDir()
	r := recordOf(t, "per-pod", "per-pod")
	mustWrite(t, dir, r)
	table := open(t, filepath.Join(dir, "per-pod", "ledger.parquet"))
	from, to, account, amount := table.Int64s(0), table.Int64s(1), table.Strings(3), table.Decimals(4)
	if table.Rows() != 720*int(ledger.NumAccounts) {
		t.Fatalf("%d rows, want a row per account and 5 s of an hour", table.Rows())
	}
	accounts, buckets := map[string]ledger.Uint128{}, map[int64]ledger.Uint128{}
	for row := range table.Rows() {
		a, b := accounts[account[row]], buckets[from[row]]
		v := ledger.Uint128{Hi: uint64(amount[row].Hi), Lo: amount[row].Lo}
		a.Add(v)
		b.Add(v)
		accounts[account[row]], buckets[from[row]] = a, b
		if table.Strings(2)[row] != "H100" || to[row] != from[row]+5*sec || table.Float64s(5)[row] != hours(v) {
			t.Errorf("row %d: %v", row, from[row])
		}
	}
	for a := range ledger.NumAccounts {
		if sum := r.Result.Books.Sum(0, a); accounts[a.String()] != sum {
			t.Errorf("the buckets of %s sum to %v, want %v", a, accounts[a.String()], sum)
		}
	}
	for at, sum := range buckets {
		if want := (ledger.Uint128{Lo: uint64(5 * sec * 8000)}); sum != want {
			t.Errorf("the bucket at %d holds %v, want %v", at, sum, want)
		}
	}
}

// Of two gangs that each need the whole cluster, one runs and one waits, under quota.
func TestQueuesParquet(t *testing.T) {
	dir := t.TempDir()
	mustWrite(t, dir, recordOf(t, "gang", "gang"))
	table := open(t, filepath.Join(dir, "gang", "queues.parquet"))
	for _, c := range []struct {
		second int64
		want   map[string]float64
	}{
		{100, map[string]float64{"pending_jobs": 1, "admitted_jobs": 1, "running_jobs": 1, "wanted_gpus": 8, "bound_gpus": 8, "charged_gpus": 8, "nominal_gpus": 8, "borrowed_gpus": 0, "utilisation": 1}},
		{1000, map[string]float64{"pending_jobs": 0, "admitted_jobs": 1, "running_jobs": 1, "wanted_gpus": 0, "bound_gpus": 8, "utilisation": 1}},
		{2000, map[string]float64{"pending_jobs": 0, "admitted_jobs": 0, "running_jobs": 0, "wanted_gpus": 0, "bound_gpus": 0, "charged_gpus": 0, "nominal_gpus": 8, "utilisation": 0}},
	} {
		row := int(c.second / 5)
		if table.Int64s(0)[row] != c.second*sec || table.Strings(table.Index("queue"))[row] != "default" {
			t.Fatalf("row %d is at %d", row, table.Int64s(0)[row])
		}
		for name, want := range c.want {
			values, err := table.Float64Column(name)
			if got, ok := values.At(row); err != nil || !ok || got != want {
				t.Errorf("%s at %d s is %v, %v, %v, want %v", name, c.second, got, ok, err, want)
			}
		}
	}
}

// A queue without a quota of GPUs has no columns of quota.
func TestQueueWithoutQuota(t *testing.T) {
	r, _ := play(t, "per-pod", func(cfg *sim.Config) { cfg.Queues[0].Covers = [4]bool{} }, gangOf("A", 0, 8, 60))
	table := wholeTable(queuesTable, &Record{Result: r})
	for _, c := range table.Columns() {
		ofQuota := slices.Contains([]string{"nominal_gpus", "charged_gpus", "borrowed_gpus", "utilisation"}, c.Name)
		if at := table.Index(c.Name); table.IsNull(at, 0) != (ofQuota || c.Name == "cohort") {
			t.Errorf("%s is null: %v", c.Name, table.IsNull(at, 0))
		}
	}
	if gpuResource != int(topology.GPU) {
		t.Error("GPUs are another resource")
	}
}

// Nothing happens in a run that ends as it begins: its only bucket has no width.
func TestTablesOfNoTime(t *testing.T) {
	r, _ := play(t, "gang", nil, gangOf("huge", 0, 9, 60))
	books, queues := wholeTable(ledgerTable, &Record{Result: r}), wholeTable(queuesTable, &Record{Result: r})
	if books.Rows() != int(ledger.NumAccounts) || queues.Rows() != 1 || !queues.IsNull(queues.Index("pending_jobs"), 0) {
		t.Errorf("%d and %d rows", books.Rows(), queues.Rows())
	}
}

// decisions.parquet holds all that the digest is made of.
func TestDecisionsParquet(t *testing.T) {
	dir := t.TempDir()
	r := recordOf(t, "gang", "gang")
	mustWrite(t, dir, r)
	path := filepath.Join(dir, "gang", "decisions.parquet")
	open(t, path)
	steps, err := mustOpen(t, filepath.Join(dir, "gang")).steps()
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
