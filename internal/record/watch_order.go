package record

import (
	"fmt"
	"slices"
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

// order compares the order of the admissions. Workloads that were created within one second
// come in any order: Kueue takes the older first, by whole seconds.
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
			if !c.chance(a, b) {
				l.Verdict, l.Detail = Outside, said
				return l
			}
			l.Verdict, l.Detail = Within, said+": both came in the same second, and the cluster's order is chance"
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

// chance reports whether nothing but chance orders two admissions.
func (c *comparer) chance(a, b admissionOf) bool {
	w := c.watched
	if s := w.Second[a.job]; s >= 0 && s == w.Second[b.job] {
		return true
	}
	second := func(x admissionOf) int64 { return w.job(x.job).Admissions[x.n].At / 1e9 }
	return c.coarse && second(a) == second(b)
}
