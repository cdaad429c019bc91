package scenario

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
)

// canonical appends a value in a form that means the same in every version of gangplan:
// fields stand by name, in the order of names, and those with the zero value are left out.
// So a field that is added to a type, and that no scenario sets, changes no hash. A pointer
// to a zero is written, as it is not nil; unexported fields are no part of a value.
func canonical(b []byte, v reflect.Value) []byte {
	switch v.Kind() {
	case reflect.Pointer:
		return canonical(append(b, '&'), v.Elem())
	case reflect.Struct:
		return canonicalStruct(b, v)
	case reflect.Map:
		return canonicalMap(b, v)
	case reflect.Slice, reflect.Array:
		return canonicalList(b, v)
	case reflect.String:
		return strconv.AppendQuote(b, v.String())
	case reflect.Bool:
		return strconv.AppendBool(b, v.Bool())
	case reflect.Float64:
		return strconv.AppendFloat(b, v.Float(), 'g', -1, 64)
	}
	switch {
	case v.CanInt():
		return strconv.AppendInt(b, v.Int(), 10)
	case v.CanUint():
		return strconv.AppendUint(b, v.Uint(), 10)
	}
	panic(fmt.Sprintf("scenario: a %s has no canonical form", v.Type()))
}

// blank reports whether a value is as if it were not there.
func blank(v reflect.Value) bool {
	if k := v.Kind(); k == reflect.Slice || k == reflect.Map {
		return v.Len() == 0
	}
	return v.IsZero()
}

func canonicalStruct(b []byte, v reflect.Value) []byte {
	fields := reflect.VisibleFields(v.Type())
	slices.SortStableFunc(fields, func(a, b reflect.StructField) int { return cmp.Compare(a.Name, b.Name) })
	b = append(b, '{')
	for _, f := range fields {
		if value := v.FieldByIndex(f.Index); f.IsExported() && len(f.Index) == 1 && !blank(value) {
			b = append(append(b, f.Name...), ':')
			b = append(canonical(b, value), ',')
		}
	}
	return append(b, '}')
}

func canonicalMap(b []byte, v reflect.Value) []byte {
	keys := v.MapKeys()
	slices.SortStableFunc(keys, func(a, b reflect.Value) int { return cmp.Compare(a.String(), b.String()) })
	b = append(b, '{')
	for _, k := range keys {
		b = append(canonical(b, k), ':')
		b = append(canonical(b, v.MapIndex(k)), ',')
	}
	return append(b, '}')
}

// canonicalList leaves out the zeros at the end of an array, whose length is that of a type.
func canonicalList(b []byte, v reflect.Value) []byte {
	n := v.Len()
	for v.Kind() == reflect.Array && n > 0 && blank(v.Index(n-1)) {
		n--
	}
	b = append(b, '[')
	for i := range n {
		b = append(canonical(b, v.Index(i)), ',')
	}
	return append(b, ']')
}
