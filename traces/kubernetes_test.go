package traces

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/workloads"
)

const aPod = `apiVersion: v1
kind: Pod
metadata: {name: p, annotations: {gangplan.io/duration: 10m}}
spec: {restartPolicy: Never, containers: [{name: c, resources: {limits: {nvidia.com/gpu: 1}}}]}
`

// Objects are recognised in YAML and JSON, also in one long line, and what is not modelled is
// said once.
func TestKubernetesObjects(t *testing.T) {
	long := `{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","annotations":{"gangplan.io/duration":"10m","x":"` +
		strings.Repeat("x", 2*maxLine) + `"}},"spec":{"containers":[]}},{"apiVersion":"v1","kind":"Event","metadata":{"name":"e"}}]}`
	for name, text := range map[string]string{"yaml": aPod, "json": long, "comments first": "# my pods\n---\n" + aPod} {
		tr, err := Read(strings.NewReader(text), "t", "auto", Options{})
		if err != nil || tr.Format != "kubernetes" || len(tr.Jobs) != 1 || tr.Jobs[0].Duration != 600e9 {
			t.Errorf("%s: %+v, %v", name, tr, err)
			continue
		}
		if name == "json" && !slices.Contains(tr.Warnings, "objects that make no pods were left out: 1 Event") {
			t.Error(tr.Warnings)
		}
	}
}

func TestKubernetesMistakes(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{strings.Replace(aPod, "10m", "long", 1), `t:3:57: Pod/p metadata.annotations[gangplan.io/duration]: "long": expected a duration`},
		{strings.Replace(aPod, "kind: Pod", "kind: Service", 1), "no jobs in the trace"},
		{aPod + " x: [", "not YAML or JSON"},
	} {
		if _, err := Read(strings.NewReader(c.text), "t", "kubernetes", Options{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

// Manifests without times get the duration that is said for all, and budgets come along.
func TestKubernetesOptions(t *testing.T) {
	text := strings.Replace(aPod, ", annotations: {gangplan.io/duration: 10m}", "", 1) + `---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: b}
spec: {minAvailable: 1, selector: {matchLabels: {app: x}}}
`
	tr, err := Read(strings.NewReader(text), "t", "", Options{Duration: 7e9})
	if err != nil || tr.Jobs[0].Duration != 7e9 || len(tr.Budgets) != 1 || tr.Budgets[0].N != 1 {
		t.Errorf("%+v, %v", tr, err)
	}
	if tr.Jobs[0].Duration == workloads.MaxTime {
		t.Error("a pod that is not restarted runs for good")
	}
}

// Workloads are a trace by themselves: levels are labels, which a cluster knows, and what pods
// do not ask for they do not need.
func TestWorkloadsAsTrace(t *testing.T) {
	file, err := os.Open("../testdata/cluster/workloads.json")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	tr, err := Read(file, "workloads.json", "", Options{})
	if err != nil || tr.Format != "kubernetes" || len(tr.Jobs) != 3 {
		t.Fatalf("%+v, %v", tr, err)
	}
	train, sweep, homework := &tr.Jobs[0], &tr.Jobs[1], &tr.Jobs[2]
	if ask := train.PodSets[0].Topology; ask.Level != "cloud.example.com/rack" || train.Queue != "vision/main" || train.Duration != 3600e9 {
		t.Errorf("%+v", train)
	}
	if sweep.Priority != 1000 || sweep.PodSets[0].MinCount != 2 || sweep.Submit != 600e9 {
		t.Errorf("%+v", sweep)
	}
	if set := homework.PodSets[0]; set.Request[topology.CPU] != 0 || !set.None[topology.CPU] || !set.None[topology.Memory] || set.None[topology.GPU] {
		t.Errorf("%+v", homework)
	}
	if len(tr.Warnings) != 2 {
		t.Errorf("%q", tr.Warnings)
	}
}

// Of several mistakes a trace has the first.
func TestWorkloadMistakes(t *testing.T) {
	const text = "apiVersion: kueue.x-k8s.io/v1beta1\nkind: Workload\nmetadata: {name: w, namespace: n}\nspec: {podSets: [{count: two}]}\n"
	_, err := Read(strings.NewReader(text), "w.yaml", "", Options{})
	if e, ok := err.(*Error); !ok || e.Line != 3 || !strings.Contains(err.Error(), "w.yaml:3:11: Workload/n/w metadata.creationTimestamp: missing") {
		t.Errorf("%v", err)
	}
}
