package scenario

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// Text writes the file as YAML that Parse reads again: fields in the order of the format,
// entries of lists on a line each.
func (f *File) Text() ([]byte, error) {
	w := &textWriter{shapes: &decoder{shapes: map[reflect.Type]*shape{}}}
	v := reflect.ValueOf(f).Elem()
	top := w.mapping(v)
	var b strings.Builder
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(top); err != nil {
		return nil, err
	}
	return []byte(b.String()), e.Close()
}

// textWriter turns values into YAML nodes.
type textWriter struct{ shapes *decoder }

func (w *textWriter) node(v reflect.Value) *yaml.Node {
	switch {
	case v.Kind() == reflect.Pointer:
		return w.node(v.Elem())
	case isTextual(v):
		return &yaml.Node{Kind: yaml.ScalarNode, Value: textOf(v)}
	case v.Kind() == reflect.Struct:
		return w.mapping(v)
	case v.Kind() == reflect.Slice:
		n := &yaml.Node{Kind: yaml.SequenceNode}
		for i := range v.Len() {
			n.Content = append(n.Content, flow(w.node(v.Index(i))))
		}
		if v.Type().Elem().Kind() != reflect.Struct {
			return flow(n)
		}
		return n
	case v.Kind() == reflect.Map:
		n := &yaml.Node{Kind: yaml.MappingNode}
		w.entries(n, v)
		return flow(n)
	}
	return scalarOf(v)
}

// flow writes a node on one line.
func flow(n *yaml.Node) *yaml.Node {
	if n.Kind != yaml.ScalarNode {
		n.Style = yaml.FlowStyle
	}
	return n
}

func scalarOf(v reflect.Value) *yaml.Node {
	n := &yaml.Node{}
	if v.Kind() == reflect.Float64 {
		return &yaml.Node{Kind: yaml.ScalarNode, Value: strconv.FormatFloat(v.Float(), 'f', -1, 64)}
	}
	if err := n.Encode(v.Interface()); err != nil {
		panic("scenario: a value of a file cannot be written: " + err.Error())
	}
	return n
}

// mapping writes the fields of a struct that are set.
func (w *textWriter) mapping(v reflect.Value) *yaml.Node {
	s := w.shapes.shapeOf(v.Type())
	n := &yaml.Node{Kind: yaml.MappingNode}
	for i := range s.fields {
		value := v.FieldByIndex(s.fields[i].index)
		if value.IsZero() && !s.fields[i].required {
			continue
		}
		n.Content = append(n.Content, nameNode(s.fields[i].name), w.node(value))
	}
	if s.rest != nil {
		w.entries(n, v.FieldByIndex(s.rest.index))
	}
	return n
}

func nameNode(name string) *yaml.Node {
	n := &yaml.Node{}
	n.SetString(name)
	return n
}

// entries writes a map, by the names of its entries.
func (w *textWriter) entries(n *yaml.Node, m reflect.Value) {
	byName := map[string]reflect.Value{}
	for _, k := range m.MapKeys() {
		v := reflect.New(m.Type().Elem()).Elem() // entries of maps have no address
		v.Set(m.MapIndex(k))
		byName[k.String()] = v
	}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		n.Content = append(n.Content, nameNode(name), w.node(byName[name]))
	}
}

// textOf writes what is one text.
func textOf(v reflect.Value) string {
	switch x := v.Addr().Interface().(type) {
	case *Duration:
		return x.String()
	case *Milli:
		if *x%1000 == 0 {
			return strconv.FormatInt(int64(*x)/1000, 10)
		}
		return strconv.FormatInt(int64(*x), 10) + "m"
	case *Bytes:
		return bytesText(int64(*x))
	case *NeverReady:
		if *x == AllPods {
			return "true"
		}
	case *Share:
		if *x < 0 {
			return strconv.Itoa(-int(*x)) + "%"
		}
	}
	return fmt.Sprint(v.Int())
}

// bytesText writes an amount in the largest unit of which it is a whole number.
func bytesText(n int64) string {
	for _, u := range []suffix{{"Ti", 1 << 40, 1}, {"Gi", 1 << 30, 1}, {"Mi", 1 << 20, 1}, {"Ki", 1 << 10, 1}} {
		if n > 0 && n%u.num == 0 {
			return strconv.FormatInt(n/u.num, 10) + u.name
		}
	}
	return strconv.FormatInt(n, 10)
}
