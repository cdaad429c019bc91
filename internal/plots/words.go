package plots

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gangplan/gangplan/report"
)

// said is a number that a title tells of a run: how it is written, and the order it gives.
type said struct {
	label, text string
	rank        float64
}

// telling tells up to three numbers, the best first, or the best and the worst of more:
// "4m16s under gang, 1h under per-pod".
func telling(all []said) string {
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b said) int { return cmp.Compare(a.rank, b.rank) })
	one := func(s said) string { return s.text + " under " + s.label }
	if len(all) > 3 {
		return fmt.Sprintf("%s, %s (best and worst of %d)", one(all[0]), one(all[len(all)-1]), len(all))
	}
	parts := make([]string, len(all))
	for i := range all {
		parts[i] = one(all[i])
	}
	return strings.Join(parts, ", ")
}

// joined writes a list as a sentence does.
func joined(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}

// percent writes a part of one, with a digit behind the point where that says more.
func percent(part float64) string {
	p := part * 100
	if p != 0 && math.Abs(p) < 9.95 && math.Abs(p-math.Round(p)) >= 0.05 || p > 99 && p < 99.95 {
		return strconv.FormatFloat(p, 'f', 1, 64) + "%"
	}
	return strconv.FormatFloat(p, 'f', 0, 64) + "%"
}

// count writes a whole number and its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return number(float64(n)) + " " + noun + "s"
}

// number writes a number with three digits or all those before the point.
func number(v float64) string {
	decimals := 0
	for limit := 100.0; decimals < 3 && math.Abs(v) < limit && v != math.Trunc(v); limit /= 10 {
		decimals++
	}
	s := strconv.FormatFloat(v, 'f', decimals, 64)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	if s == "-0" {
		return "0"
	}
	whole, rest := s, ""
	if i := strings.IndexByte(s, '.'); i >= 0 {
		whole, rest = s[:i], s[i:]
	}
	for i := len(whole) - 3; i > 0 && whole[i-1] != '-'; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	return whole + rest
}

// span writes seconds as the tables do, and 0 without a unit.
func span(seconds float64) string {
	if seconds == 0 {
		return "0"
	}
	return report.Span(seconds)
}

// waited writes seconds, and +Inf as never.
func waited(seconds float64) string {
	if math.IsInf(seconds, 1) {
		return "never"
	}
	return report.Span(seconds)
}

// latest is the last end of some runs, in seconds.
func latest(runs []Run) float64 {
	end := 0.0
	for _, r := range runs {
		end = max(end, r.Summary.EndSeconds)
	}
	return end
}

// grid is how many columns so many panels stand in.
func grid(panels int) int {
	if panels > 3 {
		return 2
	}
	return 1
}
