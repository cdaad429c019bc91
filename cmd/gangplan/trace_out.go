package main

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/gangplan/gangplan/internal/record"
	"github.com/gangplan/gangplan/report"
)

// The columns of trace validate, which are 100 wide together.
const (
	whatColumn    = 41
	sideColumn    = 19
	byColumn      = 12
	verdictColumn = 9
)

// manyJobs is how many jobs are printed whatever is said of them.
const manyJobs = 10

// text writes the comparison for a terminal.
func (v *validation) text(all bool) string {
	var b strings.Builder
	wrap(&b, "", fmt.Sprintf("%s · %s · %s: %s over %.1fs · tolerance %s", v.Scenario, v.Policy, v.Record, report.Count(len(v.Jobs), "job"), v.Seconds, v.Tolerance))
	fmt.Fprintf(&b, "\n%*s%*s%*s\n", whatColumn+sideColumn, "cluster", sideColumn, "gangplan", byColumn, "difference")
	fmt.Fprintln(&b, strings.Repeat("─", whatColumn+2*sideColumn+byColumn+verdictColumn))
	if v.Order != nil {
		writeLine(&b, "", v.Order)
	}
	hidden := 0
	for i := range v.Jobs {
		if j := &v.Jobs[i]; all || len(v.Jobs) <= manyJobs || j.Outside() {
			writeJob(&b, j)
		} else {
			hidden++
		}
	}
	if hidden > 0 {
		fmt.Fprintf(&b, "%s with nothing outside: --all prints them\n", report.Count(hidden, "job"))
	}
	writeList(&b, "only in the record", firstOf(v.OnlyCluster))
	writeList(&b, "only in the scenario", firstOf(v.OnlyModel))
	writeList(&b, "notes", v.Notes)
	fmt.Fprintf(&b, "\n%d equal, %d within, %d outside\n", v.Equal, v.Within, v.Outside)
	return b.String()
}

func writeJob(b *strings.Builder, j *record.JobLines) {
	fmt.Fprintln(b, j.Job)
	for i := range j.Lines {
		writeLine(b, "  ", &j.Lines[i])
	}
}

// writeLine writes one thing that was compared. A word that is too long for its column stands
// under it.
func writeLine(b *strings.Builder, indent string, l *record.Line) {
	difference := ""
	if l.Difference != nil {
		difference = fmt.Sprintf("%+.3fs", *l.Difference+0) // not -0
	}
	what := indent + l.What
	if n := utf8.RuneCountInString(what); n > whatColumn {
		fmt.Fprintln(b, what)
		what = ""
	}
	row := padded(what, -whatColumn) + padded(short(l.Cluster), sideColumn) + padded(short(l.Model), sideColumn) + padded(difference, byColumn) + "  " + string(l.Verdict)
	fmt.Fprintln(b, strings.TrimRight(row, " "))
	if l.Detail != "" {
		wrap(b, indent+"  ", l.Detail)
	}
}

// padded fills a word up to a width in letters, on the left, or on the right if it is negative.
func padded(word string, width int) string {
	n := utf8.RuneCountInString(word)
	if width < 0 {
		return word + strings.Repeat(" ", max(0, -width-n))
	}
	return strings.Repeat(" ", max(0, width-n)) + word
}

// firstOf shortens a list that nobody reads to its end.
func firstOf(list []string) []string {
	const most = 10
	if len(list) <= most+1 {
		return list
	}
	return append(list[:most:most], fmt.Sprintf("and %d more", len(list)-most))
}

// short is a word that fits into its column.
func short(word string) string {
	if word == string(record.WaitingForTerminating) {
		return "pods terminating"
	}
	return word
}
