package kube

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/gangplan/gangplan/internal/suggest"
	"gopkg.in/yaml.v3"
)

// decoder fills Go values from the nodes of an object by the tags of their types, which say
// what the schema of Kubernetes says: see schema.go. It finds all that is wrong.
type decoder struct {
	o       *Object
	strict  bool // a field that nobody knows is a mistake
	served  bool // an API server printed it, so it took it: what is not known is of a newer version
	unknown *fieldSet
	wrong   func(*Error)
	path    Path // of the value at hand
	budget  int  // values that may still be reached through aliases
	aliases int  // on the way to the value at hand
}

// decode fills a struct from an object. Mistakes go to wrong. Fields that exist and that
// gangplan does not model are noted in unknown as Kind.path, once each.
func (o *Object) decode(into any, unknown *fieldSet, wrong func(*Error)) {
	d := &decoder{o: o, unknown: unknown, wrong: wrong, budget: maxAliased}
	d.served = scalar(child(child(o.node, "metadata"), "uid")) != ""
	d.strict = !d.served && strings.HasSuffix(o.group(), "kueue.x-k8s.io") || o.Kind == "Configuration"
	d.value(o.node, reflect.ValueOf(into).Elem(), &field{})
}

// fail adds a mistake at a node, of the value at hand.
func (d *decoder) fail(n *yaml.Node, format string, args ...any) {
	e := d.o.Fail(nil, format, args...)
	e.Line, e.Column = n.Line, n.Column
	if len(d.path) > 0 {
		e.Field += " " + d.path.String()
	}
	d.wrong(e)
}

// step does something one step further down the path.
func (d *decoder) step(to any, do func()) {
	d.path = append(d.path, to)
	do()
	d.path = d.path[:len(d.path)-1]
}

// value sets v from n. Null is as good as nothing.
func (d *decoder) value(at *yaml.Node, v reflect.Value, f *field) {
	n := resolved(at)
	if n != at {
		d.aliases++
		defer func() { d.aliases-- }()
	}
	if d.aliases > 0 {
		if d.budget--; d.budget < 0 {
			if d.budget == -1 {
				d.fail(at, "it stands for more than %d values by aliases", maxAliased)
			}
			return
		}
	}
	if isNull(n) || v.Kind() == reflect.Interface {
		return
	}
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	switch v.Kind() {
	case reflect.Struct:
		d.structure(n, v)
	case reflect.Slice:
		d.list(n, v, f)
	case reflect.Map:
		d.table(n, v, f)
	default:
		d.scalar(n, v, f)
	}
}

// is reports whether n is of a kind, and fails otherwise.
func (d *decoder) is(n *yaml.Node, kind yaml.Kind, expected string) bool {
	if n.Kind != kind {
		d.fail(n, "expected %s, got %s", expected, kindOf(n))
	}
	return n.Kind == kind
}

// kindOf names what is written.
func kindOf(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Kind == yaml.ScalarNode && n.ShortTag() == "!!str" && n.Style != 0:
		return "the text " + quote(n.Value)
	}
	return quote(n.Value)
}

func (d *decoder) structure(n *yaml.Node, v reflect.Value) {
	if !d.is(n, yaml.MappingNode, "a mapping") {
		return
	}
	s := schemaOf(v.Type())
	seen, meant := map[string]*yaml.Node{}, []string(nil)
	for _, m := range members(n) {
		name := m.key.Value
		if first := seen[name]; first != nil {
			d.step(name, func() { d.fail(m.key, "given a second time: the first is in line %d", first.Line) })
			continue
		}
		seen[name] = m.key
		f := s.field(name)
		d.step(name, func() {
			switch {
			case f == nil:
				meant = append(meant, d.unknownField(s, m))
			case !f.is(d.o.version()):
				d.fail(m.key, "unknown field in %s%s", d.o.version(), f.elsewhere())
			default:
				d.value(m.value, v.FieldByIndex(f.index), f)
				d.noteWhole(f, m.value)
			}
		})
	}
	for i := range s.fields {
		if f := &s.fields[i]; f.need && f.is(d.o.version()) && missing(seen[f.name], n) && !slices.Contains(meant, f.name) {
			d.step(f.name, func() { d.fail(n, "missing: expected %s", f.expected(v.FieldByIndex(f.index).Type())) })
		}
	}
}

// missing reports whether a mapping has no such key, or null under it.
func missing(key, n *yaml.Node) bool {
	return key == nil || child(n, key.Value) == nil || isNull(child(n, key.Value))
}

// unknownField notes a field that is not modelled, and refuses one that there is not. It
// returns which may have been meant.
func (d *decoder) unknownField(s *schema, m member) (meant string) {
	name := m.key.Value
	switch {
	case slices.Contains(s.quiet, name), slices.Contains(s.quiet, "*"):
	case slices.Contains(s.also, name) || d.served:
		d.note(m.value)
	case d.strict && !s.core, near(name, s.names()):
		d.fail(m.key, "unknown field%s", hintOrSome(name, s.names()))
		meant, _ = suggest.Closest(name, s.names())
	default:
		d.note(m.value)
	}
	return meant
}

// note lists the field at hand as not modelled, unless it says nothing.
func (d *decoder) note(n *yaml.Node) {
	if empty(resolved(n)) {
		return
	}
	text := d.o.Kind
	for _, step := range d.path {
		if name, ok := step.(string); ok {
			text += "." + oneLine(name)
		}
	}
	d.unknown.add(text)
}

// noteWhole lists a field of which only the names are checked.
func (d *decoder) noteWhole(f *field, n *yaml.Node) {
	if f.whole {
		d.note(n)
	}
}

// empty reports a value that says nothing: null, an empty list, mapping or text, or false.
func empty(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && (isNull(n) || n.Value == "" || n.Value == "false") ||
		n.Kind != yaml.ScalarNode && len(n.Content) == 0
}

// near reports whether a name that is not known is a known one with a letter or two changed.
func near(name string, known []string) bool {
	const typos = 2
	word, ok := suggest.Closest(name, known)
	return ok && len(word)-len(name) <= typos && len(name)-len(word) <= typos
}

// hintOrSome names what was meant, or what there is.
func hintOrSome(name string, known []string) string {
	if hint := suggest.Hint(name, known); hint != "" {
		return hint
	}
	const most = 12
	if len(known) > most {
		return ""
	}
	return ": expected some of " + strings.Join(known, ", ")
}

func (d *decoder) list(n *yaml.Node, v reflect.Value, f *field) {
	if !d.is(n, yaml.SequenceNode, "a list") {
		return
	}
	d.size(n, len(n.Content), f, "entries")
	v.Set(reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content)))
	for i, c := range n.Content {
		if d.budget < 0 {
			return
		}
		d.step(i, func() {
			if d.value(c, v.Index(i), f.item()); isNull(resolved(c)) {
				d.fail(c, "empty: expected %s", f.item().expected(v.Type().Elem()))
			}
		})
	}
}

// size checks how many entries a list or mapping has.
func (d *decoder) size(n *yaml.Node, have int, f *field, what string) {
	if f.least != nil && int64(have) < *f.least || f.most != nil && int64(have) > *f.most {
		d.fail(n, "%d %s: expected %s", have, what, f.bounds())
	}
}

func (d *decoder) table(n *yaml.Node, v reflect.Value, f *field) {
	if !d.is(n, yaml.MappingNode, "a mapping") {
		return
	}
	list := members(n)
	d.size(n, len(list), f, "entries")
	v.Set(reflect.MakeMapWithSize(v.Type(), len(list)))
	for _, m := range list {
		d.step(m.key.Value, func() {
			key := reflect.ValueOf(strings.Clone(m.key.Value))
			if v.MapIndex(key).IsValid() {
				d.fail(m.key, "given a second time")
				return
			}
			if f.keys != nil {
				d.check(m.key, f.keys)
			}
			value := reflect.New(v.Type().Elem()).Elem()
			if d.value(m.value, value, f.item()); !isNull(resolved(m.value)) || value.Kind() == reflect.String {
				v.SetMapIndex(key, value)
			}
		})
	}
}

// check applies a form to the text of a node.
func (d *decoder) check(n *yaml.Node, f *form) {
	if !f.ok(n.Value) {
		d.fail(n, "%s: expected %s", quote(n.Value), f.what)
	}
}

func (d *decoder) scalar(n *yaml.Node, v reflect.Value, f *field) {
	if !d.is(n, yaml.ScalarNode, f.expected(v.Type())) {
		return
	}
	switch {
	case v.Kind() == reflect.String:
		d.text(n, v, f)
	case !setScalar(n, v):
		d.fail(n, "expected %s, got %s%s", f.expected(v.Type()), kindOf(n), rangeHint(n, v))
	case v.CanInt() && f.least != nil && v.Int() < *f.least, v.CanInt() && f.most != nil && v.Int() > *f.most:
		d.fail(n, "%d: expected %s", v.Int(), f.bounds())
	}
}

func (d *decoder) text(n *yaml.Node, v reflect.Value, f *field) {
	v.SetString(strings.Clone(n.Value))
	switch {
	case n.Value == "" && !f.need:
	case len(f.words) > 0:
		if words := f.allowed(d.o.version()); !slices.Contains(words, n.Value) {
			d.fail(n, "%s: expected %s%s", quote(n.Value), orList(words), suggest.Hint(n.Value, words))
		}
	case f.form != nil:
		d.check(n, f.form)
	}
}

// orList writes words as in a, b or c.
func orList(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// setScalar sets a number or truth value from a node that is one.
func setScalar(n *yaml.Node, v reflect.Value) bool {
	switch tag := n.ShortTag(); {
	case v.Kind() == reflect.Bool:
		return tag == "!!bool" && n.Decode(v.Addr().Interface()) == nil
	case v.Kind() == reflect.Float64:
		x, err := strconv.ParseFloat(n.Value, 64)
		v.SetFloat(x)
		return err == nil && (tag == "!!int" || tag == "!!float")
	case tag != "!!int":
		return false
	}
	x, err := strconv.ParseInt(n.Value, 10, v.Type().Bits())
	v.SetInt(x)
	return err == nil
}

// rangeHint says of a whole number that is none for v how large it may be.
func rangeHint(n *yaml.Node, v reflect.Value) string {
	if n.ShortTag() == "!!int" && v.CanInt() && strings.Trim(n.Value, "-0123456789") == "" {
		return fmt.Sprintf(": at most %d", int64(1)<<(v.Type().Bits()-1)-1)
	}
	return ""
}

// fieldSet is a set of names, kept in the order they were found.
type fieldSet struct {
	list []string
	have map[string]bool
}

func (s *fieldSet) add(name string) {
	if s.have == nil {
		s.have = map[string]bool{}
	}
	if !s.have[name] {
		s.have[name] = true
		s.list = append(s.list, name)
	}
}
