package policies

import (
	"slices"

	"github.com/gangplan/gangplan/sim"
)

// This file counts the bound pods that terms speak of.

// census counts pods in the domains of a level.
type census struct {
	tallyKey
	count   []int32 // per domain, from the level's first
	total   int32
	touched []int32 // domains with a count, in no order
	at      []int32 // their places in touched
	waiting []reader
}

// reader is a class of pods that wait because of a tally, maybe.
type reader struct {
	class int32
	how   how
}

// how a pod that waits reads a tally: it needs a pod there, or none, or evenness, or likes one.
type how uint8

const (
	needs how = iota
	shuns
	evens
	rates // it only makes nodes better or worse
)

// tallies are those of a run.
type tallies struct {
	*forms
	all  []census
	own  [][]int32 // per job: its own, while it has pods
	idle [][]int32 // per level: tallies that were a job's own
	room [][]int32 // lists that were in own
	in   map[scopeLevel][]int32
}

type scopeLevel struct{ scope, level int32 }

// newTallies returns the tallies of a run, nil if nobody asks anything of others.
func newTallies(v sim.View) *tallies {
	f := newForms(v)
	if f == nil {
		return nil
	}
	t := &tallies{forms: f, own: make([][]int32, v.Jobs()), idle: make([][]int32, len(v.Cluster().Levels)), in: map[scopeLevel][]int32{}}
	for _, k := range f.tallies {
		t.add(k)
	}
	return t
}

// add makes a tally and returns its number.
func (t *tallies) add(k tallyKey) int32 {
	first, last := t.v.Cluster().DomainsAt(k.level)
	t.all = append(t.all, census{tallyKey: k, count: make([]int32, last-first), at: make([]int32, last-first)})
	return int32(len(t.all) - 1)
}

// at returns the tally that a ref names for a job.
func (t *tallies) get(j int32, r ref) *census {
	if r < 0 {
		return &t.all[t.own[j][^r]]
	}
	return &t.all[r]
}

// open gives a job tallies of its own pods, if it needs some and has none.
func (t *tallies) open(j int32) {
	keys := t.of[j].own
	if len(keys) == 0 || t.own[j] != nil {
		return
	}
	var list []int32
	if n := len(t.room); n > 0 {
		list, t.room = t.room[n-1], t.room[:n-1]
	}
	for _, k := range keys {
		var n int32
		if idle := t.idle[k.level]; len(idle) > 0 {
			n, t.idle[k.level] = idle[len(idle)-1], idle[:len(idle)-1]
			t.all[n].tallyKey = k
		} else {
			n = t.add(k)
		}
		list = append(list, n)
	}
	t.own[j] = list
}

// close takes a job's own tallies away when they count nobody and nobody reads them. There
// would be ever more of them.
func (t *tallies) close(j int32) {
	list := t.own[j]
	if list == nil || slices.ContainsFunc(list, func(n int32) bool { return t.all[n].total > 0 || len(t.all[n].waiting) > 0 }) {
		return
	}
	for _, n := range list {
		level := t.all[n].level
		t.idle[level] = append(t.idle[level], n)
	}
	t.room, t.own[j] = append(t.room, list[:0]), nil
}

// change counts a pod on a node in, or with by = -1 out, and reports whether it counts there.
func (t *census) change(node, domain int32, by int32, scopes []scope) bool {
	if in := scopes[t.scope]; in != nil && !in[node] {
		return false
	}
	t.total += by
	switch t.count[domain] += by; {
	case by > 0 && t.count[domain] == by:
		t.at[domain] = int32(len(t.touched))
		t.touched = append(t.touched, domain)
	case t.count[domain] == 0:
		last := t.touched[len(t.touched)-1]
		t.touched[t.at[domain]], t.at[last] = last, t.at[domain]
		t.touched = t.touched[:len(t.touched)-1]
	}
	return true
}

// domain returns the domain of a node at a tally's level, from the level's first.
func (t *tallies) domain(y *census, node int32) int32 {
	c := t.v.Cluster()
	return c.DomainOf(node, y.level) - c.LevelStart[y.level]
}

// on returns how many pods a tally counts in the domain of a node.
func (t *tallies) on(y *census, node int32) int32 { return y.count[t.domain(y, node)] }

// domainsIn returns the domains of a level with a node in a scope, from the level's first;
// all is true where that is all of them.
func (t *tallies) domainsIn(scope, level int32) (list []int32, all bool) {
	if t.scopes[scope] == nil {
		return nil, true
	}
	key := scopeLevel{scope, level}
	list, ok := t.in[key]
	if !ok {
		c := t.v.Cluster()
		first, last := c.DomainsAt(level)
		for d := first; d < last; d++ {
			if slices.Contains(t.scopes[scope][c.Domains[d].First:c.Domains[d].Last], true) {
				list = append(list, d-first)
			}
		}
		t.in[key] = list
	}
	return list, false
}

// fewest returns how many pods the domain has that has fewest, of those that a constraint is
// about, and of them only those in the stretch of domains [from, to) from the level's first.
func (t *tallies) fewest(y *census, s *skew, from, to int32) int32 {
	list, all := t.domainsIn(s.scope, s.level)
	if all {
		if to-from < s.fewer || y.total < to-from {
			return 0
		}
		return slices.Min(y.count[from:to])
	}
	least, domains := int32(0), int32(0)
	for _, d := range list {
		if d >= from && d < to {
			if domains++; domains == 1 || y.count[d] < least {
				least = y.count[d]
			}
		}
	}
	if domains < s.fewer {
		return 0
	}
	return least
}
