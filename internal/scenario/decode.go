package scenario

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/gangplan/gangplan/internal/suggest"
	"gopkg.in/yaml.v3"
)

// maxAliased bounds the values that are reached through aliases, so that a small file
// cannot stand for a huge one. Nesting needs no bound: it ends where the types do.
const maxAliased = 100_000

// decoder fills Go values from YAML, strictly: nothing is converted and nothing ignored.
type decoder struct {
	file     *File
	scenario bool // it is a scenario, not another kind of file
	errs     problems
	path     path // of the value at hand
	aliases  int  // on the way to it
	budget   int  // values that may still be reached through aliases
	shapes   map[reflect.Type]*shape
}

func newDecoder(f *File) *decoder {
	return &decoder{file: f, budget: maxAliased, shapes: map[reflect.Type]*shape{}}
}

// fail adds a mistake of the value at hand, which n is.
func (d *decoder) fail(n *yaml.Node, format string, args ...any) {
	d.errs.add(&Error{d.file.nameOf(n), n.Line, n.Column, d.path.String(), fmt.Sprintf(format, args...)})
}

// failAt is fail for a field of the value at hand.
func (d *decoder) failAt(n *yaml.Node, field string, format string, args ...any) {
	d.step(field, func() { d.fail(n, format, args...) })
}

// step does something one step further down the path.
func (d *decoder) step(to any, do func()) {
	d.path = append(d.path, to)
	do()
	d.path = d.path[:len(d.path)-1]
}

// decode sets v from n.
func (d *decoder) decode(n *yaml.Node, v reflect.Value) {
	if v.Type() == reflect.TypeFor[Value]() {
		v.Set(reflect.ValueOf(Value{d.file.nameOf(n), n}))
		return
	}
	if n.Kind == yaml.AliasNode {
		d.aliases++
		defer func() { d.aliases-- }()
		n = n.Alias
	}
	if !d.affords(n) {
		return
	}
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	if n.ShortTag() == "!!null" {
		d.fail(n, "empty: expected %s, or leave the field out", d.expected(v))
		return
	}
	switch {
	case isTextual(v), !isCompound(v):
		d.scalar(n, v)
	case v.Kind() == reflect.Struct:
		d.structure(n, v)
	case v.Kind() == reflect.Slice:
		d.list(n, v)
	default:
		d.table(n, v)
	}
}

// affords counts what is reached through aliases and reports whether it is not too much.
func (d *decoder) affords(n *yaml.Node) bool {
	if d.aliases == 0 {
		return true
	}
	if d.budget--; d.budget == -1 {
		d.fail(n, "the file stands for too much: expected at most %d values by aliases", maxAliased)
	}
	return d.budget >= 0
}

func isTextual(v reflect.Value) bool {
	_, ok := v.Addr().Interface().(textual)
	return ok
}

func isCompound(v reflect.Value) bool {
	return v.Kind() == reflect.Struct || v.Kind() == reflect.Slice || v.Kind() == reflect.Map
}

// expected names what can be written for v.
func (d *decoder) expected(v reflect.Value) string {
	if t, ok := v.Addr().Interface().(textual); ok {
		return t.what()
	}
	switch v.Kind() {
	case reflect.Slice:
		return "a list"
	case reflect.Struct:
		return d.shapeOf(v.Type()).describe()
	case reflect.Map:
		return "a mapping"
	case reflect.String:
		return "a text"
	case reflect.Bool:
		return "true or false"
	case reflect.Float64:
		return "a number such as 0.9"
	}
	return "a whole number"
}

// kindOf names what is written.
func kindOf(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	return quote(n.Value)
}

// is reports whether n is of a kind and of no particular type, and fails otherwise.
func (d *decoder) is(n *yaml.Node, kind yaml.Kind, v reflect.Value) bool {
	if n.Kind != kind {
		d.fail(n, "expected %s, got %s", d.expected(v), kindOf(n))
		return false
	}
	switch tag := n.ShortTag(); tag {
	case "!!map", "!!seq", "!!str", "!!int", "!!float", "!!bool", "!!timestamp", "!!merge":
		return true
	default:
		d.fail(n, "type %s: expected %s without a type", quote(tag), d.expected(v))
		return false
	}
}

// structure decodes a mapping into a struct, or a text into the field that it is short for.
func (d *decoder) structure(n *yaml.Node, v reflect.Value) {
	s := d.shapeOf(v.Type())
	if s.short != nil && n.Kind == yaml.ScalarNode {
		d.step(s.short.name, func() { d.decode(n, v.FieldByIndex(s.short.index)) })
		return
	}
	if !d.is(n, yaml.MappingNode, v) {
		return
	}
	seen, meant := make([]*yaml.Node, len(s.fields)), []string(nil)
	d.eachField(n, func(key, value *yaml.Node) {
		i := s.lookup(key.Value)
		switch {
		case i < 0 && s.rest != nil:
			d.restField(s, key, value, v.FieldByIndex(s.rest.index))
		case i < 0:
			d.fail(key, "unknown field%s", d.unknown(s, key.Value))
			word, _ := suggest.Closest(key.Value, s.names())
			meant = append(meant, word)
		case seen[i] != nil:
			d.fail(key, "given a second time: the first is in line %d", seen[i].Line)
		default:
			seen[i], key.Value = key, s.fields[i].name
			d.field(&s.fields[i], value, v.FieldByIndex(s.fields[i].index))
		}
	})
	for i := range s.fields {
		if s.fields[i].required && seen[i] == nil && !slices.Contains(meant, s.fields[i].name) {
			d.failAt(n, s.fields[i].name, "missing: expected %s", d.expected(v.FieldByIndex(s.fields[i].index)))
		}
	}
}

// eachField calls do for each field of a mapping, with the path leading to it.
func (d *decoder) eachField(n *yaml.Node, do func(key, value *yaml.Node)) {
	for i := 0; i+1 < len(n.Content) && !d.errs.full(); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		switch {
		case key.Kind != yaml.ScalarNode || key.ShortTag() == "!!null":
			d.fail(key, "expected the name of a field, got %s", kindOf(key))
		case key.ShortTag() == "!!merge":
			d.fail(key, "merge keys (<<) are not supported: write the fields out, or use an alias for a whole value")
		default:
			d.step(key.Value, func() { do(key, value) })
		}
	}
}

// field decodes the value of a field and applies its bounds.
func (d *decoder) field(f *field, n *yaml.Node, v reflect.Value) {
	before := len(d.errs.list)
	d.decode(n, v)
	if len(d.errs.list) > before {
		return
	}
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	switch {
	case v.Kind() == reflect.String && f.required && v.Len() == 0:
		d.fail(n, "expected a text that is not empty")
	case v.CanInt() && f.positive && v.Int() < 1, v.Kind() == reflect.Float64 && f.positive && v.Float() <= 0:
		d.fail(n, "%s: expected more than 0", quote(n.Value))
	case v.CanInt() && !f.signed && v.Int() < 0 && !isTextual(v), v.Kind() == reflect.Float64 && v.Float() < 0:
		d.fail(n, "%s: expected 0 or more", quote(n.Value))
	}
}

// restField decodes a field whose name the format does not know into the map for such
// fields. If that fails, its name may be a mistake.
func (d *decoder) restField(s *shape, key, n *yaml.Node, m reflect.Value) {
	before := len(d.errs.list)
	d.entry(key, n, m, s.rest)
	if len(d.errs.list) > before {
		d.errs.list[before].Msg += suggest.Hint(key.Value, s.names())
	}
}

// table decodes a mapping with names of any kind.
func (d *decoder) table(n *yaml.Node, m reflect.Value) {
	if !d.is(n, yaml.MappingNode, m) {
		return
	}
	m.Set(reflect.MakeMap(m.Type()))
	d.eachField(n, func(key, value *yaml.Node) { d.entry(key, value, m, &field{}) })
}

// entry decodes one entry of a map.
func (d *decoder) entry(key, n *yaml.Node, m reflect.Value, f *field) {
	if m.IsNil() {
		m.Set(reflect.MakeMap(m.Type()))
	}
	k := reflect.ValueOf(key.Value)
	if m.MapIndex(k).IsValid() {
		d.fail(key, "given a second time")
		return
	}
	v := reflect.New(m.Type().Elem()).Elem()
	d.field(f, n, v)
	m.SetMapIndex(k, v)
}

func (d *decoder) list(n *yaml.Node, v reflect.Value) {
	if !d.is(n, yaml.SequenceNode, v) {
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content)))
	for i, c := range n.Content {
		if d.errs.full() || d.budget < 0 {
			return
		}
		d.step(i, func() { d.decode(c, v.Index(i)) })
	}
}

// scalar decodes a single value. Its text is what the file says, whatever type YAML sees
// in it: a job may be called 007.
func (d *decoder) scalar(n *yaml.Node, v reflect.Value) {
	if !d.is(n, yaml.ScalarNode, v) {
		return
	}
	if t, ok := v.Addr().Interface().(textual); ok {
		if err := t.fromText(n.Value); err != nil {
			d.fail(n, "%v", err)
		}
		return
	}
	plain := n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) == 0
	if v.Kind() != reflect.String && !plain || !setScalar(v, n.Value) {
		d.fail(n, "%s: expected %s%s", quote(n.Value), d.expected(v), scalarHint(n, v, plain))
	}
}

func scalarHint(n *yaml.Node, v reflect.Value, plain bool) string {
	switch {
	case v.Kind() == reflect.String:
		return " without control characters"
	case !plain:
		return ", not in quotes"
	case isDecimal(n.Value) && v.CanInt():
		return fmt.Sprintf(" below 2^%d", v.Type().Bits()-1)
	case isDecimal(n.Value) && v.CanUint():
		return fmt.Sprintf(" below 2^%d", v.Type().Bits())
	}
	return ""
}

// setScalar sets v from a text and reports whether that is possible.
func setScalar(v reflect.Value, s string) bool {
	switch {
	case v.Kind() == reflect.String:
		v.SetString(s)
		return !strings.ContainsFunc(s, unicode.IsControl)
	case v.Kind() == reflect.Bool:
		v.SetBool(s == "true")
		return s == "true" || s == "false"
	case v.Kind() == reflect.Float64:
		x, err := strconv.ParseFloat(s, 64)
		v.SetFloat(x)
		return err == nil && isDecimal(strings.TrimPrefix(s, "-"))
	case v.CanUint():
		n, err := strconv.ParseUint(s, 10, v.Type().Bits())
		v.SetUint(n)
		return err == nil
	}
	n, err := strconv.ParseInt(s, 10, v.Type().Bits())
	v.SetInt(n)
	return err == nil && !strings.HasPrefix(s, "+")
}
