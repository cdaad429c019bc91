package scenario

import (
	"strings"
	"testing"
)

func TestSteps(t *testing.T) {
	for _, c := range []struct{ path, from, to, step, want string }{
		{"nodes", "4", "7", "", "4 5 6 7"},
		{"nodes", "7", "4", "", "7 6 5 4"},
		{"cluster.synthetic.hosts", "8", "20", "6", "8 14 20"},
		{"cluster.synthetic.hosts", "8", "19", "6", "8 14"},
		{"cluster.nodes[0].count", "3", "3", "", "3"},
		{"scale.load", "1.3", "0.9", "0.2", "1.3 1.1 0.9"},
		{"scale.load", "1", "2", "0.25", "1 1.25 1.5 1.75 2"},
		{"scale.load", "1", "3", "", "1 2 3"},
		{"waitForPodsReady.timeout", "1m", "2m", "30s", "1m 1m30s 2m"},
		{"waitForPodsReady.timeout", "90", "1h30m", "44m15s", "1m30s 45m45s 1h30m"},
		{"queues[0].quota.gpu", "0.5", "2", "500m", "0.5 1 1.5 2"},
		{"cluster.nodes[0].memory", "96Gi", "1Ti", "464Gi", "96Gi 560Gi 1Ti"},
	} {
		got, err := Steps(c.path, c.from, c.to, c.step, 100)
		if err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("%s=%s..%s:%s: %v, %v; want %s", c.path, c.from, c.to, c.step, got, err, c.want)
		}
	}
}

func TestStepsErrors(t *testing.T) {
	for _, c := range []struct{ path, from, to, step, want string }{
		{"nodes", "4", "x", "", `"x": expected a number`},
		{"nodes", "4", "200", "", "more than 100 values: expected a larger step"},
		{"nodes", "4", "8", "0", "a step of 0: expected more than 0"},
		{"scale.load", "0.5", "2", "", "expected a step, as in 0.5..2:STEP"},
		{"waitForPodsReady.timeout", "1m", "2m", "", "expected a step, as in 1m..2m:STEP"},
		{"waitForPodsReady.timeout", "1x", "2m", "1m", `"1x": expected a duration such as`},
		{"podCreation", "a", "b", "", "podCreation is no number: expected values with commas between them"},
		{"cluster.synthetic.hosts", "1.5", "2", "1", `expected a whole number`},
	} {
		_, err := Steps(c.path, c.from, c.to, c.step, 100)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s=%s..%s:%s: %v, want %s", c.path, c.from, c.to, c.step, err, c.want)
		}
	}
}
