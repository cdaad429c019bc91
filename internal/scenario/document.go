package scenario

import (
	"fmt"
	"os"
	"reflect"
)

// Document is a file of another kind than a scenario, decoded by the same rules: strictly,
// and with the place of every value.
type Document struct {
	file *File
	errs problems
}

// LoadDocument reads a file and decodes it into the struct that v points to. Its tags are
// those of File. kind is what the file must be, and expected says so in errors: "a corpus
// with apiVersion, kind and scenarios". The error is an Errors.
func LoadDocument(name, kind, expected string, v any) (*Document, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, Errors{{File: name, Msg: "cannot be read: " + reason(err)}}
	}
	return ParseDocument(name, data, kind, expected, v)
}

// ParseDocument is LoadDocument of a text. name stands in errors.
func ParseDocument(name string, data []byte, kind, expected string, v any) (*Document, error) {
	root, err := document(name, data, expected)
	if err != nil {
		return nil, err
	}
	f := &File{name: name, root: root}
	d := newDecoder(f)
	if d.checkHeader(root, kind, expected); len(d.errs.list) == 0 {
		d.decode(root, reflect.ValueOf(v).Elem())
	}
	if err := d.errs.err(name); err != nil {
		return nil, err
	}
	return &Document{file: f}, nil
}

// Fail adds a mistake of the value that steps lead to: names of fields, and positions in
// lists.
func (d *Document) Fail(steps []any, format string, args ...any) {
	e := &Error{File: d.file.name, Field: path(steps).String(), Msg: fmt.Sprintf(format, args...)}
	if n := d.file.find(steps); n != nil {
		e.File, e.Line, e.Column = d.file.nameOf(n), n.Line, n.Column
	}
	d.errs.add(e)
}

// Err returns the mistakes as Errors, or nil if there are none.
func (d *Document) Err() error { return d.errs.err(d.file.name) }
