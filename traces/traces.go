package traces

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gangplan/gangplan/internal/suggest"
	"github.com/gangplan/gangplan/workloads"
)

// Options adjust how a trace is read. The zero value is each format's own default.
type Options struct {
	// Location is the zone of times that name none. nil is the format's default;
	// the zone of the host is never used.
	Location *time.Location

	// Model finds the profile of a model named in a trace, and ModelNames are those to
	// suggest when it does not. nil are those of workloads.
	Model      func(name string) (*workloads.ModelProfile, bool)
	ModelNames []string

	// ArrivalsOnly reads jobs that never end, of formats that allow it (openb).
	ArrivalsOnly bool

	// Duration is that of the work of jobs which do not say, in ns, of formats whose jobs may
	// not (kubernetes); 0 makes that a mistake.
	Duration int64
}

// withDefaults returns the options with workloads' models unless others are given.
func (o Options) withDefaults() Options {
	if o.Model == nil {
		o.Model, o.ModelNames = workloads.LookupModel, workloads.ModelNames()
	}
	return o
}

// Trace is a trace that was read. Jobs are in the order of workloads.Sort; their Row is
// the 1-based row of data in the source unless the source carries a row of its own.
type Trace struct {
	Jobs     []workloads.Job
	Budgets  []workloads.Budget // of formats that have some (kubernetes)
	Warnings []string           // what a user should know; each is one sentence
	Source   string             // the name it was read under
	Format   string             // one of Formats
}

// format is one kind of trace. Its reader returns jobs in the order of the source.
type format struct {
	name       string
	extensions []string               // of files taken for this format if nothing matches
	matches    func(head []byte) bool // whether a file that begins so is surely of this format
	read       func(*source, Options) ([]workloads.Job, error)
}

// formats are all formats, the more particular before the more general.
var formats = []format{
	{"kubernetes", nil, looksLikeKubernetes, readKubernetes},
	{"jsonl", []string{".jsonl", ".ndjson"}, looksLikeJSONL, readJSONL},
	{"philly", nil, looksLikePhilly, readPhilly},
	{"openb", nil, looksLikeOpenb, readOpenb},
	{"csv", []string{".csv"}, looksLikeCSV, readCSV},
}

// Formats returns the names Read knows, sorted.
func Formats() []string {
	var names []string
	for _, f := range formats {
		names = append(names, f.name)
	}
	slices.Sort(names)
	return names
}

// Open reads the trace in a file; see Read.
func Open(path, format string, o Options) (*Trace, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Read(f, path, format, o)
}

// Read reads a trace, plain or compressed with gzip. name stands in errors, and its
// extension helps to tell the format if format is "" or "auto". The error is an *Error,
// except for an unknown format.
func Read(r io.Reader, name, format string, o Options) (*Trace, error) {
	if err := checkFormat(format); err != nil {
		return nil, err
	}
	src, err := newSource(r, name)
	if err != nil {
		return nil, err
	}
	f, err := pick(src, format)
	if err != nil {
		return nil, err
	}
	jobs, err := f.read(src, o.withDefaults())
	if err != nil {
		return nil, err
	}
	if len(jobs) == 0 {
		return nil, src.errorAt(1, 1, "", "no jobs in the trace: expected rows after the header")
	}
	t := &Trace{Jobs: jobs, Source: name, Format: f.name, Budgets: src.budgets, Warnings: append(src.warnings, disorder(jobs)...)}
	workloads.Sort(t.Jobs)
	return t, nil
}

// checkFormat returns an error that lists the known formats if the name is none of them.
func checkFormat(name string) error {
	known := append(Formats(), "auto")
	if name == "" || slices.Contains(known, name) {
		return nil
	}
	return fmt.Errorf("unknown trace format %q: expected %s%s",
		name, strings.Join(known, ", "), suggest.Hint(name, known))
}

// pick returns the named format, or the one that the beginning of the source or the
// extension of its name tell.
func pick(src *source, name string) (format, error) {
	head := bytes.TrimLeft(src.head(), " \t\r\n")
	if len(head) == 0 {
		if _, err := src.Peek(1); err != nil && err != io.EOF {
			return format{}, src.broken(1, err)
		}
		return format{}, src.errorAt(1, 1, "", "no jobs in the trace: the file is empty")
	}
	extension := strings.ToLower(filepath.Ext(strings.TrimSuffix(src.name, ".gz")))
	for _, is := range []func(f format) bool{
		func(f format) bool { return f.name == name },
		func(f format) bool { return f.matches(head) },
		func(f format) bool { return slices.Contains(f.extensions, extension) },
	} {
		if i := slices.IndexFunc(formats, is); i >= 0 {
			return formats[i], nil
		}
	}
	return format{}, src.errorAt(1, 1, "", "the beginning is that of no known format: expected %s, or name the format",
		strings.Join(Formats(), ", "))
}

// disorder warns of rows submitted before a row above them: harmless, since jobs are
// sorted, but news to whoever thinks that rows are in the order of time.
func disorder(jobs []workloads.Job) []string {
	latest, rows, most := jobs[0].Submit, 0, int64(0)
	for i := range jobs {
		if back := latest - jobs[i].Submit; back > 0 {
			rows, most = rows+1, max(most, back)
		}
		latest = max(latest, jobs[i].Submit)
	}
	if rows == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d of %d rows come after a row submitted later, by up to %s: jobs were sorted by submission",
		rows, len(jobs), span(most))}
}

// span writes a time in ns for reading: in days, rounded, from two days on.
func span(ns int64) string {
	const day = 24 * time.Hour
	if d := time.Duration(ns); d < 2*day {
		return d.String()
	}
	return fmt.Sprintf("%d days", (time.Duration(ns)+day/2)/day)
}
