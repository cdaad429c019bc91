package traces

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gangplan/gangplan/internal/suggest"
)

// csvTable reads rows of CSV whose columns are found by the names in a header.
type csvTable struct {
	src    *source
	r      *csv.Reader
	header []string
	line   int // of the last record
}

// newCSVTable reads the header and refuses names that are empty, given twice or not among
// the known.
func newCSVTable(src *source, known []string) (*csvTable, error) {
	t := &csvTable{src: src, r: csv.NewReader(src)}
	t.r.ReuseRecord = true
	record, err := t.next()
	if err != nil {
		return nil, err
	}
	for _, name := range record {
		t.header = append(t.header, strings.TrimSpace(name))
	}
	for i, name := range t.header {
		switch {
		case name == "":
			return nil, t.errorAt(i, "", "a column without a name: expected one of %s", strings.Join(known, ", "))
		case slices.Index(t.header, name) < i:
			return nil, t.errorAt(i, quoteOdd(name), "the column is there twice")
		case !slices.Contains(known, name):
			return nil, t.errorAt(i, quoteOdd(name), "unknown column%s", hintOrAll(name, known))
		}
	}
	return t, nil
}

// hintOrAll returns the known name that was probably meant, or else all of them.
func hintOrAll(got string, known []string) string {
	if hint := suggest.Hint(got, known); hint != "" {
		return hint
	}
	return ": expected some of " + strings.Join(known, ", ")
}

// quoteOdd quotes a name from the input unless it is a plain word.
func quoteOdd(name string) string {
	if len(name) <= 40 && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == "" {
		return name
	}
	return quote(name)
}

// next returns the fields of the next row that is not blank, valid until the next call,
// or nil at the end.
func (t *csvTable) next() ([]string, error) {
	record, err := t.r.Read()
	if err == nil {
		t.line, _ = t.r.FieldPos(0)
		return record, nil
	}
	if err == io.EOF {
		return nil, nil
	}
	p, ok := errors.AsType[*csv.ParseError](err)
	if !ok {
		return nil, t.src.broken(t.line+1, err)
	}
	if p.Err == csv.ErrFieldCount {
		return nil, t.src.errorAt(p.StartLine, 1, "", "%d fields: expected %d as in the header", len(record), len(t.header))
	}
	return nil, t.src.errorAt(p.Line, p.Column, "", "%v", p.Err)
}

// column returns the position of a column, or -1.
func (t *csvTable) column(name string) int { return slices.Index(t.header, name) }

// requireColumns returns an error that names the first column that is missing.
func (t *csvTable) requireColumns(names ...string) error {
	for _, name := range names {
		if t.column(name) < 0 {
			return t.src.errorAt(t.line, 1, name, "missing column: the header has %s", quoteList(t.header))
		}
	}
	return nil
}

func quoteList(names []string) string {
	const most = 200
	s := strings.Join(names, ", ")
	if len(s) > most {
		return fmt.Sprintf("%d columns", len(names))
	}
	return s
}

// errorAt returns an error about a field of the last row.
func (t *csvTable) errorAt(column int, field, format string, args ...any) error {
	line, at := t.r.FieldPos(column)
	return t.src.errorAt(line, at, field, format, args...)
}

// place gives a *fieldError about the last row its place: the field's, or the row's if
// the file has no such column.
func (t *csvTable) place(err error) error {
	e, ok := errors.AsType[*fieldError](err)
	if !ok {
		return err
	}
	if column := t.column(e.field); column >= 0 {
		return t.errorAt(column, e.field, "%s", e.msg)
	}
	return t.src.errorAt(t.line, 1, e.field, "%s", e.msg)
}

// headerHas reports whether the first line of a text has all the named columns.
func headerHas(head []byte, names ...string) bool {
	line, _, _ := strings.Cut(string(head), "\n")
	columns := strings.Split(line, ",")
	for i := range columns {
		columns[i] = strings.Trim(columns[i], " \r\t\"")
	}
	for _, name := range names {
		if !slices.Contains(columns, name) {
			return false
		}
	}
	return true
}
