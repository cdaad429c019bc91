//go:build !386 && !arm && !mips && !mipsle

package columnar

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/schema"
	"pgregory.net/rapid"
)

// foreign writes a file of one column as another program might.
func foreign(t *testing.T, node schema.Node, write func(file.ColumnChunkWriter) error, options ...parquet.WriterProperty) []byte {
	t.Helper()
	var b bytes.Buffer
	root := schema.MustGroup(schema.NewGroupNode("root", parquet.Repetitions.Required, schema.FieldList{node}, -1))
	w := file.NewParquetWriter(&b, root, file.WithWriterProps(parquet.NewWriterProperties(options...)))
	if write != nil {
		column, err := w.AppendRowGroup().NextColumn()
		if err != nil {
			t.Fatal(err)
		}
		if err := write(column); err != nil {
			t.Fatal(err)
		}
		if err := column.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestForeignFilesOfKnownTypesAreRead(t *testing.T) {
	want := make([]int64, 5000)
	for i := range want {
		want[i] = int64(i % 17)
	}
	writeInts := func(w file.ColumnChunkWriter) error {
		_, err := w.(*file.Int64ColumnChunkWriter).WriteBatch(want, nil, nil)
		return err
	}
	node := schema.NewInt64Node("n", parquet.Repetitions.Required, -1)
	for name, options := range map[string][]parquet.WriterProperty{
		"defaults":     nil,
		"plain":        {parquet.WithDictionaryDefault(false)},
		"snappy":       {parquet.WithCompression(compress.Codecs.Snappy)},
		"gzip":         {parquet.WithCompression(compress.Codecs.Gzip)},
		"newer pages":  {parquet.WithDataPageVersion(parquet.DataPageV2), parquet.WithCompression(compress.Codecs.Zstd)},
		"small pages":  {parquet.WithDataPageSize(100), parquet.WithBatchSize(7)},
		"old versions": {parquet.WithVersion(parquet.V1_0), parquet.WithCreatedBy("parquet-mr version 1.8.0")},
	} {
		tab, meta := read(t, foreign(t, node, writeInts, options...))
		if !reflect.DeepEqual(tab.Int64s(0), want) || tab.HasNulls(0) || meta != nil {
			t.Errorf("%s: other numbers, or nulls, or metadata %v", name, meta)
		}
		if c := tab.Columns()[0]; c.Unit != "" || c.Doc != "" {
			t.Errorf("%s: unit %q and doc %q from nowhere", name, c.Unit, c.Doc)
		}
	}
}

func TestForeignStringsOverManyPages(t *testing.T) {
	values, want := make([]parquet.ByteArray, 3000), make([]string, 3000)
	for i := range values {
		want[i] = fmt.Sprintf("value-%d", i*i)
		values[i] = parquet.ByteArray(want[i])
	}
	node := schema.NewByteArrayNode("s", parquet.Repetitions.Required, -1)
	data := foreign(t, node, func(w file.ColumnChunkWriter) error {
		_, err := w.(*file.ByteArrayColumnChunkWriter).WriteBatch(values, nil, nil)
		return err
	}, parquet.WithDictionaryDefault(false), parquet.WithDataPageSize(64), parquet.WithBatchSize(16))
	if tab, _ := read(t, data); !reflect.DeepEqual(tab.Strings(0), want) {
		t.Error("other strings: values of one page were lost when the next was read")
	}
}

func TestForeignTypesAreNamed(t *testing.T) {
	optional, repeated := parquet.Repetitions.Optional, parquet.Repetitions.Repeated
	for want, node := range map[string]schema.Node{
		`column "a": INT32 is not a type gangplan reads`:                schema.NewInt32Node("a", optional, -1),
		`column "b": FLOAT is not a type gangplan reads`:                schema.NewFloat32Node("b", optional, -1),
		`column "c": INT64 is not a type gangplan reads`:                schema.NewInt64Node("c", repeated, -1),
		`column "d": FIXED_LEN_BYTE_ARRAY is not a type gangplan reads`: schema.NewFixedLenByteArrayNode("d", optional, 16, -1),
		`column "e": FIXED_LEN_BYTE_ARRAY is not a type gangplan reads`: schema.MustPrimitive(schema.NewPrimitiveNodeLogical("e", optional,
			schema.NewDecimalLogicalType(38, 2), parquet.Types.FixedLenByteArray, 16, -1)),
	} {
		data := foreign(t, node, nil)
		_, _, err := ReadParquet(bytes.NewReader(data), int64(len(data)))
		if err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

func TestAFileWithoutOurFieldMetadataIsRead(t *testing.T) {
	data := write(t, sample(3, false), nil)
	at := bytes.Index(data, []byte(arrowSchemaKey)) + len(arrowSchemaKey)
	broken := bytes.Clone(data)
	copy(broken[at+8:], "!!!! not base64 !!!!")
	tab, _ := read(t, broken)
	if tab.Rows() != 3 || strings.Contains(tab.Columns()[0].Unit, "!") {
		t.Errorf("%d rows, unit %q", tab.Rows(), tab.Columns()[0].Unit)
	}
}

// anyTable draws a table with nulls in some columns.
var anyTable = rapid.Custom(func(t *rapid.T) *Table {
	tab := NewTable(everyKind()...)
	nullable := rapid.SliceOfN(rapid.Bool(), 6, 6).Draw(t, "nullable")
	appendAny := []func(){
		func() { tab.AppendInt64(0, rapid.Int64().Draw(t, "int")) },
		func() { tab.AppendFloat64(1, rapid.Float64().Draw(t, "float")) },
		func() { tab.AppendString(2, rapid.SampledFrom([]string{"a", "", "b"}).Draw(t, "queue")) },
		func() { tab.AppendString(3, rapid.String().Draw(t, "id")) },
		func() { tab.AppendBool(4, rapid.Bool().Draw(t, "done")) },
		func() {
			tab.AppendDecimal(5, Int128{Hi: rapid.Int64Range(-limit38.Hi, limit38.Hi-1).Draw(t, "hi"), Lo: rapid.Uint64().Draw(t, "lo")})
		},
	}
	for range rapid.IntRange(1, 40).Draw(t, "rows") {
		for c, appendOne := range appendAny {
			if nullable[c] && rapid.Bool().Draw(t, "null") {
				tab.AppendNull(c)
			} else {
				appendOne()
			}
		}
	}
	return tab
})

// TestAnyTableIsReadBack draws few tables: each file sets up six compressors.
func TestAnyTableIsReadBack(t *testing.T) {
	for seed := range 20 {
		want := anyTable.Example(seed)
		got, _ := read(t, write(t, want, nil))
		for c := range got.series {
			if !reflect.DeepEqual(got.series[c], want.series[c]) {
				t.Fatalf("seed %d, column %d:\n got %+v\nwant %+v", seed, c, got.series[c], want.series[c])
			}
		}
	}
}
