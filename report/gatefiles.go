package report

import (
	"errors"
	"io/fs"
	"os"

	"github.com/gangplan/gangplan/internal/staging"
)

// SaveJUnit writes the gate as JUnit XML into a file, whole or not at all.
func (g *Gate) SaveJUnit(path string) error {
	return staging.WriteFile(path, g.WriteJUnit)
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
