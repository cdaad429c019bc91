package compare

import (
	"fmt"
	"slices"
)

// pairing is how the runs of two sides go together: those of equal value in the kept
// dimensions make a group, and are paired by seed within it.
type pairing struct {
	a, b   *Side
	kept   []string // dimensions by which groups are told apart
	differ []string // dimensions in which each side has one value, not the same
	groups []group
	alone  []string // what has no partner, in words
}

// group is the runs of both sides that stand at the same place.
type group struct {
	of    []Dimension
	a, b  []*run
	pairs [][2]*run // by seed
	lone  [2][]*run // of each side, seeds that the other has not
}

// pair puts the runs of two sides together.
func pair(a, b *Side) (*pairing, error) {
	p := &pairing{a: a, b: b}
	p.sortDimensions()
	p.makeGroups()
	if len(p.groups) == 0 {
		return nil, fmt.Errorf("no run of %s goes with one of %s: they have %s and %s", a.Path, b.Path, placesOf(a.runs), placesOf(b.runs))
	}
	for i := range p.groups {
		p.groups[i].pairSeeds()
	}
	return p, nil
}

// sortDimensions says which dimensions tell groups apart. One in which each side has a
// single value does not: if the two are not the same, that is what is compared.
func (p *pairing) sortDimensions() {
	var names []string
	for _, side := range []*Side{p.a, p.b} {
		for _, d := range side.runs[0].at {
			names = union(names, d.Name)
		}
	}
	for _, name := range names {
		a, b := valuesOf(p.a.runs, name), valuesOf(p.b.runs, name)
		switch {
		case len(a) > 1 || len(b) > 1:
			p.kept = append(p.kept, name)
		case !slices.Equal(a, b):
			p.differ = append(p.differ, name)
		}
	}
}

// valuesOf lists the values of a dimension, each once.
func valuesOf(runs []run, name string) []string {
	var values []string
	for i := range runs {
		values = union(values, runs[i].value(name))
	}
	return values
}

func placesOf(runs []run) string {
	var all []string
	for i := range runs {
		all = union(all, placeOf(runs[i].at))
	}
	const few = 4
	if len(all) > few {
		return fmt.Sprintf("%s and %d more", join(all[:few]), len(all)-few)
	}
	return join(all)
}

func join(parts []string) string {
	out := ""
	for i, s := range parts {
		if i > 0 {
			out += "; "
		}
		out += s
	}
	return out
}

// place returns where a run stands in the kept dimensions.
func (p *pairing) place(r *run) []Dimension {
	var at []Dimension
	for _, name := range p.kept {
		at = append(at, Dimension{name, r.value(name)})
	}
	return at
}

// makeGroups makes the groups in the order of the first side.
func (p *pairing) makeGroups() {
	var all []group
	find := func(r *run) *group {
		at := p.place(r)
		i := slices.IndexFunc(all, func(g group) bool { return slices.Equal(g.of, at) })
		if i < 0 {
			i = len(all)
			all = append(all, group{of: at})
		}
		return &all[i]
	}
	for i := range p.a.runs {
		g := find(&p.a.runs[i])
		g.a = append(g.a, &p.a.runs[i])
	}
	for i := range p.b.runs {
		g := find(&p.b.runs[i])
		g.b = append(g.b, &p.b.runs[i])
	}
	for _, g := range all {
		switch {
		case len(g.a) == 0:
			p.alone = append(p.alone, placeOf(g.of)+" is in B only")
		case len(g.b) == 0:
			p.alone = append(p.alone, placeOf(g.of)+" is in A only")
		default:
			p.groups = append(p.groups, g)
		}
	}
}

// pairSeeds pairs runs of the same seed. One run on each side is a pair whatever its seed.
func (g *group) pairSeeds() {
	if len(g.a) == 1 && len(g.b) == 1 {
		g.pairs = [][2]*run{{g.a[0], g.b[0]}}
		return
	}
	for _, x := range g.a {
		i := slices.IndexFunc(g.b, func(y *run) bool { return y.Manifest.Seed == x.Manifest.Seed })
		if i < 0 {
			g.lone[0] = append(g.lone[0], x)
			continue
		}
		g.pairs = append(g.pairs, [2]*run{x, g.b[i]})
	}
	for _, y := range g.b {
		if !slices.ContainsFunc(g.a, func(x *run) bool { return x.Manifest.Seed == y.Manifest.Seed }) {
			g.lone[1] = append(g.lone[1], y)
		}
	}
}
