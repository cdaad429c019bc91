package record

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gangplan/gangplan/traces/kube"
)

// notes says what a reader should know about the record.
func (w *Watch) notes(c *clock, named map[string]*unit) (notes []string) {
	received, lived := 0, 0
	for _, u := range named {
		if t := u.first(); t.created.got > 0 {
			received++
			if c.live(t) {
				lived++
			}
		}
	}
	switch {
	case received == 0:
		notes = append(notes, "the record has no times of receipt: its times are whole seconds, and the tolerance is a second wider")
	case lived < len(named):
		notes = append(notes, fmt.Sprintf("%d of %d jobs had been there for a while when they were first printed: what happened before is known to the second, or not at all; "+
			"watch first, and look at the clock of the machine that watches", len(named)-lived, len(named)))
	}
	if c.behind > 0 {
		notes = append(notes, fmt.Sprintf("the clock of the times of receipt is behind the cluster's by %v or more: they were put forward by that", time.Duration(c.behind).Round(time.Millisecond)))
	}
	return append(notes, w.missing(named)...)
}

// missing says which kinds somebody did not watch, and what came that says nothing.
func (w *Watch) missing(named map[string]*unit) (notes []string) {
	if !w.has(func(t *thing) bool { return t.Pod != nil }) {
		notes = append(notes, "the record has no pods, so nothing is said of them: expected what kubectl get pods prints too")
	}
	if !w.has(func(t *thing) bool { return t.Job != nil }) {
		notes = append(notes, "the record has no Jobs: expected what kubectl get jobs prints too")
	}
	queued := false
	for _, u := range named {
		for _, t := range u.jobs {
			queued = queued || t.Job.Queue != ""
		}
	}
	if queued && !w.has(func(t *thing) bool { return t.Workload != nil }) {
		notes = append(notes, "Jobs have a queue, but the record has no Workloads: expected what kubectl get workloads prints too")
	}
	var ignored []string
	for _, k := range w.Ignored {
		if k.Name == "error" {
			notes = append(notes, "the server ended a watch with an error: what came after it may be missing")
		} else if k.Name != "bookmark" {
			ignored = append(ignored, fmt.Sprintf("%d %s", k.Count, k.Name))
		}
	}
	if len(ignored) > 0 {
		notes = append(notes, "says nothing about jobs, and was left out: "+strings.Join(ignored, ", "))
	}
	return notes
}

func (w *Watch) has(what func(*thing) bool) bool { return slices.ContainsFunc(w.order, what) }

// addIgnored counts what was left out, by kind.
func (w *Watch) addIgnored(list []kube.Kind) {
	for _, k := range list {
		i := slices.IndexFunc(w.Ignored, func(have kube.Kind) bool { return have.Name == k.Name })
		if i < 0 {
			i, w.Ignored = len(w.Ignored), append(w.Ignored, kube.Kind{Name: k.Name})
		}
		w.Ignored[i].Count += k.Count
	}
	slices.SortFunc(w.Ignored, func(a, b kube.Kind) int { return cmp.Compare(a.Name, b.Name) })
}
