package report

import (
	"cmp"
	"fmt"
	"strings"
)

// SummaryLimit is how large the summary of a step of a GitHub workflow may be, in bytes: a
// larger one is not shown at all.
const SummaryLimit = 1 << 20

// Summary is the gate as Markdown of at most so many bytes, whole rows and sections, with a
// sentence on what was left out.
func (g *Gate) Summary(limit int) string { return g.markdown(limit, GateOptions{}) }

// cutRoom is left for the sentence on what was left out.
const cutRoom = 200

func (g *Gate) markdown(limit int, o GateOptions) string {
	var b strings.Builder
	mark := "✅"
	if !g.Passed {
		mark = "❌"
	}
	fmt.Fprintf(&b, "## %s gangplan check: %s\n\n%s\n", mark, markdownText(g.conclusion()), markdownText(g.title()))
	if b.Len() > limit {
		return ""
	}
	sections := append(g.sections(o, true), g.sections(o, false)...)
	for i, s := range sections {
		if b.Len()+len(s) > limit-cutRoom {
			cut := fmt.Sprintf("\n%d of %s are left out: a summary may have %d bytes. The whole is printed by `gangplan check -o markdown`.\n",
				len(sections)-i, Count(len(sections), "section"), limit)
			if b.Len()+len(cut) <= limit {
				b.WriteString(cut)
			}
			break
		}
		b.WriteString(s)
	}
	return b.String()
}

// sections are the parts of the Markdown for what fails, or for what does not.
func (g *Gate) sections(o GateOptions, failing bool) []string {
	var out []string
	for i := range g.Scenarios {
		s := &g.Scenarios[i]
		if head := s.markdownHead(); head != "" && s.Fails() == failing {
			out = append(out, head)
		}
		for k := range s.Policies {
			p := &s.Policies[k]
			if p.Fails() == failing && (o.Verbose || p.headline(g.Updated) != "") && !s.Fresh {
				out = append(out, g.markdownPolicy(s.Name, p, o))
			}
		}
	}
	return out
}

// markdownHead is what is to be said of a scenario as a whole.
func (s *GateScenario) markdownHead() string {
	var sentences []string
	if s.Problem != "" {
		sentences = append(sentences, s.Problem)
	}
	sentences = append(sentences, s.Notes...)
	if s.Baseline != "" && s.Baseline != "unchanged" {
		sentences = append(sentences, "baseline "+s.Baseline)
	}
	if len(sentences) == 0 {
		return ""
	}
	return fmt.Sprintf("\n### %s\n\n%s\n", markdownText(s.Name), markdownText(strings.Join(sentences, ". ")))
}

func (g *Gate) markdownPolicy(scenario string, p *GatePolicy, o GateOptions) string {
	var b strings.Builder
	out := &printer{w: &b}
	headline := cmp.Or(p.headline(g.Updated), allEqual)
	out.printf("\n### %s · %s\n\n%s\n", markdownText(scenario), markdownText(p.Label), markdownText(headline))
	for _, note := range p.Notes {
		out.printf("\n%s\n", markdownText(note))
	}
	shown, more := p.shown(o, g.Updated)
	if len(shown) > 0 {
		heads := g.gateHeads(shown)
		out.printf("\n")
		out.markdownRow(heads)
		out.printf("|:--|:-:|%s\n", strings.Repeat("--:|", len(heads)-2))
		for _, l := range g.gateLines(shown) {
			out.markdownRow(l.row(len(heads)))
		}
	}
	if more > 0 {
		out.printf("\n%s more\n", grouped(float64(more), 0))
	}
	if p.Parting != nil {
		out.printf("\n<details><summary>first difference, seed %d</summary>\n\n", p.Parting.Seed)
		p.Parting.fenced(out)
		out.printf("\n</details>\n")
	}
	return b.String()
}

// fenced writes the difference as it stands, between fences longer than any in it.
func (p *GateParting) fenced(out *printer) {
	text, fence := p.text(), "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	out.printf("%stext\n%s%s\n", fence, text, fence)
}
