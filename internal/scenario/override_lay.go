package scenario

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/gangplan/gangplan/internal/suggest"
	"github.com/gangplan/gangplan/policies"
	"gopkg.in/yaml.v3"
)

// The path that stands for the policies to be run, and that of the seed.
const (
	policyPath = "policy"
	seedPath   = "seed"
)

// layer lays one override over the nodes of a file.
type layer struct {
	*decoder
	given *Override
	value *yaml.Node // its value, a copy that belongs to the file
}

// wrong adds a mistake of the override's path.
func (l *layer) wrong(format string, args ...any) {
	n := l.given.Path.node
	l.errs.add(&Error{l.given.Path.file, n.Line, n.Column, l.given.Path.String(), fmt.Sprintf(format, args...)})
}

func (l *layer) lay() {
	l.value = l.adopt(l.given.Value)
	if l.given.Path.String() == policyPath {
		l.layPolicy()
		return
	}
	steps, ok := cutPath(l.given.Path.String())
	if !ok {
		l.wrong("expected the path of a field, such as waitForPodsReady.timeout or workload.jobs[0].gpus")
		return
	}
	l.descend(&l.file.root, reflect.TypeFor[File](), nil, steps)
}

// adopt copies a value into the file.
func (l *layer) adopt(v Value) *yaml.Node {
	c := copier{note: func(_, to *yaml.Node) { l.file.foreign[to] = v.file }}
	return c.copy(v.node)
}

// made is a new node at the place of the path.
func (l *layer) made(kind yaml.Kind, tag, value string, content ...*yaml.Node) *yaml.Node {
	at := l.given.Path.node
	n := &yaml.Node{Kind: kind, Tag: tag, Value: value, Content: content, Line: at.Line, Column: at.Column}
	l.file.foreign[n] = l.given.Path.file
	return n
}

// step is one step of a path: a name, or what stands in brackets.
type step struct {
	name    string
	bracket bool
}

// cutPath takes a path apart. Its first step is a name.
func cutPath(s string) (steps []step, ok bool) {
	for rest := s; rest != ""; {
		if inside, found := strings.CutPrefix(rest, "["); found {
			var name string
			name, rest, found = strings.Cut(inside, "]")
			if steps = append(steps, step{name, true}); !found {
				return nil, false
			}
		} else {
			rest = strings.TrimPrefix(rest, ".")
			end := strings.IndexAny(rest+".", ".[")
			steps = append(steps, step{rest[:end], false})
			if rest = rest[end:]; rest == "." {
				return nil, false
			}
		}
	}
	empty := func(s step) bool { return s.name == "" }
	return steps, len(steps) > 0 && !steps[0].bracket && !strings.HasPrefix(s, ".") && !slices.ContainsFunc(steps, empty)
}

// descend puts the value where the steps lead to from a place whose type is known. above
// is the way to it.
func (l *layer) descend(at **yaml.Node, t reflect.Type, above path, steps []step) {
	if len(steps) == 0 {
		if *at = l.value; l.value.ShortTag() == "!!null" {
			*at = nil
		}
		return
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if n := *at; n != nil && (n.Kind == yaml.AliasNode || n.Anchor != "") {
		*at = l.own(target(n)) // others may stand for the same
	}
	switch v := reflect.New(t).Elem(); {
	case isTextual(v) || !isCompound(v):
		l.wrong("there is nothing below %s: it is %s", above, l.expected(v))
	case t.Kind() == reflect.Slice:
		l.entryOf(*at, t, above, steps)
	case l.openMapping(at, t, above) && t.Kind() == reflect.Struct:
		l.fieldOf(*at, l.shapeOf(t), t, above, steps)
	case *at != nil && (*at).Kind == yaml.MappingNode:
		l.below(*at, steps[0].name, t.Elem(), above, steps)
	}
}

// own copies a node of the file.
func (l *layer) own(n *yaml.Node) *yaml.Node {
	c := copier{note: func(from, to *yaml.Node) { l.file.foreign[to] = l.file.nameOf(from) }}
	n = c.copy(n)
	n.Anchor = ""
	return n
}

// openMapping makes a mapping of what is at a place: a new one of nothing, and the long
// form of a short one.
func (l *layer) openMapping(at **yaml.Node, t reflect.Type, above path) bool {
	var short *field
	if t.Kind() == reflect.Struct {
		short = l.shapeOf(t).short
	}
	switch n := *at; {
	case n == nil:
		*at = l.made(yaml.MappingNode, "!!map", "")
	case n.Kind == yaml.MappingNode:
	case n.Kind == yaml.ScalarNode && short != nil:
		*at = l.made(yaml.MappingNode, "!!map", "", l.made(yaml.ScalarNode, "!!str", short.name), n)
	default:
		l.wrong("%s is %s here: expected a mapping", above, kindOf(n))
		return false
	}
	return true
}

// fieldOf goes on in a field of a struct. One that there is not is put there all the same:
// the decoder knows what to say of it.
func (l *layer) fieldOf(n *yaml.Node, s *shape, t reflect.Type, above path, steps []step) {
	name := steps[0].name
	i := s.lookup(name)
	switch {
	case i >= 0:
		for k := 0; k < len(n.Content); k += 2 {
			if s.lookup(n.Content[k].Value) == i {
				name = n.Content[k].Value // as it is called in the file
			}
		}
		l.below(n, name, t.FieldByIndex(s.fields[i].index).Type, above, steps)
	case s.rest != nil:
		l.below(n, name, t.FieldByIndex(s.rest.index).Type.Elem(), above, steps)
	default:
		l.below(n, name, nil, above, steps[:1])
	}
}

// below goes on in the value of a key, which is added if there is none.
func (l *layer) below(n *yaml.Node, key string, t reflect.Type, above path, steps []step) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value != key {
			continue
		}
		if l.descend(&n.Content[i+1], t, above.to(key), steps[1:]); n.Content[i+1] == nil {
			n.Content = slices.Delete(n.Content, i, i+2)
		}
		return
	}
	var value *yaml.Node
	if l.descend(&value, t, above.to(key), steps[1:]); value != nil {
		n.Content = append(n.Content, l.made(yaml.ScalarNode, "!!str", key), value)
	}
}

// entryOf goes on in an entry of a list.
func (l *layer) entryOf(n *yaml.Node, t reflect.Type, above path, steps []step) {
	if n == nil || n.Kind != yaml.SequenceNode {
		l.wrong("there is no list %s in the scenario", above)
		return
	}
	name := steps[0].name
	if !steps[0].bracket {
		l.wrong("%s is a list: expected the position or the name of an entry in brackets, as in %s[0].%s", above, above, name)
		return
	}
	names := make([]string, len(n.Content))
	for i := range n.Content {
		names[i] = entryName(n.Content[i])
	}
	i, err := strconv.Atoi(name)
	if err != nil {
		i = slices.Index(names, name)
	}
	hint := suggest.Hint(name, names)
	if err == nil {
		hint = "" // a position
	}
	if i < 0 || i >= len(n.Content) {
		l.wrong("%s has no entry %s: expected %s%s", above, name, entries(names), hint)
		return
	}
	if l.descend(&n.Content[i], t.Elem(), above.to(i), steps[1:]); n.Content[i] == nil {
		n.Content = slices.Delete(n.Content, i, i+1)
	}
}

// entries says what can stand in brackets.
func entries(names []string) string {
	const few = 8
	known := slices.DeleteFunc(slices.Clone(names), func(s string) bool { return s == "" })
	positions := fmt.Sprintf("0 to %d", len(names)-1)
	switch {
	case len(names) == 0:
		return "none, the list is empty"
	case len(names) == 1:
		positions = "0"
	case len(known) > few:
		return positions
	}
	return strings.Join(append([]string{positions}, known...), " or ")
}

// entryName returns the name by which an entry of a list is known, or nothing.
func entryName(n *yaml.Node) string {
	n = target(n)
	if n.Kind == yaml.ScalarNode {
		return n.Value
	}
	for _, field := range []string{"as", "name", "id"} {
		if v := child(n, field); v != nil {
			return target(v).Value
		}
	}
	return ""
}

// layPolicy leaves one policy, or a list of them: some of the scenario by their label or
// name, some of the registry with their defaults, new ones.
func (l *layer) layPolicy() {
	given := []*yaml.Node{l.value}
	if v := target(l.value); v.Kind == yaml.SequenceNode {
		given = v.Content
	}
	list := l.made(yaml.SequenceNode, "!!seq", "")
	for _, n := range given {
		if v := target(n); v.Kind == yaml.ScalarNode {
			n = l.namedPolicy(v)
		}
		if n == nil {
			return
		}
		list.Content = append(list.Content, n)
	}
	root := l.file.root
	for i := 0; i+1 < len(root.Content); i += 2 {
		if root.Content[i].Value == "policies" {
			root.Content[i+1] = list
			return
		}
	}
	root.Content = append(root.Content, l.made(yaml.ScalarNode, "!!str", "policies"), list)
}

// namedPolicy returns the policy that a label or a name stands for, or nil.
func (l *layer) namedPolicy(v *yaml.Node) *yaml.Node {
	var labels []string
	var called []*yaml.Node
	if list := child(l.file.root, "policies"); list != nil {
		for _, p := range target(list).Content {
			labels = append(labels, entryName(p))
			if entryName(p) == v.Value {
				return p
			}
			if name := child(target(p), "name"); name != nil && target(name).Value == v.Value {
				called = append(called, p)
			}
		}
	}
	known := append(labels, slices.DeleteFunc(policies.Names(), func(s string) bool { return slices.Contains(labels, s) })...)
	_, registered := policies.Lookup(v.Value)
	switch {
	case len(called) > 1:
		l.wrong("%s stands for %d policies of the scenario: expected one of %s", quote(v.Value), len(called), strings.Join(labels, ", "))
	case len(called) == 1:
		return called[0]
	case registered:
		return v
	default:
		l.errs.add(&Error{l.given.Value.file, v.Line, v.Column, policyPath, fmt.Sprintf("unknown policy %s: expected one of %s%s",
			quote(v.Value), strings.Join(known, ", "), suggest.Hint(v.Value, known))})
	}
	return nil
}
