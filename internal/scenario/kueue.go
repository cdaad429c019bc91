package scenario

import (
	"maps"
	"slices"

	"github.com/gangplan/gangplan/policies"
)

// Versions of Kueue, and what its waitForPodsReady does where the configuration says no more
// than that it is on.
var kueueVersions = []struct {
	names    []string // of the scenario's field
	version  string   // of the policies' parameter
	timeout  int64
	recovery bool // a gang that loses a pod later has the timeout again
	block    bool
}{
	{[]string{"v0.19.2", "0.19"}, "0.19", 1800e9, true, false},
	{[]string{"v0.17.0", "0.17"}, "0.17", 300e9, true, false},
	{[]string{"v0.13.4", "0.13"}, "0.13", 300e9, false, true},
}

// kueueVersion returns the position of the scenario's version; the newest without one.
func (r *resolver) kueueVersion() int {
	var names []string
	var at []int
	for i, v := range kueueVersions {
		for _, name := range v.names {
			names, at = append(names, name), append(at, i)
		}
	}
	return word(r, path{"kueue"}, r.Kueue, names, at...)
}

// withVersion gives a policy that admits as Kueue does a version, if it does not name one
// itself. An empty version leaves it alone.
func withVersion(version string, d *policies.Declaration, given map[string]string) map[string]string {
	if _, ok := given["version"]; ok || version == "" || !slices.ContainsFunc(d.Params, func(p policies.Param) bool { return p.Name == "version" }) {
		return given
	}
	out := maps.Clone(given)
	if out == nil {
		out = map[string]string{}
	}
	out["version"] = version
	return out
}
