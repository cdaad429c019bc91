package verify

import (
	"reflect"
	"strings"

	"github.com/gangplan/gangplan/internal/record"
)

// renamings are the ways in which jobs that are alike can stand for one another so that one
// of the recorded orders comes out: one per recorded value of the order that decides.
func (c *timelineCase) renamings(r *record.Record) (out []map[string]string) {
	classes := c.alike()
	if len(classes) == len(c.scenario.Jobs) {
		return nil
	}
	got := fieldsOf(r.Outcome())
	for _, field := range []string{decisionOrder, admissionOrder, completionOrder, evictionOrder} {
		for _, want := range c.values(field) {
			out = append(out, renaming(classes, want, got[field]))
		}
	}
	return out
}

// alike lists the names of the jobs that differ in nothing but their names.
func (c *timelineCase) alike() (classes [][]string) {
	var first []timelineJob
jobs:
	for _, j := range c.scenario.Jobs {
		name := j.Name
		j.Name = ""
		for i := range first {
			if reflect.DeepEqual(j, first[i]) {
				classes[i] = append(classes[i], name)
				continue jobs
			}
		}
		first, classes = append(first, j), append(classes, []string{name})
	}
	return classes
}

// renaming maps, class by class, the names in the order of got to those in the order of
// want. Names that an order does not have come last.
func renaming(classes [][]string, want, got any) map[string]string {
	names := map[string]string{}
	for _, class := range classes {
		from, to := firstSeen(class, got), firstSeen(class, want)
		for i := range from {
			names[from[i]] = to[i]
		}
	}
	return names
}

// firstSeen returns the names of a class in the order in which a list has them first.
func firstSeen(class []string, list any) (out []string) {
	entries, _ := list.([]any)
	seen := map[string]bool{}
	take := func(name string) {
		for _, of := range class {
			if of == name && !seen[name] {
				seen[name], out = true, append(out, name)
			}
		}
	}
	for _, e := range entries {
		name, _, _ := strings.Cut(text(e), ":")
		take(name)
	}
	for _, name := range class {
		take(name)
	}
	return out
}

// renamed is a record in which jobs have other names.
func renamed(r *record.Record, names map[string]string) *record.Record {
	out := *r
	out.Jobs, out.Decisions = nil, nil
	for _, j := range r.Jobs {
		j.Name = names[j.Name]
		out.Jobs = append(out.Jobs, j)
	}
	for _, d := range r.Decisions {
		out.Decisions = append(out.Decisions, names[d])
	}
	return &out
}
