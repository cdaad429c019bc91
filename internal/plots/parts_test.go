package plots

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gangplan/gangplan/internal/columnar"
	"github.com/gangplan/gangplan/internal/study/sweep"
	"github.com/gangplan/gangplan/report"
	"github.com/gangplan/gangplan/report/figure"
	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/sim/ledger"
)

// An axis is logarithmic where its ends are far apart and nothing is 0; times are written as
// times.
func TestAxisOf(t *testing.T) {
	for _, c := range []struct {
		unit        string
		least, most float64
		scale       figure.Scale
		label       string
	}{
		{"", 1, 29.9, figure.Linear, "x"},
		{"", 1, 30, figure.Log, "x, log scale"},
		{"", 0, 1e6, figure.Linear, "x"},
		{"", math.Inf(1), 0, figure.Linear, "x"}, // of no values above 0
		{"s", 60, 600, figure.Seconds, "x"},
		{"s", 1, 3600, figure.LogSeconds, "x, log scale"},
		{"s", 0, 3600, figure.Seconds, "x"},
	} {
		a := axisOf("x", c.unit, c.least, c.most)
		if a.Scale != c.scale || a.Label != c.label {
			t.Errorf("%v to %v %s: scale %v, label %q", c.least, c.most, c.unit, a.Scale, a.Label)
		}
		want := "90"
		if c.unit == "s" {
			want = "1m30s"
		}
		wants(t, "90 of "+c.unit, a.Format(90), want)
	}
}

// The axis of a metric is made by its values above 0 that are numbers.
func TestMetricAxis(t *testing.T) {
	wait, _ := report.LookupMetric("wait.p95_seconds")
	idle, _ := report.LookupMetric("gpu_hours.idle")
	for _, c := range []struct {
		metric *report.Metric
		values []float64
		want   string
	}{
		{wait, []float64{60, 120, math.Inf(1), math.NaN()}, "wait, p95 true false"},
		{wait, []float64{0, 1, 7200}, "wait, p95, log scale false true"},
		{idle, []float64{10, 20}, "idle GPU-hours false false"},
		{idle, nil, "idle GPU-hours false false"},
	} {
		a := metricAxis(c.metric, c.values)
		wants(t, fmt.Sprint(c.values), say(a.Label, a.Scale == figure.Seconds, a.Scale == figure.LogSeconds), c.want)
	}
}

// A title tells the best place, how many are as good, and nothing of what is neither good
// nor bad.
func TestTitlesOfTheBest(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		metric string
		values []float64
		want   string
	}{
		{"wait.p95_seconds", []float64{120, 60, 180}, "Least wait, p95: 1m at b"},
		{"wait.p95_seconds", []float64{60, 60, inf}, "Least wait, p95: 1m at a, and at 1 other place"},
		{"wait.p95_seconds", []float64{inf, inf}, "Wait, p95: never, everywhere"},
		{"wait.p95_seconds", []float64{nan, 60}, "Least wait, p95: 1m at b"},
		{"wait.p95_seconds", []float64{nan, nan}, "No wait, p95"},
		{"jobs.finished", []float64{1, 5, 3}, "Most jobs finished: 5 at b"},
		{"utilisation", []float64{0.25, 0.5}, "Most utilisation: 0.5 at b"},
		{"jobs.submitted", []float64{1, 5, 3}, "Jobs submitted over axes"},
		{"gpu_hours.idle", []float64{1000, 2000}, "Least idle GPU-hours: 1,000 at a"},
	} {
		m, ok := report.LookupMetric(c.metric)
		if !ok {
			t.Fatal(c.metric)
		}
		b := best{metric: m}
		for i, v := range c.values {
			b.see(string(rune('a'+i)), v)
		}
		wants(t, c.metric, b.title("axes"), c.want)
	}
}

func TestPlaces(t *testing.T) {
	wants(t, "one", under("racks 2", ""), "racks 2")
	wants(t, "of a policy", under("racks 2", "gang"), "racks 2 under gang")
	wants(t, "of more", under("racks 2", "gang, load 1"), "racks 2 (gang, load 1)")
	wants(t, "some", notDrawn(nil)+notDrawn([]string{"a", "b"}), " Never, and so not drawn: a; b.")
	for n, want := range map[int]int{1: 1, 3: 1, 4: 2, 12: 2} {
		if got := grid(n); got != want {
			t.Errorf("%d panels stand in %d columns", n, got)
		}
	}
}

// Numbers are never written as less than nothing.
func TestNoMinusZero(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Float64Range(-0.01, 0.01).Draw(t, "v")
		if got := number(v); got == "-0" || math.Abs(v) < 0.0004 && got != "0" {
			t.Fatalf("%v is written %s", v, got)
		}
	})
}

// An axis of numbers far apart gets a tick at each of few values, and room at its ends; one
// of words has their names.
func TestAxesOfSweeps(t *testing.T) {
	many := make([]float64, mostTicks+1)
	for i := range many {
		many[i] = float64(i + 1)
	}
	in := swept("requeues", func([]int) float64 { return 0 }, numbers("racks", "", 2, 4), numbers("memory", "B", 1, 100), numbers("timeout", "s", 60, 120),
		words("mode", "a", "b"), numbers("many", "", many...), numbers("from zero", "", 0, 5))
	tb := &table{Sweep: in.Sweep}
	for i, want := range []string{"racks [2 4] 1.92 4.08", "memory (B), log scale [1 100] 0 0", "timeout [60 120] 0 0", "mode [] 0 0", "many [] 0.52 13.48", "from zero [0 5] 0 0"} {
		a := tb.xAxis(i)
		wants(t, "the axis", say(a.Label, a.Ticks, a.Min, a.Max), want)
	}
	wants(t, "names", strings.Join(tb.xAxis(3).Names, " "), "a b")
	wants(t, "values", say(tb.text(2, 0), tb.text(3, 1), tb.text(0, 1), tb.position(3, 1), tb.position(2, 1)), "1m b 4 1 120")
}

// Whatever sizes there are, every job is in one class, and there are few.
func TestClasses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var jobs []job
		for range rapid.IntRange(1, 60).Draw(t, "jobs") {
			j := lasting(rapid.Float64Range(0, 1e5).Draw(t, "wait"))
			j.gpus = rapid.SampledFrom([]float64{0, 0.5, 1, 2, 3, 4, 8, 9, 16, 31, 32, 33, 100, 512, 4096, 5000}).Draw(t, "gpus")
			j.counted = rapid.Bool().Draw(t, "counted")
			jobs = append(jobs, j)
		}
		parts := bySize([][]job{jobs})(jobs)
		all, counted := 0, 0
		for _, p := range parts {
			all += len(p.values)
			if !slices.IsSorted(p.values) || len(p.values) == 0 {
				t.Fatalf("class %s has %v", p.name, p.values)
			}
		}
		for _, j := range jobs {
			if j.counted {
				counted++
			}
		}
		if all != counted || len(parts) > 10 {
			t.Fatalf("%d of %d jobs in %d classes", all, counted, len(parts))
		}
	})
}

// Of many queues the busiest have a line of their own, and the others one together; queues
// of carried jobs alone have none.
func TestWaitCDFOfManyQueues(t *testing.T) {
	var jobs []job
	for q := range 30 {
		for range 30 - q {
			j := lasting(float64(q))
			j.queue = fmt.Sprintf("q%02d", q)
			jobs = append(jobs, j)
		}
	}
	jobs = append(jobs, job{queue: "carried", wait: 1, gpus: 8})
	c := drawn(t, "wait-cdf", &Input{Runs: []Run{ran("gang", jobs...)}}, Options{By: "queue"})
	want := "q00, q01, q02, q03, q04, q05, q06, q07, q08, q09, q10, 19 other queues"
	wants(t, "lines", strings.Join(names(&c.Panels[0]), ", "), want)
	last := c.Panels[0].Lines[11].Points
	if first, end := last[0], last[len(last)-1]; first.X != 11 || end.Y != 100 {
		t.Errorf("the others go from %v to %v", first, end)
	}
	for _, by := range []string{"gang", "queue"} {
		c := drawn(t, "wait-cdf", &Input{Runs: []Run{ran("gang"), ran("per-pod", job{queue: "carried", wait: 1, gpus: 8})}}, Options{By: by})
		wants(t, "of nothing", c.Title+"; "+c.Panels[0].Empty, "No job was submitted; no job started")
	}
}

// A line of waits never falls, and ends at the share that started.
func TestLinesOfWaits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := waits{name: "x"}
		started := 0
		for range rapid.IntRange(1, 50).Draw(t, "jobs") {
			v := math.Inf(1)
			if rapid.Bool().Draw(t, "starts") {
				v = float64(rapid.IntRange(0, 20).Draw(t, "wait"))
				started++
			}
			w.values = append(w.values, v)
		}
		slices.Sort(w.values)
		l := w.line(100)
		if started == 0 {
			if len(l.Points) > 0 {
				t.Fatalf("a line of nothing: %v", l.Points)
			}
			return
		}
		for i, p := range l.Points {
			if i > 0 && (p.X < l.Points[i-1].X || p.Y < l.Points[i-1].Y) {
				t.Fatalf("it falls at %v: %v", i, l.Points)
			}
		}
		if end := l.Points[len(l.Points)-1]; end.X != 100 || math.Abs(end.Y-100*float64(started)/float64(len(w.values))) > 1e-9 {
			t.Fatalf("%d of %d started, and it ends at %v", started, len(w.values), end)
		}
	})
}

// Means of neighbours have the mean of all, where each stands for as many.
func TestFewer(t *testing.T) {
	for _, n := range []int{0, 1, mostSamples, mostSamples + 1, 10 * mostSamples} {
		var points []figure.Point
		for i := range n {
			points = append(points, figure.Point{X: float64(i), Y: float64(i * i % 97)})
		}
		some := fewer(points)
		if len(some) > mostSamples {
			t.Errorf("%d of %d points are left", len(some), n)
		}
		if n%mostSamples == 0 && n > 0 && math.Abs(mean(some)-mean(points)) > 1e-9 {
			t.Errorf("%d points have the mean %v, and fewer of them %v", n, mean(points), mean(some))
		}
		if n > 0 && some[0].X != 0 {
			t.Errorf("they begin at %v", some[0])
		}
	}
	if !math.IsNaN(mean(nil)) {
		t.Error("the mean of nothing is a number")
	}
}

// The caption says over which intervals it was averaged, of all runs.
func TestAveraged(t *testing.T) {
	of := func(width int64) *course[amounts] {
		c, err := readBooks(&Run{Tables: stored{ledger: booked(width, split(1, 0, 0, 0))}})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	none, hour, minute := &course[amounts]{}, of(hourNanos), of(hourNanos/60)
	for _, c := range []struct {
		courses []*course[amounts]
		want    string
	}{
		{[]*course[amounts]{none}, ""},
		{[]*course[amounts]{hour, none, hour}, "Averages over intervals of 1h."},
		{[]*course[amounts]{hour, minute}, "Averages over intervals of 1m to 1h."},
	} {
		wants(t, "the caption", averaged(c.courses), c.want)
	}
}

// Rows of no length, and accounts that there are not, are left out.
func TestBooksOfOddRows(t *testing.T) {
	b := booked(hourNanos, split(1, 2, 3, 4))
	b.AppendInt64(0, hourNanos)
	b.AppendInt64(1, hourNanos)
	b.AppendString(2, ledger.Useful.String())
	b.AppendFloat64(3, 99)
	b.AppendInt64(0, 0)
	b.AppendInt64(1, hourNanos)
	b.AppendString(2, "of the future")
	b.AppendFloat64(3, 99)
	c, err := readBooks(&Run{Tables: stored{ledger: b}})
	if err != nil || len(c.values) != 1 || c.values[0].sum() != 10 {
		t.Errorf("%+v, %v", c, err)
	}
	q, err := readQueues(&Run{Tables: stored{queues: queuesOf(0, []float64{1}, []float64{1}, []float64{1}, []float64{1})}})
	if err != nil || len(q.values) != 0 || peak(q.steps("x", func(int, *queued) float64 { return 1 })) != 0 {
		t.Errorf("queues over no time: %+v, %v", q, err)
	}
}

// Runs without samples are told what would give them some.
func TestFragmentationWithoutSamples(t *testing.T) {
	none := Run{Label: "gang", Summary: &report.Summary{}, Tables: stored{series: sampledAs(0, nil)}}
	for _, in := range []*Input{{Runs: []Run{none}}, {Runs: []Run{none, {Label: "x", Summary: none.Summary, Tables: none.Tables}}}} {
		for _, o := range []Options{{}, {Level: "rack"}} {
			_, err := try("fragmentation", in, o)
			fails(t, err, "fragmentation: gang has no samples: expected a run of a scenario with `sample`")
		}
	}
	some := Run{Label: "per-pod", Summary: none.Summary, Tables: stored{series: sampledAs(3, func(int) int64 { return 8000 })}}
	c := drawn(t, "fragmentation", &Input{Runs: []Run{some, none}}, Options{})
	wants(t, "one of two", c.Title, "Largest gang that fits into one rack, on average: 4 GPUs under per-pod")
}

// A ledger of nothing says so, and a job without a share of the cluster is no division by 0.
func TestLedgerOfNothing(t *testing.T) {
	empty := &report.Summary{Reserved: "0", AtRisk: "0"}
	c := drawn(t, "ledger", &Input{Runs: []Run{{Label: "gang", Summary: empty}}}, Options{})
	wants(t, "title", c.Title, "No GPU-hours")
	wants(t, "bars", say(len(c.Panels[0].Bars.Layers), c.Panels[0].Bars.Categories), "0 [gang]")
}

// GPU-time that is slower is counted once, whatever else there is.
func TestWeightedLines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var jobs []job
		some := false
		for range rapid.IntRange(0, 30).Draw(t, "jobs") {
			j := job{gpus: float64(rapid.IntRange(1, 64).Draw(t, "gpus")), run: float64(rapid.IntRange(0, 5).Draw(t, "run")),
				allReduce: rapid.SampledFrom([]float64{0, 0.999, 1, 1.5, 2, 8}).Draw(t, "slowdown")}
			some = some || j.run > 0 && j.allReduce > 0
			jobs = append(jobs, j)
		}
		l := weightedLine("x", jobs, factors[0].of)
		if !some {
			if len(l.Points) != 0 {
				t.Fatalf("a line of nothing: %v", l.Points)
			}
			return
		}
		if first, last := l.Points[0], l.Points[len(l.Points)-1]; first.Y != 0 || math.Abs(last.Y-100) > 1e-9 || first.X < 1 {
			t.Fatalf("it goes from %v to %v", first, last)
		}
		for i := 1; i < len(l.Points); i++ {
			if l.Points[i].X < l.Points[i-1].X || l.Points[i].Y < l.Points[i-1].Y {
				t.Fatalf("it falls: %v", l.Points)
			}
		}
	})
}

// Bars of runs leave out what is nowhere, at the end always and else if asked to.
func TestBarsByRun(t *testing.T) {
	in := &Input{Runs: []Run{ran("a"), ran("b")}}
	counts := [][]int64{{0, 0}, {3, 0}, {0, 0}, {0, 1000}, {0, 0}}
	of := func(k, run int) int64 { return counts[k][run] }
	all := []string{"none", "some", "hole", "many", "end"}
	b := byRun(in, all, of, false)
	wants(t, "whole", say(b.Categories, b.Layers[0].Values, b.Layers[1].Texts), "[none some hole many] [0 3 0 0] [   1,000]")
	b = byRun(in, all, of, true)
	wants(t, "trimmed", say(b.Categories, b.Layers[0].Values, b.Layers[1].Values), "[some many] [3 0] [0 1000]")
	b = byRun(in, all, func(int, int) int64 { return 0 }, false)
	wants(t, "nothing", say(len(b.Categories)), "0")
}

// Every cause of evictions has a name in the picture, and every number of requeues a bin.
func TestRequeuesOfEveryKind(t *testing.T) {
	j := job{counted: true}
	for c := range j.evictions {
		j.evictions[c] = int64(c) + 1
	}
	b := evictionsByCause(&Input{Runs: []Run{ran("gang", j)}}, [][]job{{j}})
	if len(b.Categories) != int(sim.NumCauses) || slices.Contains(b.Categories, "") || strings.Contains(strings.Join(b.Categories, ""), "_") {
		t.Errorf("the causes are called %q", b.Categories)
	}
	for _, n := range []int64{1, 2, 3, 4, 5, 16, 17, 64, 65, math.MaxInt32} {
		b := jobsByRequeues(&Input{Runs: []Run{ran("gang")}}, [][]job{{{requeues: n}}})
		if got := total(b.Layers[0].Values); got != 1 || b.Layers[0].Values[len(b.Layers[0].Values)-1] != 1 {
			t.Errorf("%d requeues: %v in %v", n, b.Layers[0].Values, b.Categories)
		}
	}
}

// What a run keeps none of is an error that names the kind, for every kind of runs.
func TestTablesThatAreMissing(t *testing.T) {
	whole := smallRuns().Runs[0]
	tables := whole.Tables.(stored)
	for kind, without := range map[string]stored{
		"utilisation": {jobs: tables.jobs, ledger: tables.ledger, series: tables.series},
		"ledger-time": {jobs: tables.jobs, queues: tables.queues},
		"requeues":    {ledger: tables.ledger},
	} {
		run := whole
		run.Label, run.Tables = "without", without
		_, err := try(kind, &Input{Runs: []Run{whole, run}}, Options{})
		fails(t, err, kind+": no table")
	}
	nulls := jobsOf(lasting(5))
	if v := ratio(nulls, 7, 0); v != 0 {
		t.Errorf("a slowdown that there is not is %v", v)
	}
	text := columnar.NewTable(columnar.Column{Name: "level", Kind: columnar.String})
	text.AppendNull(0)
	text.AppendString(0, "rack")
	wants(t, "levels", textAt(text, 0, 0)+"|"+textAt(text, 0, 1), "|rack")
}

// The frontier goes from the cheapest offer that nothing beats to the best one.
func TestTitlesOfFrontiers(t *testing.T) {
	m, _ := report.LookupMetric("wait.p95_seconds")
	tb := &table{metric: m}
	inf := math.Inf(1)
	for _, c := range []struct {
		offers []offer
		want   string
	}{
		{[]offer{{"gang", 8, 8, inf}, {"gang", 16, 16, inf}}, "Wait, p95: never, at every size"},
		{[]offer{{"gang", 8, 8, 60}, {"gang", 16, 16, 60}}, "Wait, p95: 1m with 8 GPUs under gang, and no cluster is better"},
		{[]offer{{"gang", 16, 16, 60}, {"per-pod", 8, 8, 600}, {"gang", 8, 8, inf}}, "Wait, p95: from 10m with 8 GPUs under per-pod to 1m with 16 GPUs under gang"},
	} {
		wants(t, "title", tb.frontierTitle(c.offers), c.want)
	}
	rapid.Check(t, func(t *rapid.T) {
		var all []offer
		for range rapid.IntRange(1, 12).Draw(t, "offers") {
			cost := float64(rapid.IntRange(1, 5).Draw(t, "cost"))
			all = append(all, offer{"x", cost, cost, float64(rapid.IntRange(0, 5).Draw(t, "wait"))})
		}
		for _, a := range all {
			beaten := slices.ContainsFunc(all, func(b offer) bool { return b.cost <= a.cost && b.y <= a.y && b != a })
			if dominated(a, all) != beaten {
				t.Fatalf("%v among %v: %v", a, all, !beaten)
			}
		}
	})
}

// Seeds that are not the same number everywhere are told as such.
func TestSayingSeeds(t *testing.T) {
	for _, c := range []struct {
		counts []int
		band   bool
		want   string
	}{
		{nil, true, ""}, {[]int{1, 1, 0}, true, ""}, {[]int{3, 3}, false, " Median over 3 seeds."},
		{[]int{3, 0, 2}, false, " Median over 2 to 3 seeds."}, {[]int{2}, true, " Median over 2 seeds; band: its 95% interval (percentile bootstrap)."},
	} {
		s := seeds{}
		for _, n := range c.counts {
			s.see(make([]*sweep.Cell, n))
		}
		wants(t, fmt.Sprint(c.counts), s.say(c.band), c.want)
	}
}
