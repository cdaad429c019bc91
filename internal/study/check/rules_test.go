package check

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gangplan/gangplan/report"
)

const corpusHeader = "apiVersion: gangplan/v1alpha1\nkind: Corpus\n"

func configFrom(t *testing.T, text string, names ...string) (*config, error) {
	t.Helper()
	dir := folder(t, map[string]string{configFile: text})
	return configOf(dir, names)
}

// The nearest setting that names a metric holds; without any, exact metrics are exact and
// sampled ones have two percent.
func TestNearestRule(t *testing.T) {
	c, err := configFrom(t, corpusHeader+`seeds: 3
tolerance: 5%
improvements: pass
metrics: {wait.*: 1%, wait.p95_seconds: 30s, gpu_hours.useful: any, digest: exact}
scenarios:
  a: {seeds: 7, improvements: fail, metrics: {wait.p95_seconds: exact, gpu_hours.*: 0.5, digest: any}}
  b: {tolerance: any}
`, "a", "b", "c")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct{ scenario, metric, rule string }{
		{"a", "wait.p95_seconds", "exact"}, {"a", "wait.p50_seconds", "1%"}, {"a", "jct.p50_seconds", "5%"}, {"a", "gpu_hours.useful", "0.5"}, {"a", "requeues", "exact"},
		{"b", "wait.p95_seconds", "30s"}, {"b", "jct.p50_seconds", "any"}, {"b", "requeues", "not worse"}, {"b", "jobs.submitted", "any"}, {"b", "gpu_hours.useful", "any"},
		{"c", "wait.mean_seconds", "1%"}, {"c", "jct.p50_seconds", "5%"},
	} {
		g := c.of(want.scenario)
		m, _ := report.LookupMetric(want.metric)
		if got := g.rule(m); got.text != want.rule {
			t.Errorf("%s, %s: %s, want %s", want.scenario, want.metric, got.text, want.rule)
		}
	}
	for name, want := range map[string]int{"a": 7, "b": 3} {
		if g := c.of(name); g.seeds != want || g.digests() != (name != "a") {
			t.Errorf("%s: %d seeds, digests %v", name, g.seeds, g.digests())
		}
	}
	plain := (&config{}).of("x")
	wait, _ := report.LookupMetric("wait.mean_seconds")
	finished, _ := report.LookupMetric("jobs.finished")
	if plain.seeds != 1 || plain.digests() || plain.rule(wait).relative != 0.02 || plain.rule(finished).kind != equal {
		t.Errorf("without settings: %+v", plain)
	}
}

func TestMistakesInSettings(t *testing.T) {
	for text, want := range map[string]string{
		"seeds: 0":                             "corpus.yaml:3:8: seeds: \"0\": expected more than 0",
		"seeds: 100000":                        "corpus.yaml:3:8: seeds: 100000: expected at most 1000",
		"tolerance: 30s":                       "corpus.yaml:3:12: tolerance: \"30s\": expected a percentage such as 2%, exact or any",
		"tolerance: 5":                         "tolerance: \"5\": expected a percentage",
		"tolerance: -2%":                       "tolerance: \"-2%\": expected a percentage",
		"tolerence: 2%":                        "tolerence: unknown field (did you mean tolerance?)",
		"improvements: yes":                    "improvements: \"yes\": expected fail or pass",
		"metrics: {wait.p59_seconds: 2%}":      "corpus.yaml:3:29: metrics.wait.p59_seconds: there is no such metric (did you mean wait.p50_seconds?)",
		"metrics: {wait*: 2%}":                 "there is no such metric",
		"metrics: {nothing.*: 2%}":             "there is no such metric",
		"metrics: {digest: 2%}":                "metrics.digest: \"2%\": expected exact or any",
		"metrics: {requeues: 30s}":             "metrics.requeues: \"30s\": expected exact, any, a percentage such as 2%, or a number in the unit of the metric",
		"metrics: {requeues: many}":            "metrics.requeues: \"many\": expected exact",
		"metrics: {requeues: inf}":             "metrics.requeues: \"inf\": expected exact",
		"metrics: {requeues: NaN%}":            "metrics.requeues: \"NaN%\": expected exact",
		"scenarios: {a: {metrics: {x: 1%}}}":   "corpus.yaml:3:30: scenarios.a.metrics.x: there is no such metric",
		"scenarios: {a: {seeds: 5000}}":        "scenarios.a.seeds: 5000: expected at most 1000",
		"scenarios: {aa: {}}\nmetrics: {x: 1}": "scenarios.aa: there is no scenario aa.yaml here: expected some of a",
	} {
		if _, err := configFrom(t, corpusHeader+text, "a"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// numbers are values; NaN stands for null.
func numbers(vs ...float64) []value {
	out := make([]value, len(vs))
	for i, v := range vs {
		out[i] = value{v, math.IsNaN(v)}
		if math.IsNaN(v) {
			out[i].number = 0
		}
	}
	return out
}

// A metric with a tolerance fails only if it is worse by more than that and the interval of
// the change holds no change for the better. What the rows say of seeds: the same change
// fails if all seeds agree, and does not if they do not.
func TestJudgeMetric(t *testing.T) {
	null, tenth := math.NaN(), 0.1
	lower := &report.Metric{Name: "wait", Better: report.Lower}
	higher := &report.Metric{Name: "use", Better: report.Higher}
	neutral := &report.Metric{Name: "size", Better: report.Neutral}
	for _, c := range []struct {
		name      string
		m         *report.Metric
		rule      string
		base, now []value
		want      report.GateVerdict
	}{
		{"equal", lower, "exact", numbers(5), numbers(5), report.GateOK},
		{"exact and worse", lower, "exact", numbers(5), numbers(6), report.GateFailed},
		{"exact and better", lower, "exact", numbers(5), numbers(4), report.GateFailed},
		{"exact by the last digit", higher, "exact", numbers(tenth + 2*tenth), numbers(0.3), report.GateFailed},
		{"exact, one seed of three", lower, "exact", numbers(1, 2, 3), numbers(1, 2, 4), report.GateFailed},
		{"exact and null", lower, "exact", numbers(null), numbers(null), report.GateOK},
		{"exact, null now", lower, "exact", numbers(0), numbers(null), report.GateFailed},
		{"any", lower, "any", numbers(5), numbers(500), report.GateChanged},
		{"new", lower, "exact", nil, numbers(5), report.GateNew},

		{"at the limit", lower, "20%", numbers(5), numbers(6), report.GateChanged},
		{"beyond the limit", lower, "20%", numbers(5), numbers(6.001), report.GateFailed},
		{"a little better", lower, "20%", numbers(5), numbers(4.5), report.GateChanged},
		{"much better", lower, "20%", numbers(5), numbers(3), report.GateBetter},
		{"higher, at the limit", higher, "20%", numbers(5), numbers(4), report.GateChanged},
		{"higher, beyond", higher, "20%", numbers(5), numbers(3.9), report.GateFailed},
		{"higher, much better", higher, "20%", numbers(5), numbers(7), report.GateBetter},
		{"neutral, up", neutral, "20%", numbers(5), numbers(7), report.GateFailed},
		{"neutral, down", neutral, "20%", numbers(5), numbers(3), report.GateFailed},
		{"neutral, within", neutral, "20%", numbers(5), numbers(4.5), report.GateChanged},
		{"absolute, within", lower, "3", numbers(5), numbers(8), report.GateChanged},
		{"absolute, beyond", lower, "3", numbers(5), numbers(8.5), report.GateFailed},
		{"a percentage of nothing", lower, "20%", numbers(0), numbers(0.001), report.GateFailed},
		{"of a negative number", lower, "10%", numbers(-10), numbers(-9), report.GateChanged},

		{"never now", lower, "20%", numbers(5), numbers(null), report.GateFailed},
		{"never before", lower, "20%", numbers(null), numbers(5), report.GateBetter},
		{"never and never", lower, "20%", numbers(null), numbers(null), report.GateOK},
		{"higher, null now", higher, "20%", numbers(5), numbers(null), report.GateFailed},
		{"never for one seed of five", lower, "20%", numbers(5, 5, 5, 5, 5), numbers(5, 5, 5, 5, null), report.GateChanged},
		{"never for all seeds", lower, "20%", numbers(5, 5, 5), numbers(null, null, null), report.GateFailed},

		{"all seeds agree", lower, "10%", numbers(10, 20, 30, 40, 50), numbers(15, 25, 36, 47, 55), report.GateFailed},
		{"seeds do not agree", lower, "10%", numbers(10, 20, 30, 40, 50), numbers(60, 19, 36, 39, 49), report.GateChanged},
		{"all agree, within the tolerance", lower, "10%", numbers(10, 20, 30, 40, 50), numbers(11, 21, 31, 41, 51), report.GateChanged},
		{"all agree for the better", lower, "10%", numbers(10, 20, 30, 40, 50), numbers(5, 10, 20, 30, 40), report.GateBetter},
	} {
		g := judgeMetric(c.m, mustRule(c.rule, "s"), c.base, c.now)
		if g.Verdict != c.want {
			t.Errorf("%s: %s, want %s (%+v)", c.name, g.Verdict, c.want, g)
		}
		if several := len(c.now) > 1 && c.rule != "exact"; (g.Change != nil) != several {
			t.Errorf("%s: interval %v", c.name, g.Change)
		}
	}
}

// Laws of the gate: what is equal is fine, a mirrored metric gets the mirrored verdict, and a
// looser tolerance fails nothing that a tighter one passes.
func TestJudgeMetricLaws(t *testing.T) {
	lower := &report.Metric{Name: "wait", Better: report.Lower}
	higher := &report.Metric{Name: "use", Better: report.Higher}
	mirror := func(vs []value) []value {
		out := make([]value, len(vs))
		for i, v := range vs {
			out[i] = value{-v.number, v.null}
		}
		return out
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(t, "seeds")
		drawn := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) value {
			if rapid.IntRange(0, 9).Draw(t, "null") == 0 {
				return value{null: true}
			}
			return value{number: float64(rapid.IntRange(-20, 20).Draw(t, "v")) / 4}
		}), n, n)
		base, now := drawn.Draw(t, "base"), drawn.Draw(t, "now")
		tight := rule{kind: within, relative: float64(rapid.IntRange(0, 8).Draw(t, "tolerance")) / 16}
		loose := rule{kind: within, relative: tight.relative * 2, absolute: 0.5}
		if v := judgeMetric(lower, tight, base, base).Verdict; v != report.GateOK {
			t.Fatalf("equal to itself: %s", v)
		}
		a, b := judgeMetric(lower, tight, base, now), judgeMetric(higher, tight, mirror(base), mirror(now))
		if a.Verdict != b.Verdict {
			t.Fatalf("%s, mirrored %s", a.Verdict, b.Verdict)
		}
		if c := judgeMetric(lower, loose, base, now); c.Verdict.Fails() && !a.Verdict.Fails() {
			t.Fatalf("%s with a tolerance of %v, %s with more", a.Verdict, tight.relative, c.Verdict)
		}
	})
}
