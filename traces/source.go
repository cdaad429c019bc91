package traces

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/gangplan/gangplan/workloads"
)

// Error is bad input, with its place. Line and Column count from 1, columns in bytes; 0
// is not known. Field is the column or key, if one is to blame.
type Error struct {
	File         string
	Line, Column int
	Field        string
	Msg          string // what was expected, and a suggestion if there is one
}

// Error returns "file:line:column: field: message" without the parts that are not known.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	for _, n := range []int{e.Line, e.Column} {
		if n > 0 {
			fmt.Fprintf(&b, ":%d", n)
		}
	}
	if e.Field != "" {
		b.WriteString(": " + e.Field)
	}
	return b.String() + ": " + e.Msg
}

// fieldError is a mistake in the value of a field, before its place is known.
type fieldError struct{ field, msg string }

func (e *fieldError) Error() string { return e.field + ": " + e.msg }

// headSize is how much of a source the formats see to recognise it, in bytes.
const headSize = 4096

// maxLine is the length of the longest line that is read, in bytes. Longer ones are not
// traces, and would be held in memory.
const maxLine = 1 << 20

// source is the text of a trace: without compression and byte order mark.
type source struct {
	*bufio.Reader
	name     string
	warnings []string // what the reader found that a user should know
	budgets  []workloads.Budget
	limit    *lineLimit
}

// newSource begins to read. It refuses what is not text.
func newSource(r io.Reader, name string) (*source, error) {
	src := &source{Reader: bufio.NewReader(&sticky{r: r}), name: name}
	if bytes.HasPrefix(src.head(), []byte("\x1f\x8b")) {
		z, err := gzip.NewReader(src.Reader)
		if err != nil {
			return nil, src.broken(1, err)
		}
		r = z
	} else {
		r = src.Reader
	}
	src.limit = &lineLimit{r: r, src: src, line: 1, most: maxLine}
	src.Reader = bufio.NewReaderSize(src.limit, 64<<10)
	if bytes.HasPrefix(src.head(), []byte("\xef\xbb\xbf")) {
		src.Discard(3)
	}
	if bytes.IndexByte(src.head(), 0) >= 0 {
		return nil, src.errorAt(1, 1, "", "not a text file: expected CSV or JSONL")
	}
	return src, nil
}

// head returns the bytes to come, headSize at most.
func (s *source) head() []byte {
	b, _ := s.Peek(headSize)
	return b
}

// errorAt returns an *Error of this source.
func (s *source) errorAt(line, column int, field, format string, args ...any) error {
	return &Error{s.name, line, column, field, fmt.Sprintf(format, args...)}
}

// broken returns the error of a source that could not be read on at a line.
func (s *source) broken(line int, err error) error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return s.errorAt(line, 0, "", "cannot be read: %v", err)
}

// sticky repeats the first error of a reader for ever, since head throws one away.
type sticky struct {
	r   io.Reader
	err error
}

func (s *sticky) Read(p []byte) (n int, err error) {
	if s.err == nil {
		n, s.err = s.r.Read(p)
	}
	return n, s.err
}

// lineLimit passes bytes on until a line is longer than most.
type lineLimit struct {
	r            io.Reader
	src          *source
	line, length int // of the bytes passed on so far
	most         int
}

func (l *lineLimit) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	for rest := p[:n]; len(rest) > 0; {
		end := bytes.IndexByte(rest, '\n')
		if end < 0 {
			end = len(rest)
		}
		if l.length += end; l.length > l.most {
			return 0, l.src.errorAt(l.line, 1, "", "the line is longer than %d bytes: expected a trace with one job a line", l.most)
		}
		if end == len(rest) {
			break
		}
		l.line, l.length, rest = l.line+1, 0, rest[end+1:]
	}
	return n, err
}
