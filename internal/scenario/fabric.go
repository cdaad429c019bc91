package scenario

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/gangplan/gangplan/internal/suggest"
	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/topology/fabric"
)

// filled returns the uplink with the defaults of a full one.
func (u Uplink) filled() Uplink {
	return Uplink{cmp.Or(u.Oversubscription, 1), cmp.Or(u.Efficiency, 1), u.HostGBps, u.Latency}
}

// customProfile is the name of a profile that the scenario describes.
const customProfile = "custom"

// resolveFabric compiles the fabric for the cluster.
func (r *resolver) resolveFabric() {
	if r.Fabric == nil {
		return
	}
	profile, ok := r.profile()
	if !ok {
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
	r.out.Config.Sharing = word(r, at("fabric", "contention"), r.Fabric.Contention,
		[]string{"fluid", "flow", "none"}, sim.Fluid, sim.Flow, sim.NoSharing)
	if profile.Order == fabric.Random && r.out.Config.Sharing == sim.Flow {
		r.fail(at("fabric", "rankOrder"), "random is an expectation and has no flows: expected pods or topology beside contention: flow")
	}
	if hosts := profile.DomainHosts; hosts > 1 && !compiled.Joined() {
		r.assume("fabric %s has NVLink domains of %d hosts, and no node names one: every host is its own", profile.Name, hosts)
	}
	if profile.Estimates != "" {
		r.assume("fabric %s: estimates, not measured: %s", profile.Name, profile.Estimates)
	}
}

// profile returns the shipped profile with what the scenario says differently.
func (r *resolver) profile() (fabric.Profile, bool) {
	before := len(r.errs.list)
	f := r.Fabric
	p, ok := fabric.Lookup(f.Profile)
	switch {
	case f.Profile == customProfile:
		p = fabric.Profile{Name: customProfile, NetEfficiency: 1}
		p.Intra.B0, p.Inter.B0 = noSmallLine, noSmallLine
		for _, needed := range []struct {
			field string
			value float64
		}{{"domainBusGBps", f.DomainBusGBps}, {"nics", float64(f.NICs)}, {"nicGBps", f.NICGBps}} {
			if needed.value == 0 {
				r.fail(at("fabric", needed.field), "missing: a custom profile needs it")
			}
		}
	case !ok:
		names := append(fabric.Names(), customProfile)
		r.fail(at("fabric", "profile"), "unknown profile %s: expected one of %s%s",
			quote(f.Profile), strings.Join(names, ", "), suggest.Hint(f.Profile, names))
		return p, false
	}
	if !word(r, at("fabric", "nvls"), f.NVLS, []string{"on", "off"}, true, false) {
		p = p.WithoutNVLS()
	}
	p.Mesh = word(r, at("fabric", "domainLinks"), f.DomainLinks, []string{"switch", "mesh"}, false, true)
	p.Order = word(r, at("fabric", "rankOrder"), f.RankOrder, fabric.Orders, fabric.ByPod, fabric.ByTopology, fabric.Random)
	r.overrideProfile(&p)
	return p, len(r.errs.list) == before
}

// noSmallLine is a rate at which the line for small messages is slower than the other.
const noSmallLine = 1e-9

func (r *resolver) overrideProfile(p *fabric.Profile) {
	f := r.Fabric
	if f.Efficiency > 1 {
		r.fail(at("fabric", "netEfficiency"), "%v: expected a number of at most 1", f.Efficiency)
	}
	p.DomainBusBW = cmp.Or(f.DomainBusGBps, p.DomainBusBW)
	p.NICs = cmp.Or(f.NICs, p.NICs)
	p.NICGBps = cmp.Or(f.NICGBps, p.NICGBps)
	p.NetEfficiency = cmp.Or(f.Efficiency, p.NetEfficiency)
	p.HopMicros = cmp.Or(micros(f.Hop), p.HopMicros)
	if f.Algorithm != "" {
		known := make([]fabric.Algorithm, len(fabric.Algorithms))
		for i := range known {
			known[i] = fabric.Algorithm(i)
		}
		p.Algorithm = word(r, at("fabric", "algorithm"), f.Algorithm, fabric.Algorithms, known...)
	}
	for _, l := range []struct {
		given *Latency
		line  *fabric.Latency
	}{{f.Intra, &p.Intra}, {f.Inter, &p.Inter}} {
		if l.given != nil {
			*l.line = fabric.Latency{A0: micros(l.given.A0), B0: l.given.B0, A1: micros(l.given.A1)}
		}
	}
}

func micros(d Duration) float64 { return float64(d) / 1000 }

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
		levels[name] = fabric.Level{Oversubscription: up.Oversubscription, Efficiency: up.Efficiency, HostGBps: up.HostGBps,
			LatencyMicros: micros(up.Latency)}
	}
	return levels, len(r.errs.list) == before
}
