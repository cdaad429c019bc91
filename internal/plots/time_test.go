package plots

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/gangplan/gangplan/internal/columnar"
	"github.com/gangplan/gangplan/report"
	"github.com/gangplan/gangplan/report/figure"
	"github.com/gangplan/gangplan/sim/ledger"
)

// booked is ledger.parquet of intervals of so many ns, each with GPU-hours by account.
func booked(width int64, books ...amounts) *columnar.Table {
	t := columnar.NewTable(columnar.Column{Name: "time_ns", Kind: columnar.Int64}, columnar.Column{Name: "end_ns", Kind: columnar.Int64},
		columnar.Column{Name: "account", Kind: columnar.String}, columnar.Column{Name: "gpu_hours", Kind: columnar.Float64})
	for i := range books {
		for range 2 { // two GPU models, each with half
			for a := range ledger.NumAccounts {
				t.AppendInt64(0, int64(i)*width)
				t.AppendInt64(1, int64(i+1)*width)
				t.AppendString(2, a.String())
				t.AppendFloat64(3, books[i][a]/2)
			}
		}
	}
	return t
}

// queuesOf is queues.parquet of two queues, each with the same numbers per interval.
func queuesOf(width int64, pending, admitted, running, wanted []float64) *columnar.Table {
	t := columnar.NewTable(columnar.Column{Name: "time_ns", Kind: columnar.Int64}, columnar.Column{Name: "end_ns", Kind: columnar.Int64},
		columnar.Column{Name: "pending_jobs", Kind: columnar.Float64}, columnar.Column{Name: "admitted_jobs", Kind: columnar.Float64},
		columnar.Column{Name: "running_jobs", Kind: columnar.Float64}, columnar.Column{Name: "wanted_gpus", Kind: columnar.Float64})
	for i := range pending {
		for range 2 {
			t.AppendInt64(0, int64(i)*width)
			t.AppendInt64(1, int64(i+1)*width)
			for k, v := range []float64{pending[i], admitted[i], running[i], wanted[i]} {
				t.AppendFloat64(2+k, v)
			}
		}
	}
	return t
}

const hourNanos = int64(3600e9)

// split makes amounts of useful, held, blocked (insufficient) and free GPU-hours.
func split(useful, held, blocked, free float64) (a amounts) {
	a[ledger.Useful], a[ledger.Held], a[ledger.BlockedInsufficient], a[ledger.NoDemand] = useful, held, blocked, free
	return a
}

// summary has metrics of some GPU-hours and says when the run ended.
func summary(end int64, a amounts) *report.Summary {
	s := &report.Summary{EndNanos: end}
	s.EndSeconds = float64(end) / 1e9
	model := report.ModelBooks{Model: "h100"}
	for account := range ledger.NumAccounts {
		s.Metrics = append(s.Metrics, report.Value{Name: "gpu_hours." + account.String(), Number: a[account]})
		model.Accounts = append(model.Accounts, report.AccountBooks{Account: account.String(), Sum: fmt.Sprintf("%.0f", a[account]*3600e12), Held: 0})
	}
	s.Metrics = append(s.Metrics, report.Value{Name: "utilisation", Number: a[ledger.Useful] / a.sum()})
	s.Models, s.Reserved, s.AtRisk = []report.ModelBooks{model}, "0", "0"
	return s
}

// heights are the values of the layers of a stack by name.
func heights(layers []figure.Layer) string {
	var parts []string
	for _, l := range layers {
		parts = append(parts, fmt.Sprintf("%s %v", l.Name, l.Values))
	}
	return strings.Join(parts, "; ")
}

func TestLedgerTime(t *testing.T) {
	books := booked(2*hourNanos, split(10, 0, 0, 6), split(4, 8, 4, 0))
	in := &Input{Runs: []Run{
		{Label: "gang", Summary: summary(4*hourNanos, split(14, 8, 4, 6)), Tables: stored{ledger: books}},
		{Label: "per-pod", Summary: summary(2*hourNanos, split(10, 0, 0, 6)), Tables: stored{ledger: booked(2*hourNanos, split(10, 0, 0, 6))}},
	}}
	c := drawn(t, "ledger-time", in, Options{})
	wants(t, "title", c.Title, "Most GPUs held at once by jobs that do not run: 0 under per-pod, 4 under gang")
	wants(t, "caption", c.Caption, "Averages over intervals of 2h. Every GPU is in one account at any time.")
	wants(t, "gang", heights(c.Panels[0].Stack.Layers), "useful [5 2]; held, gang incomplete [0 4]; free, insufficient [0 2]; free, nobody waits [3 0]")
	wants(t, "per-pod", heights(c.Panels[1].Stack.Layers), "useful [5]; held, gang incomplete [0]; free, insufficient [0]; free, nobody waits [3]")
	wants(t, "edges", fmt.Sprint(c.Panels[0].Stack.Edges, c.Panels[1].X.Max), "[0 7200 14400] 14400")
}

// Joining neighbours loses nothing, and leaves the last interval as short as it was.
func TestWidened(t *testing.T) {
	for _, n := range []int{1, 240, 241, 1024} {
		var all []amounts
		for i := range n {
			all = append(all, split(float64(i), 0, 0, 1))
		}
		c, err := readBooks(&Run{Tables: stored{ledger: booked(1e9, all...)}})
		if err != nil {
			t.Fatal(err)
		}
		useful, free := 0.0, 0.0
		for i, v := range c.values {
			useful, free = useful+v[ledger.Useful], free+v[ledger.NoDemand]
			if c.seconds(i) != v[ledger.NoDemand] {
				t.Errorf("%d: interval %d of %v s has %v free", n, i, c.seconds(i), v[ledger.NoDemand])
			}
		}
		if useful != float64(n*(n-1)/2) || free != float64(n) || len(c.values) > mostIntervals || len(c.edges) != len(c.values)+1 || c.edges[len(c.values)] != float64(n) {
			t.Errorf("%d: %v useful, %v free in %d intervals up to %v", n, useful, free, len(c.values), c.edges[len(c.values)])
		}
	}
}

func TestUtilisation(t *testing.T) {
	tables := stored{ledger: booked(hourNanos, split(6, 0, 0, 2), split(2, 2, 4, 0)),
		queues: queuesOf(hourNanos, []float64{0, 2}, []float64{3, 3}, []float64{2, 1.5}, []float64{0, 16})}
	c := drawn(t, "utilisation", &Input{Runs: []Run{{Label: "gang", Summary: summary(2*hourNanos, split(8, 2, 4, 2)), Tables: tables}}}, Options{})
	wants(t, "title", c.Title, "Utilisation: 50% under gang. Most jobs waiting: 7 under gang")
	wants(t, "useful", points(&c.Panels[0], "gang"), "0:75 3600:25 7200:25")
	wants(t, "jobs", points(&c.Panels[1], "gang"), "0:2 3600:7 7200:7")
	wants(t, "GPUs", points(&c.Panels[2], "gang"), "0:0 3600:32 7200:32")
}

// Bars are of equal length where the shorter run was kept on.
func TestLedgerBars(t *testing.T) {
	short := summary(hourNanos, split(6, 0, 0, 2))
	short.Models[0].Accounts[ledger.NoDemand].Held = 8000
	in := &Input{Runs: []Run{{Label: "gang", Summary: short}, {Label: "per-pod", Summary: summary(2*hourNanos, split(8, 2, 4, 2))}}}
	c := drawn(t, "ledger", in, Options{})
	wants(t, "title", c.Title, "Useful: 50% under per-pod, 38% under gang. Held by jobs that do not run: 0% under gang, 12% under per-pod")
	wants(t, "bars", heights(c.Panels[0].Bars.Layers), "useful [6 8]; held, gang incomplete [0 2]; free, insufficient [0 4]; free, nobody waits [10 2]")
	wants(t, "texts", fmt.Sprint(c.Panels[0].Bars.Layers[3].Texts), "[62% 12%]")
	wants(t, "caption", c.Caption, "All GPU-hours of the cluster up to 2h, each in one account.")
	short.Models[0].Running = 1000
	c = drawn(t, "ledger", in, Options{})
	wants(t, "still running", heights(c.Panels[0].Bars.Layers[3:]), "free, nobody waits [2 2]")
	wants(t, "caption", c.Caption, "All GPU-hours of the cluster up to 2h, each in one account. Up to an end of its own, at which jobs still ran: gang.")
}

// Whatever the amounts, the bands hold all of them, and few are of what is blocked.
func TestBandsHoldEverything(t *testing.T) {
	for seed := range 200 {
		all := make([]amounts, 3)
		for i := range all {
			for a := range all[i] {
				all[i][a] = math.Pow(10, float64((seed*31+i*7+a*13)%9)-4) * float64((seed+a)%3)
			}
		}
		bands := bandsOf(all)
		for i := range all {
			sum := 0.0
			for _, b := range bands {
				sum += b.of(&all[i])
			}
			if math.Abs(sum-all[i].sum()) > 1e-9*sum {
				t.Errorf("seed %d: bands hold %v of %v", seed, sum, all[i].sum())
			}
		}
		if free := strings.Count(fmt.Sprint(bands), "{free, "); free > 6 {
			t.Errorf("seed %d: %d bands are free", seed, free)
		}
	}
}

// sampledAs is series.parquet of a run with two levels.
func sampledAs(n int, rack func(i int) int64) *columnar.Table {
	t := columnar.NewTable(columnar.Column{Name: "time_ns", Kind: columnar.Int64}, columnar.Column{Name: "metric", Kind: columnar.String},
		columnar.Column{Name: "level", Kind: columnar.String}, columnar.Column{Name: "value", Kind: columnar.Int64})
	add := func(i int, metric, level string, value int64) {
		t.AppendInt64(0, int64(i)*hourNanos)
		t.AppendString(1, metric)
		if level == "" {
			t.AppendNull(2)
		} else {
			t.AppendString(2, level)
		}
		t.AppendInt64(3, value)
	}
	for i := range n {
		add(i, "free", "", 40_000)
		add(i, "fgd", "", 10_000)
		add(i, "largest_gang", "", rack(i))
		for _, level := range []string{"zone", "rack", "host"} {
			add(i, "largest_gang", level, map[string]int64{"zone": rack(i), "rack": rack(i) / 2, "host": 8000}[level])
			add(i, "unusable", level, map[string]int64{"zone": 0, "rack": 5000, "host": 1000}[level])
		}
	}
	return t
}

func TestFragmentation(t *testing.T) {
	rack := func(i int) int64 { return int64(32_000 * (1 + i)) }
	run := Run{Label: "gang", Summary: &report.Summary{}, Tables: stored{series: sampledAs(2, rack)}}
	c := drawn(t, "fragmentation", &Input{Runs: []Run{run}}, Options{})
	wants(t, "title", c.Title, "Of 40 free GPUs on average, 5 are in a rack that holds no waiting gang whole; the largest gang that would fit into one has 24 GPUs")
	wants(t, "levels", strings.Join(names(&c.Panels[0]), ", "), "in the cluster, in one rack, in one host") // a zone is the cluster
	wants(t, "unusable", strings.Join(names(&c.Panels[1]), ", "), "in one rack, in one host, by a typical pod (FGD)")
	wants(t, "rack", points(&c.Panels[0], "in one rack"), "0:16 3600:32")
	wants(t, "free", fmt.Sprint(c.Panels[1].Stack.Edges, c.Panels[1].Stack.Layers[0].Values), "[0 3600] [40]")

	other := Run{Label: "per-pod", Summary: &report.Summary{}, Tables: stored{series: sampledAs(2, func(int) int64 { return 8000 })}}
	c = drawn(t, "fragmentation", &Input{Runs: []Run{run, other}}, Options{})
	wants(t, "title", c.Title, "Largest gang that fits into one rack, on average: 24 GPUs under gang, 4 GPUs under per-pod")
	wants(t, "unusable", points(&c.Panels[1], "gang")+"|"+points(&c.Panels[2], "per-pod"), "0:5 3600:5|0:10 3600:10")
	c = drawn(t, "fragmentation", &Input{Runs: []Run{run}}, Options{Level: "host"})
	wants(t, "stranded", c.Panels[1].Title+" "+points(&c.Panels[1], "gang"), "free, on hosts where no waiting pod fits (stranded) 0:1 3600:1")
	_, err := try("fragmentation", &Input{Runs: []Run{run}}, Options{Level: "hots"})
	fails(t, err, `no level "hots": expected one of zone, rack, host (did you mean host?)`)
}

// Of many samples the means of neighbours are drawn.
func TestManySamples(t *testing.T) {
	run := Run{Label: "gang", Summary: &report.Summary{}, Tables: stored{series: sampledAs(1000, func(i int) int64 { return int64(2000 * i) })}}
	c := drawn(t, "fragmentation", &Input{Runs: []Run{run}}, Options{})
	line := c.Panels[0].Lines[0].Points
	if len(line) != 334 || line[0] != (figure.Point{X: 0, Y: 2}) || line[333] != (figure.Point{X: 999 * 3600, Y: 1998}) {
		t.Errorf("%d points from %v to %v", len(line), line[0], line[len(line)-1])
	}
}
