package kube

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"gopkg.in/yaml.v3"
)

// Error is a mistake in a file of objects, with its place. Line and Column count from 1.
type Error struct {
	File         string
	Line, Column int
	Field        string
	Msg          string
}

// Error returns "file:line:column: field: message".
func (e *Error) Error() string {
	where := fmt.Sprintf("%s:%d:%d: ", e.File, e.Line, e.Column)
	if e.Field != "" {
		where += e.Field + ": "
	}
	return where + e.Msg
}

// Object is one object, not yet decoded. Lists are taken apart.
type Object struct {
	File                              string
	Line, Column                      int
	APIVersion, Kind, Namespace, Name string

	node *yaml.Node
}

// String names the object as kubectl does: kind/name, with its namespace before the name.
func (o *Object) String() string {
	if o.Namespace != "" {
		return o.Kind + "/" + o.Namespace + "/" + o.Name
	}
	return o.Kind + "/" + o.Name
}

// fail is a mistake of the object, at its beginning or at a node in it.
func (o *Object) fail(at *yaml.Node, field, format string, args ...any) error {
	e := &Error{o.File, o.Line, o.Column, o.String(), fmt.Sprintf(format, args...)}
	if at != nil {
		e.Line, e.Column = at.Line, at.Column
	}
	if field != "" {
		e.Field += " " + field
	}
	return e
}

// maxDepth bounds the nesting of lists in lists.
const maxDepth = 4

// Read reads every object of a file of YAML or JSON documents. JSON is YAML. An empty file
// has none. The error is an *Error.
func Read(name string, r io.Reader) ([]Object, error) {
	var objects []Object
	d := yaml.NewDecoder(r)
	for {
		var doc yaml.Node
		err := d.Decode(&doc)
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, &Error{File: name, Line: lineOf(err), Column: 1, Msg: "not YAML or JSON: " + strings.TrimPrefix(err.Error(), "yaml: ")}
		}
		if objects, err = collect(name, root(&doc), objects, 0); err != nil {
			return nil, err
		}
	}
}

// lineOf finds the line in an error of the YAML library, 1 if there is none.
func lineOf(err error) int {
	var line int
	if n, _ := fmt.Sscanf(strings.TrimPrefix(err.Error(), "yaml: "), "line %d:", &line); n == 1 {
		return line
	}
	return 1
}

func root(doc *yaml.Node) *yaml.Node {
	if doc.Kind == yaml.DocumentNode && len(doc.Content) > 0 {
		return doc.Content[0]
	}
	return doc
}

// collect appends the objects of a document: itself, or the items of a list.
func collect(name string, n *yaml.Node, objects []Object, depth int) ([]Object, error) {
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" || n.Kind == 0 {
		return objects, nil
	}
	o := Object{File: name, Line: n.Line, Column: n.Column, node: n}
	if n.Kind != yaml.MappingNode || depth > maxDepth {
		return nil, &Error{name, n.Line, n.Column, "", "expected a Kubernetes object, with apiVersion and kind"}
	}
	o.APIVersion, o.Kind = scalar(child(n, "apiVersion")), scalar(child(n, "kind"))
	if o.APIVersion == "" || o.Kind == "" {
		return nil, &Error{name, n.Line, n.Column, "", "expected a Kubernetes object: apiVersion or kind is missing"}
	}
	if items := child(n, "items"); items != nil && strings.HasSuffix(o.Kind, "List") {
		return collectList(name, items, objects, depth)
	}
	if meta := child(n, "metadata"); meta != nil {
		o.Name, o.Namespace = scalar(child(meta, "name")), scalar(child(meta, "namespace"))
	}
	return append(objects, o), nil
}

func collectList(name string, items *yaml.Node, objects []Object, depth int) ([]Object, error) {
	if items.Kind != yaml.SequenceNode {
		return nil, &Error{name, items.Line, items.Column, "items", "expected a list"}
	}
	var err error
	for _, item := range items.Content {
		if objects, err = collect(name, item, objects, depth+1); err != nil {
			return nil, err
		}
	}
	return objects, nil
}

// child returns the value of a mapping's field, or nil.
func child(n *yaml.Node, key string) *yaml.Node {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

func scalar(n *yaml.Node) string {
	if n == nil || n.Kind != yaml.ScalarNode {
		return ""
	}
	return n.Value
}
