//go:build !386 && !arm && !mips && !mipsle

package columnar

import (
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/schema"
)

// OpenParquet reads the named columns of a Parquet file on disk, or all; see ReadParquet.
func OpenParquet(path string, columns ...string) (*Table, [][2]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	t, meta, err := ReadParquet(f, info.Size(), columns...)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return t, meta, nil
}

// ReadParquet reads the named columns, or all if none is named, of a Parquet file of the
// given size in bytes, and its metadata in the file's order. Columns come in the order
// they are named. It reads what WriteParquet writes, and other files of flat columns of
// the same types. A broken file is an error.
func ReadParquet(r io.ReaderAt, size int64, columns ...string) (t *Table, meta [][2]string, err error) {
	defer func() {
		if p := recover(); p != nil { // the library's answer to much that is broken
			t, meta, err = nil, nil, fmt.Errorf("not a sound Parquet file: %v", p)
		}
	}()
	f, err := file.NewParquetReader(io.NewSectionReader(r, 0, size))
	if err != nil {
		return nil, nil, fmt.Errorf("not a sound Parquet file: %w", err)
	}
	t, positions, err := declare(f, columns)
	if err != nil {
		return nil, nil, err
	}
	for g := range f.NumRowGroups() {
		if err := t.readGroup(f.RowGroup(g), positions); err != nil {
			return nil, nil, err
		}
	}
	return t, userMeta(f), nil
}

// userMeta returns the file's metadata without what Arrow put there.
func userMeta(f *file.Reader) [][2]string {
	var meta [][2]string
	for _, kv := range f.MetaData().KeyValueMetadata() {
		if kv.Key != arrowSchemaKey {
			meta = append(meta, [2]string{kv.Key, kv.GetValue()})
		}
	}
	return meta
}

// declare returns an empty table of the wanted columns and their positions in the file.
func declare(f *file.Reader, wanted []string) (*Table, []int, error) {
	sc := f.MetaData().Schema
	names := make([]string, sc.NumColumns())
	for i := range names {
		names[i] = sc.Column(i).Name()
	}
	if len(wanted) == 0 {
		wanted = names
	}
	units, docs := fieldMeta(f)
	positions, columns := make([]int, len(wanted)), make([]Column, len(wanted))
	for i, name := range wanted {
		at := slices.Index(names, name)
		if at < 0 {
			return nil, nil, fmt.Errorf("no column %q: the file has %s", name, strings.Join(names, ", "))
		}
		kind, ok := kindOf(sc.Column(at))
		if !ok {
			return nil, nil, fmt.Errorf("column %q: %s is not a type gangplan reads", name, sc.Column(at).PhysicalType())
		}
		positions[i] = at
		columns[i] = Column{Name: name, Unit: units[name], Doc: docs[name], Kind: kind, Dict: hasDict(f, at, kind)}
	}
	return NewTable(columns...), positions, nil
}

// kindOf returns the kind that holds a file's column.
func kindOf(c *schema.Column) (Kind, bool) {
	if c.MaxRepetitionLevel() > 0 || c.MaxDefinitionLevel() > 1 {
		return 0, false
	}
	switch c.PhysicalType() {
	case parquet.Types.Int64:
		return Int64, true
	case parquet.Types.Double:
		return Float64, true
	case parquet.Types.ByteArray:
		return String, true
	case parquet.Types.Boolean:
		return Bool, true
	case parquet.Types.FixedLenByteArray:
		d, ok := c.LogicalType().(*schema.DecimalLogicalType)
		return Decimal38, ok && d.Scale() == 0 && c.TypeLength() == decimalBytes
	}
	return 0, false
}

// hasDict reports whether a String column is stored as a dictionary.
func hasDict(f *file.Reader, column int, kind Kind) bool {
	if kind != String || f.NumRowGroups() == 0 {
		return false
	}
	chunk, err := f.MetaData().RowGroup(0).ColumnChunk(column)
	return err == nil && chunk.HasDictionaryPage()
}

// fieldMeta returns units and docs by column name, empty for files that have none.
func fieldMeta(f *file.Reader) (units, docs map[string]string) {
	units, docs = map[string]string{}, map[string]string{}
	stored := f.MetaData().KeyValueMetadata().FindValue(arrowSchemaKey)
	if stored == nil {
		return units, docs
	}
	r, err := ipc.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(*stored)))
	if err != nil {
		return units, docs // somebody else's entry: the values can be read without it
	}
	defer r.Release()
	for _, field := range r.Schema().Fields() {
		units[field.Name], _ = field.Metadata.GetValue("unit")
		docs[field.Name], _ = field.Metadata.GetValue("doc")
	}
	return units, docs
}

// readGroup appends the rows of one row group.
func (t *Table) readGroup(g *file.RowGroupReader, positions []int) error {
	rows := int(g.NumRows())
	for i, at := range positions {
		r, err := g.Column(at)
		if err != nil {
			return err
		}
		if err := t.series[i].read(r, t.columns[i].Kind, rows); err != nil {
			return fmt.Errorf("column %q: %w", t.columns[i].Name, err)
		}
	}
	return nil
}

// read appends the rows of a column chunk. The library fills in a level per row and the
// present values only; spread moves these to their rows.
func (s *series) read(r file.ColumnChunkReader, kind Kind, rows int) error {
	from := s.rows
	s.grow(kind, rows)
	s.rows += rows
	levels := make([]int16, rows)
	var err error
	switch r := r.(type) {
	case *file.Int64ColumnChunkReader:
		err = fill(r.ReadBatch, s.ints[from:], levels)
	case *file.Float64ColumnChunkReader:
		err = fill(r.ReadBatch, s.floats[from:], levels)
	case *file.BooleanColumnChunkReader:
		err = fill(r.ReadBatch, s.bools[from:], levels)
	case *file.ByteArrayColumnChunkReader:
		values := make([]parquet.ByteArray, rows)
		err = fill(r.ReadBatch, values, levels)
		decodeStrings(s.strings[from:], values)
	case *file.FixedLenByteArrayColumnChunkReader:
		values := make([]parquet.FixedLenByteArray, rows)
		err = fill(r.ReadBatch, values, levels)
		decodeDecimals(s.decimals[from:], values)
	}
	if err == nil && r.Descriptor().MaxDefinitionLevel() > 0 {
		s.addNulls(levels, from)
	}
	return err
}

// batch is the ReadBatch method of a column reader: it reads up to n rows and returns how
// many, and how many values were present.
type batch[T any] func(n int64, values []T, levels, repetition []int16) (rows int64, present int, err error)

// fill reads len(levels) rows.
func fill[T any](read batch[T], values []T, levels []int16) error {
	row, value := 0, 0
	for row < len(levels) {
		n, present, err := read(int64(len(levels)-row), values[value:], levels[row:], nil)
		if err != nil {
			return err
		}
		if n == 0 {
			return fmt.Errorf("%d rows missing", len(levels)-row)
		}
		row, value = row+int(n), value+present
	}
	if value < len(levels) {
		spread(values, value, levels)
	}
	return nil
}

// spread moves the first n values to the rows whose level is 1, from the back, and leaves
// zeros in the others.
func spread[T any](values []T, n int, levels []int16) {
	var zero T
	for row := len(levels) - 1; row >= 0; row-- {
		if levels[row] == 0 {
			values[row] = zero
			continue
		}
		n--
		values[row] = values[n]
	}
}

// addNulls records which of the rows after from are null.
func (s *series) addNulls(levels []int16, from int) {
	if s.nulls == nil && !slices.Contains(levels, 0) {
		return
	}
	s.nulls = append(s.nulls, make([]bool, s.rows-len(s.nulls))...)
	for i, level := range levels {
		s.nulls[from+i] = level == 0
	}
}

// decodeStrings copies the values out of the library's buffers. Rows that repeat one of
// the first maxShared different strings share its copy.
func decodeStrings(dst []string, values []parquet.ByteArray) {
	const maxShared = 1024
	shared := map[string]string{}
	for i, v := range values {
		s, ok := shared[string(v)]
		if !ok {
			s = string(v)
			if len(shared) < maxShared {
				shared[s] = s
			}
		}
		dst[i] = s
	}
}

func decodeDecimals(dst []Int128, values []parquet.FixedLenByteArray) {
	for i, v := range values {
		if v != nil {
			dst[i] = int128(v)
		}
	}
}
