package traces

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/gangplan/gangplan/workloads"
)

// header begins the shortest CSV that can be read.
const header = "id,submit_seconds,duration_seconds,gpus\n"

func mustOpen(t testing.TB, path string) *Trace {
	t.Helper()
	tr, err := Open(path, "auto", Options{})
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func mustRead(t testing.TB, text, format string) *Trace {
	t.Helper()
	tr, err := Read(strings.NewReader(text), "t", format, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// wantError fails unless reading the text under the name "t" gives exactly the error.
func wantError(t *testing.T, text, format, want string) {
	t.Helper()
	tr, err := Read(strings.NewReader(text), "t", format, Options{})
	if err == nil {
		t.Fatalf("read %d jobs, want the error %q", len(tr.Jobs), want)
	}
	if tr != nil {
		t.Error("something half-read came with the error")
	}
	if err.Error() != want {
		t.Errorf("error\n got %s\nwant %s", err, want)
	}
}

// ids are the jobs' ids in order.
func ids(jobs []workloads.Job) string {
	var all []string
	for i := range jobs {
		all = append(all, jobs[i].ID)
	}
	return strings.Join(all, " ")
}

func gzipped(t testing.TB, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write([]byte(text))
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestFormats(t *testing.T) {
	if got := Formats(); !reflect.DeepEqual(got, []string{"csv", "jsonl", "kubernetes", "openb", "philly"}) {
		t.Errorf("got %v", got)
	}
}

func TestFormatIsDetected(t *testing.T) {
	for path, want := range map[string]string{
		"small.csv": "csv", "shapes.csv": "csv", "podsets.jsonl": "jsonl", "philly.csv": "philly",
	} {
		tr := mustOpen(t, filepath.Join("testdata", path))
		if tr.Format != want || tr.Source != filepath.Join("testdata", path) {
			t.Errorf("%s was read as %s of %s", path, tr.Format, tr.Source)
		}
	}
}

func TestUnknownFormatListsTheKnown(t *testing.T) {
	_, err := Open("testdata/philly.csv", "phily", Options{})
	const want = `unknown trace format "phily": expected csv, jsonl, kubernetes, openb, philly, auto (did you mean philly?)`
	if err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

func TestUnrecognisedTextAsksForTheFormat(t *testing.T) {
	wantError(t, "hello\nworld\n", "",
		"t:1:1: the beginning is that of no known format: expected csv, jsonl, kubernetes, openb, philly, or name the format")
}

func TestExtensionDecidesWhereTheTextDoesNot(t *testing.T) {
	_, err := Read(strings.NewReader("ID,when\na,1\n"), "x.CSV.gz", "", Options{})
	if err == nil || !strings.HasPrefix(err.Error(), "x.CSV.gz:1:1: ID: unknown column") {
		t.Errorf("error %v, want that of a CSV", err)
	}
	_, err = Read(strings.NewReader("[1]\n"), "x.ndjson", "", Options{})
	if err == nil || !strings.Contains(err.Error(), "expected an object") {
		t.Errorf("error %v, want that of JSON lines", err)
	}
}

func TestMissingFile(t *testing.T) {
	if _, err := Open("testdata/none.csv", "", Options{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v", err)
	}
	if _, err := Open("testdata", "", Options{}); err == nil || !strings.Contains(err.Error(), "directory") {
		t.Errorf("error %v, want that of a directory", err)
	}
}

func TestGzipIsReadAsIfItWereNotThere(t *testing.T) {
	for _, name := range []string{"small.csv", "podsets.jsonl", "philly.csv"} {
		plain, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		want := mustRead(t, string(plain), "")
		got := mustRead(t, string(gzipped(t, string(plain))), "")
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: other jobs when compressed", name)
		}
	}
}

func TestBrokenGzipIsAnError(t *testing.T) {
	var rows strings.Builder
	rows.WriteString(header)
	for i := range 10000 {
		fmt.Fprintf(&rows, "job-%d,%d,%d,8\n", i, i*i, i*7919%1000)
	}
	whole := gzipped(t, rows.String())
	for _, text := range []string{string(whole[:len(whole)/2]), string(whole[:15]), "\x1f\x8b", "\x1f\x8bnonsense....."} {
		_, err := Read(strings.NewReader(text), "t", "csv", Options{})
		e, ok := errors.AsType[*Error](err)
		if !ok || e.Line == 0 && e.File == "" {
			t.Errorf("%d bytes: error %v, want one with a place", len(text), err)
		}
	}
}

func TestReadErrorsOfTheSourceAreReported(t *testing.T) {
	cut := errors.New("cable cut")
	for _, f := range append(Formats(), "auto") {
		_, err := Read(iotest.ErrReader(cut), "t", f, Options{})
		if err == nil || err.Error() != "t:1: cannot be read: cable cut" {
			t.Errorf("%s: error %v", f, err)
		}
	}
	for f, text := range map[string]string{
		"csv": header + "a,0,1,1\nb,0,1,", "jsonl": `{"id":"a","submit_seconds":0,"duration_seconds":1,"gpus":1}` + "\n{",
		"philly": phillyHeader + "2017-10-09 07:01:55,66.0,1,66.0,vc\n2",
	} {
		// The error comes once, as from a network: it must not be mistaken for the end.
		r := io.MultiReader(strings.NewReader(text), iotest.TimeoutReader(strings.NewReader("\n")), strings.NewReader(text))
		if _, err := Read(iotest.OneByteReader(r), "t", f, Options{}); err == nil {
			t.Errorf("%s: a source that failed half-way gave jobs", f)
		}
		r = io.MultiReader(strings.NewReader(text), iotest.ErrReader(cut))
		if _, err := Read(r, "t", f, Options{}); err == nil || !strings.HasSuffix(err.Error(), "cable cut") {
			t.Errorf("%s: error %v", f, err)
		}
	}
}

func TestByteOrderMarkIsIgnored(t *testing.T) {
	want := mustRead(t, header+"a,0,1,1\n", "")
	if got := mustRead(t, "\ufeff"+header+"a,0,1,1\n", ""); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
}

func TestNothingToRead(t *testing.T) {
	for _, f := range append(Formats(), "auto") {
		for _, text := range []string{"", "\n", " \r\n\n", "\ufeff"} {
			wantError(t, text, f, "t:1:1: no jobs in the trace: the file is empty")
		}
	}
	wantError(t, header, "csv", "t:1:1: no jobs in the trace: expected rows after the header")
	wantError(t, "timestamp,duration,num_gpus,cluster\n\n", "philly", "t:1:1: no jobs in the trace: expected rows after the header")
}

func TestNotText(t *testing.T) {
	for _, text := range []string{"\x00\x01\x02", "PAR1\x00\x15", "i\x00d\x00,\x00"} {
		wantError(t, text, "csv", "t:1:1: not a text file: expected CSV or JSONL")
	}
}

func TestVeryLongLines(t *testing.T) {
	long := strings.Repeat("x", maxLine+1)
	const msg = "the line is longer than 1048576 bytes: expected a trace with one job a line"
	wantError(t, header+"a,0,1,1\n"+long, "csv", "t:3:1: "+msg)
	wantError(t, `{"id":"`+long, "jsonl", "t:1:1: "+msg)
	wantError(t, "timestamp,duration,num_gpus,cluster\n"+long+"\n", "philly", "t:2:1: "+msg)
	fits := strings.Repeat("x", 1000)
	if got := mustRead(t, header+fits+",0,1,1\n", "csv").Jobs[0].ID; got != fits {
		t.Error("a long line that fits was not kept")
	}
}

func TestJobsAreSortedBySubmissionThenRow(t *testing.T) {
	tr := mustOpen(t, "testdata/small.csv")
	if got := ids(tr.Jobs); got != "bert lint llama notebook" {
		t.Errorf("order %s", got)
	}
	for i, row := range []int64{1, 4, 2, 3} {
		if tr.Jobs[i].Row != row {
			t.Errorf("%s has row %d, want that in the file, %d", tr.Jobs[i].ID, tr.Jobs[i].Row, row)
		}
	}
}

func TestDisorderIsAWarning(t *testing.T) {
	for _, c := range []struct{ submits, want string }{
		{"0 1 1 2", ""},
		{"5", ""},
		{"0 60.5 60.5 30", "1 of 4 rows come after a row submitted later, by up to 30.5s: jobs were sorted by submission"},
		{"10 9 8 20 19", "3 of 5 rows come after a row submitted later, by up to 2s: jobs were sorted by submission"},
		{"9158400 0", "1 of 2 rows come after a row submitted later, by up to 106 days: jobs were sorted by submission"},
	} {
		text := header
		for s := range strings.FieldsSeq(c.submits) {
			text += "j," + s + ",1,1\n"
		}
		if got := strings.Join(mustRead(t, text, "csv").Warnings, "; "); got != c.want {
			t.Errorf("%s: warnings %q, want %q", c.submits, got, c.want)
		}
	}
}

func TestErrorText(t *testing.T) {
	for _, c := range []struct {
		err  Error
		want string
	}{
		{Error{"a.csv", 3, 7, "gpus", "expected 8"}, "a.csv:3:7: gpus: expected 8"},
		{Error{"a.csv", 3, 0, "gpus", "expected 8"}, "a.csv:3: gpus: expected 8"},
		{Error{"a.csv", 3, 7, "", "expected 8"}, "a.csv:3:7: expected 8"},
		{Error{File: "a.csv", Msg: "expected 8"}, "a.csv: expected 8"},
	} {
		if got := c.err.Error(); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
