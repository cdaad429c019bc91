package scenario

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/gangplan/gangplan/internal/suggest"
	"github.com/gangplan/gangplan/topology/fabric"
)

// filled returns the uplink with the defaults of a full one.
func (u Uplink) filled() Uplink {
	return Uplink{cmp.Or(u.Oversubscription, 1), cmp.Or(u.Efficiency, 1)}
}

// resolveFabric compiles the fabric for the cluster.
func (r *resolver) resolveFabric() {
	if r.Fabric == nil {
		return
	}
	profile, ok := fabric.Lookup(r.Fabric.Profile)
	if !ok {
		names := fabric.Names()
		r.fail(at("fabric", "profile"), "unknown profile %s: expected one of %s%s",
			quote(r.Fabric.Profile), strings.Join(names, ", "), suggest.Hint(r.Fabric.Profile, names))
		return
	}
	levels, ok := r.uplinks()
	if !ok {
		return
	}
	compiled, err := fabric.New(profile, r.cluster, levels)
	if err != nil {
		r.fail(at("fabric"), "%v", err)
		return
	}
	r.out.Config.Fabric = compiled
}

// uplinks reads what is special of the levels' uplinks, and reports whether all of it can
// be.
func (r *resolver) uplinks() (map[string]fabric.Level, bool) {
	before := len(r.errs.list)
	levels := map[string]fabric.Level{}
	for _, name := range slices.Sorted(maps.Keys(r.Fabric.Levels)) {
		p, up := at("fabric", "levels", name), r.Fabric.Levels[name].filled()
		r.checkLevel(p, name)
		if up.Oversubscription < 1 {
			r.fail(p.to("oversubscription"), "%v: expected a number of at least 1", up.Oversubscription)
		}
		if up.Efficiency > 1 {
			r.fail(p.to("efficiency"), "%v: expected a number of at most 1", up.Efficiency)
		}
		levels[name] = fabric.Level(up)
	}
	return levels, len(r.errs.list) == before
}
