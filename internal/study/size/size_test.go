package size

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gangplan/gangplan/internal/scenario"
)

// ask makes a question about one of the shipped scenarios.
func ask(t *testing.T, file string, vary []string, targets ...string) *Question {
	t.Helper()
	const dir = "../../../testdata/scenarios/"
	f, err := scenario.LoadFile(dir + file)
	if err != nil {
		t.Fatal(err)
	}
	return askOf(t, f, vary, targets...)
}

func askOf(t *testing.T, f *scenario.File, vary []string, targets ...string) *Question {
	t.Helper()
	v, err := ParseVary(vary, f)
	if err != nil {
		t.Fatal(err)
	}
	bounds, err := ParseTargets(targets)
	if err != nil {
		t.Fatal(err)
	}
	q, err := Of(v, f, "", bounds)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// answer finds the answer for the only policy.
func answer(t *testing.T, q *Question) (*Answer, *Found) {
	t.Helper()
	a, err := Find(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Policies) != 1 {
		t.Fatalf("%d policies", len(a.Policies))
	}
	return a, &a.Policies[0]
}

func parse(t *testing.T, text string) *scenario.File {
	t.Helper()
	f, err := scenario.Parse("test", []byte("apiVersion: gangplan/v1alpha1\nkind: Scenario\n"+text))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func looked(f *Found) string {
	var all []string
	for i := range f.Curve {
		all = append(all, label(f.Curve[i].Values))
	}
	return strings.Join(all, " ")
}

// Five node-hours of work arrive every hour in bursts of ten: whether a target says at most
// or below doubles the answer.
func TestBursts(t *testing.T) {
	for _, c := range []struct{ target, want string }{
		{"wait.p95_seconds<=30m", "5"},
		{"wait.p95_seconds<30m", "10"},
		{"wait.p90_seconds==0", "9"},
		{"utilisation<80%", "7"},
		{"gpu_hours.no_demand>=20%", "7"},
		{"wait.p50_seconds<0", ""},
	} {
		_, f := answer(t, ask(t, "bursts.yaml", []string{"nodes=4..10"}, c.target))
		if got := label(f.Answer); got != c.want || f.Met != (c.want != "") {
			t.Errorf("%s: %q, want %q", c.target, got, c.want)
		}
	}
}

func TestBurstsCurve(t *testing.T) {
	a, f := answer(t, ask(t, "bursts.yaml", []string{"cluster.nodes[0].count=4..10"}, "wait.p95_seconds<=30m"))
	var b strings.Builder
	if err := a.Render(&b, "table"); err != nil {
		t.Fatal(err)
	}
	const want = `bursts · gang · seed 1 · 240 jobs in 1d

count  met  p50 wait    p90  p95    max  load  useful  held  blocked  free
──────────────────────────────────────────────────────────────────────────
4      no         3h  5h30m   6h  6h30m  1.25    100%    0%       0%    0%
5      yes        0s    30m  30m    30m  1.00    100%    0%       0%    0%
6      yes        0s    30m  30m    30m  0.83     83%    0%       0%   17%
7      yes        0s    30m  30m    30m  0.71     71%    0%       0%   29%
8      yes        0s    30m  30m    30m  0.62     62%    0%       0%   38%
9      yes        0s     0s  30m    30m  0.56     56%    0%       0%   44%
10     yes        0s     0s   0s     0s  0.50     51%    0%       0%   49%

cluster.nodes[0].count = 5 is the smallest from 4 to 10 that meets wait.p95_seconds <= 30m:
wait.p95_seconds is 30m.
wait.p95_seconds <= 30m is met exactly: with < instead of <= it would not be.
wait.p95_seconds: from 5 to 9 it stays 30m; it changes up to the last value, 10.
Looked at all 7 values.
`
	if got, _, _ := strings.Cut(b.String(), "\nassumed\n"); got != want {
		t.Errorf("\n%s\nwant\n%s", got, want)
	}
	if len(f.Levels) != 1 || f.Levels[0].Plateau != nil || label(f.Levels[0].Flat[0].From) != "5" || label(f.Levels[0].Flat[0].To) != "9" {
		t.Errorf("levels %+v", f.Levels)
	}
}

// Of many values few are looked at: the scan, two bisections and the neighbours.
func TestBisection(t *testing.T) {
	q := ask(t, "bursts.yaml", []string{"nodes=1..1000"}, "wait.p95_seconds<=30m")
	_, f := answer(t, q)
	if label(f.Answer) != "5" || !f.Monotone {
		t.Errorf("the answer is %v", f.Answer)
	}
	if label(f.Levels[0].Plateau) != "10" {
		t.Errorf("the plateau begins at %v", f.Levels[0].Plateau)
	}
	if n := len(f.Curve); n > 30 {
		t.Errorf("looked at %d values: %s", n, looked(f))
	}
	if got := f.Sentences[len(f.Sentences)-1]; !strings.Contains(got, fmt.Sprintf("%d of 1000 values", len(f.Curve))) {
		t.Error(got)
	}
}

// The same as what looking at every value says, wherever the targets begin to hold.
func TestBisectionAgainstAll(t *testing.T) {
	for limit := 0; limit <= 40; limit += 3 {
		q := fake(t, 40, func(i int) bool { return i >= limit })
		_, f := answer(t, q)
		want := fmt.Sprint(limit)
		if limit >= 40 {
			want = ""
		}
		if got := label(f.Answer); got != want || !f.Monotone {
			t.Errorf("from %d on: %q, monotone %v", limit, got, f.Monotone)
		}
	}
}

// fake is a question whose values meet the target or not as given: one job on a cluster
// that is busy with another for an hour, or not.
func fake(t *testing.T, n int, meets func(i int) bool) *Question {
	t.Helper()
	f := parse(t, "cluster: {nodes: [{name: n, count: 2, gpus: 8}]}\nworkload: {jobs: [{id: a, duration: 1h, gpus: 8}, {id: b, duration: 1h, gpus: 8}]}\npolicies: [gang]\n")
	q := askOf(t, f, []string{fmt.Sprintf("x=0..%d", n-1)}, "wait.max_seconds<=0")
	q.Build = func(i int) (*scenario.Scenario, error) {
		count := "1"
		if meets(i) {
			count = "2"
		}
		set, err := scenario.Set("test", "cluster.nodes[0].count", count)
		if err != nil {
			return nil, err
		}
		changed, err := f.With(set)
		if err != nil {
			return nil, err
		}
		return changed.Resolve("")
	}
	return q
}

// Where more is not always better it says so, and looks at everything below what it found.
func TestNotMonotone(t *testing.T) {
	for _, c := range []struct {
		name         string
		n            int
		meets        func(i int) bool
		answer, from string
	}{
		{"a hole that the scan hits", 41, func(i int) bool { return i >= 10 && i != 25 }, "10", "26"},
		{"a hole beside the answer", 41, func(i int) bool { return i >= 10 && i != 12 }, "10", "13"},
		{"an island below a hole", 41, func(i int) bool { return i == 3 || i >= 12 && i != 35 }, "3", "36"},
		{"the end does not", 41, func(i int) bool { return i >= 10 && i < 40 }, "10", ""},
		{"a window", 41, func(i int) bool { return i >= 14 && i < 16 }, "14", ""},
	} {
		a, f := answer(t, fake(t, c.n, c.meets))
		if f.Monotone || label(f.Answer) != c.answer {
			t.Errorf("%s: %q, monotone %v; looked at %s", c.name, label(f.Answer), f.Monotone, looked(f))
			continue
		}
		// Steady is said of the values that were looked at.
		if got := label(f.Steady); (got == "") != (c.from == "") || c.from != "" && atoi(got) < atoi(c.from) {
			t.Errorf("%s: steady from %q, want %q", c.name, got, c.from)
		}
		if text := strings.Join(a.Policies[0].Sentences, " "); !strings.Contains(text, "The targets do not go on to hold") {
			t.Errorf("%s: it does not say so: %s", c.name, text)
		}
	}
}

func atoi(s string) (n int) {
	fmt.Sscan(s, &n)
	return n
}

// Two targets of opposite directions hold together between values of the scan only.
func TestNarrowWindow(t *testing.T) {
	_, f := answer(t, ask(t, "bursts.yaml", []string{"nodes=1..40"}, "wait.p90_seconds==0", "utilisation>=51%"))
	if label(f.Answer) != "9" || f.Monotone {
		t.Errorf("%q, monotone %v; looked at %s", label(f.Answer), f.Monotone, looked(f))
	}
}

// A quantile that lands on a job that never starts meets no target, whatever it says.
func TestNullMeetsNothing(t *testing.T) {
	f := parse(t, "cluster: {nodes: [{name: n, gpus: 8}]}\nworkload: {jobs: [{id: fits, duration: 1h, gpus: 8}, {id: huge, duration: 1h, gpus: 800}]}\npolicies: [gang]\n")
	for _, op := range []string{"<=", "<", ">=", ">", "=="} {
		_, found := answer(t, askOf(t, f, []string{"nodes=1..3"}, "wait.max_seconds"+op+"1h"))
		if found.Met || found.Answer != nil {
			t.Errorf("%s: met by %v", op, found.Answer)
		}
		if !strings.Contains(found.Sentences[0], "wait.max_seconds is never") {
			t.Error(found.Sentences[0])
		}
	}
}

func TestDescending(t *testing.T) {
	q := ask(t, "bursts.yaml", []string{"nodes=10..4"}, "utilisation>=70%")
	a, f := answer(t, q)
	if label(f.Answer) != "7" || !strings.Contains(f.Sentences[0], "nodes = 7 is the largest from 10 to 4 that meets") {
		t.Errorf("%v: %s", f.Answer, f.Sentences[0])
	}
	if a.From != "10" || a.To != "4" || a.Count != 7 {
		t.Errorf("%+v", a)
	}
}

// Fields that move together: nodes without quota for them do nothing.
func TestSeveralFields(t *testing.T) {
	f := parse(t, `cluster: {nodes: [{name: n, count: 2, gpus: 8}]}
workload: {jobs: [{id: a, count: 4, duration: 1h, gpus: 8}]}
queues: [{name: default, quota: {gpu: 16}}]
policies: [gang]
`)
	_, alone := answer(t, askOf(t, f, []string{"nodes=2..4"}, "wait.max_seconds==0"))
	_, both := answer(t, askOf(t, f, []string{"nodes=2..4", "queues[default].quota.gpu=16..32:8"}, "wait.max_seconds==0"))
	if alone.Met || label(both.Answer) != "4 / 32" {
		t.Errorf("nodes alone %v, both %v", alone.Answer, both.Answer)
	}
}

// Seeds: the answer is met by as many as it takes, and the same on any number of workers.
func TestSeedsAndWorkers(t *testing.T) {
	var outputs []string
	for _, parallel := range []int{1, 2, 8} {
		q := askOf(t, parse(t, `cluster: {synthetic: {racks: 2, hosts: 2, gpus: 8}}
workload: {synthetic: {mix: deep-learning, jobs: 40, load: 1}}
policies: [gang-topology]
until: 3d
`), []string{"nodes=3..8"}, "wait.p95_seconds<=2h")
		q.Parallel = parallel
		q.Seeds, _ = ParseSeeds("1..10")
		a, f := answer(t, q)
		for i := range f.Curve {
			p := &f.Curve[i]
			met := 0
			for k := range p.Seeds {
				if p.Seeds[k].Seed != uint64(k+1) {
					t.Errorf("the %d. seed is %d", k, p.Seeds[k].Seed)
				}
				if v, ok := p.Seeds[k].Metrics.Get("wait.p95_seconds"); ok && v <= 7200 {
					met++
				}
			}
			if met != p.SeedsMet || p.Met != (met >= 9) {
				t.Errorf("%v: %d seeds meet it, said %d, %v", p.Values, met, p.SeedsMet, p.Met)
			}
		}
		if a.Needed != 9 || f.Confidence < 0.95 {
			t.Errorf("needed %d, confidence %v", a.Needed, f.Confidence)
		}
		var b bytes.Buffer
		for _, format := range Formats() {
			if err := a.Render(&b, format); err != nil {
				t.Fatal(err)
			}
		}
		outputs = append(outputs, b.String())
	}
	if outputs[0] != outputs[1] || outputs[0] != outputs[2] {
		t.Error("the answer depends on the number of workers")
	}
	for line := range strings.Lines(strings.SplitN(outputs[0], "\n{", 2)[0]) {
		if n := len([]rune(strings.TrimRight(line, "\n"))); n > 100 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

// The synthetic load follows the cluster as it is written: growing that compares two demands.
func TestDemandThatMoves(t *testing.T) {
	q := ask(t, "office.yaml", []string{"cluster.synthetic.hosts=4..5"}, "wait.p95_seconds<=2h")
	q.Labels = []string{"gang"}
	a, _ := answer(t, q)
	if text := strings.Join(a.Warnings, "\n"); !strings.Contains(text, "the jobs change with cluster.synthetic.hosts too") || !strings.Contains(text, "vary nodes") {
		t.Errorf("warnings %q", text)
	}
	q = ask(t, "office.yaml", []string{"scale.load=1..2"}, "wait.p95_seconds<=2h")
	q.Labels = []string{"gang"}
	if a, _ := answer(t, q); len(a.Warnings) != 0 {
		t.Errorf("warnings %q of what is meant", a.Warnings)
	}
}

func TestSeedsThatDoNothing(t *testing.T) {
	q := ask(t, "bursts.yaml", []string{"nodes=4..6"}, "wait.p95_seconds<=30m")
	q.Seeds = []uint64{1, 2, 3, 4, 5}
	a, f := answer(t, q)
	if label(f.Answer) != "5" || len(a.Warnings) != 1 || !strings.Contains(a.Warnings[0], "the seed changes nothing") {
		t.Errorf("%v, warnings %q", f.Answer, a.Warnings)
	}
}

// How many seeds it takes: the sign test's for the median, the success run theorem's else.
func TestNeeded(t *testing.T) {
	for _, c := range []struct {
		n                 int
		share, confidence float64
		want              int
	}{
		{5, 0.5, 0.95, 5}, {4, 0.5, 0.95, 5}, {10, 0.5, 0.95, 9}, {20, 0.5, 0.95, 15}, {29, 0.9, 0.95, 29}, {28, 0.9, 0.95, 29}, {10, 0.5, 0.5, 6},
	} {
		if got := needed(c.n, c.share, c.confidence); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
	if fewest(0.5, 0.95) != 5 || fewest(0.9, 0.95) != 29 || fewest(0.9, 0.9) != 22 {
		t.Error("fewest", fewest(0.5, 0.95), fewest(0.9, 0.95), fewest(0.9, 0.9))
	}
}

func TestErrors(t *testing.T) {
	q := func(change func(q *Question)) error {
		q := ask(t, "bursts.yaml", []string{"nodes=4..6"}, "wait.p95_seconds<=30m")
		change(q)
		_, err := Find(t.Context(), q)
		return err
	}
	for _, c := range []struct {
		err  error
		want string
	}{
		{q(func(q *Question) { q.Targets = nil }), "no target: expected one such as"},
		{q(func(q *Question) { q.Seeds = []uint64{1, 2, 3} }), "3 seeds cannot say with confidence 0.95 that more than 0.5 of all seeds meet the targets: expected at least 5"},
		{q(func(q *Question) { q.Seeds = []uint64{1, 2}; q.Confidence = 1 }), "a confidence of 1: expected more than 0 and less than 1"},
		{q(func(q *Question) { q.Seeds = []uint64{1, 2}; q.Share = 0 }), "a share of 0: expected"},
		{q(func(q *Question) { q.Confidence = 1.5 }), "a confidence of 1.5: expected more than 0 and less than 1"},
		{q(func(q *Question) { q.Share = math.NaN() }), "a share of NaN: expected"},
		{q(func(q *Question) { q.Labels = []string{"gnag"} }), `unknown policy "gnag"`},
		{q(func(q *Question) { q.Build = nil; q.Values = nil }), "no values to try"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("%v, want %s", c.err, c.want)
		}
	}
}

// Fields that are in each other's way are refused, by whatever names they go; fields that
// are not are asked about together.
func TestContradictions(t *testing.T) {
	f := parse(t, `cluster: {nodes: [{name: n, count: 2, gpus: 8}]}
workload: {jobs: [{id: a, count: 4, duration: 1h, gpus: 8}]}
queues: [{name: a, quota: {gpu: 16}}]
policies: [gang]
`)
	for _, c := range []struct {
		vary []string
		want string
	}{
		{[]string{"nodes=1..3", "scale.cluster=3..1"}, "nodes and scale.cluster set the same field: vary one of them"},
		{[]string{"queues[0].quota.gpu=8..24:8", "queues[a].quota.gpu=24..8:8"}, "queues[0].quota.gpu and queues[a].quota.gpu set the same field"},
		{[]string{"queues[0].quota={gpu: 8},{gpu: 16}", "queues[a].quota.gpu=24..32:8"}, "queues[0].quota and queues[a].quota.gpu set the same field"},
		{[]string{"nodes=2..4", "cluster.nodes[0].count=3..5"}, "with 2 / 3 there are 3 nodes: vary nodes, or the cluster, not both"},
		{[]string{"nodes=2..4", "queues[a].quota.gpu=16..32:8"}, ""},
	} {
		v, err := ParseVary(c.vary, f)
		if err != nil {
			t.Fatal(err)
		}
		targets, _ := ParseTargets([]string{"wait.max_seconds==0"})
		q, err := Of(v, f, "", targets)
		if err == nil {
			_, err = Find(t.Context(), q)
		}
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%v: %v, want %q", c.vary, err, c.want)
		}
	}
}

// A seed that is varied and seeds that every value meets are two questions.
func TestVariedSeed(t *testing.T) {
	q := ask(t, "bursts.yaml", []string{"seed=1..3"}, "wait.p95_seconds<=30d")
	if _, f := answer(t, q); label(f.Answer) != "1" {
		t.Errorf("the first seed is %v", f.Answer)
	}
	q.Seeds = []uint64{1, 2, 3, 4, 5}
	if _, err := Find(t.Context(), q); err == nil || !strings.Contains(err.Error(), "the seed is varied") {
		t.Error(err)
	}
}

// The end of a range is looked at however large the step is.
func TestTheEndIsTried(t *testing.T) {
	a, f := answer(t, ask(t, "bursts.yaml", []string{"nodes=2..5:2"}, "wait.p95_seconds<=30m"))
	if looked(f) != "2 4 5" || label(f.Answer) != "5" || a.To != "5" {
		t.Errorf("looked at %s, the answer is %v up to %s", looked(f), f.Answer, a.To)
	}
}

// A value that makes no scenario is told with its place, whichever of the values it is.
func TestBadValues(t *testing.T) {
	for _, c := range []struct{ vary, want string }{
		{"cluster.nodes[0].gpus=8..2008:2000", "--vary: cluster.nodes[0].gpus: 2008: expected 0 to "},
		{"cluster.node[0].count=4..6", "did you mean nodes?"},
		{"nodes=0..3", `--vary: nodes: "0": expected a whole number above 0`},
		{"queues[research].quota.gpu=8..16", "queues has no entry research"},
	} {
		_, err := Find(t.Context(), ask(t, "bursts.yaml", []string{c.vary}, "wait.p95_seconds<=30m"))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.vary, err, c.want)
		}
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	q := ask(t, "bursts.yaml", []string{"nodes=4..60"}, "wait.p95_seconds<=30m")
	var runs atomic.Int64
	q.Parallel, q.Progress = 1, func(n, begun int) {
		if begun != scanned {
			t.Errorf("%d runs begun", begun)
		}
		if runs.Store(int64(n)); n == 3 {
			cancel()
		}
	}
	if _, err := Find(ctx, q); !errors.Is(err, context.Canceled) || runs.Load() != 3 {
		t.Errorf("%v after %d runs", err, runs.Load())
	}
}

func TestFormats(t *testing.T) {
	a, _ := answer(t, ask(t, "bursts.yaml", []string{"nodes=4..5"}, "wait.p95_seconds<=30m"))
	a.Assumptions = nil
	for format, want := range map[string]string{
		"csv": `policy,nodes,met,seeds_met,seeds,offered_load,useful,held_idle,free_unusable,free,wait.p95_seconds,wait.p95_seconds.low,wait.p95_seconds.high,wait.p50_seconds,`,
		"markdown": `**bursts · gang · seed 1 · 240 jobs in 1d**

| nodes | met | p50 wait | p90 | p95 | max | load | useful | held | blocked | free |
|:--|:--|--:|--:|--:|--:|--:|--:|--:|--:|--:|
| 4 | no | 3h | 5h30m | 6h | 6h30m | 1.25 | 100% | 0% | 0% | 0% |
`,
		"json": `{
  "scenario": "bursts",
  "field": "nodes",
  "from": "4",
  "to": "5",
  "values": 2,
  "targets": [
    "wait.p95_seconds <= 30m"
  ],
`,
	} {
		var b strings.Builder
		if err := a.Render(&b, format); err != nil || !strings.HasPrefix(b.String(), want) {
			t.Errorf("%s: %v\n%s", format, err, b.String())
		}
	}
	if CheckFormat("jsn") == nil || CheckFormat("json") != nil {
		t.Error("formats")
	}
}
