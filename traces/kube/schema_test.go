package kube

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
)

// Every field that Kubernetes has is known: none is taken for a misspelt one. The same types
// say of ours that they are there.
func TestEveryFieldOfKubernetesIsKnown(t *testing.T) {
	for _, c := range []struct{ ours, theirs any }{
		{PodSpec{}, corev1.PodSpec{}}, {Container{}, corev1.Container{}}, {Resources{}, corev1.ResourceRequirements{}}, {PodTemplate{}, corev1.PodTemplateSpec{}},
		{Node{}.Spec, corev1.NodeSpec{}}, {Metadata{}, corev1.Pod{}.ObjectMeta}, {Toleration{}, corev1.Toleration{}}, {Taint{}, corev1.Taint{}},
		{PodSpec{}.Affinity, corev1.Affinity{}}, {PodAffinity{}, corev1.PodAffinity{}}, {PodTerm{}, corev1.PodAffinityTerm{}}, {NodeTerm{}, corev1.NodeSelectorTerm{}},
		{Expression{}, corev1.NodeSelectorRequirement{}}, {NodeExpression{}, corev1.NodeSelectorRequirement{}}, {SpreadConstraint{}, corev1.TopologySpreadConstraint{}},
		{PriorityClass{}, schedulingv1.PriorityClass{}}, {Budget{}.Spec, policyv1.PodDisruptionBudgetSpec{}},
	} {
		compareFields(t, reflect.TypeOf(c.ours), fieldsOfAPI(c.theirs), true)
	}
	// One type of ours stands for several of theirs.
	for _, theirs := range []any{batchv1.JobSpec{}, appsv1.DeploymentSpec{}, appsv1.StatefulSetSpec{}, appsv1.ReplicaSetSpec{}, corev1.ReplicationControllerSpec{}} {
		compareFields(t, reflect.TypeOf(Controller{}.Spec), fieldsOfAPI(theirs), false)
	}
}

func fieldsOfAPI(v any) (names []string) {
	t := reflect.TypeOf(v)
	for i := range t.NumField() {
		if name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ","); name != "" {
			names = append(names, name)
		}
	}
	return names
}

func compareFields(t *testing.T, ours reflect.Type, theirs []string, both bool) {
	t.Helper()
	known := schemaOf(ours).names()
	for _, name := range theirs {
		if !slices.Contains(known, name) {
			t.Errorf("%v has no %s", ours, name)
		}
	}
	for _, name := range known {
		if both && !slices.Contains(theirs, name) && !slices.Contains([]string{"apiVersion", "kind", "status"}, name) {
			t.Errorf("%v has %s, which there is not", ours, name)
		}
	}
}

// No type names a field twice, and tags name forms that there are.
func TestTagsAreSound(t *testing.T) {
	for _, v := range []any{Node{}, ResourceFlavor{}, ClusterQueue{}, Cohort{}, LocalQueue{}, Topology{}, PriorityClass{}, Workload{}, Configuration{}, Controller{}, Pod{}, Budget{}} {
		checkTags(t, reflect.TypeOf(v), map[reflect.Type]bool{})
	}
}

func checkTags(t *testing.T, typ reflect.Type, seen map[reflect.Type]bool) {
	for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice {
		typ = typ.Elem()
	}
	if typ.Kind() != reflect.Struct || seen[typ] {
		return
	}
	seen[typ] = true
	for i := range typ.NumField() {
		f := typ.Field(i)
		for _, tag := range []string{"is", "keys"} {
			if form := f.Tag.Get(tag); form != "" && forms[form] == nil {
				t.Errorf("%v.%s: there is no form %s", typ, f.Name, form)
			}
		}
		if f.Tag.Get("yaml") != "" {
			checkTags(t, f.Type, seen)
		}
	}
	names := schemaOf(typ).names()
	for i, name := range names {
		if slices.Contains(names[:i], name) && name != "status" { // which the head of all objects has too
			t.Errorf("%v names %s twice", typ, name)
		}
	}
}

func TestForms(t *testing.T) {
	for _, c := range []struct{ form, good, bad string }{
		{"name", "a a-1 a.b-c.d 0", "|A|a_b|-a|a-|a..b|.a|" + strings.Repeat("a", 254)},
		{"label", "a a-1", "a.b|A|" + strings.Repeat("a", 64)},
		{"key", "a A_b.c example.com/rack nvidia.com/gpu", "|/a|a/|Example.com/a|a/b/c|-a|a b"},
		{"value", "a A-1_b.c true", "-a|a-|a b|a/b|" + strings.Repeat("a", 64)},
		{"quantity", "8 500m 96Gi 1e3 -1 0.5", "|eight|8 Gi|8GB"},
		{"amount", "0 8 500m", "-1|x"},
		{"duration", "1h30m -5s 0s", "|5|soon"},
		{"span", "0s 5m", "-5s|5"},
		{"longer", "1ns", "0s|-1s"},
		{"time", "2025-06-01T12:00:00Z 2025-06-01T12:00:00.5+02:00", "|2025-06-01|now"},
		{"intorpart", "0 5 50%", "|%|-1|5.5|a"},
	} {
		for good := range strings.FieldsSeq(c.good) {
			if !forms[c.form].ok(good) {
				t.Errorf("%s: %q is refused", c.form, good)
			}
		}
		for bad := range strings.SplitSeq(c.bad, "|") {
			if forms[c.form].ok(bad) {
				t.Errorf("%s: %q is taken", c.form, bad)
			}
		}
	}
	if !forms["value"].ok("") {
		t.Error("a label may be empty")
	}
}
