//go:build !386 && !arm && !mips && !mipsle

package columnar

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/metadata"
	"github.com/apache/arrow/go/v17/parquet/schema"
)

// Only the low-level Parquet reader and writer are used, not their bridge from and to Arrow
// records: that one links gRPC and the compute kernels, 20 MB more of binary.

// createdBy names the layout of the files, not the version of gangplan, which is the
// caller's to put into the metadata.
const createdBy = "gangplan-columnar version 1.0.0"

// rowGroup is the number of rows that are encoded and can be skipped together.
const rowGroup = 128 * 1024

// arrowSchemaKey is the metadata entry in which Arrow's libraries look for what Parquet's
// own schema cannot say. Ours holds doc and unit of the columns.
const arrowSchemaKey = "ARROW:schema"

// oneCompressor is Arrow's zstd without its habit of setting up a new compressor of some
// megabytes for every page. The level is Arrow's default, the only one used here, and what
// was compressed before does not show in the bytes.
type oneCompressor struct{ compress.Codec }

func (c oneCompressor) EncodeLevel(dst, src []byte, _ int) []byte { return c.Encode(dst, src) }

func init() {
	zstd, err := compress.GetCodec(compress.Codecs.Zstd)
	if err != nil {
		panic(err) // it comes with the library
	}
	compress.RegisterCodec(compress.Codecs.Zstd, oneCompressor{zstd})
}

// WriteParquet writes a whole table as one zstd-compressed Parquet file, with meta as the
// file's key-value metadata in the given order. It does not close w. The error is w's
// own, or names a column whose values cannot be stored.
func WriteParquet(w io.Writer, t *Table, meta [][2]string) error {
	if err := t.checkWhole(); err != nil {
		return fmt.Errorf("columnar: %w", err)
	}
	return writeFile(w, t.columns, meta, func(fw *file.Writer) error {
		for from := 0; from < t.Rows(); from += rowGroup {
			if err := t.writeGroup(fw.AppendRowGroup(), from, min(from+rowGroup, t.Rows())); err != nil {
				return err
			}
		}
		return nil
	})
}

// StreamParquet writes rows as they are made, holding one row group of them at a time: put
// appends a row to the table, which has the columns, and reports whether there was one. The
// file is the same as WriteParquet's of the whole table.
func StreamParquet(w io.Writer, columns []Column, meta [][2]string, put func(t *Table) bool) error {
	return writeFile(w, columns, meta, func(fw *file.Writer) error {
		t := NewTable(columns...)
		for more := true; more; {
			for more = put(t); more && t.Rows() < rowGroup; more = put(t) {
			}
			if t.Rows() == 0 {
				return nil
			}
			if err := t.checkWhole(); err != nil {
				return fmt.Errorf("columnar: %w", err)
			}
			if err := t.writeGroup(fw.AppendRowGroup(), 0, t.Rows()); err != nil {
				return err
			}
			t.clear()
		}
		return nil
	})
}

// writeFile writes a file around its row groups.
func writeFile(w io.Writer, columns []Column, meta [][2]string, groups func(fw *file.Writer) error) (err error) {
	kv, err := keyValues(columns, meta)
	if err != nil {
		return err
	}
	out := &sink{w: w}
	defer func() { err = out.outcome(err, recover()) }()
	fw := file.NewParquetWriter(out, parquetSchema(columns),
		file.WithWriterProps(properties(columns)), file.WithWriteMetadata(kv))
	if err := groups(fw); err != nil {
		return err
	}
	return fw.Close()
}

// sink remembers the first error of a writer, because the Parquet library loses that of
// the footer, and hides the writer's Close, which the library would call.
type sink struct {
	w   io.Writer
	err error
}

func (s *sink) Write(p []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	n, err := s.w.Write(p)
	s.err = err
	return n, err
}

// outcome puts together how writing ended. The library panics when it cannot go on; any
// panic without a failed write behind it is a fault of ours and goes on.
func (s *sink) outcome(err error, panicked any) error {
	switch {
	case s.err != nil:
		return s.err
	case panicked != nil:
		panic(panicked)
	}
	return err
}

// properties returns the settings on which the bytes of a file depend.
func properties(columns []Column) *parquet.WriterProperties {
	options := []parquet.WriterProperty{
		parquet.WithVersion(parquet.V2_6),
		parquet.WithCreatedBy(createdBy),
		parquet.WithCompression(compress.Codecs.Zstd),
		parquet.WithDictionaryDefault(false),
	}
	for _, c := range columns {
		options = append(options,
			parquet.WithDictionaryFor(c.Name, c.Dict && c.Kind == String),
			parquet.WithStatsFor(c.Name, c.Kind != Decimal38)) // its order of decimals is not every reader's
	}
	return parquet.NewWriterProperties(options...)
}

// parquetSchema returns one optional field per column.
func parquetSchema(columns []Column) *schema.GroupNode {
	fields := make(schema.FieldList, len(columns))
	for i, c := range columns {
		fields[i] = parquetField(c)
	}
	return schema.MustGroup(schema.NewGroupNode(parquet.DefaultRootName, parquet.Repetitions.Required, fields, -1))
}

func parquetField(c Column) schema.Node {
	const noID = -1
	optional := parquet.Repetitions.Optional
	switch c.Kind {
	case Int64:
		return schema.NewInt64Node(c.Name, optional, noID)
	case Float64:
		return schema.NewFloat64Node(c.Name, optional, noID)
	case Bool:
		return schema.NewBooleanNode(c.Name, optional, noID)
	case Decimal38:
		return schema.MustPrimitive(schema.NewPrimitiveNodeLogical(c.Name, optional,
			schema.NewDecimalLogicalType(38, 0), parquet.Types.FixedLenByteArray, decimalBytes, noID))
	}
	return schema.MustPrimitive(schema.NewPrimitiveNodeLogical(c.Name, optional,
		schema.StringLogicalType{}, parquet.Types.ByteArray, -1, noID))
}

// keyValues returns the file's metadata: the caller's, then the columns' docs and units.
func keyValues(columns []Column, meta [][2]string) (metadata.KeyValueMetadata, error) {
	kv := metadata.NewKeyValueMetadata()
	for _, m := range meta {
		if m[0] == arrowSchemaKey {
			return nil, fmt.Errorf("columnar: metadata key %s is reserved", arrowSchemaKey)
		}
		if err := kv.Append(m[0], m[1]); err != nil {
			return nil, fmt.Errorf("columnar: %w", err)
		}
	}
	return kv, kv.Append(arrowSchemaKey, arrowSchema(columns))
}

// arrowSchema is what pyarrow and others show as the fields' metadata: an Arrow stream
// without records in base64.
func arrowSchema(columns []Column) string {
	types := [...]arrow.DataType{
		Int64:     arrow.PrimitiveTypes.Int64,
		Float64:   arrow.PrimitiveTypes.Float64,
		String:    arrow.BinaryTypes.String,
		Bool:      arrow.FixedWidthTypes.Boolean,
		Decimal38: &arrow.Decimal128Type{Precision: 38},
	}
	fields := make([]arrow.Field, len(columns))
	for i, c := range columns {
		fields[i] = arrow.Field{Name: c.Name, Type: types[c.Kind], Nullable: true,
			Metadata: arrow.NewMetadata([]string{"unit", "doc"}, []string{c.Unit, c.Doc})}
	}
	var b bytes.Buffer
	w := ipc.NewWriter(&b, ipc.WithSchema(arrow.NewSchema(fields, nil)))
	if err := w.Close(); err != nil {
		panic(err) // a buffer does not fail
	}
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

// writeGroup writes the rows [from, to) as one row group.
func (t *Table) writeGroup(g file.SerialRowGroupWriter, from, to int) error {
	for i := range t.series {
		w, err := g.NextColumn()
		if err != nil {
			return err
		}
		if err := t.series[i].write(w, from, to); err != nil {
			return fmt.Errorf("columnar: column %q: %w", t.columns[i].Name, err)
		}
		if err := w.Close(); err != nil {
			return err
		}
	}
	return g.Close()
}

// write hands the values of the rows [from, to) to the library, which takes a level per
// row (1 present, 0 null) and the present values only.
func (s *series) write(w file.ColumnChunkWriter, from, to int) (err error) {
	levels, nulls := s.levels(from, to)
	switch w := w.(type) {
	case *file.Int64ColumnChunkWriter:
		_, err = w.WriteBatch(present(s.ints[from:to], nulls), levels, nil)
	case *file.Float64ColumnChunkWriter:
		_, err = w.WriteBatch(present(s.floats[from:to], nulls), levels, nil)
	case *file.BooleanColumnChunkWriter:
		_, err = w.WriteBatch(present(s.bools[from:to], nulls), levels, nil)
	case *file.ByteArrayColumnChunkWriter:
		var values []parquet.ByteArray
		if values, err = encodeStrings(present(s.strings[from:to], nulls)); err == nil {
			_, err = w.WriteBatch(values, levels, nil)
		}
	case *file.FixedLenByteArrayColumnChunkWriter:
		var values []parquet.FixedLenByteArray
		if values, err = encodeDecimals(present(s.decimals[from:to], nulls)); err == nil {
			_, err = w.WriteBatch(values, levels, nil)
		}
	}
	return err
}

// levels returns the definition level of each row and the rows' nulls, nil if there are none.
func (s *series) levels(from, to int) (levels []int16, nulls []bool) {
	levels = make([]int16, to-from)
	if s.nulls != nil {
		nulls = s.nulls[from:to]
	}
	for i := range levels {
		if nulls == nil || !nulls[i] {
			levels[i] = 1
		}
	}
	return levels, nulls
}

// present returns the values that are not null.
func present[T any](values []T, nulls []bool) []T {
	if nulls == nil {
		return values
	}
	out := make([]T, 0, len(values))
	for i, v := range values {
		if !nulls[i] {
			out = append(out, v)
		}
	}
	return out
}

// encodeStrings returns the strings as slices of one buffer.
func encodeStrings(values []string) ([]parquet.ByteArray, error) {
	total := 0
	for _, v := range values {
		if !utf8.ValidString(v) {
			return nil, fmt.Errorf("%q is not UTF-8", v)
		}
		total += len(v)
	}
	buffer, out := make([]byte, 0, total), make([]parquet.ByteArray, len(values))
	for i, v := range values {
		start := len(buffer)
		buffer = append(buffer, v...)
		out[i] = parquet.ByteArray(buffer[start:])
	}
	return out, nil
}

// encodeDecimals returns the stored form of the numbers as slices of one buffer.
func encodeDecimals(values []Int128) ([]parquet.FixedLenByteArray, error) {
	buffer, out := make([]byte, 0, decimalBytes*len(values)), make([]parquet.FixedLenByteArray, len(values))
	for i, v := range values {
		if !v.fits() {
			return nil, fmt.Errorf("%#x:%016x has more than 38 digits", v.Hi, v.Lo)
		}
		start := len(buffer)
		buffer = v.appendTo(buffer)
		out[i] = parquet.FixedLenByteArray(buffer[start:])
	}
	return out, nil
}
