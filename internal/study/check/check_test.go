package check

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gangplan/gangplan/internal/scenario"
	"github.com/gangplan/gangplan/report"
	"github.com/gangplan/gangplan/sim"
)

// A scenario without a baseline fails; an update makes one, and then all is well. A second
// update has nothing to do and touches nothing.
func TestFirstBaseline(t *testing.T) {
	dir := folder(t, map[string]string{"a.yaml": queueing, "b.yaml": drawn})
	says(t, run(t, dir, Options{}), dir, false, "✗ a: there is no baseline; gangplan check DIR --update takes it as it is now", "failed: 2 of 2 scenarios")
	says(t, run(t, dir, Options{Update: true}), dir, true, "2 scenarios, 3 runs,", "a: baseline new", "b: baseline new", "up to date")
	before := contents(t, dir)
	want := []string{"a.baseline.yaml", "a.transitions.gz", "a.yaml", "b.baseline.yaml", "b.transitions.gz", "b.yaml"}
	if len(before) != len(want) {
		t.Errorf("the files are %v", before)
	}
	says(t, run(t, dir, Options{}), dir, true, "✓ 2 scenarios: equal to the baseline passed")
	says(t, run(t, dir, Options{Update: true, Version: "v1.2.3"}), dir, true, "2 scenarios: nothing changed")
	if !maps.Equal(contents(t, dir), before) {
		t.Error("an update with nothing to do wrote something")
	}
}

// Somebody changes how a queue is served. The gate fails, and says when, which job, what was
// done then and what is done now, and why: late passes the gang, which waits for GPUs.
func TestChangedParameter(t *testing.T) {
	dir := based(t, map[string]string{"a.yaml": queueing})
	edit(t, dir, "a.yaml", "policies: [gang,", "policies: [{name: gang, strategy: BestEffortFIFO},")
	g := run(t, dir, Options{})
	says(t, g, dir, false,
		"✗ a · gang:", "parameters: strategy was queue and is BestEffortFIFO",
		"first difference, seed 1: 7 transitions in common, the last 3: 0s barrier first 1 pod 60s submit gang queue default 8 pods 120s submit late queue default 1 pod",
		"then they part: baseline now time 600s ≠ 120s kind finish ≠ admit job first ≠ late",
		"admit late: baseline at 1200s, now at 120s", "failed: 1 of 1 scenario, 1 of 2 runs")
	p := g.Scenarios[0].Policies[0].Parting
	late := &report.GateStep{TimeNanos: 120e9, Kind: "admit", Job: "late", Queue: "default", Count: 1}
	finish := &report.GateStep{TimeNanos: 600e9, Kind: "finish", Job: "first", Count: 1}
	if p.Common != 7 || p.Seed != 1 || !reflect.DeepEqual(p.Value, late) || !reflect.DeepEqual(p.Baseline, finish) {
		t.Errorf("%+v, now %+v", p, p.Value)
	}
	if other := g.Scenarios[0].Policies[1]; other.Fails() || other.Parting != nil {
		t.Errorf("the other policy: %+v", other)
	}
}

// The same by the configuration, which is no other demand: both policies change.
func TestChangedSettings(t *testing.T) {
	dir := based(t, map[string]string{"a.yaml": queueing})
	edit(t, dir, "a.yaml", "strategy: StrictFIFO, ", "")
	says(t, run(t, dir, Options{}), dir, false, "a: the scenario changed: its settings are not those of the baseline, its nodes and jobs are",
		"✗ a · gang:", "✗ a · topology:", "admit late: baseline at 1200s, now at 120s", "2 of 2 runs")
	g := run(t, dir, Options{Update: true})
	says(t, g, dir, true, "a: baseline rewritten", "old new change", "another digest", "admit late: baseline at 1200s")
	says(t, run(t, dir, Options{}), dir, true, "equal to the baseline")
}

// Why something came is told as far as it is known: here, that the gang was not ready in time,
// and then had to wait for its GPUs.
func TestWhyIsTold(t *testing.T) {
	sick := strings.Replace(queueing, "gpusPerPod: 1}", "gpusPerPod: 1, startup: 400s}", 1) + "waitForPodsReady: {timeout: 10m}\n"
	dir := based(t, map[string]string{"a.yaml": sick})
	edit(t, dir, "a.yaml", "timeout: 10m", "timeout: 5m")
	g := run(t, dir, Options{})
	says(t, g, dir, false, "why ≠ cause: pods_ready", "ready gang rank 0: baseline at 1000s (node host-0), now never", "evict gang: baseline never, now at 900s (cause: pods_ready)")
	if p := g.Scenarios[0].Policies[0].Parting; p.Value.Why != "pods_ready" || p.Value.TimeNanos != 900e9 {
		t.Errorf("now %+v", p.Value)
	}
}

// Other nodes, jobs or seeds cannot be compared: one sentence, and no wall of differences.
func TestOtherDemand(t *testing.T) {
	for name, change := range map[string][2]string{
		"nodes": {"hosts: 1", "hosts: 2"}, "jobs": {"submit: 60s", "submit: 61s"},
	} {
		dir := based(t, map[string]string{"a.yaml": queueing})
		edit(t, dir, "a.yaml", change[0], change[1])
		g := run(t, dir, Options{})
		says(t, g, dir, false, "✗ a: the scenario changed: its nodes or its jobs are not those of the baseline, so nothing can be compared; gangplan check DIR --update takes it as it is now")
		if lines := strings.Count(text(t, g, dir), "\n"); lines > 6 {
			t.Errorf("%s: %d lines", name, lines)
		}
		says(t, run(t, dir, Options{Update: true}), dir, true, "a: baseline rewritten", "nothing can be compared")
		says(t, run(t, dir, Options{}), dir, true)
	}
	dir := based(t, map[string]string{"a.yaml": drawn})
	put(t, dir, "corpus.yaml", "apiVersion: gangplan/v1alpha1\nkind: Corpus\nseeds: 3\n")
	says(t, run(t, dir, Options{}), dir, false, "the baseline is of seed 1, the scenario is run with seeds 1 to 3")
	says(t, run(t, dir, Options{Update: true}), dir, true, "1 scenario, 3 runs,")
	says(t, run(t, dir, Options{}), dir, true)
	edit(t, dir, "a.yaml", "kind: Scenario", "kind: Scenario\nseed: 2")
	says(t, run(t, dir, Options{}), dir, false, "the baseline is of seeds 1 to 3, the scenario is run with seeds 2 to 4")
}

// Policies come and go, and so do scenarios.
func TestPoliciesAndScenariosComeAndGo(t *testing.T) {
	dir := based(t, map[string]string{"a.yaml": queueing, "b.yaml": drawn})
	edit(t, dir, "a.yaml", "{name: gang-topology, as: topology}", "{name: gang-topology, as: renamed}")
	if err := os.Remove(dir + "/b.yaml"); err != nil {
		t.Fatal(err)
	}
	says(t, run(t, dir, Options{}), dir, false, "✓ a · renamed:", "metrics new", "✗ a · topology: the baseline has this policy, the scenario does not",
		"✗ b: there is a baseline, but no scenario b.yaml; gangplan check DIR --update removes it")
	says(t, run(t, dir, Options{Scenarios: []string{"a"}}), dir, false, "1 scenario, 2 runs")
	says(t, run(t, dir, Options{Update: true}), dir, true, "a: baseline rewritten", "b: baseline removed")
	if files := contents(t, dir); len(files) != 3 {
		t.Errorf("the files are %v", files)
	}
	edit(t, dir, "a.yaml", "{name: gang-topology, as: renamed}", "{name: per-pod, as: renamed}")
	says(t, run(t, dir, Options{}), dir, false, "the baseline is of the policy gang-topology, this is per-pod")
}

// A metric that gangplan does not have any more fails, one that the baseline does not have yet
// passes; what is measured can change while every transition is the same.
func TestMissingNewAndMeasuredOtherwise(t *testing.T) {
	dir := based(t, map[string]string{"a.yaml": queueing})
	edit(t, dir, "a.baseline.yaml", "    wait.p90_seconds: ", "    wait.p91_seconds: ")
	g := run(t, dir, Options{})
	n := len(report.Metrics())
	says(t, g, dir, false, fmt.Sprintf("1 of %d metrics missing, 1 new", n+1), "✗ wait.p91_seconds 1,080 – missing", fmt.Sprintf("1 of 2 runs, 1 of %d metrics", 2*n+1))
	edit(t, dir, "a.baseline.yaml", "    wait.p91_seconds: [1080]\n", "")
	says(t, run(t, dir, Options{}), dir, true, fmt.Sprintf("✓ a · gang: 1 of %d metrics new", n), "passed; the baselines can be brought up to date")
	run(t, dir, Options{Update: true})
	edit(t, dir, "a.baseline.yaml", "    wait.p90_seconds: [1080]", "    wait.p90_seconds: [1000]")
	edit(t, dir, "a.baseline.yaml", "    jobs.finished: [3]", "    jobs.finished: [2]")
	says(t, run(t, dir, Options{}), dir, false, fmt.Sprintf("2 of %d metrics failed (1 for the better, but they must be equal)", n),
		"every transition is that of the baseline: only what is measured of them changed",
		"✗ jobs.finished ↑ 2 equal 3 +50.0%", "✗ wait.p90_seconds ↓ 1,000 ≤ 1,020 1,080 +8.0%")
	says(t, run(t, dir, Options{Update: true}), dir, true, fmt.Sprintf("2 of %d metrics changed", n))
	says(t, run(t, dir, Options{}), dir, true)
}

// A digest alone fails only where the corpus asks for it.
func TestDigestAlone(t *testing.T) {
	dir := based(t, map[string]string{"a.yaml": queueing})
	baseline := get(t, dir, "a.baseline.yaml")
	at := strings.Index(baseline, "digests: [\"") + len("digests: [\"")
	put(t, dir, "a.baseline.yaml", baseline[:at]+"0123456789abcdef"+baseline[at+16:])
	says(t, run(t, dir, Options{}), dir, true, "✓ a · gang: another digest", "a.transitions.gz: the record is of other runs than the baseline")
	put(t, dir, "corpus.yaml", "apiVersion: gangplan/v1alpha1\nkind: Corpus\nmetrics: {digest: exact}\n")
	says(t, run(t, dir, Options{}), dir, false, "✗ a · gang: another digest")
}

// Without its record the gate works all the same; only the first difference cannot be told.
// An update makes the record anew, even if nothing else changed.
func TestDamagedRecord(t *testing.T) {
	for problem, damage := range map[string]func(record string) string{
		"missing": nil,
		"damaged": func(r string) string { return r[:len(r)/2] },
		"written by another version of gangplan": func(r string) string {
			return string(zip([]byte(strings.Replace(string(unzip(t, []byte(r))), "transitions 1", "transitions 9", 1))))
		},
		"without some of the runs of the baseline": func(r string) string {
			tapes, err := unpackTapes([]byte(r))
			if err != nil {
				t.Fatal(err)
			}
			return string(packTapes(tapes[:1]))
		},
	} {
		dir := based(t, map[string]string{"a.yaml": queueing})
		before := contents(t, dir)
		if damage == nil {
			os.Remove(dir + "/a.transitions.gz")
		} else {
			put(t, dir, "a.transitions.gz", damage(before["a.transitions.gz"]))
		}
		says(t, run(t, dir, Options{}), dir, true, "DIR/a.transitions.gz: the record is "+problem+", so first differences cannot be told; gangplan check DIR --update writes it anew")
		says(t, run(t, dir, Options{Update: true}), dir, true, "a: baseline as it was, its record rewritten")
		if !maps.Equal(contents(t, dir), before) {
			t.Errorf("%s: not as it was", problem)
		}
		edit(t, dir, "a.yaml", "strategy: StrictFIFO, ", "")
		os.Remove(dir + "/a.transitions.gz")
		if g := run(t, dir, Options{}); g.Passed || g.Scenarios[0].Policies[0].Parting != nil {
			t.Errorf("%s: passed %v", problem, g.Passed)
		}
	}
}

// A baseline of another release is said to be one, and fails nothing. One of a commit cannot
// be told from others.
func TestOtherVersion(t *testing.T) {
	dir := folder(t, map[string]string{"a.yaml": queueing})
	run(t, dir, Options{Update: true, Version: "v1.2.3"})
	for version, want := range map[string]string{
		"v1.3.0": "a: the baseline is of gangplan v1.2.3, this is v1.3.0", "v1.2.3": "✓ 1 scenario: equal", "devel": "✓ 1 scenario: equal",
		"v1.3.0-0.20260101000000-abcdef012345": "✓ 1 scenario: equal", "v1.3.0+dirty": "✓ 1 scenario: equal",
	} {
		says(t, run(t, dir, Options{Version: version}), dir, true, want)
	}
}

// However many run at a time, the answer and the files are the same.
func TestDeterminismOfWorkers(t *testing.T) {
	files := map[string]string{"a.yaml": queueing, "b.yaml": drawn, "c.yaml": strings.Replace(drawn, "jobs: 30", "jobs: 60", 1),
		"corpus.yaml": "apiVersion: gangplan/v1alpha1\nkind: Corpus\nseeds: 2\n"}
	var answers []*report.Gate
	var written []map[string]string
	for _, workers := range []int{1, 0, 2, 7} {
		dir := folder(t, files)
		run(t, dir, Options{Update: true, Parallel: workers})
		written = append(written, contents(t, dir))
		edit(t, dir, "b.yaml", "policies: [gang]", "policies: [{name: per-pod, as: gang}]")
		edit(t, dir, "a.yaml", "strategy: StrictFIFO, ", "")
		heard := 0
		g := run(t, dir, Options{Parallel: workers, Progress: func(done, all int) {
			if heard++; done != heard || all != 8 {
				t.Errorf("run %d of %d, %d heard of", done, all, heard)
			}
		}})
		g.Corpus = ""
		for i := range g.Scenarios {
			g.Scenarios[i].File = ""
		}
		answers = append(answers, g)
	}
	for i := range answers {
		if !reflect.DeepEqual(answers[i], answers[0]) {
			t.Errorf("answer %d is another", i)
		}
		if !maps.Equal(written[i], written[0]) {
			t.Errorf("the files of %d are others", i)
		}
	}
}

// Input that cannot be used is told with its place, all files together, and nothing is run.
func TestBadInput(t *testing.T) {
	good := based(t, map[string]string{"a.yaml": queueing})
	baseline := get(t, good, "a.baseline.yaml")
	damaged := func(old, new string) map[string]string {
		if !strings.Contains(baseline, old) {
			t.Fatalf("no %q in the baseline", old)
		}
		return map[string]string{"a.yaml": queueing, "a.baseline.yaml": strings.Replace(baseline, old, new, 1)}
	}
	for _, c := range []struct {
		name  string
		files map[string]string
		only  []string
		want  []string
	}{
		{"nothing", map[string]string{"readme.txt": ""}, nil, []string{"DIR: holds no scenario: expected files NAME.yaml"}},
		{"two scenarios", map[string]string{"a.yaml": header + "clutser: {}\n", "b.yaml": "kind: Scenario\n"}, nil, []string{"DIR/a.yaml:3:1: clutser: unknown field", "DIR/b.yaml:1:1: apiVersion: missing"}},
		{"no such scenario", map[string]string{"queues.yaml": queueing}, []string{"queue"}, []string{"DIR: there is no scenario queue.yaml: expected some of queues (did you mean queues?)"}},
		{"empty baseline", map[string]string{"a.yaml": queueing, "a.baseline.yaml": ""}, nil, []string{"DIR/a.baseline.yaml: the file is empty: expected a baseline, as check --update writes it where there is none"}},
		{"cut off", map[string]string{"a.yaml": queueing, "a.baseline.yaml": baseline[:len(baseline)/2]}, nil, []string{"DIR/a.baseline.yaml:"}},
		{"of a future format", damaged("gangplan/v1alpha1", "gangplan/v1beta1"), nil, []string{`DIR/a.baseline.yaml:2:13: apiVersion: "gangplan/v1beta1": expected gangplan/v1alpha1`}},
		{"a scenario", map[string]string{"a.yaml": queueing, "a.baseline.yaml": queueing}, nil, []string{`a.baseline.yaml:2:7: kind: "Scenario": expected Baseline`}},
		{"no number", damaged("jobs.finished: [3]", "jobs.finished: [three]"), nil, []string{`metrics.jobs.finished[0]: "three": expected a number, or none`}},
		{"infinite", damaged("jobs.finished: [3]", "jobs.finished: [+Inf]"), nil, []string{`"+Inf": expected a number`}},
		{"two numbers", damaged("jobs.finished: [3]", "jobs.finished: [3, 4]"), nil, []string{`policies[0].metrics.jobs.finished: 2 values: expected 1, one for each seed`}},
		{"no digest", damaged(`digests: ["`, `digests: ["x`), nil, []string{"policies[0].digests[0]:", "expected 16 hexadecimal digits"}},
		{"no seeds", damaged("seeds: [1]", "seeds: []"), nil, []string{"seeds: the list is empty"}},
		{"no policies", map[string]string{"a.yaml": queueing, "a.baseline.yaml": baseline[:strings.Index(baseline, "policies:")] + "policies: []\n"}, nil, []string{"policies: the list is empty: expected at least one"}},
		{"a typo", damaged("  metrics:", "  metrisc:"), nil, []string{"metrisc: unknown field (did you mean metrics?)"}},
		{"bad settings", map[string]string{"a.yaml": queueing, "corpus.yaml": "apiVersion: gangplan/v1alpha1\nkind: Corpus\nscenarios: {b: {seeds: 2}}\n"}, nil,
			[]string{"DIR/corpus.yaml:3:16: scenarios.b: there is no scenario b.yaml here: expected some of a"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := folder(t, c.files)
			before := contents(t, dir)
			for _, update := range []bool{false, true} {
				_, err := Run(t.Context(), dir, Options{Scenarios: c.only, Update: update})
				for _, part := range c.want {
					if err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), dir, "DIR"), part) {
						t.Errorf("error %v, want %s", err, part)
					}
				}
			}
			if !maps.Equal(contents(t, dir), before) {
				t.Error("something was written")
			}
		})
	}
	if _, err := Run(t.Context(), good+"/nowhere", Options{}); err == nil {
		t.Error("a folder that is not there is a corpus")
	}
	if _, err := Run(t.Context(), good+"/a.yaml", Options{}); err == nil || !strings.Contains(err.Error(), "a.yaml: is a file, expected a folder with scenarios") {
		t.Errorf("a file: %v", err)
	}
}

// countdown is a context that is cancelled once it has been looked at so many times.
type countdown struct {
	context.Context
	left atomic.Int64
}

func (c *countdown) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// An update that is interrupted, whenever that is, leaves everything as it was.
func TestInterrupted(t *testing.T) {
	dir := based(t, map[string]string{"a.yaml": queueing, "b.yaml": drawn})
	edit(t, dir, "a.yaml", "strategy: StrictFIFO, ", "")
	before := contents(t, dir)
	looks := int64(0)
	for ; ; looks++ {
		ctx := &countdown{Context: t.Context()}
		ctx.left.Store(looks)
		if _, err := Run(ctx, dir, Options{Update: true, Parallel: 1}); err == nil {
			break
		} else if !errors.Is(err, context.Canceled) {
			t.Fatalf("after %d looks: %v", looks, err)
		}
		if !maps.Equal(contents(t, dir), before) {
			t.Fatalf("after %d looks: something was written", looks)
		}
	}
	if looks < 3 {
		t.Errorf("looked %d times only", looks)
	}
	says(t, run(t, dir, Options{}), dir, true)
}

// What is wrong with a run is told with the scenario.
func TestBrokenRun(t *testing.T) {
	c, err := open(folder(t, map[string]string{"a.yaml": queueing}), nil)
	if err != nil {
		t.Fatal(err)
	}
	c.entries[0].configs[0] = &sim.Config{}
	if err := c.play(t.Context(), Options{Update: true}); err == nil || !strings.Contains(err.Error(), "a.yaml: ") {
		t.Errorf("error %v", err)
	}
	var some scenario.Errors
	if errors.As(err, &some) {
		t.Errorf("a broken run is no mistake in a file: %v", err)
	}
}
