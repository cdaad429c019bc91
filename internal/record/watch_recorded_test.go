package record

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/gangplan/gangplan/testdata"
)

// derived is what the recorder of a real control plane derived of a job. Times are seconds.
type derived struct {
	Submit                                                                     float64
	Workload                                                                   *float64 `json:"workload_created_s"`
	Admitted, Cleared, Unsuspended, Suspended, Deactivated, AllReady, Complete []float64
	Lost, Done, Finished                                                       []float64
	Counts                                                                     [][]int32
	Topology                                                                   [][][][2]any
	Evictions                                                                  []struct {
		T      float64
		Reason string
	}
	Requeue []struct {
		T     float64
		Count int32
		Until *float64 `json:"requeue_at_s"`
	}
	Created    [][2]any
	Placements [][3]any
	Steps      [][2]float64
	End        State
}

// UnmarshalJSON takes the recorder's names.
func (d *derived) UnmarshalJSON(b []byte) error {
	type plain derived
	names := strings.NewReplacer(`"submit_s"`, `"Submit"`, `"admitted_s"`, `"Admitted"`, `"admission_cleared_s"`, `"Cleared"`, `"unsuspended_s"`, `"Unsuspended"`,
		`"suspended_s"`, `"Suspended"`, `"deactivated_s"`, `"Deactivated"`, `"all_ready_s"`, `"AllReady"`, `"job_complete_s"`, `"Complete"`, `"barrier_lost_s"`, `"Lost"`,
		`"run_complete_s"`, `"Done"`, `"finished_s"`, `"Finished"`, `"admitted_counts"`, `"Counts"`, `"pods_created"`, `"Created"`, `"bound_steps"`, `"Steps"`, `"end_state"`, `"End"`)
	return json.Unmarshal([]byte(names.Replace(string(b))), (*plain)(d))
}

func ns(s float64) int64 { return int64(math.Round(s * 1e9)) }

func times(list []float64) (out []int64) {
	for _, s := range list {
		out = append(out, ns(s))
	}
	return out
}

func (d *derived) job(name string) Job {
	j := Job{Name: name, Submit: ns(d.Submit), WorkloadCreated: Never, Cleared: times(d.Cleared), Unsuspended: times(d.Unsuspended), Suspended: times(d.Suspended),
		Deactivated: times(d.Deactivated), AllReady: times(d.AllReady), BarrierLost: times(d.Lost), RunComplete: times(d.Done), JobComplete: times(d.Complete),
		Finished: times(d.Finished), State: d.End}
	if d.Workload != nil {
		j.WorkloadCreated = ns(*d.Workload)
	}
	for i, at := range d.Admitted {
		j.Admissions = append(j.Admissions, Admission{ns(at), d.Counts[i]})
		if len(d.Topology) == len(d.Admitted) {
			a := Assignment{At: ns(at)}
			for _, set := range d.Topology[i] {
				var slots []Slot
				for _, s := range set {
					slots = append(slots, Slot{s[0].(string), int32(s[1].(float64))})
				}
				a.Slots = append(a.Slots, slots)
			}
			j.Assignments = append(j.Assignments, a)
		}
	}
	for _, e := range d.Evictions {
		j.Evictions = append(j.Evictions, Eviction{ns(e.T), e.Reason})
	}
	for _, q := range d.Requeue {
		r := Requeue{ns(q.T), Never, q.Count}
		if q.Until != nil {
			r.Until = ns(*q.Until)
		}
		j.Requeues = append(j.Requeues, r)
	}
	d.pods(&j)
	return j
}

func (d *derived) pods(j *Job) {
	rank := func(name any) int32 {
		n := 0
		for _, c := range name.(string)[strings.LastIndexByte(name.(string), '-')+1:] {
			n = n*10 + int(c-'0')
		}
		return int32(n)
	}
	for _, c := range d.Created {
		j.Created = append(j.Created, PodEvent{At: ns(c[0].(float64)), Rank: rank(c[1])})
	}
	for _, b := range d.Placements {
		j.Bound = append(j.Bound, PodEvent{ns(b[0].(float64)), rank(b[1]), b[2].(string)})
	}
	for _, s := range d.Steps {
		j.Steps = append(j.Steps, Step{ns(s[0]), int32(s[1])})
	}
}

// recorded reads the runs of a real control plane.
func recorded(t *testing.T) map[string]*Record {
	z, err := gzip.NewReader(bytes.NewReader(testdata.TimelineRuns))
	if err != nil {
		t.Fatal(err)
	}
	runs := map[string]*Record{}
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var run struct {
			ID      string
			Derived map[string]*derived
		}
		if err := json.Unmarshal(lines.Bytes(), &run); err != nil {
			t.Fatal(err)
		}
		r := &Record{}
		for _, name := range sorted(run.Derived) {
			r.Jobs = append(r.Jobs, run.Derived[name].job(name))
		}
		runs[run.ID] = r
	}
	return runs
}

// What a real control plane did, printed as kubectl would have, reads as what it did.
func TestRecordedRunsReadBack(t *testing.T) {
	runs := recorded(t)
	begin := time.Date(2026, 3, 1, 12, 0, 0, 363e6, time.UTC)
	for n, id := range sorted(runs) {
		want := runs[id]
		f := form{receipt: true, bare: n%2 == 0, pretty: n%3 == 0, beta1: n%5 == 0}
		got := read(t, want, all(play(want, begin, f)))
		if d := differences(want, got, 2e6); d != "" {
			t.Errorf("%s: %s", id, d)
		}
		f.receipt = false
		if got := read(t, want, all(play(want, begin, f))); differences(want, got, 1e9) != "" {
			t.Errorf("%s, without times of receipt: %s", id, differences(want, got, 1e9))
		}
	}
}
