package sweep

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gangplan/gangplan/internal/staging"
	"github.com/gangplan/gangplan/internal/study"
	"github.com/gangplan/gangplan/report"
)

// sealFile says of a cell's folder what it is and what must be in it.
const sealFile = "cell.json"

// seal is sealFile. It is a function of the key and of the other files: whatever is
// damaged, it included, it does not come out the same again.
type seal struct {
	APIVersion string          `json:"apiVersion"`
	Kind       string          `json:"kind"`
	ID         string          `json:"id"`
	Key        json.RawMessage `json:"key"` // what the id is the hash of
	Files      []sealed        `json:"files"`
}

type sealed struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

const sealKind = "Cell"

// newSeal reads all files of a folder. O(bytes).
func newSeal(dir, id string, key json.RawMessage) ([]byte, error) {
	s := seal{APIVersion: apiVersion, Kind: sealKind, ID: id, Key: key, Files: []sealed{}}
	entries, err := os.ReadDir(dir) // by name
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if e.Name() == sealFile {
			continue
		}
		f, err := sealOf(dir, e.Name())
		if err != nil {
			return nil, err
		}
		s.Files = append(s.Files, f)
	}
	return indented(&s)
}

func sealOf(dir, name string) (sealed, error) {
	f, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		return sealed{}, err
	}
	defer f.Close()
	sum := sha256.New()
	n, err := io.Copy(sum, f)
	return sealed{name, n, hex.EncodeToString(sum.Sum(nil))}, err
}

// indented writes JSON to be read by people too.
func indented(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(v)
	return b.Bytes(), err
}

// verify reports whether a task's folder is there and undamaged. The error is
// fs.ErrNotExist if there is none.
func (t *task) verify(cells string) error {
	dir := filepath.Join(cells, t.id)
	if _, err := os.Stat(dir); err != nil {
		return err
	}
	got, err := os.ReadFile(filepath.Join(dir, sealFile))
	if err != nil {
		return damaged(dir, err)
	}
	want, err := newSeal(dir, t.id, t.key)
	if err != nil {
		return damaged(dir, err)
	}
	if !bytes.Equal(got, want) {
		return damaged(dir, fmt.Errorf("its files are not those that %s lists", sealFile))
	}
	return nil
}

// damagedError is of a folder that is not what it should be, and can be made again.
type damagedError struct {
	dir string
	err error
}

func (e *damagedError) Error() string { return fmt.Sprintf("%s: damaged: %v", e.dir, e.err) }

// damaged keeps apart what is wrong with a folder from what does not let us look.
func damaged(dir string, err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return err
	}
	return &damagedError{dir, err}
}

// write makes a task's folder of its outcome: beside first, then in place, whole or not
// at all. What was in its place, damaged, is thrown away. Nothing waits for the disk here:
// what a power failure takes from a folder in place is found by its seal.
func (p *Plan) write(cells string, t *task, o *study.Outcome) (err error) {
	tmp, err := staging.New(cells, tempPrefix)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, tmp.Remove()) }()
	return tmp.Named(filepath.Join(cells, t.id), p.fill(tmp.Path, cells, t, o))
}

// fill makes a task's folder in another, and moves it into place.
func (p *Plan) fill(tmp, cells string, t *task, o *study.Outcome) error {
	record := report.Record{Label: o.Label, Manifest: p.manifest(t), Result: o.Result, Transitions: o.Transitions, Slim: p.study.Keep == "summary"}
	if _, err := report.WriteRuns(tmp, []report.Record{record}); err != nil {
		return err
	}
	dir, err := onlyFolder(tmp)
	if err != nil {
		return err
	}
	text, err := newSeal(dir, t.id, t.key)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, sealFile), text, 0o666); err != nil {
		return err
	}
	return t.place(dir, cells, tmp)
}

// place moves a finished folder into place. If another process was faster, its folder is
// as good.
func (t *task) place(dir, cells, tmp string) error {
	final := filepath.Join(cells, t.id)
	for try := 1; ; try++ {
		err := os.Rename(dir, final)
		if err == nil || t.verify(cells) == nil {
			return nil
		}
		if try == placeTries {
			return err
		}
		// It may be another process that moves the damaged one away.
		err = os.Rename(final, filepath.Join(tmp, fmt.Sprint("old-", try)))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
}

// placeTries bounds how often two processes get into each other's way.
const placeTries = 5

// tempPrefix begins the names of folders that are being written.
const tempPrefix = ".new-"

// onlyFolder returns the run directory that was just written.
func onlyFolder(dir string) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	if len(entries) != 1 {
		return "", fmt.Errorf("%s: expected one run in it", dir)
	}
	return filepath.Join(dir, entries[0].Name()), nil
}
