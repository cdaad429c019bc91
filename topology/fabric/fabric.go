package fabric

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/gangplan/gangplan/topology"
)

// Level is what is known of the uplinks of a topology level's domains.
type Level struct {
	Oversubscription float64 // at least 1: bandwidth of the members over bandwidth of the uplink
	Efficiency       float64 // share of the uplink that flows reach together, in (0, 1]; below 1 where ECMP hashing collides
	HostGBps         float64 // the most one host may send out of a domain, whatever the uplink has left; 0 is no bound
	LatencyMicros    float64 // added to a step between domains of the level, as over a zone's long lines
}

// full is a level that nothing is said about.
var full = Level{Oversubscription: 1, Efficiency: 1}

// Fabric is a profile compiled for one cluster. It never changes and may be shared by any
// number of goroutines, each with a Scratch of its own.
type Fabric struct {
	profile Profile
	cluster *topology.Cluster
	nic     float64   // GB/s that one NIC reaches
	uplink  []float64 // C_X in GB/s, by domain; above the host only
	caps    []float64 // GB/s that a host may send out of a domain, by level above the host; 0 is no bound
	delays  []float64 // ns added to a step out of a domain, likewise
	nvlink  []int32   // NVLink domain by node
	domains int       // how many there are
	// meshGPUs is the GPUs that a full mesh joins: the profile's, or else of the largest domain.
	meshGPUs int64
	best     bounds
}

// New compiles a profile for a cluster. levels holds what is known of levels, by name; of
// the others the profile's tiers are taken, counted up from the host, and beyond those
// uplinks are full. The error names the level or the figure that is wrong.
func New(p Profile, c *topology.Cluster, levels map[string]Level) (*Fabric, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if err := checkLevels(c, levels); err != nil {
		return nil, err
	}
	nvlink, domains, err := nvlinkDomains(c)
	if err != nil {
		return nil, err
	}
	host := int(c.HostLevel())
	f := &Fabric{profile: p, cluster: c, nvlink: nvlink, domains: domains, uplink: make([]float64, c.LevelStart[host])}
	f.nic = p.NICGBps * p.NetEfficiency * p.levelOf(levels, c, host).share()
	hosts := gpuHosts(c)
	for l := range host {
		level := p.levelOf(levels, c, l)
		perHost := float64(p.NICs) * p.NICGBps * p.NetEfficiency * level.share()
		f.caps, f.delays = append(f.caps, level.HostGBps), append(f.delays, level.LatencyMicros*1000)
		for d := c.LevelStart[l]; d < c.LevelStart[l+1]; d++ {
			f.uplink[d] = float64(hosts[d]) * perHost
		}
	}
	f.best = newBounds(f)
	f.meshGPUs = int64(p.DomainGPUs)
	if f.meshGPUs == 0 {
		f.meshGPUs = f.best.largest() / topology.Milli
	}
	return f, nil
}

// Profile returns the profile the fabric was made from.
func (f *Fabric) Profile() Profile { return f.profile }

// Joined reports whether some NVLink domain has several hosts.
func (f *Fabric) Joined() bool { return f.domains < len(f.cluster.Nodes) }

// Uplink returns C_X of a domain above the host, in GB/s per direction.
func (f *Fabric) Uplink(domain int32) float64 { return f.uplink[domain] }

// share is what is left of the members' bandwidth on the uplink.
func (l Level) share() float64 { return l.Efficiency / l.Oversubscription }

// levelOf returns what is given of a level, or what the profile says of one so far above
// the host.
func (p *Profile) levelOf(levels map[string]Level, c *topology.Cluster, level int) Level {
	if l, ok := levels[c.Levels[level]]; ok {
		return l
	}
	l := full
	if k := int(c.HostLevel()) - 1 - level; k >= 0 && k < MaxTiers {
		l.Oversubscription = max(1, p.Tiers[k].Oversubscription)
	}
	return l
}

func checkLevels(c *topology.Cluster, levels map[string]Level) error {
	for _, name := range slices.Sorted(maps.Keys(levels)) {
		if c.Level(name) < 0 {
			return fmt.Errorf("fabric level %q: the cluster has no such level", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(levels)) {
		l := levels[name]
		if !(l.Oversubscription >= 1) || math.IsInf(l.Oversubscription, 1) {
			return fmt.Errorf("fabric level %q: oversubscription: expected a number of at least 1, got %v", name, l.Oversubscription)
		}
		if !(l.HostGBps >= 0) || math.IsInf(l.HostGBps, 1) {
			return fmt.Errorf("fabric level %q: host bandwidth: expected a number of at least 0, got %v", name, l.HostGBps)
		}
		if !(l.LatencyMicros >= 0) || math.IsInf(l.LatencyMicros, 1) {
			return fmt.Errorf("fabric level %q: latency: expected a number of at least 0, got %v", name, l.LatencyMicros)
		}
		if !(l.Efficiency > 0 && l.Efficiency <= 1) {
			return fmt.Errorf("fabric level %q: efficiency: expected a number above 0 and at most 1, got %v", name, l.Efficiency)
		}
	}
	return nil
}

// nvlinkDomains numbers the NVLink domains in the order of their first nodes. A node that
// names none is one by itself. Between the hosts of a domain lies no switch of the tree, so
// they must be in the same place above the host.
func nvlinkDomains(c *topology.Cluster) (of []int32, count int, err error) {
	first := map[string]int32{} // node by domain
	of = make([]int32, len(c.Nodes))
	above := c.HostLevel() - 1
	for i := range c.Nodes {
		name := topology.NVLinkDomain(&c.Nodes[i])
		j, known := first[name]
		switch {
		case name == "" || !known:
			of[i] = int32(count)
			count++
			first[name] = int32(i)
			continue
		case above >= 0 && c.DomainOf(j, above) != c.DomainOf(int32(i), above):
			return nil, 0, fmt.Errorf("nodes %q and %q share the NVLink domain %q and are not in the same %s: expected domains inside one",
				c.Nodes[j].Name, c.Nodes[i].Name, name, c.Levels[above])
		}
		of[i] = of[j]
	}
	return of, count, nil
}

// gpuHosts counts the hosts with GPUs in each domain.
func gpuHosts(c *topology.Cluster) []int64 {
	hosts := make([]int64, len(c.Domains))
	for i := range c.Nodes {
		if c.Nodes[i].Allocatable[topology.GPU] == 0 {
			continue
		}
		for l := range c.Levels {
			hosts[c.DomainOf(int32(i), int32(l))]++
		}
	}
	return hosts
}
