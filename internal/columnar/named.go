package columnar

import (
	"fmt"
	"strings"
)

// Values is one column by row: a value that is missing is zero in All, and At says so.
type Values[T any] struct {
	All   []T
	nulls []bool
}

// At returns the value of a row, and false where it is missing.
func (v Values[T]) At(row int) (T, bool) { return v.All[row], v.nulls == nil || !v.nulls[row] }

// Int64Column returns the values of a named Int64 column. The error of this and of its
// siblings names the columns there are, or the kind the column has.
func (t *Table) Int64Column(name string) (Values[int64], error) {
	return named(t, name, Int64, t.Int64s)
}

// Float64Column returns the values of a named Float64 column.
func (t *Table) Float64Column(name string) (Values[float64], error) {
	return named(t, name, Float64, t.Float64s)
}

// StringColumn returns the values of a named String column.
func (t *Table) StringColumn(name string) (Values[string], error) {
	return named(t, name, String, t.Strings)
}

// BoolColumn returns the values of a named Bool column.
func (t *Table) BoolColumn(name string) (Values[bool], error) {
	return named(t, name, Bool, t.Bools)
}

// DecimalColumn returns the values of a named Decimal38 column.
func (t *Table) DecimalColumn(name string) (Values[Int128], error) {
	return named(t, name, Decimal38, t.Decimals)
}

func named[T any](t *Table, name string, kind Kind, values func(column int) []T) (Values[T], error) {
	at := t.Index(name)
	if at < 0 {
		return Values[T]{}, fmt.Errorf("no column %q: the table has %s", name, strings.Join(t.names(), ", "))
	}
	if k := t.columns[at].Kind; k != kind {
		return Values[T]{}, fmt.Errorf("column %q holds %s, not %s", name, k, kind)
	}
	return Values[T]{values(at), t.series[at].nulls}, nil
}

func (t *Table) names() []string {
	names := make([]string, len(t.columns))
	for i := range t.columns {
		names[i] = t.columns[i].Name
	}
	return names
}
