package scenario

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
)

// canonical returns a value in a form that means the same in every version of gangplan:
// fields stand by name, in the order of names, and those with the zero value are left out.
// So a field that is added to a type, and that no scenario sets, changes no hash. A pointer
// to a zero is written, as it is not nil; unexported fields are no part of a value.
func canonical(v any) []byte {
	c := canon{fields: map[reflect.Type][]canonField{}}
	c.write(reflect.ValueOf(v))
	return c.b
}

// canon writes values. It keeps the fields of the types it has seen, as a scenario has many
// jobs.
type canon struct {
	b      []byte
	fields map[reflect.Type][]canonField
}

type canonField struct {
	name string
	at   int
}

func (c *canon) write(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		c.b = append(c.b, '&')
		c.write(v.Elem())
		return
	case reflect.Struct:
		c.writeStruct(v)
		return
	case reflect.Map:
		c.writeMap(v)
		return
	case reflect.Slice, reflect.Array:
		c.writeList(v)
		return
	}
	c.writeScalar(v)
}

func (c *canon) writeScalar(v reflect.Value) {
	switch {
	case v.Kind() == reflect.String:
		c.b = strconv.AppendQuote(c.b, v.String())
	case v.Kind() == reflect.Bool:
		c.b = strconv.AppendBool(c.b, v.Bool())
	case v.Kind() == reflect.Float64:
		c.b = strconv.AppendFloat(c.b, v.Float(), 'g', -1, 64)
	case v.CanInt():
		c.b = strconv.AppendInt(c.b, v.Int(), 10)
	case v.CanUint():
		c.b = strconv.AppendUint(c.b, v.Uint(), 10)
	default:
		panic(fmt.Sprintf("scenario: a %s has no canonical form", v.Type()))
	}
}

// blank reports whether a value is as if it were not there.
func blank(v reflect.Value) bool {
	if k := v.Kind(); k == reflect.Slice || k == reflect.Map {
		return v.Len() == 0
	}
	return v.IsZero()
}

func (c *canon) writeStruct(v reflect.Value) {
	c.b = append(c.b, '{')
	for _, f := range c.fieldsOf(v.Type()) {
		if value := v.Field(f.at); !blank(value) {
			c.b = append(append(c.b, f.name...), ':')
			c.write(value)
			c.b = append(c.b, ',')
		}
	}
	c.b = append(c.b, '}')
}

// fieldsOf returns a type's own exported fields in the order of their names.
func (c *canon) fieldsOf(t reflect.Type) []canonField {
	fields, known := c.fields[t]
	if known {
		return fields
	}
	for i := range t.NumField() {
		if f := t.Field(i); f.IsExported() {
			fields = append(fields, canonField{f.Name, i})
		}
	}
	slices.SortFunc(fields, func(a, b canonField) int { return cmp.Compare(a.name, b.name) })
	c.fields[t] = fields
	return fields
}

func (c *canon) writeMap(v reflect.Value) {
	keys := v.MapKeys()
	slices.SortStableFunc(keys, func(a, b reflect.Value) int { return cmp.Compare(a.String(), b.String()) })
	c.b = append(c.b, '{')
	for _, k := range keys {
		c.write(k)
		c.b = append(c.b, ':')
		c.write(v.MapIndex(k))
		c.b = append(c.b, ',')
	}
	c.b = append(c.b, '}')
}

// writeList leaves out the zeros at the end of an array, whose length is that of a type.
func (c *canon) writeList(v reflect.Value) {
	n := v.Len()
	for v.Kind() == reflect.Array && n > 0 && blank(v.Index(n-1)) {
		n--
	}
	c.b = append(c.b, '[')
	for i := range n {
		c.write(v.Index(i))
		c.b = append(c.b, ',')
	}
	c.b = append(c.b, ']')
}
