package kube

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

// Dump is what the files of a cluster say, in the order they were read. An object that is
// there again counts once if it says the same, and is a mistake if not.
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

	Ignored []Kind   // kinds that say nothing about scheduling, or that gangplan does not model
	Copies  []Object // objects that were there again, saying the same

	made    []Object // that Manifests reads; they count as ignored until it does
	unknown fieldSet
	seen    map[string]*first
	text    string    // the file that is being read
	latest  time.Time // the last time at which something happened that the objects tell of
	errs    Errors
}

// first is an object whose name was not there before.
type first struct {
	Error // its place
	parts []part
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

// Add reads a file of objects. The error is an Errors: what is wrong in this file.
func (d *Dump) Add(name string, r io.Reader) error {
	var err error
	if d.text, err = all(r); err != nil {
		return Errors{{File: name, Msg: "cannot be read: " + err.Error()}}
	}
	before := len(d.errs)
	defer func() { d.text, d.errs = "", d.errs[:before] }()
	if err = read(name, d.text, d.add); err != nil {
		if e, ok := errors.AsType[*Error](err); ok {
			d.wrong(e)
		}
	}
	if list := slices.Clone(d.errs[before:]); len(list) > 0 {
		return list
	}
	return nil
}

// all reads a text whole. It asks a file how large it is: a dump may be a quarter of a gigabyte.
func all(r io.Reader) (string, error) {
	var b strings.Builder
	if f, ok := r.(interface{ Stat() (fs.FileInfo, error) }); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			b.Grow(int(info.Size()))
		}
	}
	_, err := io.Copy(&b, r)
	return b.String(), err
}

// wrong takes a mistake in, if there are not too many already.
func (d *Dump) wrong(e *Error) {
	if len(d.errs) < MaxErrors {
		d.errs = append(d.errs, e)
	}
}

// errTooMany ends the reading of a file in which much is wrong.
var errTooMany = errors.New("too many mistakes")

// The groups of the API of which gangplan reads objects.
const (
	kueueGroup  = "kueue.x-k8s.io"
	configGroup = "config.kueue.x-k8s.io"
)

// groups are those of the kinds that are read. Other groups have kinds of the same names.
var groups = map[string]string{
	"ResourceFlavor": kueueGroup, "ClusterQueue": kueueGroup, "Cohort": kueueGroup, "LocalQueue": kueueGroup, "Topology": kueueGroup,
	"WorkloadPriorityClass": kueueGroup, "Workload": kueueGroup, "Configuration": configGroup,
	"Node": "", "Pod": "", "ConfigMap": "", "ReplicationController": "", "PriorityClass": "scheduling.k8s.io", "Job": "batch",
	"Deployment": "apps", "ReplicaSet": "apps", "StatefulSet": "apps", "PodDisruptionBudget": "policy",
}

// versions are those of Kueue that are read.
var versions = []string{"v1beta1", "v1beta2"}

func (d *Dump) add(o *Object) error {
	if len(d.errs) >= MaxErrors {
		return errTooMany
	}
	group, known := groups[o.Kind]
	switch {
	case !known:
		d.ignore(o.Kind)
		return nil
	case group != o.group():
		d.ignore(o.Kind + " of " + o.APIVersion)
		return nil
	case strings.HasSuffix(group, kueueGroup) && !d.readable(o):
		return nil
	case o.Kind == "ConfigMap":
		d.addConfigMap(o)
		return nil
	}
	if again, named := d.again(o); !again && named {
		d.take(o)
	}
	return nil
}

// readable refuses versions of Kueue's objects that are not read: those before v1beta1, but
// for the alpha of what came later.
func (d *Dump) readable(o *Object) bool {
	v := o.version()
	alpha := v == "v1alpha1" && (o.Kind == "Cohort" || o.Kind == "Topology")
	if alpha || !strings.HasPrefix(v, "v1alpha") && v != "" {
		return true
	}
	d.wrong(o.Fail(At("apiVersion"), "%s: expected version %s", quote(o.APIVersion), orList(versions)))
	return false
}

// again reports whether an object is there already, which must say the same, and whether it
// has a name.
func (d *Dump) again(o *Object) (again, named bool) {
	if o.Name == "" && o.Kind != "Configuration" {
		if makers[o.Kind] != nil {
			return false, true // generateName
		}
		d.wrong(o.Fail(At("metadata"), "name is missing"))
		return false, false
	}
	if d.seen == nil {
		d.seen = map[string]*first{}
	}
	key, parts := o.Kind+"/"+o.Namespace+"/"+o.Name, partsOf(o.node)
	f := d.seen[key]
	if f == nil {
		d.seen[key] = &first{Error{File: o.File, Line: o.Line, Column: o.Column}, parts}
		return false, true
	}
	if names := differing(f.parts, parts); len(names) > 0 {
		at := At("metadata", "name")
		if o.Name == "" {
			at = nil
		}
		d.wrong(o.Fail(at, "given a second time, with other %s: the first is at %s", oneLine(Few(names)), f.Place()))
		return true, true
	}
	o.node = nil
	d.Copies = append(d.Copies, *o)
	return true, true
}

// part is a field of an object, and a number for what it says.
type part struct {
	name  string
	print uint64
}

// partsOf tells what an object says: all but the bookkeeping of the API server, and of its
// status what is read. Two dumps of a cluster, a while apart, say the same of a node.
func partsOf(n *yaml.Node) (parts []part) {
	budget := maxAliased
	add := func(name string, value *yaml.Node) {
		if value != nil && !empty(value) {
			parts = append(parts, part{strings.Clone(name), fingerprint(value, &budget)})
		}
	}
	each := func(prefix string, n *yaml.Node, without ...string) {
		if n == nil || n.Kind != yaml.MappingNode {
			return
		}
		for _, m := range members(n) {
			if !slices.Contains(without, m.key.Value) {
				add(prefix+m.key.Value, resolved(m.value))
			}
		}
	}
	each("", n, "status", "metadata", "spec", "apiVersion")
	each("metadata.", child(n, "metadata"), "managedFields", "resourceVersion", "generation", "selfLink")
	each("spec.", child(n, "spec"))
	status := child(n, "status")
	add("status.allocatable", child(status, "allocatable"))
	if list := child(status, "conditions"); list != nil && list.Kind == yaml.SequenceNode {
		for _, c := range list.Content {
			each("status.conditions."+scalar(child(c, "type"))+".", resolved(c), "lastHeartbeatTime", "message", "observedGeneration", "reason")
		}
	}
	slices.SortStableFunc(parts, func(a, b part) int { return cmp.Compare(a.name, b.name) })
	return parts
}

// differing names the parts in which two objects differ.
func differing(a, b []part) (names []string) {
	for len(a)+len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0].name < b[0].name:
			names, a = append(names, a[0].name), a[1:]
		case len(a) == 0 || b[0].name < a[0].name:
			names, b = append(names, b[0].name), b[1:]
		default:
			if a[0].print != b[0].print {
				names = append(names, a[0].name)
			}
			a, b = a[1:], b[1:]
		}
	}
	return names
}

// ignore counts an object of a kind that is not read.
func (d *Dump) ignore(kind string) {
	kind = oneLine(kind)
	i := slices.IndexFunc(d.Ignored, func(k Kind) bool { return k.Name == kind })
	if i < 0 {
		i = len(d.Ignored)
		d.Ignored = append(d.Ignored, Kind{Name: kind})
	}
	d.Ignored[i].Count++
}

// take decodes an object into the list of its kind.
func (d *Dump) take(o *Object) {
	switch o.Kind {
	case "Node":
		put(d, &d.Nodes, o)
	case "ResourceFlavor":
		put(d, &d.Flavors, o)
	case "ClusterQueue":
		put(d, &d.Queues, o)
	case "Cohort":
		put(d, &d.Cohorts, o)
	case "LocalQueue":
		put(d, &d.LocalQueues, o)
	case "Topology":
		put(d, &d.Topologies, o)
	case "WorkloadPriorityClass", "PriorityClass":
		put(d, &d.PriorityClasses, o)
	case "Workload":
		if put(d, &d.Workloads, o) {
			d.takeWorkload(&d.Workloads[len(d.Workloads)-1])
		}
	case "Configuration":
		var list []Item[Configuration]
		if put(d, &list, o) {
			d.Configuration = &list[0]
		}
	default:
		d.made = append(d.made, *o)
		d.ignore(o.Kind)
	}
}

// put decodes an object into a list and checks it. One with a mistake is left out.
func put[T any](d *Dump, to *[]Item[T], o *Object) bool {
	item := Item[T]{Object: *o}
	d.noteTimes(o)
	var list Errors
	o.decode(&item.T, &d.unknown, func(e *Error) { list = append(list, e) })
	if c, ok := any(&item.T).(checked); ok {
		bySchema := len(list)
		c.check(&checker{o, func(e *Error) {
			if !slices.ContainsFunc(list[:bySchema], e.follows) {
				list = append(list, e)
			}
		}})
	}
	if len(list) > 0 {
		slices.SortStableFunc(list, func(a, b *Error) int { return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column)) })
		for _, e := range list {
			d.wrong(e)
		}
		return false
	}
	switch budget := maxAliased; o.Kind {
	case "Node": // there are too many to keep what they are made of
		item.node = nil
	case "Workload": // until it is a job
	default:
		item.node = detached(o.node, &budget)
	}
	*to = append(*to, item)
	return true
}

// takeWorkload makes the job of a Workload that has just been put.
func (d *Dump) takeWorkload(w *Item[Workload]) {
	for _, p := range []Path{At("metadata", "creationTimestamp"), specPath.To("queueName"), specPath.To("priorityClassName"), specPath.To("priorityClassRef", "name")} {
		w.mark(p)
	}
	if err := d.makeJob(w); err != nil {
		if e, ok := errors.AsType[*Error](err); ok {
			d.wrong(e)
		}
	}
	w.node, w.T.Spec.PodSets = nil, nil
}

// noteTimes remembers the last time at which something happened to an object.
func (d *Dump) noteTimes(o *Object) {
	list := child(child(o.node, "status"), "conditions")
	if list == nil || list.Kind != yaml.SequenceNode {
		return
	}
	for _, c := range list.Content {
		for _, field := range []string{"lastTransitionTime", "lastHeartbeatTime"} {
			if t := clockOf(scalar(child(c, field))); t.After(d.latest) {
				d.latest = t
			}
		}
	}
}

// configKey is where Kueue's configuration is in the ConfigMap that its manager mounts.
const configKey = "controller_manager_config.yaml"

// addConfigMap reads Kueue's configuration out of a ConfigMap.
func (d *Dump) addConfigMap(o *Object) {
	text := child(child(o.node, "data"), configKey)
	if text == nil {
		d.ignore(o.Kind)
		return
	}
	err := read(o.File, text.Value, func(inner *Object) error {
		if inner.group() != configGroup {
			return o.Fail(At("data", configKey), "expected %s of %s, got %s", "Configuration", configGroup, quote(inner.APIVersion+" "+inner.Kind))
		}
		d.moveInto(inner.node, text)
		inner.Line, inner.Column = inner.node.Line, inner.node.Column
		return d.add(inner)
	})
	if e, ok := errors.AsType[*Error](err); ok {
		if e.Field == "" { // of the text
			inner := &yaml.Node{Kind: yaml.ScalarNode, Line: e.Line, Column: max(1, e.Column)}
			d.moveInto(inner, text)
			e = &Error{o.File, inner.Line, inner.Column, fmt.Sprintf("%s %s", o, At("data", configKey)), e.Msg}
		}
		d.wrong(e)
	}
}

// moveInto gives nodes of a text within a file the places that they have in the file: those of
// a literal block are known, all others are where the text is.
func (d *Dump) moveInto(n, text *yaml.Node) {
	if n.Kind == yaml.AliasNode {
		return
	}
	if text.Style&yaml.LiteralStyle != 0 && n.Line > 0 {
		line := text.Line + n.Line
		n.Column += indentOf(lineOf(d.text, line)) - indentOf(lineOf(text.Value, n.Line))
		n.Line = line
	} else {
		n.Line, n.Column = text.Line, text.Column
	}
	for _, c := range n.Content {
		d.moveInto(c, text)
	}
}

// lineOf returns a line of a text, counted from 1.
func lineOf(text string, line int) string {
	for ; line > 1; line-- {
		_, text, _ = strings.Cut(text, "\n")
	}
	text, _, _ = strings.Cut(text, "\n")
	return text
}

func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
