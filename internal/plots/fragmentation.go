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
	return all, nil
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
	if o.Level != "" && !slices.Contains(levels, o.Level) {
		return nil, fmt.Errorf("no level %q: expected one of %s%s", o.Level, strings.Join(levels, ", "), suggest.Hint(o.Level, levels))
	}
	if len(in.Runs) == 1 && o.Level == "" {
		return labelBelow(levelsChart(all[0], levels, in.Runs[0].Label)), nil
	}
	level := o.Level
	if level == "" && len(levels) > 0 {
		level = levels[max(0, len(levels)-2)]
	}
	return labelBelow(runsChart(in, all, level)), nil
}

const sampledCaption = " Sampled after the last decision of an instant. A gang fits if one domain has free room for its pods, of the shape that asks for most GPUs in all; " +
	"free GPUs are unusable in domains that hold no waiting gang whole, and on hosts that hold no waiting pod."

// levelsChart is one run, a line per level.
func levelsChart(all []series, levels []string, label string) *figure.Chart {
	largest, unusable := seriesPanel("largest gang that would fit"), seriesPanel("free GPUs, and which of them cannot be used")
	for i := len(levels) - 1; i >= 0; i-- {
		style := len(levels) - i
		largest.Lines = append(largest.Lines, figure.Line{Name: "in one " + levels[i], Points: find(all, "largest_gang", levels[i]), Style: style})
		unusable.Lines = append(unusable.Lines, figure.Line{Name: "in one " + levels[i], Points: find(all, "unusable", levels[i]), Style: style})
	}
	largest.Lines = append(largest.Lines, figure.Line{Name: "in the cluster", Points: find(all, "largest_gang", ""), Style: len(levels) + 1})
	unusable.Lines = append(unusable.Lines,
		figure.Line{Name: "by a typical pod (FGD)", Points: find(all, "fgd", ""), Style: len(levels) + 2},
		figure.Line{Name: "free in all", Points: find(all, "free", ""), Style: 7})
	c := &figure.Chart{Panels: []figure.Panel{largest, unusable}, Caption: label + "." + sampledCaption, Title: "No samples"}
	if level := levels[max(0, len(levels)-2)]; len(largest.Lines[0].Points) > 0 {
		c.Title = fmt.Sprintf("Of %s free GPUs on average, %s lie in a %s where no waiting gang fits; the largest that fits into one has %s",
			number(mean(find(all, "free", ""))), number(mean(find(all, "unusable", level))), level, gpus(math.Round(mean(find(all, "largest_gang", level)))))
	}
	return c
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
	return &figure.Chart{Panels: panels, Title: "Largest gang that fits into one " + level + ", on average: " + telling(told), Caption: strings.TrimSpace(sampledCaption)}
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
