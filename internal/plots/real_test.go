package plots

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gangplan/gangplan/internal/scenario"
	"github.com/gangplan/gangplan/internal/stats"
	"github.com/gangplan/gangplan/internal/study"
	"github.com/gangplan/gangplan/report"
	"github.com/gangplan/gangplan/report/figure"
	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/sim/ledger"
	"github.com/gangplan/gangplan/topology"
)

// contended is a cluster on which everything happens that plots show: two queues, jobs that
// wait, requeues, stalls by placement and by neighbours, samples.
const contended = `apiVersion: gangplan/v1alpha1
kind: Scenario
name: contended
cluster: {synthetic: {zones: 1, racks: 2, hosts: 4, gpus: 8, gpuModel: h100}}
fabric: {profile: h100-ndr, levels: {rack: {oversubscription: 7}}}
workload: {synthetic: {mix: llm, jobs: 80, load: 1.2}}
policies:
- {name: per-pod, ties: random}
- {name: gang, ties: random}
- {name: gang-topology, mode: preferred, level: rack}
waitForPodsReady: {timeout: 4m, requeuingStrategy: {timestamp: Eviction, backoffBaseSeconds: 60, backoffMaxSeconds: 600}}
timing: kubernetes
until: 1d
seed: 3
sample: 20m
`

// played are the outcomes of contended, and the same read back from their run directories.
type played struct {
	outcomes []study.Outcome
	in       *Input
}

var playContended = sync.OnceValues(func() (*played, error) {
	f, err := scenario.Parse("contended.yaml", []byte(contended))
	if err != nil {
		return nil, err
	}
	s, err := f.Resolve("")
	if err != nil {
		return nil, err
	}
	p := &played{}
	p.outcomes, err = study.Run(testContext, s.Config, study.Choices(s), study.Options{})
	if err != nil {
		return nil, err
	}
	if _, err := study.Save(testFolder, *study.Manifest("v1", s), p.outcomes); err != nil {
		return nil, err
	}
	p.in, err = Open([]string{testFolder})
	return p, err
})

// realRuns returns the runs in the order of their folders, each with its result.
func realRuns(t *testing.T) (*Input, map[string]*sim.Result) {
	t.Helper()
	p, err := playContended()
	if err != nil {
		t.Fatal(err)
	}
	results := map[string]*sim.Result{}
	for i := range p.outcomes {
		results[p.outcomes[i].Label] = p.outcomes[i].Result
	}
	if len(p.in.Runs) != len(results) {
		t.Fatalf("%d runs of %d", len(p.in.Runs), len(results))
	}
	if _, err := p.in.Runs[0].Tables.Jobs("state"); err != nil {
		t.Skip("no tables here: ", err)
	}
	return p.in, results
}

// waitsOf are the waits of a result in seconds, +Inf of a job that never started.
func waitsOf(r *sim.Result, of func(row *sim.JobRow) bool) (all []float64) {
	for i := range r.Jobs {
		row := &r.Jobs[i]
		switch {
		case row.State == sim.Future || !of(row):
		case row.FirstStart < 0:
			all = append(all, math.Inf(1))
		default:
			all = append(all, float64(row.FirstStart-row.Submit)/1e9)
		}
	}
	slices.Sort(all)
	return all
}

func everyJob(*sim.JobRow) bool { return true }

// follows wants a line to be, at each of its corners, the share of some values up to there.
func follows(t *testing.T, l figure.Line, values []float64) {
	t.Helper()
	before := figure.Point{X: math.Inf(-1)}
	for k, at := range l.Points {
		within := 0
		for _, v := range values {
			if v <= at.X {
				within++
			}
		}
		want := 100 * float64(within) / float64(len(values))
		if k == 0 {
			want = 0 // it rises from the ground at the first
		}
		if math.Abs(at.Y-want) > 1e-9 || at.X < before.X || at.Y < before.Y {
			t.Errorf("line %s: at %v s it is %v%%, expected %v%%", l.Name, at.X, at.Y, want)
		}
		before = at
	}
}

// The share of jobs that started is counted again from the results, and the quantile in the
// title is that of the table.
func TestRealWaits(t *testing.T) {
	in, results := realRuns(t)
	c := drawn(t, "wait-cdf", in, Options{})
	for _, l := range c.Panels[0].Lines {
		follows(t, l, waitsOf(results[l.Name], everyJob))
	}
	m, _ := report.LookupMetric("wait.p95_seconds")
	for _, r := range in.Runs {
		v, ok := r.Summary.Metrics.Get(m.Name)
		if !strings.Contains(c.Title, m.Text(v, ok)+" under "+r.Label) {
			t.Errorf("the title %q does not say that %s takes %s", c.Title, r.Label, m.Text(v, ok))
		}
	}
}

// By size and by queue every job is in one line of its panel.
func TestRealWaitsOfParts(t *testing.T) {
	in, results := realRuns(t)
	for _, by := range []string{"gang", "queue"} {
		c := drawn(t, "wait-cdf", in, Options{By: by})
		if len(c.Panels) != len(in.Runs) {
			t.Fatalf("by %s: %d panels", by, len(c.Panels))
		}
		for _, p := range c.Panels {
			r := results[p.Title]
			for _, l := range p.Lines {
				some := func(row *sim.JobRow) bool { return gpus(float64(row.GPUs)/1000) == l.Name }
				if by == "queue" {
					some = func(row *sim.JobRow) bool { return r.Config.Queues[row.Queue].Name == l.Name }
				}
				values := waitsOf(r, some)
				if len(values) == 0 && by == "gang" {
					continue // a class of several sizes
				}
				follows(t, l, values)
			}
		}
	}
}

// The bars of the ledger are as long as the cluster is large and the time long, and a band
// is the sum of the accounts of the books.
func TestRealLedger(t *testing.T) {
	in, results := realRuns(t)
	c := drawn(t, "ledger", in, Options{})
	bars := c.Panels[0].Bars
	for i, label := range bars.Categories {
		r := results[label]
		whole := float64(r.Config.Cluster.Capacity()[topology.GPU]) / 1000 * float64(r.End) / 3600e9
		sum := 0.0
		for _, l := range bars.Layers {
			sum += l.Values[i]
		}
		if math.Abs(sum-whole) > 1e-6*whole {
			t.Errorf("%s: the bar is %v GPU-hours long, expected %v", label, sum, whole)
		}
		for _, l := range bars.Layers {
			if l.Name != "useful" {
				continue
			}
			if want := hoursOf(r, ledger.Useful); math.Abs(l.Values[i]-want) > 1e-6*whole {
				t.Errorf("%s: useful is %v, expected %v", label, l.Values[i], want)
			}
		}
	}
}

// Over time, the stack is as high as the cluster at every moment, and its areas add up to
// the bars.
func TestRealLedgerOverTime(t *testing.T) {
	in, results := realRuns(t)
	over, bars := drawn(t, "ledger-time", in, Options{}), drawn(t, "ledger", in, Options{}).Panels[0].Bars
	for _, p := range over.Panels {
		whole := float64(results[p.Title].Config.Cluster.Capacity()[topology.GPU]) / 1000
		area := map[string]float64{}
		for k := range len(p.Stack.Edges) - 1 {
			height := 0.0
			for _, l := range p.Stack.Layers {
				height += l.Values[k]
				area[l.Name] += l.Values[k] * (p.Stack.Edges[k+1] - p.Stack.Edges[k]) / 3600
			}
			if math.Abs(height-whole) > 1e-6*whole {
				t.Errorf("%s: from %v s on %v GPUs, expected %v", p.Title, p.Stack.Edges[k], height, whole)
			}
		}
		i := slices.Index(bars.Categories, p.Title)
		for _, l := range bars.Layers {
			// Series over time show running time undivided: what was thrown away ran as useful.
			if got, ok := area[l.Name]; ok && strings.HasPrefix(l.Name, "held") && math.Abs(got-l.Values[i]) > 1e-6*whole {
				t.Errorf("%s: the area of %s is %v GPU-hours, the bar %v", p.Title, l.Name, got, l.Values[i])
			}
		}
	}
}

// The average of the line of useful time is what the accounts say, and the area under the
// jobs that wait is the sum of their waits: admitted or not, none of them runs.
func TestRealUtilisation(t *testing.T) {
	in, results := realRuns(t)
	c := drawn(t, "utilisation", in, Options{})
	area := func(l figure.Line) (sum float64) {
		for k := range len(l.Points) - 1 {
			sum += l.Points[k].Y * (l.Points[k+1].X - l.Points[k].X)
		}
		return sum
	}
	for k := range in.Runs {
		useful, jobs := c.Panels[0].Lines[k], c.Panels[1].Lines[k]
		r := results[useful.Name]
		end := float64(r.End) / 1e9
		if got := useful.Points[len(useful.Points)-1].X; got != end {
			t.Errorf("%s ends at %v, expected %v", useful.Name, got, end)
		}
		mean := area(useful) / end
		v, _ := in.Runs[k].Summary.Metrics.Get("utilisation")
		if lost := lostShare(r); mean < 100*v-1e-6 || mean > 100*(v+lost)+1e-6 {
			t.Errorf("%s: %v%% useful on average, expected %v to %v", useful.Name, mean, 100*v, 100*(v+lost))
		}
		// A checkpoint of this workload takes 30 s.
		if got, all := area(jobs), notRunning(r); got <= 0 || got > all+1e-3 || math.Abs(math.Remainder(all-got, 30)) > 1e-3 || all-got > 30*float64(len(r.Jobs)) {
			t.Errorf("%s: jobs wait for %v s of the %v s in which they make no progress", jobs.Name, got, all)
		}
	}
}

// hoursOf are the GPU-hours of a result in an account.
func hoursOf(r *sim.Result, a ledger.Account) (sum float64) {
	for model := range r.Books.Models() {
		sum += r.Books.Sum(model, a).Float64() / 3600e12
	}
	return sum
}

// lostShare is the part of capacity that ran and was thrown away.
func lostShare(r *sim.Result) float64 {
	sum := 0.0
	for a := range ledger.NumAccounts {
		sum += hoursOf(r, a)
	}
	return hoursOf(r, ledger.Lost) / sum
}

// notRunning is the time that jobs were there and made no progress, in seconds: they waited,
// or wrote checkpoints.
func notRunning(r *sim.Result) (sum float64) {
	for i := range r.Jobs {
		row := &r.Jobs[i]
		if row.State == sim.Future {
			continue
		}
		end := r.End
		if row.Finish >= 0 {
			end = row.Finish
		}
		sum += float64(end-row.Submit-row.RunNanos) / 1e9
	}
	return sum
}

// Requeues and evictions are counted again from the results.
func TestRealRequeues(t *testing.T) {
	in, results := realRuns(t)
	c := drawn(t, "requeues", in, Options{})
	for k, l := range c.Panels[0].Bars.Layers {
		r, jobs := results[l.Name], 0
		evicted, requeued := 0.0, int32(0)
		for i := range r.Jobs {
			if requeued += r.Jobs[i].Requeues; r.Jobs[i].Requeues > 0 {
				jobs++
			}
			for _, n := range r.Jobs[i].Evictions {
				evicted += float64(n)
			}
		}
		if got := total(l.Values); got != float64(jobs) {
			t.Errorf("%s: %v jobs, expected %d", l.Name, got, jobs)
		}
		if got := total(c.Panels[1].Bars.Layers[k].Values); got != evicted {
			t.Errorf("%s: %v evictions, expected %v", l.Name, got, evicted)
		}
		if !strings.Contains(c.Title, fmt.Sprintf("%s under %s", number(float64(requeued)), l.Name)) {
			t.Errorf("the title %q does not say %d of %s", c.Title, requeued, l.Name)
		}
	}
}

func total(values []float64) (sum float64) {
	for _, v := range values {
		sum += v
	}
	return sum
}

// The share of GPU-time up to a slowdown is counted again, and its 95% are where the title
// says.
func TestRealSlowdowns(t *testing.T) {
	in, results := realRuns(t)
	c := drawn(t, "slowdown-cdf", in, Options{})
	for _, l := range c.Panels[0].Lines {
		r := results[l.Name]
		type weighed struct{ slowdown, weight float64 }
		var all []weighed
		sum := 0.0
		for i := range r.Jobs {
			if row := &r.Jobs[i]; row.AllReduce > 0 {
				w := weighed{float64(row.AllReduce) / 1e6, float64(row.GPUs) * float64(row.RunNanos)}
				all, sum = append(all, w), sum+w.weight
			}
		}
		slices.SortStableFunc(all, func(a, b weighed) int { return cmp.Compare(a.slowdown, b.slowdown) })
		for _, at := range l.Points[1:] {
			within := 0.0
			for _, w := range all {
				if w.slowdown <= at.X+1e-9 {
					within += w.weight
				}
			}
			if want := 100 * within / sum; math.Abs(at.Y-want) > 1e-6 {
				t.Errorf("%s: up to %v× it is %v%%, expected %v%%", l.Name, at.X, at.Y, want)
			}
		}
		v, _ := summaryOf(in, l.Name).Metrics.Get("allreduce_slowdown.p95")
		if at := slices.IndexFunc(l.Points, func(p figure.Point) bool { return p.Y >= 95 }); math.Abs(l.Points[at].X-v) > 1e-6 {
			t.Errorf("%s: 95%% are reached at %v, and the table says %v", l.Name, l.Points[at].X, v)
		}
	}
}

func summaryOf(in *Input, label string) *report.Summary {
	i := slices.IndexFunc(in.Runs, func(r Run) bool { return r.Label == label })
	return in.Runs[i].Summary
}

// The means of what is drawn over time are those of the table.
func TestRealFragmentation(t *testing.T) {
	in, _ := realRuns(t)
	c := drawn(t, "fragmentation", in, Options{})
	for k, metric := range []string{"fragmentation.largest_gang_mean", "fragmentation.unusable_mean"} {
		for i, r := range in.Runs {
			want, _ := r.Summary.Metrics.Get(metric)
			if got := mean(c.Panels[k].Lines[i].Points); math.Abs(got-want) > 1e-6 {
				t.Errorf("%s of %s: %v on average, expected %v", metric, r.Label, got, want)
			}
		}
	}
	stranded := drawn(t, "fragmentation", in, Options{Level: "host"})
	for i, r := range in.Runs {
		want, _ := r.Summary.Metrics.Get("fragmentation.stranded_mean")
		if got := mean(stranded.Panels[1].Lines[i].Points); math.Abs(got-want) > 1e-6 {
			t.Errorf("stranded of %s: %v on average, expected %v", r.Label, got, want)
		}
	}
}

// Pictures of real runs, one of them and all, are drawn in every format.
func TestRealPictures(t *testing.T) {
	in, _ := realRuns(t)
	for i := range kinds {
		if kinds[i].Sweep {
			continue
		}
		for _, some := range []*Input{in, {Runs: in.Runs[:1]}} {
			c := drawn(t, kinds[i].Name, some, Options{})
			for _, format := range figure.Formats() {
				var b strings.Builder
				if err := c.Write(&b, format); err != nil || b.Len() < 1000 {
					t.Errorf("%s of %d runs as %s: %d bytes, %v", kinds[i].Name, len(some.Runs), format, b.Len(), err)
				}
			}
		}
	}
}

// The quantile that titles tell is the nearest rank, whatever there is.
func TestQuantileOfWaits(t *testing.T) {
	in, results := realRuns(t)
	for _, r := range in.Runs {
		values := waitsOf(results[r.Label], everyJob)
		w := waits{values: values}
		for p := 1; p <= 100; p++ {
			if got, want := w.quantile(p), values[(p*len(values)+99)/100-1]; got != want {
				t.Errorf("%s: p%d is %v, expected %v", r.Label, p, got, want)
			}
		}
		if got := stats.Median(values); math.IsNaN(got) {
			t.Error("a wait is no number")
		}
	}
}
