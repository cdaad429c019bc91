package verify

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// caseOutcomes runs a case written for a test, as one line of a file of cases.
func caseOutcomes(t *testing.T, line string) []Outcome {
	t.Helper()
	file := filepath.Join(t.TempDir(), "cases.jsonl")
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(line, "\n", " ")), 0o600); err != nil {
		t.Fatal(err)
	}
	outcomes, err := runScenarios(Options{Cases: file})
	if err != nil {
		t.Fatal(err)
	}
	return outcomes
}

// Three two-node jobs of 600 s every 20 minutes need one node-hour per 20 minutes: on 3 and
// on 2 nodes they run one after the other and the last is done as the next three come; on 4
// two run at once; on 6 all.
const threes = `{"id": "T-1", "policy": ["StrictFIFO"], "cluster": {"nodes": "n = 2,3,4,6 (two nodes per job)"}, "queues": {},
 "jobs": [{"template": "every 30 minutes three two-node jobs of 10 min, 4 hours"}], "config": {"quantile": "nearest rank"},
 "expect": {"table": {"2": {"p50": 600, "p90": 1200, "max": 1200, "offered_load": 1.0}, "3": {"p50": 600, "p95": 1200, "offered_load": 0.67},
   "4": {"p50": 0, "p90": 600, "max": 600, "offered_load": 0.5}, "6": {"max": 0, "offered_load": %v}},
   "answer max<=600": %v, "answer p50==0": 4, "answer max<0": null, "answer mean<=5m": 4, "n=2": "stable: it just fits", "n=6": "stable"}}`

func TestSizingScenario(t *testing.T) {
	if got := caseOutcomes(t, fmt.Sprintf(threes, "0.3333", 4)); len(got) != 1 || got[0].Verdict != Equal {
		t.Errorf("%+v", got)
	}
	got := caseOutcomes(t, fmt.Sprintf(threes, "0.4", 6))
	if len(got) != 1 || got[0].Verdict != Outside || got[0].Reason != "differs in answer max<=600, table" {
		t.Errorf("%+v", got)
	}
}

// What a sizing scenario asks beyond what is measured is skipped, and says why.
func TestSizingScenarioSkipped(t *testing.T) {
	for old, c := range map[string]struct{ now, why string }{
		`"answer p50==0"`:             {`"answer p42==0"`, `the target "p42==0"`},
		`"stable: it just fits"`:      {`"cosy"`, "what is said of n=2"},
		`"nearest rank"`:              {`"interpolated"`, "quantiles by interpolated"},
		`three two-node jobs`:         {`some two-node jobs`, `the number "some"`},
		`10 min, 4 hours`:             {`10 min, 4 fortnights`, `the unit "fortnights"`},
		`every 30 minutes three`:      {`now and then three`, "a template over k"},
		`"4": {"p50"`:                 {`"4": {"p51"`, "the column p51 is not measured"},
		`"answer mean<=5m": 4`:        {`"colour": 4`, "the expectation colour is not measured"},
		`{"2": {"p50": 600, "p90"`:    {`{"two": {"p50": 600, "p90"`, `the row "two" of the table`},
		`every 30 minutes three two-`: {`every 1 second 10000 two-`, "more than 1000000 jobs"},
	} {
		got := caseOutcomes(t, strings.Replace(fmt.Sprintf(threes, "0.3333", 4), old, c.now, 1))
		if len(got) != 1 || got[0].Verdict != Skipped || !strings.Contains(got[0].Reason, c.why) {
			t.Errorf("%s: %+v, want %s", c.now, got, c.why)
		}
	}
}

// M/M/1 at load 0.5, in minutes: the mean wait is as long as the mean service, half the jobs
// wait.
const mm1 = `{"id": "T-2", "policy": ["StrictFIFO"], "cluster": {"nodes": 1}, "queues": {},
 "jobs": [{"template": "one-node jobs, Poisson arrivals 30 per hour, exponential service mean 1 min, 10,000 jobs"}],
 "config": {"seed": "any"},
 "expect": {"utilisation": 0.5, "mean_wait_h": %v, "p_wait": %v, "little": "mean queue length = %v*mean wait",
   "tolerance": "%s standard errors, from 20 batches of 500 consecutive jobs, first batch dropped, seed fixed"}}`

func TestSteadyScenario(t *testing.T) {
	hour := 1.0 / 60
	for _, c := range []struct {
		name          string
		wait, p, rate float64
		errors        string
		want          Verdict
		reason        string
	}{
		{"theory", hour, 0.5, 30, "3", Within, ""},
		{"another wait", 1.5 * hour, 0.5, 30, "3", Outside, "mean_wait_h is off by more than 3 standard errors"},
		{"another share", hour, 0.6, 30, "3", Outside, "p_wait is off by more than 3 standard errors"},
		{"another rate", hour, 0.5, 45, "3", Outside, "little is off by more than 3 standard errors"},
		{"no tolerance", hour, 0.5, 30, "no", Skipped, "the tolerance"},
	} {
		got := caseOutcomes(t, fmt.Sprintf(mm1, c.wait, c.p, c.rate, c.errors))
		if len(got) != 1 || got[0].Verdict != c.want || !strings.Contains(got[0].Reason, c.reason) {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
	odd := strings.Replace(fmt.Sprintf(mm1, hour, 0.5, 30, "3"), "10,000 jobs", "10,001 jobs", 1)
	if got := caseOutcomes(t, odd); got[0].Verdict != Skipped || !strings.Contains(got[0].Reason, "10001 jobs in 20 batches of 500") {
		t.Errorf("%+v", got)
	}
	law := strings.Replace(fmt.Sprintf(mm1, hour, 0.5, 30, "3"), "mean queue length =", "queue length over", 1)
	if got := caseOutcomes(t, law); got[0].Verdict != Outside {
		t.Errorf("a law that nobody knows: %+v", got)
	}
}

// The batches' estimates, on runs written down by hand: of four jobs on two nodes, in hours,
// those of the second batch arrive from 2 on.
func TestBatchMeasures(t *testing.T) {
	var c scenarioCase
	line := `{"id": "T-3", "policy": ["FIFO"], "cluster": {"nodes": 2}, "jobs": [
	  {"id": "a", "submit": 0, "pods": 1, "gpus_per_pod": 1, "duration": 14400}, {"id": "b", "submit": 3600, "pods": 2, "gpus_per_pod": 1, "duration": 3600},
	  {"id": "c", "submit": 7200, "pods": 1, "gpus_per_pod": 1, "duration": 3600}, {"id": "d", "submit": 21600, "pods": 1, "gpus_per_pod": 1, "duration": 3600}]}`
	if err := json.Unmarshal([]byte(line), &c); err != nil {
		t.Fatal(err)
	}
	r, err := c.run("FIFO")
	if err != nil {
		t.Fatal(err)
	}
	// a runs 0-4 on one node, b waits 1-4 and runs 4-5 on both, c waits 2-5 and runs 5-6, d
	// runs 6-7. The batch of c and d is from 2 to 6: a is busy for 2, b for 1 twice, c for 1.
	b := r.batch(2, 4)
	for name, want := range map[string][2]float64{
		"busy": {b.busy(), 5.0 / 4}, "queued": {b.queued(), 5.0 / 4}, "wait": {b.meanWait(), 1.5}, "share": {b.share(), 0.5}, "nodes": {b.nodes(), 2},
		"little": {b.little("mean queue length = 0.5*mean wait"), 5.0/4 - 0.75},
	} {
		if d := want[0] - want[1]; d > 1e-12 || d < -1e-12 {
			t.Errorf("%s is %v, want %v", name, want[0], want[1])
		}
	}
}

func TestSentenceJobs(t *testing.T) {
	for _, c := range []struct {
		text  string
		count int
		last  string
	}{
		{"every hour on the hour ten one-node jobs of 1800 s, 24 hours", 240, "map[duration:1800 gpus_per_pod:1 id:j23-9 pods:1 submit:82800]"},
		{"every 15 minutes 2 four-node jobs of 0.5 h, 1 day", 192, "map[duration:1800 gpus_per_pod:1 id:j95-1 pods:4 submit:85500]"},
		{"every day on the day one eight-node job of 2 days, 3 days", 3, "map[duration:172800 gpus_per_pod:1 id:j2-0 pods:8 submit:172800]"},
		{"job-{k}", 0, ""},
	} {
		jobs, err := sentenceJobs(c.text)
		if err != nil || len(jobs) != c.count || c.count > 0 && fmt.Sprint(jobs[c.count-1]) != c.last {
			t.Errorf("%s: %d jobs, %v, %v", c.text, len(jobs), jobs, err)
		}
	}
}
