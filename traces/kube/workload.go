package kube

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gangplan/gangplan/workloads"
)

// This file makes a job of a Workload, while its nodes are there to point at.

// trace is what a Workload is as a job, but for what other objects say: the names of levels,
// whose place labels hold, and the priority of its class.
type trace struct {
	job     workloads.Job
	created time.Time
	class   string
}

// Since returns when a condition became true, or the zero time if it is not true.
func (w *Workload) Since(condition string) time.Time {
	for _, c := range w.Status.Conditions {
		if c.Type == condition && c.Status == "True" {
			return clockOf(c.LastTransitionTime)
		}
	}
	return time.Time{}
}

func (w *Workload) check(c *checker) {
	if w.Metadata.CreationTimestamp == "" {
		c.fail(At("metadata", "creationTimestamp"), "missing: expected when it was created, as an API server prints it")
	}
	names := map[string]int{}
	minimal := -1
	for i := range w.Spec.PodSets {
		s, at := &w.Spec.PodSets[i], specPath.To("podSets", i)
		name := cmp.Or(s.Name, "main")
		if k, ok := names[name]; ok {
			c.fail(at.To("name"), "%s is the name of podSets[%d] already", quote(name), k)
		}
		names[name] = i
		if s.MinCount != nil && minimal >= 0 {
			c.fail(at.To("minCount"), "podSets[%d] has one already: expected it in one PodSet at most", minimal)
		} else if s.MinCount != nil {
			minimal = i
		}
		if s.MinCount != nil && *s.MinCount > s.count() {
			c.fail(at.To("minCount"), "%d: expected at most count, which is %d", *s.MinCount, s.count())
		}
		c.reserved(at.To("template", "spec"), &s.Template.Spec)
		c.tolerations(at.To("template", "spec", "tolerations"), s.Template.Spec.Tolerations)
		c.topologyRequest(at.To("topologyRequest"), s.TopologyRequest)
	}
	types := map[string]int{}
	for i := range w.Status.Conditions {
		name := w.Status.Conditions[i].Type
		if k, ok := types[name]; ok {
			c.fail(At("status", "conditions", i, "type"), "%s is the type of conditions[%d] already", quote(name), k)
		}
		types[name] = i
	}
}

// count is 1 unless it is said.
func (s *PodSet) count() int32 {
	if s.Count == nil {
		return 1
	}
	return *s.Count
}

// reserved refuses requests of what Kueue counts itself.
func (c *checker) reserved(p Path, s *PodSpec) {
	for _, list := range []struct {
		field      string
		containers []Container
	}{{"initContainers", s.InitContainers}, {"containers", s.Containers}} {
		for i := range list.containers {
			r := &list.containers[i].Resources
			for _, amounts := range []struct {
				field string
				of    Amounts
			}{{"requests", r.Requests}, {"limits", r.Limits}} {
				if _, ok := amounts.of["pods"]; ok {
					c.fail(p.To(list.field, i, "resources", amounts.field, "pods"), "pods are counted by Kueue itself: expected no request of them")
				}
			}
		}
	}
}

// topologyRequest checks that one place is asked for, and slices of a size.
func (c *checker) topologyRequest(p Path, t *TopologyRequest) {
	if t == nil {
		return
	}
	unconstrained := t.Unconstrained != nil && *t.Unconstrained
	given := ""
	for _, mode := range []struct {
		field string
		set   bool
	}{{"required", t.Required != ""}, {"preferred", t.Preferred != ""}, {"unconstrained", unconstrained}} {
		if mode.set && given != "" {
			c.fail(p.To(mode.field), "there is %s already: expected one of required, preferred and unconstrained", given)
		} else if mode.set {
			given = mode.field
		}
	}
	switch {
	case t.SliceTopology != "" && t.SliceSize == nil:
		c.fail(p.To("podSetSliceSize"), "missing: expected it beside podSetSliceRequiredTopology")
	case t.SliceTopology == "" && t.SliceSize != nil:
		c.fail(p.To("podSetSliceSize"), "expected podSetSliceRequiredTopology beside it")
	case t.SliceTopology != "" && t.Layers != nil:
		c.fail(p.To("podsetSliceRequiredTopologyConstraints"), "expected no podSetSliceRequiredTopology beside it")
	}
}

// makeJob fills in the job of a Workload that has no mistake. Levels are the labels of nodes.
func (d *Dump) makeJob(w *Item[Workload]) error {
	s, t := &w.T.Spec, &w.T.trace
	t.created = clockOf(w.T.Metadata.CreationTimestamp)
	t.class = cmp.Or(s.PriorityClassName, s.PriorityClassRef.Name)
	j := &t.job
	*j = workloads.NewJob(w.Namespace+"/"+w.Name, 0)
	j.Tenant, j.Namespace, j.Duration = w.Namespace, w.Namespace, -1
	if s.QueueName != "" {
		j.Queue = w.Namespace + "/" + s.QueueName
	}
	if s.Priority != nil {
		j.Priority = *s.Priority
	}
	if s.MaximumExecutionTime != nil {
		j.AdmittedLimit = int64(*s.MaximumExecutionTime) * int64(time.Second)
	}
	var from []int // the PodSet of the Workload, by that of the job
	for i := range s.PodSets {
		if s.PodSets[i].count() == 0 {
			continue
		}
		set, err := d.podSet(&w.Object, specPath.To("podSets", i), &s.PodSets[i])
		if err != nil {
			return err
		}
		j.PodSets, from = append(j.PodSets, set), append(from, i)
	}
	if len(from) == 0 {
		return nil
	}
	loneGroups(j.PodSets)
	if err := d.friends(&w.Object, specPath.To("podSets", from[0], "template"), &s.PodSets[from[0]].Template, j); err != nil {
		return err
	}
	return validJob(&w.Object, j, from)
}

// validJob checks the numbers of a job, whose PodSets are those of a Workload.
func validJob(o *Object, j *workloads.Job, from []int) error {
	sound := *j
	sound.Duration = 0 // it may not be known yet
	err := workloads.Validate(&sound)
	e, ok := errors.AsType[*workloads.FieldError](err)
	if !ok {
		return err
	}
	at, k := specPath.To("podSets"), 0
	if n, _ := fmt.Sscanf(e.Field, "podsets[%d]", &k); n == 1 && k < len(from) {
		at = at.To(from[k])
		for _, field := range []struct {
			theirs string
			ours   Path
		}{{"count", At("count")}, {"request", At("count")}, {"topology.slices", At("topologyRequest", "podSetSliceSize")}, {"topology", At("topologyRequest")}} {
			if strings.HasPrefix(e.Field, fmt.Sprintf("podsets[%d].%s", k, field.theirs)) {
				return o.Fail(at.To(field.ours...), "%s", e.Problem)
			}
		}
	}
	return o.Fail(at, "%s", e.Problem)
}

func (d *Dump) podSet(o *Object, p Path, given *PodSet) (set workloads.PodSet, err error) {
	set.Name, set.Count = cmp.Or(given.Name, "main"), given.count()
	if given.MinCount != nil {
		set.MinCount = *given.MinCount
	}
	d.ask(o, &given.Template.Spec, &set)
	if err := place(o, p.To("template", "spec"), &given.Template.Spec, &set); err != nil {
		return set, err
	}
	set.Topology = topologyOf(o, p.To("topologyRequest"), given.TopologyRequest)
	return set, nil
}

// topologyOf turns a topology request into one whose levels are labels, and keeps their places.
func topologyOf(o *Object, p Path, given *TopologyRequest) (t workloads.TopologyRequest) {
	if given == nil {
		return t
	}
	level := func(field string, label string) string {
		o.mark(p.To(field))
		return label
	}
	t.Group = given.Group
	switch {
	case given.Required != "":
		t.Mode, t.Level = workloads.TopologyRequired, level("required", given.Required)
	case given.Preferred != "":
		t.Mode, t.Level = workloads.TopologyPreferred, level("preferred", given.Preferred)
	case given.Unconstrained != nil && *given.Unconstrained:
		t.Mode = workloads.TopologyUnconstrained
	case given.SliceTopology != "" || given.Layers != nil:
		t.Mode = workloads.TopologySliceOnly
	}
	if given.SliceTopology != "" && given.SliceSize != nil {
		t.Slices[0] = workloads.Slice{Level: level("podSetSliceRequiredTopology", given.SliceTopology), Size: *given.SliceSize}
	}
	for i, l := range given.Layers {
		t.Slices[i] = workloads.Slice{Level: level("podsetSliceRequiredTopologyConstraints", l.Topology), Size: l.Size}
	}
	return t
}

// loneGroups takes PodSets out of groups whose others have no pods.
func loneGroups(sets []workloads.PodSet) {
	members := map[string]int{}
	for i := range sets {
		members[sets[i].Topology.Group]++
	}
	for i := range sets {
		if t := &sets[i].Topology; members[t.Group] == 1 {
			t.Group = ""
		}
	}
}
