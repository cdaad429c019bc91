package main

import (
	"io"
	"os"
	"path/filepath"

	"github.com/gangplan/gangplan/internal/fragmentation"
	"github.com/gangplan/gangplan/internal/staging"
	"github.com/gangplan/gangplan/report/figure"
)

// curveJSON is a curve in JSON: columns of the same length.
type curveJSON struct {
	Workload  string               `json:"workload"`
	Scorer    string               `json:"scorer"`
	Asked     []int                `json:"asked"`
	Columns   map[string][]float64 `json:"percent"`
	Published *curveJSON           `json:"published,omitempty"`
}

type curvesJSON struct {
	Study  string      `json:"study"`
	Curves []curveJSON `json:"curves"`
}

func (c *curves) document() curvesJSON {
	d := curvesJSON{Study: c.title, Curves: []curveJSON{}}
	for i := range c.ours {
		curve := jsonOf(&c.ours[i])
		if len(c.published[i].Points) > 0 {
			published := jsonOf(&c.published[i])
			curve.Published = &published
		}
		d.Curves = append(d.Curves, curve)
	}
	return d
}

func jsonOf(c *fragmentation.Curve) curveJSON {
	out := curveJSON{Workload: c.Workload, Scorer: c.Policy, Asked: []int{}, Columns: map[string][]float64{}}
	for _, p := range c.Points {
		out.Asked = append(out.Asked, p.Arrived)
		for _, column := range curveColumns {
			out.Columns[column.name] = append(out.Columns[column.name], column.of(p))
		}
	}
	return out
}

// plot draws a picture of each column of each workload.
func (c *curves) plot(folder string) error {
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	for from := 0; from < len(c.ours); {
		to := from
		for to < len(c.ours) && c.ours[to].Workload == c.ours[from].Workload {
			to++
		}
		for column := range curveColumns {
			if err := c.plotColumn(folder, from, to, column); err != nil {
				return err
			}
		}
		from = to
	}
	return nil
}

// plotColumn draws the curves [from, to), which are of one workload: ours as lines, the
// published points as circles.
func (c *curves) plotColumn(folder string, from, to, column int) error {
	what := &curveColumns[column]
	chart := figure.Chart{Title: c.ours[from].Workload + ": lines ours, circles published"}
	panel := figure.Panel{X: figure.Axis{Label: "GPUs asked for (% of all)", Max: fragmentation.Arrived - 1}, Y: figure.Axis{Label: what.label}}
	if column != 1 {
		panel.Y.Max = 100
	}
	known := false
	for i := from; i < to; i++ {
		points := func(c *fragmentation.Curve) (out []figure.Point) {
			for _, p := range c.Points {
				out = append(out, figure.Point{X: float64(p.Arrived), Y: what.of(p)})
			}
			return out
		}
		known = known || len(c.published[i].Points) > 0
		panel.Lines = append(panel.Lines, figure.Line{Name: c.ours[i].Policy, Points: points(&c.ours[i]), Marks: points(&c.published[i])})
	}
	if !known {
		chart.Title = c.ours[from].Workload
	}
	chart.Panels = []figure.Panel{panel}
	return writeFigure(filepath.Join(folder, c.ours[from].Workload+"-"+what.name), &chart)
}

// writeFigure writes a chart in every format, under a name that the format's ending is
// put behind.
func writeFigure(name string, c *figure.Chart) error {
	for _, format := range figure.Formats() {
		if err := staging.WriteFile(name+"."+format, func(w io.Writer) error { return c.Write(w, format) }); err != nil {
			return err
		}
	}
	return nil
}
