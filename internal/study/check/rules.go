package check

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gangplan/gangplan/internal/scenario"
	"github.com/gangplan/gangplan/internal/study"
	"github.com/gangplan/gangplan/internal/suggest"
	"github.com/gangplan/gangplan/report"
)

// configFile is the name of the file with the settings of a corpus.
const configFile = "corpus.yaml"

// digestRule is the name under which the digests of runs have a rule, as metrics have.
const digestRule = "digest"

// config is corpus.yaml: settings for all scenarios, and for some of them others.
type config struct {
	APIVersion string              `yaml:"apiVersion,required"`
	Kind       string              `yaml:"kind,required"`
	All        settings            `yaml:",inline"`
	Scenarios  map[string]settings `yaml:"scenarios"`
}

// settings are how many seeds are run, from that of the scenario on, and how much worse a
// metric may get. Names of metrics may end in .*.
type settings struct {
	Seeds     int               `yaml:"seeds,positive"`
	Tolerance string            `yaml:"tolerance"`    // of sampled metrics
	Better    string            `yaml:"improvements"` // of exact metrics: fail, or pass
	Metrics   map[string]string `yaml:"metrics"`
}

// Bounds and defaults of settings.
const (
	maxSeeds         = 1000
	defaultTolerance = "2%"
)

// rule says how far a metric may be from its baseline.
type rule struct {
	text     string
	kind     ruleKind
	relative float64 // of the baseline's size
	absolute float64 // in the unit of the metric
}

type ruleKind uint8

const (
	equal  ruleKind = iota // any difference fails
	within                 // worse by more than the tolerance fails
	ignore                 // nothing fails
)

// parseRule reads exact, any, a percentage, a number, or a duration for a metric in seconds.
func parseRule(text, unit string) (rule, error) {
	r := rule{text: text, kind: within}
	switch text {
	case "exact":
		r.kind = equal
		return r, nil
	case "any":
		r.kind = ignore
		return r, nil
	}
	if percent, ok := strings.CutSuffix(text, "%"); ok {
		v, ok := amount(percent)
		r.relative = v / 100
		return r, unless(ok, text)
	}
	if v, ok := amount(text); ok {
		r.absolute = v
		return r, nil
	}
	d, err := time.ParseDuration(text)
	r.absolute = d.Seconds()
	return r, unless(err == nil && d >= 0 && unit == "s", text)
}

// amount reads a number that is not negative.
func amount(text string) (float64, bool) {
	v, err := strconv.ParseFloat(text, 64)
	return v, err == nil && v >= 0 && v <= math.MaxFloat64
}

func unless(ok bool, text string) error {
	if ok {
		return nil
	}
	return fmt.Errorf("%q: expected exact, any, a percentage such as 2%%, or a number in the unit of the metric", text)
}

// loadConfig reads the settings of a corpus, in which there are the named scenarios.
func loadConfig(file string, names []string) (*config, error) {
	c := &config{}
	d, err := scenario.LoadDocument(file, "Corpus", "the settings of a corpus with apiVersion, kind, seeds, tolerance and metrics", c)
	if err != nil {
		return nil, err
	}
	c.All.check(d)
	for _, name := range slices.Sorted(maps.Keys(c.Scenarios)) {
		if !slices.Contains(names, name) {
			d.Fail([]any{"scenarios", name}, "there is no scenario %s.yaml here: expected some of %s%s", name, strings.Join(names, ", "), suggest.Hint(name, names))
		}
		s := c.Scenarios[name]
		s.check(d, "scenarios", name)
	}
	return c, d.Err()
}

// check looks whether settings, which stand under some steps, can be.
func (s *settings) check(d *scenario.Document, under ...any) {
	at := func(steps ...any) []any { return append(slices.Clip(under), steps...) }
	if s.Seeds > maxSeeds {
		d.Fail(at("seeds"), "%d: expected at most %d", s.Seeds, maxSeeds)
	}
	if s.Tolerance != "" {
		if r, err := parseRule(s.Tolerance, ""); err != nil || r.absolute != 0 {
			d.Fail(at("tolerance"), "%q: expected a percentage such as 2%%, exact or any: it is for metrics of several units", s.Tolerance)
		}
	}
	if s.Better != "" && s.Better != "fail" && s.Better != "pass" {
		d.Fail(at("improvements"), "%q: expected fail or pass", s.Better)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Metrics)) {
		unit, known := unitOf(name)
		_, err := parseRule(s.Metrics[name], unit)
		switch {
		case !known:
			d.Fail(at("metrics", name), "there is no such metric%s", suggest.Hint(name, metricNames()))
		case name == digestRule && s.Metrics[name] != "exact" && s.Metrics[name] != "any":
			d.Fail(at("metrics", name), "%q: expected exact or any", s.Metrics[name])
		case err != nil:
			d.Fail(at("metrics", name), "%v", err)
		}
	}
}

// unitOf returns the unit of a metric, or of metrics that begin alike if they have one in
// common.
func unitOf(name string) (unit string, known bool) {
	if name == digestRule {
		return "", true
	}
	prefix, pattern := strings.CutSuffix(name, "*")
	for _, m := range report.Metrics() {
		if m.Name != name && !(pattern && matches(prefix, m.Name)) {
			continue
		}
		if known && unit != m.Unit {
			return "", true
		}
		unit, known = m.Unit, true
	}
	return unit, known
}

// matches reports whether a metric is among those of a pattern, such as wait.* .
func matches(prefix, metric string) bool {
	return strings.HasSuffix(prefix, ".") && strings.HasPrefix(metric, prefix)
}

func metricNames() []string { return append([]string{digestRule}, study.MetricNames()...) }

// gate is what holds for one scenario.
type gate struct {
	seeds  int
	layers []settings // the nearest first
}

// of returns what holds for a scenario.
func (c *config) of(name string) gate {
	own := c.Scenarios[name]
	g := gate{seeds: 1, layers: []settings{own, c.All, {Tolerance: defaultTolerance}}}
	for _, s := range g.layers {
		if s.Seeds > 0 {
			g.seeds = s.Seeds
			break
		}
	}
	return g
}

// rule returns that of a metric: the nearest that names it, more of its name going before
// less; else exact metrics must be equal, and sampled ones have the tolerance.
func (g *gate) rule(m *report.Metric) rule {
	for _, s := range g.layers {
		if text, ok := s.named(m.Name); ok {
			return mustRule(text, m.Unit)
		}
	}
	for _, s := range g.layers {
		switch {
		case !m.Exact && s.Tolerance != "":
			return mustRule(s.Tolerance, m.Unit)
		case m.Exact && s.Better == "pass" && m.Better == report.Neutral:
			return rule{text: "any", kind: ignore}
		case m.Exact && s.Better == "pass":
			return rule{text: "not worse", kind: within}
		case m.Exact && s.Better == "fail":
			return rule{text: "exact"}
		}
	}
	return rule{text: "exact"}
}

// digests reports whether runs must have the digests of the baseline.
func (g *gate) digests() bool {
	for _, s := range g.layers {
		if text, ok := s.Metrics[digestRule]; ok {
			return text == "exact"
		}
	}
	return false
}

func (s *settings) named(metric string) (text string, ok bool) {
	if text, ok = s.Metrics[metric]; ok {
		return text, true
	}
	longest := 0
	for name, t := range s.Metrics { // the longest prefix is one, in whatever order
		prefix, pattern := strings.CutSuffix(name, "*")
		if pattern && matches(prefix, metric) && len(prefix) > longest {
			longest, text, ok = len(prefix), t, true
		}
	}
	return text, ok
}

// mustRule is parseRule of what was checked before.
func mustRule(text, unit string) rule {
	r, err := parseRule(text, unit)
	if err != nil {
		panic("check: " + err.Error())
	}
	return r
}
