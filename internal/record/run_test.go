package record

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gangplan/gangplan/internal/scenario"
)

// story runs a scenario of two racks of four hosts with a GPU each, under exact timing and
// without chance, with what is given beside: jobs, queues and so on. The policy is the first.
func story(t *testing.T, rest string) *Record {
	t.Helper()
	text := `apiVersion: gangplan/v1alpha1
kind: Scenario
cluster:
  nodes:
  - {name: a, count: 4, gpus: 1, rack: r0}
  - {name: b, count: 4, gpus: 1, rack: r1}
timing: {preset: kubernetes, jitter: 1, wholeSeconds: false, podEnd: 0s}
kueue: "0.17"
until: 2m
` + rest
	file, err := scenario.Parse("story", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	s, err := file.Resolve("")
	if err != nil {
		t.Fatal(err)
	}
	r, err := FromRun(s.Config, s.Policies[0].Declaration.New(s.Policies[0].Params))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// millis writes times in milliseconds.
func millis(times ...int64) string {
	var b strings.Builder
	for i, at := range times {
		if i > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprint(&b, at/msec)
	}
	return b.String()
}

// steps writes how many pods were bound from when on, in seconds.
func steps(j *Job) string {
	var list []string
	for _, s := range j.Steps {
		list = append(list, fmt.Sprintf("%d@%d", s.N, s.At/(1000*msec)))
	}
	return strings.Join(slices.Compact(list), " ")
}

func reasons(j *Job) (list []string) {
	for _, e := range j.Evictions {
		list = append(list, e.Reason)
	}
	return list
}

const gangOfFour = "workload: {jobs: [{id: a, pods: 4, gpusPerPod: 1, duration: 10s, startup: 1s, termination: 500ms%s}]}\n"

// A gang from its creation to its end: the steps of the control plane, one after another.
func TestStepsOfAJob(t *testing.T) {
	r := story(t, fmt.Sprintf(gangOfFour, "")+"policies: [gang]\n")
	j := &r.Jobs[0]
	if got := millis(j.Submit, j.WorkloadCreated, j.Admissions[0].At, j.Unsuspended[0], j.Created[0].At, j.Bound[0].At, j.AllReady[0]); got != "0 7 20 32 36 36 1048" {
		t.Errorf("begins %s", got)
	}
	if got := millis(j.RunComplete[0], j.JobComplete[0], j.Finished[0]); got != "11048 12060 12075" {
		t.Errorf("ends %s", got)
	}
	if j.Attempts != 4 || j.MaxBound() != 4 || j.FinalBound() != 0 || j.State != Finished || !reflect.DeepEqual(r.Decisions, []string{"a"}) {
		t.Errorf("%d attempts, %d bound, at last %d, %s, decisions %q", j.Attempts, j.MaxBound(), j.FinalBound(), j.State, r.Decisions)
	}
	o := r.Outcome()
	if !reflect.DeepEqual(o.Counts["a"], [][]int32{{4}}) || len(o.Topology["a"]) != 0 || !reflect.DeepEqual(o.Completions, []string{"a"}) {
		t.Errorf("counts %v, topology %v, completions %q", o.Counts, o.Topology, o.Completions)
	}
}

// Without a queue there is no Workload, and a gang that does not fit is bound in part.
func TestStatesWithoutAQueue(t *testing.T) {
	r := story(t, `workload:
  jobs:
  - {id: runs, pods: 2, gpusPerPod: 1, duration: 1h, startup: 1s}
  - {id: part, submit: 5s, pods: 8, gpusPerPod: 1, duration: 1h, startup: 1s}
  - {id: none, submit: 9s, gpusPerPod: 1, duration: 1h, startup: 1s}
  - {id: gone, submit: 9s, gpusPerPod: 1, duration: 1h, startup: 1s}
events: [{at: 20s, do: deleteJob, job: gone}]
policies: [per-pod]
`)
	var got []string
	for i := range r.Jobs {
		j := &r.Jobs[i]
		got = append(got, fmt.Sprint(j.Name, " ", j.State, " ", j.FinalBound()))
		if j.WorkloadCreated != Never || len(j.Admissions) != 0 || len(j.Unsuspended) != 0 {
			t.Errorf("%s has a Workload", j.Name)
		}
	}
	if want := []string{"runs running 2", "part partially-bound 6", "gone pending 0", "none pending 0"}; !sameSet(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func sameSet(a, b []string) bool {
	a, b = slices.Clone(a), slices.Clone(b)
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(a, b)
}

// A gang that is never whole times out, backs off, comes back and is given up.
func TestEvictionsAndRequeues(t *testing.T) {
	r := story(t, `workload: {jobs: [{id: a, pods: 8, gpusPerPod: 1, duration: 10s, startup: 1s, termination: 500ms, queue: q}, {id: b, gpusPerPod: 1, duration: 1h, startup: 1s, queue: p}]}
queues: [{name: q, quota: {gpu: 8}}, {name: p, quota: {gpu: 8}}]
waitForPodsReady: {timeout: 10s, requeuingStrategy: {backoffBaseSeconds: 2, backoffLimitCount: 1}}
policies: [gang]
`)
	a := &r.Jobs[0]
	if got := reasons(a); !reflect.DeepEqual(got, []string{"PodsReadyTimeout", "DeactivatedDueToRequeuingLimitExceeded"}) {
		t.Errorf("evicted for %q", got)
	}
	evicted := a.Evictions[0].At
	if got := millis(evicted-a.Admissions[0].At, a.Suspended[0]-evicted, a.Cleared[0]-evicted, a.Admissions[1].At-evicted); got != "10014 12 141 2039" {
		t.Errorf("timeout, suspended, cleared, back: %s", got)
	}
	if a.State != Deactivated || len(a.Deactivated) != 1 || a.Deactivated[0] != a.Evictions[1].At {
		t.Errorf("%s at %v", a.State, a.Deactivated)
	}
	if got := r.Outcome().Requeues["a"]; len(got) != 3 || *got[0] != 1 || *got[1] != 1 || got[2] != nil {
		t.Errorf("requeue counts %v", got)
	}
	if got := a.Requeues[0]; got.Until-evicted != 2000*msec || a.Requeues[1].Until != Never {
		t.Errorf("waits %v", a.Requeues)
	}
}

// A job that a user takes out of its queue, and lets come back.
func TestDeactivatedByHand(t *testing.T) {
	const twice = `events: [{at: 5s, do: deactivate, job: a}, {at: 20s, do: activate, job: a}]
policies: [gang]
`
	r := story(t, fmt.Sprintf(gangOfFour, "")+twice)
	a := &r.Jobs[0]
	if got := reasons(a); !reflect.DeepEqual(got, []string{"Deactivated"}) || len(a.Admissions) != 2 || a.State != Finished {
		t.Errorf("evicted for %q, %d admissions, %s", got, len(a.Admissions), a.State)
	}
	if got := millis(a.BarrierLost[0], a.Cleared[0]); got != "5066 5141" {
		t.Errorf("barrier lost, cleared: %s", got)
	}
	// one that waits has nothing to take back
	r = story(t, `workload: {jobs: [{id: a, pods: 8, gpusPerPod: 1, duration: 1h, queue: q}, {id: b, submit: 1s, gpusPerPod: 1, duration: 1h, queue: q}]}
queues: [{name: q, quota: {gpu: 8}}]
events: [{at: 5s, do: deactivate, job: b}]
policies: [gang]
`)
	if b := &r.Jobs[1]; b.State != Deactivated || len(b.Suspended) != 0 || !reflect.DeepEqual(reasons(b), []string{"Deactivated"}) {
		t.Errorf("%s, suspended %v, evicted for %q", b.State, b.Suspended, reasons(b))
	}
}

// Of a job that is deleted stands what was last seen.
func TestDeletedJob(t *testing.T) {
	r := story(t, fmt.Sprintf(gangOfFour, "")+"events: [{at: 5s, do: deleteJob, job: a}]\npolicies: [gang]\n")
	a := &r.Jobs[0]
	if a.State != AdmittedNotReady || len(a.Cleared) != 0 || len(a.Finished) != 0 || steps(a) != "1@0 2@0 3@0 4@0 3@5 2@5 1@5 0@5" {
		t.Errorf("%s, cleared %v, finished %v, bound %s", a.State, a.Cleared, a.Finished, steps(a))
	}
}

// The pod on a node that is lost stays bound, nobody being there to say that it ended: until
// garbage collection where the Node object is gone, until the node is back elsewhere. A job
// is not complete before.
func TestPodsOfLostNodes(t *testing.T) {
	const tolerant = ", tolerations: [{key: node.kubernetes.io/unreachable, operator: Exists, effect: NoExecute, tolerationSeconds: 2}]"
	for _, tt := range []struct {
		name, job, events, steps string
		state                    State
		complete                 string
	}{
		{"deleted", "", "{at: 5s, do: delete, node: a-3}", "1@0 2@0 3@0 4@0 3@68 4@78 3@89 2@89 1@89 0@89", Finished, "[90]"},
		{"unreachable", tolerant, "{at: 5s, do: unreachable, node: a-3}", "1@0 2@0 3@0 4@0 5@19 4@30 3@30 2@30 1@30", WaitingForTerminating, "[]"},
		{"the pod's node", tolerant, "{at: 5s, do: unreachable, job: a, pod: 2}", "1@0 2@0 3@0 4@0 5@19 4@30 3@30 2@30 1@30", WaitingForTerminating, "[]"},
		{"back", tolerant, "{at: 5s, do: unreachable, node: a-3}, {at: 60s, do: up, node: a-3}", "1@0 2@0 3@0 4@0 5@19 4@30 3@30 2@30 1@30 0@60", Finished, "[61]"},
	} {
		r := story(t, fmt.Sprintf(gangOfFour, tt.job)+"events: ["+tt.events+"]\npolicies: [gang]\n")
		a := &r.Jobs[0]
		complete := []int64{}
		for _, at := range a.JobComplete {
			complete = append(complete, at/(1000*msec))
		}
		if steps(a) != tt.steps || a.State != tt.state || fmt.Sprint(complete) != tt.complete {
			t.Errorf("%s: bound %s, %s, complete at %v s", tt.name, steps(a), a.State, complete)
		}
	}
}

// A topology assignment is written as Kueue does, node by node; one that a lost node breaks is
// written again, whole.
func TestAssignments(t *testing.T) {
	for lost, want := range map[string]string{"a-1": "{a-0 1} {a-2 1} {a-3 1}", "a-0": "{a-1 1} {a-2 1} {a-3 1}"} {
		r := story(t, `workload: {jobs: [{id: a, pods: 3, gpusPerPod: 1, duration: 10s, startup: 1s, topology: {required: rack}}]}
events: [{at: 5s, do: delete, node: `+lost+`}]
policies: [gang-topology]
`)
		a := &r.Jobs[0]
		if got := fmt.Sprint(r.Outcome().Topology["a"]); got != "[[[{a-0 1} {a-1 1} {a-2 1}]] [["+want+"]]]" {
			t.Errorf("assignments %s", got)
		}
		if len(a.Assignments) != 2 || a.Assignments[0].At != a.Admissions[0].At || len(a.Admissions) != 1 {
			t.Errorf("assignments %v, admissions %v", a.Assignments, a.Admissions)
		}
	}
}

// A batch Job that is admitted with some of its pods runs the others after them, in the same
// admission.
func TestWavesOfABatchJob(t *testing.T) {
	r := story(t, `workload: {jobs: [{id: a, pods: 8, minPods: 2, completions: 8, gpusPerPod: 1, duration: 3s, startup: 1s, queue: q}]}
queues: [{name: q, quota: {gpu: 5}}]
policies: [gang]
`)
	a := &r.Jobs[0]
	if len(a.AllReady) != 2 || len(a.RunComplete) != 2 || len(a.BarrierLost) != 0 || len(a.JobComplete) != 1 || len(a.Created) != 8 || a.MaxBound() != 5 {
		t.Errorf("ready %v, complete %v, lost %v, %d pods, %d at most", a.AllReady, a.RunComplete, a.BarrierLost, len(a.Created), a.MaxBound())
	}
	if got := r.Outcome().Counts["a"]; !reflect.DeepEqual(got, [][]int32{{5}}) {
		t.Errorf("counts %v", got)
	}
}

// What lies behind the end of the observation was not seen.
func TestNothingBehindTheEnd(t *testing.T) {
	r := story(t, strings.Replace(fmt.Sprintf(gangOfFour, ""), "duration: 10s", "duration: 118s500ms", 1)+"policies: [gang]\n")
	a := &r.Jobs[0]
	if len(a.RunComplete) != 1 || len(a.JobComplete) != 0 || a.State == Finished || r.End != 120_000*msec {
		t.Errorf("run complete %v, job complete %v, %s, end %d", a.RunComplete, a.JobComplete, a.State, r.End)
	}
}
