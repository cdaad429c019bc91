package record

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// cluster plays a record to somebody who watches with kubectl: it is what an API server would
// show while that happens. What a record does not have, such as when each pod was ready, is
// made up so that the record comes out.
type cluster struct {
	begin time.Time
	form  form
	todo  []step
	out   map[string]*bytes.Buffer // by kind, as kubectl watches one kind at a time
	rv    int
}

// form is how the watch was taken.
type form struct {
	bare    bool // objects instead of events
	receipt bool // a filter added the time of receipt
	pretty  bool
	beta1   bool          // Kueue's older API
	skew    time.Duration // of the clock of the one who watches
}

type object map[string]any

// step is a change of an object at a time.
type step struct {
	at   int64
	kind string // ADDED, MODIFIED or DELETED
	o    object
	do   func(o object)
}

func play(r *Record, begin time.Time, f form) map[string]*bytes.Buffer {
	c := &cluster{begin: begin, form: f, out: map[string]*bytes.Buffer{}}
	for i := range r.Jobs {
		c.job(&r.Jobs[i])
	}
	slices.SortStableFunc(c.todo, func(a, b step) int { return cmp.Compare(a.at, b.at) })
	for _, s := range c.todo {
		s.do(s.o)
		c.print(s)
	}
	return c.out
}

// all is what play prints, one kind after the other.
func all(out map[string]*bytes.Buffer) string {
	var b strings.Builder
	for _, kind := range []string{"Pod", "Workload", "Job"} {
		if out[kind] != nil {
			b.Write(out[kind].Bytes())
		}
	}
	return b.String()
}

func (c *cluster) print(s step) {
	c.rv++
	meta := s.o["metadata"].(object)
	meta["resourceVersion"] = fmt.Sprint(c.rv)
	kind := s.o["kind"].(string)
	if c.out[kind] == nil {
		c.out[kind] = &bytes.Buffer{}
	}
	e := json.NewEncoder(c.out[kind])
	if c.form.pretty {
		e.SetIndent("", "    ")
	}
	what := s.o
	if !c.form.bare {
		what = object{"type": s.kind, "object": s.o}
	}
	if c.form.receipt {
		at := c.begin.Add(time.Duration(s.at)).Add(c.form.skew)
		what = object{"at": float64(at.UnixMicro()) / 1e6, "object": s.o, "type": s.kind}
	}
	if err := e.Encode(what); err != nil {
		panic(err)
	}
}

// second is a time as objects have it.
func (c *cluster) second(at int64) string {
	return c.begin.Add(time.Duration(at)).UTC().Format(time.RFC3339)
}

func (c *cluster) add(at int64, o object) {
	o["metadata"].(object)["creationTimestamp"] = c.second(at)
	o["metadata"].(object)["namespace"] = "default"
	o["metadata"].(object)["uid"] = fmt.Sprintf("%s-%s", o["kind"], o["metadata"].(object)["name"])
	c.todo = append(c.todo, step{at, "ADDED", o, func(object) {}})
}

func (c *cluster) change(at int64, o object, do func(object)) {
	c.todo = append(c.todo, step{at, "MODIFIED", o, do})
}

// condition sets a condition of an object's status.
func (c *cluster) condition(o object, at int64, name string, is bool, reason string) {
	status := o["status"].(object)
	word := "False"
	if is {
		word = "True"
	}
	list, _ := status["conditions"].([]object)
	i := slices.IndexFunc(list, func(x object) bool { return x["type"] == name })
	if i < 0 {
		i, list = len(list), append(list, object{"type": name})
	}
	if list[i]["status"] != word {
		list[i]["lastTransitionTime"] = c.second(at)
	}
	list[i]["status"], list[i]["reason"] = word, reason
	status["conditions"] = list
}

func (c *cluster) job(j *Job) {
	pods := int32(0)
	for _, e := range j.Created {
		pods = max(pods, e.Rank+1)
	}
	o := object{"apiVersion": "batch/v1", "kind": "Job", "metadata": object{"name": j.Name},
		"spec": object{"parallelism": pods, "completions": max(pods, j.succeeded()), "suspend": j.WorkloadCreated != Never, "completionMode": "Indexed"}, "status": object{}}
	if j.WorkloadCreated != Never {
		o["metadata"].(object)["labels"] = object{"kueue.x-k8s.io/queue-name": "research"}
	}
	c.add(j.Submit, o)
	for _, at := range j.Unsuspended {
		c.change(at, o, func(o object) {
			o["spec"].(object)["suspend"], o["status"].(object)["startTime"] = false, c.second(at)
			c.condition(o, at, "Suspended", false, "JobResumed")
		})
	}
	for _, at := range j.Suspended {
		c.change(at, o, func(o object) {
			o["spec"].(object)["suspend"] = true
			c.condition(o, at, "Suspended", true, "JobSuspended")
		})
	}
	for _, at := range j.JobComplete {
		c.change(at, o, func(o object) { c.condition(o, at, "Complete", true, "CompletionsReached") })
	}
	if j.State == WaitingForTerminating {
		at := j.RunComplete[len(j.RunComplete)-1] + 1e9
		c.change(at, o, func(o object) { c.condition(o, at, "SuccessCriteriaMet", true, "CompletionsReached") })
	}
	if j.WorkloadCreated != Never {
		c.workload(j)
	}
	c.pods(j)
}

func (c *cluster) workload(j *Job) {
	version := "kueue.x-k8s.io/v1beta2"
	if c.form.beta1 {
		version = "kueue.x-k8s.io/v1beta1"
	}
	pods := int32(0)
	for _, e := range j.Created {
		pods = max(pods, e.Rank+1)
	}
	o := object{"apiVersion": version, "kind": "Workload",
		"metadata": object{"name": "job-" + j.Name + "-1a2b3", "ownerReferences": []object{{"apiVersion": "batch/v1", "kind": "Job", "name": j.Name, "uid": "Job-" + j.Name, "controller": true}}},
		"spec":     object{"active": true, "podSets": []object{{"name": "main", "count": pods}}}, "status": object{}}
	c.add(j.WorkloadCreated, o)
	for i, a := range j.Admissions {
		c.change(a.At, o, func(o object) {
			c.condition(o, a.At, "QuotaReserved", true, "QuotaReserved")
			c.condition(o, a.At, "Admitted", true, "Admitted")
			if list, _ := o["status"].(object)["conditions"].([]object); slices.ContainsFunc(list, func(x object) bool { return x["type"] == "Evicted" }) {
				c.condition(o, a.At, "Evicted", false, "QuotaReserved")
			}
			o["status"].(object)["admission"] = object{"podSetAssignments": c.assignments(j, i)}
		})
	}
	for _, at := range j.Cleared {
		c.change(at, o, func(o object) {
			c.condition(o, at, "QuotaReserved", false, "Pending")
			c.condition(o, at, "Admitted", false, "NoReservation")
			delete(o["status"].(object), "admission")
		})
	}
	for _, e := range j.Evictions {
		c.change(e.At, o, func(o object) { c.condition(o, e.At, "Evicted", true, e.Reason) })
	}
	for _, q := range j.Requeues {
		c.change(q.At, o, func(o object) {
			o["status"].(object)["requeueState"] = c.requeueState(q)
			if q.Until == Never {
				c.condition(o, q.At, "Requeued", true, "BackoffFinished")
			} else {
				c.condition(o, q.At, "Requeued", false, "PodsReadyTimeout")
			}
		})
	}
	for _, at := range j.Deactivated {
		c.change(at, o, func(o object) { o["spec"].(object)["active"] = false })
	}
	for _, at := range j.Finished {
		c.change(at, o, func(o object) { c.condition(o, at, "Finished", true, "Succeeded") })
	}
}

func (c *cluster) requeueState(q Requeue) any {
	switch {
	case q.Count == 0:
		return nil
	case q.Until == Never:
		return object{"count": q.Count}
	}
	return object{"count": q.Count, "requeueAt": c.second(q.Until)}
}

// assignments are those of the i-th admission; those that took their place are not played.
func (c *cluster) assignments(j *Job, i int) (list []object) {
	for set, n := range j.Admissions[i].Counts {
		a := object{"name": fmt.Sprint("set", set), "count": n}
		if len(j.Assignments) == len(j.Admissions) {
			a["topologyAssignment"] = c.topology(j.Assignments[i].Slots[set])
		}
		list = append(list, a)
	}
	return list
}

func (c *cluster) topology(slots []Slot) object {
	levels := []string{"kubernetes.io/hostname"}
	var domains []object
	var roots []string
	var counts []int32
	for _, s := range slots {
		domains = append(domains, object{"values": []string{s.Node}, "count": s.Pods})
		roots, counts = append(roots, strings.TrimPrefix(s.Node, slots[0].Node[:1])), append(counts, s.Pods)
	}
	if c.form.beta1 {
		return object{"levels": levels, "domains": domains}
	}
	return object{"levels": levels, "slices": []object{{"domainCount": len(slots),
		"valuesPerLevel": []object{{"prefix": slots[0].Node[:1], "roots": roots}}, "podCounts": counts}}}
}

// pods plays the pods of a job: each comes into being, gets its node, is ready when all are,
// and ends when fewer are bound.
func (c *cluster) pods(j *Job) {
	var live []*object // bound, by age
	type event struct {
		at int64
		do func(at int64)
	}
	var events []event
	unbound := map[int32][]*object{}
	for i, e := range j.Created {
		o := &object{"apiVersion": "v1", "kind": "Pod", "metadata": object{"name": fmt.Sprintf("%s-%d-%05d", j.Name, e.Rank, i),
			"labels":          object{"batch.kubernetes.io/job-name": j.Name, "batch.kubernetes.io/job-completion-index": fmt.Sprint(e.Rank)},
			"ownerReferences": []object{{"apiVersion": "batch/v1", "kind": "Job", "name": j.Name, "uid": "Job-" + j.Name, "controller": true}}},
			"spec": object{}, "status": object{"phase": "Pending"}}
		events = append(events, event{e.At, func(at int64) { c.add(at, *o); unbound[e.Rank] = append(unbound[e.Rank], o) }})
	}
	for _, e := range j.Bound {
		events = append(events, event{e.At, func(at int64) {
			list := unbound[e.Rank]
			o := list[len(list)-1]
			live = append(live, o)
			c.change(at, *o, func(o object) { o["spec"].(object)["nodeName"] = e.Node; c.condition(o, at, "PodScheduled", true, "") })
		}})
	}
	for _, at := range j.AllReady {
		events = append(events, event{at, func(at int64) {
			for _, o := range live {
				c.change(at, *o, func(o object) { o["status"].(object)["phase"] = "Running"; c.condition(o, at, "Ready", true, "") })
			}
		}})
	}
	for _, at := range j.BarrierLost {
		events = append(events, event{at, func(at int64) {
			c.change(at, *live[0], func(o object) { c.condition(o, at, "Ready", false, "ContainersNotReady") })
		}})
	}
	have := int32(0)
	for _, s := range j.Steps {
		if s.N < have {
			done := j.isDone(s.At)
			for range have - s.N {
				events = append(events, event{s.At, func(at int64) { c.end(*live[0], at, done); live = live[1:] }})
			}
		}
		have = s.N
	}
	slices.SortStableFunc(events, func(a, b event) int { return cmp.Compare(a.at, b.at) })
	for _, e := range events {
		e.do(e.at)
	}
}

func (c *cluster) end(o object, at int64, done bool) {
	c.change(at, o, func(o object) {
		o["status"].(object)["phase"] = "Failed"
		if done {
			o["status"].(object)["phase"] = "Succeeded"
		}
		c.condition(o, at, "Ready", false, "PodCompleted")
		o["status"].(object)["containerStatuses"] = []object{{"name": "main", "state": object{"terminated": object{"exitCode": 0, "finishedAt": c.second(at)}}}}
	})
}

// nodes is what a watch of nodes prints first: those that are there.
func nodes(begin time.Time, f form, n int) string {
	c := &cluster{begin: begin, form: f, out: map[string]*bytes.Buffer{}}
	for i := range n {
		name := fmt.Sprintf("h-%d", i)
		o := object{"apiVersion": "v1", "kind": "Node", "metadata": object{"name": name, "labels": object{"kubernetes.io/hostname": name}, "uid": "node-" + name,
			"creationTimestamp": "2026-02-01T08:00:00Z"}, "spec": object{}, "status": object{"allocatable": object{"nvidia.com/gpu": "8", "cpu": "128", "memory": "1056Gi"}}}
		c.condition(o, 0, "Ready", true, "KubeletReady")
		c.print(step{at: -2 * int64(time.Second), kind: "ADDED", o: o})
	}
	return c.out["Node"].String()
}

// isDone reports whether a pod that ends is done: others are, within a moment.
func (j *Job) isDone(end int64) bool {
	return slices.ContainsFunc(j.RunComplete, func(at int64) bool { return at-5e8 < end && end < at+5e8 })
}

// succeeded counts the pods that did their work.
func (j *Job) succeeded() (n int32) {
	have := int32(0)
	for _, s := range j.Steps {
		if s.N < have && j.isDone(s.At) {
			n += have - s.N
		}
		have = s.N
	}
	return n
}
