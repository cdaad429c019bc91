package sim

import (
	"github.com/gangplan/gangplan/sim/ledger"
	"github.com/gangplan/gangplan/topology/fabric"
)

// Place is where what a job exchanges in a step is bound.
type Place uint8

// The places, from the GPU outwards: the NVLink domain, the NICs, and the uplinks of the
// levels above the host, of which the third stands for all that are above it as well.
const (
	PlaceNone Place = iota // nothing is exchanged
	PlaceNVLink
	PlaceNIC
	PlaceTier1
	PlaceTier2
	PlaceTier3
	NumPlaces
)

var placeNames = [NumPlaces]string{"none", "nvlink", "nic", "tier1", "tier2", "tier3"}

// String returns the place's name in metrics.
func (p Place) String() string { return placeNames[p] }

// Name is what a place is called in a cluster whose levels are given, from the highest down
// to the host.
func (p Place) Name(levels []string) string {
	if at := len(levels) - 1 - int(p-PlaceNIC); p > PlaceNIC && at >= 0 {
		return levels[at]
	}
	return p.String()
}

// placeOf is the place of a level that a cost names.
func (e *Engine) placeOf(level int8) Place {
	switch {
	case level == fabric.NoLevel:
		return PlaceNone
	case level == fabric.InDomain:
		return PlaceNVLink
	}
	above := e.cfg.Cluster.HostLevel() - int32(level)
	return min(PlaceTier3, PlaceNIC+Place(above))
}

// Bounds is what bound what a job exchanges, in milli-GPU x ns.
type Bounds struct {
	Ran     [NumPlaces]ledger.Uint128 // running time, lost progress included
	Stalled [NumPlaces]ledger.Uint128 // what was lost of the time that was kept: both stalls
}

// Bottleneck is the place that bound the job for most of its running time, the innermost of
// equals; false for a job that exchanges nothing or never ran.
func (b *Bounds) Bottleneck() (Place, bool) {
	most := Place(0)
	for p := range NumPlaces {
		if b.Ran[most].Less(b.Ran[p]) {
			most = p
		}
	}
	return most, most != PlaceNone
}

// Stalls are the accounts stall_locality and stall_contention by the place that bound.
type Stalls struct{ Locality, Contention [NumPlaces]ledger.Uint128 }

// bound notes where a running job is bound from now on. What it ran so far is a stretch of
// its own if that was elsewhere, so that each stretch has one place for either stall.
func (e *Engine) bound(j int32, idle, now Place) {
	jb := &e.jobs[j]
	if idle == jb.idlePlace && now == jb.place {
		return
	}
	if jb.wall > 0 {
		jb.parts = e.closeParts(j, jb.parts)
	}
	jb.idlePlace, jb.place = idle, now
}

// settlePlaces books a stretch by its places. One in which neighbours slowed nothing can still
// have a nanosecond of contention, a fraction that was carried over: it belongs to where they
// did so last.
func (e *Engine) settlePlaces(j int32, p *part, kept bool) {
	if e.bounds == nil {
		return
	}
	b := &e.bounds[j]
	b.Ran[p.place].AddProduct(uint64(p.Milli), uint64(p.Wall))
	if !kept {
		return
	}
	local, shared := p.Wall-p.Unshared, p.Unshared-p.Useful
	b.Stalled[p.idlePlace].AddProduct(uint64(p.Milli), uint64(local))
	e.stalls.Locality[p.idlePlace].AddProduct(uint64(p.Milli), uint64(local))
	addAt(&b.Stalled, p.sharedPlace, p.Milli, shared)
	addAt(&e.stalls.Contention, p.sharedPlace, p.Milli, shared)
}

// addAt adds milli x ns at a place. Contention can be -1 ns, by a fraction that was carried
// over from a stretch before, perhaps elsewhere (see ledger.Stretch): what the place has not
// got is taken from the others.
func addAt(sums *[NumPlaces]ledger.Uint128, at Place, milli, ns int64) {
	if ns >= 0 {
		sums[at].AddProduct(uint64(milli), uint64(ns))
		return
	}
	var owed ledger.Uint128
	owed.AddProduct(uint64(milli), uint64(-ns))
	for p := range NumPlaces {
		from := &sums[(at+p)%NumPlaces]
		if from.Less(owed) {
			owed.Sub(*from)
			*from = ledger.Uint128{}
			continue
		}
		from.Sub(owed)
		return
	}
}

// stallsAdd reports whether the stalls by place add up to the accounts.
func (e *Engine) stallsAdd() bool {
	var want, got [2]ledger.Uint128
	for m := range e.books.Models() {
		want[0].Add(e.books.Sum(m, ledger.StallLocality))
		want[1].Add(e.books.Sum(m, ledger.StallContention))
	}
	for p := range NumPlaces {
		got[0].Add(e.stalls.Locality[p])
		got[1].Add(e.stalls.Contention[p])
	}
	return want == got
}
