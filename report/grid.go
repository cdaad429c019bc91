package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Grid is a table of its own kind: two columns of words, then numbers as they are shown.
type Grid struct {
	Title  string
	Header []string
	Rows   [][]string
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
		return out.err
	case "csv":
		return csv.NewWriter(w).WriteAll(append([][]string{g.Header}, g.Rows...))
	case "markdown":
		out.markdownRow(g.Header)
		out.printf("|:--|:--|%s\n", strings.Repeat("--:|", len(g.Header)-2))
		for _, row := range g.folded() {
			out.markdownRow(row)
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
