package report

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// What is too wide for a terminal is broken into lines, never cut off: labels and values
// of axes are what people look for, and copy.
const (
	leastWords = 10 // columns that a column of words keeps
	unbroken   = 32 // letters of a word that is broken nowhere: the id of a cell has as many
	widestMark = 40 // columns of a label before the text that hangs behind it
)

const separator = " · "

// heading writes a title, which is broken between its parts first.
func (p *printer) heading(title string) {
	line := ""
	for part := range strings.SplitSeq(title, separator) {
		switch {
		case line == "":
			line = part
		case utf8.RuneCountInString(line+separator+part) <= terminal:
			line += separator + part
		default:
			p.wrapped(line)
			line = part
		}
	}
	p.wrapped(line)
	p.printf("\n")
}

// wrapped writes a text on lines of its own.
func (p *printer) wrapped(text string) {
	for _, line := range wrap(text, terminal) {
		p.printf("%s\n", line)
	}
}

// pieces takes a text apart where a line may end: behind blanks, and behind the signs that
// names are put together with.
func pieces(text string) []string {
	var all []string
	from := 0
	for i, r := range text {
		if strings.ContainsRune(" -/,=_·", r) {
			end := i + utf8.RuneLen(r)
			all, from = append(all, text[from:end]), end
		}
	}
	return append(all, text[from:])
}

// broken breaks the text of a cell into lines that are no wider than so much. A piece that
// is wider is broken where the line ends.
func broken(text string, width int) string {
	var lines []string
	line := ""
	for _, piece := range pieces(text) {
		if line != "" && seen(line+piece) > width {
			lines, line = append(lines, line), ""
		}
		for seen(piece) > width {
			letters := []rune(piece)
			lines, piece = append(lines, string(letters[:width])), string(letters[width:])
		}
		line += piece
	}
	if strings.TrimSpace(line) != "" || lines == nil {
		lines = append(lines, line)
	}
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// seen is how wide a text is that blanks may follow.
func seen(text string) int { return utf8.RuneCountInString(strings.TrimRight(text, " ")) }

// cellWidth is the width of the widest line of a cell.
func cellWidth(cell string) int {
	width := 0
	for line := range strings.SplitSeq(cell, "\n") {
		width = max(width, utf8.RuneCountInString(line))
	}
	return width
}

// fitWords breaks the cells of the first columns so that a table of them and its widest
// other column keeps to a width, if that can be: the widest give way first.
func fitWords(table [][]string, words, width int) [][]string {
	widths, least, others := columnWidths(table, words)
	room := width - others - gap*(words-1)
	limit := slices.Max(append(slices.Clone(widths), leastWords))
	allowed := func(k int) int { return min(widths[k], max(limit, least[k])) }
	for ; limit > leastWords; limit-- {
		sum := 0
		for k := range words {
			sum += allowed(k)
		}
		if sum <= room {
			break
		}
	}
	out := make([][]string, len(table))
	for i, row := range table {
		out[i] = slices.Clone(row)
		for k := range min(words, len(row)) {
			out[i][k] = broken(row[k], max(1, allowed(k)))
		}
	}
	return out
}

// columnWidths are how wide the columns of words are, how wide their longest pieces, and
// how much room the widest other column takes.
func columnWidths(table [][]string, words int) (widths, least []int, others int) {
	widths, least = make([]int, words), make([]int, words)
	for _, row := range table {
		for k, cell := range row {
			if k >= words {
				others = max(others, gap+cellWidth(cell))
				continue
			}
			widths[k] = max(widths[k], cellWidth(cell))
			for _, piece := range pieces(cell) {
				least[k] = max(least[k], min(unbroken, seen(piece)))
			}
		}
	}
	return widths, least, others
}
