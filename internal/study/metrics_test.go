package study

import (
	"slices"
	"strings"
	"testing"
)

// Words for metrics mean the same in every command: names, beginnings, or all; in the order
// in which they are given, each once.
func TestChooseMetrics(t *testing.T) {
	all := MetricNames()
	beginning := func(prefix string) (names []string) {
		for _, name := range all {
			if strings.HasPrefix(name, prefix) {
				names = append(names, name)
			}
		}
		return names
	}
	for words, want := range map[string][]string{
		"utilisation":                           {"utilisation"},
		"utilisation,requeues,utilisation":      {"utilisation", "requeues"},
		"jct.*":                                 beginning("jct."),
		"jct.":                                  beginning("jct."),
		"verdicts.*,requeues,verdicts.deadlock": append(beginning("verdicts."), "requeues"),
		"all":                                   all,
		"*":                                     all,
	} {
		if got, err := ChooseMetrics(strings.Split(words, ",")); err != nil || !slices.Equal(got, want) || len(got) == 0 {
			t.Errorf("%s stands for %v, %v, expected %v", words, got, err, want)
		}
	}
	for word, want := range map[string]string{
		"utilization": `unknown metric "utilization" (did you mean utilisation?): expected a name, the beginning of some as in wait.*, or all`,
		"wat.*":       `unknown metric "wat.*"`, "jct": `unknown metric "jct"`, "": `unknown metric ""`,
	} {
		if _, err := ChooseMetrics([]string{"requeues", word}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, expected %s", word, err, want)
		}
	}
	if got, err := ChooseMetrics(nil); got != nil || err != nil {
		t.Errorf("no words: %v, %v", got, err)
	}
}
