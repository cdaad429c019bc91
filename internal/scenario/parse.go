package scenario

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"github.com/gangplan/gangplan/internal/suggest"
	"gopkg.in/yaml.v3"
)

// MaxFileSize bounds a scenario file, in bytes. Large workloads belong in a trace.
const MaxFileSize = 64 << 20

// Parse decodes a scenario. name stands in errors. The error is an Errors.
func Parse(name string, data []byte) (*File, error) {
	if len(data) > MaxFileSize {
		return nil, Errors{{File: name, Msg: fmt.Sprintf("larger than %d MiB: expected a scenario; large workloads belong in a trace", MaxFileSize>>20)}}
	}
	root, err := document(name, data, "a scenario")
	if err != nil {
		return nil, err
	}
	f := &File{name: name, root: root}
	if err := f.decodeWith(newDecoder(f)); err != nil {
		return nil, err
	}
	return f, nil
}

// decodeWith fills a file from its nodes. The decoder may know of mistakes already.
func (f *File) decodeWith(d *decoder) error {
	before := len(d.errs.list)
	d.scenario = true
	if d.checkHeader(f.root, Kind, "a scenario with apiVersion, kind, cluster and workload"); len(d.errs.list) == before {
		d.decode(f.root, reflect.ValueOf(f).Elem())
	}
	return d.errs.err(f.name)
}

// Load reads and resolves a scenario file. The files it names are found from its folder.
// The error is an Errors.
func Load(name string) (*Scenario, error) {
	f, err := LoadFile(name)
	if err != nil {
		return nil, err
	}
	return f.Resolve(folder(name))
}

// LoadFile reads a scenario file. The error is an Errors.
func LoadFile(name string) (*File, error) {
	data, err := readFile(name)
	if err != nil {
		return nil, Errors{{File: name, Msg: "cannot be read: " + reason(err)}}
	}
	return Parse(name, data)
}

// readFile reads a file, or just enough of it to see that it is too large.
func readFile(name string) ([]byte, error) {
	r, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if info, err := r.Stat(); err == nil && info.Size() > MaxFileSize {
		return make([]byte, MaxFileSize+1), nil
	}
	return io.ReadAll(io.LimitReader(r, MaxFileSize+1))
}

// reason is an error of a file without its name, which stands beside it.
func reason(err error) string {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err.Error()
	}
	return err.Error()
}

// document returns the only YAML document of a text.
func document(name string, data []byte, expected string) (*yaml.Node, error) {
	d := yaml.NewDecoder(bytes.NewReader(data))
	var doc, next yaml.Node
	if err := d.Decode(&doc); err == io.EOF || err == nil && len(doc.Content) == 0 {
		return nil, Errors{{File: name, Msg: "the file is empty: expected " + expected}}
	} else if err != nil {
		return nil, Errors{syntaxError(name, err)}
	}
	switch err := d.Decode(&next); {
	case err == nil:
		return nil, Errors{{File: name, Line: next.Line, Column: next.Column, Msg: "a second document: expected nothing behind the first"}}
	case err != io.EOF:
		return nil, Errors{syntaxError(name, err)}
	}
	return doc.Content[0], nil
}

var yamlLine = regexp.MustCompile(`^line (\d+): `)

// syntaxError takes the line out of an error of the YAML library, which leaves it out for
// the first line and for unknown anchors.
func syntaxError(name string, err error) *Error {
	msg := strings.TrimPrefix(err.Error(), "yaml: ")
	e := &Error{File: name, Line: 1}
	if m := yamlLine.FindStringSubmatch(msg); m != nil {
		e.Line, _ = strconv.Atoi(m[1])
		msg = msg[len(m[0]):]
	} else if strings.HasPrefix(msg, "unknown anchor") {
		e.Line = 0
	}
	e.Msg = "not valid YAML: " + msg
	return e
}

// checkHeader looks at apiVersion and kind before all else: what is wrong with a file of
// another kind is that it is of another kind.
func (d *decoder) checkHeader(root *yaml.Node, kind, expected string) {
	if root.Kind != yaml.MappingNode {
		d.fail(root, "expected %s, got %s", expected, kindOf(root))
		return
	}
	for _, want := range [...]struct{ field, value string }{{"apiVersion", APIVersion}, {"kind", kind}} {
		n := child(root, want.field)
		if n == nil {
			d.failAt(root, want.field, "missing: expected %s", want.value)
		} else if n.Value != want.value {
			d.failAt(n, want.field, "%s: expected %s%s", quote(n.Value), want.value, suggest.Hint(n.Value, []string{want.value}))
		}
	}
}

// child returns the value of a field of a mapping, or nil.
func child(n *yaml.Node, field string) *yaml.Node {
	if n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == field {
			return n.Content[i+1]
		}
	}
	return nil
}

// find returns the value at a path, or what is nearest above it. It is nil only in a file
// that was not parsed.
func (f *File) find(p path) *yaml.Node {
	n := f.root
	for _, step := range p {
		if n != nil && n.Kind == yaml.AliasNode {
			n = n.Alias
		}
		var next *yaml.Node
		switch step := step.(type) {
		case string:
			if n != nil {
				next = child(n, step)
			}
		case int:
			if n != nil && n.Kind == yaml.SequenceNode && step < len(n.Content) {
				next = n.Content[step]
			}
		}
		if next == nil {
			return n
		}
		n = next
	}
	return n
}

// IsScenario reports whether a file says that it is a scenario. One that cannot be read says
// nothing.
func IsScenario(path string) bool {
	data, err := os.ReadFile(path)
	if err != nil {
		return false
	}
	var head struct {
		APIVersion string `yaml:"apiVersion"`
	}
	return yaml.Unmarshal(data, &head) == nil && head.APIVersion == APIVersion
}
