package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"
)

const (
	terminal = 100 // columns that tables and notes keep to
	gap      = 2   // blanks between two columns
)

// writeTable writes the comparison for a terminal: the table, in as many parts as its
// width asks for, then verdicts, assumptions and warnings.
func writeTable(w io.Writer, d *Document) error {
	out := &printer{w: w}
	out.title(d)
	lines := comparisonLines(d.Runs) // the same rows in every part
	for from := 0; from < len(d.Runs); {
		to := fitting(d.Runs, lines, from)
		out.table(fitHeads(heads(d.Runs[from:to]), cut(lines, from, to)), cut(lines, from, to))
		out.printf("\n")
		from = to
	}
	out.trades(d.Trades)
	out.notes(d)
	return out.err
}

// writeWide writes every metric of every run in one table, however wide.
func writeWide(w io.Writer, d *Document) error {
	out := &printer{w: w}
	out.title(d)
	out.table(heads(d.Runs), metricLines(d.Runs))
	out.printf("\n")
	out.trades(d.Trades)
	out.notes(d)
	return out.err
}

// fitting returns how far runs fit beside each other, at least one.
func fitting(runs []Run, lines []line, from int) int {
	to := from + 1
	for to < len(runs) && width(heads(runs[from:to+1]), cut(lines, from, to+1)) <= terminal {
		to++
	}
	return to
}

// fitHeads breaks the name of a run that is alone and wider than the terminal.
func fitHeads(heads []string, lines []line) []string {
	if over := width(heads, lines) - terminal; over > 0 && len(heads) == 3 {
		heads[2] = broken(heads[2], max(leastWords, cellWidth(heads[2])-over))
	}
	return heads
}

// cut keeps the cells of the runs [from, to).
func cut(lines []line, from, to int) []line {
	out := make([]line, len(lines))
	for i, l := range lines {
		out[i] = l
		if len(l.cells) > 0 {
			out[i].cells = l.cells[from:to]
		}
	}
	return out
}

// heads are the titles of the columns.
func heads(runs []Run) []string {
	header := []string{"", ""}
	for i := range runs {
		header = append(header, runs[i].Policy)
	}
	return header
}

// printer keeps the first error of a writer, so that printing reads as a list of lines.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) printf(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, args...)
	}
}

// title says what was compared.
func (p *printer) title(d *Document) {
	var parts []string
	if d.Scenario != "" {
		parts = append(parts, d.Scenario)
	}
	if len(d.Runs) > 0 {
		parts = append(parts, fmt.Sprintf("seed %d", d.Runs[0].Seed))
	}
	if d.EndSeconds > 0 {
		parts = append(parts, Span(d.EndSeconds)+" of cluster time")
	}
	if d.Version != "" {
		parts = append(parts, "gangplan "+d.Version)
	}
	if len(parts) > 0 {
		p.heading(strings.Join(parts, separator))
	}
}

// table writes one table with a rule under its header.
func (p *printer) table(header []string, lines []line) {
	rows := make([][]string, len(lines))
	for i := range lines {
		rows[i] = lines[i].row(len(header))
	}
	p.cells(header, rows, 2)
}

// cells writes a table whose first columns are words.
func (p *printer) cells(header []string, rows [][]string, words int) {
	if p.err != nil {
		return
	}
	var b strings.Builder
	t := tablewriter.NewTable(&b, tableOptions(header, words)...)
	t.Header(header)
	for _, row := range rows {
		if p.err = t.Append(row); p.err != nil {
			return
		}
	}
	if p.err = t.Render(); p.err != nil {
		return
	}
	for text := range strings.Lines(b.String()) {
		p.printf("%s\n", tidy(text))
	}
}

// tidy takes away what stands behind the last column: blanks, or the rule over them.
func tidy(text string) string {
	text = strings.TrimRight(text, " \n")
	if rest, isRule := strings.CutPrefix(text, strings.Repeat("─", gap)); isRule {
		return rest
	}
	return text
}

// tableOptions are light lines, labels to the left, numbers to the right, and text as it
// is given: not trimmed, wrapped or put in capitals, and as wide in every locale.
func tableOptions(header []string, words int) []tablewriter.Option {
	align := make([]tw.Align, len(header))
	for i := range align {
		if align[i] = tw.AlignRight; i < words {
			align[i] = tw.AlignLeft
		}
	}
	cell := tw.CellConfig{
		Formatting: tw.CellFormatting{AutoWrap: tw.WrapNone, AutoFormat: tw.Off},
		Alignment:  tw.CellAlignment{Global: tw.AlignRight, PerColumn: align},
		Padding:    tw.CellPadding{Global: tw.Padding{Right: strings.Repeat(" ", gap), Overwrite: true}},
	}
	return []tablewriter.Option{
		tablewriter.WithEastAsian(tw.Off),
		tablewriter.WithConfig(tablewriter.Config{Header: cell, Row: cell,
			Behavior: tw.Behavior{TrimSpace: tw.Off, TrimLine: tw.Off}}),
		tablewriter.WithRenderer(renderer.NewBlueprint(tw.Rendition{
			Borders: tw.BorderNone,
			Symbols: tw.NewSymbols(tw.StyleLight),
			Settings: tw.Settings{
				Separators: tw.Separators{BetweenRows: tw.Off, BetweenColumns: tw.Off, ShowHeader: tw.Off, ShowFooter: tw.Off},
				Lines:      tw.Lines{ShowTop: tw.Off, ShowBottom: tw.Off, ShowHeaderLine: tw.On, ShowFooterLine: tw.Off},
			}})),
	}
}
