package compare

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/gangplan/gangplan/internal/stats"
	"github.com/gangplan/gangplan/internal/suggest"
	"github.com/gangplan/gangplan/report"
)

// Formats are the names that Render knows, the default first.
func Formats() []string { return []string{"table", "json", "csv", "markdown", "benchfmt"} }

// CheckFormat returns an error unless Render knows the format.
func CheckFormat(format string) error {
	if slices.Contains(Formats(), format) {
		return nil
	}
	return fmt.Errorf("unknown output format %q, expected one of %s%s", format, strings.Join(Formats(), ", "), suggest.Hint(format, Formats()))
}

// Render writes the comparison in a format.
func (c *Comparison) Render(w io.Writer, format string) error {
	switch format {
	case "json":
		return report.WriteJSON(w, c)
	case "csv":
		return c.sheet().Write(w, format)
	case "benchfmt":
		return c.writeBenchmarks(w)
	}
	for i := range c.Groups {
		if i > 0 {
			if _, err := fmt.Fprintln(w); err != nil {
				return err
			}
		}
		g := c.grid(&c.Groups[i])
		if i == len(c.Groups)-1 {
			for _, warning := range c.Warnings {
				g.Warnings = append(g.Warnings, warning.Text)
			}
		}
		if err := g.Write(w, format); err != nil {
			return err
		}
	}
	return nil
}

// grid is one group as a table.
func (c *Comparison) grid(g *Group) *report.Grid {
	t := &report.Grid{Title: c.title(g), Header: []string{"", "B is", "A", "B", "difference", "", c.level() + " interval", "p"}, Sentences: g.Sentences}
	for i := range g.Rows {
		t.Rows = append(t.Rows, g.Rows[i].cells())
	}
	if basis := c.basis(g); basis != "" {
		t.Sentences = append(slices.Clone(t.Sentences), basis)
	}
	return t
}

// title says what is compared with what.
func (c *Comparison) title(g *Group) string {
	parts := []string{"A: " + c.A.called(), "B: " + c.B.called()}
	if len(g.Of) > 0 {
		parts = append(parts, placeOf(g.Of))
	}
	switch n := len(g.runs.pairs); {
	case !g.Paired:
		parts = append(parts, g.runs.sizes())
	case n == 1:
		parts = append(parts, fmt.Sprintf("seed %d", g.Seeds[0]))
	default:
		parts = append(parts, fmt.Sprintf("%d seeds", n))
	}
	return strings.Join(parts, " · ")
}

// called is a side's name, or its path if it has none of its own.
func (s SideNote) called() string {
	if s.Name == "A" || s.Name == "B" {
		return s.Path
	}
	return s.Name
}

// level is the confidence as a percentage.
func (c *Comparison) level() string {
	return strings.TrimSuffix(strconv.FormatFloat(100*c.Confidence, 'f', 1, 64), ".0") + "%"
}

// marks are the verdicts as the table has them.
var marks = map[Verdict]string{Same: "=", Better: "better", Worse: "worse", Changed: "changed", Unclear: "~", Single: "one seed"}

// cells is a row of the table.
func (r *Row) cells() []string {
	cells := []string{strings.TrimSpace(r.Metric + " " + r.metric.Better.Arrow()), marks[r.Verdict],
		r.metric.Text(r.a, r.A != nil), r.metric.Text(r.b, r.B != nil), "", "", "", ""}
	if r.Verdict == Same {
		return cells
	}
	cells[4] = r.signed(r.d)
	if r.Relative != nil {
		cells[5] = percentText(*r.Relative)
	}
	if r.interval != nil {
		cells[6] = r.intervalText()
	}
	if r.Adjusted != nil {
		cells[7] = pText(*r.Adjusted)
	} else if r.Test == exact {
		cells[7] = exact
	}
	return cells
}

// basis says in one sentence how p and intervals were made.
func (c *Comparison) basis(g *Group) string {
	tested, many := 0, 0
	for i := range g.Rows {
		if g.Rows[i].P != nil {
			tested++
			many = max(many, g.Rows[i].Pairs)
		}
	}
	interval := "bootstrap of the median difference"
	if many > stats.MaxResampledPairs {
		interval = "order statistics of the differences"
	}
	switch {
	case tested == 0:
		return ""
	case g.Paired:
		return fmt.Sprintf("p: Wilcoxon signed-rank over pairs, Holm over %s; intervals: %s.", report.Count(tested, "metric"), interval)
	}
	return fmt.Sprintf("p: Mann-Whitney, Holm over %s.", report.Count(tested, "metric"))
}

// sizes says how many runs each side has.
func (g *group) sizes() string {
	return fmt.Sprintf("%d and %s", len(g.a), report.Count(len(g.b), "run"))
}

// sheet is every row of every group as numbers, for spreadsheets.
func (c *Comparison) sheet() *report.Grid {
	g := &report.Grid{Header: []string{"group", "metric", "unit", "better", "verdict", "a", "b", "difference", "relative", "low", "high",
		"test", "pairs", "lower", "higher", "p", "p_holm"}}
	for i := range c.Groups {
		of := placeOf(c.Groups[i].Of)
		for k := range c.Groups[i].Rows {
			r := &c.Groups[i].Rows[k]
			g.Rows = append(g.Rows, []string{of, r.Metric, r.Unit, r.BetterWhen, string(r.Verdict), decimal(r.A), decimal(r.B), decimal(r.Difference),
				decimal(r.Relative), decimal(r.Low), decimal(r.High), r.Test, strconv.Itoa(r.Pairs), strconv.Itoa(r.Lower), strconv.Itoa(r.Higher),
				decimal(r.P), decimal(r.Adjusted)})
		}
	}
	return g
}

func decimal(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'g', -1, 64)
}
