package traces

import (
	"slices"
	"strings"
	"testing"

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
