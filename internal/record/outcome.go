package record

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
)

// Outcome is what came of the jobs of a record, without the times: what is the same however
// long the steps between took. In JSON it has the names of the recorded cases.
type Outcome struct {
	Decisions   []string `json:"kueue_decision_order"`
	Admissions  []string `json:"admission_order"`
	Completions []string `json:"completion_order"`
	Evictions   []string `json:"eviction_order"` // job:reason

	End        map[string]State       `json:"end_state"`
	MaxBound   map[string]int32       `json:"max_bound"`
	FinalBound map[string]int32       `json:"final_bound"`
	Requeues   map[string][]*int32    `json:"requeue_counts"` // requeueState.count at each change, nil where it is removed
	Topology   map[string][][][]Slot  `json:"topology"`
	Counts     map[string][][]int32   `json:"admitted_counts"`
	Nodes      map[string][]Slot      `json:"placement_nodes"` // over all bindings, by name
	Ranked     map[string][][2]string `json:"placement_ranked"`
	Created    map[string]int32       `json:"pods_created_total"`
	Attempts   map[string]int32       `json:"sched_attempts_total"`
}

// MarshalJSON writes a slot as the pair of the recorded cases.
func (s Slot) MarshalJSON() ([]byte, error) { return json.Marshal([]any{s.Node, s.Pods}) }

// Outcome returns what came of the jobs.
func (r *Record) Outcome() *Outcome {
	o := &Outcome{Decisions: r.Decisions, End: map[string]State{}, MaxBound: map[string]int32{}, FinalBound: map[string]int32{},
		Requeues: map[string][]*int32{}, Topology: map[string][][][]Slot{}, Counts: map[string][][]int32{},
		Nodes: map[string][]Slot{}, Ranked: map[string][][2]string{}, Created: map[string]int32{}, Attempts: map[string]int32{}}
	var admissions, completions, evictions marks
	for i := range r.Jobs {
		j := &r.Jobs[i]
		for _, a := range j.Admissions {
			admissions = append(admissions, mark{a.At, j.Name})
			o.Counts[j.Name] = append(o.Counts[j.Name], a.Counts)
		}
		for _, e := range j.Evictions {
			evictions = append(evictions, mark{e.At, j.Name + ":" + e.Reason})
		}
		if at := j.completed(); at != Never {
			completions = append(completions, mark{at, j.Name})
		}
		o.add(j)
	}
	o.Admissions, o.Completions, o.Evictions = admissions.inOrder(), completions.inOrder(), evictions.inOrder()
	return o
}

// add takes in what is said per job.
func (o *Outcome) add(j *Job) {
	o.End[j.Name], o.MaxBound[j.Name], o.FinalBound[j.Name] = j.State, j.MaxBound(), j.FinalBound()
	for _, q := range j.Requeues {
		if o.Requeues[j.Name] = append(o.Requeues[j.Name], &q.Count); q.Count == 0 {
			o.Requeues[j.Name][len(o.Requeues[j.Name])-1] = nil
		}
	}
	for _, a := range j.Assignments {
		o.Topology[j.Name] = append(o.Topology[j.Name], a.Slots)
	}
	o.Created[j.Name], o.Attempts[j.Name] = int32(len(j.Created)), j.Attempts
	o.Nodes[j.Name], o.Ranked[j.Name] = j.nodes(), j.ranked()
}

// completed is when a job was Complete.
func (j *Job) completed() int64 {
	if len(j.JobComplete) == 0 {
		return Never
	}
	return j.JobComplete[0]
}

// nodes counts all bindings of a job's pods per node.
func (j *Job) nodes() []Slot {
	slots := []Slot{}
	for _, b := range j.Bound {
		i := slices.IndexFunc(slots, func(s Slot) bool { return s.Node == b.Node })
		if i < 0 {
			i, slots = len(slots), append(slots, Slot{Node: b.Node})
		}
		slots[i].Pods++
	}
	slices.SortFunc(slots, func(a, b Slot) int { return cmp.Compare(a.Node, b.Node) })
	return slots
}

// ranked lists the bindings by the pod's name, as text has it.
func (j *Job) ranked() [][2]string {
	pairs := [][2]string{}
	for _, b := range j.Bound {
		pairs = append(pairs, [2]string{j.Name + "-" + strconv.Itoa(int(b.Rank)), b.Node})
	}
	slices.SortFunc(pairs, func(a, b [2]string) int { return slices.Compare(a[:], b[:]) })
	return pairs
}

// mark is something at a time.
type mark struct {
	at   int64
	what string
}

type marks []mark

// inOrder returns what there was, by time.
func (m marks) inOrder() []string {
	list := []string{}
	slices.SortStableFunc(m, func(a, b mark) int { return cmp.Compare(a.at, b.at) })
	for _, x := range m {
		list = append(list, x.what)
	}
	return list
}
