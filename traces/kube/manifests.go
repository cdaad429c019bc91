package kube

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gangplan/gangplan/workloads"
)

// This file makes jobs of what people write: Pods, Jobs, and controllers that keep replicas.

// The annotations that say what a manifest cannot: how long the work of an object takes,
// when it is submitted, and how long its pods take to become ready. They are Go's durations,
// such as 1h30m.
const (
	DurationAnnotation = "gangplan.io/duration"
	SubmitAnnotation   = "gangplan.io/submit"
	StartupAnnotation  = "gangplan.io/startup"
)

// The labels and annotations of Kueue that say where and how a job is queued.
const (
	queueLabel    = "kueue.x-k8s.io/queue-name"
	classLabel    = "kueue.x-k8s.io/priority-class"
	minimum       = "kueue.x-k8s.io/job-min-parallelism"
	required      = "kueue.x-k8s.io/podset-required-topology"
	preferred     = "kueue.x-k8s.io/podset-preferred-topology"
	unconstrained = "kueue.x-k8s.io/podset-unconstrained-topology"
	sliceLevel    = "kueue.x-k8s.io/podset-slice-required-topology"
	sliceSize     = "kueue.x-k8s.io/podset-slice-size"
)

// makers are the kinds that make pods, and the budget that protects some.
var makers = map[string]func(*Manifests, *Object) error{
	"Pod": (*Manifests).pod, "Job": (*Manifests).batchJob,
	"Deployment": (*Manifests).service, "ReplicaSet": (*Manifests).service, "StatefulSet": (*Manifests).service,
	"ReplicationController": (*Manifests).service, "PodDisruptionBudget": (*Manifests).budget,
}

// Manifests is what the manifests of a dump make.
type Manifests struct {
	Jobs     []workloads.Job // in the order of submission, then of the files
	Budgets  []workloads.Budget
	Warnings []string // sentences

	dump    *Dump
	options ManifestOptions
	created []time.Time // per job; zero if the object does not say
	endless int
}

// ManifestOptions say what manifests do not.
type ManifestOptions struct {
	Duration int64 // of the work of objects that do not say, in ns; 0: that is a mistake
}

// Manifests makes jobs of the dump's Pods, batch Jobs, Deployments, ReplicaSets, StatefulSets
// and ReplicationControllers, and budgets of its PodDisruptionBudgets.
//
// A batch Job is a gang of its parallelism; with more completions its pods do several rounds
// of its work. Of the kinds that keep replicas every replica is a job of its own, which runs
// for good, since nobody waits for the others. Levels are topology keys as they are written.
// The error is an *Error.
func (d *Dump) Manifests(o ManifestOptions) (*Manifests, error) {
	m := &Manifests{dump: d, options: o}
	for i := range d.made {
		if err := makers[d.made[i].Kind](m, &d.made[i]); err != nil {
			return nil, err
		}
	}
	d.Ignored = slices.DeleteFunc(d.Ignored, func(k Kind) bool { return makers[k.Name] != nil })
	d.made = nil
	m.submit()
	if m.endless > 0 {
		m.Warnings = append(m.Warnings, fmt.Sprintf("%d pods of services run for good", m.endless))
	}
	return m, nil
}

// submit sets when jobs are submitted, unless an annotation says it: when they were created,
// from the first on.
func (m *Manifests) submit() {
	var first time.Time
	for _, t := range m.created {
		if !t.IsZero() && (first.IsZero() || t.Before(first)) {
			first = t
		}
	}
	for i := range m.Jobs {
		if j := &m.Jobs[i]; j.Submit < 0 {
			j.Submit = 0
			if !m.created[i].IsZero() {
				j.Submit = int64(m.created[i].Sub(first))
			}
		}
	}
	slices.SortStableFunc(m.Jobs, func(a, b workloads.Job) int {
		return cmp.Or(cmp.Compare(a.Submit, b.Submit), cmp.Compare(a.Row, b.Row))
	})
}

// templatePath is where controllers have their pods.
var templatePath = specPath.To("template")

// decode reads an object. The error is its first mistake.
func (m *Manifests) decode(o *Object, into any) error {
	var list Errors
	o.decode(into, &m.dump.unknown, func(e *Error) { list = append(list, e) })
	if len(list) > 0 {
		return list[0]
	}
	return nil
}

func (m *Manifests) pod(o *Object) error {
	var p Pod
	if err := m.decode(o, &p); err != nil {
		return err
	}
	j, err := m.job(o, nil, &p.Metadata, &PodTemplate{Metadata: p.Metadata, Spec: p.Spec}, 1)
	if err != nil {
		return err
	}
	if j.Duration < 0 && cmp.Or(p.Spec.RestartPolicy, "Always") == "Always" {
		m.endure(&j)
	}
	return m.add(o, &p.Metadata, j)
}

func (m *Manifests) batchJob(o *Object) error {
	var c Controller
	if err := m.decode(o, &c); err != nil {
		return err
	}
	pods, completions := int32(1), int32(0)
	if c.Spec.Parallelism != nil {
		pods = *c.Spec.Parallelism
	}
	if c.Spec.Completions != nil {
		completions = *c.Spec.Completions
		pods = min(pods, completions)
	}
	if pods < 1 {
		return o.Fail(specPath.To("parallelism"), "expected pods: a job without any never does anything")
	}
	j, err := m.job(o, templatePath, &c.Metadata, &c.Spec.Template, pods)
	if err != nil {
		return err
	}
	if c.Spec.ActiveDeadline != nil {
		j.TimeLimit = *c.Spec.ActiveDeadline * int64(time.Second)
	}
	if begin, end := clockOf(c.Status.StartTime), clockOf(c.Status.CompletionTime); j.Duration < 0 && !begin.IsZero() && !end.IsZero() {
		j.Duration = max(0, int64(end.Sub(begin)))
	} else if j.Duration > 0 && completions > pods {
		j.Duration *= int64((completions + pods - 1) / pods)
	}
	if text, ok := c.Metadata.Annotations[minimum]; ok {
		n, err := strconv.ParseInt(text, 10, 32)
		if err != nil || n < 1 || int32(n) > pods {
			return o.Fail(At("metadata", "annotations", minimum), "%q: expected a number of pods from 1 to %d", text, pods)
		}
		j.PodSets[0].MinCount = int32(n)
	}
	return m.add(o, &c.Metadata, j)
}

// clockOf reads a time; the zero time where there is none.
func clockOf(text string) time.Time {
	t, _ := time.Parse(time.RFC3339, text)
	return t
}

// service makes a job of every replica. Pods that nothing spreads are spread by
// kube-scheduler's defaults: softly, over hosts and zones.
func (m *Manifests) service(o *Object) error {
	var c Controller
	if err := m.decode(o, &c); err != nil {
		return err
	}
	replicas := int32(1)
	if c.Spec.Replicas != nil {
		replicas = *c.Spec.Replicas
	}
	one, err := m.job(o, templatePath, &c.Metadata, &c.Spec.Template, 1)
	if err != nil {
		return err
	}
	if one.Duration < 0 {
		m.endure(&one)
		m.endless += int(replicas) - 1
	}
	if len(one.Spread) == 0 && c.Spec.Selector != nil {
		match, err := requirements(o, specPath.To("selector"), c.Spec.Selector)
		if err != nil {
			return err
		}
		of := &workloads.PodSelector{Match: match}
		one.Spread = []workloads.SpreadConstraint{
			{Level: "kubernetes.io/hostname", MaxSkew: 3, Soft: true, Default: true, Of: of},
			{Level: "topology.kubernetes.io/zone", MaxSkew: 5, Soft: true, Default: true, Of: of}}
	}
	for i := range replicas {
		j := one
		j.ID += "-" + strconv.Itoa(int(i))
		j.PodSets = slices.Clone(j.PodSets)
		if err := m.add(o, &c.Metadata, j); err != nil {
			return err
		}
	}
	return nil
}

// endure makes a job run for good.
func (m *Manifests) endure(j *workloads.Job) {
	j.Duration = workloads.MaxTime
	m.endless++
}

// job makes a job of so many pods of a template, which is at a path, with a negative duration
// and submission where nothing says them.
func (m *Manifests) job(o *Object, p Path, meta *Metadata, t *PodTemplate, pods int32) (j workloads.Job, err error) {
	j = workloads.NewJob(cmp.Or(meta.Name, meta.GenerateName+strconv.Itoa(len(m.Jobs)+1)), 0)
	j.Namespace = cmp.Or(meta.Namespace, "default")
	if j.Namespace != "default" {
		j.ID = j.Namespace + "/" + j.ID
	}
	j.Tenant, j.Queue = meta.Namespace, meta.Labels[queueLabel]
	if j.Duration, err = annotated(o, meta, DurationAnnotation); err == nil {
		j.Submit, err = annotated(o, meta, SubmitAnnotation)
	}
	if err != nil {
		return j, err
	}
	if startup, err := annotated(o, meta, StartupAnnotation); err != nil {
		return j, err
	} else if startup >= 0 {
		j.Startup = startup
	}
	set := workloads.PodSet{Name: workloads.WorkersPodSet, Count: pods, Node: t.Spec.NodeName}
	m.dump.ask(o, &t.Spec, &set)
	if err := place(o, p.To("spec"), &t.Spec, &set); err != nil {
		return j, err
	}
	if set.Topology, err = askedTopology(o, p.To("metadata", "annotations"), &t.Metadata); err != nil {
		return j, err
	}
	j.PodSets = []workloads.PodSet{set}
	m.setPriority(&j, meta, &t.Spec)
	return j, m.dump.friends(o, p, t, &j)
}

// annotated reads a duration from an annotation; -1 if it is not there.
func annotated(o *Object, meta *Metadata, name string) (int64, error) {
	text, ok := meta.Annotations[name]
	if !ok {
		return -1, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || int64(d) > workloads.MaxTime {
		return 0, o.Fail(At("metadata", "annotations", name), "%q: expected a duration such as 90s or 1h30m", text)
	}
	return int64(d), nil
}

// setPriority looks up how important the pods are. A WorkloadPriorityClass is for Kueue alone;
// it stands where the pods have no class of their own.
func (m *Manifests) setPriority(j *workloads.Job, meta *Metadata, spec *PodSpec) {
	names := []string{spec.PriorityClassName, meta.Labels[classLabel]}
	j.NoPreempt = spec.PreemptionPolicy == "Never"
	if spec.Priority != nil {
		j.Priority = *spec.Priority
		return
	}
	for _, name := range names {
		for i := range m.dump.PriorityClasses {
			if c := &m.dump.PriorityClasses[i].T; name != "" && c.Metadata.Name == name || names[0]+names[1] == "" && c.GlobalDefault {
				j.Priority, j.NoPreempt = c.Value, j.NoPreempt || c.PreemptionPolicy == "Never"
				return
			}
		}
	}
	if name := cmp.Or(names[0], names[1]); name != "" {
		m.warn(fmt.Sprintf("priority class %s is not there: priority 0", name))
	}
}

func (m *Manifests) warn(text string) {
	if !slices.Contains(m.Warnings, text) {
		m.Warnings = append(m.Warnings, text)
	}
}

// add takes a job in. One whose length nobody says is a mistake.
func (m *Manifests) add(o *Object, meta *Metadata, j workloads.Job) error {
	if j.Duration < 0 {
		if j.Duration = m.options.Duration; j.Duration == 0 {
			return o.Fail(nil, "nothing says how long it runs: expected the annotation %s, or a duration for all", DurationAnnotation)
		}
	}
	j.Row = int64(len(m.Jobs)) + 1
	m.Jobs = append(m.Jobs, j)
	m.created = append(m.created, clockOf(meta.CreationTimestamp))
	return nil
}

// budget reads a PodDisruptionBudget.
func (m *Manifests) budget(o *Object) error {
	var b Budget
	if err := m.decode(o, &b); err != nil {
		return err
	}
	out := workloads.Budget{Name: b.Metadata.Name, Namespace: cmp.Or(b.Metadata.Namespace, "default")}
	text := b.Spec.MinAvailable
	if b.Spec.MaxUnavailable != "" {
		text, out.UseMax = b.Spec.MaxUnavailable, true
	}
	number, percent := strings.CutSuffix(text, "%")
	n, err := strconv.ParseInt(number, 10, 32)
	if err != nil || n < 0 || percent && n > 100 || b.Spec.MinAvailable != "" && b.Spec.MaxUnavailable != "" {
		return o.Fail(specPath, "expected one of minAvailable and maxUnavailable, a number of pods or a percentage")
	}
	out.N, out.Percent = int32(n), percent
	if b.Spec.Selector != nil {
		if out.Of.Match, err = requirements(o, specPath.To("selector"), b.Spec.Selector); err != nil {
			return err
		}
	}
	m.Budgets = append(m.Budgets, out)
	return nil
}

// askedTopology reads the topology request that Kueue takes from a template's annotations.
func askedTopology(o *Object, p Path, meta *Metadata) (t workloads.TopologyRequest, err error) {
	a := meta.Annotations
	switch {
	case a[required] != "":
		t.Mode, t.Level = workloads.TopologyRequired, a[required]
	case a[preferred] != "":
		t.Mode, t.Level = workloads.TopologyPreferred, a[preferred]
	case a[unconstrained] == "true":
		t.Mode = workloads.TopologyUnconstrained
	case a[sliceLevel] != "":
		t.Mode = workloads.TopologySliceOnly
	}
	if a[sliceLevel] != "" {
		n, bad := strconv.ParseInt(a[sliceSize], 10, 32)
		if bad != nil || n < 1 {
			return t, o.Fail(p.To(sliceSize), "%q: expected a number of pods", a[sliceSize])
		}
		t.Slices[0] = workloads.Slice{Level: a[sliceLevel], Size: int32(n)}
	}
	return t, nil
}
