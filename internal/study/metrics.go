package study

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gangplan/gangplan/internal/suggest"
	"github.com/gangplan/gangplan/report"
)

// MetricNames are the names of all metrics.
func MetricNames() []string {
	names := make([]string, len(report.Metrics()))
	for i := range names {
		names[i] = report.Metrics()[i].Name
	}
	return names
}

// ChooseMetrics returns the names of the metrics that some words stand for, each once, in
// the order of the words: a name, the beginning of some with a point or a star at its end,
// or all.
func ChooseMetrics(words []string) ([]string, error) {
	var chosen []string
	for _, word := range words {
		found := false
		for _, name := range MetricNames() {
			if !standsFor(word, name) {
				continue
			}
			found = true
			if !slices.Contains(chosen, name) {
				chosen = append(chosen, name)
			}
		}
		if !found {
			return nil, fmt.Errorf("unknown metric %q%s: expected a name, the beginning of some as in wait.*, or all", word, suggest.Hint(word, MetricNames()))
		}
	}
	return chosen, nil
}

func standsFor(word, name string) bool {
	prefix, isPrefix := strings.CutSuffix(word, "*")
	isPrefix = isPrefix || strings.HasSuffix(word, ".")
	return word == name || word == "all" || isPrefix && strings.HasPrefix(name, prefix)
}
