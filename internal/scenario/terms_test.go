package scenario

import (
	"reflect"
	"strings"
	"testing"

	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/workloads"
	"github.com/google/go-cmp/cmp"
)

const aCluster = "cluster: {synthetic: {racks: 2, hosts: 2, gpus: 8}}\nworkload: {jobs: [{id: a, duration: 1h, pods: 2, gpusPerPod: 8, "

func TestTerms(t *testing.T) {
	s := mustResolve(t, aCluster+"podAffinity: [{level: rack}], podAntiAffinity: [{topologyKey: host, weight: 100}], "+
		"topologySpreadConstraints: [{level: rack}, {level: host, maxSkew: 3, whenUnsatisfiable: ScheduleAnyway}]}]}")
	j := s.Config.Jobs[0]
	if !reflect.DeepEqual(j.Affinity, []workloads.PodTerm{{Level: "rack"}}) ||
		!reflect.DeepEqual(j.AntiAffinity, []workloads.PodTerm{{Level: "host", Weight: 100}}) ||
		!reflect.DeepEqual(j.Spread, []workloads.SpreadConstraint{{Level: "rack", MaxSkew: 1}, {Level: "host", MaxSkew: 3, Soft: true}}) {
		t.Errorf("%+v", j)
	}
	plain := mustResolve(t, aCluster+"}]}")
	if plain.Hash == s.Hash {
		t.Error("terms do not change the hash")
	}
}

// Selectors mean pods of other jobs, in the order of the names of their labels.
func TestSelectors(t *testing.T) {
	s := mustResolve(t, aCluster+`namespace: ml, labels: {app: train}, preemptionPolicy: Never,
  podAffinity: [{level: rack, labelSelector: {matchLabels: {tier: a, app: cache}, matchExpressions: [{key: old, operator: DoesNotExist}]}, namespaces: ["*"]}],
  topologySpreadConstraints: [{level: rack, minDomains: 2, nodeAffinityPolicy: Ignore, nodeTaintsPolicy: Honor, labelSelector: {}}]}]}
podDisruptionBudgets:
- {name: b, namespace: ml, selector: {matchLabels: {app: train}}, minAvailable: 50%}
- {selector: {}, maxUnavailable: 3}
`)
	j := s.Config.Jobs[0]
	is := func(key, value string) topology.Requirement {
		return topology.Requirement{Key: key, Operator: topology.In, Values: []string{value}}
	}
	want := []workloads.PodTerm{{Level: "rack", Of: &workloads.PodSelector{Namespaces: []string{"*"},
		Match: []topology.Requirement{is("app", "cache"), is("tier", "a"), {Key: "old", Operator: topology.DoesNotExist}}}}}
	if diff := cmp.Diff(want, j.Affinity); diff != "" || j.Namespace != "ml" || j.Labels["app"] != "train" || !j.NoPreempt {
		t.Errorf("%s of %+v", diff, j)
	}
	spread := []workloads.SpreadConstraint{{Level: "rack", MaxSkew: 1, MinDomains: 2, Taints: true, AllNodes: true, Of: &workloads.PodSelector{}}}
	if diff := cmp.Diff(spread, j.Spread); diff != "" {
		t.Error(diff)
	}
	budgets := []workloads.Budget{
		{Name: "b", Namespace: "ml", N: 50, Percent: true, Of: workloads.PodSelector{Match: []topology.Requirement{is("app", "train")}}},
		{N: 3, UseMax: true}}
	if diff := cmp.Diff(budgets, s.Config.Budgets); diff != "" {
		t.Error(diff)
	}
}

func TestBudgetMistakes(t *testing.T) {
	for _, c := range []struct{ budget, want string }{
		{"{selector: {}}", "podDisruptionBudgets[0]: missing: expected one of minAvailable, maxUnavailable"},
		{"{selector: {}, minAvailable: 1, maxUnavailable: 1}", "there is minAvailable already"},
		{"{minAvailable: 1}", "podDisruptionBudgets[0].selector: missing"},
		{"{selector: {}, minAvailable: 101%}", "expected a number of pods or a percentage such as 50%"},
		{"{selector: {}, minAvailable: half}", "expected a number of pods or a percentage such as 50%"},
		{"{selector: {}, minAvailable: -1}", "expected a number of pods"},
	} {
		if _, err := resolveText(aCluster + "}]}\npodDisruptionBudgets: [" + c.budget + "]"); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.budget, err, c.want)
		}
	}
}

func TestTermMistakes(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"podAffinity: [{level: rac}]", `podAffinity[0].level: "rac": expected a level of the cluster, one of zone, rack, host (did you mean rack?)`},
		{"podAffinity: [{weight: 5}]", "podAffinity[0].level: missing"},
		{"podAffinity: [{level: rack, weight: 0}]", "expected more than 0"},
		{"podAntiAffinity: [{level: rack, weight: 101}]", "podAntiAffinity[0].weight: 101: expected at most 100"},
		{"podAffinity: [{level: rack, topologyKey: host}]", "given a second time"},
		{"podAffinity: [{level: rack, namespaces: [a]}]", "podAffinity[0].namespaces: expected labelSelector beside it"},
		{"podAffinity: [{level: rack, labelSelector: {matchExpressions: [{key: a, operator: Gt, values: ['1']}]}}]",
			"podAffinity[0].labelSelector.matchExpressions[0].operator: Gt: labels of pods are compared with In"},
		{"podAffinity: [{level: rack, labelSelector: {matchExpressions: [{key: a, operator: in, values: [b]}]}}]", "(did you mean In?)"},
		{"podAffinity: [{level: rack, labelSelector: {matchExpressions: [{key: a, operator: In}]}}]", "values: missing"},
		{"topologySpreadConstraints: [{level: rack, minDomains: 2, whenUnsatisfiable: ScheduleAnyway}]", "minDomains: expected DoNotSchedule beside it"},
		{"topologySpreadConstraints: [{level: rack, nodeTaintsPolicy: Honour}]", "expected Ignore or Honor (did you mean Honor?)"},
		{"preemptionPolicy: never", "expected PreemptLowerPriority or Never (did you mean Never?)"},
		{"topologySpreadConstraints: [{level: pod}]", `"pod": expected a level`},
		{"topologySpreadConstraints: [{level: rack, maxSkew: 0}]", "expected more than 0"},
		{"topologySpreadConstraints: [{level: rack, whenUnsatisfiable: DoNotShedule}]", "expected DoNotSchedule or ScheduleAnyway (did you mean DoNotSchedule?)"},
	} {
		if _, err := resolveText(aCluster + c.text + "}]}"); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.text, err, c.want)
		}
	}
}
