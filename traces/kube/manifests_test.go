package kube

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/workloads"
)

func manifests(t *testing.T, text string, o ManifestOptions) (*Manifests, *Dump, error) {
	t.Helper()
	d := &Dump{}
	if err := d.Add("m.yaml", strings.NewReader(text)); err != nil {
		return nil, d, err
	}
	m, err := d.Manifests(o)
	return m, d, err
}

func mustMake(t *testing.T, text string, o ManifestOptions) (*Manifests, *Dump) {
	t.Helper()
	m, d, err := manifests(t, text, o)
	if err != nil {
		t.Fatal(err)
	}
	return m, d
}

const (
	hour  = int64(time.Hour)
	aTask = `
apiVersion: batch/v1
kind: Job
metadata: {name: a, namespace: ml, annotations: {gangplan.io/duration: 1h30m}}
spec: {parallelism: 2, template: {spec: {containers: [{name: c, resources: {limits: {nvidia.com/gpu: 1}}}]}}}
`
)

func TestJobManifest(t *testing.T) {
	m, _ := mustMake(t, `
apiVersion: batch/v1
kind: Job
metadata:
  name: train
  namespace: ml
  labels: {kueue.x-k8s.io/queue-name: research}
  annotations: {gangplan.io/duration: 1h, gangplan.io/submit: 10m, gangplan.io/startup: 5s, kueue.x-k8s.io/job-min-parallelism: "2"}
spec:
  parallelism: 4
  completions: 8
  activeDeadlineSeconds: 7200
  template:
    metadata:
      labels: {app: train}
      annotations: {kueue.x-k8s.io/podset-required-topology: rack, kueue.x-k8s.io/podset-slice-required-topology: host, kueue.x-k8s.io/podset-slice-size: "2"}
    spec:
      priorityClassName: high
      nodeSelector: {pool: a}
      tolerations: [{key: gpu, operator: Exists}]
      initContainers: [{name: i, resources: {requests: {cpu: "20"}}}, {name: s, restartPolicy: Always, resources: {requests: {cpu: "1"}}}]
      containers:
      - {name: c, resources: {requests: {cpu: "8", memory: 64Gi}, limits: {nvidia.com/gpu: 8, memory: 64Gi}}}
      - {name: d, resources: {requests: {cpu: 500m}}}
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: high}
value: 1000
preemptionPolicy: Never
`, ManifestOptions{})
	set := workloads.PodSet{Name: "workers", Count: 4, MinCount: 2, Request: topology.Resources{8000, 20000, 64 << 30, 1},
		Topology:     workloads.TopologyRequest{Mode: workloads.TopologyRequired, Level: "rack", Slices: [3]workloads.Slice{{Level: "host", Size: 2}}},
		NodeSelector: []topology.Requirement{{Key: "pool", Operator: topology.In, Values: []string{"a"}}},
		Tolerations:  []topology.Toleration{{Key: "gpu", Exists: true}}}
	// Eight completions by four pods are two rounds.
	want := workloads.Job{ID: "ml/train", Row: 1, Submit: hour / 6, Duration: 2 * hour, Queue: "research", Tenant: "ml", Namespace: "ml",
		Labels: map[string]string{"app": "train"}, Priority: 1000, NoPreempt: true, TimeLimit: 2 * hour, Startup: 5e9, PodSets: []workloads.PodSet{set}}
	if diff := cmp.Diff([]workloads.Job{want}, m.Jobs); diff != "" {
		t.Error(diff)
	}
}

func TestAffinityOfManifests(t *testing.T) {
	m, _ := mustMake(t, `
apiVersion: v1
kind: Pod
metadata: {name: p, labels: {app: a}}
spec:
  restartPolicy: Never
  nodeName: n1
  preemptionPolicy: Never
  containers: [{name: c}]
  affinity:
    nodeAffinity:
      preferredDuringSchedulingIgnoredDuringExecution: [{weight: 5, preference: {matchExpressions: [{key: disk, operator: Exists}]}}]
    podAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
      - {topologyKey: zone, labelSelector: {matchExpressions: [{key: app, operator: NotIn, values: [b]}]}, namespaceSelector: {}}
    podAntiAffinity:
      preferredDuringSchedulingIgnoredDuringExecution:
      - {weight: 7, podAffinityTerm: {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {x: "1", app: a}}, namespaces: [q]}}
      requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: rack}]
  topologySpreadConstraints:
  - {topologyKey: zone, maxSkew: 2, whenUnsatisfiable: ScheduleAnyway, labelSelector: {matchLabels: {app: a}}, nodeTaintsPolicy: Honor}
  - {topologyKey: rack, maxSkew: 1, whenUnsatisfiable: DoNotSchedule, minDomains: 3, nodeAffinityPolicy: Ignore, labelSelector: {}}
`, ManifestOptions{Duration: hour})
	is := func(key, value string) topology.Requirement {
		return topology.Requirement{Key: key, Operator: topology.In, Values: []string{value}}
	}
	j := m.Jobs[0]
	want := workloads.Job{
		Affinity: []workloads.PodTerm{{Level: "zone", Of: &workloads.PodSelector{Namespaces: []string{"*"},
			Match: []topology.Requirement{{Key: "app", Operator: topology.NotIn, Values: []string{"b"}}}}}},
		AntiAffinity: []workloads.PodTerm{{Level: "rack", Of: &workloads.PodSelector{None: true}},
			{Level: "kubernetes.io/hostname", Weight: 7, Of: &workloads.PodSelector{Namespaces: []string{"q"}, Match: []topology.Requirement{is("app", "a"), is("x", "1")}}}},
		Spread: []workloads.SpreadConstraint{{Level: "zone", MaxSkew: 2, Soft: true, Taints: true, Of: &workloads.PodSelector{Match: []topology.Requirement{is("app", "a")}}},
			{Level: "rack", MaxSkew: 1, MinDomains: 3, AllNodes: true, Of: &workloads.PodSelector{}}}}
	got := workloads.Job{Affinity: j.Affinity, AntiAffinity: j.AntiAffinity, Spread: j.Spread}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if j.ID != "p" || j.Namespace != "default" || j.PodSets[0].Node != "n1" || !j.NoPreempt || j.Duration != hour || len(j.PodSets[0].NodeAffinity.Preferred) != 1 {
		t.Errorf("%+v", j)
	}
}

// Replicas are jobs of their own, softly spread over hosts and zones unless they say how.
func TestServices(t *testing.T) {
	m, d := mustMake(t, `
apiVersion: v1
kind: List
items:
- apiVersion: apps/v1
  kind: Deployment
  metadata: {name: web}
  spec: {replicas: 2, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, lifecycle: {}, gpus: 3}]}}}
- apiVersion: apps/v1
  kind: StatefulSet
  metadata: {name: db, annotations: {gangplan.io/duration: 5m}}
  spec: {selector: {matchLabels: {app: db}}, template: {spec: {topologySpreadConstraints: [{topologyKey: rack, maxSkew: 1}], containers: [{name: c}]}}}
- {apiVersion: v1, kind: Service, metadata: {name: web}}
- apiVersion: policy/v1
  kind: PodDisruptionBudget
  metadata: {name: web}
  spec: {maxUnavailable: 50%, selector: {matchLabels: {app: web}}}
`, ManifestOptions{})
	var told []string
	for _, j := range m.Jobs {
		told = append(told, j.ID+" "+time.Duration(j.Duration).String())
	}
	endless := time.Duration(workloads.MaxTime).String()
	if want := []string{"web-0 " + endless, "web-1 " + endless, "db-0 5m0s"}; !slices.Equal(told, want) {
		t.Errorf("%v, want %v", told, want)
	}
	web, db := m.Jobs[0].Spread, m.Jobs[2].Spread
	if len(web) != 2 || web[0].Level != "kubernetes.io/hostname" || web[0].MaxSkew != 3 || !web[0].Soft || !web[1].Default || web[1].MaxSkew != 5 || len(db) != 1 || db[0].Default {
		t.Errorf("%+v and %+v", web, db)
	}
	of := workloads.PodSelector{Match: []topology.Requirement{{Key: "app", Operator: topology.In, Values: []string{"web"}}}}
	if diff := cmp.Diff([]workloads.Budget{{Name: "web", Namespace: "default", Of: of, N: 50, Percent: true, UseMax: true}}, m.Budgets); diff != "" {
		t.Error(diff)
	}
	if want := []Kind{{"Service", 1}}; !slices.Equal(d.Ignored, want) || !slices.Equal(d.NotModelled(), []string{"Deployment.spec.template.spec.containers.gpus"}) {
		t.Errorf("ignored %v, not modelled %v", d.Ignored, d.NotModelled())
	}
	if !slices.Contains(m.Warnings, "2 pods of services run for good") {
		t.Error(m.Warnings)
	}
}

func TestSubmissions(t *testing.T) {
	at := func(name, created string) string {
		return strings.Replace(strings.Replace(aTask, "name: a,", "name: "+name+", creationTimestamp: \""+created+"\",", 1), "namespace: ml, ", "", 1)
	}
	m, _ := mustMake(t, at("late", "2026-01-01T10:00:00Z")+"---"+at("first", "2026-01-01T09:00:00Z")+"---"+aTask, ManifestOptions{})
	var told []string
	for _, j := range m.Jobs {
		told = append(told, j.ID+" "+time.Duration(j.Submit).String())
	}
	if want := []string{"first 0s", "ml/a 0s", "late 1h0m0s"}; !slices.Equal(told, want) {
		t.Errorf("%v, want %v", told, want)
	}
}

// What happened is believed before a default: a finished Job took so long.
func TestFinishedJob(t *testing.T) {
	m, _ := mustMake(t, strings.Replace(aTask, ", annotations: {gangplan.io/duration: 1h30m}", "", 1)+
		"status: {startTime: \"2026-01-01T10:00:00Z\", completionTime: \"2026-01-01T10:20:00Z\"}\n", ManifestOptions{Duration: hour})
	if got := m.Jobs[0].Duration; got != hour/3 {
		t.Errorf("%v", time.Duration(got))
	}
}

func TestManifestMistakes(t *testing.T) {
	swap := func(old, new string) string { return strings.Replace(aTask, old, new, 1) }
	for _, c := range []struct{ name, text, want string }{
		{"no duration", swap("{gangplan.io/duration: 1h30m}", "{}"), "m.yaml:2:1: Job/ml/a: nothing says how long it runs"},
		{"bad duration", swap("1h30m", "soon"), `"soon": expected a duration such as 90s`},
		{"no pods", swap("parallelism: 2", "parallelism: 0"), "spec.parallelism: expected pods"},
		{"a text for a number", swap("parallelism: 2", "parallelism: two"), "m.yaml:5:21: Job/ml/a spec.parallelism: expected a whole number, got \"two\""},
		{"bad quantity", swap("nvidia.com/gpu: 1", "nvidia.com/gpu: one"), `"one": expected a quantity`},
		{"minimum above all", swap("1h30m}", "1h30m, kueue.x-k8s.io/job-min-parallelism: \"3\"}"), "expected a number of pods from 1 to 2"},
		{"namespaces by label", swap("{containers", "{affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: z, namespaceSelector: {matchLabels: {a: b}}}]}}, containers"),
			"labels of namespaces are not known"},
		{"no topology key", swap("{containers", "{affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{labelSelector: {}}]}}, containers"), "requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: missing"},
		{"weight", swap("{containers", "{affinity: {podAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 0, podAffinityTerm: {topologyKey: z}}]}}, containers"), "[0].weight: 0: expected 1 to 100"},
		{"skew", swap("{containers", "{topologySpreadConstraints: [{topologyKey: z}], containers"), "maxSkew: missing"},
		{"operator", swap("{containers", "{topologySpreadConstraints: [{topologyKey: z, maxSkew: 1, labelSelector: {matchExpressions: [{key: a, operator: in}]}}], containers"), `operator: "in": expected In, NotIn, Exists or DoesNotExist (did you mean In?)`},
		{"budget", "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: b}\nspec: {minAvailable: 1, maxUnavailable: 1}\n", "expected one of minAvailable and maxUnavailable"},
		{"no object", "a: b\n", "m.yaml:1:1: expected a Kubernetes object"},
	} {
		if _, _, err := manifests(t, c.text, ManifestOptions{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

func FuzzManifests(f *testing.F) {
	f.Add(aTask)
	f.Add(`{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{"resources":{"requests":{"cpu":"1"}}}]}}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		d := &Dump{}
		if d.Add("m", strings.NewReader(text)) != nil {
			return
		}
		m, err := d.Manifests(ManifestOptions{Duration: hour})
		if err != nil {
			return
		}
		for i := range m.Jobs {
			if j := &m.Jobs[i]; j.Duration < 0 || j.Submit < 0 || len(j.PodSets) != 1 {
				t.Errorf("%+v", j)
			}
		}
	})
}
