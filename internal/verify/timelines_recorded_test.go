package verify

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/gangplan/gangplan/internal/record"
)

// recordedRun is one repetition of a recorded scenario.
type recordedRun struct {
	ID       string                `json:"id"`
	Scenario string                `json:"scenario_id"`
	Offset   float64               `json:"t0_ms_into_wall_second"`
	Derived  map[string]derivedJob `json:"derived"`
}

// derivedJob is what the recorder derived of one job from its watches. Times are seconds.
type derivedJob struct {
	Submit      float64          `json:"submit_s"`
	Workload    *float64         `json:"workload_created_s"`
	Admitted    []float64        `json:"admitted_s"`
	Counts      [][]int32        `json:"admitted_counts"`
	Topology    [][][]slotPair   `json:"topology"`
	Cleared     []float64        `json:"admission_cleared_s"`
	Unsuspended []float64        `json:"unsuspended_s"`
	Suspended   []float64        `json:"suspended_s"`
	Evictions   []derivedReason  `json:"evictions"`
	Requeue     []derivedRequeue `json:"requeue"`
	Deactivated []float64        `json:"deactivated_s"`
	Created     [][2]any         `json:"pods_created"`
	Placements  [][3]any         `json:"placements"`
	BoundSteps  [][2]float64     `json:"bound_steps"`
	Attempts    map[string]int32 `json:"sched_attempts"`
	AllReady    []float64        `json:"all_ready_s"`
	BarrierLost []float64        `json:"barrier_lost_s"`
	RunComplete []float64        `json:"run_complete_s"`
	JobComplete []float64        `json:"job_complete_s"`
	Finished    []float64        `json:"finished_s"`
	End         record.State     `json:"end_state"`
}

type derivedReason struct {
	At     float64 `json:"t"`
	Reason string  `json:"reason"`
}

type derivedRequeue struct {
	At    float64  `json:"t"`
	Count int32    `json:"count"` // absent where it was cleared
	Until *float64 `json:"requeue_at_s"`
}

// slotPair is a node and its pods, as the recorder writes them.
type slotPair record.Slot

func (s *slotPair) UnmarshalJSON(b []byte) error {
	return json.Unmarshal(b, &[]any{&s.Node, &s.Pods})
}

func nanos(s float64) int64 { return int64(math.Round(s * 1e9)) }

func allNanos(list []float64) (out []int64) {
	for _, s := range list {
		out = append(out, nanos(s))
	}
	return out
}

// record returns what the recorder saw of a scenario's jobs, in their order.
func (r *recordedRun) record(names []string) (*record.Record, error) {
	out := &record.Record{}
	for _, name := range names {
		d, ok := r.Derived[name]
		if !ok {
			return nil, fmt.Errorf("%s: nothing is recorded of job %s", r.ID, name)
		}
		j, err := d.job(name)
		if err != nil {
			return nil, fmt.Errorf("%s: job %s: %w", r.ID, name, err)
		}
		out.Jobs = append(out.Jobs, j)
	}
	return out, nil
}

func (d *derivedJob) job(name string) (record.Job, error) {
	j := record.Job{Name: name, Submit: nanos(d.Submit), WorkloadCreated: record.Never, State: d.End,
		Cleared: allNanos(d.Cleared), Unsuspended: allNanos(d.Unsuspended), Suspended: allNanos(d.Suspended), Deactivated: allNanos(d.Deactivated),
		AllReady: allNanos(d.AllReady), BarrierLost: allNanos(d.BarrierLost), RunComplete: allNanos(d.RunComplete),
		JobComplete: allNanos(d.JobComplete), Finished: allNanos(d.Finished)}
	if d.Workload != nil {
		j.WorkloadCreated = nanos(*d.Workload)
	}
	for _, e := range d.Evictions {
		j.Evictions = append(j.Evictions, record.Eviction{At: nanos(e.At), Reason: e.Reason})
	}
	for _, q := range d.Requeue {
		until := record.Never
		if q.Until != nil {
			until = nanos(*q.Until)
		}
		j.Requeues = append(j.Requeues, record.Requeue{At: nanos(q.At), Until: until, Count: q.Count})
	}
	for _, n := range d.Attempts {
		j.Attempts += n
	}
	if err := d.admissions(&j); err != nil {
		return j, err
	}
	return j, d.pods(&j)
}

func (d *derivedJob) admissions(j *record.Job) error {
	if len(d.Admitted) != len(d.Counts) {
		return fmt.Errorf("%d admissions, counts of %d", len(d.Admitted), len(d.Counts))
	}
	for i, at := range d.Admitted {
		j.Admissions = append(j.Admissions, record.Admission{At: nanos(at), Counts: d.Counts[i]})
	}
	for _, sets := range d.Topology {
		a := record.Assignment{At: record.Never} // the recorder did not keep the time
		for _, slots := range sets {
			var list []record.Slot
			for _, s := range slots {
				list = append(list, record.Slot(s))
			}
			a.Slots = append(a.Slots, list)
		}
		j.Assignments = append(j.Assignments, a)
	}
	return nil
}

func (d *derivedJob) pods(j *record.Job) error {
	for _, c := range d.Created {
		e, err := podEvent(c[0], c[1], "")
		if err != nil {
			return err
		}
		j.Created = append(j.Created, e)
	}
	for _, p := range d.Placements {
		e, err := podEvent(p[0], p[1], text(p[2]))
		if err != nil {
			return err
		}
		j.Bound = append(j.Bound, e)
	}
	for _, s := range d.BoundSteps {
		j.Steps = append(j.Steps, record.Step{At: nanos(s[0]), N: int32(s[1])})
	}
	return nil
}

// podEvent reads a pod by its name, which ends with its rank.
func podEvent(at, pod any, node string) (record.PodEvent, error) {
	name := text(pod)
	rank, err := strconv.ParseInt(name[strings.LastIndexByte(name, '-')+1:], 10, 32)
	if err != nil {
		return record.PodEvent{}, fmt.Errorf("a pod %v: expected a name that ends with its rank", pod)
	}
	return record.PodEvent{At: nanos(number(at)), Rank: int32(rank), Node: node}, nil
}
