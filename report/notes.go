package report

import (
	"strings"
	"unicode/utf8"
)

// shownJobs is how many jobs of a verdict are named before it says how many more.
const shownJobs = 3

// notes are what stands under the table: verdicts, then what was assumed, then warnings.
func (p *printer) notes(d *Document) {
	labels := 0
	for i := range d.Runs {
		if len(d.Runs[i].Verdicts) > 0 {
			labels = max(labels, utf8.RuneCountInString(d.Runs[i].Policy))
		}
	}
	if labels > 0 {
		p.printf("verdicts\n")
	}
	for i := range d.Runs {
		for _, s := range summarise(d.Runs[i].Verdicts) {
			p.hanging("  "+d.Runs[i].Policy+strings.Repeat(" ", labels-utf8.RuneCountInString(d.Runs[i].Policy))+" ", s.text())
		}
	}
	p.list("assumed", d.Assumptions)
	p.list("warnings", d.Warnings)
}

// list writes a titled list of sentences.
func (p *printer) list(title string, sentences []string) {
	if len(sentences) > 0 {
		p.printf("%s\n", title)
	}
	for _, s := range sentences {
		p.hanging("  -", s)
	}
}

// hanging writes text after a label and goes on under the text, not under the label. A
// label that leaves little room has lines of its own, with the text under its beginning.
func (p *printer) hanging(label, text string) {
	indent := utf8.RuneCountInString(label) + 1
	if indent > widestMark && indent+utf8.RuneCountInString(text) > terminal {
		text, indent = strings.TrimSpace(text), 4
		p.printf("%s\n", strings.ReplaceAll(broken(label, terminal), "\n", "\n    "))
		label = strings.Repeat(" ", indent-1)
	}
	for i, l := range wrap(text, terminal-indent) {
		if i == 0 {
			p.printf("%s %s\n", label, l)
		} else {
			p.printf("%s%s\n", strings.Repeat(" ", indent), l)
		}
	}
}

// summary is the verdicts of one kind and reason on one run.
type summary struct {
	kind, detail string
	count        int
	first        int64    // ns
	jobs         []string // of all of them, each once
}

// summarise puts verdicts of the same kind and reason together, in the order of their first.
func summarise(verdicts []Verdict) []*summary {
	var all []*summary
	byKind := map[[2]string]*summary{}
	named := map[[3]string]bool{}
	for _, v := range verdicts {
		key := [2]string{v.Kind, v.Detail}
		s := byKind[key]
		if s == nil {
			s = &summary{kind: v.Kind, detail: v.Detail, first: v.TimeNanos}
			byKind[key] = s
			all = append(all, s)
		}
		s.count++
		for _, job := range v.Jobs {
			if id := [3]string{v.Kind, v.Detail, job}; !named[id] {
				named[id] = true
				s.jobs = append(s.jobs, job)
			}
		}
	}
	return all
}

// text is the summary as a sentence.
func (s *summary) text() string {
	kind := strings.ReplaceAll(s.kind, "_", " ")
	when := " at " + Span(float64(s.first)/1e9)
	if s.count > 1 {
		kind, when = grouped(float64(s.count), 0)+" × "+kind, ", first"+when
	}
	text := kind + when
	if len(s.jobs) > 0 {
		text += ": " + nameSome(s.jobs)
	}
	if s.detail != "" {
		text += " (" + s.detail + ")"
	}
	return text
}

// nameSome names the first few of a list.
func nameSome(names []string) string {
	if len(names) <= shownJobs {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:shownJobs], ", ") + " and " + grouped(float64(len(names)-shownJobs), 0) + " more"
}
