package record

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gangplan/gangplan/internal/scenario"
	"github.com/gangplan/gangplan/sim"
)

func config(t *testing.T) *sim.Config {
	t.Helper()
	s, err := scenario.Load("../../testdata/watch/scenario.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return s.Config
}

// compared holds the sample against a run that does the same, but for a change.
func compared(t *testing.T, f form, change func(r *Record)) *Comparison {
	t.Helper()
	w := read(t, sample(), all(play(sample(), noon, f)))
	run, err := w.Replay(config(t), DefaultTolerance, func(cfg *sim.Config) (*Record, error) {
		r := sample()
		r.End = cfg.Until
		change(r)
		return r, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return w.Compare(run, DefaultTolerance)
}

func (c *Comparison) outside() (words []string) {
	if c.Order != nil && c.Order.Verdict == Outside {
		words = append(words, "order")
	}
	for _, j := range c.Jobs {
		for _, l := range j.Lines {
			if l.Verdict == Outside {
				words = append(words, j.Job+" "+l.What)
			}
		}
	}
	return words
}

// What a cluster does otherwise than a run is found, and nothing else.
func TestWhatIsOutside(t *testing.T) {
	train := func(change func(j *Job)) func(*Record) { return func(r *Record) { change(&r.Jobs[1]) } }
	for name, c := range map[string]struct {
		change func(*Record)
		want   string
	}{
		"nothing":            {func(*Record) {}, ""},
		"a bit late":         {train(func(j *Job) { j.Admissions[1].At += 700 * msec }), ""},
		"too late":           {train(func(j *Job) { j.Admissions[1].At += 950 * msec }), "train admitted (2)"},
		"too early":          {train(func(j *Job) { j.AllReady[0] -= 1300 * msec }), "train all pods ready"},
		"fewer pods":         {train(func(j *Job) { j.Admissions[1].Counts = []int32{6} }), "train pods admitted"},
		"another reason":     {train(func(j *Job) { j.Evictions[0].Reason = "Preempted" }), "train evicted: PodsReadyTimeout, train evicted: Preempted"},
		"no eviction":        {train(func(j *Job) { j.Evictions = nil }), "train evicted: PodsReadyTimeout"},
		"one more eviction":  {train(func(j *Job) { j.Evictions = append(j.Evictions, Eviction{9 * 1e9, "Preempted"}) }), "train evicted: Preempted (2)"},
		"another count":      {train(func(j *Job) { j.Requeues[0].Count, j.Requeues[1].Count = 2, 2 }), "train requeue count"},
		"a longer backoff":   {train(func(j *Job) { j.Requeues[0].Until += 2 * 1e9 }), "train may return"},
		"given up":           {train(func(j *Job) { j.Deactivated = []int64{12 * 1e9} }), "train deactivated"},
		"fewer bound":        {train(func(j *Job) { j.Steps = j.Steps[:7] }), "train most pods bound"},
		"never ready":        {train(func(j *Job) { j.AllReady = nil }), "train all pods ready"},
		"not finished":       {train(func(j *Job) { j.Finished, j.State = nil, Running }), "train finished, train at the end"},
		"another order":      {func(r *Record) { r.Decisions = []string{"train", "single", "train"} }, "order"},
		"a longer promise":   {train(func(j *Job) { j.Requeues = append(j.Requeues, Requeue{11 * 1e9, 40 * 1e9, 1}) }), ""},
		"one less":           {func(r *Record) { r.Decisions = r.Decisions[:2] }, "order"},
		"more than recorded": {train(func(j *Job) { j.Evictions = append(j.Evictions, Eviction{16 * 1e9, "Preempted"}) }), ""},
	} {
		got := compared(t, form{receipt: true}, c.change)
		if words := strings.Join(got.outside(), ", "); words != c.want || got.Outside != len(got.outside()) {
			t.Errorf("%s: outside %q, want %q; counts %d", name, words, c.want, got.Outside)
		}
	}
	whole := compared(t, form{}, train(func(j *Job) { j.Admissions[1].At += 950 * msec }))
	if whole.Outside != 0 || whole.Tolerance != "10%+250ms+1s" {
		t.Errorf("whole seconds: outside %q, tolerance %s", whole.outside(), whole.Tolerance)
	}
}

// Jobs that only one side has are outside, unless they had not come when the record ended.
func TestJobsOfOneSide(t *testing.T) {
	w := read(t, sample(), all(play(sample(), noon, form{receipt: true}))+aJob("default", "surprise", "9", "04"))
	cfg := *config(t)
	for _, more := range []struct {
		id     string
		submit int64
	}{{"forgotten", 3e9}, {"future", 900e9}} {
		j := cfg.Jobs[0]
		j.ID, j.Submit = more.id, more.submit
		cfg.Jobs, cfg.Stable = append(slices.Clone(cfg.Jobs), j), append(slices.Clone(cfg.Stable), 7)
	}
	run, err := w.Replay(&cfg, DefaultTolerance, func(*sim.Config) (*Record, error) { return sample(), nil })
	if err != nil {
		t.Fatal(err)
	}
	c := w.Compare(run, DefaultTolerance)
	if fmt.Sprint(c.OnlyCluster, c.OnlyModel) != "[default/surprise] [forgotten]" || c.Outside != 2 || !strings.Contains(strings.Join(c.Notes, "\n"), "1 job of the scenario came after the end of the record") {
		t.Errorf("only in the record %q, only in the scenario %q, outside %d, notes %q", c.OnlyCluster, c.OnlyModel, c.Outside, c.Notes)
	}
}

// A run begins in the same part of a second as the record, submits its jobs so that their
// Workloads come when they were seen to, and does to them what the scenario says.
func TestReplayFollowsTheRecord(t *testing.T) {
	cfg := *config(t)
	cfg.Jobs, cfg.Stable = slices.Clone(cfg.Jobs), slices.Clone(cfg.Stable)
	cfg.Jobs[0], cfg.Jobs[1] = cfg.Jobs[1], cfg.Jobs[0] // the scenario has train first, 100 s into it
	cfg.Stable[0], cfg.Stable[1] = cfg.Stable[1], cfg.Stable[0]
	cfg.Jobs[0].Submit, cfg.Jobs[1].Submit = 100e9, 103*1e9+300*msec
	cfg.Actions = []sim.Action{{Time: 110e9, Do: sim.DoDeactivate, Node: -1, Job: 0}}
	train := cfg.Stable[0]
	w := read(t, sample(), all(play(sample(), noon, form{receipt: true})))
	ends := []int64{}
	_, err := w.Replay(&cfg, DefaultTolerance, func(got *sim.Config) (*Record, error) {
		ends = append(ends, got.Until)
		// Workloads came after 9 and 2040 ms, and in the simulator come 7 ms after their jobs.
		if got.Jobs[0].ID != "single" || got.Jobs[0].Submit != 103_302*msec || got.Jobs[1].Submit != (103_300+2033)*msec || got.Stable[1] != train {
			t.Errorf("jobs %s at %d, %s at %d", got.Jobs[0].ID, got.Jobs[0].Submit, got.Jobs[1].ID, got.Jobs[1].Submit)
		}
		if got.Actions[0].Job != 1 || (103_300*msec+got.Timing.SecondOffset)%1e9 != 412*msec {
			t.Errorf("job of the action %d, offset %d", got.Actions[0].Job, got.Timing.SecondOffset)
		}
		return sample(), nil
	})
	slack := DefaultTolerance.of(w.End)
	at := int64(103_300*msec) + w.End
	if err != nil || !slices.Equal(ends, []int64{at - slack, at, at + slack}) || cfg.Actions[0].Job != 0 || cfg.Jobs[0].Submit != 100e9 {
		t.Errorf("ends %v of %d, %v; the scenario is changed: %v", ends, at, err, cfg.Actions)
	}
}

// Whole seconds do not change when a scenario submits its jobs, as long as it agrees with them.
func TestReplayKeepsWhatIsMoreExact(t *testing.T) {
	cfg := *config(t)
	cfg.Jobs = slices.Clone(cfg.Jobs)
	for at, want := range map[int64]int64{2700 * msec: 2700 * msec, 3400 * msec: 2000 * msec} {
		cfg.Jobs[1].Submit = at
		w := read(t, sample(), all(play(sample(), noon, form{})))
		if _, err := w.Replay(&cfg, DefaultTolerance, func(got *sim.Config) (*Record, error) {
			if got.Jobs[1].Submit != want || got.Timing.SecondOffset != 0 {
				t.Errorf("submitted at %d, want %d", got.Jobs[1].Submit, want)
			}
			return sample(), nil
		}); err != nil {
			t.Fatal(err)
		}
	}
}

// Workloads of one second come in any order, since Kueue goes by whole seconds, and so do
// admissions that are written at the same time.
func TestOrderThatIsChance(t *testing.T) {
	at := func(name string, submit, admitted int64) Job {
		return Job{Name: name, Submit: submit * msec, WorkloadCreated: (submit + 10) * msec, Admissions: []Admission{{At: admitted * msec, Counts: []int32{1}}},
			Created: []PodEvent{{At: (admitted + 30) * msec}}, State: AdmittedNotReady}
	}
	cfg := *config(t)
	cfg.Jobs = slices.Clone(cfg.Jobs)
	cfg.Jobs[0].ID, cfg.Jobs[1].ID = "a", "b"
	for _, c := range []struct {
		begin time.Duration // in a second
		a, b  Job
		want  Verdict
	}{
		{412 * time.Millisecond, at("a", 0, 30), at("b", 300, 330), Within},
		{892 * time.Millisecond, at("a", 0, 30), at("b", 300, 330), Outside},
		{892 * time.Millisecond, at("a", 0, 8000), at("b", 300, 8060), Within},
	} {
		r := &Record{Jobs: []Job{c.a, c.b}, Decisions: []string{"a", "b"}}
		w := read(t, r, all(play(r, noon.Truncate(time.Second).Add(c.begin), form{receipt: true})))
		turned := *r
		turned.Decisions = []string{"b", "a"}
		run, err := w.Replay(&cfg, DefaultTolerance, func(*sim.Config) (*Record, error) { return &turned, nil })
		if err != nil {
			t.Fatal(err)
		}
		if got := w.Compare(run, DefaultTolerance); got.Order.Verdict != c.want || !strings.HasPrefix(got.Order.Detail, "the cluster admitted a before b, gangplan b before a") {
			t.Errorf("begins at %v: %+v", c.begin, got.Order)
		}
	}
}

// Topology assignments are the same when they name the same nodes, or where the nodes have
// other names, when they put as many pods on as many.
func TestAssignmentsCompared(t *testing.T) {
	with := func(node string, pods ...int32) *Record {
		r := sample()
		for i := range r.Jobs[1].Admissions {
			a := Assignment{At: r.Jobs[1].Admissions[i].At, Slots: [][]Slot{nil}}
			for k, n := range pods {
				a.Slots[0] = append(a.Slots[0], Slot{fmt.Sprintf("%s-%d", node, k), n})
			}
			r.Jobs[1].Assignments = append(r.Jobs[1].Assignments, a)
		}
		for j := range r.Jobs {
			for i := range r.Jobs[j].Bound {
				r.Jobs[j].Bound[i].Node = node + "-0"
			}
		}
		return r
	}
	for name, c := range map[string]struct {
		cluster, model *Record
		want           string
	}{
		"the same":             {with("h", 4, 4), with("h", 4, 4), ""},
		"another order":        {with("h", 5, 3), with("h", 3, 5), "after 0 nodes alike the cluster has 5 pods on h-0, gangplan 3 pods on h-0"},
		"more":                 {with("h", 4, 4), with("h", 4, 4, 1), "after 2 nodes alike the cluster has nothing more, gangplan 1 pod on h-2"},
		"other names":          {with("gpu", 3, 5), with("h", 5, 3), ""},
		"other names, and not": {with("gpu", 3, 5), with("h", 4, 4), "after 0 nodes alike the cluster has 5 pods on a node, gangplan 4 pods on a node"},
	} {
		w := read(t, c.cluster, all(play(c.cluster, noon, form{receipt: true})))
		run, err := w.Replay(config(t), DefaultTolerance, func(*sim.Config) (*Record, error) { return c.model, nil })
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, l := range w.Compare(run, DefaultTolerance).Jobs[1].Lines {
			if got == "" {
				got = l.Detail
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestTolerances(t *testing.T) {
	for text, want := range map[string]string{"10%+250ms": "10%+250ms", "2.5 %": "2.5%+0s", "1s": "0%+1s", "1s + 5%": "5%+1s", "0%": "0%+0s"} {
		if got, err := ParseTolerance(text); err != nil || got.String() != want {
			t.Errorf("%q is %s, %v; want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", "10", "-5%", "-1s", "ten", "5%+", "NaN%", "2000%", "9999h"} {
		if got, err := ParseTolerance(text); err == nil || !strings.Contains(err.Error(), "such as 10%+250ms") {
			t.Errorf("%q is %s, %v; want an error", text, got, err)
		}
	}
	if got := DefaultTolerance.of(10e9); got != 1_250*msec {
		t.Errorf("after 10 s: %d", got)
	}
}
