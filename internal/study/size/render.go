package size

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/gangplan/gangplan/internal/suggest"
	"github.com/gangplan/gangplan/report"
)

// Formats are the names that Render knows, the default first.
func Formats() []string { return []string{"table", "json", "csv", "markdown"} }

// CheckFormat returns an error unless Render knows the format.
func CheckFormat(format string) error {
	for _, f := range Formats() {
		if f == format {
			return nil
		}
	}
	return fmt.Errorf("unknown output format %q, expected one of %s%s", format, strings.Join(Formats(), ", "), suggest.Hint(format, Formats()))
}

// Render writes the answer in a format.
func (a *Answer) Render(w io.Writer, format string) error {
	switch format {
	case "json":
		return report.WriteJSON(w, a)
	case "csv":
		return a.sheet().Write(w, format)
	}
	for i := range a.Policies {
		if i > 0 {
			if _, err := fmt.Fprintln(w); err != nil {
				return err
			}
		}
		g := a.grid(&a.Policies[i])
		if i == len(a.Policies)-1 {
			g.Assumptions, g.Warnings = a.Assumptions, a.Warnings
		}
		if err := g.Write(w, format); err != nil {
			return err
		}
	}
	return nil
}

// column is one number of a point as the table shows it.
type column struct {
	head string
	text func(p *Point) string
}

// columns are the table's, after the value and whether it meets the targets. Over several
// seeds the range of what is asked stands behind it, in the place of the p90.
func (a *Answer) columns() []column {
	asked := a.question.asked()
	names := union([]string{"wait.p50_seconds", "wait.p90_seconds", "wait.p95_seconds", "wait.max_seconds"}, asked)
	var all []column
	for _, name := range names {
		isAsked := slices.Contains(asked, name)
		if name == "wait.p90_seconds" && len(a.Seeds) > 1 && !isAsked {
			continue
		}
		all = append(all, metricColumn(name))
		if isAsked && len(a.Seeds) > 1 {
			all = append(all, column{"range", func(p *Point) string { return p.ends(name) }})
		}
	}
	return append(all,
		column{"load", func(p *Point) string { return loadText(p.OfferedLoad) }},
		shareColumn("useful", func(s Split) float64 { return s.Useful }),
		shareColumn("held", func(s Split) float64 { return s.HeldIdle }),
		shareColumn("blocked", func(s Split) float64 { return s.Unusable }),
		shareColumn("free", func(s Split) float64 { return s.Free }))
}

// heads are the titles of the usual columns; others have the name of the metric.
var heads = map[string]string{"wait.p50_seconds": "p50 wait", "wait.p90_seconds": "p90", "wait.p95_seconds": "p95", "wait.max_seconds": "max"}

func metricColumn(name string) column {
	m, _ := report.LookupMetric(name)
	return column{cmp.Or(heads[name], name), func(p *Point) string {
		v, ok := p.Metrics.Get(name)
		return m.Text(v, ok)
	}}
}

func shareColumn(head string, of func(s Split) float64) column {
	return column{head, func(p *Point) string { return strconv.FormatFloat(100*of(p.Split), 'f', 0, 64) + "%" }}
}

func loadText(load *float64) string {
	if load == nil {
		return "–"
	}
	return strconv.FormatFloat(*load, 'f', 2, 64)
}

// grid is the curve of one policy with what follows from it.
func (a *Answer) grid(f *Found) *report.Grid {
	columns := a.columns()
	g := &report.Grid{Title: a.title(f), Header: a.head(columns), Sentences: f.Sentences}
	for i := range f.Curve {
		g.Rows = append(g.Rows, a.row(&f.Curve[i], columns))
	}
	return g
}

func (a *Answer) head(columns []column) []string {
	head := []string{a.short(), "met"}
	for _, c := range columns {
		head = append(head, c.head)
	}
	return head
}

func (a *Answer) row(p *Point, columns []column) []string {
	row := []string{label(p.Values), a.metText(p)}
	for _, c := range columns {
		row = append(row, c.text(p))
	}
	return row
}

// metText says whether a value meets the targets: of several seeds, how many do.
func (a *Answer) metText(p *Point) string {
	mark := map[bool]string{false: "no", true: "yes"}[p.Met]
	if len(p.Seeds) > 1 {
		return fmt.Sprintf("%s %d/%d", mark, p.SeedsMet, len(p.Seeds))
	}
	return mark
}

// short is the name of what is varied, without the way to it.
func (a *Answer) short() string {
	parts := strings.Split(a.Field, " + ")
	for i, p := range parts {
		parts[i] = p[strings.LastIndex(p, ".")+1:]
	}
	return strings.Join(parts, " / ")
}

// title says what was asked.
func (a *Answer) title(f *Found) string {
	parts := []string{f.Policy, a.seedText()}
	if a.Scenario != "" {
		parts = append([]string{a.Scenario}, parts...)
	}
	d := &f.Curve[0].Seeds[0].demand
	demand := report.Count(d.jobs, "job")
	if window, ok := d.window(); ok {
		demand += " in " + report.Span(window/1e9)
	}
	parts = append(parts, demand)
	if a.Version != "" {
		parts = append(parts, "gangplan "+a.Version)
	}
	return strings.Join(parts, " · ")
}

func (a *Answer) seedText() string {
	first, last := a.Seeds[0], a.Seeds[len(a.Seeds)-1]
	if first == last {
		return fmt.Sprintf("seed %d", first)
	}
	if uint64(len(a.Seeds)-1) == last-first {
		return fmt.Sprintf("seeds %d to %d", first, last)
	}
	return fmt.Sprintf("%d seeds", len(a.Seeds))
}

// sheet is every point of every policy as numbers, for spreadsheets.
func (a *Answer) sheet() *report.Grid {
	names := a.question.metrics()
	g := &report.Grid{Header: []string{"policy", a.Field, "met", "seeds_met", "seeds", "offered_load", "useful", "held_idle", "free_unusable", "free"}}
	for _, name := range names {
		g.Header = append(g.Header, name, name+".low", name+".high")
	}
	for i := range a.Policies {
		for k := range a.Policies[i].Curve {
			p := &a.Policies[i].Curve[k]
			row := []string{a.Policies[i].Policy, label(p.Values), strconv.FormatBool(p.Met), strconv.Itoa(p.SeedsMet), strconv.Itoa(len(p.Seeds)),
				decimal(p.OfferedLoad), decimal(&p.Split.Useful), decimal(&p.Split.HeldIdle), decimal(&p.Split.Unusable), decimal(&p.Split.Free)}
			for _, name := range names {
				row = append(row, valueText(p.Metrics, name), valueText(p.Low, name), valueText(p.High, name))
			}
			g.Rows = append(g.Rows, row)
		}
	}
	return g
}

func valueText(vs report.Values, name string) string {
	if v, ok := vs.Get(name); ok {
		return decimal(&v)
	}
	return ""
}

func decimal(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'g', -1, 64)
}
