package verify

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/gangplan/gangplan/internal/scenario"
	"github.com/gangplan/gangplan/sim"
)

// object reads a JSON object as the cases have them.
func object(t *testing.T, text string) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// checkError wants an error that has the text, of the kind that makes a case skipped; or
// none for an empty text.
func checkError(t *testing.T, err error, want string) {
	t.Helper()
	var word inexpressible
	if want == "" && err == nil || want != "" && errors.As(err, &word) && strings.Contains(err.Error(), want) {
		return
	}
	t.Errorf("error %v, want %q", err, want)
}

func TestExpand(t *testing.T) {
	for _, c := range []struct {
		name, job, want, err string
	}{
		{"one job", `{"id":"a","submit":3}`, `[{"id":"a","submit":3}]`, ""},
		{"a range", `{"template":"s{k}","k":"1..3","pods":1}`, `[{"id":"s1","pods":1},{"id":"s2","pods":1},{"id":"s3","pods":1}]`, ""},
		{"from 0", `{"template":"{k}-{k}","k":"0..0"}`, `[{"id":"0-0"}]`, ""},
		{"a formula", `{"template":"s{k}","k":"1..2","submit":"2.5*k"}`, `[{"id":"s1","submit":2.5},{"id":"s2","submit":5}]`, ""},
		{"a number stays", `{"template":"s{k}","k":"1..2","submit":7}`, `[{"id":"s1","submit":7},{"id":"s2","submit":7}]`, ""},
		{"an empty range", `{"template":"s{k}","k":"2..1"}`, `null`, ""},
		{"no range", `{"template":"s{k}"}`, ``, "a template over k = <nil>"},
		{"no numbers", `{"template":"s{k}","k":"a..b"}`, ``, "a template over k = a..b"},
		{"too many", `{"template":"s{k}","k":"0..100001"}`, ``, "a template over k = 0..100001"},
		{"no formula", `{"template":"s{k}","k":"1..2","submit":"later"}`, ``, `a submit time of "later"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := expand(object(t, c.job))
			checkError(t, err, c.err)
			if c.err == "" && asJSON(got) != c.want {
				t.Errorf("got  %s\nwant %s", asJSON(got), c.want)
			}
		})
	}
}

func TestExpandLeavesTheTemplateAlone(t *testing.T) {
	raw := object(t, `{"template":"s{k}","k":"1..2","submit":"2*k"}`)
	before := asJSON(raw)
	if _, err := expand(raw); err != nil || asJSON(raw) != before {
		t.Errorf("%v: %s, was %s", err, asJSON(raw), before)
	}
}

func TestOnlyKeys(t *testing.T) {
	for _, c := range []struct{ name, given, want string }{
		{"nothing", `{}`, ""},
		{"known", `{"a":1,"b":null}`, ""},
		{"strange, sorted", `{"a":1,"z":1,"c":1}`, "thing: c, z"},
		{"a key without a value", `{"c":null}`, "thing: c"},
	} {
		t.Run(c.name, func(t *testing.T) {
			checkError(t, onlyKeys("thing", object(t, c.given), "a", "b"), c.want)
		})
	}
}

func TestConvertJob(t *testing.T) {
	for _, c := range []struct{ name, job, err string }{
		{"a job", `{"id":"a","pods":2,"gpus_per_pod":1,"duration":60}`, ""},
		{"what is not modelled", `{"id":"a","pods":2,"gpus_per_pod":1,"duration":60,"color":"red"}`, "job: color"},
		{"no pods", `{"id":"a","gpus_per_pod":1,"duration":60}`, "a job whose pods is <nil>"},
		{"pods in words", `{"id":"a","pods":"two","gpus_per_pod":1,"duration":60}`, "a job whose pods is two"},
		{"a submit in words", `{"id":"a","submit":"late","pods":1,"gpus_per_pod":1,"duration":60}`, "a job whose submit is late"},
		{"an endless one", `{"id":"a","pods":1,"gpus_per_pod":1,"duration":null}`, "a job whose duration is <nil>"},
		{"nodes in words", `{"id":"a","pods":1,"gpus_per_pod":1,"duration":1,"node":"7 on each"}`, `a job whose node is "7 on each"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := convertJob(object(t, c.job))
			checkError(t, err, c.err)
		})
	}
}

func TestConvertJobFields(t *testing.T) {
	got, err := convertJob(object(t, `{"id":"a","submit":0.5,"pods":2,"gpus_per_pod":0.25,"cpus_per_pod":3,"duration":60,"queue":"q","user":"u",
		"priority":-4,"node":"n1","never_ready":true,"checkpoint_interval":10,"checkpoint_cost":1}`))
	if err != nil {
		t.Fatal(err)
	}
	want := &scenario.Job{ID: "a", Submit: 5e8, Duration: 60e9, Queue: "q", Tenant: "u", Priority: -4,
		Pods: scenario.Pods{Pods: 2, GPUsPerPod: new(scenario.Milli(250)), CPUPerPod: new(scenario.Milli(3000)), Node: "n1",
			NeverReady: scenario.AllPods},
		Checkpoint: &scenario.Checkpoint{Interval: 10e9, Cost: 1e9}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %s\nwant %s", asJSON(got), asJSON(want))
	}
}

func TestConvertPolicy(t *testing.T) {
	for _, c := range []struct{ name, want, err string }{
		{"pod-default", "per-pod {}", ""},
		{"pod-default/pack", `per-pod {"profile":"pack"}`, ""},
		{"gang-quota", "gang {}", ""},
		{"gang-quota+waitForPodsReady", "gang {}", ""},
		{"gang-quota (no timeout)", "gang {}", ""},
		{"gang-placement/StrictFIFO", `gang-topology {"mode":"unconstrained","placement":"BestFit","strategy":"StrictFIFO"}`, ""},
		{"FIFO", `gang-topology {"mode":"unconstrained","placement":"BestFit","strategy":"StrictFIFO"}`, ""},
		{"BestEffortFIFO", `gang-topology {"mode":"unconstrained","placement":"BestFit","strategy":"BestEffortFIFO"}`, ""},
		{"kueue-fair-sharing", `gang {"fairSharing":"on"}`, ""},
		{"TAS LeastFreeCapacity", `gang-topology {"mode":"unconstrained","placement":"LeastFreeCapacity"}`, ""},
		{"somebody's", "", `policy "somebody's"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var f scenario.File
			err := convertPolicy(&f, c.name)
			checkError(t, err, c.err)
			if err != nil {
				return
			}
			if got := f.Policies[0].Name + " " + asJSON(f.Policies[0].Params); len(f.Policies) != 1 || got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestVariants(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"none", `{"id":"A","expect":{"x":1}}`, `A {"x":1}`},
		{"by value", `{"id":"A","config":{"variants":[{"b":"one"},{"b":"two"}]},"expect":{"one":{"x":1},"two":{"x":2}}}`, `A/one {"x":1}; A/two {"x":2}`},
		{"by key and value", `{"id":"A","config":{"variants":[{"m":5}]},"expect":{"m=5":{"x":1}}}`, `A/m=5 {"x":1}`},
		{"by what is on", `{"id":"A","config":{"variants":[{"block":true}]},"expect":{"block":{"x":1}}}`, `A/block {"x":1}`},
		{"by all values", `{"id":"A","config":{"variants":[{"backoff":0,"timestamp":"Creation"}]},"expect":{"Creation,0":{"x":1}}}`, `A/Creation,0 {"x":1}`},
		{"of pods", `{"id":"A","jobs":[{"pods":"3|4"}],"expect":{"ask 3":{"x":1},"ask 4":{"x":2}}}`, `A/ask 3 {"x":1}; A/ask 4 {"x":2}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var in scenarioCase
			if err := json.Unmarshal([]byte(c.text), &in); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, v := range in.variants() {
				got = append(got, v.ID+" "+asJSON(v.Expect))
			}
			if strings.Join(got, "; ") != c.want {
				t.Errorf("got  %s\nwant %s", strings.Join(got, "; "), c.want)
			}
		})
	}
}

// threeJobs is a run of which only the names and times of the jobs are known.
func threeJobs() *ran {
	return &ran{index: map[string]int32{"X": 0, "s1": 1, "s2": 2}, result: &sim.Result{Jobs: []sim.JobRow{
		{Submit: 0, FirstStart: 0, FirstAdmit: 0, Finish: 100e9, State: sim.Finished},
		{Submit: 10e9, FirstStart: 12.5e9, FirstAdmit: 11e9, Finish: 50e9, Requeues: 2, State: sim.Finished},
		{Submit: 10e9, FirstStart: -1, FirstAdmit: -1, Finish: -1, Requeues: 1},
	}}}
}

func TestJobsNamed(t *testing.T) {
	for _, c := range []struct{ name, want, err string }{
		{"X", "[0]", ""},
		{"X(all pods)", "[0]", ""},
		{"s1..s2", "[1,2]", ""},
		{"s2..s2", "[2]", ""},
		{"s1..s3", "", `there is no job "s3"`},
		{"Y", "", `there is no job "Y"`},
		{"a..b", "", `the jobs "a..b"`},
		{"s1..t2", "", `the jobs "s1..t2"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := threeJobs().jobsNamed(c.name)
			checkError(t, err, c.err)
			if c.err == "" && asJSON(got) != c.want {
				t.Errorf("got %s, want %s", asJSON(got), c.want)
			}
		})
	}
}

func TestGate(t *testing.T) {
	for _, c := range []struct {
		name      string
		gate      any
		want, err string
	}{
		{"holds", "makespan==100", `"makespan==100"`, ""},
		{"with a remark", "makespan==100 (everywhere)", `"makespan==100 (everywhere)"`, ""},
		{"fails", "makespan==101 (everywhere)", `"makespan is 100"`, ""},
		{"fails by a bit", "makespan==100.5", `"makespan is 100"`, ""},
		{"another metric", "jobs_finished==2", `"jobs_finished==2"`, ""},
		{"no comparison", "makespan", "", "the gate makespan"},
		{"no number", "makespan==soon", "", "the gate makespan==soon"},
		{"no text", 5.0, "", "the gate 5"},
		{"no such metric", "luck==7", "", "the expectation luck is not measured"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := threeJobs().gate(c.gate)
			checkError(t, err, c.err)
			if c.err == "" && asJSON(got) != c.want {
				t.Errorf("got %s, want %s", asJSON(got), c.want)
			}
		})
	}
}

func TestMeasure(t *testing.T) {
	for _, c := range []struct{ key, asked, want, err string }{
		{"X", `{}`, `[0,100]`, ""},
		{"s2", `{}`, `[null,null]`, ""},
		{"s1_start", `{}`, `12.5`, ""},
		{"s1_end", `{}`, `50`, ""},
		{"s1_wait", `{}`, `2.5`, ""},
		{"s1_admitted", `{}`, `11`, ""},
		{"s2_wait", `{}`, `null`, ""},
		{"start", `{"X":0,"s1..s2":0}`, `{"X":0,"s1..s2":"12.5 and \u003cnil\u003e"}`, ""},
		{"end", `{"s1(worker)":0}`, `{"s1(worker)":50}`, ""},
		{"start", `{"Y":0}`, ``, `there is no job "Y"`},
		{"makespan", `{}`, `100`, ""},
		{"jobs_finished", `{}`, `2`, ""},
		{"requeues", `{}`, `3`, ""},
		{"s3_start", `{}`, ``, "the expectation s3_start is not measured"},
		{"luck", `{}`, ``, "the expectation luck is not measured"},
	} {
		t.Run(c.key, func(t *testing.T) {
			got, err := threeJobs().measure(c.key, object(t, c.asked))
			checkError(t, err, c.err)
			if c.err == "" && asJSON(got) != c.want {
				t.Errorf("got %s, want %s", asJSON(got), c.want)
			}
		})
	}
}

// What gangplan has no word for is skipped; what it refuses is outside.
func TestUnanswered(t *testing.T) {
	const head = `{"id":"mine","policy":["StrictFIFO"],"cluster":{"nodes":[{"gpus":1}]},"queues":{"q":{"quota_gpus":1}},"expect":{"makespan":60},"jobs":[`
	for _, c := range []struct {
		name, job string
		verdict   Verdict
		reason    string
	}{
		{"exact", `{"id":"a","queue":"q","pods":1,"gpus_per_pod":1,"duration":60}`, Equal, ""},
		{"other number", `{"id":"a","queue":"q","pods":1,"gpus_per_pod":1,"duration":61}`, Outside, "differs in makespan"},
		{"no word", `{"id":"a","queue":"q","pods":1,"gpus_per_pod":1,"duration":60,"color":1}`, Skipped, "job: color"},
		{"refused", `{"id":"a","queue":"p","pods":1,"gpus_per_pod":1,"duration":60}`, Outside, "not a valid scenario: "},
		{"twice the same id", `{"id":"a","pods":1,"gpus_per_pod":1,"duration":60},{"id":"a","pods":1,"gpus_per_pod":1,"duration":60}`, Outside, "not a valid scenario: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			var in scenarioCase
			if err := json.Unmarshal([]byte(head+c.job+"]}"), &in); err != nil {
				t.Fatal(err)
			}
			if got := in.outcome("StrictFIFO"); got.Verdict != c.verdict || !strings.Contains(got.Reason, c.reason) {
				t.Errorf("%s: %s, want %s: %s", got.Verdict, got.Reason, c.verdict, c.reason)
			}
		})
	}
}
