package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Human forms of numbers, for tables. They round; JSON and CSV do not.

// Span writes a duration in seconds with two units at most: 3d4h, 2h13m, 5m20s, 42s,
// 1.5s, 12ms.
func Span(seconds float64) string {
	if seconds < 0 {
		return "-" + Span(-seconds)
	}
	switch ms := math.Round(seconds * 1000); {
	case ms == 0:
		return "0s"
	case ms < 1000:
		return fmt.Sprintf("%.0fms", ms)
	case ms < 10_000:
		return strconv.FormatFloat(seconds, 'g', 2, 64) + "s"
	}
	s := int64(math.Round(seconds))
	switch {
	case s < 60:
		return fmt.Sprintf("%ds", s)
	case s < 3600:
		return pair(s, 60, "m", "s")
	}
	if m := int64(math.Round(seconds / 60)); m < 24*60 {
		return pair(m, 60, "h", "m")
	}
	return pair(int64(math.Round(seconds/3600)), 24, "d", "h")
}

// pair splits n into n/per of the large unit and the rest of the small one.
func pair(n, per int64, large, small string) string {
	if n%per == 0 {
		return fmt.Sprintf("%d%s", n/per, large)
	}
	return fmt.Sprintf("%d%s%d%s", n/per, large, n%per, small)
}

// grouped writes a number with thousands separators: 1,234,567.8.
func grouped(v float64, decimals int) string {
	s := strconv.FormatFloat(v, 'f', decimals, 64)
	sign := ""
	if strings.HasPrefix(s, "-") {
		sign, s = "-", s[1:]
	}
	whole, fraction, found := strings.Cut(s, ".")
	if found {
		fraction = "." + fraction
	}
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	return sign + whole + fraction
}

// share writes part of whole as a percentage.
func share(part, whole float64) string {
	if whole == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f%%", part/whole*100)
}

// raw writes a number with up to four decimals, for tables of everything.
func raw(v float64) string {
	s := grouped(v, 4)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// padLeft puts blanks before s until it is n runes wide.
func padLeft(s string, n int) string {
	return strings.Repeat(" ", max(0, n-utf8.RuneCountInString(s))) + s
}

// wrap breaks text at blanks into lines of at most width runes; longer words stand alone.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		switch {
		case line == "":
			line = word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width:
			lines = append(lines, line)
			line = word
		default:
			line += " " + word
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// Count writes a number of things with their noun: 1 pod, 2,000 pods.
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return grouped(float64(n), 0) + " " + noun + "s"
}
