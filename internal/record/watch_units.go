package record

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gangplan/gangplan/internal/suggest"
	"github.com/gangplan/gangplan/traces/kube"
)

// unit is a job of the cluster: what belongs to one batch Job, or to whatever made it.
type unit struct {
	kind, namespace, name string
	root                  string // key of what it is made of
	jobs, workloads, pods []*thing
}

// names are what a scenario may call the unit, the most exact first.
func (u *unit) names() []string {
	names := []string{u.namespace + "/" + u.name, u.name}
	for _, w := range u.workloads {
		names = append(names, w.Namespace+"/"+w.Name, w.Name)
	}
	return names
}

// first returns what the unit began with.
func (u *unit) first() *thing {
	for _, list := range [][]*thing{u.jobs, u.workloads, u.pods} {
		if len(list) > 0 {
			return list[0]
		}
	}
	return nil
}

// place names the unit and where it stands in the record.
func (u *unit) place() string {
	t := u.first()
	return fmt.Sprintf("%s/%s/%s (%s:%d)", u.kind, u.namespace, u.name, t.File, t.Line)
}

// units puts together what belongs together: pods to their Job, Jobs and Workloads to
// whatever owns them. Pods of neither a Job nor a Workload are nobody's: services, say.
func (w *Watch) units() []*unit {
	byRoot := map[string]*unit{}
	var list []*unit
	for _, t := range w.order {
		if t.Node != nil {
			continue
		}
		kind, name, key := w.rootOf(t)
		u := byRoot[key]
		if u == nil {
			u = &unit{kind: kind, namespace: t.Namespace, name: name, root: key}
			byRoot[key], list = u, append(list, u)
		}
		switch {
		case t.Pod != nil:
			u.pods = append(u.pods, t)
		case t.Job != nil:
			u.jobs = append(u.jobs, t)
		default:
			u.workloads = append(u.workloads, t)
		}
	}
	return slices.DeleteFunc(list, func(u *unit) bool { return len(u.jobs)+len(u.workloads) == 0 })
}

// rootOf follows the owners of an object as far up as they are known by name.
func (w *Watch) rootOf(t *thing) (kind, name, key string) {
	if t.Pod != nil && t.Pod.Group != "" {
		return "Workload", t.Pod.Group, "group/" + t.Namespace + "/" + t.Pod.Group
	}
	if t.Workload != nil && slices.ContainsFunc(t.OwnerReferences, func(o kube.Owner) bool { return o.Kind == "Pod" }) {
		return t.Kind, t.Name, "group/" + t.Namespace + "/" + t.Name
	}
	for range maxOwners {
		o := t.Controller()
		if o == nil && t.Pod != nil && t.Pod.Job != "" {
			o = &kube.Owner{Kind: "Job", Name: t.Pod.Job}
		} else if o == nil && t.Workload != nil && len(t.OwnerReferences) > 0 {
			o = &t.OwnerReferences[0]
		}
		if o == nil {
			break
		}
		above := w.find(o, t.Namespace)
		if above == nil {
			return o.Kind, o.Name, cmp.Or(o.UID, o.Kind+"/"+t.Namespace+"/"+o.Name)
		}
		t = above
	}
	return t.Kind, t.Name, cmp.Or(t.UID, t.String())
}

// maxOwners bounds a chain of owners, which a broken record may make a circle.
const maxOwners = 8

// find returns an owner that was seen, or nil.
func (w *Watch) find(o *kube.Owner, namespace string) *thing {
	if t := w.things[o.UID]; t != nil && o.UID != "" {
		return t
	}
	t := w.named[(&kube.Sighting{Kind: o.Kind, Metadata: kube.Metadata{Namespace: namespace, Name: o.Name}}).String()]
	if t != nil && (o.UID == "" || t.UID == "") {
		return t
	}
	return nil
}

// match gives units the ids of a scenario's jobs. Those that have none keep their names.
func match(units []*unit, ids []string) (named map[string]*unit, others []*unit, err error) {
	named = map[string]*unit{}
	known := map[string]bool{}
	for _, id := range ids {
		known[id] = true
	}
	for _, u := range units {
		i := slices.IndexFunc(u.names(), func(name string) bool { return known[name] })
		if i < 0 {
			others = append(others, u)
			continue
		}
		id := u.names()[i]
		if have := named[id]; have != nil {
			return nil, nil, fmt.Errorf("two jobs of the record are called %s: %s and %s: one run is compared at a time; "+
				"take one namespace, or ids such as namespace/name", id, have.place(), u.place())
		}
		named[id] = u
	}
	if len(named) == 0 {
		return nil, nil, noMatch(units, ids)
	}
	return named, others, nil
}

// noJobs says what is missing in a record without jobs: pods alone do not say what they belong
// to, nor when it came and ended.
func (w *Watch) noJobs() error {
	var pods, nodes int
	for _, t := range w.order {
		switch {
		case t.Pod != nil:
			pods++
		case t.Node != nil:
			nodes++
		}
	}
	of, has := "", ""
	if w.Namespace != "" {
		of = " of the namespace " + w.Namespace
	}
	switch {
	case pods > 0:
		has = ", only " + kube.Count(pods, "pod", "pods")
	case nodes > 0:
		has = ", only " + kube.Count(nodes, "node", "nodes")
	}
	return fmt.Errorf("no Job and no Workload%s is in the record%s: watch jobs as well, and workloads where there is Kueue, "+
		"as in kubectl get jobs -A --watch --output-watch-events -o json", of, has)
}

// noMatch says why nothing can be compared.
func noMatch(units []*unit, ids []string) error {
	var names []string
	for _, u := range units {
		names = append(names, u.name)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	hint := suggest.Hint(ids[0], names)
	if more := len(names) - 5; more > 0 {
		names = append(names[:5], fmt.Sprintf("and %d more", more))
	}
	return fmt.Errorf("no job of the scenario is in the record: %q is called otherwise, the record has %s%s", ids[0], strings.Join(names, ", "), hint)
}
