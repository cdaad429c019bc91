package plots

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gangplan/gangplan/internal/columnar"
	"github.com/gangplan/gangplan/internal/suggest"
	"github.com/gangplan/gangplan/report/figure"
)

// series are the samples of one metric at one level.
type series struct {
	metric, level string
	points        []figure.Point // X in s, Y in GPUs
}

// readSeries reads the samples of a run, in the order in which the series appear.
func readSeries(r *Run) ([]series, error) {
	t, err := r.Tables.Series("time_ns", "metric", "level", "value")
	if err != nil {
		return nil, err
	}
	var all []series
	for i := range t.Rows() {
		metric, level := t.Strings(1)[i], textAt(t, 2, i)
		k := slices.IndexFunc(all, func(s series) bool { return s.metric == metric && s.level == level })
		if k < 0 {
			k = len(all)
			all = append(all, series{metric: metric, level: level})
		}
		all[k].points = append(all[k].points, figure.Point{X: float64(t.Int64s(0)[i]) / 1e9, Y: float64(t.Int64s(3)[i]) / 1000})
	}
	for i := range all {
		all[i].points = fewer(all[i].points)
	}
	return all, nil
}

// mostSamples is how many points of a curve can be told apart on paper.
const mostSamples = 360

// fewer replaces samples by the means of as many neighbours as make them few enough.
func fewer(points []figure.Point) []figure.Point {
	each := (len(points) + mostSamples - 1) / mostSamples
	if each < 2 {
		return points
	}
	var out []figure.Point
	for from := 0; from < len(points); from += each {
		some := points[from:min(from+each, len(points))]
		out = append(out, figure.Point{X: some[0].X, Y: mean(some)})
	}
	return out
}

func textAt(t *columnar.Table, column, row int) string {
	if t.IsNull(column, row) {
		return ""
	}
	return t.Strings(column)[row]
}

// find returns the points of a series, nil if there is none.
func find(all []series, metric, level string) []figure.Point {
	for i := range all {
		if all[i].metric == metric && all[i].level == level {
			return all[i].points
		}
	}
	return nil
}

// levelsOf are the levels of a run from the widest to the host.
func levelsOf(all []series) (levels []string) {
	for i := range all {
		if all[i].metric == "unusable" {
			levels = append(levels, all[i].level)
		}
	}
	return levels
}

// fragmentation draws all levels of one run, or one level of several.
func fragmentation(in *Input, o *Options) (*figure.Chart, error) {
	all := make([][]series, len(in.Runs))
	for i := range in.Runs {
		var err error
		if all[i], err = readSeries(&in.Runs[i]); err != nil {
			return nil, err
		}
	}
	levels := levelsOf(all[0])
	if len(levels) == 0 {
		return nil, fmt.Errorf("%s has no samples: expected a run of a scenario with `sample`, such as sample: 10m", in.Runs[0].Label)
	}
	if o.Level != "" && !slices.Contains(levels, o.Level) {
		return nil, fmt.Errorf("no level %q: expected one of %s%s", o.Level, strings.Join(levels, ", "), suggest.Hint(o.Level, levels))
	}
	if len(in.Runs) == 1 && o.Level == "" {
		return labelBelow(levelsChart(all[0], levels, in.Runs[0].Label)), nil
	}
	level := o.Level
	if level == "" {
		level = levels[max(0, len(levels)-2)]
	}
	return labelBelow(runsChart(in, all, level)), nil
}

const sampledCaption = "Sampled after the last decision of an instant. A gang fits if one domain has free room for its pods, of the shape that asks for most GPUs in all; " +
	"free GPUs are unusable in domains that hold no waiting gang whole, and on hosts that hold no waiting pod."

// levelsChart is one run, a line per level; of levels at which all is the same the widest.
func levelsChart(all []series, levels []string, label string) *figure.Chart {
	largest, unusable := seriesPanel("largest gang that would fit"), seriesPanel("free GPUs, and those of them that cannot be used")
	wider := find(all, "largest_gang", "")
	largest.Lines = []figure.Line{{Name: "in the cluster", Points: wider, Style: 7}}
	for i, level := range levels {
		line := figure.Line{Name: "in one " + level, Points: find(all, "largest_gang", level), Style: i + 1}
		if slices.Equal(line.Points, wider) {
			continue
		}
		wider = line.Points
		largest.Lines = append(largest.Lines, line)
		unusable.Lines = append(unusable.Lines, figure.Line{Name: line.Name, Points: find(all, "unusable", level), Style: i + 1})
	}
	unusable.Lines = append(unusable.Lines, figure.Line{Name: "by a typical pod (FGD)", Points: find(all, "fgd", ""), Style: len(levels) + 1})
	unusable.Stack = areaOf("free in all", find(all, "free", ""))
	c := &figure.Chart{Panels: []figure.Panel{largest, unusable}, Caption: label + ". " + sampledCaption}
	level := levels[max(0, len(levels)-2)]
	c.Title = fmt.Sprintf("Of %s free GPUs on average, %s are in a %s that holds no waiting gang whole; the largest gang that would fit into one has %s",
		number(math.Round(mean(find(all, "free", "")))), number(math.Round(mean(find(all, "unusable", level)))), level, gpus(math.Round(mean(find(all, "largest_gang", level)))))
	return c
}

// areaOf is an area under samples, each standing until the next one.
func areaOf(name string, points []figure.Point) *figure.Stack {
	if len(points) < 2 {
		return nil
	}
	s := &figure.Stack{Layers: []figure.Layer{{Name: name, Color: light}}}
	for i, p := range points {
		s.Edges = append(s.Edges, p.X)
		if i+1 < len(points) {
			s.Layers[0].Values = append(s.Layers[0].Values, p.Y)
		}
	}
	return s
}

// runsChart is one level, a line per run.
func runsChart(in *Input, all [][]series, level string) *figure.Chart {
	panels := []figure.Panel{
		seriesPanel("largest gang that would fit into one " + level),
		seriesPanel("free, in a " + level + " that holds no waiting gang whole"),
		seriesPanel("free, and of no use to a typical pod (FGD)"),
	}
	if level == "host" {
		panels[1].Title = "free, on hosts where no waiting pod fits (stranded)"
	}
	var told []said
	for i, s := range all {
		for k, points := range [][]figure.Point{find(s, "largest_gang", level), find(s, "unusable", level), find(s, "fgd", "")} {
			panels[k].Lines = append(panels[k].Lines, figure.Line{Name: in.Runs[i].Label, Points: points})
		}
		if m := mean(find(s, "largest_gang", level)); !math.IsNaN(m) {
			told = append(told, said{in.Runs[i].Label, gpus(math.Round(m)), -m})
		}
	}
	return &figure.Chart{Panels: panels, Title: "Largest gang that fits into one " + level + ", on average: " + telling(told), Caption: sampledCaption}
}

func seriesPanel(title string) figure.Panel {
	return figure.Panel{Title: title, X: figure.Axis{Label: "time from the start", Scale: figure.Seconds, Format: span}, Y: figure.Axis{Label: "GPUs"}}
}

// mean is over samples, which are equally far from each other; NaN of none.
func mean(points []figure.Point) float64 {
	sum := 0.0
	for _, p := range points {
		sum += p.Y
	}
	return sum / float64(len(points))
}
