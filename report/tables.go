package report

import (
	"strings"

	"github.com/gangplan/gangplan/internal/columnar"
	"github.com/gangplan/gangplan/sim/ledger"
)

// field is a column and how a row of some kind fills it.
type field[R any] struct {
	columnar.Column
	put func(t *columnar.Table, column int, row R)
}

// number is an int64 column; a value that is not there is null.
func number[R any](name, unit, doc string, of func(row R) (int64, bool)) field[R] {
	return field[R]{columnar.Column{Name: name, Unit: unit, Doc: doc, Kind: columnar.Int64},
		func(t *columnar.Table, column int, row R) {
			if v, ok := of(row); ok {
				t.AppendInt64(column, v)
			} else {
				t.AppendNull(column)
			}
		}}
}

// float is a float column; a value that is not there is null.
func float[R any](name, unit, doc string, of func(row R) (float64, bool)) field[R] {
	return field[R]{columnar.Column{Name: name, Unit: unit, Doc: doc, Kind: columnar.Float64},
		func(t *columnar.Table, column int, row R) {
			if v, ok := of(row); ok {
				t.AppendFloat64(column, v)
			} else {
				t.AppendNull(column)
			}
		}}
}

// ratio is a factor; zero is null.
func ratio[R any](name, doc string, of func(row R) float64) field[R] {
	return float(name, "ratio", doc, func(row R) (float64, bool) { v := of(row); return v, v != 0 })
}

// exact is an amount of GPU-time to the unit.
func exact[R any](name, doc string, of func(row R) ledger.Uint128) field[R] {
	return field[R]{columnar.Column{Name: name, Unit: "milli-GPU x ns", Doc: doc, Kind: columnar.Decimal38},
		func(t *columnar.Table, column int, row R) {
			v := of(row)
			t.AppendDecimal(column, columnar.Int128{Hi: int64(v.Hi), Lo: v.Lo})
		}}
}

// gpuHours is the same in GPU-hours.
func gpuHours[R any](name, doc string, of func(row R) ledger.Uint128) field[R] {
	return float(name, "GPU-hours", doc, func(row R) (float64, bool) { return hours(of(row)), true })
}

// text is a string column; "" is null. Names that repeat are stored as a dictionary.
func text[R any](name, doc string, dict bool, of func(row R) string) field[R] {
	return field[R]{columnar.Column{Name: name, Unit: "name", Doc: doc, Kind: columnar.String, Dict: dict},
		func(t *columnar.Table, column int, row R) {
			if s := of(row); s != "" {
				t.AppendString(column, s)
			} else {
				t.AppendNull(column)
			}
		}}
}

func flag[R any](name, doc string, of func(row R) bool) field[R] {
	return field[R]{columnar.Column{Name: name, Unit: "flag", Doc: doc, Kind: columnar.Bool},
		func(t *columnar.Table, column int, row R) { t.AppendBool(column, of(row)) }}
}

// always is for values that every row has.
func always[R, T any](of func(row R) T) func(R) (T, bool) {
	return func(row R) (T, bool) { return of(row), true }
}

// Table is a Parquet file of the run directory: its name, what a row is, when it is written
// ("" for always), and its columns.
type Table struct {
	File, Row, When string
	Columns         []columnar.Column

	rows func(r *Record) int // negative where it is not written
	put  func(t *columnar.Table, r *Record, i int)
}

// Tables returns the Parquet files of a run directory, in the order in which they are
// written. They must not be changed.
func Tables() []Table { return tables }

var tables = []Table{jobsTable, ledgerTable, queuesTable, decisionsTable, seriesTable}

// newTable declares a table of n rows, each made from a record and the row's position.
func newTable[R any](file, row, when string, fields []field[R], rows func(r *Record) int, of func(r *Record, i int) R) Table {
	t := Table{File: file, Row: row, When: when, Columns: make([]columnar.Column, len(fields)), rows: rows}
	for i := range fields {
		t.Columns[i] = fields[i].Column
	}
	t.put = func(to *columnar.Table, r *Record, i int) {
		row := of(r, i)
		for column := range fields {
			fields[column].put(to, column, row)
		}
	}
	return t
}

// describe returns units and docs of the columns as a JSON object by name, in order.
func (t *Table) describe() string {
	var b strings.Builder
	for i, c := range t.Columns {
		name, _ := compact(c.Name) // strings do not fail
		about, _ := compact(struct {
			Unit string `json:"unit"`
			Doc  string `json:"doc"`
		}{c.Unit, c.Doc})
		b.WriteString([]string{"{", ","}[min(i, 1)] + name + ":" + about)
	}
	return b.String() + "}"
}

// pull returns what appends one row of a record after the other, as columnar.StreamParquet
// asks for them.
func (t *Table) pull(r *Record) func(to *columnar.Table) bool {
	i, rows := 0, t.rows(r)
	return func(to *columnar.Table) bool {
		if i >= rows {
			return false
		}
		t.put(to, r, i)
		i++
		return true
	}
}
