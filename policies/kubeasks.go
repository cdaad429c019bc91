package policies

import (
	"slices"

	"github.com/gangplan/gangplan/workloads"
)

// This file fills in the form of a job.

// filler fills in the form of one job.
type filler struct {
	*forms
	job *workloads.Job
	out *form
	ask *ask
}

// form returns what the pods of a job ask and are asked.
func (f *forms) form(j int32) *form {
	fill := filler{forms: f, job: f.v.Job(j), out: &form{}}
	fill.out.sets = make([]ask, len(fill.job.PodSets))
	for i := range fill.out.sets {
		fill.ask = &fill.out.sets[i]
		fill.affinity()
		fill.spread(&fill.job.PodSets[i])
		fill.asked()
		fill.listReads()
	}
	return fill.out
}

// tally returns the ref of a tally.
func (f *filler) tally(k tallyKey) ref {
	if k.mark == self {
		i := slices.Index(f.out.own, k)
		if i < 0 {
			i = len(f.out.own)
			f.out.own = append(f.out.own, k)
		}
		return ownRef(i)
	}
	r, ok := f.tallyOf[k]
	if !ok {
		r = ref(len(f.tallies))
		f.tallies, f.tallyOf[k] = append(f.tallies, k), r
	}
	return r
}

func (f *filler) level(name string) int32 { return f.v.Cluster().Level(name) }

// affinity fills in the terms of affinity of the job itself.
func (f *filler) affinity() {
	all := int32(nobody)
	for _, t := range f.job.Affinity {
		if t.Weight == 0 {
			all = f.markAll(f.job)
		}
	}
	for _, t := range f.job.Affinity {
		if t.Weight == 0 {
			f.ask.need = append(f.ask.need, f.tally(tallyKey{mark: all, level: f.level(t.Level)}))
		} else {
			f.weigh(tallyKey{mark: f.markOne(t.Of, f.job), level: f.level(t.Level)}, int64(t.Weight))
		}
	}
	f.ask.first = all == self || all >= 0 && f.marks[all].has(f.job)
	for _, t := range f.job.AntiAffinity {
		k := tallyKey{mark: f.markOne(t.Of, f.job), level: f.level(t.Level)}
		if t.Weight == 0 {
			f.ask.forbid = append(f.ask.forbid, f.tally(k))
		} else {
			f.weigh(k, -int64(t.Weight))
		}
	}
}

func (f *filler) weigh(k tallyKey, weight int64) {
	f.ask.near = append(f.ask.near, weighed{f.tally(k), weight})
}

// spread fills in the topology spread constraints of the job.
func (f *filler) spread(set *workloads.PodSet) {
	for i := range f.job.Spread {
		c := &f.job.Spread[i]
		s := skew{level: f.level(c.Level), most: c.MaxSkew, fewer: c.MinDomains, scope: f.scope(set, c), all: c.AllNodes}
		m := f.markOne(c.Of, f.job)
		if m == self || f.marks[m].has(f.job) {
			s.self = 1
		}
		k := tallyKey{mark: m, level: s.level, scope: s.scope, spread: true}
		if c.Soft {
			if s.level == f.v.Cluster().HostLevel() {
				k.scope = 0 // on a node its own pods count, whatever the constraint is about
			}
			s.ref = f.tally(k)
			f.ask.soft = append(f.ask.soft, s)
		} else {
			s.ref = f.tally(k)
			f.ask.skew = append(f.ask.skew, s)
		}
	}
}

// asked fills in what terms ask of the job's pods: those of others that mean them, and, of
// the job's own that mean its pods only, what they say of each other. A bound pod prefers a
// new one as much as that prefers it; so what a job's pods prefer of each other counts twice.
func (f *filler) asked() {
	for i, t := range f.terms {
		if !f.marks[t.mark].has(f.job) {
			continue
		}
		owners := f.tally(tallyKey{mark: t.mark, level: t.level, term: int32(i) + 1})
		if t.weight == 0 {
			f.ask.forbid = append(f.ask.forbid, owners)
		} else {
			f.ask.near = append(f.ask.near, weighed{owners, t.weight})
		}
	}
	for _, t := range f.job.Affinity {
		if t.Of == nil {
			f.weigh(tallyKey{mark: self, level: f.level(t.Level)}, max(1, int64(t.Weight)))
		}
	}
	for _, t := range f.job.AntiAffinity {
		if t.Of == nil && t.Weight > 0 {
			f.weigh(tallyKey{mark: self, level: f.level(t.Level)}, -int64(t.Weight))
		}
	}
}

// listReads lists the tallies that the pods are judged by.
func (f *filler) listReads() {
	a := f.ask
	add := func(r ref) {
		if !slices.Contains(a.reads, r) {
			a.reads = append(a.reads, r)
		}
	}
	for _, r := range slices.Concat(a.need, a.forbid) {
		add(r)
	}
	for _, s := range slices.Concat(a.skew, a.soft) {
		add(s.ref)
	}
	for _, w := range a.near {
		add(w.ref)
	}
}

// count fills in where the pods of a job's form count. All tallies are known by now.
func (f *forms) count(j int32) {
	out := f.of[j]
	for k := range out.own {
		out.counted = append(out.counted, ownRef(k))
	}
	for r, k := range f.tallies {
		for range f.timesIn(k, f.v.Job(j)) {
			out.counted = append(out.counted, ref(r))
		}
	}
}

// timesIn returns how many times each pod of a job counts in a tally: as an owner once for
// every such term of its.
func (f *forms) timesIn(k tallyKey, j *workloads.Job) (times int) {
	switch {
	case k.mark == nobody:
	case k.term > 0:
		for _, t := range j.Affinity {
			times += f.isTerm(t, j, 1, k.term-1)
		}
		for _, t := range j.AntiAffinity {
			times += f.isTerm(t, j, -1, k.term-1)
		}
	case f.marks[k.mark].has(j):
		times = 1
	}
	return times
}

func (f *forms) isTerm(t workloads.PodTerm, j *workloads.Job, sign int64, n int32) int {
	if is, ok := f.own(t, j, sign); ok && is == n {
		return 1
	}
	return 0
}
