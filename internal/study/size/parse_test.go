package size

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gangplan/gangplan/report"
)

func TestParseVary(t *testing.T) {
	f := parse(t, "cluster: {nodes: [{name: n, gpus: 8}]}\nworkload: {jobs: []}\nqueues: [{name: q, quota: {gpu: 8}}]\n")
	for _, c := range []struct{ specs, field, first, last, extreme, err string }{
		{specs: "nodes=4..16", field: "nodes", first: "4", last: "16", extreme: "smallest"},
		{specs: "scale.load=2..0.5:0.25", field: "scale.load", first: "2", last: "0.5", extreme: "largest"},
		{specs: "waitForPodsReady.timeout=1m..30m:30s", field: "waitForPodsReady.timeout", first: "1m", last: "30m", extreme: "smallest"},
		{specs: "podCreation=burst,slow-start", field: "podCreation", first: "burst", last: "slow-start", extreme: "first"},
		{specs: "nodes=8, 4,6", field: "nodes", first: "8", last: "6", extreme: "first"},
		{specs: "nodes=4..6;queues[0].quota.gpu=32..48:8", field: "nodes + queues[0].quota.gpu", first: "4 / 32", last: "6 / 48", extreme: "smallest"},
		{specs: "nodes=4..32:10", field: "nodes", first: "4", last: "32", extreme: "smallest"},
		{specs: "scale.load=2..0.5:0.4", field: "scale.load", first: "2", last: "0.5", extreme: "largest"},
		{specs: "waitForPodsReady.timeout=1m..10m:600s", field: "waitForPodsReady.timeout", first: "1m", last: "10m", extreme: "smallest"},
		{specs: "nodes=4..5:99;queues[0].quota.gpu=32,40", field: "nodes + queues[0].quota.gpu", first: "4 / 32", last: "5 / 40", extreme: "smallest"},
		{specs: "nodes=4,4,8;queues[0].quota.gpu=32,40,40", field: "nodes + queues[0].quota.gpu", first: "4 / 32", last: "8 / 40", extreme: "first"},
		{specs: "nodes=4,8,4", err: "nodes: 4 is listed twice"},
		{specs: "nodes=4..8;nodes=8..4", err: "--vary nodes=8..4: nodes is varied already"},
		{specs: "policy=gang,per-pod", err: "ask for some with --policy"},
		{specs: "waitForPodsReady.tiemout=1m..30m:1m", err: "waitForPodsReady.tiemout: unknown field (did you mean timeout?)"},
		{specs: "waitForPodsReady.timeout=1m..30q:1m", err: "\"30q\": expected a duration"},
		{specs: "nodes", err: "expected FIELD=LO..HI"},
		{specs: "=1..2", err: "expected FIELD=LO..HI"},
		{specs: "nodes=", err: "an empty value"},
		{specs: "nodes=4..", err: "expected a number"},
		{specs: "nodes=1..3000000", err: "more than 1000000 values"},
		{specs: "nodes=4..6;queues[0].quota.gpu=32..64:8", err: "5 values, but nodes has 3"},
	} {
		v, err := ParseVary(strings.Split(c.specs, ";"), f)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) || !strings.Contains(err.Error(), "--vary") {
				t.Errorf("%s: %v, want %s", c.specs, err, c.err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.specs, err)
			continue
		}
		if v.Field() != c.field || label(v.Values(0)) != c.first || label(v.Values(v.Len()-1)) != c.last || v.Extreme() != c.extreme {
			t.Errorf("%s: %s from %v to %v, %s", c.specs, v.Field(), v.Values(0), v.Values(v.Len()-1), v.Extreme())
		}
	}
	if _, err := ParseVary(nil, f); err == nil {
		t.Error("nothing is varied")
	}
}

func TestParseTarget(t *testing.T) {
	for _, c := range []struct {
		text string
		want Target
	}{
		{"wait.p95_seconds<=30m", Target{Metric: "wait.p95_seconds", Op: "<=", Value: 1800}},
		{" wait.p95_seconds < 1800 ", Target{Metric: "wait.p95_seconds", Op: "<", Value: 1800}},
		{"makespan_seconds>=1d12h", Target{Metric: "makespan_seconds", Op: ">=", Value: 129600}},
		{"utilisation>70%", Target{Metric: "utilisation", Op: ">", Value: 0.7}},
		{"utilisation>0.7", Target{Metric: "utilisation", Op: ">", Value: 0.7}},
		{"gpu_hours.idle<=20%", Target{Metric: "gpu_hours.idle", Op: "<=", Value: 0.2, Of: "gpu_hours.capacity"}},
		{"gpu_hours.idle<=1000", Target{Metric: "gpu_hours.idle", Op: "<=", Value: 1000}},
		{"jobs.finished>=99.5%", Target{Metric: "jobs.finished", Op: ">=", Value: 0.995, Of: "jobs.submitted"}},
		{"verdicts.deadlock==0", Target{Metric: "verdicts.deadlock", Op: "=="}},
	} {
		got, err := ParseTarget(c.text)
		got.text = ""
		if err != nil || got != c.want {
			t.Errorf("%s: %+v, %v", c.text, got, err)
		}
	}
	for text, want := range map[string]string{
		"wait.p95_second<=30m":     "did you mean wait.p95_seconds?",
		"wait.p95_seconds=30m":     "expected METRIC and <=, <, >=, > or ==",
		"wait.p95_seconds":         "expected METRIC and",
		"wait.p95_seconds<=30x":    `"30x"`,
		"wait.p95_seconds<=5%":     "a percentage of wait.p95_seconds has no meaning",
		"verdicts.deadlock==a few": "expected a number of count",
		"utilisation>=NaN":         "expected a number of ratio",
		"utilisation>=x%":          "expected a percentage such as 95%",
	} {
		if _, err := ParseTarget(text); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "--target "+text) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

func TestTargetMeets(t *testing.T) {
	vs := report.Values{{Name: "utilisation", Number: 0.7}, {Name: "wait.p95_seconds", Null: true},
		{Name: "gpu_hours.idle", Number: 20}, {Name: "gpu_hours.capacity", Number: 100}}
	for text, want := range map[string]bool{
		"utilisation<=70%": true, "utilisation<70%": false, "utilisation>=0.7": true, "utilisation>0.7": false, "utilisation==0.7": true,
		"gpu_hours.idle<=20%": true, "gpu_hours.idle<20%": false, "gpu_hours.idle<=20": true, "gpu_hours.idle<=19": false,
		"wait.p95_seconds>=0": false, "wait.p95_seconds<=100w": false,
		"jct.p50_seconds>=0": false, // not measured
	} {
		target, err := ParseTarget(text)
		if err != nil || target.Meets(vs) != want {
			t.Errorf("%s: %v, %v", text, target.Meets(vs), err)
		}
	}
}

func TestParseSeeds(t *testing.T) {
	for text, want := range map[string]string{"": "[]", "1..3": "[1 2 3]", "7": "[7]", "3, 5,8": "[3 5 8]", "0..2": "[0 1 2]"} {
		if got, err := ParseSeeds(text); err != nil || fmt.Sprint(got) != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{"a": `"a": expected a whole number`, "1,1": "1 is given twice", "1..x": "expected", "1..100000": "more than", "-1": "expected a whole number", "5..1": "expected the smaller one first: 1..5"} {
		if _, err := ParseSeeds(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestPercent(t *testing.T) {
	for p, want := range map[float64]string{0.5: "50%", 0.95: "95%", 1 - 11.0/1024: "98.9%", 1 - 1.0/1024: "99.9%", 0.99999: "99.999%", 1: "100%"} {
		if got := percent(p); got != want {
			t.Errorf("%v: %s, want %s", p, got, want)
		}
	}
}
