package report

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// annotationLimit is how many annotations of a kind GitHub shows of a step.
const annotationLimit = 10

// annotation is one line for GitHub's log, which shows it beside the file.
type annotation struct {
	file, title, text string
	severity          float64
}

// WriteGitHub writes workflow commands that annotate the files of the scenarios: an error
// for every policy or scenario that fails, a warning for one whose baseline should be
// tightened. Of a kind there are ten at most, the worst first; a notice says how many more.
func (g *Gate) WriteGitHub(w io.Writer) error {
	out := &printer{w: w}
	errors, warnings := g.annotations()
	total := writeAnnotations(out, "error", errors) + writeAnnotations(out, "warning", warnings)
	if total > 0 {
		out.printf("::notice title=gangplan check::%s\n", commandText(fmt.Sprintf("%d more are not shown. %s: %s", total, g.title(), g.conclusion())))
	}
	return out.err
}

func writeAnnotations(out *printer, kind string, as []annotation) (more int) {
	slices.SortStableFunc(as, func(a, b annotation) int { return cmp.Compare(b.severity, a.severity) })
	shown := min(len(as), annotationLimit)
	for _, a := range as[:shown] {
		out.printf("::%s file=%s,line=1,title=%s::%s\n", kind, commandProperty(a.file), commandProperty(a.title), commandText(a.text))
	}
	return len(as) - shown
}

func (g *Gate) annotations() (errors, warnings []annotation) {
	for i := range g.Scenarios {
		s := &g.Scenarios[i]
		if s.Problem != "" {
			errors = append(errors, annotation{s.File, s.Name, s.Problem, infinitelyBad})
		}
		for k := range s.Policies {
			p := &s.Policies[k]
			if a := p.annotation(s, g.Updated); p.Fails() {
				errors = append(errors, a)
			} else if p.count(only(GateBetter)) > 0 {
				warnings = append(warnings, a)
			}
		}
	}
	return errors, warnings
}

// infinitelyBad is worse than any metric.
var infinitelyBad = math.Inf(1)

// annotation says how a policy stands: its headline, its worst metric, and where it parts
// from its baseline.
func (p *GatePolicy) annotation(s *GateScenario, updated bool) annotation {
	a := annotation{s.File, s.Name + " · " + p.Label, p.headline(updated), 0}
	if p.Problem != "" {
		a.severity = infinitelyBad
	}
	if shown, _ := p.shown(GateOptions{}, false); len(shown) > 0 {
		a.severity = max(a.severity, shown[0].severity())
		a.text += "\n" + shown[0].sentence()
	}
	if p.Parting != nil {
		a.text += "\nfirst difference: " + p.Parting.sentence()
	}
	return a
}

// sentence is the difference in one line.
func (p *GateParting) sentence() string {
	side := func(name string, s *Step) string {
		if s == nil {
			return name + " ended"
		}
		return name + " " + s.subject() + " " + s.when()
	}
	return fmt.Sprintf("seed %d, after %s: %s; %s", p.Seed, Count(p.Common, "transition"),
		side(gateBaseline, p.difference.A.Next), side(gateNow, p.difference.B.Next))
}

// commandText escapes the text of a workflow command, commandProperty a value before it.
func commandText(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

func commandProperty(s string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(commandText(s))
}
