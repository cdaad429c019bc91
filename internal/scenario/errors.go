package scenario

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Error is one mistake in a scenario or in a file it names. Line and Column count from 1;
// 0 is not known. Field is the path of the value, as in workload.jobs[3].queue.
type Error struct {
	File         string
	Line, Column int
	Field        string
	Msg          string // what was expected, and a suggestion if there is one
}

// Error returns "file:line:column: field: message" without the parts that are not known.
func (e *Error) Error() string {
	place := e.File
	for _, n := range []int{e.Line, e.Column} {
		if n > 0 {
			place += ":" + strconv.Itoa(n)
		}
	}
	parts := slices.DeleteFunc([]string{place, e.Field, e.Msg}, func(s string) bool { return s == "" })
	return strings.Join(parts, ": ")
}

// Errors is what is wrong with a scenario: at least one mistake, in the order of their
// places, and at most MaxErrors.
type Errors []*Error

// MaxErrors bounds the mistakes that are reported at once.
const MaxErrors = 10

// Error returns one mistake per line.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i := range e {
		lines[i] = e[i].Error()
	}
	return strings.Join(lines, "\n")
}

// problems collects mistakes. Many more are kept than are shown, because the first by
// place need not be the first to be found; a million equal ones are not.
type problems struct{ list Errors }

const maxProblems = 10 * MaxErrors

func (p *problems) add(e *Error) {
	if !p.full() {
		p.list = append(p.list, e)
	}
}

// full reports whether it is pointless to look for more.
func (p *problems) full() bool { return len(p.list) >= maxProblems }

// err returns the mistakes as Errors, or nil if there are none. Those in other files come
// first, as they were found.
func (p *problems) err(file string) error {
	if len(p.list) == 0 {
		return nil
	}
	place := func(e *Error) (line, column int) {
		if e.File != file {
			return 0, 0
		}
		return e.Line, e.Column
	}
	slices.SortStableFunc(p.list, func(a, b *Error) int {
		lineA, columnA := place(a)
		lineB, columnB := place(b)
		return cmp.Or(cmp.Compare(lineA, lineB), cmp.Compare(columnA, columnB))
	})
	return p.list[:min(len(p.list), MaxErrors)]
}

// path leads from the top of a file to a value: field names and positions in lists.
type path []any

// at makes a path.
func at(steps ...any) path { return steps }

// to returns the path of something below.
func (p path) to(steps ...any) path { return append(slices.Clip(p), steps...) }

// String writes the path as in a.b[3].c.
func (p path) String() string {
	var b strings.Builder
	for _, step := range p {
		if i, ok := step.(int); ok {
			fmt.Fprintf(&b, "[%d]", i)
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		fmt.Fprint(&b, step)
	}
	return b.String()
}

// quote is %q of at most the first 40 bytes: input can be anything.
func quote(s string) string {
	const most = 40
	if len(s) > most {
		return fmt.Sprintf("%q...", s[:most])
	}
	return strconv.Quote(s)
}
