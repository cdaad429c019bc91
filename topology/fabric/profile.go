package fabric

import (
	"fmt"
	"math"
)

// Order is how the ranks of a gang are numbered, which is the order of its rings.
type Order uint8

const (
	// ByPod numbers ranks in the order of the gang's pods, wherever these stand.
	ByPod Order = iota
	// ByTopology numbers them again by where they stand, so that a ring leaves a domain once.
	ByTopology
	// Random is the expectation over all orders.
	Random
	numOrders
)

// Orders are the names of the orders, by their number.
var Orders = []string{"pods", "topology", "random"}

// Latency is the two lines that small and large messages follow: A0 + S/B0, and A1 above
// the time the bandwidth allows. They are fitted to sweeps, not derived.
type Latency struct {
	A0 float64 // microseconds
	B0 float64 // GB/s
	A1 float64 // microseconds
}

// Profile is what is known of a platform's fabric. All bandwidths are one-directional.
type Profile struct {
	Name      string
	Source    string // where the figures come from
	Estimates string // which of them nobody measured; empty if all are

	DomainGPUs  int     // GPUs of an NVLink domain on this platform; the nodes of a cluster say their own
	DomainHosts int     // hosts of an NVLink domain; 0 is 1
	DomainBusBW float64 // GB/s per GPU: measured bus bandwidth inside a domain (with NVLS where it has it)
	RingBusBW   float64 // the same without in-network reduction; 0 where it is the only one

	NICs          int     // backend NICs per host
	NICGBps       float64 // GB/s of one NIC, nominal
	NetEfficiency float64 // share of the nominal NIC bandwidth that large messages reach, in (0, 1]

	Intra, Inter Latency // within one domain; over several
	// HopMicros is added per step between domains: 2(m-1) steps of a ring, 2 ceil(log2 m)
	// of a tree. It is for fabrics whose latency grows visibly with m; the shipped A1
	// figures contain it at the size they were measured.
	HopMicros float64

	Algorithm Algorithm
	Order     Order
	// Mesh says that the GPUs of a domain have links to each other instead of a switch, so
	// that some of them have only some of the bandwidth.
	Mesh bool

	// Tiers are the levels above the host as the platform is usually built, lowest first.
	// They say what the uplinks of a cluster's levels are unless somebody says otherwise.
	Tiers [MaxTiers]Tier
}

// MaxTiers is the number of levels above the host that a profile can speak of.
const MaxTiers = 2

// Tier is a level of switches: how many hosts are under one of its domains, and the
// oversubscription of their uplink. Zero says nothing.
type Tier struct {
	Hosts            int
	Oversubscription float64
}

// HostGPUs is how many GPUs a host of the platform has.
func (p *Profile) HostGPUs() int { return p.DomainGPUs / max(1, p.DomainHosts) }

// WithoutNVLS returns the profile of a platform whose in-network reduction inside the
// domain is off.
func (p Profile) WithoutNVLS() Profile {
	if p.RingBusBW > 0 {
		p.DomainBusBW = p.RingBusBW
	}
	return p
}

// Lookup returns the shipped profile of a name.
func Lookup(name string) (Profile, bool) {
	for _, p := range profiles {
		if p.Name == name {
			return p, true
		}
	}
	return Profile{}, false
}

// Names lists the shipped profiles.
func Names() []string {
	names := make([]string, len(profiles))
	for i, p := range profiles {
		names[i] = p.Name
	}
	return names
}

// Validate reports the first figure that the model cannot work with.
func (p *Profile) Validate() error {
	positive := []struct {
		name  string
		value float64
	}{
		{"domain bus bandwidth", p.DomainBusBW},
		{"NICs", float64(p.NICs)},
		{"NIC bandwidth", p.NICGBps},
		{"net efficiency", p.NetEfficiency},
		{"intra b0", p.Intra.B0},
		{"inter b0", p.Inter.B0},
	}
	for _, f := range positive {
		if !(f.value > 0) || math.IsInf(f.value, 1) {
			return fmt.Errorf("fabric profile %q: %s: expected a number above 0, got %v", p.Name, f.name, f.value)
		}
	}
	latencies := []float64{p.Intra.A0, p.Intra.A1, p.Inter.A0, p.Inter.A1, p.HopMicros}
	for _, a := range latencies {
		if !(a >= 0) || math.IsInf(a, 1) {
			return fmt.Errorf("fabric profile %q: a latency of %v microseconds", p.Name, a)
		}
	}
	if p.NetEfficiency > 1 {
		return fmt.Errorf("fabric profile %q: net efficiency: expected at most 1, got %v", p.Name, p.NetEfficiency)
	}
	if p.Order >= numOrders {
		return fmt.Errorf("fabric profile %q: unknown rank order %d", p.Name, p.Order)
	}
	if p.Algorithm >= numAlgorithms {
		return fmt.Errorf("fabric profile %q: unknown algorithm %d", p.Name, p.Algorithm)
	}
	return nil
}
