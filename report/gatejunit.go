package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

// The elements of a JUnit report. A policy of a scenario is a test suite, a metric is a test
// case. There are no times and dates in it: equal gates give equal files.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Name     string       `xml:"name,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		File     string      `xml:"file,attr,omitempty"`
		Cases    []junitCase `xml:"testcase"`
		Out      *junitText  `xml:"system-out"`
	}
	junitCase struct {
		Class   string        `xml:"classname,attr"`
		Name    string        `xml:"name,attr"`
		Failure *junitFailure `xml:"failure"`
		Out     *junitText    `xml:"system-out"`
	}
	junitFailure struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
	}
	junitText struct {
		Text string `xml:",cdata"`
	}
)

// junitOut is text that stands as it is: characters that XML does not have are replaced.
func junitOut(text string) *junitText {
	if text == "" {
		return nil
	}
	return &junitText{strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == '\uFFFE' || r == '\uFFFF' {
			return '\uFFFD'
		}
		return r
	}, text)}
}

// WriteJUnit writes the gate as JUnit XML.
func (g *Gate) WriteJUnit(w io.Writer) error {
	all := junitSuites{Name: "gangplan check " + g.Corpus}
	for i := range g.Scenarios {
		for _, s := range g.Scenarios[i].junit() {
			s.count()
			all.Suites = append(all.Suites, s)
			all.Tests += s.Tests
			all.Failures += s.Failures
		}
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func (s *junitSuite) count() {
	s.Tests = len(s.Cases)
	for i := range s.Cases {
		if s.Cases[i].Failure != nil {
			s.Failures++
		}
	}
}

// junit are the suites of a scenario: one of its own if it could not be compared.
func (s *GateScenario) junit() []junitSuite {
	var suites []junitSuite
	if s.Problem != "" {
		suites = append(suites, junitSuite{Name: s.Name, File: s.File, Out: junitOut(strings.Join(s.Notes, "\n")),
			Cases: []junitCase{{Class: s.Name, Name: "baseline", Failure: &junitFailure{s.Problem, string(GateFailed)}}}})
	}
	for i := range s.Policies {
		suites = append(suites, s.Policies[i].junit(s))
	}
	return suites
}

func (p *GatePolicy) junit(s *GateScenario) junitSuite {
	class := s.Name + "." + p.Label
	suite := junitSuite{Name: s.Name + "/" + p.Label, File: s.File, Out: junitOut(p.explained())}
	if p.Problem != "" {
		suite.Cases = append(suite.Cases, junitCase{Class: class, Name: "baseline", Failure: &junitFailure{p.Problem, string(GateFailed)}})
	}
	for _, d := range p.Digests {
		suite.Cases = append(suite.Cases, junitCaseOf(class, fmt.Sprintf("digest, seed %d", d.Seed), d.text(), d.Verdict))
	}
	for i := range p.Metrics {
		m := &p.Metrics[i]
		suite.Cases = append(suite.Cases, junitCaseOf(class, m.Name, m.sentence(), m.Verdict))
	}
	return suite
}

func junitCaseOf(class, name, text string, v GateVerdict) junitCase {
	if v.Fails() {
		return junitCase{Class: class, Name: name, Failure: &junitFailure{text, string(v)}}
	}
	return junitCase{Class: class, Name: name, Out: junitOut(text)}
}

// explained is what explains a suite: notes, and where the runs part.
func (p *GatePolicy) explained() string {
	var b strings.Builder
	for _, note := range p.Notes {
		b.WriteString(note + "\n")
	}
	if p.Parting != nil {
		p.Parting.write(&printer{w: &b})
	}
	return b.String()
}

func (d *GateDigest) text() string {
	if d.Baseline == "" || d.Baseline == d.Value {
		return d.Value
	}
	return gateBaseline + " " + d.Baseline + ", " + gateNow + " " + d.Value
}

// sentence is a metric in one line: value, baseline, limit, verdict.
func (m *GateMetric) sentence() string {
	baseline, value := m.texts()
	switch m.Verdict {
	case GateNew:
		return fmt.Sprintf("%s is new: %s", m.Name, value)
	case GateMissing:
		return fmt.Sprintf("%s is missing: the baseline has %s", m.Name, baseline)
	}
	text := fmt.Sprintf("%s is %s, baseline %s", m.Name, value, baseline)
	if limit := m.limit(); limit != nothing {
		text += ", limit " + limit
	}
	if change := m.change(); change != "" && change != "0" {
		text += " (" + change + ")"
	}
	return text
}
