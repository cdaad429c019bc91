package workloads

import (
	"testing"

	"github.com/gangplan/gangplan/topology"
)

func TestPodSelector(t *testing.T) {
	web := []topology.Requirement{{Key: "app", Operator: topology.In, Values: []string{"web"}}}
	j := Job{Namespace: "a", Labels: map[string]string{"app": "web"}}
	for _, c := range []struct {
		name string
		s    PodSelector
		from string
		want bool
	}{
		{"the own namespace", PodSelector{Match: web}, "a", true},
		{"another", PodSelector{Match: web}, "b", false},
		{"a list of namespaces replaces the own", PodSelector{Namespaces: []string{"b", "a"}, Match: web}, "b", true},
		{"which need not be in it", PodSelector{Namespaces: []string{"b"}, Match: web}, "a", false},
		{"all namespaces", PodSelector{Namespaces: []string{AllNamespaces}, Match: web}, "c", true},
		{"nothing asked means all pods", PodSelector{}, "a", true},
		{"none", PodSelector{Namespaces: []string{AllNamespaces}, None: true}, "a", false},
		{"labels differ", PodSelector{Match: []topology.Requirement{{Key: "app", Operator: topology.DoesNotExist}}}, "a", false},
	} {
		if got := c.s.Selects(&j, c.from); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestBudgetAllowed(t *testing.T) {
	for _, c := range []struct {
		b               Budget
		expected, ready int32
		want            int32
	}{
		{Budget{N: 3}, 5, 5, 2},
		{Budget{N: 3}, 5, 2, 0},
		{Budget{N: 1, UseMax: true}, 5, 5, 1},
		{Budget{N: 1, UseMax: true}, 5, 4, 0},
		{Budget{N: 50, Percent: true}, 5, 5, 2},               // 2.5 are needed: 3
		{Budget{N: 50, UseMax: true, Percent: true}, 5, 5, 3}, // 2.5 may go: 3
		{Budget{N: 9, UseMax: true}, 5, 5, 5},
		{Budget{N: 100, Percent: true}, 0, 0, 0},
	} {
		if got := c.b.Allowed(c.expected, c.ready); got != c.want {
			t.Errorf("%+v of %d with %d ready: %d, want %d", c.b, c.expected, c.ready, got, c.want)
		}
	}
}
