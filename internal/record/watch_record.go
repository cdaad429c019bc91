package record

import (
	"cmp"
	"slices"
	"time"
)

// Watched is what was seen of a cluster, as a record.
type Watched struct {
	Record
	Begin  time.Time        // time 0 of the record: the first of the scenario's jobs was created
	Coarse map[string]bool  // jobs of which something is known to the second only
	Second map[string]int64 // the second since 1970 in which the Workload of a job was created
	Others []string         // jobs that the scenario does not have
	Hosts  []string         // nodes that were seen, by name
	GPUs   int64            // of these nodes, in thousandths
	NoPods bool             // no pod was watched
	Notes  []string         // sentences about how good the record is
}

// Offset is how far time 0 lies in a second of the cluster's clock.
func (w *Watched) Offset() int64 { return int64(w.Begin.Nanosecond()) }

// late is how much later than the second in which something happened news of it may arrive
// and still say when it was: to the end of that second, and a second and a half for the way.
const late = 2500 * int64(time.Millisecond)

// clock turns moments into times.
type clock struct {
	behind int64 // how far the clock of the times of receipt is at least behind the cluster's
	zero   int64
	coarse bool // a time was taken that is known to the second only
}

// newClock compares the clocks: nothing can be received before the second in which it was
// created.
func newClock(things []*thing) *clock {
	c := &clock{}
	for _, t := range things {
		if t.created.got > 0 {
			c.behind = max(c.behind, t.created.own-t.created.got)
		}
	}
	return c
}

// live reports whether an object was seen as it came into being.
func (c *clock) live(t *thing) bool {
	return t.created.got > 0 && t.created.got+c.behind-t.created.own < late
}

// at returns when something happened to an object, in nanoseconds since 1970. The time of
// receipt is the better one, unless the news is old.
func (c *clock) at(t *thing, m moment) int64 {
	if got := m.got + c.behind; m.got > 0 && (m.own == 0 || got-m.own < late && (!m.first || c.live(t))) {
		return got
	}
	c.coarse = true
	return m.own
}

// Record makes a record of what was seen. The ids are those of a scenario's jobs: they give
// the jobs their names, and time 0 is when the first of them was created.
func (w *Watch) Record(ids []string) (*Watched, error) {
	units := w.units()
	if len(units) == 0 {
		return nil, w.noJobs()
	}
	named, others, err := match(units, ids)
	if err != nil {
		return nil, err
	}
	out := &Watched{Coarse: map[string]bool{}, Second: map[string]int64{}}
	c := newClock(w.order)
	for _, u := range named {
		if at := u.submitted(c); c.zero == 0 || at < c.zero {
			c.zero = at
		}
	}
	var order []decision
	for _, id := range ids {
		if u := named[id]; u != nil {
			c.coarse = false
			out.Jobs = append(out.Jobs, u.record(c, id))
			out.Coarse[id] = c.coarse
			order = append(order, u.decisions(c, id)...)
			out.Second[id] = u.second()
		}
	}
	for _, u := range others {
		out.Others = append(out.Others, u.namespace+"/"+u.name)
	}
	slices.Sort(out.Others)
	out.Decisions, out.Begin = inOrder(order), time.Unix(0, c.zero).UTC()
	out.End = w.end(c)
	w.nodes(out)
	out.Notes, out.NoPods = w.notes(c, named), !w.has(func(t *thing) bool { return t.Pod != nil })
	return out, nil
}

// second is the second in which the Workload was created, of which Kueue takes the oldest
// first; -1 without one.
func (u *unit) second() int64 {
	if len(u.workloads) == 0 {
		return -1
	}
	return u.workloads[0].Created.Unix()
}

// decision is an admission among others.
type decision struct {
	id    string
	at    int64
	order int
}

// decisions are the admissions of a unit.
func (u *unit) decisions(c *clock, id string) (list []decision) {
	for _, t := range u.workloads {
		for _, x := range t.changes {
			if x.kind == admitted {
				list = append(list, decision{id, c.at(t, x.moment), x.order})
			}
		}
	}
	return list
}

// inOrder returns the ids by time, and within the same nanosecond as they were printed.
func inOrder(list []decision) (ids []string) {
	slices.SortStableFunc(list, func(a, b decision) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.order, b.order))
	})
	for _, d := range list {
		ids = append(ids, d.id)
	}
	return ids
}

// end is the last time that anything was seen.
func (w *Watch) end(c *clock) (end int64) {
	for _, t := range w.order {
		for _, m := range append([]moment{t.created, t.gone, {got: nanos(t.Received)}}, momentsOf(t.changes)...) {
			if m != (moment{}) {
				end = max(end, c.at(t, m)-c.zero)
			}
		}
	}
	return end
}

func momentsOf(list []change) (out []moment) {
	for _, x := range list {
		out = append(out, x.moment)
	}
	return out
}

func (w *Watch) nodes(out *Watched) {
	for _, t := range w.order {
		if t.Node != nil {
			out.Hosts = append(out.Hosts, t.Name)
			out.GPUs += t.Node.GPUs()
		}
	}
	slices.Sort(out.Hosts)
}
