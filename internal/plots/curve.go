package plots

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gangplan/gangplan/internal/stats"
	"github.com/gangplan/gangplan/internal/study/sweep"
	"github.com/gangplan/gangplan/report"
	"github.com/gangplan/gangplan/report/figure"
)

// farApart is the factor between the ends of an axis from which on it is logarithmic.
const farApart = 30

// axisOf draws numbers of a unit, from the least to the most of them.
func axisOf(label, unit string, least, most float64) figure.Axis {
	a := figure.Axis{Label: label, Format: number}
	log := least > 0 && most >= farApart*least
	switch {
	case unit == "s" && log:
		a.Scale, a.Format = figure.LogSeconds, span
	case unit == "s":
		a.Scale, a.Format = figure.Seconds, span
	case log:
		a.Scale = figure.Log
	}
	if log {
		a.Label += ", log scale"
	}
	return a
}

// title of a metric as a person would say it: "wait, p95", "idle GPU-hours".
func title(m *report.Metric) string {
	name := strings.TrimSuffix(m.Name, "_seconds")
	of, what, parts := strings.Cut(name, ".")
	switch {
	case parts && of == "gpu_hours":
		name = what + " GPU-hours"
	case parts && of == m.Unit:
		name = of + " " + what
	}
	return strings.NewReplacer(".", ", ", "_", " ").Replace(name)
}

// label is the title with the unit, unless the title or the numbers carry it.
func label(m *report.Metric) string {
	if m.Unit == "s" || strings.Contains(title(m), m.Unit) || m.Unit == "ratio" && strings.Contains(m.Name, "slowdown") {
		return title(m)
	}
	return title(m) + " (" + m.Unit + ")"
}

// write writes a value of a metric.
func write(m *report.Metric, v float64) string {
	switch {
	case math.IsInf(v, 1):
		return "never"
	case math.IsNaN(v):
		return "none"
	case m.Unit == "s":
		return report.Span(v)
	}
	return number(v)
}

// metricAxis is the axis of a metric over some of its values.
func metricAxis(m *report.Metric, values []float64) figure.Axis {
	least, most := math.Inf(1), 0.0
	for _, v := range values {
		if !math.IsInf(v, 0) && !math.IsNaN(v) {
			most = max(most, v)
			if v > 0 {
				least = min(least, v)
			}
		}
	}
	return axisOf(label(m), m.Unit, least, most)
}

// position is where a value of an axis is drawn: at its number, or at its place among them.
func (t *table) position(axis, k int) float64 {
	if numbers := t.Axes[axis].Numbers; numbers != nil {
		return numbers[k]
	}
	return float64(k)
}

// text is a value of an axis as it is shown: a time as times are written.
func (t *table) text(axis, k int) string {
	if a := &t.Axes[axis]; a.Numbers != nil && a.Unit == "s" {
		return report.Span(a.Numbers[k])
	}
	return t.Axes[axis].Values[k]
}

// mostTicks is how many values of an axis each get a tick.
const mostTicks = 12

// xAxis is an axis of the sweep as one of a panel.
func (t *table) xAxis(i int) figure.Axis {
	a := &t.Axes[i]
	if a.Numbers == nil {
		return figure.Axis{Label: a.Name, Names: a.Values}
	}
	name := a.Name
	if a.Unit != "" && a.Unit != "s" {
		name += " (" + a.Unit + ")"
	}
	out := axisOf(name, a.Unit, slices.Min(a.Numbers), slices.Max(a.Numbers))
	if len(a.Numbers) <= mostTicks {
		out.Ticks = a.Numbers
	}
	if out.Scale == figure.Linear && slices.Min(a.Numbers) > 0 {
		least, most := slices.Min(a.Numbers), slices.Max(a.Numbers)
		room := (most - least) * 0.04
		out.Min, out.Max = least-room, most+room
	}
	return out
}

// best is the best of some values by a metric, and where it was seen.
type best struct {
	metric *report.Metric
	where  string
	value  float64
	some   bool
	more   int // other places with the same value
}

func (b *best) see(where string, v float64) {
	better := v < b.value
	if b.metric.Better == report.Higher {
		better = v > b.value
	}
	switch {
	case math.IsNaN(v):
	case !b.some || better:
		b.where, b.value, b.some, b.more = where, v, true, 0
	case v == b.value:
		b.more++
	}
}

// title tells it.
func (b *best) title(over string) string {
	switch {
	case !b.some:
		return "No " + title(b.metric)
	case math.IsInf(b.value, 1):
		return upper(title(b.metric)) + ": never, everywhere"
	case b.metric.Better == report.Neutral:
		return upper(title(b.metric)) + " over " + over
	}
	what, more := "Least ", ""
	if b.metric.Better == report.Higher {
		what = "Most "
	}
	if b.more > 0 {
		more = ", and at " + count(b.more, "other place")
	}
	return what + title(b.metric) + ": " + write(b.metric, b.value) + " at " + b.where + more
}

func upper(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// doc is the metric's, without what null means, which captions say in their own words.
func doc(m *report.Metric) string {
	text, _, _ := strings.Cut(strings.TrimPrefix(m.Doc, "of these, "), ", null")
	return upper(text) + "."
}

// under adds whom a place belongs to, if there are several.
func under(where, whom string) string {
	switch {
	case whom == "":
		return where
	case strings.Contains(whom, ", "):
		return where + " (" + whom + ")"
	}
	return where + " under " + whom
}

// mostLines is how many lines a picture takes.
const mostLines = 12

// sweepCurve draws a line per policy, or whatever else varies, over one axis.
func sweepCurve(in *Input, o *Options) (*figure.Chart, error) {
	t, err := newDrawing(in, o, "lines", "--x")
	if err != nil {
		return nil, err
	}
	x := t.axes[0]
	p := figure.Panel{X: t.xAxis(x)}
	top, over := best{metric: t.metric}, seeds{}
	var values []float64
	var never []string
	for _, name := range t.names {
		line, missing := t.curve(name, x, t.groups[name], &top, &over)
		for _, at := range line.Points {
			values = append(values, at.Y)
		}
		if missing != "" {
			never = append(never, under(missing, name))
		}
		p.Lines = append(p.Lines, line)
	}
	p.Y = metricAxis(t.metric, values)
	for i := range p.Lines {
		if over.most <= 1 {
			p.Lines[i].Band = nil
		}
	}
	return &figure.Chart{Title: top.title(t.Axes[x].Name), Panels: []figure.Panel{p}, Caption: doc(t.metric) + over.say(true) + notDrawn(never)}, nil
}

// curve is the line of some cells; missing names the places at which it is infinite.
func (t *table) curve(name string, x int, cells []*sweep.Cell, top *best, over *seeds) (l figure.Line, missing string) {
	l.Name = name
	var never []string
	values, groups := at(cells, x)
	for _, k := range values {
		over.see(groups[k])
		median, interval, ok := t.middle(groups[k])
		place := t.Axes[x].Name + " " + t.text(x, k)
		if !ok {
			median, interval = math.NaN(), stats.Interval{}
		}
		if math.IsInf(median, 1) {
			never = append(never, t.text(x, k))
		}
		top.see(under(place, name), median)
		l.Points = append(l.Points, figure.Point{X: t.position(x, k), Y: median})
		l.Band = append(l.Band, figure.Range{Low: interval.Low, High: interval.High})
	}
	l.Marks = l.Points
	if len(never) > 0 {
		missing = t.Axes[x].Name + " " + joined(never)
	}
	return l, missing
}

// mostTexts is how many cells of a heat map have their number written in them.
const mostTexts = 200

// sweepHeat draws a panel per policy, or whatever else varies.
func sweepHeat(in *Input, o *Options) (*figure.Chart, error) {
	t, err := newDrawing(in, o, "panels", "--x", "--y")
	if err != nil {
		return nil, err
	}
	x, y := t.axes[0], t.axes[1]
	top, over := best{metric: t.metric}, seeds{}
	c := &figure.Chart{Columns: grid(len(t.names))}
	for _, name := range t.names {
		h := t.heat(name, x, y, t.groups[name], &top, &over)
		c.Panels = append(c.Panels, figure.Panel{Title: name, X: figure.Axis{Label: t.Axes[x].Name}, Y: figure.Axis{Label: t.Axes[y].Name}, Heat: h})
	}
	scaleHeat(t.metric, c.Panels)
	c.Title = top.title(t.Axes[x].Name + " and " + t.Axes[y].Name)
	c.Caption = doc(t.metric) + over.say(false)
	if slices.ContainsFunc(c.Panels, func(p figure.Panel) bool { return slices.ContainsFunc(p.Heat.Values, holes) }) {
		c.Caption += " Crossed: never, or not run."
	}
	return labelBelow(c), nil
}

// holes reports whether some value is none.
func holes(row []float64) bool {
	return slices.ContainsFunc(row, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
}

// heat is the map of some cells.
func (t *table) heat(name string, x, y int, cells []*sweep.Cell, top *best, over *seeds) *figure.Heat {
	h := &figure.Heat{}
	columns, _ := at(t.cells, x)
	rows, _ := at(t.cells, y)
	for _, k := range columns {
		h.Columns = append(h.Columns, t.text(x, k))
	}
	_, byRow := at(cells, y)
	for i := len(rows) - 1; i >= 0; i-- { // as an axis goes: upwards
		_, byColumn := at(byRow[rows[i]], x)
		values, texts := make([]float64, len(columns)), make([]string, len(columns))
		for j, k := range columns {
			values[j] = math.NaN()
			over.see(byColumn[k])
			if median, _, ok := t.middle(byColumn[k]); ok {
				values[j], texts[j] = median, write(t.metric, median)
				top.see(under(fmt.Sprintf("%s %s, %s %s", t.Axes[x].Name, t.text(x, k), t.Axes[y].Name, t.text(y, rows[i])), name), median)
			}
		}
		h.Rows, h.Values, h.Texts = append(h.Rows, t.text(y, rows[i])), append(h.Values, values), append(h.Texts, texts)
	}
	if len(h.Rows)*len(h.Columns) > mostTexts {
		h.Texts = nil
	}
	return h
}

// scaleHeat gives all maps the scale that the axis of their metric would have.
func scaleHeat(m *report.Metric, panels []figure.Panel) {
	var values []float64
	for i := range panels {
		values = append(values, slices.Concat(panels[i].Heat.Values...)...)
	}
	a := metricAxis(m, values)
	for i := range panels {
		panels[i].Heat.Scale, panels[i].Heat.Format, panels[i].Heat.Label = a.Scale, a.Format, a.Label
	}
}
