package report

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gangplan/gangplan/internal/staging"
)

// stage is a hidden folder beside the runs in which they are written before they are
// moved into place.
type stage struct {
	dir  string // where the runs go
	made bool   // dir did not exist before
	path string
	keep bool // an earlier run is still in it

	beside *staging.Folder // at path
}

// newStage makes the folder, and dir if need be.
func newStage(dir string) (*stage, error) {
	s := &stage{dir: dir}
	_, err := os.Stat(dir)
	s.made = errors.Is(err, fs.ErrNotExist)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	if s.beside, err = staging.New(dir, ".gangplan-"); err != nil {
		return nil, err
	}
	s.path = s.beside.Path
	return s, nil
}

// close takes the folder away, and dir too if it was made for nothing.
func (s *stage) close() error {
	if s.keep {
		return nil
	}
	err := s.beside.Remove()
	if s.made {
		_ = os.Remove(s.dir) // succeeds only if it is empty
	}
	return err
}

// publish moves the staged runs into place, each in the place of an earlier one if there
// is one. Directories cannot be exchanged in one step everywhere, so the earlier run is
// moved aside first, and back if the new one cannot take its place.
func (s *stage) publish(names []string) error {
	for _, name := range names {
		final, aside := filepath.Join(s.dir, name), filepath.Join(s.path, "old-"+name)
		moved, err := moveIfThere(final, aside)
		if err != nil {
			return s.beside.Named(final, err)
		}
		if err := os.Rename(filepath.Join(s.path, name), final); err != nil {
			err = s.beside.Named(final, err)
			if moved {
				err = errors.Join(err, s.putBack(aside, final))
			}
			return err
		}
	}
	return nil
}

// putBack undoes moving an earlier run aside. If that fails too, the run stays where it is.
func (s *stage) putBack(aside, final string) error {
	if err := os.Rename(aside, final); err != nil {
		s.keep = true
		return fmt.Errorf("the earlier run is kept in %s: %w", aside, err)
	}
	return nil
}

func moveIfThere(from, to string) (moved bool, err error) {
	err = os.Rename(from, to)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
