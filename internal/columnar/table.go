// Package columnar keeps tables column by column and stores them as Parquet. It is the
// only package that knows Arrow: everybody else sees Table, WriteParquet and ReadParquet.
//
// A file is a pure function of the table and the metadata: the same bytes on every
// machine and in every run. Every column may hold nulls.
package columnar

import (
	"errors"
	"fmt"
)

// ErrUnsupported is the error of WriteParquet and ReadParquet on 32-bit processors, where
// the Parquet library does not work.
var ErrUnsupported = errors.New("this 32-bit build cannot write or read Parquet: use a 64-bit build of gangplan, or write JSON or CSV")

// Kind is the type of a column's values.
type Kind uint8

// The kinds of columns. Decimal38 is an integer of up to 38 decimal digits, stored as
// DECIMAL(38,0).
const (
	Int64 Kind = iota
	Float64
	String
	Bool
	Decimal38
)

func (k Kind) String() string {
	return [...]string{"int64", "float64", "string", "bool", "decimal38"}[k]
}

// Int128 is a signed 128-bit integer in two's complement: Hi * 2^64 + Lo.
type Int128 struct {
	Hi int64
	Lo uint64
}

// Column declares one column. Doc and Unit ("ns", "milli-GPU") travel in the file. Dict
// stores a String column as a dictionary and indices: for the few names of queues, models
// or reasons that many rows repeat.
type Column struct {
	Name, Doc, Unit string
	Kind            Kind
	Dict            bool
}

// Table holds rows as columns. The zero value has no columns; use NewTable. A value is
// appended to each column in turn, and the table is whole when all columns are equally
// long. Appending a value of another kind than the column's is a mistake of the program
// and panics.
type Table struct {
	columns []Column
	series  []series
}

// series is the values of one column; only the slice of the column's kind is used.
type series struct {
	ints     []int64
	floats   []float64
	strings  []string
	bools    []bool
	decimals []Int128
	nulls    []bool // one per row, or nil while no value is null
	rows     int
}

// NewTable returns an empty table. It panics if a name is empty or given twice.
func NewTable(columns ...Column) *Table {
	seen := make(map[string]bool, len(columns))
	for _, c := range columns {
		if c.Name == "" || seen[c.Name] {
			panic(fmt.Sprintf("columnar: column name %q is empty or given twice", c.Name))
		}
		seen[c.Name] = true
	}
	return &Table{columns: columns, series: make([]series, len(columns))}
}

// Columns returns the declarations in order. They must not be changed.
func (t *Table) Columns() []Column { return t.columns }

// Index returns the position of a named column, or -1.
func (t *Table) Index(name string) int {
	for i := range t.columns {
		if t.columns[i].Name == name {
			return i
		}
	}
	return -1
}

// Rows returns the number of complete rows.
func (t *Table) Rows() int {
	if len(t.series) == 0 {
		return 0
	}
	rows := t.series[0].rows
	for i := range t.series {
		rows = min(rows, t.series[i].rows)
	}
	return rows
}

// AppendInt64 adds a value to an Int64 column.
func (t *Table) AppendInt64(column int, v int64) {
	s := t.next(column, Int64, false)
	s.ints = append(s.ints, v)
}

// AppendFloat64 adds a value to a Float64 column.
func (t *Table) AppendFloat64(column int, v float64) {
	s := t.next(column, Float64, false)
	s.floats = append(s.floats, v)
}

// AppendString adds a value to a String column. It must be UTF-8 to be written.
func (t *Table) AppendString(column int, v string) {
	s := t.next(column, String, false)
	s.strings = append(s.strings, v)
}

// AppendBool adds a value to a Bool column.
func (t *Table) AppendBool(column int, v bool) {
	s := t.next(column, Bool, false)
	s.bools = append(s.bools, v)
}

// AppendDecimal adds a value to a Decimal38 column. It must have at most 38 digits to be
// written.
func (t *Table) AppendDecimal(column int, v Int128) {
	s := t.next(column, Decimal38, false)
	s.decimals = append(s.decimals, v)
}

// AppendNull adds a missing value to a column of any kind. Its slot holds zero.
func (t *Table) AppendNull(column int) {
	kind := t.columns[column].Kind
	t.next(column, kind, true).grow(kind, 1)
}

// next counts one more row of a column and returns its series, to which the caller
// appends the value.
func (t *Table) next(column int, kind Kind, null bool) *series {
	if c := &t.columns[column]; c.Kind != kind {
		panic(fmt.Sprintf("columnar: %s value for %s column %q", kind, c.Kind, c.Name))
	}
	s := &t.series[column]
	if null && s.nulls == nil {
		s.nulls = make([]bool, s.rows, s.rows+1)
	}
	if s.nulls != nil {
		s.nulls = append(s.nulls, null)
	}
	s.rows++
	return s
}

// grow appends n zeros.
func (s *series) grow(kind Kind, n int) {
	switch kind {
	case Int64:
		s.ints = append(s.ints, make([]int64, n)...)
	case Float64:
		s.floats = append(s.floats, make([]float64, n)...)
	case String:
		s.strings = append(s.strings, make([]string, n)...)
	case Bool:
		s.bools = append(s.bools, make([]bool, n)...)
	case Decimal38:
		s.decimals = append(s.decimals, make([]Int128, n)...)
	}
}

// IsNull reports whether the value of a column in a row is missing.
func (t *Table) IsNull(column, row int) bool {
	nulls := t.series[column].nulls
	return nulls != nil && nulls[row]
}

// HasNulls reports whether any value of a column is missing.
func (t *Table) HasNulls(column int) bool { return t.series[column].nulls != nil }

// Int64s returns an Int64 column's values, 0 where null; nil for a column of another kind.
// Like the slices of the other kinds it belongs to the table.
func (t *Table) Int64s(column int) []int64 { return t.series[column].ints }

// Float64s returns a Float64 column's values, 0 where null.
func (t *Table) Float64s(column int) []float64 { return t.series[column].floats }

// Strings returns a String column's values, "" where null.
func (t *Table) Strings(column int) []string { return t.series[column].strings }

// Bools returns a Bool column's values, false where null.
func (t *Table) Bools(column int) []bool { return t.series[column].bools }

// Decimals returns a Decimal38 column's values, 0 where null.
func (t *Table) Decimals(column int) []Int128 { return t.series[column].decimals }

// clear takes all rows away and keeps the room they took.
func (t *Table) clear() {
	for i := range t.series {
		s := &t.series[i]
		*s = series{ints: s.ints[:0], floats: s.floats[:0], strings: s.strings[:0], bools: s.bools[:0], decimals: s.decimals[:0]}
	}
}

// checkWhole returns an error unless all columns are equally long.
func (t *Table) checkWhole() error {
	for i := range t.series {
		if t.series[i].rows != t.series[0].rows {
			return fmt.Errorf("column %q has %d rows but column %q has %d",
				t.columns[0].Name, t.series[0].rows, t.columns[i].Name, t.series[i].rows)
		}
	}
	return nil
}
