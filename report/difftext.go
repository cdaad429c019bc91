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
	out.printf("a  %s\nb  %s\n\n", d.A.title(), d.B.title())
	if !d.SameScenario {
		out.printf("The runs are of different scenarios.\n\n")
	}
	if d.Equal() {
		out.printf("The runs are equal: %s, digest %s.\n", plural(d.Common, "transition"), d.A.Manifest.Digest)
		return out.err
	}
	out.printf("%s in common", plural(d.Common, "transition"))
	if len(d.Tail) < d.Common {
		out.printf(", the last %d of them:", len(d.Tail))
	}
	out.printf("\n")
	for i := range d.Tail {
		out.printf("    %s\n", d.Tail[i].text())
	}
	out.printf("then they part:\n")
	out.sideBySide(sideLines(d.A.Next), sideLines(d.B.Next))
	return out.err
}

func (s *DiffSide) title() string {
	return fmt.Sprintf("%s: %s, seed %d, digest %s", s.Dir, s.Manifest.Label, s.Manifest.Seed, s.Manifest.Digest)
}

// seconds writes virtual time exactly, without zeros behind.
func seconds(ns int64) string {
	s := fmt.Sprintf("%d.%09d", ns/1e9, ns%1e9)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".") + "s"
}

// text is a step on one line.
func (s *Step) text() string { return strings.Join(s.parts(), "  ") }

// parts are time, kind, job, rank and place of a step, those that it has.
func (s *Step) parts() []string {
	parts := []string{padLeft(seconds(s.Time), 12), fmt.Sprintf("%-10s", s.Kind)}
	if s.Job >= 0 {
		parts = append(parts, "job "+orPosition(s.ID, s.Job))
	}
	if s.Rank >= 0 {
		parts = append(parts, fmt.Sprintf("rank %d", s.Rank))
	}
	switch {
	case s.Kind == sim.Verdict && s.Count >= int32(sim.Deadlock) && s.Count <= int32(sim.NeverFits):
		return append(parts, sim.VerdictKind(s.Count).String())
	case s.Place >= 0 && s.Rank >= 0:
		parts = append(parts, "node "+orPosition(s.Node, s.Place))
	case s.Place >= 0:
		parts = append(parts, "queue "+orPosition(s.Queue, s.Place))
	}
	if s.Rank < 0 {
		parts = append(parts, plural(int(s.Count), "pod"))
	}
	return parts
}

// orPosition writes a name, or the position of what has none.
func orPosition(name string, position int32) string {
	if name == "" {
		return fmt.Sprintf("#%d", position)
	}
	return name
}

// sideLines is a step as a column of lines.
func sideLines(s *Step) []string {
	if s == nil {
		return []string{"the run ends here"}
	}
	var lines []string
	for _, part := range s.parts() {
		lines = append(lines, strings.TrimSpace(part))
	}
	return lines
}

// sideBySide writes two columns under the names of the two runs. Lines that differ are
// marked.
func (p *printer) sideBySide(a, b []string) {
	wide := 1
	for _, l := range a {
		wide = max(wide, utf8.RuneCountInString(l))
	}
	pad := func(s string) string { return s + strings.Repeat(" ", wide-utf8.RuneCountInString(s)) }
	p.printf("    %s    b\n", pad("a"))
	for i := range max(len(a), len(b)) {
		left, right, mark := lineAt(a, i), lineAt(b, i), " "
		if left != right {
			mark = "≠"
		}
		p.printf("%s\n", strings.TrimRight("    "+pad(left)+"  "+mark+" "+right, " "))
	}
}

func lineAt(lines []string, i int) string {
	if i >= len(lines) {
		return ""
	}
	return lines[i]
}
