package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Grid is a table of its own kind: two columns of words, then numbers as they are shown.
// Under it there may be sentences, each a paragraph, and lists of more; CSV has neither.
type Grid struct {
	Title     string
	Header    []string
	Rows      [][]string
	Sentences []string
	Lists     []List
}

// List is a titled list of sentences. It is left out if it is empty.
type List struct {
	Title     string
	Sentences []string
}

// GridFormats are the names that a Grid's Write knows.
func GridFormats() []string { return []string{"table", "csv", "markdown"} }

// Write writes the grid in a format. A word that repeats the one above is shown once,
// except in CSV.
func (g *Grid) Write(w io.Writer, format string) error {
	out := &printer{w: w}
	switch format {
	case "table":
		out.printf("%s\n\n", g.Title)
		var lines []line
		for _, row := range g.folded() {
			lines = append(lines, line{label: row[0], arrow: row[1], cells: row[2:]})
		}
		out.table(g.Header, lines)
		out.paragraphs(g.Sentences)
		for _, l := range g.Lists {
			out.list(l.Title, l.Sentences)
		}
		return out.err
	case "csv":
		return csv.NewWriter(w).WriteAll(append([][]string{g.Header}, g.Rows...))
	case "markdown":
		out.markdownRow(g.Header)
		out.printf("|:--|:--|%s\n", strings.Repeat("--:|", len(g.Header)-2))
		for _, row := range g.folded() {
			out.markdownRow(row)
		}
		for _, s := range g.Sentences {
			out.printf("\n%s\n", markdownText(s))
		}
		for _, l := range g.Lists {
			out.markdownList(strings.ToUpper(l.Title[:1])+l.Title[1:], l.Sentences)
		}
		return out.err
	}
	return fmt.Errorf("unknown format %q, expected one of %s", format, strings.Join(GridFormats(), ", "))
}

func (g *Grid) folded() [][]string {
	rows := make([][]string, len(g.Rows))
	for i, row := range g.Rows {
		rows[i] = row
		if i > 0 && row[0] == g.Rows[i-1][0] {
			rows[i] = slices.Clone(row)
			rows[i][0] = ""
		}
	}
	return rows
}

// paragraphs writes sentences under a table, each wrapped and on lines of its own.
func (p *printer) paragraphs(sentences []string) {
	for i, s := range sentences {
		if i == 0 {
			p.printf("\n")
		}
		for _, l := range wrap(s, terminal) {
			p.printf("%s\n", l)
		}
	}
}
