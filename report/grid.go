package report

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Grid is a table of its own kind: columns of words, then numbers as they are shown.
type Grid struct {
	Title  string
	Header []string
	Rows   [][]string
	Words  int // how many columns are words; 0 is two

	Sentences                       []string // paragraphs under the table, before the rest
	Verdicts, Assumptions, Warnings []string // lists under the table
}

// GridFormats are the names that a Grid's Write knows.
func GridFormats() []string { return []string{"table", "csv", "markdown"} }

// Write writes the grid in a format. A word that repeats the one above is shown once,
// except in CSV.
func (g *Grid) Write(w io.Writer, format string) error {
	out := &printer{w: w}
	switch format {
	case "table":
		out.heading(g.Title)
		for i, part := range g.parts() {
			if i > 0 {
				out.printf("\n")
			}
			out.cells(part.Header, part.Rows, part.words())
		}
		out.paragraphs(g.Sentences)
		for _, n := range g.notes() {
			if len(n.sentences) > 0 {
				out.printf("\n")
			}
			out.list(n.title, n.sentences)
		}
		return out.err
	case "csv":
		return csv.NewWriter(w).WriteAll(append([][]string{g.Header}, g.Rows...))
	case "markdown":
		if g.Title != "" {
			out.printf("**%s**\n\n", markdownText(g.Title))
		}
		out.markdownRow(g.Header)
		out.printf("|%s%s\n", strings.Repeat(":--|", g.words()), strings.Repeat("--:|", len(g.Header)-g.words()))
		for _, row := range g.folded() {
			out.markdownRow(row)
		}
		for _, s := range g.Sentences {
			out.printf("\n%s\n", markdownText(s))
		}
		for _, n := range g.notes() {
			out.markdownList(strings.ToUpper(n.title[:1])+n.title[1:], n.sentences)
		}
		return out.err
	}
	return fmt.Errorf("unknown format %q, expected one of %s", format, strings.Join(GridFormats(), ", "))
}

type note struct {
	title     string
	sentences []string
}

func (g *Grid) notes() []note {
	return []note{{"verdicts", g.Verdicts}, {"assumed", g.Assumptions}, {"warnings", g.Warnings}}
}

func (g *Grid) words() int { return cmp.Or(g.Words, 2) }

// parts cuts a grid that is wider than a terminal into several with the same words, at
// least one column of numbers in each.
func (g *Grid) parts() []*Grid {
	words := min(g.words(), len(g.Header))
	fitted := fitWords(append([][]string{g.Header}, g.folded()...), words, terminal)
	header, rows := fitted[0], fitted[1:]
	var parts []*Grid
	for from := words; from < len(header) || len(parts) == 0; {
		to := min(from+1, len(header))
		for to < len(header) && cellsWidth(pick(header, words, from, to+1), rows, words, from, to+1) <= terminal {
			to++
		}
		part := &Grid{Header: pick(header, words, from, to), Words: words}
		for _, row := range rows {
			part.Rows = append(part.Rows, pick(row, words, from, to))
		}
		parts, from = append(parts, part), to
	}
	return parts
}

// pick keeps the words of a row and the columns [from, to).
func pick(row []string, words, from, to int) []string {
	return slices.Concat(row[:words], row[from:to])
}

// cellsWidth is how wide a table of the words and the columns [from, to) is.
func cellsWidth(header []string, rows [][]string, words, from, to int) int {
	sum := -gap
	for column := range header {
		w := cellWidth(header[column])
		for _, row := range rows {
			w = max(w, cellWidth(pick(row, words, from, to)[column]))
		}
		sum += w + gap
	}
	return sum
}

// folded leaves out words that repeat those above, as far as all before them do.
func (g *Grid) folded() [][]string {
	rows := make([][]string, len(g.Rows))
	for i, row := range g.Rows {
		rows[i] = slices.Clone(row)
		for k := 0; i > 0 && k < g.words()-1 && row[k] == g.Rows[i-1][k]; k++ {
			rows[i][k] = ""
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
