package kube

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// Object is one object. Lists are taken apart.
type Object struct {
	File                              string
	Line, Column                      int
	APIVersion, Kind, Namespace, Name string

	node  *yaml.Node
	marks []mark
}

// mark is the place of a value of an object whose nodes are no longer held.
type mark struct {
	path, value  string
	line, column int
}

// String names the object as kubectl does: kind/name, with its namespace before the name.
func (o *Object) String() string {
	if o.Namespace != "" {
		return o.Kind + "/" + oneLine(o.Namespace) + "/" + oneLine(o.Name)
	}
	if o.Name == "" {
		return o.Kind
	}
	return o.Kind + "/" + oneLine(o.Name)
}

// Fail is a mistake of the value that a path leads to, or what is nearest above it.
func (o *Object) Fail(p Path, format string, args ...any) *Error {
	e := &Error{o.File, o.Line, o.Column, o.String(), fmt.Sprintf(format, args...)}
	text := p.String()
	if n := find(o.node, p); n != nil {
		e.Line, e.Column = n.Line, n.Column
	}
	for _, m := range o.marks {
		if m.path == text {
			e.Line, e.Column = m.line, m.column
		}
	}
	if text != "" {
		e.Field += " " + text
	}
	return e
}

// mark keeps the place of a value for when the nodes are gone.
func (o *Object) mark(p Path) {
	if n := find(o.node, p); n != nil {
		o.marks = append(o.marks, mark{p.String(), strings.Clone(n.Value), n.Line, n.Column})
	}
}

// group and version of the API that an object is of.
func (o *Object) group() string {
	group, _, ok := strings.Cut(o.APIVersion, "/")
	if !ok {
		return ""
	}
	return group
}

func (o *Object) version() string { return o.APIVersion[strings.IndexByte(o.APIVersion, '/')+1:] }

// maxLists bounds the nesting of lists in lists.
const maxLists = 16

// read hands every object of a file of YAML or JSON documents on. An empty file has none. The
// error is an *Error, or what each returns.
func read(name, text string, each func(*Object) error) error {
	c := &collector{name, each, maxAliasedObjects}
	document := func(n *yaml.Node) error { return c.collect(n, 0, false) }
	if strings.HasPrefix(text, "\xfe\xff") || strings.HasPrefix(text, "\xff\xfe") {
		return readYAML(name, text, document) // which knows UTF-16
	}
	text = strings.TrimPrefix(text, "\xef\xbb\xbf")
	if err := textual(name, text); err != nil {
		return err
	}
	if first := strings.TrimLeft(text, " \t\r\n"); first != "" && (first[0] == '{' || first[0] == '[') {
		bad := isJSON(name, text)
		if bad == nil {
			return readJSON(name, text, document)
		}
		second := strings.TrimLeft(first[1:], " \t\r\n")
		if second != "" && strings.IndexByte("{[\"", second[0]) >= 0 && isYAML(text) != nil {
			return bad
		}
	}
	return readYAML(name, text, document)
}

// textual refuses what is no text.
func textual(name, text string) error {
	bad := strings.IndexByte(text, 0)
	if bad < 0 && utf8.ValidString(text) {
		return nil
	}
	for i, r := range text {
		if _, size := utf8.DecodeRuneInString(text[i:]); r == utf8.RuneError && size == 1 && (bad < 0 || i < bad) {
			bad = i
			break
		}
	}
	line := strings.Count(text[:bad], "\n")
	return &Error{File: name, Line: line + 1, Column: bad - strings.LastIndexByte(text[:bad], '\n'), Msg: "not text: expected YAML or JSON, in UTF-8"}
}

func isYAML(text string) error {
	d := yaml.NewDecoder(strings.NewReader(text))
	for {
		if err := d.Decode(&yaml.Node{}); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

func readYAML(name, text string, each func(*yaml.Node) error) error {
	d := yaml.NewDecoder(strings.NewReader(text))
	for {
		var doc yaml.Node
		if err := d.Decode(&doc); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return syntaxError(name, text, err)
		}
		if len(doc.Content) > 0 {
			if err := each(doc.Content[0]); err != nil {
				return err
			}
		}
	}
}

// syntaxError gives an error of the YAML library its line, and says of a tab what it does not.
func syntaxError(name, text string, err error) *Error {
	msg := strings.TrimPrefix(err.Error(), "yaml: ")
	e := &Error{File: name, Line: 1}
	if n, _ := fmt.Sscanf(msg, "line %d:", &e.Line); n == 1 {
		_, msg, _ = strings.Cut(msg, ": ")
	}
	e.Msg = "not YAML or JSON: " + msg
	// The library names the line of the mistake or the one before.
	lines := strings.SplitN(text, "\n", e.Line+2)
	for i := max(0, e.Line-1); i < min(len(lines), e.Line+1); i++ {
		if indent := len(lines[i]) - len(strings.TrimLeft(lines[i], " \t")); strings.Contains(lines[i][:indent], "\t") {
			return &Error{File: name, Line: i + 1, Column: strings.IndexByte(lines[i], '\t') + 1, Msg: "not YAML: a tab before the first word of the line: expected spaces"}
		}
	}
	return e
}

// collector takes documents apart. What aliases stand for is counted, so that a small file
// cannot be a huge one.
type collector struct {
	name   string
	each   func(*Object) error
	budget int // objects by aliases
}

// The most that is reached through aliases: objects in a file, and values in an object.
const (
	maxAliasedObjects = 10_000
	maxAliased        = 100_000
)

func (c *collector) wrong(at *yaml.Node, format string, args ...any) error {
	return &Error{c.name, at.Line, at.Column, "", "expected a Kubernetes object, with apiVersion and kind: " + fmt.Sprintf(format, args...)}
}

// collect hands on the objects of a document: itself, or the items of a list.
func (c *collector) collect(at *yaml.Node, depth int, aliased bool) error {
	n := resolved(at)
	if aliased = aliased || n != at; aliased {
		if c.budget--; c.budget < 0 {
			return c.wrong(at, "the file stands for more than %d by aliases", maxAliasedObjects)
		}
	}
	switch {
	case isNull(n):
		return nil
	case depth > maxLists:
		return c.wrong(at, "lists in lists, more than %d deep", maxLists)
	case n.Kind == yaml.SequenceNode:
		return c.list(n, depth, aliased)
	case n.Kind != yaml.MappingNode:
		return c.wrong(at, "got %s", kindOf(n))
	}
	o := &Object{File: c.name, Line: at.Line, Column: at.Column, node: n}
	o.APIVersion, o.Kind = named(n, "apiVersion"), named(n, "kind")
	if o.APIVersion == "" || o.Kind == "" {
		return c.wrong(at, "%s is missing", map[bool]string{true: "apiVersion", false: "kind"}[o.APIVersion == ""])
	}
	if items := child(n, "items"); items != nil && strings.HasSuffix(o.Kind, "List") {
		return c.list(items, depth, aliased)
	}
	meta := child(n, "metadata")
	o.Name, o.Namespace = named(meta, "name"), named(meta, "namespace")
	if o.Namespace == "" && namespaced[o.Kind] {
		o.Namespace = "default"
	}
	return c.each(o)
}

// named returns the text of a field, as a copy: what it is part of may be large.
func named(n *yaml.Node, field string) string { return strings.Clone(scalar(child(n, field))) }

// namespaced are the kinds of Kueue's objects that live in a namespace.
var namespaced = map[string]bool{"LocalQueue": true, "Workload": true}

func (c *collector) list(items *yaml.Node, depth int, aliased bool) error {
	if isNull(items) {
		return nil
	}
	if items.Kind != yaml.SequenceNode {
		return &Error{c.name, items.Line, items.Column, "items", "expected a list of objects, got " + kindOf(items)}
	}
	for _, item := range items.Content {
		if err := c.collect(item, depth+1, aliased); err != nil {
			return err
		}
	}
	return nil
}
