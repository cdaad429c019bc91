package size

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gangplan/gangplan/report"
)

// label writes the values of the fields that move together.
func label(values []string) string { return strings.Join(values, " / ") }

// condition writes the targets as one.
func (q *Question) condition() string {
	var parts []string
	for _, t := range q.Targets {
		parts = append(parts, t.String())
	}
	return strings.Join(parts, " and ")
}

// text writes a metric of a point.
func (p *Point) text(metric string) string {
	m, _ := report.LookupMetric(metric)
	v, ok := p.Metrics.Get(metric)
	return m.Text(v, ok)
}

// at writes what the targets' metrics are with a value; over several seeds, how many meet
// the targets and between which ends the metrics lie.
func (q *Question) at(p *Point) string {
	var parts []string
	if n := len(p.Seeds); n > 1 {
		parts = append(parts, fmt.Sprintf("%d of %d seeds meet it", p.SeedsMet, n))
	}
	for _, name := range q.asked() {
		text := name + " is " + p.text(name)
		if len(p.Seeds) > 1 {
			text += " in the median, " + p.ends(name)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}

// ends writes between which ends a metric lies over the seeds.
func (p *Point) ends(metric string) string {
	m, _ := report.LookupMetric(metric)
	low, okLow := p.Low.Get(metric)
	high, okHigh := p.High.Get(metric)
	return m.Text(low, okLow) + "–" + m.Text(high, okHigh)
}

// sentences says in words what was found.
func (f *Found) sentences(q *Question) []string {
	all := []string{f.answerText(q)}
	if f.answer >= 0 {
		all = append(all, f.exactlyMet(q)...)
	}
	if !f.Monotone {
		all = append(all, f.doubtText(q))
	}
	if len(f.Curve) > 1 {
		for i := range f.Levels {
			all = append(all, f.levelText(&f.Levels[i]))
		}
	}
	return append(all, fmt.Sprintf("Looked at %s.", f.looked(q)))
}

// levelText says where more of what is varied does nothing.
func (f *Found) levelText(l *Level) string {
	var parts []string
	for _, flat := range l.Flat {
		parts = append(parts, fmt.Sprintf("from %s to %s it stays %s", label(flat.From), label(flat.To), f.Curve[flat.from].text(l.Metric)))
	}
	last := &f.Curve[len(f.Curve)-1]
	if l.Plateau != nil {
		parts = append(parts, fmt.Sprintf("from %s on more changes nothing, it is %s", label(l.Plateau), last.text(l.Metric)))
	} else {
		parts = append(parts, fmt.Sprintf("it changes up to the last value, %s", label(last.Values)))
	}
	return l.Metric + ": " + strings.Join(parts, "; ") + "."
}

func (f *Found) answerText(q *Question) string {
	span := fmt.Sprintf("%s to %s", label(q.Values[0]), label(q.Values[len(q.Values)-1]))
	if f.answer < 0 {
		last := &f.Curve[len(f.Curve)-1]
		at := label(last.Values)
		if len(last.Seeds) > 1 {
			at += "," // a number follows
		}
		return fmt.Sprintf("No value of %s from %s meets %s; at %s %s.", q.Field, span, q.condition(), at, q.at(last))
	}
	best := &f.Curve[f.answer]
	text := fmt.Sprintf("%s = %s is the %s from %s that meets %s: %s.", q.Field, label(best.Values), q.Extreme, span, q.condition(), q.at(best))
	if len(best.Seeds) > 1 {
		text += fmt.Sprintf(" With confidence %s more than %s of all seeds meet it.", percent(f.Confidence), percent(q.Share))
	}
	return text
}

// percent writes a probability with as many digits as it takes not to make it certain.
func percent(p float64) string {
	for digits := 1; digits < 9; digits++ {
		s := strconv.FormatFloat(100*p, 'f', digits, 64)
		if whole, fraction, _ := strings.Cut(s, "."); whole != "100" {
			return strings.TrimSuffix(whole+"."+strings.TrimRight(fraction, "0"), ".") + "%"
		}
	}
	return "100%"
}

// strict are the operators that exclude the bound.
var strict = map[string]string{"<=": "<", ">=": ">"}

// exactlyMet says where an answer hangs on how a bound is read.
func (f *Found) exactlyMet(q *Question) []string {
	var out []string
	for _, t := range q.Targets {
		v, ok := f.Curve[f.answer].Metrics.Get(t.Metric)
		if ok && len(f.Curve[f.answer].Seeds) == 1 && v == t.Value && t.Of == "" && strict[t.Op] != "" {
			out = append(out, fmt.Sprintf("%s is met exactly: with %s instead of %s it would not be.", t, strict[t.Op], t.Op))
		}
	}
	return out
}

// doubtText says where more is not better.
func (f *Found) doubtText(q *Question) string {
	for i := f.answer + 1; i < len(f.Curve); i++ {
		p := &f.Curve[i]
		if p.Met {
			continue
		}
		text := fmt.Sprintf("The targets do not go on to hold: %s does not meet them (%s)", label(p.Values), q.at(p))
		if f.steady >= 0 {
			return fmt.Sprintf("%s; from %s on all values looked at do.", text, label(f.Steady))
		}
		return text + "."
	}
	panic("size: a doubt without a cause")
}

// looked says how thoroughly the values were searched.
func (f *Found) looked(q *Question) string {
	n := len(f.Curve)
	switch {
	case len(q.Values) == 1:
		return "the only value"
	case n == len(q.Values):
		return fmt.Sprintf("all %d values", n)
	}
	return fmt.Sprintf("%d of %d values: %d evenly, then by bisection, and around the answer", n, len(q.Values), scanned)
}
