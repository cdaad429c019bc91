package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/gangplan/gangplan/internal/columnar"
	"github.com/gangplan/gangplan/sim"
)

// Record is one run to be written: what came out, and what it came out of. The manifest
// needs only what a result does not know; the rest is filled in.
type Record struct {
	Label       string
	Manifest    Manifest
	Result      *sim.Result
	Transitions sim.Transitions // nil: no decisions.parquet
	Slim        bool            // no tables at all

	named map[int32]string // verdicts by job; see verdictsOn
}

// WriteRuns writes each run to its own folder of dir, named after its label. Everything
// is written beside first and moved into place at the end, so that no folder is ever half
// of a run: after an error all is as it was, unless the moving itself failed, and then
// every folder is either the old or the new run. Earlier runs of the same label are
// replaced; anything else in the way is an error.
//
// The files are listed in manifest.go; what is in them is a function of
// the records. Warnings are about what could not be written on this machine.
func WriteRuns(dir string, records []Record) (warnings []string, err error) {
	labels := make([]string, len(records))
	for i := range records {
		labels[i] = records[i].Label
	}
	if len(records) == 0 {
		return nil, nil
	}
	common := records[0].Manifest.complete(labels[0], records[0].Result)
	if err := CheckRunDirs(dir, &common, labels); err != nil {
		return nil, err
	}
	names, err := folders(labels)
	if err != nil {
		return nil, err
	}
	s, err := newStage(dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	for i := range records {
		warned, err := s.write(names[i], &records[i])
		if err != nil {
			return nil, s.beside.Named(filepath.Join(dir, names[i]), err)
		}
		if warned != "" && len(warnings) == 0 {
			warnings = append(warnings, warned)
		}
	}
	return warnings, s.publish(names)
}

// write stages one run.
func (s *stage) write(name string, r *Record) (warning string, err error) {
	to := filepath.Join(s.path, name)
	if err := os.Mkdir(to, 0o777); err != nil {
		return "", err
	}
	manifest := r.Manifest.complete(r.Label, r.Result)
	if err := writeFile(filepath.Join(to, manifestFile), func(w io.Writer) error { return WriteJSON(w, &manifest) }); err != nil {
		return "", err
	}
	summary := newSummary(r.Label, r.Result)
	if err := writeFile(filepath.Join(to, summaryFile), func(w io.Writer) error { return WriteJSON(w, summary) }); err != nil {
		return "", err
	}
	err = writeTables(to, &manifest, r)
	if errors.Is(err, columnar.ErrUnsupported) {
		return "run directories have no Parquet files: " + columnar.ErrUnsupported.Error(), nil
	}
	return "", err
}

// writeTables writes the Parquet files, with the manifest in the metadata of each.
func writeTables(dir string, manifest *Manifest, r *Record) error {
	inLine, err := compact(manifest)
	if err != nil {
		return err
	}
	for i := range tables {
		t := &tables[i]
		if r.Slim || t.rows(r) < 0 {
			continue
		}
		path := filepath.Join(dir, t.File)
		meta := [][2]string{{manifestKey, inLine}, {columnsKey, t.describe()}}
		err := writeFile(path, func(w io.Writer) error { return columnar.StreamParquet(w, t.Columns, meta, t.pull(r)) })
		if err != nil {
			return errors.Join(err, os.Remove(path))
		}
	}
	return nil
}

// compact writes a value in one line.
func compact(v any) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return string(bytes.TrimSpace(b.Bytes())), err
}

// writeFile creates a file and fills it. Errors name it.
func writeFile(path string, fill func(w io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := errors.Join(fill(f), f.Close()); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
