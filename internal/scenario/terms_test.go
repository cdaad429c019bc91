package scenario

import (
	"reflect"
	"strings"
	"testing"

	"github.com/gangplan/gangplan/workloads"
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

func TestTermMistakes(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"podAffinity: [{level: rac}]", `podAffinity[0].level: "rac": expected a level of the cluster, one of zone, rack, host (did you mean rack?)`},
		{"podAffinity: [{weight: 5}]", "podAffinity[0].level: missing"},
		{"podAffinity: [{level: rack, weight: 0}]", "expected more than 0"},
		{"podAntiAffinity: [{level: rack, weight: 101}]", "podAntiAffinity[0].weight: 101: expected at most 100"},
		{"podAffinity: [{level: rack, topologyKey: host}]", "given a second time"},
		{"podAffinity: [{level: rack, labelSelector: {}}]", "labelSelector: unknown field"},
		{"topologySpreadConstraints: [{level: pod}]", `"pod": expected a level`},
		{"topologySpreadConstraints: [{level: rack, maxSkew: 0}]", "expected more than 0"},
		{"topologySpreadConstraints: [{level: rack, whenUnsatisfiable: DoNotShedule}]", "expected DoNotSchedule or ScheduleAnyway (did you mean DoNotSchedule?)"},
	} {
		if _, err := resolveText(aCluster + c.text + "}]}"); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.text, err, c.want)
		}
	}
}
