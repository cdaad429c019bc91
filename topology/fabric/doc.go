// Package fabric says how long a gang's all-reduce takes at the place where its pods stand.
//
// Read profile.go and profiles.go for the figures and their sources, shape.go for the shape
// of a given placement, collective.go for the formula and its algorithms, best.go for
// the same gang at its best place on an empty cluster: the ratio of the two is the locality
// part of a job's all-reduce slowdown. load.go turns a placement into integers, and
// contention.go solves what gangs do to each other on shared uplinks. dims.go has the forms
// of regular fabrics that analytical simulators work with; package flow simulates messages.
//
// # The model
//
// n ranks in m NVLink domains reduce S bytes each. Bandwidths are one-directional, in
// GB/s (1e9 bytes per second), which is bytes per nanosecond.
//
//	T_bw = max( c S / B_N,  [m>1] phi S / B_dom,  [m>1] max over X of kappa_X phi S / C_X )
//	T    = max( T_bw, min( a0 + S/b0, a1 + T_bw ) )
//
//	c        2(n-1)/n
//	phi      what a domain sends per byte reduced: 1 for m = 2, else by Algorithm
//	B_N      bus bandwidth inside a domain, per GPU
//	B_dom    bandwidth of the NICs next to the gang's GPUs, in the domain that has fewest
//	C_X      uplink of a domain X of the topology above the host: the NICs of its hosts,
//	         divided by the level's oversubscription, times the efficiencies
//	kappa_X  how often the ring leaves X; 1 when ranks are ordered by topology
//
// The first line is what the links allow; the outer max in the second keeps the line for
// small messages, a0 + S/b0, from going past a slow uplink.
//
// The bandwidth forms are those of NCCL's nccl-tests (doc/PERFORMANCE.md) and its tree over
// two nodes (nccl-tests issue 196): S bytes leave each node, not 2S, so a fabric must not
// be judged by two nodes. From three nodes on ring and tree both move about 2S.
//
// # Readings
//
//   - An NVLink domain is a host, or the hosts that name the same domain (racks of NVL72):
//     its NICs are those next to the gang's GPUs on all its hosts. It lies inside one domain
//     of the level above the host.
//   - Every host with GPUs has the profile's NICs; a host without GPUs has none.
//   - The NICs next to g of a host's G GPUs are NICs g/G of the set, at least one. The
//     share is not rounded: three GPUs over half as many NICs count one and a half.
//   - The transport efficiency is part of C_X as well as of B_dom: it is lost by every byte
//     wherever it goes, so that a level with oversubscription 1 and efficiency 1 never
//     binds an ordered gang before its own NICs do.
//   - Oversubscription and efficiency of the host level apply to the NICs themselves.
//   - Ranks are in pod order unless the profile says otherwise, and the ring closes from the
//     last pod to the first. Pods without GPUs (launchers, drivers) take no part. A pod with a
//     share of a GPU is one rank.
//   - A model that is cut over T x P ranks has T rings side by side in each of P stages (see
//     Traffic): n is then the ranks of one ring. The rings of a stage are a bundle, as the
//     channels of a single ring are: it crosses an uplink once with the bytes of all of them,
//     and leaves a domain on the NICs next to the ranks there. A domain with fewer ranks than T
//     carries its part of the bundle, uplinks all of it.
package fabric
