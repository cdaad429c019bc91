package kube

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// maxValue is the length of one JSON value of a stream, in bytes: a list of many objects. It
// is held in memory.
const maxValue = 1 << 28

// value is one JSON object or array of a stream, with its place.
type value struct {
	file         string
	line, column int
	text         []byte
}

// values takes a stream of JSON objects and arrays apart: one after the other, on one line
// each or on many. A library's decoder does the same, but does not say where it is.
type values struct {
	r            *bufio.Reader
	file         string
	line, column int // of the byte that comes next
}

func newValues(file string, r io.Reader) *values {
	return &values{r: bufio.NewReaderSize(r, 64<<10), file: file, line: 1, column: 1}
}

// next returns the next value, or io.EOF. What it returns is a value as far as brackets and
// quotes go. The error is an *Error.
func (v *values) next() (value, error) {
	c, err := v.begin()
	if err != nil {
		return value{}, err
	}
	out := value{v.file, v.line, v.column, []byte{c}}
	if c != '{' && c != '[' {
		return out, out.fail(0, "", "expected a JSON object, as kubectl get -o json prints it, but this begins with %q", c)
	}
	v.step(c)
	for depth, quoted, escaped := 1, false, false; depth > 0; {
		if c, err = v.r.ReadByte(); err != nil {
			return out, out.unreadable(err)
		}
		if out.text = append(out.text, c); len(out.text) > maxValue {
			return out, out.fail(0, "", "the object that begins here is longer than %d bytes", maxValue)
		}
		v.step(c)
		switch {
		case escaped:
			escaped = false
		case quoted:
			escaped, quoted = c == '\\', c != '"'
		case c == '"':
			quoted = true
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		}
	}
	return out, nil
}

// begin skips what is between values and returns the first byte of the next one, which is
// not stepped over.
func (v *values) begin() (byte, error) {
	for {
		c, err := v.r.ReadByte()
		switch {
		case errors.Is(err, io.EOF):
			return 0, io.EOF
		case err != nil:
			return 0, value{file: v.file, line: v.line, column: v.column}.unreadable(err)
		case !bytes.ContainsRune([]byte(" \t\r\n"), rune(c)):
			return c, nil
		}
		v.step(c)
	}
}

func (v *values) step(c byte) {
	if v.column++; c == '\n' {
		v.line, v.column = v.line+1, 1
	}
}

// unreadable is the error of a value whose rest cannot be read.
func (v value) unreadable(err error) error {
	if errors.Is(err, io.EOF) {
		return v.fail(0, "", "the object that begins here does not end: the file was cut off")
	}
	return v.fail(0, "", "cannot be read on: %v", err)
}

// at returns the place of a byte of the value.
func (v value) at(offset int) (line, column int) {
	before := v.text[:min(max(offset, 0), len(v.text))]
	if n := bytes.Count(before, []byte("\n")); n > 0 {
		return v.line + n, len(before) - bytes.LastIndexByte(before, '\n')
	}
	return v.line, v.column + len(before)
}

// fail is a mistake at a byte of the value.
func (v value) fail(offset int, field, format string, args ...any) error {
	e := &Error{File: v.file, Field: field, Msg: fmt.Sprintf(format, args...)}
	e.Line, e.Column = v.at(offset)
	return e
}

// part returns a value within the value, whose text it is.
func (v value) part(text []byte) value {
	p := value{file: v.file, text: text}
	p.line, p.column = v.at(bytes.Index(v.text, text))
	return p
}

// after returns what follows a part of the value.
func (v value) after(part value) value {
	rest := value{file: v.file, text: v.text[bytes.Index(v.text, part.text)+len(part.text):]}
	rest.line, rest.column = part.at(len(part.text))
	return rest
}

// decode fills a struct. The error is an *Error.
func (v value) decode(into any, what string) error {
	err := json.Unmarshal(v.text, into)
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return v.fail(int(syntax.Offset)-1, what, "not valid JSON: %v", syntax)
	}
	if t, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return v.fail(v.begins(int(t.Offset)), what, "%s: expected %s, not %s", fieldPath(t.Field), inWords(t.Type.Kind().String()), given(t.Value))
	}
	if err != nil {
		return v.fail(0, what, "%v", err)
	}
	return nil
}

// begins returns where a text, a number or a word begins that the byte before offset ends. Of an
// object or a list that is its bracket.
func (v value) begins(offset int) int {
	i := min(offset, len(v.text)) - 1
	switch {
	case i < 0:
		return 0
	case v.text[i] == '"':
		for i--; i > 0 && (v.text[i] != '"' || v.text[i-1] == '\\'); i-- {
		}
		return i
	}
	for i > 0 && bytes.IndexByte([]byte(" \t\r\n:,[{"), v.text[i-1]) < 0 {
		i--
	}
	return i
}

// inWords is what Go expects, as JSON has it.
func inWords(kind string) string {
	switch kind {
	case "string":
		return "a text"
	case "slice":
		return "a list"
	case "bool":
		return "true or false"
	case "struct", "map":
		return "an object"
	}
	return "a whole number"
}

// given is what stands there instead, in the same words. Of a number it says which.
func given(value string) string {
	switch value {
	case "string":
		return "a text"
	case "array":
		return "a list"
	case "object":
		return "an object"
	}
	return "a " + value
}

// fieldPath is a path of Go's names as JSON has it: metadata.name of Metadata.Name.
func fieldPath(path string) string {
	parts := strings.Split(path, ".")
	for i, p := range parts {
		if parts[i] = strings.ToLower(p); p != strings.ToUpper(p) {
			parts[i] = strings.ToLower(p[:1]) + p[1:]
		}
	}
	return strings.Join(parts, ".")
}
