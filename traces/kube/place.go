package kube

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Error is a mistake in a file of objects, with its place. Line and Column count from 1; 0 is
// not known.
type Error struct {
	File         string
	Line, Column int
	Field        string
	Msg          string
}

// Error returns "file:line:column: field: message" without the parts that are not known.
func (e *Error) Error() string {
	where := e.Place()
	if e.Field != "" {
		where += ": " + e.Field
	}
	return where + ": " + e.Msg
}

// Place returns "file:line:column" without the parts that are not known.
func (e *Error) Place() string {
	where := e.File
	for _, n := range []int{e.Line, e.Column} {
		if n > 0 {
			where += ":" + strconv.Itoa(n)
		}
	}
	return where
}

// follows reports whether a mistake is of the same value as an earlier one, or of what is in or
// around it: it may only follow from that.
func (e *Error) follows(earlier *Error) bool {
	return strings.HasPrefix(e.Field, earlier.Field) || strings.HasPrefix(earlier.Field, e.Field)
}

// Errors are mistakes, in the order of the files. There is at least one.
type Errors []*Error

// MaxErrors bounds the mistakes that are reported at once.
const MaxErrors = 10

// Error returns a mistake per line.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i := range e {
		lines[i] = e[i].Error()
	}
	return strings.Join(lines, "\n")
}

// Path leads from an object to a value in it: names of fields, and positions in lists.
type Path []any

// At makes a path.
func At(steps ...any) Path { return steps }

// To returns the path of something below.
func (p Path) To(steps ...any) Path { return append(slices.Clip(p), steps...) }

// String writes the path as Kubernetes does: a.b[3].c, and a[example.com/b] where a name is
// no plain word.
func (p Path) String() string {
	var b strings.Builder
	for _, step := range p {
		switch step := step.(type) {
		case int:
			fmt.Fprintf(&b, "[%d]", step)
		case string:
			if strings.ContainsFunc(step, func(r rune) bool { return !isPlain(r) }) || step == "" {
				b.WriteString("[" + oneLine(step) + "]")
				continue
			}
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(step)
		}
	}
	return b.String()
}

func isPlain(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-'
}

// oneLine is a text as it is, or quoted where it could disturb a terminal.
func oneLine(s string) string {
	if q := strconv.Quote(s); q != `"`+s+`"` || len(s) > mostQuoted {
		return quote(s)
	}
	return s
}

// mostQuoted is how many bytes of a text errors show: input can be anything.
const mostQuoted = 60

// quote is %q of at most the first bytes.
func quote(s string) string {
	if len(s) > mostQuoted {
		return fmt.Sprintf("%q...", s[:mostQuoted])
	}
	return strconv.Quote(s)
}
