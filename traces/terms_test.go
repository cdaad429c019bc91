package traces

import (
	"strings"
	"testing"
)

func TestTermsRefuse(t *testing.T) {
	for _, c := range []struct{ column, value, want string }{
		{"pod_affinity", "rack", ""},
		{"pod_affinity", "rack:5|zone", ""},
		{"pod_affinity", "rack:0", "no term of pod affinity"},
		{"pod_affinity", "rack:101", "from 1 to 100"},
		{"pod_affinity", ":5", "no term of pod affinity"},
		{"pod_anti_affinity", "rack:x", "no term of pod affinity"},
		{"pod_anti_affinity", "rack||zone", "no term of pod affinity"},
		{"topology_spread", "rack:1|zone:3:soft", ""},
		{"topology_spread", "rack", "expected LEVEL:SKEW"},
		{"topology_spread", "rack:0", "no topology spread constraint"},
		{"topology_spread", "rack:1:hard", "expected LEVEL:SKEW, with :soft"},
		{"topology_spread", "rack:1:min=0", "no topology spread constraint"},
		{"topology_spread", "rack:1@=x", "is no condition on a label"},
		{"pod_affinity", "rack@app>x", "is no condition on a label"},
		{"labels", "app", "is no label"},
		{"labels", "=web", "is no label"},
		{"preemption_policy", "never", "expected PreemptLowerPriority or Never"},
		{"topology_spread", ":1", "no topology spread constraint"},
	} {
		text := "id,submit_seconds,duration_seconds,gpus," + c.column + "\na,0,1,1," + c.value + "\n"
		_, err := Read(strings.NewReader(text), "t", "csv", Options{})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s %q: %v, want %q", c.column, c.value, err, c.want)
		}
	}
}
