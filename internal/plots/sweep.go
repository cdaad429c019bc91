package plots

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gangplan/gangplan/internal/stats"
	"github.com/gangplan/gangplan/internal/study"
	"github.com/gangplan/gangplan/internal/study/sweep"
	"github.com/gangplan/gangplan/internal/suggest"
	"github.com/gangplan/gangplan/report"
)

// usualMetric is what a sweep is drawn by where neither the command nor the study says.
const usualMetric = "wait.p95_seconds"

// table is a sweep as plots look at it: the values of one metric in every cell that was
// asked for.
type table struct {
	*sweep.Sweep
	metric *report.Metric
	cells  []*sweep.Cell
}

// newTable applies --metric and --where.
func newTable(in *Input, o *Options) (*table, error) {
	t := &table{Sweep: in.Sweep}
	name := o.Metric
	if name == "" {
		name = usualMetric
		if len(t.Shown) > 0 {
			name = t.Shown[0]
		}
	}
	var ok bool
	if t.metric, ok = report.LookupMetric(name); !ok {
		return nil, fmt.Errorf("unknown metric %q%s", name, suggest.Hint(name, study.MetricNames()))
	}
	keep, err := t.where(o.Where)
	if err != nil {
		return nil, err
	}
	for i := range t.Cells {
		if keep(&t.Cells[i]) {
			t.cells = append(t.cells, &t.Cells[i])
		}
	}
	if len(t.cells) == 0 {
		return nil, fmt.Errorf("no cell of the sweep is as asked for: %s", strings.Join(o.Where, ", "))
	}
	return t, nil
}

// drawing is a table over some axes: the cells that have the rest of their values in common
// are drawn as one line or panel, by the name of that.
type drawing struct {
	*table
	axes   []int
	names  []string
	groups map[string][]*sweep.Cell
}

// newDrawing picks the axes that flags ask for, --x or --y, each with another axis.
func newDrawing(in *Input, o *Options, what string, flags ...string) (*drawing, error) {
	t, err := newTable(in, o)
	if err != nil {
		return nil, err
	}
	d := &drawing{table: t}
	for _, flag := range flags {
		axis, err := t.pick(flag, map[string]string{"--x": o.X, "--y": o.Y}[flag], d.axes...)
		if err != nil {
			return nil, err
		}
		d.axes = append(d.axes, axis)
	}
	d.names, d.groups = alike(t.cells, func(c *sweep.Cell) string { return t.rest(c, d.axes) })
	return d, tooMany(len(d.names), what)
}

// where makes a filter of axis=value; the same axis twice allows both values.
func (t *table) where(conditions []string) (func(*sweep.Cell) bool, error) {
	allowed := make([]map[int]bool, len(t.Axes))
	for _, c := range conditions {
		name, value, ok := strings.Cut(c, "=")
		if !ok {
			return nil, fmt.Errorf("--where %q: expected axis=value", c)
		}
		i, err := t.axisNamed("--where", name)
		if err != nil {
			return nil, err
		}
		k := t.valueNamed(i, value)
		if k < 0 {
			return nil, fmt.Errorf("--where %s: the axis %s has no %q: expected one of %s%s", c, name, value,
				strings.Join(t.Axes[i].Values, ", "), suggest.Hint(value, t.Axes[i].Values))
		}
		if allowed[i] == nil {
			allowed[i] = map[int]bool{}
		}
		allowed[i][k] = true
	}
	return func(c *sweep.Cell) bool {
		for i := range allowed {
			if allowed[i] != nil && !allowed[i][c.At[i]] {
				return false
			}
		}
		return true
	}, nil
}

// valueNamed is the position of a value, as it is written in the study or as it is shown;
// -1 if there is none.
func (t *table) valueNamed(axis int, value string) int {
	return slices.IndexFunc(t.Axes[axis].Values, func(v string) bool {
		return v == value || t.text(axis, slices.Index(t.Axes[axis].Values, v)) == value
	})
}

func (t *table) axisNamed(flag, name string) (int, error) {
	if i := t.Axis(name); i >= 0 {
		return i, nil
	}
	var names []string
	for i := range t.Axes {
		names = append(names, t.Axes[i].Name)
	}
	return 0, fmt.Errorf("%s: the sweep has no axis %q: expected one of %s%s", flag, name, strings.Join(names, ", "), suggest.Hint(name, names))
}

// isSeed reports whether an axis repeats runs with other draws.
func (t *table) isSeed(i int) bool {
	return t.Axes[i].Name == "seed" || slices.Equal(t.Axes[i].Paths, []string{"seed"})
}

func (t *table) isPolicy(i int) bool { return t.Axes[i].Name == "policy" }

// varies reports whether the cells have more than one value of an axis.
func (t *table) varies(i int) bool {
	return slices.ContainsFunc(t.cells, func(c *sweep.Cell) bool { return c.At[i] != t.cells[0].At[i] })
}

// pick is the axis that was asked for, or the first that varies and is neither the seed nor
// the policy nor taken: with numbers if there is one.
func (t *table) pick(flag, name string, taken ...int) (int, error) {
	if name != "" {
		i, err := t.axisNamed(flag, name)
		if err == nil && slices.Contains(taken, i) {
			err = fmt.Errorf("%s: the axis %s is taken already", flag, name)
		}
		return i, err
	}
	best := -1
	for i := range t.Axes {
		if !t.varies(i) || t.isSeed(i) || t.isPolicy(i) || slices.Contains(taken, i) {
			continue
		}
		if best < 0 || t.Axes[best].Numbers == nil && t.Axes[i].Numbers != nil {
			best = i
		}
	}
	if best < 0 {
		return 0, fmt.Errorf("expected a sweep in which something varies besides policy and seed, for %s", flag)
	}
	return best, nil
}

// rest names what else tells a cell from others: its values on the axes that vary, without
// those that are drawn and, if there are such, the seed.
func (t *table) rest(c *sweep.Cell, drawn []int) string {
	var parts []string
	for i := range t.Axes {
		if !t.varies(i) || t.isSeed(i) && drawn != nil || slices.Contains(drawn, i) {
			continue
		}
		if t.isPolicy(i) {
			parts = append(parts, c.Values[i])
		} else {
			parts = append(parts, t.Axes[i].Name+" "+t.text(i, c.At[i]))
		}
	}
	return strings.Join(parts, ", ")
}

// alike divides the cells by a name, in the order in which the names appear.
func alike(cells []*sweep.Cell, name func(*sweep.Cell) string) (names []string, groups map[string][]*sweep.Cell) {
	groups = map[string][]*sweep.Cell{}
	for _, c := range cells {
		n := name(c)
		if groups[n] == nil {
			names = append(names, n)
		}
		groups[n] = append(groups[n], c)
	}
	return names, groups
}

// at divides cells by their value on an axis, in its order.
func at(cells []*sweep.Cell, axis int) (values []int, groups map[int][]*sweep.Cell) {
	groups = map[int][]*sweep.Cell{}
	for _, c := range cells {
		k := c.At[axis]
		if groups[k] == nil {
			values = append(values, k)
		}
		groups[k] = append(groups[k], c)
	}
	slices.SortStableFunc(values, cmp.Compare[int])
	return values, groups
}

// value is the metric of a cell. A quantile that lands on a job that never got there is
// infinite; anything else that is null is NaN.
func (t *table) value(c *sweep.Cell) float64 {
	v, ok := c.Metrics.Get(t.metric.Name)
	if ok {
		return v
	}
	of, what, _ := strings.Cut(t.metric.Name, ".")
	if strings.HasPrefix(what, "mean") || !slices.Contains([]string{"wait", "admission_wait", "jct", "bounded_slowdown"}, of) {
		return math.NaN()
	}
	return math.Inf(1)
}

// middle is the median over some cells, which differ in their seeds, and its interval of
// 95%; false where there is no value.
func (t *table) middle(cells []*sweep.Cell) (median float64, interval stats.Interval, ok bool) {
	var values []float64
	for _, c := range cells {
		if v := t.value(c); !math.IsNaN(v) {
			values = append(values, v)
		}
	}
	if len(values) == 0 {
		return 0, stats.Interval{}, false
	}
	median = stats.Median(values)
	interval, many := stats.MedianInterval(values, 0.95, 1)
	if !many {
		interval = stats.Interval{Low: median, High: median}
	}
	return median, interval, true
}

// seeds is how many cells stand for a point: the fewest and the most.
type seeds struct{ fewest, most int }

func (s *seeds) see(cells []*sweep.Cell) {
	switch {
	case len(cells) == 0:
		return
	case s.most == 0:
		s.fewest = len(cells)
	}
	s.fewest, s.most = min(s.fewest, len(cells)), max(s.most, len(cells))
}

// say says how a number comes from several seeds; nothing if there is one.
func (s *seeds) say(band bool) string {
	if s.most <= 1 {
		return ""
	}
	text := fmt.Sprintf(" Median over %d seeds", s.most)
	if s.fewest != s.most {
		text = fmt.Sprintf(" Median over %d to %d seeds", s.fewest, s.most)
	}
	if band {
		text += "; band: its 95% interval (percentile bootstrap)"
	}
	return text + "."
}

// notDrawn says where a metric is infinite; nothing if it is nowhere.
func notDrawn(never []string) string {
	if len(never) == 0 {
		return ""
	}
	return " Never, and so not drawn: " + strings.Join(never, "; ") + "."
}

// tooMany is an error if more is asked for than a picture takes.
func tooMany(n int, what string) error {
	if n <= mostLines {
		return nil
	}
	return fmt.Errorf("would draw %d %s; at most %d can be told apart: choose with --where axis=value", n, what, mostLines)
}
