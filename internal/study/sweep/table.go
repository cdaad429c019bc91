package sweep

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gangplan/gangplan/internal/stats"
	"github.com/gangplan/gangplan/internal/study"
	"github.com/gangplan/gangplan/internal/suggest"
	"github.com/gangplan/gangplan/report"
)

// Formats are the names that Write knows.
func Formats() []string { return []string{"table", "wide", "json", "csv", "markdown"} }

// CheckFormat says what is wrong with the name of a format.
func CheckFormat(format string) error {
	if !slices.Contains(Formats(), format) {
		return fmt.Errorf("unknown output format %q, expected one of %s%s", format, strings.Join(Formats(), ", "), suggest.Hint(format, Formats()))
	}
	return nil
}

// Write writes the results: as a table or as Markdown with a row for all seeds of the same
// values, wide with a row per cell, as CSV with every metric, or as the index itself.
func (s *Sweep) Write(w io.Writer, format string) error {
	if err := CheckFormat(format); err != nil {
		return err
	}
	shown, err := study.ChooseMetrics(s.Shown)
	if err != nil {
		return err
	}
	switch format {
	case "json":
		text, err := indented(s)
		if err != nil {
			return err
		}
		_, err = w.Write(text)
		return err
	case "csv":
		return s.allCells().Write(w, "csv")
	case "wide":
		return s.grid(-1, shown).Write(w, "table")
	}
	return s.grid(s.seedAxis(), shown).Write(w, format)
}

// seedAxis returns the axis whose values are drawn together, -1 if there is none.
func (s *Sweep) seedAxis() int {
	return slices.IndexFunc(s.Axes, func(a Axis) bool { return a.Sets(seedPath) && len(a.Values) > 1 })
}

// grid shows some metrics, with one row for the cells that differ only on one axis.
func (s *Sweep) grid(over int, shown []string) *report.Grid {
	g := &report.Grid{Title: s.title(over), Verdicts: s.verdicts(), Assumptions: s.Assumptions, Warnings: s.Warnings}
	for a := range s.Axes {
		if a != over {
			g.Header = append(g.Header, s.Axes[a].Name)
		}
	}
	g.Words = len(g.Header)
	var metrics []*report.Metric
	for _, name := range shown {
		m, _ := report.LookupMetric(name)
		metrics = append(metrics, m)
		g.Header = append(g.Header, strings.TrimSpace(m.Name+" "+m.Better.Arrow()))
	}
	for _, cells := range s.rows(over) {
		var row []string
		for a, v := range cells[0].Values {
			if a != over {
				row = append(row, v)
			}
		}
		for _, m := range metrics {
			row = append(row, spread(m, cells))
		}
		g.Rows = append(g.Rows, row)
	}
	return g
}

// title says what was swept, and how many cells share a row.
func (s *Sweep) title(over int) string {
	parts := []string{report.Count(len(s.Cells), "cell")}
	if s.Name != "" {
		parts = []string{s.Name, parts[0]}
	}
	if over >= 0 {
		parts = append(parts, "median (least – most) of "+seeds(s.rows(over)))
	}
	return strings.Join(parts, " · ")
}

// seeds says how many cells share a row.
func seeds(rows [][]*Cell) string {
	fewest, most := math.MaxInt, 0
	for _, row := range rows {
		fewest, most = min(fewest, len(row)), max(most, len(row))
	}
	if fewest == most {
		return report.Count(most, "seed")
	}
	return fmt.Sprintf("%d to %s", fewest, report.Count(most, "seed"))
}

// rows groups the cells that differ only on one axis, in the order of the first of each.
func (s *Sweep) rows(over int) [][]*Cell {
	var rows [][]*Cell
	at := map[string]int{}
	for i := range s.Cells {
		var key strings.Builder
		for a, k := range s.Cells[i].At {
			if a != over {
				fmt.Fprint(&key, k, " ")
			}
		}
		row, ok := at[key.String()]
		if !ok {
			row = len(rows)
			at[key.String()] = row
			rows = append(rows, nil)
		}
		rows[row] = append(rows[row], &s.Cells[i])
	}
	return rows
}

// spread shows a metric of some cells: the median, and the least and the most if they
// differ. A value that is not there is more than any other.
func spread(m *report.Metric, cells []*Cell) string {
	values := make([]float64, len(cells))
	for i, c := range cells {
		v, ok := c.Metrics.Get(m.Name)
		if values[i] = v; !ok {
			values[i] = math.Inf(1)
		}
	}
	text := func(x float64) string { return m.Text(x, !math.IsInf(x, 1)) }
	least, median, most := text(slices.Min(values)), text(stats.Median(values)), text(slices.Max(values))
	if least == most {
		return median
	}
	return fmt.Sprintf("%s (%s – %s)", median, least, most)
}

// allCells has every metric of every cell, in digits that are exact.
func (s *Sweep) allCells() *report.Grid {
	g := &report.Grid{Words: len(s.Axes)}
	for a := range s.Axes {
		g.Header = append(g.Header, s.Axes[a].Name)
	}
	g.Header = append(g.Header, "cell", "digest", "end_seconds", "verdicts")
	for _, m := range report.Metrics() {
		g.Header = append(g.Header, m.Name)
	}
	exact := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	for i := range s.Cells {
		c := &s.Cells[i]
		row := append(slices.Clone(c.Values), c.ID, c.Digest, exact(c.EndSeconds), strconv.Itoa(c.Verdicts))
		for _, m := range report.Metrics() {
			text := ""
			if v, ok := c.Metrics.Get(m.Name); ok {
				text = exact(v)
			}
			row = append(row, text)
		}
		g.Rows = append(g.Rows, row)
	}
	return g
}

// verdicts says in how many cells there is a verdict, by its kind.
func (s *Sweep) verdicts() []string {
	var lines []string
	for _, m := range report.Metrics() {
		kind, ok := strings.CutPrefix(m.Name, "verdicts.")
		if !ok {
			continue
		}
		cells := 0
		for i := range s.Cells {
			if v, _ := s.Cells[i].Metrics.Get(m.Name); v > 0 {
				cells++
			}
		}
		if cells > 0 {
			lines = append(lines, fmt.Sprintf("%s in %s", kind, report.Count(cells, "cell")))
		}
	}
	return lines
}
