package report

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
)

// writeYAML writes v as block-style YAML: the same fields, order and numbers as its JSON.
// Strings are JSON strings, which YAML reads as they are.
func writeYAML(w io.Writer, v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	d := json.NewDecoder(&b)
	d.UseNumber()
	y := &yamlWriter{d: d}
	if err := y.value("", false); err != nil {
		return err
	}
	_, err := io.WriteString(w, strings.TrimPrefix(y.out.String(), "\n")+"\n")
	return err
}

// yamlWriter turns a stream of JSON tokens into YAML.
type yamlWriter struct {
	d   *json.Decoder
	out strings.Builder
}

// value writes the next value. Its lines are indented; the first of an item of a list
// stands behind the dash.
func (y *yamlWriter) value(indent string, item bool) error {
	t, err := y.d.Token()
	if err != nil {
		return err
	}
	switch t {
	case json.Delim('{'):
		return y.object(indent, item)
	case json.Delim('['):
		return y.list(indent)
	}
	y.out.WriteString(" " + scalar(t))
	return nil
}

func (y *yamlWriter) object(indent string, item bool) error {
	if !y.d.More() {
		y.out.WriteString(" {}")
	}
	for first := true; y.d.More(); first = false {
		key, err := y.d.Token()
		if err != nil {
			return err
		}
		if first && item {
			y.out.WriteString(" " + key.(string) + ":")
		} else {
			y.out.WriteString("\n" + indent + key.(string) + ":")
		}
		if err := y.value(indent+"  ", false); err != nil {
			return err
		}
	}
	_, err := y.d.Token()
	return err
}

func (y *yamlWriter) list(indent string) error {
	if !y.d.More() {
		y.out.WriteString(" []")
	}
	for y.d.More() {
		y.out.WriteString("\n" + indent + "-")
		if err := y.value(indent+"  ", true); err != nil {
			return err
		}
	}
	_, err := y.d.Token()
	return err
}

// scalar writes a string, number, boolean or null.
func scalar(t json.Token) string {
	if n, ok := t.(json.Number); ok {
		return n.String()
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(t); err != nil {
		panic("report: " + err.Error()) // what was decoded can be encoded
	}
	return strings.TrimSuffix(b.String(), "\n")
}
