// Package quota keeps what ClusterQueues and cohorts may use and use: the quota tree. It
// is a pure leaf: integers in, integers out. Names and arithmetic are Kueue's
// (docs/admission.md).
//
// This file is the short way in, for callers that know one flavor and no cohorts.
package quota

// Used returns what a queue's admitted jobs are charged, over all flavors.
func (t *Tree) Used(q int32) (sum Amounts) {
	for fr := range t.frs {
		sum[fr%Resources] += t.usage[t.at(q, FR(fr))]
	}
	return sum
}

// Fits reports whether a request is within what a queue can take, of each group's first
// flavor.
func (t *Tree) Fits(q int32, req Amounts) bool { return t.within(q, req, t.Available) }

// Lists reports whether a queue has quota of a resource, be it zero: whether a group covers it.
func (t *Tree) Lists(q int32, resource int) bool {
	for i := range t.groups[q] {
		if t.groups[q][i].Covers[resource] {
			return true
		}
	}
	return false
}

// EverFits reports whether a request is within what a queue can have, of some flavor of
// each group that is not refused (a bit set), when nothing is used.
func (t *Tree) EverFits(q int32, req Amounts, refused uint64) bool {
	for _, g := range t.groups[q] {
		if !t.anyFlavor(q, &g, req, refused) {
			return false
		}
	}
	return true
}

func (t *Tree) anyFlavor(q int32, g *Group, req Amounts, refused uint64) bool {
	asks := false
	for r, covered := range g.Covers {
		asks = asks || covered && req[r] > 0
	}
	for _, f := range g.Flavors {
		fits := !asks || refused>>f.Flavor&1 == 0
		for r, covered := range g.Covers {
			fits = fits && (!covered || req[r] <= t.Potential(q, Of(f.Flavor, r)))
		}
		if fits {
			return true
		}
	}
	return false
}

func (t *Tree) within(q int32, req Amounts, room func(int32, FR) int64) bool {
	for _, g := range t.groups[q] {
		for r, covered := range g.Covers {
			if covered && len(g.Flavors) > 0 && req[r] > room(q, Of(g.Flavors[0].Flavor, r)) {
				return false
			}
		}
	}
	return true
}

// Add charges a request to a queue, to each group's first flavor.
func (t *Tree) Add(q int32, req Amounts) { t.eachFirst(q, req, t.Use) }

// Remove gives a request back.
func (t *Tree) Remove(q int32, req Amounts) { t.eachFirst(q, req, t.Free) }

// AppendFirst appends what a request takes of each group's first flavor.
func (t *Tree) AppendFirst(items []Item, q int32, req Amounts) []Item {
	t.eachFirst(q, req, func(_ int32, fr FR, v int64) { items = append(items, Item{fr, v}) })
	return items
}

func (t *Tree) eachFirst(q int32, req Amounts, f func(int32, FR, int64)) {
	for _, g := range t.groups[q] {
		for r, covered := range g.Covers {
			if covered && len(g.Flavors) > 0 && req[r] != 0 {
				f(q, Of(g.Flavors[0].Flavor, r), req[r])
			}
		}
	}
}
