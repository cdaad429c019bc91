package report

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// SaveJUnit writes the gate as JUnit XML into a file, whole or not at all.
func (g *Gate) SaveJUnit(path string) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".gangplan-*")
	if err != nil {
		return err
	}
	err = errors.Join(g.WriteJUnit(f), f.Chmod(0o644), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("%s: %w", path, err), os.Remove(f.Name()))
	}
	return nil
}

// AppendSummary appends the gate as Markdown to a file, which is made if need be. The file
// stays below SummaryLimit, or as large as it was.
func (g *Gate) AppendSummary(path string) error {
	size := int64(0)
	switch info, err := os.Stat(path); {
	case err == nil:
		size = info.Size()
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return err
	}
	_, err = f.WriteString(g.Summary(max(0, SummaryLimit-1-int(size))))
	return errors.Join(err, f.Close())
}
