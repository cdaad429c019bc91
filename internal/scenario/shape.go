package scenario

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/gangplan/gangplan/internal/suggest"
)

// unknown says what may have been meant by a field that does not exist: one that exists
// elsewhere, or one with a similar name.
func (d *decoder) unknown(s *shape, name string) string {
	top := d.shapeOf(reflect.TypeFor[File]())
	if place := d.elsewhere(top, nil, name); d.scenario && place != nil && (s == top || len(place) == 1) && name != "name" {
		return fmt.Sprintf(" here: it belongs at %s", place)
	}
	if hint := suggest.Hint(name, s.names()); hint != "" {
		return hint
	}
	return ": expected some of " + strings.Join(s.names(), ", ")
}

// elsewhere returns the path of the first field of a name, those further up first.
func (d *decoder) elsewhere(s *shape, above path, name string) path {
	if i := s.lookup(name); i >= 0 {
		return above.to(s.fields[i].name)
	}
	var nearest path
	for i := range s.fields {
		f := &s.fields[i]
		if f.under == nil {
			continue
		}
		next := f.name
		if f.listed {
			next += "[]"
		}
		p := d.elsewhere(d.shapeOf(f.under), above.to(next), name)
		if p != nil && (nearest == nil || len(p) < len(nearest)) {
			nearest = p
		}
	}
	return nearest
}

// shape is what the tags of a struct say.
type shape struct {
	fields      []field
	rest, short *field
}

type field struct {
	name, other                string
	index                      []int
	required, positive, signed bool
	listed                     bool         // it is a list
	under                      reflect.Type // the struct it is, points to or lists
}

func (s *shape) names() []string {
	names := make([]string, len(s.fields))
	for i := range s.fields {
		names[i] = s.fields[i].name
	}
	return names
}

// describe says how the struct is written.
func (s *shape) describe() string {
	const few = 7
	if names := s.names(); len(names) <= few {
		return "a mapping with some of " + strings.Join(names, ", ")
	}
	return "a mapping"
}

func (s *shape) lookup(name string) int {
	return slices.IndexFunc(s.fields, func(f field) bool { return f.name == name || f.other == name && name != "" })
}

func (d *decoder) shapeOf(t reflect.Type) *shape {
	if s := d.shapes[t]; s != nil {
		return s
	}
	s := &shape{}
	s.collect(t, nil)
	d.shapes[t] = s
	return s
}

// collect reads the tags of a struct whose index in the whole is given.
func (s *shape) collect(t reflect.Type, index []int) {
	for i := range t.NumField() {
		tag, ok := t.Field(i).Tag.Lookup("yaml")
		if !ok {
			continue
		}
		options := strings.Split(tag, ",")
		f := field{name: options[0], index: append(slices.Clip(index), i)}
		has := func(option string) bool { return slices.Contains(options[1:], option) }
		f.required, f.positive, f.signed = has("required"), has("positive"), has("signed")
		for _, o := range options[1:] {
			if other, ok := strings.CutPrefix(o, "or="); ok {
				f.other = other
			}
		}
		f.listed = t.Field(i).Type.Kind() == reflect.Slice
		f.under = structUnder(t.Field(i).Type)
		switch {
		case has("inline"):
			s.collect(t.Field(i).Type, f.index)
			continue
		case has("rest"):
			s.rest = &f
			continue
		case has("short"):
			s.short = &f
		}
		s.fields = append(s.fields, f)
	}
}

// structUnder returns the struct that a type is, points to or lists, or nil.
func structUnder(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	return t
}
