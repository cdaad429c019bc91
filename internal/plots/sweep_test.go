package plots

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gangplan/gangplan/internal/study/sweep"
	"github.com/gangplan/gangplan/report"
	"github.com/gangplan/gangplan/report/figure"
)

// numbers is an axis of numbers of a unit, words one of words.
func numbers(name, unit string, values ...float64) sweep.Axis {
	a := sweep.Axis{Name: name, Paths: []string{name}, Unit: unit, Numbers: values}
	for _, v := range values {
		text := number(v)
		if unit == "s" {
			text = report.Span(v)
		}
		a.Values = append(a.Values, text)
	}
	return a
}

func words(name string, values ...string) sweep.Axis {
	return sweep.Axis{Name: name, Paths: []string{name}, Values: values}
}

// swept is a sweep of some axes in which one metric is a function of the values' positions;
// +Inf is null.
func swept(metric string, of func(at []int) float64, axes ...sweep.Axis) *Input {
	s := &sweep.Sweep{Axes: axes, Shown: []string{metric}}
	at := make([]int, len(axes))
	for {
		c := sweep.Cell{ID: fmt.Sprint(at), At: slices.Clone(at), Dir: fmt.Sprint(at)}
		for i := range axes {
			c.Values = append(c.Values, axes[i].Values[at[i]])
		}
		v := report.Value{Name: metric, Number: of(at)}
		if math.IsInf(v.Number, 1) {
			v.Number, v.Null = 0, true
		}
		c.Metrics = report.Values{v}
		s.Cells = append(s.Cells, c)
		i := len(axes) - 1
		for ; i >= 0; i-- {
			if at[i]++; at[i] < len(axes[i].Values) {
				break
			}
			at[i] = 0
		}
		if i < 0 {
			return &Input{Sweep: s}
		}
	}
}

// Three sizes of a cluster, two policies, three seeds: waits fall with the size.
func falling() *Input {
	return swept("wait.p95_seconds", func(at []int) float64 {
		if at[0] == 0 && at[1] == 1 {
			return math.Inf(1)
		}
		return float64(3600/(1+at[0])*(1+at[1]) + 60*at[2])
	}, numbers("racks", "", 2, 4, 8), words("policy", "gang", "per-pod"), numbers("seed", "", 1, 2, 3))
}

func TestSweepCurve(t *testing.T) {
	c := drawn(t, "sweep-curve", falling(), Options{})
	p := &c.Panels[0]
	wants(t, "title", c.Title, "Least wait, p95: 21m at racks 8 under gang")
	wants(t, "gang", points(p, "gang"), "2:3660 4:1860 8:1260")
	wants(t, "per-pod", points(p, "per-pod"), "2:+Inf 4:3660 8:2460")
	wants(t, "band", fmt.Sprint(p.Lines[0].Band[1]), "{1800 1920}")
	wants(t, "caption", c.Caption, "Submit to the first instant the start barrier holds; p95 over all jobs. Median over 3 seeds; band: its 95% interval (percentile bootstrap). "+
		"Never, and so not drawn: racks 2 under per-pod.")
	wants(t, "axes", say(p.X.Label, p.X.Ticks, p.Y.Label, p.Y.Scale == figure.Seconds), "racks [2 4 8] wait, p95 true")
	c = drawn(t, "sweep-curve", falling(), Options{Where: []string{"seed=1"}})
	if c.Panels[0].Lines[0].Band != nil || strings.Contains(c.Caption, "Median") {
		t.Errorf("one seed has an interval: %q", c.Caption)
	}
	c = drawn(t, "sweep-curve", falling(), Options{X: "seed", Where: []string{"racks=2", "racks=4", "policy=gang"}})
	wants(t, "lines by racks", strings.Join(names(&c.Panels[0]), ", "), "racks 2, racks 4")
}

func TestSweepCurveOverWords(t *testing.T) {
	in := swept("requeues", func(at []int) float64 { return float64(10 * at[0] * at[1]) }, words("mode", "required", "preferred"), words("policy", "gang", "per-pod"))
	c := drawn(t, "sweep-curve", in, Options{})
	wants(t, "title", c.Title, "Least requeues: 0 at mode required under gang, and at 2 other places")
	wants(t, "x", say(c.Panels[0].X.Names, points(&c.Panels[0], "per-pod")), "[required preferred] 0:0 1:10")
}

// An axis from seconds to hours is logarithmic, and so is a metric over such a range.
func TestFarApart(t *testing.T) {
	in := swept("wait.p95_seconds", func(at []int) float64 { return math.Pow(60, float64(at[0])) }, numbers("timeout", "s", 30, 300, 3600))
	p := drawn(t, "sweep-curve", in, Options{}).Panels[0]
	wants(t, "axes", say(p.X.Label+"; "+p.Y.Label, p.X.Scale == figure.LogSeconds && p.Y.Scale == figure.LogSeconds), "timeout, log scale; wait, p95, log scale true")
}

func TestSweepHeat(t *testing.T) {
	in := swept("wait.p95_seconds", func(at []int) float64 {
		if at[0] == 1 && at[1] == 0 && at[2] == 1 {
			return math.Inf(1)
		}
		return float64(60 * (1 + at[0] + 2*at[1] + 4*at[2] + 8*at[3]))
	}, numbers("timeout", "s", 60, 300), numbers("base", "s", 10, 60), words("policy", "gang", "per-pod"), numbers("seed", "", 1, 2, 3))
	c := drawn(t, "sweep-heat", in, Options{})
	h := c.Panels[1].Heat
	wants(t, "title", c.Title, "Least wait, p95: 9m at timeout 1m, base 10s under gang")
	wants(t, "panels", c.Panels[0].Title+" "+c.Panels[1].Title, "gang per-pod")
	wants(t, "heat", fmt.Sprint(h.Columns, h.Rows, h.Values, h.Texts), "[1m 5m] [1m 10s] [[900 960] [780 +Inf]] [[15m 16m] [13m never]]")
	wants(t, "scale", say(h.Label, c.Panels[0].Heat.Scale == h.Scale), "wait, p95 true")
	c = drawn(t, "sweep-heat", in, Options{X: "base", Y: "timeout", Where: []string{"policy=gang"}})
	wants(t, "turned", say(c.Panels[0].Heat.Columns, c.Panels[0].Heat.Rows, c.Panels[0].Title), "[10s 1m] [5m 1m]")
}

// A cell that was not run is as empty as one that has no number.
func TestHeatWithHoles(t *testing.T) {
	in := swept("requeues", func(at []int) float64 { return float64(at[0] + at[1]) }, numbers("a", "", 1, 2), numbers("b", "", 1, 2))
	in.Sweep.Cells = in.Sweep.Cells[:3]
	h := drawn(t, "sweep-heat", in, Options{}).Panels[0].Heat
	wants(t, "heat", fmt.Sprint(h.Rows, h.Values), "[2 1] [[1 NaN] [0 1]]")

	in = swept("requeues", func(at []int) float64 { return float64(at[0] + at[1]) }, numbers("a", "", 1, 2), numbers("b", "", 1, 2), numbers("seed", "", 1, 2))
	in.Sweep.Cells = in.Sweep.Cells[:5]
	c := drawn(t, "sweep-heat", in, Options{})
	wants(t, "caption", c.Caption, "Returns of evicted jobs to their queue; a backoff still pending at the end is none. Median over 1 to 2 seeds. Crossed: never, or not run.")
}

func TestFrontier(t *testing.T) {
	defer func() { sized = sizeOf }()
	sized = func(c *sweep.Cell) (float64, error) { return []float64{64, 128, 256}[c.At[0]], nil }
	c := drawn(t, "frontier", falling(), Options{})
	wants(t, "title", c.Title, "Wait, p95: from 1h1m with 64 GPUs under gang to 21m with 256 GPUs under gang")
	wants(t, "gang", points(&c.Panels[0], "gang"), "64:3660 128:1860 256:1260")
	wants(t, "rings", fmt.Sprint(c.Panels[0].Lines[0].Texts, c.Panels[0].Lines[1].Texts), "[64 GPUs 128 GPUs 256 GPUs] []")
	wants(t, "x", c.Panels[0].X.Label, "GPUs")
	if !strings.Contains(c.Caption, "Never, and so not drawn: 64 GPUs under per-pod.") {
		t.Error(c.Caption)
	}
	c = drawn(t, "frontier", falling(), Options{Cost: 2.5, Metric: "wait.p95_seconds"})
	wants(t, "cost", c.Panels[0].X.Label+" "+points(&c.Panels[0], "gang"), "cost of 30 days, at 2.5 per GPU-hour 115200:3660 230400:1860 460800:1260")

	_, err := try("frontier", falling(), Options{Metric: "jobs.finished"})
	fails(t, err, "frontier: jobs.finished is not better where it is lower")
	sized = func(*sweep.Cell) (float64, error) { return 64, nil }
	_, err = try("frontier", falling(), Options{})
	fails(t, err, "expected a sweep in which the number of GPUs varies")
	sized = sizeOf
	_, err = try("frontier", falling(), Options{})
	fails(t, err, "nothing is there")
}

// Nothing that is dearer and no better is on the frontier.
func TestDominated(t *testing.T) {
	inf := math.Inf(1)
	all := []offer{{"a", 1, 1, 10}, {"a", 2, 2, 5}, {"b", 2, 2, 6}, {"b", 3, 3, 5}, {"c", 2, 2, 5}, {"d", 4, 4, inf}, {"d", 0, 0, inf}}
	var on []bool
	for _, o := range all {
		on = append(on, !dominated(o, all))
	}
	wants(t, "on", fmt.Sprint(on), "[true true false false true false false]")
}

func TestSweepMistakes(t *testing.T) {
	many := numbers("size", "", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13)
	large := swept("requeues", func([]int) float64 { return 1 }, many, numbers("b", "", 1, 2), numbers("c", "", 1, 2))
	runs := &Input{Runs: []Run{ran("gang", lasting(1))}}
	for _, c := range []struct {
		kind string
		in   *Input
		o    Options
		want string
	}{
		{"sweep-curve", runs, Options{}, "sweep-curve: draws a sweep: expected the folder of one"},
		{"sweep-curve", falling(), Options{Metric: "wait.p59_seconds"}, `unknown metric "wait.p59_seconds" (did you mean wait.p`},
		{"sweep-curve", falling(), Options{X: "rack"}, `--x: the sweep has no axis "rack": expected one of racks, policy, seed (did you mean racks?)`},
		{"sweep-curve", falling(), Options{Where: []string{"racks"}}, `--where "racks": expected axis=value`},
		{"sweep-curve", falling(), Options{Where: []string{"racks=3"}}, `the axis racks has no "3": expected one of 2, 4, 8`},
		{"sweep-curve", falling(), Options{Where: []string{"racks=2"}}, "expected a sweep in which something varies besides policy and seed, for --x"},
		{"sweep-heat", falling(), Options{}, "for --y"},
		{"sweep-heat", falling(), Options{X: "racks", Y: "racks"}, "--y: the axis racks is taken already"},
		{"sweep-curve", large, Options{X: "b"}, "would draw 26 lines; at most 12"},
		{"sweep-heat", large, Options{X: "b", Y: "c"}, "would draw 13 panels; at most 12"},
		{"wait-cdf", falling(), Options{}, "the sweep has 18 runs; choose at most 12 with --where axis=value"},
		{"wait-cdf", falling(), Options{Where: []string{"seed=1"}}, "nothing is there"},
		{"wait-cdf", runs, Options{Where: []string{"seed=1"}}, "--where chooses among the cells of a sweep"},
		{"wait-cdf", &Input{}, Options{}, "wait-cdf: expected at least one run"},
		{"wait-cdf", &Input{Runs: append(runs.Runs, runs.Runs...)}, Options{}, `two runs are called "gang"`},
		{"ledger", &Input{Runs: make([]Run, 13)}, Options{}, "got 13 runs; at most 12 can be told apart"},
		{"wait-cfd", runs, Options{}, "did you mean wait-cdf?"},
	} {
		_, err := try(c.kind, c.in, c.o)
		fails(t, err, c.want)
	}
}
