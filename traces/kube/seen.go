package kube

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/gangplan/gangplan/topology"
)

// This file has what a watch shows of each kind.

// SeenPod is what was seen of a pod.
type SeenPod struct {
	Node  string    // empty while it has none
	Phase string    // Pending, Running, Succeeded, Failed
	Ended time.Time // its last container exited, to the second; zero if it did not
	Rank  int32     // its index among the pods of its Job, or -1
	Job   string    // the name of its batch Job, or ""
	Group string    // the name of Kueue's pod group that it is in, or ""
}

// SeenJob is what was seen of a batch Job.
type SeenJob struct {
	Suspended   bool
	Parallelism int32 // pods at a time
	Completions int32 // pods in all; 0: as many as at a time
	Queue       string
	Active      int32
	Started     time.Time // zero while it was not
}

// SeenWorkload is what was seen of Kueue's Workload.
type SeenWorkload struct {
	Pods        []int32 // that its PodSets want
	Active      bool
	Assignments []Assignment // of its PodSets while it has quota
	Requeues    int32        // how often it was put back, 0 if it does not say
	RequeueAt   time.Time    // zero if it does not wait
}

// Assignment is what a PodSet was admitted with.
type Assignment struct {
	Pods  int32
	Hosts []Host // nil without a topology assignment, or of one that does not go down to hosts
}

// Host is a number of pods on a host.
type Host struct {
	Name string
	Pods int32
}

// SeenNode is what was seen of a node.
type SeenNode struct {
	Hostname    string
	Cordoned    bool
	Allocatable Amounts
}

// The labels by which Kubernetes and Kueue tell whose a pod is. Each has an older name.
const (
	jobLabel    = "batch.kubernetes.io/job-name"
	jobLabelOld = "job-name"
	indexLabel  = "batch.kubernetes.io/job-completion-index" // a label since 1.28, an annotation before and since
	groupLabel  = "kueue.x-k8s.io/pod-group-name"
	groupIndex  = "kueue.x-k8s.io/pod-group-pod-index"
	hostLabel   = "kubernetes.io/hostname"
)

// podText is what is read of a pod.
type podText struct {
	Metadata Metadata
	Spec     struct{ NodeName string }
	Status   struct {
		Phase             string
		Conditions        []Condition
		ContainerStatuses []struct {
			State struct {
				Terminated *struct{ FinishedAt string }
			}
		}
	}
}

func readPod(v value, s *Sighting) error {
	var o podText
	if err := v.decode(&o, "Pod"); err != nil {
		return err
	}
	if err := s.head(v, &o.Metadata, o.Status.Conditions); err != nil {
		return err
	}
	s.Pod = &SeenPod{Node: o.Spec.NodeName, Phase: o.Status.Phase, Rank: s.rank(), Job: cmp.Or(s.Labels[jobLabel], s.Labels[jobLabelOld]), Group: s.Labels[groupLabel]}
	for _, c := range o.Status.ContainerStatuses {
		if c.State.Terminated == nil || c.State.Terminated.FinishedAt == "" {
			continue
		}
		t, err := v.time(s, "status.containerStatuses: finishedAt", c.State.Terminated.FinishedAt)
		if err != nil {
			return err
		}
		if t.After(s.Pod.Ended) {
			s.Pod.Ended = t
		}
	}
	return nil
}

// rank returns a pod's index, -1 if it has none.
func (s *Sighting) rank() int32 {
	for _, text := range []string{s.Labels[indexLabel], s.Annotations[indexLabel], s.Labels[groupIndex]} {
		if n, err := strconv.ParseInt(text, 10, 32); err == nil && n >= 0 {
			return int32(n)
		}
	}
	return -1
}

func readJob(v value, s *Sighting) (err error) {
	var o struct {
		Metadata Metadata
		Spec     struct {
			Suspend                  bool
			Parallelism, Completions *int32
		}
		Status struct {
			Active     int32
			StartTime  string
			Conditions []Condition
		}
	}
	if err := v.decode(&o, "Job"); err != nil {
		return err
	}
	if err := s.head(v, &o.Metadata, o.Status.Conditions); err != nil {
		return err
	}
	s.Job = &SeenJob{Suspended: o.Spec.Suspend, Parallelism: 1, Active: o.Status.Active, Queue: s.Labels[queueLabel]}
	if o.Spec.Parallelism != nil {
		s.Job.Parallelism = *o.Spec.Parallelism
	}
	if o.Spec.Completions != nil {
		s.Job.Completions = *o.Spec.Completions
	}
	if o.Status.StartTime != "" {
		s.Job.Started, err = v.time(s, "status.startTime", o.Status.StartTime)
	}
	return err
}

// seenAssignment is a PodSet's assignment: in v1beta1 the domains stand one by one, in
// v1beta2 in slices that share what they have in common.
type seenAssignment struct {
	Count              *int32
	TopologyAssignment *struct {
		Levels  []string
		Domains []struct {
			Values []string
			Count  int32
		}
		Slices []topologySlice
	}
}

type topologySlice struct {
	DomainCount    int32
	ValuesPerLevel []struct {
		Prefix, Suffix string
		Roots          []string
		UniversalValue *string
	}
	PodCounts         []int32
	UniversalPodCount *int32
}

// workloadText is what is read of a Workload.
type workloadText struct {
	Metadata Metadata
	Spec     struct {
		Active  *bool
		PodSets []struct{ Count *int32 }
	}
	Status struct {
		Conditions   []Condition
		Admission    *struct{ PodSetAssignments []seenAssignment }
		RequeueState *struct {
			Count     int32
			RequeueAt string
		}
	}
}

func readWorkload(v value, s *Sighting) (err error) {
	var o workloadText
	if err := v.decode(&o, "Workload"); err != nil {
		return err
	}
	if err := s.head(v, &o.Metadata, o.Status.Conditions); err != nil {
		return err
	}
	s.Workload = &SeenWorkload{Active: o.Spec.Active == nil || *o.Spec.Active}
	for _, set := range o.Spec.PodSets {
		pods := int32(1)
		if set.Count != nil {
			pods = *set.Count
		}
		s.Workload.Pods = append(s.Workload.Pods, pods)
	}
	if a := o.Status.Admission; a != nil {
		if err := s.assignments(v, a.PodSetAssignments); err != nil {
			return err
		}
	}
	if r := o.Status.RequeueState; r != nil {
		s.Workload.Requeues = r.Count
		if r.RequeueAt != "" {
			s.Workload.RequeueAt, err = v.time(s, "status.requeueState.requeueAt", r.RequeueAt)
		}
	}
	return err
}

func (s *Sighting) assignments(v value, list []seenAssignment) error {
	for i := range list {
		var a Assignment
		switch {
		case list[i].Count != nil:
			a.Pods = *list[i].Count
		case i < len(s.Workload.Pods):
			a.Pods = s.Workload.Pods[i]
		}
		if t := list[i].TopologyAssignment; t != nil && len(t.Levels) > 0 && t.Levels[len(t.Levels)-1] == hostLabel {
			for _, d := range t.Domains {
				if len(d.Values) == 0 {
					return v.fail(0, s.String(), "topologyAssignment.domains: a domain has no values")
				}
				a.Hosts = append(a.Hosts, Host{d.Values[len(d.Values)-1], d.Count})
			}
			for j := range t.Slices {
				hosts, ok := t.Slices[j].hosts()
				if !ok {
					return v.fail(0, s.String(), "topologyAssignment.slices[%d]: not as many values or pod counts as its domainCount, %d", j, t.Slices[j].DomainCount)
				}
				a.Hosts = append(a.Hosts, hosts...)
			}
		}
		s.Workload.Assignments = append(s.Workload.Assignments, a)
	}
	return nil
}

// hosts returns the domains of a slice, and whether it has as many as it says. A name that
// all share can be that of one host only.
func (t *topologySlice) hosts() (hosts []Host, ok bool) {
	n := int(t.DomainCount)
	if len(t.ValuesPerLevel) == 0 || t.UniversalPodCount == nil && len(t.PodCounts) != n {
		return nil, false
	}
	names := &t.ValuesPerLevel[len(t.ValuesPerLevel)-1]
	if names.UniversalValue == nil && len(names.Roots) != n || names.UniversalValue != nil && n != 1 {
		return nil, false
	}
	for i := range n {
		var h Host
		if names.UniversalValue != nil {
			h.Name = *names.UniversalValue
		} else {
			h.Name = names.Prefix + names.Roots[i] + names.Suffix
		}
		if t.UniversalPodCount != nil {
			h.Pods = *t.UniversalPodCount
		} else {
			h.Pods = t.PodCounts[i]
		}
		hosts = append(hosts, h)
	}
	return hosts, true
}

func readNode(v value, s *Sighting) error {
	var o struct {
		Metadata Metadata
		Spec     struct{ Unschedulable bool }
		Status   struct {
			Allocatable map[string]any
			Conditions  []Condition
		}
	}
	if err := v.decode(&o, "Node"); err != nil {
		return err
	}
	if err := s.head(v, &o.Metadata, o.Status.Conditions); err != nil {
		return err
	}
	s.Node = &SeenNode{Hostname: s.Labels[hostLabel], Cordoned: o.Spec.Unschedulable, Allocatable: Amounts{}}
	for _, name := range sortedKeys(o.Status.Allocatable) {
		if text, ok := o.Status.Allocatable[name].(string); ok && strings.HasSuffix(name, "/gpu") {
			s.Node.Allocatable[name] = text
		}
	}
	return nil
}

// GPUs returns the GPUs that a node offers, in thousandths.
func (n *SeenNode) GPUs() int64 {
	return n.Allocatable.resources("", &fieldSet{})[topology.GPU]
}
