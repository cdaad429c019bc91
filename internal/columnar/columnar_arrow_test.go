//go:build !386 && !arm && !mips && !mipsle

package columnar

import (
	"bytes"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/apache/arrow/go/v17/parquet/file"
)

// sample is a table of n rows of every kind; every fifth row is null if nulls is set.
func sample(n int, nulls bool) *Table {
	t := NewTable(everyKind()...)
	for i := range n {
		if nulls && i%5 == 3 {
			appendNulls(t)
			continue
		}
		held := Int128{Hi: int64(i), Lo: uint64(i) << 60}
		if i%2 == 1 {
			held = held.negated()
		}
		appendRow(t, int64(i)*1_000_000_007-5, float64(i)/3, []string{"prod", "dev", ""}[i%3],
			fmt.Sprintf("job-%d", i), i%7 == 0, held)
	}
	return t
}

func write(t testing.TB, tab *Table, meta [][2]string) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := WriteParquet(&b, tab, meta); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func read(t testing.TB, data []byte, columns ...string) (*Table, [][2]string) {
	t.Helper()
	tab, meta, err := ReadParquet(bytes.NewReader(data), int64(len(data)), columns...)
	if err != nil {
		t.Fatal(err)
	}
	return tab, meta
}

func TestRoundTrip(t *testing.T) {
	for _, rows := range []int{1, 5, 1023, 1024, 1025, 5000} {
		for _, nulls := range []bool{false, true} {
			want := sample(rows, nulls)
			got, _ := read(t, write(t, want, nil))
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%d rows, nulls %v: what was read is not what was written", rows, nulls)
			}
		}
	}
}

// Rows that are written as they are made give the bytes of the whole table.
func TestStreamParquet(t *testing.T) {
	for _, rows := range []int{0, 1, 1000, rowGroup, rowGroup + 1000} {
		put := func(to *Table, i int) {
			if i%3 == 0 && i < 100 {
				to.AppendNull(0)
			} else {
				to.AppendInt64(0, int64(i))
			}
			to.AppendString(1, strings.Repeat("x", i%7))
		}
		whole := NewTable(Column{Name: "n"}, Column{Name: "s", Kind: String, Dict: true})
		for i := range rows {
			put(whole, i)
		}
		var b bytes.Buffer
		i := 0
		err := StreamParquet(&b, whole.Columns(), [][2]string{{"k", "v"}}, func(to *Table) bool {
			if i == rows {
				return false
			}
			put(to, i)
			i++
			return true
		})
		if err != nil || !bytes.Equal(b.Bytes(), write(t, whole, [][2]string{{"k", "v"}})) {
			t.Errorf("%d rows: not the bytes of the whole table, %v", rows, err)
		}
	}
}

func TestStreamOfUnevenRowsIsAnError(t *testing.T) {
	once := true
	err := StreamParquet(io.Discard, []Column{{Name: "a"}, {Name: "b"}}, nil, func(to *Table) bool {
		defer func() { once = false }()
		to.AppendInt64(0, 1)
		to.AppendInt64(1, 1)
		to.AppendInt64(1, 2)
		return once
	})
	if err == nil || !strings.Contains(err.Error(), `column "b"`) {
		t.Errorf("error %v", err)
	}
}

func TestRoundTripOverSeveralRowGroupsAndPages(t *testing.T) {
	want := NewTable(Column{Name: "n"}, Column{Name: "s", Kind: String})
	for i := range rowGroup + 1000 {
		if i < rowGroup || i%2 == 0 { // nulls in the second row group only
			want.AppendInt64(0, int64(i))
		} else {
			want.AppendNull(0)
		}
		want.AppendString(1, strings.Repeat("x", i%40)) // more than one page of 1 MiB
	}
	got, _ := read(t, write(t, want, nil))
	if !reflect.DeepEqual(got, want) {
		t.Error("what was read is not what was written")
	}
}

func TestRoundTripOfExtremes(t *testing.T) {
	want := NewTable(everyKind()...)
	big := Int128{Hi: 0x4b3b4ca85a86c47a, Lo: 0x098a223fffffffff}
	appendRow(want, math.MaxInt64, math.MaxFloat64, "ü€", "", true, big)
	appendRow(want, math.MinInt64, math.Inf(-1), "\x00", "line\nbreak", false, big.negated())
	appendRow(want, 0, math.Copysign(0, -1), "", "\"quoted\"", false, Int128{})
	got, _ := read(t, write(t, want, nil))
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got.series)
	}
}

func TestRoundTripOfOnlyNulls(t *testing.T) {
	want := NewTable(everyKind()...)
	for range 3 {
		appendNulls(want)
	}
	data := write(t, want, nil)
	got, _ := read(t, data)
	for c := range got.Columns() {
		for r := range got.Rows() {
			if !got.IsNull(c, r) {
				t.Errorf("column %d row %d is not null", c, r)
			}
		}
	}
}

func TestEmptyTableKeepsItsColumns(t *testing.T) {
	got, meta := read(t, write(t, NewTable(everyKind()...), [][2]string{{"seed", "1"}}))
	if got.Rows() != 0 || len(got.Columns()) != 6 || len(meta) != 1 {
		t.Errorf("%d rows, %d columns, meta %v", got.Rows(), len(got.Columns()), meta)
	}
}

func TestMetadataKeepsItsOrder(t *testing.T) {
	want := [][2]string{{"version", "1"}, {"seed", "42"}, {"digest", "00ff"}, {"empty", ""}, {"seed", "again"}}
	_, got := read(t, write(t, sample(1, false), want))
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestReadingSomeColumnsInAnyOrder(t *testing.T) {
	whole := sample(100, true)
	got, _ := read(t, write(t, whole, nil), "held", "submit")
	if len(got.Columns()) != 2 || got.Columns()[0].Name != "held" {
		t.Fatalf("columns %v", got.Columns())
	}
	if !reflect.DeepEqual(got.Decimals(0), whole.Decimals(5)) || !reflect.DeepEqual(got.Int64s(1), whole.Int64s(0)) {
		t.Error("the columns hold other values than those of the whole table")
	}
}

func TestUnknownColumnIsNamedWithThoseThatExist(t *testing.T) {
	data := write(t, sample(1, false), nil)
	_, _, err := ReadParquet(bytes.NewReader(data), int64(len(data)), "submti")
	if err == nil || !strings.Contains(err.Error(), `no column "submti": the file has submit, hours, queue`) {
		t.Errorf("error %v", err)
	}
}

func TestSameBytesInEveryRun(t *testing.T) {
	tab := sample(20000, true)
	meta := [][2]string{{"seed", "1"}}
	want := write(t, tab, meta)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, procs := range []int{1, 2, 8} {
		runtime.GOMAXPROCS(procs)
		if !bytes.Equal(write(t, tab, meta), want) {
			t.Errorf("GOMAXPROCS %d: other bytes", procs)
		}
	}
}

// TestSameBytesWhateverWasWrittenBefore guards the shared compressor: a sweep writes other
// runs before and at the same time.
func TestSameBytesWhateverWasWrittenBefore(t *testing.T) {
	tables := []*Table{sample(3, false), sample(3000, true), ints(20_000), sample(5000, false)}
	want := make([][]byte, len(tables))
	for i, tab := range tables {
		want[i] = write(t, tab, nil)
	}
	var group sync.WaitGroup
	for worker := range 4 {
		group.Go(func() {
			for k := range len(tables) {
				i := (k*3 + worker) % len(tables)
				var b bytes.Buffer
				if err := WriteParquet(&b, tables[i], nil); err != nil || !bytes.Equal(b.Bytes(), want[i]) {
					t.Errorf("table %d: other bytes, or error %v", i, err)
				}
			}
		})
	}
	group.Wait()
}

// TestSameBytesAsEver fails when the bytes of a file change: between machines that must
// not happen; with a new version of the Parquet library it may, and the number is updated.
func TestSameBytesAsEver(t *testing.T) {
	h := fnv.New64a()
	h.Write(write(t, sample(3000, true), [][2]string{{"seed", "1"}}))
	const want = "26ab13440d0750f1"
	if got := fmt.Sprintf("%016x", h.Sum64()); got != want {
		t.Errorf("hash of the file %s, want %s", got, want)
	}
}

func TestWhatTheFileDeclares(t *testing.T) {
	f, err := file.NewParquetReader(bytes.NewReader(write(t, sample(50, true), nil)))
	if err != nil {
		t.Fatal(err)
	}
	if got := f.MetaData().GetCreatedBy(); got != createdBy {
		t.Errorf("created by %q", got)
	}
	for i, want := range everyKind() {
		chunk, err := f.MetaData().RowGroup(0).ColumnChunk(i)
		if err != nil {
			t.Fatal(err)
		}
		if chunk.HasDictionaryPage() != want.Dict {
			t.Errorf("%s: dictionary %v, want %v", want.Name, chunk.HasDictionaryPage(), want.Dict)
		}
		if chunk.Compression().String() != "ZSTD" {
			t.Errorf("%s: compressed with %s", want.Name, chunk.Compression())
		}
	}
	if got := f.MetaData().Schema.Column(5).LogicalType().String(); got != "Decimal(precision=38, scale=0)" {
		t.Errorf("the decimal is declared as %s", got)
	}
}

func TestNotUTF8IsRefused(t *testing.T) {
	tab := NewTable(Column{Name: "id", Kind: String})
	tab.AppendString(0, "\xff")
	err := WriteParquet(io.Discard, tab, nil)
	if err == nil || !strings.Contains(err.Error(), `column "id": "\xff" is not UTF-8`) {
		t.Errorf("error %v", err)
	}
}

func TestMoreThan38DigitsAreRefused(t *testing.T) {
	for _, v := range []Int128{limit38, limit38.negated(), {Hi: math.MinInt64}} {
		tab := NewTable(Column{Name: "sum", Kind: Decimal38})
		tab.AppendDecimal(0, v)
		if err := WriteParquet(io.Discard, tab, nil); err == nil || !strings.Contains(err.Error(), `column "sum"`) {
			t.Errorf("%v: error %v", v, err)
		}
	}
}

func TestUnevenColumnsAreRefused(t *testing.T) {
	tab := NewTable(Column{Name: "a"}, Column{Name: "b"})
	tab.AppendInt64(0, 1)
	err := WriteParquet(io.Discard, tab, nil)
	if err == nil || !strings.Contains(err.Error(), `column "a" has 1 rows but column "b" has 0`) {
		t.Errorf("error %v", err)
	}
}

func TestMetadataThatCannotBeStoredIsRefused(t *testing.T) {
	for _, meta := range [][2]string{{arrowSchemaKey, "x"}, {"key", "\xff"}} {
		if err := WriteParquet(io.Discard, NewTable(), [][2]string{meta}); err == nil {
			t.Errorf("%q was accepted", meta)
		}
	}
}

var errDiskFull = errors.New("disk full")

// smallDisk fails after some bytes.
type smallDisk struct{ free int }

func (d *smallDisk) Write(p []byte) (int, error) {
	if d.free -= len(p); d.free < 0 {
		return 0, errDiskFull
	}
	return len(p), nil
}

func TestEveryFailedWriteIsReported(t *testing.T) {
	tab := sample(100, true)
	size := len(write(t, tab, nil))
	for free := 0; free < size; free += 197 {
		if err := WriteParquet(&smallDisk{free}, tab, nil); !errors.Is(err, errDiskFull) {
			t.Fatalf("disk of %d bytes for a file of %d: error %v", free, size, err)
		}
	}
	if err := WriteParquet(&smallDisk{size}, tab, nil); err != nil {
		t.Errorf("disk that is just large enough: %v", err)
	}
}

// unclosable fails the test when somebody closes it.
type unclosable struct {
	io.Writer
	t *testing.T
}

func (u unclosable) Close() error {
	u.t.Error("the writer was closed")
	return nil
}

func TestTheCallersWriterStaysOpen(t *testing.T) {
	if err := WriteParquet(unclosable{io.Discard, t}, sample(1, false), nil); err != nil {
		t.Fatal(err)
	}
}

func TestBrokenFilesAreErrors(t *testing.T) {
	good := write(t, sample(200, true), nil)
	for name, data := range map[string][]byte{
		"empty": nil, "text": []byte("id,gpus\na,8\n"), "magic only": []byte("PAR1"), "two magics": []byte("PAR1PAR1"),
		"head": good[:len(good)/2], "tail": good[len(good)/2:],
		"damaged pages": append(append([]byte("PAR1"), bytes.Repeat([]byte{0xaa}, 300)...), good[304:]...),
	} {
		if _, _, err := ReadParquet(bytes.NewReader(data), int64(len(data))); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestOpenParquet(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jobs.parquet")
	want := sample(10, true)
	if err := os.WriteFile(path, write(t, want, nil), 0o600); err != nil {
		t.Fatal(err)
	}
	got, _, err := OpenParquet(path)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("error %v, or other rows than were written", err)
	}
	if _, _, err := OpenParquet(path, "nope"); err == nil || !strings.HasPrefix(err.Error(), path) {
		t.Errorf("error %v, want it to name the file", err)
	}
	if _, _, err := OpenParquet(path + "x"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v, want that of a missing file", err)
	}
}

func BenchmarkWriteInt64(b *testing.B) {
	tab := ints(1 << 20)
	for b.Loop() {
		write(b, tab, nil)
	}
	b.SetBytes(8 << 20)
}

func BenchmarkReadInt64(b *testing.B) {
	data := write(b, ints(1<<20), nil)
	for b.Loop() {
		read(b, data)
	}
	b.SetBytes(8 << 20)
}

// ints is a table of one column of increasing numbers.
func ints(n int) *Table {
	t := NewTable(Column{Name: "time", Unit: "ns"})
	for i := range n {
		t.AppendInt64(0, int64(i)*12345)
	}
	return t
}
