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
		Out      string      `xml:"system-out,omitempty"`
	}
	junitCase struct {
		Class   string        `xml:"classname,attr"`
		Name    string        `xml:"name,attr"`
		Failure *junitFailure `xml:"failure"`
		Out     string        `xml:"system-out,omitempty"`
	}
	junitFailure struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
	}
)

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
		suites = append(suites, junitSuite{Name: s.Name, File: s.File, Out: strings.Join(s.Notes, "\n"),
			Cases: []junitCase{{Class: s.Name, Name: "baseline", Failure: &junitFailure{s.Problem, string(GateFailed)}}}})
	}
	for i := range s.Policies {
		suites = append(suites, s.Policies[i].junit(s))
	}
	return suites
}

func (p *GatePolicy) junit(s *GateScenario) junitSuite {
	class := s.Name + "." + p.Label
	suite := junitSuite{Name: s.Name + "/" + p.Label, File: s.File, Out: p.junitOut()}
	if p.Problem != "" {
		suite.Cases = append(suite.Cases, junitCase{Class: class, Name: "baseline", Failure: &junitFailure{p.Problem, string(GateFailed)}})
	}
	for _, d := range p.Digests {
		c := junitCase{Class: class, Name: fmt.Sprintf("digest, seed %d", d.Seed), Out: d.text()}
		if d.Verdict.Fails() {
			c.Failure, c.Out = &junitFailure{c.Out, string(d.Verdict)}, ""
		}
		suite.Cases = append(suite.Cases, c)
	}
	for i := range p.Metrics {
		m := &p.Metrics[i]
		c := junitCase{Class: class, Name: m.Name, Out: m.sentence()}
		if m.Verdict.Fails() {
			c.Failure, c.Out = &junitFailure{c.Out, string(m.Verdict)}, ""
		}
		suite.Cases = append(suite.Cases, c)
	}
	return suite
}

// junitOut is what explains the suite: notes, and where the runs part.
func (p *GatePolicy) junitOut() string {
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
