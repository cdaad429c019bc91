// Package staging writes files and folders beside the place where they go and then moves
// them there, so that what is in place is whole, whatever ends the process. It also takes
// away what processes that were ended left beside, and nothing that one is still writing.
package staging

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Folder is a folder in which something is written before it is moved into place.
type Folder struct {
	Path string
	lock *os.File // held until the folder is removed or the process ends; nil where folders cannot be locked
}

// tries bounds how often two processes get into each other's way.
const tries = 20

// New makes a folder in another, with a name that begins with a prefix and the machine: its
// locks mean nothing to another one that shares the disk. Before it is locked somebody may
// sweep it away; then there is nothing in it yet, and another one is made.
func New(parent, prefix string) (f *Folder, err error) {
	for range tries {
		path, failed := os.MkdirTemp(parent, prefix+machine()+"-")
		if failed != nil {
			return nil, named(parent, parent, failed)
		}
		f = &Folder{Path: path}
		switch f.lock, err = lock(path); {
		case errors.Is(err, errors.ErrUnsupported) || err == nil && f.isThere():
			return f, nil
		case err == nil:
			err = errors.Join(fs.ErrNotExist, f.lock.Close())
		case !errors.Is(err, errHeld) && !errors.Is(err, fs.ErrNotExist):
			return nil, errors.Join(named(path, parent, err), os.Remove(path))
		}
	}
	return nil, named(f.Path, parent, err)
}

// isThere reports whether the folder that is locked is the one that has its name.
func (f *Folder) isThere() bool {
	locked, err := f.lock.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(f.Path)
	return err == nil && os.SameFile(locked, there)
}

// Remove takes the folder away with what is still in it.
func (f *Folder) Remove() error {
	err := os.RemoveAll(f.Path)
	if f.lock != nil {
		err = errors.Join(err, f.lock.Close())
	}
	return err
}

// errHeld is the error of lock where somebody holds the lock.
var errHeld = errors.New("held by another process")

// abandoned is the age from which on a folder has been left behind, if nothing says so
// sooner: nobody takes as long between two writes, and no two clocks differ so much.
const abandoned = 24 * time.Hour

// SweepAway removes the folders with a prefix in another that nobody writes to any more.
func SweepAway(parent, prefix string) error {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return err
	}
	for _, e := range entries {
		rest, ok := strings.CutPrefix(e.Name(), prefix)
		if !ok {
			continue
		}
		local := strings.HasPrefix(rest, machine()+"-")
		if err := removeStale(filepath.Join(parent, e.Name()), local); err != nil {
			return err
		}
	}
	return nil
}

// removeStale removes a folder that was locked on this machine and is not any more; any
// other one once it is old.
func removeStale(path string, local bool) error {
	if local {
		held, err := lock(path)
		switch {
		case errors.Is(err, fs.ErrNotExist) || errors.Is(err, errHeld):
			return nil
		case err == nil:
			return errors.Join(os.RemoveAll(path), held.Close())
		}
	}
	if time.Since(newest(path)) < abandoned {
		return nil
	}
	return os.RemoveAll(path)
}

// newest returns when something was last written in a folder.
func newest(path string) time.Time {
	var last time.Time
	_ = filepath.WalkDir(path, func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil // removed meanwhile
		}
		if info, err := e.Info(); err == nil && info.ModTime().After(last) {
			last = info.ModTime()
		}
		return nil
	})
	return last
}

// Replace moves a file or a folder to its place, in which something may be. If another
// process puts something there meanwhile, the later one stays.
func Replace(from, to string) error {
	for try := 1; ; try++ {
		err := os.RemoveAll(to)
		if err == nil {
			err = os.Rename(from, to)
		}
		if err == nil || !errors.Is(err, fs.ErrExist) || try == tries {
			return err
		}
	}
}

// WriteFile writes a file that is there whole or not at all; one that was there before
// stays until then.
func WriteFile(path string, fill func(w io.Writer) error) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), ".gangplan-*")
	if err != nil {
		return named(filepath.Dir(path), path, err)
	}
	err = errors.Join(fill(tmp), tmp.Chmod(0o644), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return errors.Join(named(tmp.Name(), path, err), os.Remove(tmp.Name()))
	}
	return nil
}

// Named is an error about what was written beside, by the name that it would have had: the
// name beside means nothing to anybody. An error about anything else stays as it is.
func (f *Folder) Named(path string, err error) error { return named(f.Path, path, err) }

func named(beside, path string, err error) error {
	var at *fs.PathError
	var moving *os.LinkError
	switch {
	case errors.As(err, &at) && strings.HasPrefix(at.Path, beside):
		err = at.Err
	case errors.As(err, &moving) && (strings.HasPrefix(moving.Old, beside) || strings.HasPrefix(moving.New, beside)):
		err = moving.Err
	default:
		return err
	}
	return &fs.PathError{Op: "write", Path: path, Err: err}
}
