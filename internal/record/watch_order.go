package record

import (
	"fmt"
	"slices"
	"time"
)

// admissionOf is the n-th admission of a job.
type admissionOf struct {
	job string
	n   int
}

// nth numbers the admissions of each job.
func nth(decisions []string) (list []admissionOf) {
	times := map[string]int{}
	for _, name := range decisions {
		list = append(list, admissionOf{name, times[name]})
		times[name]++
	}
	return list
}

// oneCycle is how far apart the admissions of one cycle of Kueue may be seen: they are decided
// together, and written one beside the other.
const oneCycle = 100 * int64(time.Millisecond)

// order compares the order of the admissions. Some is chance: of Workloads that were created
// within one second, of which Kueue takes the older first by whole seconds, and of admissions
// that are written at the same time.
func (c *comparer) order() Line {
	cluster, model := nth(c.watched.Decisions), c.seenOf(nth(c.run.Long.Decisions))
	l := Line{What: "admission order", Cluster: counted(int32(len(cluster)), "admission"), Model: counted(int32(len(model)), "admission"), Verdict: Equal}
	place := map[admissionOf]int{}
	for i, a := range model {
		place[a] = i + 1
	}
	for i, a := range cluster {
		for _, b := range cluster[:i] {
			if place[a] == 0 || place[b] <= place[a] {
				continue
			}
			said := fmt.Sprintf("the cluster admitted %s before %s, gangplan %s before %s", b.job, a.job, a.job, b.job)
			if !c.chance(b, a) {
				l.Verdict, l.Detail = Outside, said
				return l
			}
			l.Verdict, l.Detail = Within, said+": it is chance, since both were created, or admitted, at the same time"
		}
	}
	if one, other := without(cluster, model), without(model, cluster); len(one)+len(other) > 0 {
		l.Verdict, l.Detail = Outside, onlyOne(one, other)
	}
	return l
}

// seenOf drops the admissions of the run that may have come after the record.
func (c *comparer) seenOf(model []admissionOf) []admissionOf {
	return slices.DeleteFunc(model, func(a admissionOf) bool {
		j := c.watched.job(a.job)
		c.submitted = j.Submit
		return a.n >= len(j.Admissions) && c.foreseen(c.run.Long.job(a.job).Admissions[a.n].At)
	})
}

// without returns what the one has and the other has not.
func without(one, other []admissionOf) []admissionOf {
	have := map[admissionOf]bool{}
	for _, a := range other {
		have[a] = true
	}
	return slices.DeleteFunc(slices.Clone(one), func(a admissionOf) bool { return have[a] })
}

func onlyOne(cluster, model []admissionOf) string {
	who, a := "the cluster", admissionOf{}
	if len(cluster) > 0 {
		a = cluster[0]
	} else {
		who, a = "gangplan", model[0]
	}
	if a.n == 0 {
		return fmt.Sprintf("only %s admitted %s", who, a.job)
	}
	return fmt.Sprintf("only %s admitted %s %d times", who, a.job, a.n+1)
}

// chance reports whether nothing but chance had one admission come before another.
func (c *comparer) chance(a, b admissionOf) bool {
	w := c.watched
	if s := w.Second[a.job]; s >= 0 && s == w.Second[b.job] {
		return true
	}
	at := func(x admissionOf) int64 { return w.job(x.job).Admissions[x.n].At }
	return at(b)-at(a) < oneCycle || c.coarse && at(a)/1e9 == at(b)/1e9
}
