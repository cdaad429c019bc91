package kube

import (
	"reflect"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// decode fills a struct from an object. Fields that the struct does not have are noted in
// unknown as Kind.path, unless every cluster has them and they say nothing about scheduling.
func (o *Object) decode(into any, unknown *fieldSet) error {
	if err := o.node.Decode(into); err != nil {
		return o.fail(nil, "", "%s", strings.TrimPrefix(strings.ReplaceAll(err.Error(), "\n  ", " "), "yaml: unmarshal errors: "))
	}
	o.walk(o.node, reflect.TypeOf(into).Elem(), o.Kind, unknown)
	return nil
}

// silent are fields that may be left out without a word: bookkeeping of the API server, and
// status that nobody decides by.
var silent = []string{"apiVersion", "kind", "metadata", "status"}

// walk notes the fields of a node that a type does not have.
func (o *Object) walk(n *yaml.Node, t reflect.Type, path string, unknown *fieldSet) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice && n.Kind != yaml.SequenceNode {
		t = t.Elem()
	}
	switch {
	case n.Kind == yaml.SequenceNode && t.Kind() == reflect.Slice:
		for _, c := range n.Content {
			o.walk(c, t.Elem(), path, unknown)
		}
	case n.Kind == yaml.MappingNode && t.Kind() == reflect.Struct:
		o.walkFields(n, t, path, unknown)
	}
}

func (o *Object) walkFields(n *yaml.Node, t reflect.Type, path string, unknown *fieldSet) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		name := n.Content[i].Value
		f, ok := fieldOf(t, name)
		at := path + "." + name
		switch {
		case ok && (f.Name == "Metadata" || f.Name == "Status"):
		case ok:
			o.walk(n.Content[i+1], f.Type, at, unknown)
		case path == o.Kind && slices.Contains(silent, name), empty(n.Content[i+1]):
		default:
			unknown.add(at)
		}
	}
}

// empty reports a value that says nothing: null, an empty list, mapping or text, or false.
func empty(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && (n.ShortTag() == "!!null" || n.Value == "" || n.Value == "false") ||
		n.Kind != yaml.ScalarNode && len(n.Content) == 0
}

func fieldOf(t reflect.Type, name string) (reflect.StructField, bool) {
	for i := range t.NumField() {
		f := t.Field(i)
		tag, option, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if tag == name {
			return f, true
		}
		if option == "inline" {
			if f, ok := fieldOf(f.Type, name); ok {
				return f, true
			}
		}
	}
	return reflect.StructField{}, false
}

// fieldSet is a set of names, kept in the order they were found.
type fieldSet struct{ list []string }

func (s *fieldSet) add(name string) {
	if !slices.Contains(s.list, name) {
		s.list = append(s.list, name)
	}
}
