package record

import (
	"cmp"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/gangplan/gangplan/traces/kube"
)

// Watch gathers what kubectl printed of a cluster, object by object. Streams of different
// kinds may come one after the other: only the order within an object matters.
type Watch struct {
	Namespace string            // only what is in it counts; empty: all
	Ignored   []kube.Kind       // what says nothing about jobs, and how often it came
	things    map[string]*thing // by UID
	named     map[string]*thing // as kubectl names them; of several the last
	order     []*thing          // as they came first
	seen      int               // sightings so far
}

// moment is when something changed: when that was received, and the second that the object
// says. Either may be missing, as nanoseconds since 1970 that are 0.
type moment struct {
	got, own int64
	first    bool // the object was seen for the first time: it may have changed long before
	guessed  bool // own is the latest that the object says, and not of this change
}

// thing is one object over time.
type thing struct {
	kube.Sighting        // as it was last
	created       moment // received: when it was seen first
	gone          moment // zero while it is there
	changes       []change
	last          int // sighting, of all
}

// change is something that happened to an object.
type change struct {
	moment
	kind   changeKind
	reason string                       // of an eviction
	node   string                       // of a binding
	given  []kube.Assignment            // of an admission
	queue  struct{ until, count int64 } // of a requeue
	order  int                          // among all sightings
}

type changeKind uint8

const (
	bound changeKind = iota
	ready
	unready
	succeeded
	failed
	admitted
	moved // to other nodes, while it is admitted
	cleared
	evicted
	requeued
	deactivated
	activated
	suspended
	unsuspended
	complete
	criteriaMet
	finished
)

// Read reads a file that kubectl printed. The error is a *kube.Error.
func (w *Watch) Read(name string, r io.Reader) error {
	ignored, err := kube.ReadWatch(name, r, w.add)
	w.addIgnored(ignored)
	return err
}

// add takes a sighting. One that is older than the last of its object says nothing new:
// somebody watched twice.
func (w *Watch) add(s *kube.Sighting) error {
	if w.seen++; w.Namespace != "" && s.Namespace != w.Namespace && s.Kind != "Node" {
		return nil
	}
	key := cmp.Or(s.UID, s.String())
	t, known := w.things[key]
	if !known {
		t = &thing{created: moment{got: nanos(s.Received), own: nanos(s.Created), first: true}}
		if w.things == nil {
			w.things, w.named = map[string]*thing{}, map[string]*thing{}
		}
		w.things[key], w.named[s.String()], w.order = t, t, append(w.order, t)
	} else if s.Version > 0 && (s.Version < t.Version || s.Version == t.Version && !s.Gone) {
		return nil
	}
	t.look(s, !known, w.seen)
	t.Sighting, t.last = *s, w.seen
	return nil
}

// nanos returns a time as nanoseconds since 1970, 0 for the zero time.
func nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

// look notes what is different from how the object was last.
func (t *thing) look(s *kube.Sighting, first bool, order int) {
	l := look{thing: t, now: s, first: first, order: order}
	switch {
	case s.Pod != nil:
		l.pod()
	case s.Job != nil:
		l.job()
	case s.Workload != nil:
		l.workload()
	}
	if s.Gone {
		t.gone = l.when(0)
	}
}

// look is an object as it was last and as it is now.
type look struct {
	*thing
	now   *kube.Sighting
	first bool
	order int
}

// when is the moment of a change for which the object gives a time. For one that it gives
// none for, the latest it has must do unless the time of receipt is known.
func (l *look) when(own int64) moment {
	m := moment{got: nanos(l.now.Received), own: own, first: l.first}
	if own == 0 && (m.got == 0 || l.first) {
		m.guessed, m.own = true, max(nanos(l.now.Created), nanos(l.now.Terminated))
		for i := range l.now.Conditions {
			m.own = max(m.own, nanos(l.now.Conditions[i].Since))
		}
		if l.now.Pod != nil {
			m.own = max(m.own, nanos(l.now.Pod.Ended))
		}
	}
	return m
}

// note adds a change. Guesses before it cannot be better than its time: changes are seen in
// their order.
func (l *look) note(kind changeKind, own int64) *change {
	m := l.when(own)
	for i := len(l.changes) - 1; i >= 0 && l.changes[i].guessed && !m.guessed; i-- {
		l.changes[i].own, l.changes[i].guessed = m.own, false
	}
	l.changes = append(l.changes, change{moment: m, kind: kind, order: l.order})
	return &l.changes[len(l.changes)-1]
}

// since returns since when a condition is as it is, 0 if that is not known.
func (l *look) since(name string) int64 {
	if c := l.now.Condition(name); c != nil {
		return nanos(c.Since)
	}
	return 0
}

// turned reports whether a condition holds that did not hold before, or that stopped holding
// and began again between the two.
func (l *look) turned(name string) bool {
	now, was := l.now.Condition(name), l.Condition(name)
	return now != nil && now.True && (was == nil || !was.True || !was.Since.Equal(now.Since))
}

func (l *look) pod() {
	now, was := l.now.Pod, &kube.SeenPod{}
	if l.Pod != nil {
		was = l.Pod
	}
	if now.Node != "" && was.Node == "" {
		l.note(bound, l.since("PodScheduled")).node = now.Node
	}
	is, held := isReady(l.now), isReady(&l.Sighting)
	switch {
	case now.Phase == "Succeeded" && was.Phase != "Succeeded":
		l.note(succeeded, nanos(now.Ended))
	case now.Phase == "Failed" && was.Phase != "Failed":
		l.note(failed, nanos(now.Ended))
	case is && (!held || l.turned("Ready")):
		l.note(ready, l.since("Ready"))
	case held && !is:
		l.note(unready, cmp.Or(nanos(l.now.Terminated), l.since("Ready")))
	}
}

// isReady reports whether a pod counts as ready: not once it is told to stop.
func isReady(s *kube.Sighting) bool {
	return s.Pod != nil && s.Is("Ready") && s.Terminated.IsZero() && !s.Gone && s.Pod.Phase != "Succeeded" && s.Pod.Phase != "Failed"
}

func (l *look) job() {
	now := l.now.Job
	switch {
	case now.Suspended && l.Job != nil && !l.Job.Suspended:
		l.note(suspended, l.since("Suspended"))
	case !now.Suspended && l.Job != nil && l.Job.Suspended, !now.Suspended && l.Job == nil && !now.Started.IsZero():
		l.note(unsuspended, nanos(now.Started))
	}
	for _, c := range []struct {
		name string
		kind changeKind
	}{{"SuccessCriteriaMet", criteriaMet}, {"Complete", complete}, {"Failed", failed}} {
		if l.turned(c.name) {
			l.note(c.kind, l.since(c.name))
		}
	}
}

func (l *look) workload() {
	now, was := l.now.Workload, &kube.SeenWorkload{Active: true}
	if l.Workload != nil {
		was = l.Workload
	}
	if l.turned("Evicted") || l.now.Is("Evicted") && l.now.Condition("Evicted").Reason != l.Condition("Evicted").Reason {
		l.note(evicted, l.since("Evicted")).reason = l.now.Condition("Evicted").Reason
	}
	if now.Requeues != was.Requeues || !now.RequeueAt.Equal(was.RequeueAt) {
		since := l.since("Evicted")
		if now.RequeueAt.IsZero() && now.Requeues > 0 { // its wait is over
			since = l.since("Requeued")
		} else if now.RequeueAt.IsZero() {
			since = l.gaveUp()
		}
		c := l.note(requeued, since)
		c.queue.count, c.queue.until = int64(now.Requeues), nanos(now.RequeueAt)
	}
	if now.Active != was.Active {
		kind := deactivated
		if now.Active {
			kind = activated
		}
		l.note(kind, l.gaveUp())
	}
	if was.Assignments != nil && now.Assignments == nil {
		l.note(cleared, l.since("QuotaReserved"))
	}
	if l.turned("Admitted") {
		l.note(admitted, l.since("Admitted")).given = now.Assignments
	} else if l.now.Is("Admitted") && was.Assignments != nil && !slices.EqualFunc(now.Assignments, was.Assignments, sameHosts) {
		l.note(moved, 0).given = now.Assignments
	}
	if l.turned("Finished") {
		l.note(finished, l.since("Finished"))
	}
}

// gaveUp returns since when the Workload is out of its queue for good, 0 if it does not say.
func (l *look) gaveUp() int64 {
	if c := l.now.Condition("Evicted"); c != nil && c.True && strings.HasPrefix(c.Reason, "Deactivated") {
		return nanos(c.Since)
	}
	if l.now.Is("DeactivationTarget") {
		return l.since("DeactivationTarget")
	}
	return 0
}

func sameHosts(a, b kube.Assignment) bool { return slices.Equal(a.Hosts, b.Hosts) }
