package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// formats are the renderings of a document by the name that -o takes.
var formats = []struct {
	name  string
	write func(w io.Writer, d *Document) error
}{
	{"table", writeTable},
	{"wide", writeWide},
	{"json", func(w io.Writer, d *Document) error { return WriteJSON(w, d) }},
	{"yaml", func(w io.Writer, d *Document) error { return writeYAML(w, d) }},
	{"csv", writeCSV},
	{"markdown", writeMarkdown},
}

// Formats returns the names that Render knows, the default first.
func Formats() []string {
	names := make([]string, len(formats))
	for i := range formats {
		names[i] = formats[i].name
	}
	return names
}

// Render writes a document in a format. An unknown format is an error before anything is
// written; other errors are the writer's.
func Render(w io.Writer, format string, d *Document) error {
	for i := range formats {
		if formats[i].name == format {
			return formats[i].write(w, d)
		}
	}
	return fmt.Errorf("unknown format %q, expected one of %s", format, strings.Join(Formats(), ", "))
}

// writeCSV writes a line per run and a column per metric, numbers as JSON has them and
// nothing for null.
func writeCSV(w io.Writer, d *Document) error {
	header := []string{"policy", "seed", "digest", "end_seconds"}
	for i := range registry {
		header = append(header, registry[i].Name)
	}
	out := csv.NewWriter(w)
	records := [][]string{header}
	for i := range d.Runs {
		records = append(records, d.Runs[i].record())
	}
	return out.WriteAll(records)
}

func (r *Run) record() []string {
	record := []string{r.Policy, strconv.FormatUint(r.Seed, 10), r.Digest, Value{Number: r.EndSeconds}.text()}
	for i := range registry {
		v, ok := r.Metrics.Get(registry[i].Name)
		record = append(record, Value{Number: v, Null: !ok}.text())
	}
	return record
}

// writeMarkdown writes the comparison as a Markdown table with the notes as a list.
func writeMarkdown(w io.Writer, d *Document) error {
	out := &printer{w: w}
	header := heads(d.Runs)
	out.markdownRow(header)
	out.printf("|:--|:-:|%s\n", strings.Repeat("--:|", len(d.Runs)))
	for _, l := range comparisonLines(d.Runs) {
		if l.cells == nil {
			l.label = "**" + l.label + "**"
		}
		if rest, isCause := strings.CutPrefix(l.label, "    "); isCause {
			l.label = "&emsp;" + rest
		}
		out.markdownRow(l.row(len(header)))
	}
	out.markdownTrades(d.Trades)
	var notes []string
	for i := range d.Runs {
		for _, s := range summarise(d.Runs[i].Verdicts) {
			notes = append(notes, d.Runs[i].Policy+": "+s.text())
		}
	}
	out.markdownList("Verdicts", notes)
	out.markdownList("Assumed", d.Assumptions)
	out.markdownList("Warnings", d.Warnings)
	return out.err
}

func (p *printer) markdownList(title string, sentences []string) {
	if len(sentences) > 0 {
		p.printf("\n%s:\n\n", title)
	}
	for _, s := range sentences {
		p.printf("- %s\n", markdownText(s))
	}
}

func (p *printer) markdownRow(cells []string) {
	p.printf("|")
	for _, c := range cells {
		p.printf(" %s |", markdownText(strings.Join(strings.Fields(c), " ")))
	}
	p.printf("\n")
}

// markdownText escapes what would end a cell or start other markup.
func markdownText(s string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "`", "\\`", "\n", " ").Replace(s)
}
