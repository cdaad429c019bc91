package kube

import (
	"cmp"
	"io"
	"maps"
	"slices"
	"strings"
)

// Dump is what the files of a cluster say, in the order they were read. Objects that appear
// several times count once, as they were last.
type Dump struct {
	Nodes           []Item[Node]
	Flavors         []Item[ResourceFlavor]
	Queues          []Item[ClusterQueue]
	Cohorts         []Item[Cohort]
	LocalQueues     []Item[LocalQueue]
	Topologies      []Item[Topology]
	PriorityClasses []Item[PriorityClass]
	Workloads       []Item[Workload]
	Configuration   *Item[Configuration]

	Ignored  []Kind   // kinds that say nothing about scheduling, or that gangplan does not model
	made     []Object // that Manifests reads; they count as ignored until it does
	unknown  fieldSet
	position map[string]int
}

// Item is an object with its place.
type Item[T any] struct {
	Object
	T T
}

// Kind is a number of objects of a kind.
type Kind struct {
	Name  string
	Count int
}

// NotModelled lists what the objects say that gangplan does not model, as Kind.path, once
// each.
func (d *Dump) NotModelled() []string { return d.unknown.list }

// Add reads a file of objects. The error is an *Error.
func (d *Dump) Add(name string, r io.Reader) error {
	objects, err := Read(name, r)
	if err != nil {
		return err
	}
	for i := range objects {
		if err := d.add(&objects[i]); err != nil {
			return err
		}
	}
	return nil
}

func (d *Dump) add(o *Object) error {
	switch o.Kind {
	case "Node":
		return put(d, &d.Nodes, o)
	case "ResourceFlavor":
		return put(d, &d.Flavors, o)
	case "ClusterQueue":
		return put(d, &d.Queues, o)
	case "Cohort":
		return put(d, &d.Cohorts, o)
	case "LocalQueue":
		return put(d, &d.LocalQueues, o)
	case "Topology":
		return put(d, &d.Topologies, o)
	case "WorkloadPriorityClass", "PriorityClass":
		return put(d, &d.PriorityClasses, o)
	case "Workload":
		return put(d, &d.Workloads, o)
	case "Configuration":
		var list []Item[Configuration]
		if err := put(d, &list, o); err != nil {
			return err
		}
		d.Configuration = &list[0]
		return nil
	case "ConfigMap":
		return d.addConfigMap(o)
	}
	if _, ok := makers[o.Kind]; ok {
		d.made = append(d.made, *o)
	}
	i := slices.IndexFunc(d.Ignored, func(k Kind) bool { return k.Name == o.Kind })
	if i < 0 {
		i = len(d.Ignored)
		d.Ignored = append(d.Ignored, Kind{Name: o.Kind})
	}
	d.Ignored[i].Count++
	return nil
}

// put decodes an object into a list; one that is there already is replaced.
func put[T any](d *Dump, list *[]Item[T], o *Object) error {
	item := Item[T]{Object: *o}
	if err := o.decode(&item.T, &d.unknown); err != nil {
		return err
	}
	item.node = nil
	if d.position == nil {
		d.position = map[string]int{}
	}
	key := o.String()
	if i, ok := d.position[key]; ok && i < len(*list) {
		(*list)[i] = item
		return nil
	}
	d.position[key] = len(*list)
	*list = append(*list, item)
	return nil
}

// addConfigMap reads Kueue's configuration out of the ConfigMap that its manager mounts.
func (d *Dump) addConfigMap(o *Object) error {
	text := child(child(o.node, "data"), "controller_manager_config.yaml")
	if text == nil {
		return nil
	}
	objects, err := Read(o.File, strings.NewReader(text.Value))
	if err != nil {
		return o.fail(text, "data", "%v", err)
	}
	for i := range objects {
		objects[i].Line, objects[i].Column = text.Line, text.Column
		if err := d.add(&objects[i]); err != nil {
			return err
		}
	}
	return nil
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
