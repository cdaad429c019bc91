package verify

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gangplan/gangplan/internal/scenario"
)

// sameAsText wants that a file written as text reads back to the same text, and resolves.
func sameAsText(t *testing.T, id string, file *scenario.File) string {
	t.Helper()
	text, err := file.Text()
	if err != nil {
		t.Fatal(id, err)
	}
	again, err := scenario.Parse(id, text)
	if err != nil {
		t.Errorf("%s: %v", id, err)
		return ""
	}
	other, err := again.Text()
	if err != nil || string(other) != string(text) {
		t.Errorf("%s: %v; reads back as\n%s\nand is\n%s", id, err, other, text)
	}
	if _, err := again.Resolve(""); err != nil {
		t.Errorf("%s: %v", id, err)
	}
	return string(text)
}

// timelineText converts a scenario that has, beside two nodes, what is given.
func timelineText(t *testing.T, id, rest string) (string, error) {
	t.Helper()
	s, err := readTimeline(json.RawMessage(`{"nodes":[{"name":"n0","gpu":8,"labels":{"zone":"z0","block":"b0","rack":"r0"}},
		{"name":"n1","gpu":8,"labels":{"zone":"z0","block":"b0","rack":"r1"}}],"observe_s":30,` + rest + `}`))
	if err != nil {
		return "", err
	}
	s.ID = id
	file, err := s.convert(conditions{offset: 250})
	if err != nil {
		return "", err
	}
	return sameAsText(t, id, file), nil
}

const (
	oneJob   = `"jobs":[{"name":"a","pods":4,"gpus_per_pod":1,"submit_s":1,"duration_s":4,"queue":"q"}]`
	oneQueue = `"kueue":{"config":{},"flavors":[{"name":"f"}],"queues":[{"name":"q","quota":{"f":{"gpu":8}}}]}`
)

// What a recorded scenario says, and what stands of it in the file.
func TestTimelineWords(t *testing.T) {
	job := func(fields string) string { return strings.Replace(oneJob, `"pods":4`, `"pods":4,`+fields, 1) }
	queue := func(fields string) string {
		return oneJob + `,` + strings.Replace(oneQueue, `"name":"q"`, `"name":"q",`+fields, 1)
	}
	config := func(fields string) string {
		return oneJob + `,` + strings.Replace(oneQueue, `"config":{}`, `"config":{`+fields+`}`, 1)
	}
	for _, tt := range []struct{ name, given, want string }{
		{"no Kueue", oneJob, "- {name: per-pod, ties: random}"},
		{"Kueue", queue(`"strategy":"StrictFIFO"`), "- {name: q, strategy: StrictFIFO, quota: {gpu: 8}}"},
		{"its version", queue(`"cohort":"co"`), "kueue: v0.17.0"},
		{"the phase", oneJob, "secondOffset: 250ms"},
		{"the bug", oneJob, "frozenStatus: true"},
		{"the kubelet", oneJob, "startup: 1s, termination: 500ms"},
		{"another kubelet", job(`"start_delay_s":6,"term_s":2.5`), "startup: 6s, termination: 2s500ms"},
		{"for good", strings.Replace(oneJob, `"duration_s":4`, `"duration_s":0`, 1), "duration: 30d"},
		{"partial admission", job(`"min_pods":2`), "minPods: 2"},
		{"whose rest runs later", job(`"min_pods":2`), "completions: 4"},
		{"priority", job(`"priority":100`), "priority: 100"},
		{"of pods", job(`"pod_priority":7`), "priority: 7"},
		{"a node", job(`"nodeSelector":{"kubernetes.io/hostname":"n1"}`), "node: n1"},
		{"a label", job(`"nodeSelector":{"pool":"gpu"}`), "nodeSelector: {pool: gpu}"},
		{"CPU", job(`"cpu":8,"mem_gi":64`), "cpuPerPod: 8, memoryPerPod: 64Gi"},
		{"toleration", job(`"tolerate_s":2`), "tolerationSeconds: 2"},
		{"packer", job(`"schedulerName":"packer"`), `fit: MostAllocated`},
		{"required", job(`"topology":{"kueue.x-k8s.io/podset-required-topology":"kubernetes.io/hostname"}`), "topology: {required: host}"},
		{"slices", job(`"topology":{"kueue.x-k8s.io/podset-slice-required-topology":"rack","kueue.x-k8s.io/podset-slice-size":"2"}`),
			"topology: {sliceOnly: true, slices: [{level: rack, size: 2}]}"},
		{"affinity", job(`"affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"labelSelector":{"matchLabels":{"app":"a"}},"topologyKey":"rack"}]}}`),
			"podAffinity: [{level: rack, labelSelector: {matchLabels: {app: a}}}]"},
		{"anti-affinity", job(`"affinity":{"podAntiAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":5,"podAffinityTerm":{"topologyKey":"rack"}}]}}`),
			"podAntiAffinity: [{level: rack, weight: 5, labelSelector: {}}]"},
		{"borrowing", queue(`"cohort":"co","borrowingLimit":2`), "borrowingLimit: {gpu: 2}"},
		{"lending", queue(`"cohort":"co","lendingLimit":{"gpu":3}`), "lendingLimit: {gpu: 3}"},
		{"limits within", strings.Replace(queue(`"cohort":"co"`), `"gpu":8`, `"gpu":{"nominal":8,"borrowingLimit":1}`, 1), "borrowingLimit: {gpu: 1}"},
		{"weight", queue(`"cohort":"co","fairSharing":{"weight":2}`), "fairWeight: 2"},
		{"borrowing while preempting", queue(`"cohort":"co","preemption":{"reclaimWithinCohort":"Any","borrowWithinCohort":{"policy":"LowerPriority","maxPriorityThreshold":3}}`),
			"borrowWithinCohort: {policy: LowerPriority, maxPriorityThreshold: 3}"},
		{"a cohort of cohorts", oneJob + `,` + strings.Replace(oneQueue, `"queues"`, `"cohorts":[{"name":"co","parent":"root","quota":{"f":{"gpu":4}}}],"queues"`, 1), "parent: root"},
		{"readiness", config(`"waitForPodsReady":{"timeout":"6s","recoveryTimeout":"4s","blockAdmission":true,"requeuingStrategy":{"timestamp":"Creation","backoffBaseSeconds":2}}`),
			"timeout: 6s\n  recoveryTimeout: 4s\n  blockAdmission: true"},
		{"no readiness", config(`"waitForPodsReady":{"enable":false,"timeout":"6s"}`), "kueue: v0.17.0\ntiming"},
		{"fair sharing", config(`"fairSharing":{"preemptionStrategies":["LessThanInitialShare"]}`), "fairSharing: on, fairStrategies: LessThanInitialShare"},
		{"both", config(`"fairSharing":{"enable":true,"preemptionStrategies":["LessThanOrEqualToFinalShare","LessThanInitialShare"]}`), "fairStrategies: both"},
		{"gates", config(`"featureGates":{"PartialAdmission":false}`), "gates: PartialAdmission=false"},
	} {
		text, err := timelineText(t, "z1", tt.given)
		if err != nil || !strings.Contains(strings.ReplaceAll(text, `"on"`, "on"), tt.want) {
			t.Errorf("%s: %v, want %q in\n%s", tt.name, err, tt.want, text)
		}
	}
}

// The ending of a scenario's name says which control plane it was.
func TestTimelineVariants(t *testing.T) {
	fixed, err := timelineText(t, "z1_fixedkcm", oneJob)
	if err != nil || strings.Contains(fixed, "frozenStatus") || strings.Contains(fixed, "clients") {
		t.Errorf("%v:\n%s", err, fixed)
	}
	slow, err := timelineText(t, "z1_defqps", oneJob)
	if err != nil || !strings.Contains(slow, "qps: 50\n      burst: 100") || !strings.Contains(slow, "frozenStatus: true") {
		t.Errorf("%v:\n%s", err, slow)
	}
}

func TestTimelineActions(t *testing.T) {
	for given, want := range map[string]string{
		`"do":"add_node","spec":{"name":"n7","gpu":1,"labels":{"zone":"z0","block":"b0","rack":"r0"}}`: "{at: 5s, do: add, node: n7}",
		`"do":"delete_node","node":"n0"`:             "{at: 5s, do: delete, node: n0}",
		`"do":"delete_node_of","job":"a","index":2`:  "{at: 5s, do: delete, job: a, pod: 2}",
		`"do":"node_down_of","job":"a","index":0`:    "{at: 5s, do: unreachable, job: a, pod: 0}",
		`"do":"node_up","node":"n0"`:                 "{at: 5s, do: up, node: n0}",
		`"do":"cordon","node":"n0"`:                  "{at: 5s, do: cordon, node: n0}",
		`"do":"cordon","node":"n0","value":false`:    "{at: 5s, do: uncordon, node: n0}",
		`"do":"uncordon_node","node":"n0"`:           "{at: 5s, do: uncordon, node: n0}",
		`"do":"delete_pod_on","job":"a","node":"n0"`: "{at: 5s, do: deletePod, node: n0, job: a}",
		`"do":"delete_pod","job":"a","index":1`:      "{at: 5s, do: deletePod, job: a, pod: 1}",
		`"do":"fail_pod_of","job":"a","index":1`:     "{at: 5s, do: failPod, job: a, pod: 1}",
		`"do":"delete_job","job":"a"`:                "{at: 5s, do: deleteJob, job: a}",
		`"do":"deactivate_workload","job":"a"`:       "{at: 5s, do: deactivate, job: a}",
		`"do":"reactivate","job":"a"`:                "{at: 5s, do: activate, job: a}",
		`"do":"set_active","job":"a","value":false`:  "{at: 5s, do: deactivate, job: a}",
		`"do":"set_active","job":"a","value":true`:   "{at: 5s, do: activate, job: a}",
	} {
		text, err := timelineText(t, "z1", oneJob+`,"actions":[{"at_s":5,`+given+`}]`)
		if err != nil || !strings.Contains(text, want) {
			t.Errorf("%s: %v, want %q in\n%s", given, err, want, text)
		}
	}
}

// What is not understood is named, never left out.
func TestStrangeTimelines(t *testing.T) {
	for _, tt := range []struct{ given, want string }{
		{oneJob + `,"weather":1`, `unknown field "weather"`},
		{strings.Replace(oneJob, `"pods"`, `"colour":"red","pods"`, 1), `unknown field "colour"`},
		{strings.Replace(oneJob, `"pods"`, `"schedulerName":"other","pods"`, 1), `the scheduler "other"`},
		{strings.Replace(oneJob, `"pods"`, `"topology":{"some.io/annotation":"x"},"pods"`, 1), "the annotation some.io/annotation"},
		{strings.Replace(oneJob, `"pods"`, `"topology":{"kueue.x-k8s.io/podset-slice-size":"many"},"pods"`, 1), "the slice size many"},
		{strings.Replace(oneJob, `"pods"`, `"priority":1,"pod_priority":2,"pods"`, 1), "job a: a priority of the Workload and another of its pods"},
		{strings.Replace(oneJob, `"pods"`, `"podReplacementPolicy":"Never","pods"`, 1), `the podReplacementPolicy "Never"`},
		{oneJob + `,"actions":[{"at_s":1,"do":"paint"}]`, `the action "paint"`},
		{oneJob + `,"actions":[{"at_s":1,"do":"delete_job","job":"a","value":false}]`, `the action "delete_job" with value false`},
		{oneJob + `,` + strings.Replace(oneQueue, `"config":{}`, `"config":{"multiKueue":{}}`, 1), `unknown field "multiKueue"`},
		{oneJob + `,` + strings.Replace(oneQueue, `"config":{}`, `"config":{"waitForPodsReady":{"timeout":"soon"}}`, 1), `the time "soon"`},
		{oneJob + `,` + strings.Replace(oneQueue, `{"gpu":8}`, `{"gpu":{"most":8}}`, 1), `unknown field "most"`},
		{oneJob + `,` + strings.Replace(oneQueue, `"quota":{"f":{"gpu":8}}`, `"quota":{}`, 1), "queue q: quota of 0 flavors, of which there are 1"},
		{oneJob + `,` + strings.Replace(oneQueue, `{"name":"f"}`, `{"name":"f"},{"name":"g"}`, 1), "queue q: quota of 1 flavor, of which there are 2"},
		{oneJob + `,` + strings.Replace(oneQueue, `{"name":"f"}`, `{"name":"f","topologyName":"t"}`, 1), "0 topologies: one is expected"},
	} {
		if _, err := timelineText(t, "z1", tt.given); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", tt.given, err, tt.want)
		}
	}
}

// Jobs of one moment are created one after another, unless they were said to be concurrent;
// those of a repetition when it had them. Nothing is queued before Kueue stands.
func TestTimelineSubmissions(t *testing.T) {
	three := `{"name":"a","pods":1,"duration_s":1,"submit_s":0},{"name":"b","pods":1,"duration_s":1,"submit_s":0},{"name":"c","pods":1,"duration_s":1,"submit_s":3}`
	for _, tt := range []struct {
		name, rest string
		recorded   map[string]float64
		want       string
	}{
		{"one after another", ``, nil, "0s 5ms 3s"},
		{"concurrent", `,"concurrent_submit":true`, nil, "0s 0s 3s"},
		{"recorded", ``, map[string]float64{"a": 0.002, "b": 0.033, "c": 3.007}, "2ms 33ms 3s7ms"},
		{"queued", `,` + oneQueue, nil, "110ms 115ms 3s"},
		{"recorded and queued", `,` + oneQueue, map[string]float64{"a": 0.002, "b": 0.033, "c": 3.007}, "110ms 115ms 3s7ms"},
	} {
		s, err := readTimeline(json.RawMessage(`{"nodes":[],"jobs":[` + three + `]` + tt.rest + `}`))
		if err != nil {
			t.Fatal(tt.name, err)
		}
		file, err := s.convert(conditions{submit: tt.recorded})
		if err != nil {
			t.Fatal(tt.name, err)
		}
		var got []string
		for i := range file.Workload.Jobs {
			got = append(got, file.Workload.Jobs[i].Submit.String())
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}
