package record

import "fmt"

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

// order compares the order of the admissions that both sides have. Workloads that were created
// within one second come in any order: Kueue takes the older first, by whole seconds.
func (c *comparer) order() Line {
	cluster, place := nth(c.watched.Decisions), map[admissionOf]int{}
	for i, a := range nth(c.run.Long.Decisions) {
		place[a] = i + 1
	}
	l := Line{What: "admission order", Cluster: admissions(len(cluster)), Model: "the same", Verdict: Equal}
	for i, a := range cluster {
		for _, b := range cluster[:i] {
			if place[a] == 0 || place[b] <= place[a] {
				continue
			}
			said := fmt.Sprintf("the cluster admitted %s before %s, gangplan %s before %s", b.job, a.job, a.job, b.job)
			if !c.chance(a, b) {
				l.Model, l.Verdict, l.Detail = "another", Outside, said
				return l
			}
			l.Model, l.Verdict, l.Detail = "as good", Within, said+": they are of the same second, and the cluster's order is chance"
		}
	}
	return l
}

func admissions(n int) string {
	if n == 1 {
		return "1 admission"
	}
	return fmt.Sprintf("%d admissions", n)
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
