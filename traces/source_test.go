package traces

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func readAll(t *testing.T, r io.Reader) (string, error) {
	t.Helper()
	src, err := newSource(r, "t")
	if err != nil {
		return "", err
	}
	b, err := io.ReadAll(src)
	return string(b), err
}

func TestSourceIsTheTextAlone(t *testing.T) {
	const text = "id,gpus\na,8\n"
	for name, in := range map[string]string{
		"plain": text, "byte order mark": "\ufeff" + text,
		"gzip": string(gzipped(t, text)), "gzip of a byte order mark": string(gzipped(t, "\ufeff"+text)),
		"two gzips in a row": string(gzipped(t, text[:5])) + string(gzipped(t, text[5:])),
	} {
		for chunks, r := range map[string]io.Reader{
			"whole": strings.NewReader(in), "bytes": iotest.OneByteReader(strings.NewReader(in)),
			"error with the data": iotest.DataErrReader(strings.NewReader(in)),
		} {
			if got, err := readAll(t, r); got != text || err != nil {
				t.Errorf("%s, read as %s: %q, %v", name, chunks, got, err)
			}
		}
	}
}

func TestOnlyTheFirstByteOrderMarkIsDropped(t *testing.T) {
	if got, _ := readAll(t, strings.NewReader("\ufeffa\ufeffb")); got != "a\ufeffb" {
		t.Errorf("got %q", got)
	}
}

func TestLineLimitCountsLines(t *testing.T) {
	short, full := strings.Repeat("s\n", 5), strings.Repeat("f", maxLine)
	for _, c := range []struct {
		text string
		line int // that is too long; 0: none
	}{
		{"", 0}, {full, 0}, {full + "\n" + full + "\n", 0}, {short + full, 0},
		{full + "f", 1}, {full + "f\n", 1}, {short + full + "ff\n" + short, 6}, {full + "\n" + full + "f", 2},
	} {
		_, err := io.ReadAll(&lineLimit{most: maxLine, r: iotest.HalfReader(strings.NewReader(c.text)), src: &source{name: "t"}, line: 1})
		e, _ := errors.AsType[*Error](err)
		switch {
		case c.line == 0 && err != nil:
			t.Errorf("%d bytes: error %v", len(c.text), err)
		case c.line > 0 && (e == nil || e.Line != c.line):
			t.Errorf("%d bytes: error %v, want one at line %d", len(c.text), err, c.line)
		}
	}
}

func TestStickyRepeatsTheFirstError(t *testing.T) {
	s := &sticky{r: iotest.TimeoutReader(strings.NewReader("abc"))}
	b := make([]byte, 1)
	if n, err := s.Read(b); n != 1 || err != nil {
		t.Fatalf("first read: %d, %v", n, err)
	}
	for range 3 {
		if n, err := s.Read(b); n != 0 || err != iotest.ErrTimeout {
			t.Errorf("read after the error: %d, %v", n, err)
		}
	}
}

func TestHeaderHas(t *testing.T) {
	for _, c := range []struct {
		head string
		want bool
	}{
		{"a,b\n1,2\n", true}, {"b,a", true}, {"\"a\", b \r\n", true}, {"a,b,c\n", true},
		{"a\n", false}, {"x,y\na,b\n", false}, {"ab\n", false}, {"", false},
	} {
		if got := headerHas([]byte(c.head), "a", "b"); got != c.want {
			t.Errorf("%q has a and b: %v", c.head, got)
		}
	}
}

func TestQuotesStayShortAndOnOneLine(t *testing.T) {
	for in, want := range map[string]string{
		"abc": `"abc"`, "a\nb": `"a\nb"`, strings.Repeat("x", 40): `"` + strings.Repeat("x", 40) + `"`,
		strings.Repeat("x", 41): `"` + strings.Repeat("x", 40) + `"...`,
	} {
		if got := quote(in); got != want {
			t.Errorf("quote(%q) = %s", in, got)
		}
	}
	for in, want := range map[string]string{"num_gpus": "num_gpus", "a-B9": "a-B9", "a b": `"a b"`, "é": `"é"`, "": ""} {
		if got := quoteOdd(in); got != want {
			t.Errorf("quoteOdd(%q) = %s, want %s", in, got, want)
		}
	}
	if got := quoteList([]string{"a", "b"}); got != "a, b" {
		t.Errorf("quoteList = %s", got)
	}
	if got := quoteList([]string{strings.Repeat("a", 150), strings.Repeat("b", 150)}); got != "2 columns" {
		t.Errorf("quoteList of long names = %s", got)
	}
}
