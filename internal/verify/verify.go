// Package verify compares gangplan with recorded answers: of the real schedulers, of
// independent tools, of hand-derived scenarios. Each suite is one file that turns cases
// into outcomes; this file counts and renders them.
package verify

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"reflect"
	"slices"

	"github.com/gangplan/gangplan/internal/suggest"
)

// Verdict says how an answer compares with the recorded one.
type Verdict string

// Equal is the same to the last digit. Within is inside the stated tolerance, for what is
// not exact by nature. Skipped is not compared, for the reason given.
const (
	Equal   Verdict = "equal"
	Within  Verdict = "within"
	Outside Verdict = "outside"
	Skipped Verdict = "skipped"
)

// Outcome is one case compared.
type Outcome struct {
	ID      string  `json:"id"`
	Verdict Verdict `json:"verdict"`
	Error   float64 `json:"error,omitempty"`  // relative error, where one is defined
	Reason  string  `json:"reason,omitempty"` // why skipped, or the first difference
	Want    any     `json:"-"`
	Got     any     `json:"-"`
}

// Mismatch is a case outside, with what was wanted and what came.
type Mismatch struct {
	ID   string `json:"id"`
	Want any    `json:"want"`
	Got  any    `json:"got"`
}

// Report is a whole suite compared. Cases = Exact + Within + Outside + Skipped.
type Report struct {
	Suite      string     `json:"suite"`
	Cases      int        `json:"cases"`
	Exact      int        `json:"exact"`
	Within     int        `json:"within"`
	Outside    int        `json:"outside"`
	Skipped    int        `json:"skipped"`
	Mismatches []Mismatch `json:"mismatches"`
	Results    []Outcome  `json:"results"`
}

// Options are the inputs of a suite: Cases is a file of cases, empty for those the
// project ships; Data is a folder of data the project does not ship.
type Options struct {
	Cases string
	Data  string
}

// Suite is one kind of recorded answer.
type Suite struct {
	Name string
	Doc  string
	Run  func(Options) ([]Outcome, error)

	// Write writes every case as a scenario into a folder, where cases are scenarios of their
	// own; nil else.
	Write func(o Options, dir string) error
}

// suites in the order they are shown. A new suite is one file and one line here.
var suites = []Suite{scenarios, kubeScore, fgd, kueueQuota, kueueCycle, kueueTAS, kueueTASSequences, timelines,
	maxMin, ringJobs, collectives, nccl, effects}

// Suites returns every suite.
func Suites() []Suite { return suites }

// Lookup returns the suite of a name.
func Lookup(name string) (Suite, bool) {
	for _, s := range suites {
		if s.Name == name {
			return s, true
		}
	}
	return Suite{}, false
}

// Check runs a suite and counts.
func (s Suite) Check(o Options) (*Report, error) {
	outcomes, err := s.Run(o)
	if err != nil {
		return nil, err
	}
	r := &Report{Suite: s.Name, Cases: len(outcomes), Mismatches: []Mismatch{}, Results: outcomes}
	for _, c := range outcomes {
		switch c.Verdict {
		case Equal:
			r.Exact++
		case Within:
			r.Within++
		case Skipped:
			r.Skipped++
		default:
			r.Outside++
			r.Mismatches = append(r.Mismatches, Mismatch{c.ID, c.Want, c.Got})
		}
	}
	return r, nil
}

// byteOrderMark is what editors of some systems begin UTF-8 with.
var byteOrderMark = []byte("\ufeff")

// eachLine calls f with every line of JSON of a file, plain or gzipped; shipped is used
// when path is empty. Errors carry file and line.
func eachLine(path string, shipped []byte, f func(line []byte) error) error {
	name, data := path, shipped
	if path == "" {
		name = "shipped cases"
	} else {
		var err error
		if data, err = os.ReadFile(path); err != nil {
			return err
		}
	}
	r, err := maybeGunzip(data)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	scan := bufio.NewScanner(r)
	scan.Buffer(nil, 64<<20)
	n := 0
	for scan.Scan() {
		line := scan.Bytes()
		if n++; n == 1 {
			line = bytes.TrimPrefix(line, byteOrderMark)
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if !json.Valid(line) {
			return fmt.Errorf("%s:%d: expected one JSON object a line", name, n)
		}
		if err := f(line); err != nil {
			return fmt.Errorf("%s:%d: %w", name, n, err)
		}
	}
	if err := scan.Err(); err != nil {
		return fmt.Errorf("%s:%d: %w", name, n+1, err)
	}
	if n == 0 {
		return fmt.Errorf("%s: no cases", name)
	}
	return nil
}

func maybeGunzip(data []byte) (io.Reader, error) {
	if len(data) > 2 && data[0] == 0x1f && data[1] == 0x8b {
		return gzip.NewReader(bytes.NewReader(data))
	}
	return bytes.NewReader(data), nil
}

// readCase reads the fields of a line that a suite needs. Recordings have others beside them,
// as remarks; one whose name is nearly that of a field that is missing is refused.
func readCase(line []byte, into any) error {
	if err := json.Unmarshal(line, into); err != nil {
		return err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(line, &fields); err != nil {
		return err
	}
	known := fieldNames(reflect.TypeOf(into).Elem())
	missing := slices.DeleteFunc(slices.Clone(known), func(name string) bool { return fields[name] != nil })
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if hint := suggest.Hint(name, missing); hint != "" && !slices.Contains(known, name) {
			return fmt.Errorf("unknown field %q%s", name, hint)
		}
	}
	return nil
}

// fieldNames are the names that a struct, and what it embeds, has in JSON.
func fieldNames(t reflect.Type) (names []string) {
	for _, f := range reflect.VisibleFields(t) {
		if name := f.Tag.Get("json"); name != "" {
			names = append(names, name)
		}
	}
	return names
}
