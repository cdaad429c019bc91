package sweep

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/gangplan/gangplan/report"
)

func TestReadIsWhatFinishReturned(t *testing.T) {
	p, dir := planOf(t, small), t.TempDir()
	run(t, p, Options{Dir: dir})
	want := finish(t, p, dir)
	got, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if !Is(dir) || got.Axis("racks") != 1 || got.Axis("cluster.synthetic.racks") != 1 || got.Axis("hosts") != -1 {
		t.Errorf("the axes are %+v", got.Axes)
	}
}

func TestReadRefuses(t *testing.T) {
	dir := finished(t, planOf(t, "matrix: {policy: [gang], seed: [5]}\n"), 0)
	path := filepath.Join(dir, indexFile)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	id := planOf(t, "matrix: {policy: [gang], seed: [5]}\n").tasks[0].id
	for want, text := range map[string]string{
		"damaged":                          string(whole[:len(whole)/2]),
		"expected apiVersion":              strings.Replace(string(whole), `"Sweep"`, `"Run"`, 1),
		"no id of a cell":                  strings.Replace(string(whole), id, "../../etc", 1),
		`"gang" is not on the axis`:        strings.Replace(string(whole), "\"values\": [\n        \"gang\"", "\"values\": [\n        \"gong\"", 1),
		"at: 0 numbers, expected 2, one ":  strings.Replace(string(whole), "\"at\": [\n        0,\n        0\n      ]", "\"at\": []", 1),
		"values: 0 values, expected 2, on": strings.Replace(string(whole), "\"values\": [\n        \"gang\",\n        \"5\"\n      ]", "\"values\": []", 1),
		"axis seed: 1 value, and 2 number": strings.Replace(string(whole), "\"numbers\": [\n        5\n      ]", "\"numbers\": [5, 6]", 1),
		"cells: the list is empty":         string(whole[:strings.Index(string(whole), "\"cells\"")]) + "\"cells\": []}",
		"values: 1 value, expected 2, one": strings.Replace(string(whole), "\"values\": [\n        \"gang\",\n        \"5\"\n      ]", "\"values\": [\"gang\"]", 1),
		`metrics: expected an object`:      strings.Replace(string(whole), `"metrics": {`, `"metrics": 1, "x": {`, 1),
		"is not on the axis policy":        strings.Replace(string(whole), "\"at\": [\n        0,", "\"at\": [\n        7,", 1),
		"expected a finished sweep":        "",
		`cell 0: "gang" is not on the ax`:  strings.Replace(string(whole), "\"at\": [\n        0,", "\"at\": [\n        -1,", 1),
	} {
		if text == string(whole) {
			t.Fatalf("%s: nothing was changed", want)
		}
		if text == "" {
			remove(t, path)
		} else if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		_, err := Read(dir)
		wantError(t, err, want)
		if errors.Is(err, fs.ErrNotExist) != (text == "") {
			t.Errorf("%v: is it there or not?", err)
		}
	}
}

// handmade is a sweep with given values of two metrics, null where below 0.
func handmade(waits ...float64) *Sweep {
	s := &Sweep{Name: "by hand", Axes: []Axis{
		{Name: "policy", Paths: []string{"policy"}, Values: []string{"gang", "x|y"}},
		{Name: "seed", Paths: []string{"seed"}, Values: []string{"1", "2", "3"}}},
		Shown: []string{"wait.p95_seconds", "requeues"}, Assumptions: []string{"nodes are flat"}}
	for i, w := range waits {
		at := []int{i / 3, i % 3}
		s.Cells = append(s.Cells, Cell{ID: strings.Repeat("a", idDigits), At: at, Digest: "0011223344556677", EndSeconds: 60, Verdicts: i % 2,
			Values: []string{s.Axes[0].Values[at[0]], s.Axes[1].Values[at[1]]},
			Metrics: report.Values{{Name: "wait.p95_seconds", Number: max(w, 0), Null: w < 0}, {Name: "requeues", Number: float64(i)},
				{Name: "verdicts.deadlock", Number: float64(i % 2)}}})
	}
	return s
}

func TestWrite(t *testing.T) {
	for format, want := range map[string]string{
		"table": `by hand · 6 cells · median (least – most) of 3 seeds

policy   wait.p95_seconds ↓  requeues ↓
───────────────────────────────────────
gang         2m (1m – 1h2m)   1 (0 – 2)
x|y     never (30s – never)   4 (3 – 5)

verdicts
  - deadlock in 3 cells

assumed
  - nodes are flat
`,
		"wide": `by hand · 6 cells

policy  seed  wait.p95_seconds ↓  requeues ↓
────────────────────────────────────────────
gang    1                     1m           0
        2                   1h2m           1
        3                     2m           2
x|y     1                  never           3
        2                    30s           4
        3                  never           5

verdicts
  - deadlock in 3 cells

assumed
  - nodes are flat
`,
		"markdown": `**by hand · 6 cells · median (least – most) of 3 seeds**

| policy | wait.p95_seconds ↓ | requeues ↓ |
|:--|--:|--:|
| gang | 2m (1m – 1h2m) | 1 (0 – 2) |
| x\|y | never (30s – never) | 4 (3 – 5) |

Verdicts:

- deadlock in 3 cells

Assumed:

- nodes are flat
`,
	} {
		var b strings.Builder
		if err := handmade(60, 3720, 120, -1, 30, -1).Write(&b, format); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, b.String()); diff != "" {
			t.Errorf("%s:\n%s", format, diff)
		}
	}
}

// Where cells are left out, rows stand for different numbers of seeds.
func TestTitleOfUnevenRows(t *testing.T) {
	if got := handmade(1, 2, 3, 4, 5).title(1); got != "by hand · 5 cells · median (least – most) of 2 to 3 seeds" {
		t.Error(got)
	}
}

// The median of an even number of seeds is the mean of the two in the middle, as everywhere:
// never, if one of them is.
func TestMedianOfTwo(t *testing.T) {
	m, _ := report.LookupMetric("wait.p95_seconds")
	for _, c := range []struct {
		a, b float64
		want string
	}{{60, 120, "1m30s (1m – 2m)"}, {60, 60, "1m"}, {60, -1, "never (1m – never)"}, {-1, -1, "never"}} {
		s := handmade(c.b, c.a)
		if got := spread(m, []*Cell{&s.Cells[0], &s.Cells[1]}); got != c.want {
			t.Errorf("%v and %v: %s, want %s", c.a, c.b, got, c.want)
		}
	}
}

func TestWriteCSV(t *testing.T) {
	var b strings.Builder
	if err := handmade(60, 0.5, -1).Write(&b, "csv"); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	if len(lines) != 4 || !strings.HasPrefix(lines[0], "policy,seed,cell,digest,end_seconds,verdicts,jobs.submitted,") {
		t.Fatalf("%s", b.String())
	}
	if got := strings.Count(lines[0], ","); got != 5+len(report.Metrics()) {
		t.Errorf("%d commas for %d metrics", got, len(report.Metrics()))
	}
	if !strings.HasPrefix(lines[2], "gang,2,"+strings.Repeat("a", idDigits)+",0011223344556677,60,1,,") || !strings.Contains(lines[2], ",0.5,") {
		t.Errorf("the second cell is %s", lines[2])
	}
}

func TestShownIsChecked(t *testing.T) {
	s := handmade(60, 30)
	wantError(t, s.Write(io.Discard, "tabel"), "did you mean table?")
	s.Shown = []string{"requeue"}
	wantError(t, s.Write(io.Discard, "table"), "did you mean requeues?")
	s.Shown = []string{"verdicts.*", "requeues"}
	var b strings.Builder
	if err := s.Write(&b, "markdown"); err != nil || !strings.Contains(b.String(), "| verdicts.never_fits ↓ | requeues ↓ |\n") {
		t.Errorf("%v, %s", err, &b)
	}
}

// Two values never get the same folder, and every name is one folder of any file system.
func TestHiveNames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.String().Draw(t, "a"), rapid.String().Draw(t, "b")
		if a != b && hiveName(a) == hiveName(b) {
			t.Fatalf("%q and %q are both %q", a, b, hiveName(a))
		}
		if name := hiveName(a); len(name) > longestName || strings.ContainsAny(name, "/\\=:*?\"<>|") {
			t.Fatalf("%q is written %q", a, name)
		}
	})
	long := strings.Repeat("{name: gang} ", 30)
	if a, b := hiveName(long), hiveName(long+"x"); a == b || len(a) > longestName {
		t.Errorf("%q and %q", a, b)
	}
	if got := hiveName("queues[prod].quota=8 %"); got != "queues%5Bprod%5D.quota%3D8%20%25" {
		t.Errorf("%s", got)
	}
}
