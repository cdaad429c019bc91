package size

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/gangplan/gangplan/internal/scenario"
	"github.com/gangplan/gangplan/internal/study"
	"github.com/gangplan/gangplan/internal/suggest"
	"github.com/gangplan/gangplan/report"
)

// Target is a bound that a metric has to keep, such as wait.p95_seconds<=30m.
type Target struct {
	Metric string  `json:"metric"`
	Op     string  `json:"op"`    // one of <=, <, >=, >, ==
	Value  float64 `json:"value"` // in the metric's unit, or a share of Of
	Of     string  `json:"of,omitempty"`
	text   string  // the value as it was given
}

// operators that a target may have; those of two signs first, so that they are found whole.
var operators = []struct {
	sign  string
	holds func(a, b float64) bool
}{
	{"<=", func(a, b float64) bool { return a <= b }},
	{">=", func(a, b float64) bool { return a >= b }},
	{"==", func(a, b float64) bool { return a == b }},
	{"<", func(a, b float64) bool { return a < b }},
	{">", func(a, b float64) bool { return a > b }},
}

// wholes are what a percentage is of, by the unit of the metric; of a ratio it is a hundredth.
var wholes = map[string]string{"GPU-hours": "gpu_hours.capacity", "jobs": "jobs.submitted"}

// ParseTarget reads METRIC OP VALUE. Times may be written as durations, and what is part of
// a whole as a percentage: of capacity for GPU-hours, of the submitted for jobs.
func ParseTarget(s string) (Target, error) {
	t, err := parseTarget(s)
	if err != nil {
		return t, fmt.Errorf("--target %s: %w", s, err)
	}
	return t, nil
}

// ParseTargets reads several.
func ParseTargets(texts []string) ([]Target, error) {
	targets := make([]Target, len(texts))
	for i, s := range texts {
		var err error
		if targets[i], err = ParseTarget(s); err != nil {
			return nil, err
		}
	}
	return targets, nil
}

func parseTarget(s string) (Target, error) {
	for _, op := range operators {
		name, value, ok := strings.Cut(s, op.sign)
		if !ok {
			continue
		}
		t := Target{Metric: strings.TrimSpace(name), Op: op.sign, text: strings.TrimSpace(value)}
		m, known := report.LookupMetric(t.Metric)
		if !known {
			return t, fmt.Errorf("unknown metric %q%s", t.Metric, suggest.Hint(t.Metric, study.MetricNames()))
		}
		return t, t.read(m.Unit)
	}
	return Target{}, fmt.Errorf("expected METRIC and <=, <, >=, > or ==, as in 'wait.p95_seconds<=30m'")
}

// read reads the value of a metric of some unit.
func (t *Target) read(unit string) error {
	var err error
	if percent, ok := strings.CutSuffix(t.text, "%"); ok {
		whole, known := wholes[unit]
		if !known && unit != "ratio" {
			return fmt.Errorf("a percentage of %s has no meaning: expected a number of %s", t.Metric, unit)
		}
		t.Of = whole
		if t.Value, err = strconv.ParseFloat(strings.TrimSpace(percent), 64); err != nil || isEndless(t.Value) {
			return fmt.Errorf("%q: expected a percentage such as 95%%", t.text)
		}
		t.Value /= 100
		return nil
	}
	if unit == "s" {
		d, err := scenario.ParseDuration(t.text)
		t.Value = float64(d) / 1e9
		return err
	}
	if t.Value, err = strconv.ParseFloat(t.text, 64); err != nil || isEndless(t.Value) {
		return fmt.Errorf("%q: expected a number of %s", t.text, unit)
	}
	return nil
}

func isEndless(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }

// Meets reports whether a run keeps the bound. A metric that is null keeps none.
func (t Target) Meets(vs report.Values) bool {
	v, ok := vs.Get(t.Metric)
	if !ok {
		return false
	}
	bound := t.Value
	if t.Of != "" {
		whole, _ := vs.Get(t.Of)
		bound = float64(bound * whole)
	}
	for _, op := range operators {
		if op.sign == t.Op {
			return op.holds(v, bound)
		}
	}
	panic("size: no operator " + t.Op)
}

// String returns the target as it was given.
func (t Target) String() string { return t.Metric + " " + t.Op + " " + t.text }
