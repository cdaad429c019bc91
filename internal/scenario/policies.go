package scenario

import (
	"maps"
	"slices"
	"strings"

	"github.com/gangplan/gangplan/internal/suggest"
	"github.com/gangplan/gangplan/policies"
	"github.com/gangplan/gangplan/topology"
)

// resolvePolicies looks the policies up; all of the registry's if none is named.
func (r *resolver) resolvePolicies() {
	if r.File.Policies == nil {
		for _, d := range policies.All() {
			r.out.Policies = append(r.out.Policies, PolicyChoice{Label: d.Name, Name: d.Name, Params: withVersion(r.out.kueue, d, nil), Declaration: d})
		}
		return
	}
	if len(r.File.Policies) == 0 {
		r.fail(at("policies"), "the list is empty: expected some of %s", strings.Join(policies.Names(), ", "))
	}
	for i := range r.File.Policies {
		r.resolvePolicy(at("policies", i), &r.File.Policies[i])
	}
}

func (r *resolver) resolvePolicy(p path, given *Policy) {
	d, ok := policies.Lookup(given.Name)
	if !ok {
		names := policies.Names()
		r.fail(p.to("name"), "unknown policy %s: expected one of %s%s", quote(given.Name), strings.Join(names, ", "), suggest.Hint(given.Name, names))
		return
	}
	for _, name := range slices.Sorted(maps.Keys(given.Params)) {
		r.checkParam(p, d, name, given.Params[name])
	}
	if name, profile := d.Unheeded(given.Params); name != "" {
		r.fail(p.to(name), "it is heeded with profile: %s only", profile)
	}
	c := PolicyChoice{Label: given.As, Name: d.Name, Params: withVersion(r.out.kueue, d, given.Params), Declaration: d}
	if c.Label == "" {
		c.Label = d.Name
	}
	if slices.ContainsFunc(r.out.Policies, func(o PolicyChoice) bool { return o.Label == c.Label }) {
		r.fail(p, "another policy is shown as %s already: give one of them a name of its own, as in {name: %s, as: my-name}", quote(c.Label), d.Name)
	}
	r.out.Policies = append(r.out.Policies, c)
}

// checkParam checks one parameter of a policy.
func (r *resolver) checkParam(p path, d *policies.Declaration, name, value string) {
	known := []string{"as"}
	for _, param := range d.Params {
		known = append(known, param.Name)
		if param.Name == name {
			if err := d.Check(name, value); err != nil && len(param.Values) == 0 {
				r.fail(p.to(name), "%s", strings.TrimPrefix(err.Error(), name+": "))
			} else if err != nil {
				r.fail(p.to(name), "%s: expected %s%s", quote(value), strings.Join(param.Values, ", "), suggest.Hint(value, param.Values))
			}
			return
		}
	}
	r.fail(p.to(name), "policy %s has no such parameter: expected some of %s%s", d.Name, strings.Join(known, ", "), suggest.Hint(name, known))
}

// checkLevels checks the parameters that name a level of the cluster. The level of
// requests is not below the lowest of the topology.
func (r *resolver) checkLevels() {
	for i, c := range r.out.Policies {
		before := len(r.errs.list)
		for _, param := range c.Declaration.Params {
			if level, ok := c.Params[param.Name]; ok && param.Level {
				r.checkLevel(at("policies", i, param.Name), level)
			}
		}
		level, leaf := c.Params["level"], c.Params["leaf"]
		if len(r.errs.list) == before && level != "" && leaf != "" && r.cluster.Level(level) > r.cluster.Level(leaf) {
			r.fail(at("policies", i, "level"), "%s: expected a level that is not below the leaf, %s", quote(level), leaf)
		}
	}
}

func (r *resolver) checkLevel(p path, level string) {
	if r.cluster.Level(level) < 0 {
		r.fail(p, "%s", noLevel(level, r.cluster))
	}
}

// noLevel says that a cluster has no such level.
func noLevel(level string, c *topology.Cluster) string {
	return quote(level) + ": expected a level of the cluster, one of " + strings.Join(c.Levels, ", ") + suggest.Hint(level, c.Levels)
}
