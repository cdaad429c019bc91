package policies

import (
	"fmt"
	"maps"
	"slices"

	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/workloads"
)

// This file works out once, before a run, which pods mean which others: what kube-scheduler
// calls pod affinity and anti-affinity and topology spread constraints. They are judged pod
// by pod, against the pods that are bound already: none knows how many are still to come.

// form is what the pods of some jobs, that say the same of themselves and others, ask and
// are asked. Its lists name tallies; those of job's own pods are told apart by job.
type form struct {
	own     []tallyKey // tallies of each job's own pods
	counted []ref      // where its pods count once they are bound
	sets    []ask      // per PodSet
}

// ask is the form of the pods of a PodSet: what others' pods must be on a node, or not.
type ask struct {
	need   []ref // some pod there; of required affinity
	first  bool  // the pods mean each other: without any, the first may go anywhere
	forbid []ref // no pod there; of anti-affinity, theirs and of others against them
	skew   []skew
	near   []weighed // for InterPodAffinity
	soft   []skew    // for PodTopologySpread
	reads  []ref     // all of these, each once
}

// ref names a tally: one of the run's, or, from the other end, one of a job's own.
type ref int32

func ownRef(i int) ref { return ref(^i) }

// skew is a topology spread constraint.
type skew struct {
	ref
	level int32
	most  int32
	self  int32 // 1 if the pods count themselves
	fewer int32 // minDomains
	scope int32
	all   bool // about all nodes, also those that the pods may not go to
}

// weighed is a tally whose pods make a domain better, or worse, each by its weight.
type weighed struct {
	ref
	weight int64
}

// tallyKey says what a tally counts: pods that are meant, in the domains of a level.
type tallyKey struct {
	mark   int32
	level  int32
	term   int32 // 1 + the term whose owners are counted instead; 0: those who are meant
	scope  int32 // only on nodes of it; of topology spread
	spread bool  // until they are told to end; others until they are gone
}

// self is the mark of the pods of a job itself, nobody that of none.
const (
	self   = -1
	nobody = -2
)

// mark is a set of pods that terms mean: those that all of its selectors select.
type mark []workloads.PodSelector

func (m mark) has(j *workloads.Job) bool {
	return !slices.ContainsFunc(m, func(s workloads.PodSelector) bool { return !s.Selects(j, "") })
}

// ownedTerm is a term of affinity whose owners count, since it speaks of others' pods too.
type ownedTerm struct {
	mark, level int32
	weight      int64 // for scores; 0: it forbids
}

// scope is some of the nodes: those that a spread constraint is about. nil is all.
type scope []bool

// forms works the forms out.
type forms struct {
	v       sim.View
	marks   []mark
	markOf  map[string]int32
	terms   []ownedTerm
	termOf  map[ownedTerm]int32
	scopes  []scope
	scopeOf map[string]int32
	tallies []tallyKey
	tallyOf map[tallyKey]ref
	of      []*form // per job; nil: nobody asks anything of anybody
	byText  map[string]*form
}

// newForms returns the forms of all jobs, or nil if no job asks anything.
func newForms(v sim.View) *forms {
	f := &forms{v: v, markOf: map[string]int32{}, termOf: map[ownedTerm]int32{}, scopes: []scope{nil}, scopeOf: map[string]int32{},
		tallyOf: map[tallyKey]ref{}, byText: map[string]*form{}}
	asks := false
	for j := range int32(v.Jobs()) {
		job := v.Job(j)
		asks = asks || len(job.Affinity)+len(job.AntiAffinity)+len(job.Spread) > 0
		f.collect(job)
	}
	if !asks {
		return nil
	}
	f.of = make([]*form, v.Jobs())
	var firsts []int32 // jobs, of each form one
	for j := range int32(v.Jobs()) {
		text := f.textOf(v.Job(j))
		if f.byText[text] == nil {
			f.byText[text] = f.form(j)
			firsts = append(firsts, j)
		}
		f.of[j] = f.byText[text]
	}
	for _, j := range firsts {
		f.count(j)
	}
	return f
}

// textOf writes all that decides a job's form.
func (f *forms) textOf(j *workloads.Job) string {
	text := j.Namespace
	for _, key := range slices.Sorted(maps.Keys(j.Labels)) {
		text += fmt.Sprintf("|%q=%q", key, j.Labels[key])
	}
	for _, t := range slices.Concat(j.Affinity, j.AntiAffinity) {
		text += fmt.Sprintf("|%q %d %+v", t.Level, t.Weight, t.Of)
	}
	text += fmt.Sprint("|", len(j.Affinity))
	for _, s := range j.Spread {
		of := s.Of
		s.Of = nil
		text += fmt.Sprintf("|%+v %+v", s, of)
	}
	for i := range j.PodSets {
		if text += "|"; len(j.Spread) > 0 {
			text += scopeText(&j.PodSets[i], true)
		}
	}
	return text
}

// markOne returns the mark of what a selector means for pods of a job; nil means the job's.
func (f *forms) markOne(s *workloads.PodSelector, j *workloads.Job) int32 {
	if s == nil {
		return self
	}
	return f.number(mark{settled(s, j)})
}

// settled is a selector that does not hang on who asks.
func settled(s *workloads.PodSelector, j *workloads.Job) workloads.PodSelector {
	if len(s.Namespaces) == 0 {
		return workloads.PodSelector{Namespaces: []string{j.Namespace}, Match: s.Match, None: s.None}
	}
	return *s
}

func (f *forms) number(m mark) int32 {
	text := fmt.Sprintf("%+v", []workloads.PodSelector(m))
	n, ok := f.markOf[text]
	if !ok {
		n = int32(len(f.marks))
		f.marks, f.markOf[text] = append(f.marks, m), n
	}
	return n
}

// markAll returns the mark of the pods that all required terms of affinity mean.
func (f *forms) markAll(j *workloads.Job) int32 {
	var all mark
	own := false
	for _, t := range j.Affinity {
		if t.Weight > 0 {
			continue
		}
		if t.Of == nil {
			own = true
		} else if s := settled(t.Of, j); true {
			all = append(all, s)
		}
	}
	switch {
	case own && all.has(j):
		return self
	case own:
		return nobody
	}
	return f.number(all)
}

// collect numbers the terms of a job whose owners count for others.
func (f *forms) collect(j *workloads.Job) {
	for _, t := range j.Affinity {
		f.own(t, j, 1)
	}
	for _, t := range j.AntiAffinity {
		f.own(t, j, -1)
	}
}

// own returns the number of a term, which it gets if it speaks of others' pods too.
func (f *forms) own(t workloads.PodTerm, j *workloads.Job, sign int64) (n int32, ok bool) {
	if t.Of == nil {
		return 0, false
	}
	o := ownedTerm{f.markOne(t.Of, j), f.v.Cluster().Level(t.Level), sign * int64(t.Weight)}
	if t.Weight == 0 && sign > 0 {
		o.weight = 1 // what is required of others counts as much as the weakest preference
	}
	n, ok = f.termOf[o]
	if !ok {
		n = int32(len(f.terms))
		f.terms, f.termOf[o] = append(f.terms, o), n
	}
	return n, true
}

// scopeText writes what decides the scope of a PodSet's constraints.
func scopeText(s *workloads.PodSet, taints bool) string {
	text := ""
	if s.NodeSelector != nil || s.NodeAffinity.Required != nil {
		text = fmt.Sprintf("%+v %+v", s.NodeSelector, s.NodeAffinity.Required)
	}
	if taints {
		text += fmt.Sprintf(" %+v", s.Tolerated())
	}
	return text
}

// scope returns the nodes that a constraint of a PodSet is about.
func (f *forms) scope(s *workloads.PodSet, c *workloads.SpreadConstraint) int32 {
	set := *s
	if c.AllNodes {
		set.NodeSelector, set.NodeAffinity = nil, topology.NodeAffinity{}
	}
	text := scopeText(&set, c.Taints)
	n, ok := f.scopeOf[text]
	if !ok {
		in := f.inside(&set, c.Taints)
		if in != nil {
			n = int32(len(f.scopes))
			f.scopes = append(f.scopes, in)
		}
		f.scopeOf[text] = n
	}
	return n
}

func (f *forms) inside(s *workloads.PodSet, taints bool) scope {
	nodes := f.v.Cluster().Nodes
	in, some := make(scope, len(nodes)), false
	for i := range nodes {
		n := &nodes[i]
		in[i] = topology.MatchAll(s.NodeSelector, n.Labels) && s.NodeAffinity.Allows(n.Labels) &&
			(!taints || topology.Untolerated(n.Taints, s.Tolerated()) == nil)
		some = some || !in[i]
	}
	if !some {
		return nil
	}
	return in
}
