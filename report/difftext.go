package report

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/gangplan/gangplan/sim"
)

// WriteText writes the difference for a terminal: the runs, what they have in common, and
// the two transitions at which they part beside each other.
func (d *Difference) WriteText(w io.Writer) error {
	out := &printer{w: w}
	out.hanging("a  "+d.A.Dir+":", d.A.Manifest.title())
	out.hanging("b  "+d.B.Dir+":", d.B.Manifest.title())
	out.printf("\n")
	if !d.SameScenario {
		out.printf("The runs are of different scenarios.\n\n")
	}
	if d.Equal() {
		out.printf("The runs are equal: %s, digest %s.\n", Count(d.Common, "transition"), d.A.Manifest.Digest)
		return out.err
	}
	d.writeParting(out, "a", "b")
	return out.err
}

// writeParting writes what two runs that differ have in common, the transitions at which
// they part, and what became of those in the other run.
func (d *Difference) writeParting(out *printer, a, b string) {
	of := ""
	if len(d.Tail) < d.Common {
		of = fmt.Sprintf(", the last %d", len(d.Tail))
	}
	out.printf("%s in common%s:\n", Count(d.Common, "transition"), of)
	var tail [][]string
	for i := range d.Tail {
		tail = append(tail, d.Tail[i].fields()[:len(fieldNames)-1])
	}
	out.columns(tail)
	out.printf("then they part:\n")
	out.columns(sideBySide(a, d.A.Next, b, d.B.Next))
	for _, s := range d.aftermath(a, b) {
		out.hanging("   ", s)
	}
}

// aftermath says of the transitions at which two runs part what became of each in the other.
func (d *Difference) aftermath(a, b string) []string {
	var says []string
	one, other := d.A.Next, d.B.Next
	if one != nil && other != nil && about(one.Transition) == about(other.Transition) {
		return nil // the same, at another time or place
	}
	if one != nil && !one.sameAs(d.B.Later) {
		says = append(says, one.subject()+": "+a+" "+one.when()+", "+b+" "+d.B.Later.when())
	}
	if other != nil && !other.sameAs(d.A.Later) {
		says = append(says, other.subject()+": "+a+" "+d.A.Later.when()+", "+b+" "+other.when())
	}
	return says
}

func (s *Step) sameAs(o *Step) bool { return o != nil && s.Same(o.Transition) }

// subject is what a step is about, as text.
func (s *Step) subject() string {
	f := s.fields()
	if s.Kind == sim.Verdict {
		f[1] = f[5]
	}
	return strings.Join(strings.Fields(strings.Join(f[1:4], " ")), " ")
}

// when is the rest: when, where and why it came, if it did.
func (s *Step) when() string {
	if s == nil {
		return "never"
	}
	f := s.fields()
	var more []string
	if s.Rank >= 0 && f[4] != "" {
		more = append(more, f[4])
	}
	if f[6] != "" {
		more = append(more, f[6])
	}
	if len(more) == 0 {
		return "at " + f[0]
	}
	return "at " + f[0] + " (" + strings.Join(more, "; ") + ")"
}

func (m *Manifest) title() string {
	return fmt.Sprintf("%s, seed %d, digest %s", m.Label, m.Seed, m.Digest)
}

// seconds writes virtual time exactly, without zeros behind.
func seconds(ns int64) string {
	s := fmt.Sprintf("%d.%09d", ns/1e9, ns%1e9)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".") + "s"
}

// fieldNames are what the fields of a step are called.
var fieldNames = [...]string{"time", "kind", "job", "rank", "place", "count", "why"}

// fields are the parts of a step as text, empty where it has none.
func (s *Step) fields() []string {
	f := []string{seconds(s.Time), s.Kind.String(), "", "", "", Count(int(s.Count), "pod"), s.why()}
	if s.Job >= 0 {
		f[2] = orPosition(s.ID, s.Job)
	}
	if s.Rank >= 0 {
		f[3] = fmt.Sprintf("rank %d", s.Rank)
	}
	switch {
	case s.Place >= 0 && s.Rank >= 0:
		f[4] = "node " + orPosition(s.Node, s.Place)
	case s.Place >= 0:
		f[4] = "queue " + orPosition(s.Queue, s.Place)
	}
	if s.Kind == sim.Verdict && s.Count >= int32(sim.Deadlock) && s.Count <= int32(sim.NeverFits) {
		f[5] = sim.VerdictKind(s.Count).String()
	}
	return f
}

// why is the cause of what was taken away, and for what something given had to wait.
func (s *Step) why() string {
	switch why := s.Why.String(); {
	case why == "":
		return ""
	case s.Kind == sim.Admit || s.Kind == sim.Bind:
		return "waited: " + why
	default:
		return "cause: " + why
	}
}

// orPosition writes a name, or the position of what has none.
func orPosition(name string, position int32) string {
	if name == "" {
		return fmt.Sprintf("#%d", position)
	}
	return name
}

// sideBySide is a row per field of two steps, those that differ marked. A run without a
// next step has ended. Why they came is told if it is known.
func sideBySide(nameA string, a *Step, nameB string, b *Step) [][]string {
	left, right := nextFields(a), nextFields(b)
	rows := [][]string{{"", nameA, "", nameB}}
	for i, name := range fieldNames {
		if name == "why" && left[i]+right[i] == "" {
			continue
		}
		mark := ""
		if left[i] != right[i] {
			mark = "≠"
		}
		rows = append(rows, []string{name, left[i], mark, right[i]})
	}
	return rows
}

func nextFields(s *Step) []string {
	if s == nil {
		return []string{"the run has ended", "", "", "", "", "", ""}
	}
	return s.fields()
}

// columns writes rows of equally many cells under each other, indented. Long names are broken.
func (p *printer) columns(rows [][]string) {
	if len(rows) == 0 {
		return
	}
	const indent = "    "
	rows = fitWords(rows, len(rows[0]), terminal-len(indent))
	widths, _, _ := columnWidths(rows, len(rows[0]))
	for _, row := range rows {
		for _, cells := range linesOf(row) {
			line := indent
			for i, cell := range cells {
				line += cell + strings.Repeat(" ", gap+widths[i]-utf8.RuneCountInString(cell))
			}
			p.printf("%s\n", strings.TrimRight(line, " "))
		}
	}
}

// linesOf takes a row of cells of several lines apart.
func linesOf(row []string) (lines [][]string) {
	for i, cell := range row {
		for k, text := range strings.Split(cell, "\n") {
			if k == len(lines) {
				lines = append(lines, make([]string, len(row)))
			}
			lines[k][i] = text
		}
	}
	return lines
}
