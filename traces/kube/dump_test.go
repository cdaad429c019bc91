package kube

import (
	"fmt"
	"strings"
	"testing"
)

func dumpOf(t *testing.T, files ...string) *Dump {
	t.Helper()
	d := &Dump{}
	for i, text := range files {
		if err := d.Add(fmt.Sprintf("%d.yaml", i), strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

const aWorkload = `apiVersion: kueue.x-k8s.io/v1beta2
kind: Workload
metadata:
  name: w
  namespace: ns
  creationTimestamp: "2025-06-01T12:00:00Z"
spec:
  queueName: q
  priorityClassRef: {group: kueue.x-k8s.io, kind: WorkloadPriorityClass, name: urgent}
  podSets:
  - count: 2
    topologyRequest:
      preferred: example.com/rack
`

// A Workload is a job once it is read. What is wrong with it beside others is still said at its
// place, though what it was made of is gone.
func TestPlacesOfWorkloads(t *testing.T) {
	d := dumpOf(t, aWorkload)
	if w := &d.Workloads[0]; w.node != nil || w.T.Spec.PodSets != nil {
		t.Error("it is kept whole")
	}
	_, _, err := d.Jobs(map[string]string{})
	const want = `0.yaml:9:80: Workload/ns/w spec.priorityClassRef.name: "urgent": expected priority beside it, or the class among the objects
0.yaml:13:18: Workload/ns/w spec.podSets[0].topologyRequest.preferred: "example.com/rack": no Topology has a level of this label`
	if err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
	if at := d.Workloads[0].Fail(At("spec", "queueName"), "wrong"); at.Line != 8 || at.Column != 14 {
		t.Errorf("%v", at)
	}
	if at := d.Workloads[0].Fail(At("spec", "active"), "wrong"); at.Line != 1 || at.Column != 1 {
		t.Errorf("the place of what is not kept is where the object begins, got %v", at)
	}
}

// The order of fields, the notation and a later dump make no other object.
func TestCopies(t *testing.T) {
	const node = "apiVersion: v1\nkind: Node\nmetadata: {name: n, resourceVersion: %q, labels: {a: b, c: d}}\nspec: {podCIDR: 10.0.0.0/24}\n" +
		"status: {allocatable: {cpu: 8}, images: [{names: [a]}], conditions: [{type: Ready, status: %q, lastHeartbeatTime: %q, message: x}]}\n"
	first := fmt.Sprintf(node, "1", "True", "2025-06-01T12:00:00Z")
	later := fmt.Sprintf(node, "2", "True", "2025-06-01T12:05:00Z")
	same := `{"status": {"conditions": [{"status": "True", "type": "Ready"}], "allocatable": {"cpu": "8"}}, "spec": {"podCIDR": "10.0.0.0/24"},
		"metadata": {"labels": {"c": "d", "a": "b"}, "annotations": null, "name": "n"}, "kind": "Node", "apiVersion": "v1"}`
	d := dumpOf(t, first, later, same)
	if len(d.Nodes) != 1 || len(d.Copies) != 2 || d.Copies[1].File != "2.yaml" {
		t.Errorf("%d nodes, %d copies", len(d.Nodes), len(d.Copies))
	}
	err := d.Add("3.yaml", strings.NewReader(fmt.Sprintf(node, "3", "False", "2025-06-01T12:06:00Z")))
	if want := "3.yaml:3:18: Node/n metadata.name: given a second time, with other status.conditions.Ready.status: the first is at 0.yaml:1:1"; err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
}

// Objects that make pods are compared too; those of which the API server makes up the name are not.
func TestCopiesOfManifests(t *testing.T) {
	if err := (&Dump{}).Add("m", strings.NewReader(aTask+"---"+strings.Replace(aTask, "parallelism: 2", "parallelism: 3", 1))); err == nil || !strings.Contains(err.Error(), "with other spec.parallelism: the first is at m:2:1") {
		t.Errorf("%v", err)
	}
	m, _ := mustMake(t, aTask+"---"+aTask+"---"+strings.Replace(aTask, "name: a", "generateName: a-", 1)+"---"+strings.Replace(aTask, "name: a", "generateName: a-", 1), ManifestOptions{})
	if len(m.Jobs) != 3 || m.Jobs[1].ID != "ml/a-2" || m.Jobs[2].ID != "ml/a-3" {
		t.Errorf("%+v", m.Jobs)
	}
}

// A text in a text is where it is in the file, in a block; else the text is.
func TestPlacesInConfigMaps(t *testing.T) {
	const config = "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n\nwaitForPodsReady:\n    timeout: never\n"
	head := "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\ndata:\n  controller_manager_config.yaml: "
	indented := "\n" + strings.ReplaceAll("\n"+config, "\n", "\n      ")[1:] + "\n"
	for _, c := range []struct{ text, want string }{
		{head + "|" + indented, "c:11:20: "}, {head + "|-" + indented, "c:11:20: "},
		{head + ">" + strings.ReplaceAll(indented, "\n", "\n\n"), "c:6:35: "},
		{head + fmt.Sprintf("%q", config), "c:6:35: "},
		{fmt.Sprintf(`{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"controller_manager_config.yaml": %q}}`, config), "c:1:113: "},
	} {
		err := (&Dump{}).Add("c", strings.NewReader(c.text))
		if err == nil || !strings.HasPrefix(err.Error(), c.want+`Configuration waitForPodsReady.timeout: "never"`) {
			t.Errorf("%v, want it at %s, of\n%s", err, c.want, c.text)
		}
	}
}
